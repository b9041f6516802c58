//! Text for terminals: its width, wrapped paragraphs, aligned columns, and no control characters.

use std::env;

/// Line breaks are escaped too: a name has one line.
pub(crate) use calibandit_experiment::format::visible;
use console::Term;
use textwrap::{Options, WordSplitter};

/// The width where the output is not a terminal.
const USUAL_WIDTH: usize = 80;

/// The number of columns to fill: `COLUMNS` if it is set, otherwise the width of the terminal, 80 without one. At least
/// 40, because narrower paragraphs cannot be read.
pub(crate) fn terminal_width() -> usize {
    let set = env::var("COLUMNS").ok().and_then(|columns| columns.trim().parse().ok());
    let terminal = || Term::stdout().size_checked().map(|(_, columns)| usize::from(columns));
    set.or_else(terminal).unwrap_or(USUAL_WIDTH).max(40)
}

/// A text as lines of at most `width` columns, each with this indent. Words are not broken, paragraphs are kept.
pub(crate) fn paragraph(text: &str, indent: &str, width: usize) -> String {
    hanging(text, indent, indent, width)
}

/// As [`paragraph`], with another indent for the first line.
pub(crate) fn hanging(text: &str, first: &str, indent: &str, width: usize) -> String {
    let options = Options::new(width)
        .initial_indent(first)
        .subsequent_indent(indent)
        .word_splitter(WordSplitter::NoHyphenation)
        .break_words(false);
    let mut wrapped = textwrap::fill(text, options);
    wrapped.push('\n');
    wrapped
}

/// A table with columns as wide as their cells. The first `texts` columns are aligned left, the others right.
pub(crate) fn aligned(header: &[&str], rows: &[Vec<String>], texts: usize) -> String {
    let columns_of = textwrap::core::display_width;
    let width = |column: usize| {
        let cells = rows.iter().filter_map(|row| row.get(column)).map(|cell| columns_of(cell));
        cells.max().unwrap_or(0).max(columns_of(header[column]))
    };
    let widths: Vec<usize> = (0..header.len()).map(width).collect();
    let mut text = String::new();
    let header: Vec<String> = header.iter().map(|&name| name.to_owned()).collect();
    for row in std::iter::once(&header).chain(rows) {
        let mut line = String::new();
        for (column, (cell, width)) in row.iter().zip(&widths).enumerate() {
            let space = " ".repeat(width - columns_of(cell));
            line += if column > 0 { "  " } else { "" };
            line += &if column < texts { format!("{cell}{space}") } else { format!("{space}{cell}") };
        }
        text += line.trim_end();
        text.push('\n');
    }
    text
}

/// JSON with the control characters escaped that JSON allows in strings (U+007F to U+009F). Its value stays the same.
pub(crate) fn visible_json(json: &str) -> String {
    let escaped = |c: char| c.is_control() && c != '\n';
    json.chars().map(|c| if escaped(c) { format!("\\u{:04x}", u32::from(c)) } else { c.to_string() }).collect()
}

/// As [`visible`], for a text of several lines.
pub(crate) fn visible_lines(text: &str) -> String {
    text.split('\n').map(visible).collect::<Vec<_>>().join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_are_as_wide_as_their_cells() {
        let rows = [["Jürgen", "1"], ["b", "-3758.3301"]].map(|row| row.map(str::to_owned).to_vec());
        let expected = "arm            AIC\nJürgen           1\nb       -3758.3301\n";
        assert_eq!(aligned(&["arm", "AIC"], &rows, 1), expected);
    }

    #[test]
    fn paragraphs_are_wrapped_without_breaking_words() {
        assert_eq!(paragraph("one two three", "  ", 9), "  one two\n  three\n");
        assert_eq!(hanging("one two three", "- ", "  ", 9), "- one two\n  three\n");
        assert_eq!(paragraph("beta·exp(-alpha·k)", "", 5), "beta·exp(-alpha·k)\n");
    }

    #[test]
    fn control_characters_are_escaped_and_other_text_is_not() {
        assert_eq!(visible("Jürgen 3 → ✓"), "Jürgen 3 → ✓");
        assert_eq!(visible("a\u{1b}[31mb\n\u{9b}c\u{7f}"), "a\\u{1b}[31mb\\n\\u{9b}c\\u{7f}");
        assert_eq!(visible("\u{202e}lime\u{2066}"), "\\u{202e}lime\\u{2066}");
    }

    #[test]
    fn escaped_json_has_the_same_value_and_no_control_characters() {
        let value = serde_json::json!({ "name": "a\u{1b}[31m\u{9b}\u{7f}\n\t→" });
        let text = visible_json(&serde_json::to_string_pretty(&value).unwrap());
        assert!(text.chars().all(|c| c == '\n' || !c.is_control()), "{text:?}");
        assert_eq!(serde_json::from_str::<serde_json::Value>(&text).unwrap(), value);
    }
}
