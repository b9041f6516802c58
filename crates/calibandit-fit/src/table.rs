//! Tables that users bring: columns by name, and errors that name the file and the line.
//!
//! A byte order mark, either kind of line end, quoted cells and spaces around them are all fine; so is any order of
//! the columns, and columns that nobody asked for.

use std::fs;
use std::io;
use std::path::Path;

use csv::{ReaderBuilder, StringRecord};

/// Why a table could not be read.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum TableError {
    /// A file is not there.
    #[error("{file}: there is no such file; {hint}")]
    Missing {
        /// The file.
        file: String,
        /// What to do.
        hint: &'static str,
    },
    /// A file is there and cannot be read.
    #[error("{file}: {source}")]
    Io {
        /// The file.
        file: String,
        /// Why.
        source: io::Error,
    },
    /// A column is not there.
    #[error("{file}, line 1: there is no column `{column}`; the columns are {found}")]
    Column {
        /// The file.
        file: String,
        /// The column.
        column: String,
        /// The columns that are there.
        found: String,
    },
    /// Not a table: rows of unequal length, or bytes that are no text.
    #[error("{file}, line {line}: {problem}")]
    Malformed {
        /// The file.
        file: String,
        /// The line.
        line: u64,
        /// What is wrong.
        problem: String,
    },
    /// A cell with something else than what belongs there.
    #[error("{file}, line {line}: `{column}` is `{value}`, but must be {expected}")]
    Value {
        /// The file.
        file: String,
        /// The line.
        line: u64,
        /// The column.
        column: String,
        /// What is there.
        value: String,
        /// What has to be there.
        expected: &'static str,
    },
    /// Two lines that cannot both be true.
    #[error("{file}, line {line}: {what} was given as {first} in line {first_line}, and here as {second}")]
    Contradiction {
        /// The file.
        file: String,
        /// The later line.
        line: u64,
        /// The earlier line.
        first_line: u64,
        /// What they are about.
        what: String,
        /// What the earlier line says.
        first: u32,
        /// What the later line says.
        second: u32,
    },
    /// A table without rows.
    #[error("{file}: the table has no rows")]
    Empty {
        /// The file.
        file: String,
    },
}

/// The bytes of a file; `hint` says what to do if it is not there.
pub fn read(path: &Path, hint: &'static str) -> Result<Vec<u8>, TableError> {
    let file = || path.display().to_string();
    fs::read(path).map_err(|source| match source.kind() {
        io::ErrorKind::NotFound => TableError::Missing { file: file(), hint },
        _ => TableError::Io { file: file(), source },
    })
}

/// Calls `each` for every row of a table, with the cells of these columns.
pub fn rows<const N: usize>(
    file: &str,
    bytes: &[u8],
    columns: [&str; N],
    mut each: impl FnMut(Row<'_, N>) -> Result<(), TableError>,
) -> Result<(), TableError> {
    let bytes = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes);
    let mut reader = ReaderBuilder::new().trim(csv::Trim::All).from_reader(bytes);
    let malformed = |error: csv::Error| TableError::Malformed {
        file: file.to_string(),
        line: error.position().map_or(1, csv::Position::line),
        problem: plain(&error),
    };
    let header = reader.headers().map_err(malformed)?.clone();
    let mut places = [0; N];
    for (place, column) in places.iter_mut().zip(columns) {
        *place = header.iter().position(|name| name == column).ok_or_else(|| TableError::Column {
            file: file.to_string(),
            column: column.to_string(),
            found: header.iter().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", "),
        })?;
    }
    let mut record = StringRecord::new();
    while reader.read_record(&mut record).map_err(malformed)? {
        each(Row { file, columns, places, record: &record })?;
    }
    Ok(())
}

/// What is wrong, without the position: the caller says it in its own words.
fn plain(error: &csv::Error) -> String {
    match error.kind() {
        csv::ErrorKind::UnequalLengths { expected_len, len, .. } => {
            format!("the row has {len} cells, but the header has {expected_len}")
        }
        csv::ErrorKind::Utf8 { .. } => "the row is not UTF-8 text".to_string(),
        _ => error.to_string(),
    }
}

/// One row of a table, with `N` columns of it.
pub struct Row<'a, const N: usize> {
    file: &'a str,
    columns: [&'a str; N],
    places: [usize; N],
    record: &'a StringRecord,
}

impl<const N: usize> Row<'_, N> {
    /// The line in the file, from 1.
    pub fn line(&self) -> u64 {
        self.record.position().map_or(1, csv::Position::line)
    }

    /// The text of a cell.
    pub fn text(&self, column: usize) -> &str {
        self.record.get(self.places[column]).unwrap_or_default()
    }

    /// Whether a cell says that its value is not known.
    pub fn is_missing(&self, column: usize) -> bool {
        matches!(self.text(column), "" | "\\N" | "NA" | "NaN" | "nan" | "null" | "NULL")
    }

    /// A cell with a whole number from 1.
    pub fn whole(&self, column: usize) -> Result<u32, TableError> {
        match self.text(column).parse() {
            Ok(number) if number > 0 => Ok(number),
            _ => Err(self.wrong(column, "a whole number from 1")),
        }
    }

    /// A cell with a number.
    pub fn number(&self, column: usize) -> Result<f64, TableError> {
        match self.text(column).parse::<f64>() {
            Ok(number) if number.is_finite() => Ok(number),
            _ => Err(self.wrong(column, "a number")),
        }
    }

    fn wrong(&self, column: usize, expected: &'static str) -> TableError {
        // Enough to find it by; a broken file may have megabytes in one cell.
        let value = self.text(column).chars().take(40).collect();
        let (file, line, column) = (self.file.to_string(), self.line(), self.columns[column].to_string());
        TableError::Value { file, line, column, value, expected }
    }
}
