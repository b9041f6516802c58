//! Text cells of CSV tables, which no spreadsheet program runs as a formula.
//!
//! Spreadsheet programs run a cell that begins with `=`, `+`, `-`, `@`, a tab or a carriage return. Such a text is
//! written with an apostrophe before it, which these programs take as "this is text". Reading removes it again. A text
//! that has apostrophes before such a character gets one more, so that every text is read back as it was.
//!
//! Numbers are written as they are, also negative ones.

use std::borrow::Cow;

/// The text as a cell.
pub(crate) fn text_cell(text: &str) -> Cow<'_, str> {
    if is_formula(text.trim_start_matches('\'')) { Cow::Owned(format!("'{text}")) } else { Cow::Borrowed(text) }
}

/// The text of a cell.
pub(super) fn cell_text(cell: &str) -> &str {
    match cell.strip_prefix('\'') {
        Some(text) if is_formula(text.trim_start_matches('\'')) => text,
        _ => cell,
    }
}

fn is_formula(text: &str) -> bool {
    text.starts_with(['=', '+', '-', '@', '\t', '\r'])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_cell_begins_as_a_formula_and_every_text_is_read_back() {
        for first in ["", "=", "+", "-", "@", "\t", "\r", "'", "''", "'=", "''-", "a", " =", "'a"] {
            for rest in ["", "1+1", "cmd|' /C calc'!A0", "'", "="] {
                let text = format!("{first}{rest}");
                let cell = text_cell(&text);
                assert!(!is_formula(&cell), "{cell:?}");
                assert_eq!(cell_text(&cell), text);
            }
        }
        assert_eq!(text_cell("SE, sharp"), "SE, sharp");
        assert_eq!(text_cell("=1"), "'=1");
    }
}
