//! Which policy looks how.
//!
//! The policies that everyone compares have fixed looks. Any other label gets a look from a second list, chosen by
//! hashing the label, so that it does not depend on the figure or on the order of the curves; only when two labels of one
//! palette want the same look does the later one (in alphabetical order) move on to the next free one.

use super::{Figure, Marker};
use serde::Serialize;
use std::collections::BTreeMap;

/// The look of one policy's curves.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Style {
    /// Colour on white, as `#rrggbb`.
    pub color: &'static str,
    /// Colour on a dark background, as `#rrggbb`.
    pub dark: &'static str,
    /// Lengths of dashes and gaps; empty for a solid line.
    pub dash: &'static [f64],
    /// The marker.
    pub marker: Marker,
    /// Line width.
    pub width: f64,
}

const fn style(color: &'static str, dark: &'static str, dash: &'static [f64], marker: Marker) -> Style {
    Style { color, dark, dash, marker, width: 1.8 }
}

const SOLID: &[f64] = &[];
const DASHED: &[f64] = &[7.0, 3.5];
const DOTTED: &[f64] = &[1.8, 2.6];
const DASH_DOT: &[f64] = &[8.0, 3.0, 1.8, 3.0];
const SHORT: &[f64] = &[3.6, 2.4];
const LONG: &[f64] = &[13.0, 4.0];
const DASH_DOT_DOT: &[f64] = &[8.0, 2.6, 1.8, 2.6, 1.8, 2.6];

/// The policies with a look of their own. Colours after Okabe and Ito, which colour-blind eyes tell apart.
const KNOWN: [(Known, Style); 9] = [
    (Known::Calibrated, Style { width: 2.5, ..style("#000000", "#f2f2f2", SOLID, Marker::Star) }),
    (Known::SePaper, style("#0072b2", "#4aa8e0", SOLID, Marker::Circle)),
    (Known::SeSharp, style("#56b4e9", "#8ed0f7", DASHED, Marker::Square)),
    (Known::Exp3, style("#d55e00", "#f0803c", DOTTED, Marker::Triangle)),
    (Known::Exp3Batched, style("#e69f00", "#f2bd4b", DASH_DOT, Marker::TriangleDown)),
    (Known::EpochUcb, style("#009e73", "#2cc79b", LONG, Marker::Diamond)),
    (Known::Ucb1, style("#cc79a7", "#e09cc3", SHORT, Marker::Plus)),
    (Known::Thompson, style("#882255", "#d0699f", DASH_DOT_DOT, Marker::Cross)),
    (Known::ExploreThenCommit, style("#7a7a7a", "#a8a8a8", DASHED, Marker::Circle)),
];

/// Looks for all other labels; colours after Tol's muted scheme, darkened where they would be faint on white.
const OTHERS: [Style; 12] = [
    style("#332288", "#9a8ce8", DASH_DOT, Marker::Square),
    style("#117733", "#55b877", SHORT, Marker::Triangle),
    style("#aa4499", "#d383c6", LONG, Marker::Circle),
    style("#999933", "#c4c45c", SOLID, Marker::Diamond),
    style("#661100", "#cf7a66", DOTTED, Marker::Plus),
    style("#44aa99", "#6fd0c0", DASHED, Marker::Cross),
    style("#cc6677", "#e58f9e", SOLID, Marker::Square),
    style("#6699cc", "#90bbe6", DOTTED, Marker::TriangleDown),
    style("#555555", "#bdbdbd", LONG, Marker::Triangle),
    style("#b8860b", "#dfb040", SHORT, Marker::Star),
    style("#5e3c99", "#a98ee0", SOLID, Marker::Plus),
    style("#008080", "#3db8b8", DASH_DOT_DOT, Marker::Diamond),
];

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Known {
    Calibrated,
    SePaper,
    SeSharp,
    Exp3,
    Exp3Batched,
    EpochUcb,
    Ucb1,
    Thompson,
    ExploreThenCommit,
}

impl Known {
    /// Recognises a label by its words, so that `SE, sharp`, `SE (sharp)` and `successive-elimination hoeffding` agree.
    fn of(label: &str) -> Option<Self> {
        let lower = label.to_lowercase();
        let words: Vec<&str> = lower.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty()).collect();
        let has = |word: &str| words.contains(&word);
        if has("calibrated") {
            Some(Known::Calibrated)
        } else if has("se") || (has("successive") && has("elimination")) {
            let sharp = has("sharp") || has("hoeffding") || has("difference");
            Some(if sharp { Known::SeSharp } else { Known::SePaper })
        } else if has("exp3b") || (has("exp3") && has("batched")) {
            Some(Known::Exp3Batched)
        } else if has("exp3") {
            Some(Known::Exp3)
        } else if has("ucb") && (has("epoch") || has("epochs")) {
            Some(Known::EpochUcb)
        } else if has("ucb1") || has("ucb") {
            Some(Known::Ucb1)
        } else if has("thompson") {
            Some(Known::Thompson)
        } else if has("etc") || (has("explore") && has("commit")) {
            Some(Known::ExploreThenCommit)
        } else {
            None
        }
    }
}

/// The looks of a set of labels.
///
/// Build one from everything that is shown together (all figures of a report), and use it for each of them.
///
/// ```
/// use calibandit_report::chart::Palette;
///
/// let palette = Palette::new(["SE (paper)", "EXP3", "my policy"]);
/// assert_eq!(palette.style("EXP3"), Palette::new(["EXP3"]).style("EXP3"));
/// assert_ne!(palette.style("EXP3").color, palette.style("my policy").color);
/// ```
#[derive(Clone, Debug, Default)]
pub struct Palette {
    styles: BTreeMap<String, Style>,
}

impl Palette {
    /// Looks for these labels. Their order does not matter.
    pub fn new<'a>(labels: impl IntoIterator<Item = &'a str>) -> Self {
        let mut labels: Vec<&str> = labels.into_iter().collect();
        // Of several members of a known family, the plainest label has the family's look.
        labels.sort_by_key(|label| (label.chars().count(), *label));
        labels.dedup();
        let mut styles = BTreeMap::new();
        let mut known_taken = Vec::new();
        let mut rest = Vec::new();
        for label in labels {
            match Known::of(label).filter(|known| !known_taken.contains(known)) {
                Some(known) => {
                    known_taken.push(known);
                    styles
                        .extend(KNOWN.iter().find(|(key, _)| *key == known).map(|(_, look)| (label.to_owned(), *look)));
                }
                None => rest.push(label),
            }
        }
        rest.sort_unstable();
        let mut taken = [false; OTHERS.len()];
        for label in rest {
            if taken.iter().all(|slot| *slot) {
                taken = [false; OTHERS.len()];
            }
            let wish = slot(label);
            let free =
                (0..OTHERS.len()).map(|step| (wish + step) % OTHERS.len()).find(|at| !taken[*at]).unwrap_or(wish);
            taken[free] = true;
            styles.insert(label.to_owned(), OTHERS[free]);
        }
        Palette { styles }
    }

    /// Looks for every curve of these figures.
    pub fn for_figures<'a>(figures: impl IntoIterator<Item = &'a Figure>) -> Self {
        Palette::new(figures.into_iter().flat_map(Figure::policies))
    }

    /// The look of a label; of a label that the palette was not built with, the one it would have on its own.
    pub fn style(&self, label: &str) -> Style {
        let alone = || KNOWN.iter().find(|(key, _)| Some(*key) == Known::of(label)).map(|(_, look)| *look);
        self.styles.get(label).copied().or_else(alone).unwrap_or(OTHERS[slot(label)])
    }
}

/// The place in [`OTHERS`] that a label asks for: FNV-1a, which is short and never changes.
fn slot(label: &str) -> usize {
    let hash = label
        .bytes()
        .fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3));
    (hash % OTHERS.len() as u64) as usize
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn known_policies_are_recognised_under_their_usual_names() {
        for (labels, known) in [
            (&["SE", "SE (paper)", "successive-elimination"][..], Known::SePaper),
            (&["SE, sharp", "SE (sharp)", "successive-elimination (hoeffding)"], Known::SeSharp),
            (&["EXP3", "exp3"], Known::Exp3),
            (&["EXP3B", "batched-exp3", "batched EXP3"], Known::Exp3Batched),
            (&["epoch UCB", "epoch-ucb"], Known::EpochUcb),
            (&["calibrated", "calibrated (Thompson)"], Known::Calibrated),
            (&["UCB1", "ucb"], Known::Ucb1),
            (&["Thompson", "thompson-sampling"], Known::Thompson),
            (&["ETC", "explore-then-commit"], Known::ExploreThenCommit),
        ] {
            for label in labels {
                assert_eq!(Known::of(label), Some(known), "{label}");
            }
        }
        for label in ["sequence", "oracle", ""] {
            assert_eq!(Known::of(label), None, "{label}");
        }
    }

    #[test]
    fn no_two_looks_share_a_colour_or_a_dash_with_a_marker() {
        let all: Vec<Style> = KNOWN.iter().map(|(_, look)| *look).chain(OTHERS).collect();
        for (i, one) in all.iter().enumerate() {
            for other in &all[i + 1..] {
                assert_ne!(one.color, other.color);
                assert_ne!(one.dark, other.dark);
                assert!(one.dash != other.dash || one.marker != other.marker, "{one:?} and {other:?} are one in grey");
            }
        }
    }

    #[test]
    fn looks_do_not_depend_on_order_and_members_of_a_family_differ() {
        let labels = ["calibrated", "calibrated, IMED", "oracle", "EXP3", "a", "b", "c"];
        let palette = Palette::new(labels);
        let reversed = Palette::new(labels.into_iter().rev());
        for (i, label) in labels.iter().enumerate() {
            assert_eq!(palette.style(label), reversed.style(label));
            for other in &labels[i + 1..] {
                assert_ne!(palette.style(label), palette.style(other), "{label} and {other}");
            }
        }
        assert_eq!(palette.style("calibrated").color, "#000000");
    }

    #[test]
    fn more_labels_than_looks_still_work() {
        let labels: Vec<String> = (0..40).map(|i| format!("policy {i}")).collect();
        let palette = Palette::new(labels.iter().map(String::as_str));
        assert_eq!(palette.styles.len(), 40);
    }
}
