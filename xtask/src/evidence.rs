//! Tables of what a long test or a study did, in pages of the documentation.

use std::fmt;
use std::fs;

use crate::outcome::StepError;
use crate::shell;

/// The page of the tests of reliability.
const RELIABILITY: &str = "docs/reliability.md";

/// A table with a heading.
pub(crate) struct EvidenceTable {
    rows: Vec<Vec<String>>,
}

impl EvidenceTable {
    pub(crate) fn new<const N: usize>(heading: [&str; N]) -> Self {
        Self { rows: vec![heading.map(str::to_string).to_vec()] }
    }

    pub(crate) fn row<const N: usize>(&mut self, cells: [String; N]) {
        self.rows.push(cells.to_vec());
    }

    /// Columns of numbers are aligned on the right, columns of text on the left.
    fn alignment(&self, column: usize) -> &'static str {
        let has_words = |row: &Vec<String>| row[column].contains(char::is_alphabetic);
        if column == 0 || self.rows[1..].iter().any(has_words) { "---" } else { "---:" }
    }
}

impl fmt::Display for EvidenceTable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (number, row) in self.rows.iter().enumerate() {
            writeln!(f, "| {} |", row.join(" | "))?;
            if number == 0 {
                let marks: Vec<&str> = (0..row.len()).map(|column| self.alignment(column)).collect();
                writeln!(f, "|{}|", marks.join("|"))?;
            }
        }
        Ok(())
    }
}

/// Replaces the table of this name on the page about reliability.
pub(crate) fn write_to_page(name: &str, table: &EvidenceTable) -> Result<(), StepError> {
    write_part(RELIABILITY, name, &table.to_string())
}

/// Replaces a part of a page: what is between `<!-- NAME -->` and `<!-- /NAME -->`.
pub(crate) fn write_part(page: &str, name: &str, text: &str) -> Result<(), StepError> {
    let path = shell::root().join(page);
    let page = fs::read_to_string(&path).map_err(|error| StepError::File { path: path.clone(), error })?;
    let Some(page) = with_table(&page, name, text) else {
        return Err(StepError::NoFile { path, command: format!("a page with <!-- {name} -->") });
    };
    fs::write(&path, page).map_err(|error| StepError::File { path, error })
}

fn with_table(page: &str, name: &str, table: &str) -> Option<String> {
    let (begin, end) = (format!("<!-- {name} -->\n"), format!("<!-- /{name} -->"));
    let start = page.find(&begin)? + begin.len();
    let stop = start + page[start..].find(&end)?;
    Some(format!("{}\n{table}\n{}", &page[..start], &page[stop..]))
}

/// The part of a long search to make: the number in this variable, 1 if there is none.
pub(crate) fn share(variable: &str) -> f64 {
    let share = std::env::var(variable).ok().and_then(|share| share.parse().ok());
    share.filter(|&share: &f64| share > 0.0).unwrap_or(1.0)
}

/// A whole number with its digits in groups of three: 1,234,567.
pub(crate) fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let mut text = String::new();
    for (position, digit) in digits.chars().enumerate() {
        if position > 0 && (digits.len() - position).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_named_table_is_replaced() {
        let page = "a\n<!-- x -->\nold\n<!-- /x -->\nb\n<!-- y -->\nkept\n<!-- /y -->\n";
        let mut table = EvidenceTable::new(["what", "count"]);
        table.row(["kills".to_string(), "3".to_string()]);
        let changed = with_table(page, "x", &table.to_string()).unwrap();
        let expected = "a\n<!-- x -->\n\n| what | count |\n|---|---:|\n| kills | 3 |\n\n<!-- /x -->\n\
                        b\n<!-- y -->\nkept\n<!-- /y -->\n";
        assert_eq!(changed, expected);
        assert_eq!(with_table(&changed, "x", &table.to_string()).unwrap(), changed);
        assert_eq!(with_table(page, "z", ""), None);
    }

    #[test]
    fn digits_are_in_groups_of_three() {
        assert_eq!([0, 999, 1000, 1_234_567].map(grouped), ["0", "999", "1,000", "1,234,567"]);
    }
}
