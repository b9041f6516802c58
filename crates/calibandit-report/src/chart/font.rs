//! The embedded font: widths and outlines of texts.
//!
//! A subset of Inter (SIL Open Font License, see `assets/fonts/OFL.txt`). In a PNG, a character that the subset lacks
//! is drawn as an empty box. An SVG contains the text itself and is displayed with a font of the reader.

use std::sync::LazyLock;
#[cfg(feature = "png")]
use ttf_parser::OutlineBuilder;
use ttf_parser::{Face, GlyphId};

/// The number of characters of a line: no drawing has room for more, also of characters without a width.
const LONGEST: usize = 2000;

/// The number of lines of a wrapped text.
const MOST_LINES: usize = 20;

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
    let advance: f64 = text.chars().map(|c| advance(face, c)).sum();
    advance * size / f64::from(face.units_per_em())
}

/// The width of a character in font units.
fn advance(face: &Face<'_>, c: char) -> f64 {
    f64::from(face.glyph_hor_advance(glyph(face, c)).unwrap_or_default())
}

/// Shortens a text to a width; an ellipsis marks what was removed.
pub(super) fn fit(text: &str, size: f64, bold: bool, room: f64) -> String {
    if text.chars().count() <= LONGEST && width(text, size, bold) <= room {
        return text.to_owned();
    }
    // Widths add up, so one pass finds the longest beginning that leaves room for the ellipsis.
    let face = face(bold);
    let room = room * f64::from(face.units_per_em()) / size - advance(face, '…');
    let mut used = 0.0;
    let fits = |(_, c): &(usize, char)| {
        used += advance(face, *c);
        used <= room
    };
    let end = text.char_indices().take(LONGEST).take_while(fits).last().map_or(0, |(at, c)| at + c.len_utf8());
    text[..end].trim_end().to_owned() + "…"
}

/// Breaks a text into lines of at most the width `room`. A longer single word is shortened, and so is a text with too
/// many lines.
pub(super) fn wrap(text: &str, size: f64, bold: bool, room: f64) -> Vec<String> {
    let space = width(" ", size, bold);
    let mut lines: Vec<String> = Vec::new();
    let mut used = 0.0;
    for word in text.split_whitespace() {
        let word = fit(word, size, bold, room);
        let wide = width(&word, size, bold);
        if let Some(last) = lines.last_mut().filter(|last| used + space + wide <= room && last.len() < LONGEST) {
            last.push(' ');
            last.push_str(&word);
            used += space + wide;
        } else if lines.len() == MOST_LINES {
            if let Some(last) = lines.last_mut() {
                last.push_str(" …");
            }
            break;
        } else {
            lines.push(word);
            used = wide;
        }
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

    #[test]
    fn texts_of_a_million_characters_are_shortened_in_one_pass() {
        // Words that fit, one word, and characters without a width.
        for text in ["word ".repeat(200_000), "x".repeat(1_000_000), "\u{301}".repeat(1_000_000)] {
            let cut = fit(&text, 12.0, true, 500.0);
            assert!(cut.ends_with('…') && cut.chars().count() <= LONGEST + 1, "{} characters", cut.chars().count());
            let lines = wrap(&text, 12.0, false, 500.0);
            assert!(lines.len() <= MOST_LINES && lines.iter().all(|line| line.chars().count() < 2 * LONGEST));
        }
        let lines = wrap(&"word ".repeat(10_000), 12.0, false, 500.0);
        assert!(lines.len() == MOST_LINES && lines[MOST_LINES - 1].ends_with("word …"));
    }

    #[test]
    fn the_longest_beginning_that_fits_is_kept() {
        let text = "a rather long title that does not fit in the room it has";
        for room in 0..400 {
            let room = f64::from(room);
            let cut = fit(text, 12.0, true, room);
            // By definition: remove characters from the end until the rest with an ellipsis fits.
            let mut kept: Vec<char> = text.chars().collect();
            let mut expected = text.to_owned();
            while width(&expected, 12.0, true) > room && !kept.is_empty() {
                kept.pop();
                expected = kept.iter().collect::<String>().trim_end().to_owned() + "…";
            }
            // The definition counts a space at the end only before it is removed.
            assert!(cut == expected || expected.starts_with(cut.trim_end_matches('…')), "{room}: {cut} {expected}");
            assert!(width(&cut, 12.0, true) <= room || cut == "…", "{room}: {cut}");
        }
    }
}
