//! The text of an experiment file, and where in it something is.

use std::ops::Range;

use serde::Serialize;

use super::error::{Problem, SpecError, SpecErrorKind, SpecErrors};

/// A place in a file, as editors count: lines and columns from 1, columns in characters (a tab is one).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize)]
pub struct Position {
    /// The line, from 1.
    pub line: usize,
    /// The column, from 1.
    pub column: usize,
}

/// The piece of a line that is shown under an error.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Excerpt {
    /// The line, or the part of a very long one around what is meant; control characters are replaced.
    pub text: String,
    /// How many characters of `text` are left of what is meant.
    pub before: usize,
    /// How many characters of `text` are meant; at least 1, and then possibly just after the end of the line.
    pub width: usize,
}

/// Lines longer than this are shown in part.
const LONGEST_LINE: usize = 120;
/// How many characters of a long line are shown left of what is meant.
const CONTEXT: usize = 40;

/// A file's name and text.
#[derive(Clone, Debug)]
pub(crate) struct Source<'a> {
    pub(crate) name: &'a str,
    pub(crate) text: &'a str,
}

impl<'a> Source<'a> {
    /// The text of these bytes. The error says where they stop being text.
    pub(crate) fn from_bytes(name: &'a str, bytes: &'a [u8]) -> Result<Self, SpecErrors> {
        let error = match std::str::from_utf8(bytes) {
            Ok(text) => return Ok(Self { name, text }),
            Err(error) => error,
        };
        let valid = error.valid_up_to();
        let text = std::str::from_utf8(&bytes[..valid]).unwrap_or_default();
        let help = match bytes {
            [0xff, 0xfe, ..] | [0xfe, 0xff, ..] => "this looks like UTF-16: save the file as UTF-8",
            _ => "save the file as UTF-8, the encoding of TOML",
        };
        let byte = bytes.get(valid).copied().unwrap_or_default();
        let message = format!("the file is not UTF-8 text: byte {valid} (counted from 0) is 0x{byte:02x}");
        let problem = Problem::new(Some(valid..valid), "", SpecErrorKind::Encoding, message).help(help);
        Err(Source { name, text }.locate(problem).into())
    }

    /// The same problem with its place in the file.
    pub(crate) fn locate(&self, problem: Problem) -> SpecError {
        let place = problem.span.map(|span| self.place(span));
        SpecError {
            file: self.name.to_owned(),
            position: place.as_ref().map(|(position, _)| *position),
            key: problem.key,
            kind: problem.kind,
            message: problem.message,
            suggestion: problem.suggestion,
            help: problem.help,
            excerpt: place.map(|(_, excerpt)| excerpt),
        }
    }

    fn place(&self, span: Range<usize>) -> (Position, Excerpt) {
        let start = self.boundary(span.start);
        let end = self.boundary(span.end.max(span.start));
        let before = &self.text[..start];
        let line_start = before.rfind('\n').map_or(0, |newline| newline + 1);
        // The mark that some editors put before the first line is not a column of it.
        let visible_start =
            line_start + if self.text[line_start..].starts_with('\u{feff}') { '\u{feff}'.len_utf8() } else { 0 };
        let line_end = self.text[start..].find('\n').map_or(self.text.len(), |newline| start + newline);
        let line = self.text[visible_start.min(line_end)..line_end].trim_end_matches('\r');
        let left = self.text[visible_start.min(start)..start].chars().count();
        let width = self.text[start..end.min(line_end)].trim_end_matches('\r').chars().count().max(1);
        let line_number = before.matches('\n').count() + 1;
        (Position { line: line_number, column: left + 1 }, Excerpt::new(line, left, width))
    }

    /// The byte offset moved left to the start of a character of the text.
    fn boundary(&self, offset: usize) -> usize {
        let mut offset = offset.min(self.text.len());
        while !self.text.is_char_boundary(offset) {
            offset -= 1;
        }
        offset
    }
}

impl Excerpt {
    fn new(line: &str, before: usize, width: usize) -> Self {
        let skipped = if line.chars().count() > LONGEST_LINE { before.saturating_sub(CONTEXT) } else { 0 };
        let text: String = line.chars().skip(skipped).take(LONGEST_LINE).map(printable).collect();
        let before = before - skipped;
        let width = width.min(text.chars().count().saturating_sub(before)).max(1);
        Self { text, before, width }
    }

    /// The line with carets under what is meant. Tabs stay tabs in both lines, so that the carets line up.
    pub(crate) fn underline(&self) -> String {
        let indent: String = self
            .text
            .chars()
            .chain(std::iter::repeat(' '))
            .take(self.before)
            .map(|c| if c == '\t' { c } else { ' ' })
            .collect();
        format!("{indent}{}", "^".repeat(self.width))
    }
}

/// Terminals act on control characters, so none of a file's reach them.
fn printable(c: char) -> char {
    if c == '\t' || !c.is_control() { c } else { '\u{fffd}' }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn place(text: &str, span: Range<usize>) -> (usize, usize, String, String) {
        let (position, excerpt) = Source { name: "f", text }.place(span);
        (position.line, position.column, excerpt.text.clone(), excerpt.underline())
    }

    #[test]
    fn columns_are_characters_and_lines_end_with_either_newline() {
        assert_eq!(place("a = 1\r\nbc = 2\r\n", 7..9), (2, 1, "bc = 2".into(), "^^".into()));
        assert_eq!(place("é = \"ü\" # x\n", 5..9), (1, 5, "é = \"ü\" # x".into(), "    ^^^".into()));
        assert_eq!(place("\ta = 1\n", 1..2), (1, 2, "\ta = 1".into(), "\t^".into()));
        assert_eq!(place("\u{feff}a = 1", 3..4), (1, 1, "a = 1".into(), "^".into()));
    }

    #[test]
    fn the_end_of_the_file_and_spans_over_lines_are_places_too() {
        assert_eq!(place("a = [\n", 6..6), (2, 1, "".into(), "^".into()));
        assert_eq!(place("", 0..0), (1, 1, "".into(), "^".into()));
        assert_eq!(place("a = \"\"\"\nx\n\"\"\"", 4..13), (1, 5, "a = \"\"\"".into(), "    ^^^".into()));
        assert_eq!(place("ab", 7..99), (1, 3, "ab".into(), "  ^".into()));
    }

    #[test]
    fn long_lines_are_cut_and_control_characters_do_not_reach_the_terminal() {
        let (_, column, text, underline) = place(&format!("{}x{}", "a".repeat(5000), "b".repeat(5000)), 5000..5001);
        assert_eq!((column, text.len(), underline.len()), (5001, LONGEST_LINE, CONTEXT + 1));
        assert_eq!(place("a\u{1b}[2J", 0..1).2, "a\u{fffd}[2J");
    }

    #[test]
    fn bytes_that_are_not_text_are_named_with_their_place() {
        let errors = Source::from_bytes("f", b"a = 1\nb = \"\xff\"").unwrap_err();
        let error = &errors.errors()[0];
        assert_eq!(error.position, Some(Position { line: 2, column: 6 }));
        assert!(error.message.contains("byte 11") && error.message.contains("0xff"), "{error}");
        assert!(Source::from_bytes("f", b"\xff\xfea\0").unwrap_err().to_string().contains("UTF-16"));
    }
}
