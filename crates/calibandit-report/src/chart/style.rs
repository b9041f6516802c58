//! The colour, dash pattern and marker of each curve.
//!
//! A curve that carries a [`StyleKey`] for which a style is reserved gets that style in every figure. All other curves
//! get a style from a second list. The position in that list is a hash of the label, so it does not depend on the
//! figure or on the order of the curves; if two labels of one palette hash to the same position, the label that comes
//! later in alphabetical order takes the next free one.
//!
//! The label itself never selects a reserved style: users may name a curve as they like.

use super::{Figure, Marker};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// What a curve shows, for the choice of its style: the kind of a policy and, where variants of one kind are told
/// apart, the variant.
///
/// ```
/// use calibandit_report::chart::StyleKey;
///
/// assert_eq!(StyleKey::new("exp3").reserved().map(|style| style.color), Some("#d55e00"));
/// assert!(StyleKey::new("my-policy").reserved().is_none());
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub struct StyleKey {
    kind: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    variant: Option<String>,
}

impl StyleKey {
    /// The key of a kind of policy, such as `exp3`.
    pub fn new(kind: impl Into<String>) -> Self {
        StyleKey { kind: kind.into(), variant: None }
    }

    /// Sets the variant, such as `sharp` of `successive-elimination`. A variant without a style of its own gets the
    /// style of its kind, unless another curve of the palette has it.
    #[must_use]
    pub fn variant(mut self, variant: impl Into<String>) -> Self {
        self.variant = Some(variant.into());
        self
    }

    /// The style that is reserved for this key, if there is one.
    pub fn reserved(&self) -> Option<Style> {
        RESERVED.iter().find(|entry| entry.matches(self)).map(|entry| entry.style)
    }

    fn without_variant(&self) -> Self {
        StyleKey { kind: self.kind.clone(), variant: None }
    }
}

/// The style of one curve.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[non_exhaustive]
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

/// A style that belongs to one key.
struct Reserved {
    kind: &'static str,
    variant: Option<&'static str>,
    style: Style,
}

impl Reserved {
    fn matches(&self, key: &StyleKey) -> bool {
        self.kind == key.kind && self.variant == key.variant.as_deref()
    }
}

const fn reserved(kind: &'static str, variant: Option<&'static str>, style: Style) -> Reserved {
    Reserved { kind, variant, style }
}

/// Reserved styles. The colours are those of Okabe and Ito, which remain distinct for colour-blind readers.
const RESERVED: [Reserved; 9] = [
    reserved("calibrated", None, Style { width: 2.5, ..style("#000000", "#f2f2f2", SOLID, Marker::Star) }),
    reserved("successive-elimination", None, style("#0072b2", "#4aa8e0", SOLID, Marker::Circle)),
    reserved("successive-elimination", Some("sharp"), style("#56b4e9", "#8ed0f7", DASHED, Marker::Square)),
    reserved("exp3", None, style("#d55e00", "#f0803c", DOTTED, Marker::Triangle)),
    reserved("batched-exp3", None, style("#e69f00", "#f2bd4b", DASH_DOT, Marker::TriangleDown)),
    reserved("epoch-ucb", None, style("#009e73", "#2cc79b", LONG, Marker::Diamond)),
    reserved("ucb1", None, style("#cc79a7", "#e09cc3", SHORT, Marker::Plus)),
    reserved("thompson", None, style("#882255", "#d0699f", DASH_DOT_DOT, Marker::Cross)),
    reserved("explore-then-commit", None, style("#7a7a7a", "#a8a8a8", DASHED, Marker::Circle)),
];

/// Styles of all other curves. The colours follow Tol's muted scheme, darkened where they would be faint on white.
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

/// The styles of a set of curves, by label.
///
/// Build one palette from everything that is shown together (all figures of a report), and draw each figure with it.
///
/// ```
/// use calibandit_report::chart::{Palette, StyleKey};
///
/// let exp3 = StyleKey::new("exp3");
/// let palette = Palette::new([("exponential weights", Some(&exp3)), ("my policy", None)]);
/// assert_eq!(Some(palette.style("exponential weights")), exp3.reserved());
/// assert_ne!(palette.style("my policy").color, palette.style("exponential weights").color);
/// ```
#[derive(Clone, Debug, Default)]
pub struct Palette {
    styles: BTreeMap<String, Style>,
}

impl Palette {
    /// The styles of these curves, each given by its label and its key.
    ///
    /// A label has one style: if it occurs more than once, its first key counts. Of several labels with the same key,
    /// the first one gets the reserved style.
    pub fn new<'a>(curves: impl IntoIterator<Item = (&'a str, Option<&'a StyleKey>)>) -> Self {
        let mut keys: Vec<(&str, Option<&StyleKey>)> = Vec::new();
        for (label, key) in curves {
            match keys.iter_mut().find(|(known, _)| *known == label) {
                Some((_, known)) => *known = known.or(key),
                None => keys.push((label, key)),
            }
        }
        let mut palette = Palette::default();
        // Exact keys come first, so that a variant never takes the style of a kind that is shown itself.
        for (label, key) in &keys {
            palette.reserve(label, key.and_then(StyleKey::reserved));
        }
        for (label, key) in &keys {
            palette.reserve(label, key.and_then(|key| key.without_variant().reserved()));
        }
        palette.assign_others(keys.into_iter().map(|(label, _)| label).collect());
        palette
    }

    /// Gives a label without a style this one, unless another label has it.
    fn reserve(&mut self, label: &str, style: Option<Style>) {
        let free = style.filter(|style| !self.styles.values().any(|taken| taken == style));
        if let (Some(style), false) = (free, self.styles.contains_key(label)) {
            self.styles.insert(label.to_owned(), style);
        }
    }

    fn assign_others(&mut self, mut labels: Vec<&str>) {
        labels.retain(|label| !self.styles.contains_key(*label));
        labels.sort_unstable();
        let mut taken = [false; OTHERS.len()];
        for label in labels {
            // With more labels than styles the list is used again.
            if taken.iter().all(|slot| *slot) {
                taken = [false; OTHERS.len()];
            }
            let first = slot(label);
            let free = (0..OTHERS.len())
                .map(|step| (first + step) % OTHERS.len())
                .find(|at| !taken[*at])
                .expect("a list that is full has just been emptied");
            taken[free] = true;
            self.styles.insert(label.to_owned(), OTHERS[free]);
        }
    }

    /// The styles of every curve of these figures.
    pub fn for_figures<'a>(figures: impl IntoIterator<Item = &'a Figure>) -> Self {
        let panels = figures.into_iter().flat_map(|figure| &figure.panels);
        let series = panels.flat_map(|panel| &panel.series);
        Palette::new(series.map(|series| (series.label.as_str(), series.style.as_ref())))
    }

    /// The style of a label. A label that the palette was not built with has the style of a curve without a key.
    pub fn style(&self, label: &str) -> Style {
        self.styles.get(label).copied().unwrap_or(OTHERS[slot(label)])
    }
}

/// The preferred position of a label in [`OTHERS`]: its FNV-1a hash, which is the same in every version.
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
    fn no_two_styles_share_a_colour_or_a_dash_and_marker() {
        let all: Vec<Style> = RESERVED.iter().map(|entry| entry.style).chain(OTHERS).collect();
        for (i, one) in all.iter().enumerate() {
            for other in &all[i + 1..] {
                assert_ne!(one.color, other.color);
                assert_ne!(one.dark, other.dark);
                assert!(one.dash != other.dash || one.marker != other.marker, "{one:?} equals {other:?} in grey");
            }
        }
    }

    #[test]
    fn the_key_selects_the_style_and_the_label_does_not() {
        let (exp3, sharp) = (StyleKey::new("exp3"), StyleKey::new("successive-elimination").variant("sharp"));
        let palette = Palette::new([("UCB in epochs, SE after", Some(&exp3)), ("EXP3", Some(&sharp)), ("SE", None)]);
        assert_eq!(Some(palette.style("UCB in epochs, SE after")), exp3.reserved());
        assert_eq!(Some(palette.style("EXP3")), sharp.reserved());
        assert!(OTHERS.contains(&palette.style("SE")));
    }

    #[test]
    fn variants_give_way_to_the_plain_kind_and_otherwise_take_its_style() {
        let (plain, imed) = (StyleKey::new("calibrated"), StyleKey::new("calibrated").variant("imed"));
        let both = Palette::new([("imed", Some(&imed)), ("default", Some(&plain)), ("again", Some(&plain))]);
        assert_eq!(Some(both.style("default")), plain.reserved());
        assert!(OTHERS.contains(&both.style("imed")) && OTHERS.contains(&both.style("again")));
        assert_ne!(both.style("imed"), both.style("again"));
        let alone = Palette::new([("imed", Some(&imed))]);
        assert_eq!(Some(alone.style("imed")), plain.reserved());
    }

    #[test]
    fn styles_without_a_key_do_not_depend_on_the_order_of_curves() {
        let labels = ["oracle", "a", "b", "c", "first driver", "second driver"];
        let palette = Palette::new(labels.map(|label| (label, None)));
        let reversed = Palette::new(labels.into_iter().rev().map(|label| (label, None)));
        for (i, label) in labels.iter().enumerate() {
            assert_eq!(palette.style(label), reversed.style(label));
            for other in &labels[i + 1..] {
                assert_ne!(palette.style(label), palette.style(other), "{label} and {other}");
            }
        }
    }

    #[test]
    fn more_labels_than_styles_are_accepted() {
        let labels: Vec<String> = (0..40).map(|i| format!("policy {i}")).collect();
        let palette = Palette::new(labels.iter().map(|label| (label.as_str(), None)));
        assert_eq!(palette.styles.len(), 40);
    }
}
