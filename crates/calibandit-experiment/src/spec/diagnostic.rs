//! Diagnostics for experiment files in the style of rustc: location, source line, suggestion.
//!
//! A check produces [`Finding`]s, which know only the bytes that they are about. [`Source`](super::source::Source)
//! turns them into [`Diagnostic`]s, which know the file. The text layout is that of the `annotate-snippets` crate,
//! without colours.

use std::fmt;
use std::ops::Range;

use annotate_snippets::{AnnotationKind, Group, Level, Origin, Renderer, Snippet};
use serde::Serialize;

use super::source::{Marked, Position};

/// One error in an experiment file.
///
/// Its `Display` has several lines:
///
/// ```text
/// error: unknown key `memory_bund`
///   --> fig1a.toml:17:1
///    |
/// 17 | memory_bund = 3
///    | ^^^^^^^^^^^
///    |
///    = help: did you mean `memory_bound`?
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Serialize, thiserror::Error)]
#[non_exhaustive]
pub struct Diagnostic {
    /// The name of the file, or of what was read instead of a file.
    pub file: String,
    /// The position in the file; `None` if the value did not come from a text.
    pub position: Option<Position>,
    /// The key, from the top of the file: `policy[1].memory_bound`. Empty for the file as a whole.
    pub key: String,
    /// The kind of error.
    pub kind: DiagnosticKind,
    /// What is wrong, in one sentence.
    pub message: String,
    /// What was probably meant: a replacement for the marked text.
    pub suggestion: Option<String>,
    /// What to do, if a replacement does not say it.
    pub help: Option<String>,
    /// The text that is marked when the error is shown.
    #[serde(skip)]
    pub(crate) marked: Option<Marked>,
}

/// The kinds of errors in experiment files.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum DiagnosticKind {
    /// The file cannot be read.
    Unreadable,
    /// The file is not UTF-8.
    Encoding,
    /// The file is not TOML, or not JSON if it is a JSON file.
    Syntax,
    /// A key is given twice.
    DuplicateKey,
    /// A key is unknown.
    UnknownKey,
    /// A required key is missing.
    MissingKey,
    /// A value has the wrong type.
    WrongType,
    /// A value has the right type but is not allowed.
    ImpossibleValue,
}

impl fmt::Display for Diagnostic {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let title = Level::ERROR.primary_title(&self.message);
        let line = self.marked.as_ref().map(Marked::line);
        let mut group: Group<'_> = match (&line, self.position) {
            (Some((line, span)), Some(position)) => title.element(
                Snippet::source(line)
                    .path(&self.file)
                    .line_start(position.line)
                    .annotation(AnnotationKind::Primary.span(span.clone())),
            ),
            _ => title.element(Origin::path(&self.file)),
        };
        let suggestion = self.suggestion.as_ref().map(|suggestion| format!("did you mean `{suggestion}`?"));
        for help in suggestion.into_iter().chain(self.help.clone()) {
            group = group.element(Level::HELP.message(help));
        }
        f.write_str(&Renderer::plain().render(&[group]))
    }
}

/// All errors that were found in an experiment file, in the order of the file. Never empty.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, thiserror::Error)]
pub struct Diagnostics {
    errors: Vec<Diagnostic>,
}

/// Checks stop after this many findings: locating each takes a pass over the text.
pub(crate) const MOST_FINDINGS: usize = 100;

/// Further errors are counted but not shown: they are often consequences of the first ones.
const MOST_SHOWN: usize = 20;

impl Diagnostics {
    pub(crate) fn new(mut errors: Vec<Diagnostic>) -> Self {
        errors.sort_by_key(|error| error.position.map(|position| (position.line, position.column)));
        errors.dedup();
        Self { errors }
    }

    /// The errors, in the order of the file.
    pub fn errors(&self) -> &[Diagnostic] {
        &self.errors
    }
}

impl From<Diagnostic> for Diagnostics {
    fn from(error: Diagnostic) -> Self {
        Self { errors: vec![error] }
    }
}

impl fmt::Display for Diagnostics {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (i, error) in self.errors.iter().take(MOST_SHOWN).enumerate() {
            write!(f, "{}{error}", if i > 0 { "\n\n" } else { "" })?;
        }
        match self.errors.len().saturating_sub(MOST_SHOWN) {
            0 => Ok(()),
            1 => write!(f, "\n\n... and 1 more error"),
            more => write!(f, "\n\n... and {more} more errors"),
        }
    }
}

/// An error without its file.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Finding {
    pub(crate) span: Option<Range<usize>>,
    pub(crate) key: String,
    pub(crate) kind: DiagnosticKind,
    pub(crate) message: String,
    pub(crate) suggestion: Option<String>,
    pub(crate) help: Option<String>,
}

impl Finding {
    pub(crate) fn new(
        span: Option<Range<usize>>,
        key: impl Into<String>,
        kind: DiagnosticKind,
        message: impl Into<String>,
    ) -> Self {
        Self { span, key: key.into(), kind, message: message.into(), suggestion: None, help: None }
    }

    pub(crate) fn suggest(mut self, suggestion: Option<impl Into<String>>) -> Self {
        self.suggestion = suggestion.map(Into::into);
        self
    }

    pub(crate) fn help(mut self, help: impl Into<String>) -> Self {
        self.help = Some(help.into());
        self
    }
}

#[cfg(test)]
mod tests {
    use super::super::source::Source;
    use super::*;

    fn shown(text: &str, span: Range<usize>) -> String {
        let finding = Finding::new(Some(span), "key", DiagnosticKind::UnknownKey, "unknown key `memory_bund`");
        Source::new("a/b.toml", text).locate(finding.suggest(Some("memory_bound"))).to_string()
    }

    #[test]
    fn an_error_shows_file_position_line_and_suggestion() {
        let expected = "\
error: unknown key `memory_bund`
 --> a/b.toml:2:2
  |
2 |     memory_bund = 3
  |     ^^^^^^^^^^^
  |
  = help: did you mean `memory_bound`?";
        assert_eq!(shown("name = \"x\"\n\tmemory_bund = 3\n", 12..23), expected);
    }

    #[test]
    fn only_the_first_line_of_a_span_is_marked() {
        let expected = "\
error: unknown key `memory_bund`
 --> a/b.toml:1:5
  |
1 | a = [1,
  |     ^^^
  |
  = help: did you mean `memory_bound`?";
        assert_eq!(shown("a = [1,\r\n2]\r\n", 4..11), expected);
    }

    #[test]
    fn wide_and_control_characters_do_not_move_the_marks() {
        let text = "é = \"世界\u{1b}[2J\u{9b}2J\" # x";
        let expected = "\
error: unknown key `memory_bund`
 --> a/b.toml:1:5
  |
1 | é = \"世界␛[2J\u{fffd}2J\" # x
  |     ^^^^^^^^^^^^^
  |
  = help: did you mean `memory_bound`?";
        assert_eq!(shown(text, 5..text.len() - 4), expected);
    }

    #[test]
    fn the_end_of_the_file_is_marked_behind_its_last_character() {
        assert!(shown("a = [\n", 6..6).contains(" --> a/b.toml:2:1\n  |\n2 |\n  | ^\n"), "{}", shown("a = [\n", 6..6));
        assert!(shown("", 0..0).contains(" --> a/b.toml:1:1\n  |\n1 |\n  | ^\n"), "{}", shown("", 0..0));
        assert!(shown("a = ", 4..4).contains("1 | a = \n  |     ^\n"), "{}", shown("a = ", 4..4));
    }

    #[test]
    fn long_lines_are_cut_around_the_mark() {
        let shown = shown(&format!("{}x{}", "a".repeat(5000), "b".repeat(5000)), 5000..5001);
        assert!(shown.contains(" --> a/b.toml:1:5001\n"), "{shown}");
        assert!(shown.lines().all(|line| line.chars().count() < 160), "{shown}");
        assert!(shown.contains("axb"), "{shown}");
    }

    #[test]
    fn errors_are_sorted_counted_and_cut() {
        let source = Source::new("f", &"a\n".repeat(50));
        let errors = (0..30).rev().map(|i| {
            source.locate(Finding::new(Some(2 * i..2 * i + 1), "", DiagnosticKind::Syntax, format!("number {i}")))
        });
        let errors = Diagnostics::new(errors.collect());
        assert_eq!(errors.errors()[0].message, "number 0");
        assert!(errors.to_string().ends_with("... and 10 more errors"));
    }
}
