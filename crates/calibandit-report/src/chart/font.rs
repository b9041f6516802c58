//! The embedded font: how wide a text is, and its outlines.
//!
//! A subset of Inter (SIL Open Font License, see `assets/fonts/OFL.txt`). A character that it lacks is drawn as an empty
//! box in a PNG; the SVG carries the text itself.

use std::sync::LazyLock;
#[cfg(feature = "png")]
use ttf_parser::OutlineBuilder;
use ttf_parser::{Face, GlyphId};

type Embedded = LazyLock<Face<'static>>;

static REGULAR: Embedded = LazyLock::new(|| parse(include_bytes!("../../assets/fonts/inter-regular-subset.otf")));
static SEMI_BOLD: Embedded = LazyLock::new(|| parse(include_bytes!("../../assets/fonts/inter-semibold-subset.otf")));

fn parse(data: &'static [u8]) -> Face<'static> {
    Face::parse(data, 0).expect("the embedded font is part of the program and parses")
}

fn face(bold: bool) -> &'static Face<'static> {
    if bold { &SEMI_BOLD } else { &REGULAR }
}

fn glyph(face: &Face<'_>, c: char) -> GlyphId {
    face.glyph_index(c).unwrap_or_default()
}

/// The width of a text in the unit of `size`.
pub(super) fn width(text: &str, size: f64, bold: bool) -> f64 {
    let face = face(bold);
    let advance: f64 =
        text.chars().map(|c| f64::from(face.glyph_hor_advance(glyph(face, c)).unwrap_or_default())).sum();
    advance * size / f64::from(face.units_per_em())
}

/// Cuts a text to a width, with an ellipsis if something was lost.
pub(super) fn fit(text: &str, size: f64, bold: bool, room: f64) -> String {
    if width(text, size, bold) <= room {
        return text.to_owned();
    }
    let mut kept: Vec<char> = text.chars().collect();
    loop {
        kept.pop();
        let cut: String = kept.iter().collect::<String>().trim_end().to_owned() + "…";
        if kept.is_empty() || width(&cut, size, bold) <= room {
            return cut;
        }
    }
}

/// Breaks a text into lines of at most `room`; a longer single word is cut.
pub(super) fn wrap(text: &str, size: f64, bold: bool, room: f64) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for word in text.split_whitespace() {
        if let Some(last) = lines.last_mut() {
            let longer = format!("{last} {word}");
            if width(&longer, size, bold) <= room {
                *last = longer;
                continue;
            }
        }
        lines.push(fit(word, size, bold, room));
    }
    lines
}

/// Sends the outlines of a text that starts at (0, 0) to `pen`: glyph by glyph, with the glyph's offset along the line,
/// in font units with y upwards. Returns the number of font units in `size` 1.
#[cfg(feature = "png")]
pub(super) fn outline<P: OutlineBuilder>(text: &str, bold: bool, pen: &mut P, advance: impl Fn(&mut P, f64)) -> f64 {
    let face = face(bold);
    let mut offset = 0.0;
    for c in text.chars() {
        let id = glyph(face, c);
        advance(pen, offset);
        // A blank has no outline; that is not an error.
        let _ = face.outline_glyph(id, pen);
        offset += f64::from(face.glyph_hor_advance(id).unwrap_or_default());
    }
    f64::from(face.units_per_em())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_font_has_what_figures_say() {
        for bold in [false, true] {
            for c in "CPR ± 1 σ, α-REO: m = M × 10⁻⁶ … √K ≤ μ(x*) – “T” “é” ’−∞".chars()
            {
                assert!(face(bold).glyph_index(c).is_some(), "{c:?} is missing");
            }
        }
    }

    #[test]
    fn cutting_and_wrapping_keep_within_the_room() {
        let text = "a rather long title that does not fit in the room it has";
        let cut = fit(text, 12.0, true, 100.0);
        assert!(cut.ends_with('…') && width(&cut, 12.0, true) <= 100.0);
        assert_eq!(fit("short", 12.0, true, 100.0), "short");
        let lines = wrap(text, 12.0, false, 100.0);
        assert!(lines.len() > 2 && lines.iter().all(|line| width(line, 12.0, false) <= 100.0));
        assert_eq!(lines.join(" "), text);
        assert_eq!(fit("anything", 12.0, false, 0.0), "…");
    }
}
