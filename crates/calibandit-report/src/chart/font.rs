//! The embedded font: widths and outlines of texts.
//!
//! A subset of Inter (SIL Open Font License, see `assets/fonts/OFL.txt`). In a PNG, a character that the subset lacks
//! is drawn as an empty box. An SVG contains the text itself and is displayed with a font of the reader.

use std::sync::LazyLock;
#[cfg(feature = "png")]
use ttf_parser::OutlineBuilder;
use ttf_parser::{Face, GlyphId};

type Embedded = LazyLock<Face<'static>>;

static REGULAR: Embedded = LazyLock::new(|| parse(include_bytes!("../../assets/fonts/inter-regular-subset.otf")));
static SEMI_BOLD: Embedded = LazyLock::new(|| parse(include_bytes!("../../assets/fonts/inter-semibold-subset.otf")));

fn parse(data: &'static [u8]) -> Face<'static> {
    Face::parse(data, 0).expect("the embedded font is a valid font")
}

fn face(bold: bool) -> &'static Face<'static> {
    if bold { &SEMI_BOLD } else { &REGULAR }
}

fn glyph(face: &Face<'_>, c: char) -> GlyphId {
    face.glyph_index(c).unwrap_or_default()
}

/// The width of a text, in the unit of `size`.
pub(super) fn width(text: &str, size: f64, bold: bool) -> f64 {
    let face = face(bold);
    let advance: f64 =
        text.chars().map(|c| f64::from(face.glyph_hor_advance(glyph(face, c)).unwrap_or_default())).sum();
    advance * size / f64::from(face.units_per_em())
}

/// Shortens a text to a width; an ellipsis marks what was removed.
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

/// Breaks a text into lines of at most the width `room`. A longer single word is shortened.
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

/// Sends the outlines of a text to `pen`, in font units with y upwards. `advance` receives the offset of each glyph
/// along the line before its outline. Returns the number of font units per em.
#[cfg(feature = "png")]
pub(super) fn outline<P: OutlineBuilder>(text: &str, bold: bool, pen: &mut P, advance: impl Fn(&mut P, f64)) -> f64 {
    let face = face(bold);
    let mut offset = 0.0;
    for c in text.chars() {
        let id = glyph(face, c);
        advance(pen, offset);
        // A space has no outline.
        let _ = face.outline_glyph(id, pen);
        offset += f64::from(face.glyph_hor_advance(id).unwrap_or_default());
    }
    f64::from(face.units_per_em())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_font_has_the_characters_of_figures() {
        for bold in [false, true] {
            for c in "CPR ± 1 σ, α-REO: m = M × 10⁻⁶ … √K ≤ μ(x*) – “T” “é” ’−∞".chars()
            {
                assert!(face(bold).glyph_index(c).is_some(), "{c:?} is missing");
            }
        }
    }

    #[test]
    fn shortened_and_wrapped_texts_have_at_most_the_given_width() {
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
