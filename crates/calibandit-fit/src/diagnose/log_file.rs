//! Logs from CSV and Parquet files.

use std::path::Path;

use calibandit::{Interrupt, Interrupted};

use super::log::{Log, LogBuilder, LogError};
use super::log_parquet::{MAGIC, parse_parquet};
use crate::table::{TableError, read, rows};

/// The names of the columns of a log.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LogColumns<'a> {
    /// The arm: any name of at most 100 characters.
    pub arm: &'a str,
    /// The loss; missing values (empty, `NA`, `NaN`, `null`) are allowed.
    pub loss: &'a str,
    /// The order of the plays, as whole numbers; a jump ends a run. `None`: the order of the rows.
    pub order: Option<&'a str>,
    /// The unit: what has a memory of its own. `None`: all plays are of one unit.
    pub unit: Option<&'a str>,
}

/// Why a file is not a log.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum LogFileError {
    /// The table cannot be read.
    #[error(transparent)]
    Table(#[from] TableError),
    /// The rows do not make a log.
    #[error("{file}: {source}")]
    Log {
        /// The file.
        file: String,
        /// The reason.
        source: LogError,
    },
    /// The stop flag was set.
    #[error(transparent)]
    Interrupted(#[from] Interrupted),
    /// A Parquet file cannot be read.
    #[error("{file}: {problem}")]
    Parquet {
        /// The file.
        file: String,
        /// The problem.
        problem: String,
    },
}

/// Reads a log from a CSV file with a header, or from a Parquet file.
///
/// # Errors
/// [`LogFileError`] with the file and, where it is known, the line.
pub fn read_log(path: &Path, columns: LogColumns<'_>) -> Result<Log, LogFileError> {
    read_log_interruptible(path, columns, Interrupt::never())
}

/// [`read_log`] with a stop flag, which is looked at before the file is taken apart, at each row of a CSV file, and
/// before the plays are put in order.
///
/// # Errors
/// As [`read_log`], and [`LogFileError::Interrupted`] if the flag is set.
pub fn read_log_interruptible(
    path: &Path,
    columns: LogColumns<'_>,
    interrupt: Interrupt<'_>,
) -> Result<Log, LogFileError> {
    let bytes = read(path, "give the path of a log: a CSV file with a header, or a Parquet file")?;
    parse(&path.display().to_string(), bytes, columns, interrupt)
}

/// [`read_log`] for the contents of a file; `file` is its name in errors.
///
/// # Errors
/// As [`read_log`].
pub fn parse_log(file: &str, bytes: Vec<u8>, columns: LogColumns<'_>) -> Result<Log, LogFileError> {
    parse(file, bytes, columns, Interrupt::never())
}

fn parse(file: &str, bytes: Vec<u8>, columns: LogColumns<'_>, interrupt: Interrupt<'_>) -> Result<Log, LogFileError> {
    interrupt.check()?;
    let builder = match bytes.starts_with(MAGIC) {
        true => parse_parquet(file, bytes, columns)?,
        false => parse_csv(file, &bytes, columns, interrupt)?,
    };
    interrupt.check()?;
    builder.build().map_err(|source| LogFileError::Log { file: file.to_string(), source })
}

/// What an order must be.
const WHOLE: &str = "a whole number (if it is a time, sort the rows by it and leave the order out)";

/// A whole number, also one that a table of floating-point numbers wrote, such as `17.0`.
fn whole(text: &str) -> Option<i64> {
    text.parse().ok().or_else(|| whole_of(text.parse().ok()?))
}

/// A floating-point number as a whole one, if it is one and exact.
pub(super) fn whole_of(number: f64) -> Option<i64> {
    let exact = number.fract() == 0.0 && number.abs() <= (1_u64 << 53) as f64;
    exact.then_some(number as i64)
}

/// The rows up to the one at which the flag was set.
fn parse_csv(
    file: &str,
    bytes: &[u8],
    columns: LogColumns<'_>,
    interrupt: Interrupt<'_>,
) -> Result<LogBuilder, TableError> {
    let mut builder = LogBuilder::new();
    let LogColumns { arm, loss, .. } = columns;
    // A column that is not given is read as the arm, and not used.
    let (order, unit) = (columns.order.unwrap_or(arm), columns.unit.unwrap_or(arm));
    rows(file, bytes, [arm, loss, order, unit], |row| {
        if interrupt.is_stopped() {
            return Ok(());
        }
        let loss = match row.is_missing(1) {
            true => None,
            false => Some(row.number(1).map_err(|_| row.invalid(1, "a number, or empty if it is missing"))?),
        };
        let order = match columns.order {
            Some(_) => Some(whole(row.text(2)).ok_or_else(|| row.invalid(2, WHOLE))?),
            None => None,
        };
        let unit = columns.unit.map(|_| row.text(3));
        if unit.is_some_and(str::is_empty) {
            return Err(row.invalid(3, "a name of the unit"));
        }
        builder.push(row.text(0), loss, order, unit).map_err(|error| match error {
            LogError::ArmName { .. } => row.invalid(0, "a name of 1 to 100 characters without control characters"),
            other => TableError::Malformed { file: file.to_string(), line: row.line(), problem: other.to_string() },
        })
    })?;
    if builder.is_empty() { Err(TableError::Empty { file: file.to_string() }) } else { Ok(builder) }
}

#[cfg(test)]
mod tests {
    use super::*;

    const COLUMNS: LogColumns<'_> = LogColumns { arm: "arm", loss: "ms", order: None, unit: None };

    fn parse(table: &str, columns: LogColumns<'_>) -> Result<Log, String> {
        parse_log("log.csv", table.as_bytes().to_vec(), columns).map_err(|error| error.to_string())
    }

    #[test]
    fn a_log_is_read_with_missing_losses() {
        let log = parse("ms,arm\n1.5,a\n,a\nNA,b\n2,b\n", COLUMNS).unwrap();
        assert_eq!((log.plays(), log.missing(), log.arms()), (4, 2, &["a".to_string(), "b".to_string()][..]));
        let columns = LogColumns { order: Some("n"), unit: Some("u"), ..COLUMNS };
        assert_eq!(parse("ms,arm\nN/A,a\nNone,a\n<NA>,b\n2,b\n", COLUMNS).unwrap().missing(), 3);
        // Orders of a table of floating-point numbers, quoted cells and Windows line ends.
        let table = "u,n,arm,ms\r\nx,2.0,\"a\",0.2\r\nx,1.0,a,0.1\r\ny,5.0,b,0.3\r\n";
        let log = parse(table, columns).unwrap();
        assert_eq!((log.units(), log.losses.as_slice()), (2, &[0.1, 0.2, 0.3][..]));
    }

    #[test]
    fn errors_name_the_file_the_line_and_the_column() {
        let error = |table: &str, columns| parse(table, columns).unwrap_err();
        assert_eq!(
            error("order,arm,ms\n", LogColumns { arm: "layout", ..COLUMNS }),
            "log.csv, line 1: there is no column `layout`; the columns are `order`, `arm`, `ms`"
        );
        let ordered = LogColumns { order: Some("n"), ..COLUMNS };
        assert_eq!(
            error("n,arm,ms\n1,a,0\n1.5,a,0\n", ordered),
            "log.csv, line 3: `n` is `1.5`, but must be a whole number (if it is a time, sort the rows by it and leave \
             the order out)"
        );
        assert!(error("n,arm,ms\n17,a,0\n17,b,0\n", ordered).contains("order 17 occurs twice, in rows 1 and 2"));
        assert!(error("n,arm,ms\n1e300,a,0\n", ordered).contains("`1e300`, but must be a whole number"));
        assert!(error("arm,ms\na,2e100\n", COLUMNS).contains("is 2e100, but must be within ±1e100"));
        assert!(error("arm,ms\na,-\n", COLUMNS).contains("must be a number, or empty if it is missing"));
        assert!(error("arm;ms\na;1\n", COLUMNS).ends_with("`arm;ms` (cells must be separated by commas)"));
        assert_eq!(
            error("arm,ms,ms\na,1,2\n", COLUMNS),
            "log.csv, line 1: there are 2 columns `ms`: rename all but one"
        );
        assert_eq!(error("", COLUMNS), "log.csv: the table has no rows");
        assert!(error("arm,ms\na,inf\n", COLUMNS).contains("line 2: `ms` is `inf`, but must be a number"));
        assert!(error("arm,ms\n,1\n", COLUMNS).contains("line 2: `arm` is ``, but must be a name"));
        assert_eq!(error("arm,ms\n", COLUMNS), "log.csv: the table has no rows");
    }
}
