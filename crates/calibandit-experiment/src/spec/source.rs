//! The text of an experiment file, and positions in it.

use std::ops::Range;
use std::sync::Arc;

use serde::Serialize;

use crate::format::{shortened, visible};

use super::diagnostic::{Diagnostic, DiagnosticKind, Diagnostics, Finding, MOST_FINDINGS};

/// The number of characters of a message: names from files that are in it can be long.
const LONGEST_TEXT: usize = 2000;

/// The number of characters of a line that are marked.
const LONGEST_MARK: usize = 100;

/// A position in a file, counted as editors do: lines and columns from 1, columns in characters (a tab is one).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize)]
pub struct Position {
    /// The line, from 1.
    pub line: usize,
    /// The column, from 1.
    pub column: usize,
}

/// The name and the text of a file, or of what was read instead of a file.
#[derive(Clone, Debug)]
pub(crate) struct Source {
    name: String,
    /// The text without a byte order mark. Empty if there is none.
    text: Arc<str>,
}

/// A part of one line of a text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Marked {
    text: Arc<str>,
    /// The line, without its end.
    line: Range<usize>,
    /// The marked part, within the line.
    part: Range<usize>,
}

impl Source {
    /// A text with the name of its file.
    pub(crate) fn new(name: &str, text: &str) -> Self {
        Self { name: name.to_owned(), text: text.strip_prefix('\u{feff}').unwrap_or(text).into() }
    }

    /// A source that is not a text.
    pub(crate) fn without_text(name: &str) -> Self {
        Self::new(name, "")
    }

    /// A text from its bytes. The error says where they are not UTF-8.
    pub(crate) fn from_bytes(name: &str, bytes: &[u8]) -> Result<Self, Diagnostics> {
        let error = match std::str::from_utf8(bytes) {
            Ok(text) => return Ok(Self::new(name, text)),
            Err(error) => error,
        };
        let valid = error.valid_up_to();
        let help = match bytes {
            [0xff, 0xfe, ..] | [0xfe, 0xff, ..] => "this looks like UTF-16: save the file as UTF-8",
            _ => "save the file as UTF-8, the encoding of TOML",
        };
        let message = format!("the file is not UTF-8 text: byte {valid} (counted from 0) is 0x{:02x}", bytes[valid]);
        let source = Self::new(name, &String::from_utf8_lossy(&bytes[..valid]));
        let end = source.text.len();
        Err(source.locate(Finding::new(Some(end..end), "", DiagnosticKind::Encoding, message).help(help)).into())
    }

    pub(crate) fn text(&self) -> &str {
        &self.text
    }

    /// The errors of findings in this source.
    pub(crate) fn locate_all(&self, findings: Vec<Finding>) -> Diagnostics {
        Diagnostics::new(findings.into_iter().take(MOST_FINDINGS).map(|p| self.locate(p)).collect())
    }

    /// The error of a finding in this source.
    pub(crate) fn locate(&self, finding: Finding) -> Diagnostic {
        let marked = finding.span.map(|span| self.mark(span));
        let shown = |text: String| shortened(&visible(&text), LONGEST_TEXT);
        Diagnostic {
            file: visible(&self.name),
            position: marked.as_ref().map(Marked::position),
            key: shown(finding.key),
            kind: finding.kind,
            message: shown(finding.message),
            suggestion: finding.suggestion.map(shown),
            help: finding.help.map(shown),
            marked,
        }
    }

    /// The first line of a span.
    fn mark(&self, span: Range<usize>) -> Marked {
        let start = self.boundary(span.start);
        let end = self.boundary(span.end.max(start));
        let line_start = self.text[..start].rfind('\n').map_or(0, |newline| newline + 1);
        let line_end = self.text[start..].find('\n').map_or(self.text.len(), |newline| start + newline);
        let line_end = line_start + self.text[line_start..line_end].trim_end_matches('\r').len();
        let start = start.min(line_end);
        Marked { text: self.text.clone(), line: line_start..line_end, part: start..end.clamp(start, line_end) }
    }

    /// The offset moved left to the start of a character of the text.
    fn boundary(&self, offset: usize) -> usize {
        (0..=offset.min(self.text.len())).rev().find(|&i| self.text.is_char_boundary(i)).unwrap_or(0)
    }
}

impl Marked {
    fn position(&self) -> Position {
        Position {
            line: self.text[..self.line.start].matches('\n').count() + 1,
            column: self.text[self.line.start..self.part.start].chars().count() + 1,
        }
    }

    /// The line as it is shown, and the bytes of it that are marked.
    pub(crate) fn line(&self) -> (String, Range<usize>) {
        let before = printable(&self.text[self.line.start..self.part.start]);
        let whole = &self.text[self.part.clone()];
        let part = match whole.char_indices().nth(LONGEST_MARK) {
            Some((end, _)) => printable(&whole[..end]) + "…",
            None => printable(whole),
        };
        let after = printable(&self.text[self.part.end..self.line.end]);
        let span = before.len()..before.len() + part.len();
        (before + &part + &after, span)
    }
}

/// Terminals interpret C1 control characters; annotate-snippets replaces only the others.
fn printable(text: &str) -> String {
    text.replace(|c: char| matches!(c, '\u{80}'..='\u{9f}'), "\u{fffd}")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn mark(text: &str, span: Range<usize>) -> (usize, usize, String) {
        let marked = Source::new("f", text).mark(span);
        let (line, part) = marked.line();
        (marked.position().line, marked.position().column, line[part].to_owned())
    }

    #[test]
    fn columns_are_characters_and_lines_end_with_either_newline() {
        assert_eq!(mark("a = 1\r\nbc = 2\r\n", 7..9), (2, 1, "bc".into()));
        assert_eq!(mark("é = \"ü\" # x\n", 5..9), (1, 5, "\"ü\"".into()));
        assert_eq!(mark("\ta = 1\n", 1..2), (1, 2, "a".into()));
        assert_eq!(mark("\u{feff}a = 1", 0..1), (1, 1, "a".into()));
    }

    #[test]
    fn spans_at_the_end_of_the_file_and_over_several_lines_have_positions() {
        assert_eq!(mark("a = [\n", 6..6), (2, 1, "".into()));
        assert_eq!(mark("", 0..0), (1, 1, "".into()));
        assert_eq!(mark("a = \"\"\"\nx\n\"\"\"", 4..13), (1, 5, "\"\"\"".into()));
        assert_eq!(mark("a", 7..9), (1, 2, "".into()));
        assert_eq!(mark("é", 1..2), (1, 1, "é".into()));
    }

    #[test]
    fn bytes_that_are_not_utf_8_are_reported_with_their_position() {
        let errors = Source::from_bytes("f", b"a = 1\nb = \"\xff\"").unwrap_err();
        let error = &errors.errors()[0];
        assert_eq!(error.position, Some(Position { line: 2, column: 6 }));
        assert!(error.message.contains("byte 11") && error.message.contains("0xff"), "{error}");
        assert!(Source::from_bytes("f", b"\xff\xfea\0").unwrap_err().to_string().contains("UTF-16"));
    }
}
