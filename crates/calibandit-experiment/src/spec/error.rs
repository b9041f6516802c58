//! What is wrong with an experiment file, said as compilers say it: where, the line, what was meant.
//!
//! The few lines that draw the carets are written out here; a crate for it would be the larger thing to understand.

use std::fmt;
use std::ops::Range;

use serde::Serialize;

use super::source::{Excerpt, Position};

/// One thing that is wrong with an experiment file.
///
/// Its `Display` is several lines, in the manner of `cargo`:
///
/// ```text
/// error: unknown key `memory_bund`
///   --> fig1a.toml:17:1
///    |
/// 17 | memory_bund = 3
///    | ^^^^^^^^^^^
///    = help: did you mean `memory_bound`?
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Serialize, thiserror::Error)]
pub struct SpecError {
    /// The file's name, or what stands for it where there is none.
    pub file: String,
    /// Where in the file; none where a specification did not come from a text.
    pub position: Option<Position>,
    /// The key meant, from the top of the file: `policy[1].memory_bound`. Empty for the file as a whole.
    pub key: String,
    /// What sort of error it is.
    pub kind: SpecErrorKind,
    /// What is wrong, in one sentence.
    pub message: String,
    /// What was probably meant: text to put in place of what is marked.
    pub suggestion: Option<String>,
    /// What to do, where a replacement does not say it.
    pub help: Option<String>,
    /// The line to show.
    pub excerpt: Option<Excerpt>,
}

/// The sorts of errors in experiment files.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum SpecErrorKind {
    /// The file cannot be read.
    Unreadable,
    /// The file is not UTF-8.
    Encoding,
    /// The file is not TOML.
    Syntax,
    /// A key is given twice.
    DuplicateKey,
    /// There is no such key.
    UnknownKey,
    /// A key must be there and is not.
    MissingKey,
    /// A value is of the wrong type.
    WrongType,
    /// A value is of the right type but impossible.
    ImpossibleValue,
}

impl fmt::Display for SpecError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "error: {}", self.message)?;
        let gutter = self.position.map_or(1, |position| position.line.to_string().len());
        match self.position {
            Some(Position { line, column }) => write!(f, "\n{:gutter$}--> {}:{line}:{column}", "", self.file)?,
            None => write!(f, "\n{:gutter$}--> {}", "", self.file)?,
        }
        if let (Some(excerpt), Some(position)) = (&self.excerpt, self.position) {
            write!(f, "\n{:gutter$} |", "")?;
            write!(f, "\n{:gutter$} | {}", position.line, excerpt.text)?;
            write!(f, "\n{:gutter$} | {}", "", excerpt.underline())?;
        }
        if let Some(suggestion) = &self.suggestion {
            write!(f, "\n{:gutter$} = help: did you mean `{suggestion}`?", "")?;
        }
        if let Some(help) = &self.help {
            write!(f, "\n{:gutter$} = help: {help}", "")?;
        }
        Ok(())
    }
}

/// Everything that was found wrong with an experiment file, in the order of the file. Never empty.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, thiserror::Error)]
pub struct SpecErrors {
    errors: Vec<SpecError>,
}

/// More problems than this are not looked for: placing each costs a walk through the file.
pub(crate) const MOST_PROBLEMS: usize = 100;

/// More errors than this are counted but not shown: past it they tend to follow from each other.
const MOST_SHOWN: usize = 20;

impl SpecErrors {
    pub(crate) fn new(mut errors: Vec<SpecError>) -> Self {
        errors.sort_by_key(|error| error.position.map(|position| (position.line, position.column)));
        errors.dedup();
        Self { errors }
    }

    /// The errors, in the order of the file.
    pub fn errors(&self) -> &[SpecError] {
        &self.errors
    }
}

impl From<SpecError> for SpecErrors {
    fn from(error: SpecError) -> Self {
        Self { errors: vec![error] }
    }
}

impl fmt::Display for SpecErrors {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (i, error) in self.errors.iter().take(MOST_SHOWN).enumerate() {
            write!(f, "{}{error}", if i > 0 { "\n\n" } else { "" })?;
        }
        match self.errors.len().saturating_sub(MOST_SHOWN) {
            0 => Ok(()),
            more => write!(f, "\n\n... and {more} more errors"),
        }
    }
}

/// A [`SpecError`] that does not know its file yet.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Problem {
    pub(crate) span: Option<Range<usize>>,
    pub(crate) key: String,
    pub(crate) kind: SpecErrorKind,
    pub(crate) message: String,
    pub(crate) suggestion: Option<String>,
    pub(crate) help: Option<String>,
}

impl Problem {
    pub(crate) fn new(
        span: Option<Range<usize>>,
        key: impl Into<String>,
        kind: SpecErrorKind,
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

    #[test]
    fn reads_like_a_compiler_s_error() {
        let text = "name = \"x\"\n\tmemory_bund = 3\n";
        let problem = Problem::new(Some(12..23), "memory_bund", SpecErrorKind::UnknownKey, "unknown key `memory_bund`");
        let shown = Source { name: "a/b.toml", text }.locate(problem.suggest(Some("memory_bound"))).to_string();
        let expected = "\
error: unknown key `memory_bund`
 --> a/b.toml:2:2
  |
2 | \tmemory_bund = 3
  | \t^^^^^^^^^^^
  = help: did you mean `memory_bound`?";
        assert_eq!(shown, expected);
    }

    #[test]
    fn many_errors_are_sorted_counted_and_cut() {
        let text = "a\n".repeat(50);
        let source = Source { name: "f", text: &text };
        let errors = (0..30).rev().map(|i| {
            source.locate(Problem::new(Some(2 * i..2 * i + 1), "", SpecErrorKind::Syntax, format!("number {i}")))
        });
        let errors = SpecErrors::new(errors.collect());
        assert_eq!(errors.errors()[0].message, "number 0");
        assert!(errors.to_string().ends_with("... and 10 more errors"));
    }
}
