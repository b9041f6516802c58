//! Reading of users' CSV tables: columns by name, errors with file and line.
//!
//! Public because other importers use it too. It accepts a byte order mark, both kinds of line ends, quoted cells,
//! spaces around cells, any order of columns, and further columns.

use std::borrow::Cow;
use std::fs;
use std::io;
use std::path::Path;

use csv::{ReaderBuilder, StringRecord};

/// Why a table could not be read.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum TableError {
    /// A file does not exist.
    #[error("{file}: there is no such file; {hint}")]
    Missing {
        /// The file.
        file: String,
        /// What to do.
        hint: &'static str,
    },
    /// A file exists but could not be read.
    #[error("{file}: {source}")]
    Io {
        /// The file.
        file: String,
        /// The reason.
        source: io::Error,
    },
    /// A column does not exist.
    #[error("{file}, line 1: there is no column `{column}`; the columns are {found}")]
    Column {
        /// The file.
        file: String,
        /// The column.
        column: String,
        /// The columns of the table.
        found: String,
    },
    /// A column occurs twice, so that nobody knows which one is meant.
    #[error("{file}, line 1: there are {count} columns `{column}`: rename all but one")]
    ColumnTwice {
        /// The file.
        file: String,
        /// The column.
        column: String,
        /// How often it occurs.
        count: usize,
    },
    /// Not a CSV table: rows of unequal length, or bytes that are not UTF-8.
    #[error("{file}, line {line}: {problem}")]
    Malformed {
        /// The file.
        file: String,
        /// The line.
        line: u64,
        /// The problem.
        problem: String,
    },
    /// A cell has an invalid value.
    #[error("{file}, line {line}: `{column}` is `{value}`, but must be {expected}")]
    Value {
        /// The file.
        file: String,
        /// The line.
        line: u64,
        /// The column.
        column: String,
        /// The value.
        value: String,
        /// The kind of value that is valid here.
        expected: &'static str,
    },
    /// A position is far beyond all others of its arm.
    #[error(
        "{file}, line {line}: the position is {position}, but the next smaller one of `{arm}` is {before}; positions \
         count the plays of a run (1, 2, 3, ...): correct or remove this line"
    )]
    FarPosition {
        /// The file.
        file: String,
        /// The line.
        line: u64,
        /// The arm.
        arm: String,
        /// The position.
        position: u32,
        /// The next smaller position.
        before: u32,
    },
    /// Two lines contradict each other.
    #[error("{file}, line {line}: {what} is {second} here, but {first} in line {first_line}")]
    Contradiction {
        /// The file.
        file: String,
        /// The later line.
        line: u64,
        /// The earlier line.
        first_line: u64,
        /// The quantity that both lines give.
        what: String,
        /// Its value in the earlier line.
        first: u32,
        /// Its value in the later line.
        second: u32,
    },
    /// A table has no rows.
    #[error("{file}: the table has no rows")]
    Empty {
        /// The file.
        file: String,
    },
}

/// The bytes of a file; `hint` tells the user what to do if it does not exist.
///
/// # Errors
/// [`TableError::Missing`] and [`TableError::Io`].
pub fn read(path: &Path, hint: &'static str) -> Result<Vec<u8>, TableError> {
    let file = || path.display().to_string();
    fs::read(path).map_err(|source| match source.kind() {
        io::ErrorKind::NotFound => TableError::Missing { file: file(), hint },
        _ => TableError::Io { file: file(), source },
    })
}

/// Calls `each` for every row of a table, with the cells of these columns. `file` is the name of the table in errors.
///
/// # Errors
/// [`TableError`] if a column is missing or a row is malformed, and every error of `each`.
pub fn rows<const N: usize>(
    file: &str,
    bytes: &[u8],
    columns: [&str; N],
    mut each: impl FnMut(TableRow<'_, N>) -> Result<(), TableError>,
) -> Result<(), TableError> {
    let bytes = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes);
    let mut reader = ReaderBuilder::new().trim(csv::Trim::All).from_reader(bytes);
    let malformed =
        |error: csv::Error, line| TableError::Malformed { file: file.to_string(), line, problem: plain(&error) };
    let header = reader.headers().map_err(|error| malformed(error, 1))?.clone();
    if header.is_empty() {
        return Err(TableError::Empty { file: file.to_string() });
    }
    let mut places = [0; N];
    for (place, column) in places.iter_mut().zip(columns) {
        *place = header.iter().position(|name| name == column).ok_or_else(|| TableError::Column {
            file: file.to_string(),
            column: column.to_string(),
            found: found(&header),
        })?;
        let count = header.iter().filter(|name| *name == column).count();
        if count > 1 {
            return Err(TableError::ColumnTwice { file: file.to_string(), column: column.to_string(), count });
        }
    }
    let mut record = StringRecord::new();
    let mut lines = LineCounter { bytes, at: 0, line: 1 };
    loop {
        match reader.read_record(&mut record) {
            Err(error) => {
                let line = error.position().map_or(1, |position| lines.line_at(position.byte()));
                return Err(malformed(error, line));
            }
            Ok(false) => return Ok(()),
            Ok(true) => {
                let line = record.position().map_or(1, |position| lines.line_at(position.byte()));
                each(TableRow { file, columns, places, record: &record, line })?;
            }
        }
    }
}

/// The columns of a table in words.
fn found(header: &StringRecord) -> String {
    let quoted = |name: &str| format!("`{}`", name.chars().map(visible).collect::<String>());
    let names = header.iter().map(quoted).collect::<Vec<_>>().join(", ");
    let other = header.len() == 1 && header.iter().any(|name| name.contains([';', '\t', '|']));
    names + if other { " (cells must be separated by commas)" } else { "" }
}

/// Lines by byte. The `csv` crate ends a record at `\r` and counts lines at `\n`, so its own line numbers are too small
/// by one in files with `\r\n`.
struct LineCounter<'a> {
    bytes: &'a [u8],
    at: usize,
    line: u64,
}

impl LineCounter<'_> {
    /// The line of the record that begins at this byte or after the line ends that follow it. Bytes must not decrease
    /// between calls.
    fn line_at(&mut self, byte: u64) -> u64 {
        let start = usize::try_from(byte).map_or(self.bytes.len(), |byte| byte.min(self.bytes.len()));
        while let Some(&here) = self.bytes.get(self.at) {
            let line_end = matches!(here, b'\r' | b'\n');
            if self.at >= start && !line_end {
                break;
            }
            let first_of_two = here == b'\r' && self.bytes.get(self.at + 1) == Some(&b'\n');
            self.line += u64::from(line_end && !first_of_two);
            self.at += 1;
        }
        self.line
    }
}

/// The problem without its position, which [`TableError::Malformed`] has.
fn plain(error: &csv::Error) -> String {
    match error.kind() {
        csv::ErrorKind::UnequalLengths { expected_len, len, .. } => {
            format!("the row has {len} cells, but the header has {expected_len}")
        }
        csv::ErrorKind::Utf8 { .. } => "the row is not UTF-8 text".to_string(),
        _ => error.to_string(),
    }
}

/// One row of a table, with the `N` columns that were asked for.
pub struct TableRow<'a, const N: usize> {
    file: &'a str,
    columns: [&'a str; N],
    places: [usize; N],
    record: &'a StringRecord,
    line: u64,
}

impl<const N: usize> TableRow<'_, N> {
    /// The line in the file, counted from 1.
    pub fn line(&self) -> u64 {
        self.line
    }

    /// The text of a cell.
    pub fn text(&self, column: usize) -> &str {
        self.record.get(self.places[column]).unwrap_or_default()
    }

    /// Whether the value of a cell is marked as unknown: empty, `\N`, `NA`, `N/A`, `NaN`, `null`, `None` or `<NA>`.
    pub fn is_missing(&self, column: usize) -> bool {
        matches!(
            self.text(column),
            "" | "\\N" | "NA" | "N/A" | "n/a" | "#N/A" | "<NA>" | "NaN" | "nan" | "null" | "NULL" | "None"
        )
    }

    /// The value of a cell that must be a whole number from 1.
    ///
    /// # Errors
    /// [`TableError::Value`].
    pub fn whole(&self, column: usize) -> Result<u32, TableError> {
        match self.text(column).parse() {
            Ok(number) if number > 0 => Ok(number),
            _ => Err(self.invalid(column, "a whole number from 1")),
        }
    }

    /// The value of a cell that must be a number.
    ///
    /// # Errors
    /// [`TableError::Value`].
    pub fn number(&self, column: usize) -> Result<f64, TableError> {
        match self.text(column).parse::<f64>() {
            Ok(number) if number.is_finite() => Ok(number),
            _ => Err(self.invalid(column, "a number")),
        }
    }

    /// The error of a cell with an invalid value.
    pub fn invalid(&self, column: usize, expected: &'static str) -> TableError {
        // A malformed file may have megabytes in one cell; 40 characters are enough to find it.
        let value = self.text(column).chars().take(40).map(visible).collect();
        let (file, line, column) = (self.file.to_string(), self.line(), self.columns[column].to_string());
        TableError::Value { file, line, column, value, expected }
    }
}

/// A text as a cell of a table that is written. Spreadsheet programs run a cell that begins with one of these
/// characters; an apostrophe before it makes it a text. Result tables of experiments follow the same rule.
pub(crate) fn text_cell(text: &str) -> Cow<'_, str> {
    let is_formula = text.trim_start_matches('\'').starts_with(['=', '+', '-', '@', '\t', '\r']);
    if is_formula { Cow::Owned(format!("'{text}")) } else { Cow::Borrowed(text) }
}

/// A character as it may be printed: control characters of a table must not reach a terminal.
fn visible(c: char) -> String {
    if c.is_control() { c.escape_default().to_string() } else { c.to_string() }
}
