//! Logs from Parquet files: columns of text or numbers, without compression or with Snappy.

use std::panic::{AssertUnwindSafe, catch_unwind};

use bytes::Bytes;
use parquet::basic::{ConvertedType as Noted, LogicalType};
use parquet::column::reader::{ColumnReader, ColumnReaderImpl};
use parquet::data_type::DataType;
use parquet::errors::ParquetError;
use parquet::file::reader::{FileReader, RowGroupReader, SerializedFileReader};

use super::log::LogBuilder;
use super::log_file::{LogColumns, LogFileError, whole_of};
use crate::table::TableError;

/// The first bytes of every Parquet file.
pub(super) const MAGIC: &[u8] = b"PAR1";

/// One column of a row group; `None` where a value is missing.
enum ColumnValues {
    Text(Vec<Option<String>>),
    Whole(Vec<Option<i64>>),
    Number(Vec<Option<f64>>),
}

impl ColumnValues {
    fn len(&self) -> usize {
        match self {
            Self::Text(values) => values.len(),
            Self::Whole(values) => values.len(),
            Self::Number(values) => values.len(),
        }
    }

    /// A name: text, or a whole number as text. Numbers that are no whole ones are not names: they are rounded when
    /// they are written.
    fn name(&self, row: usize) -> Option<String> {
        match self {
            Self::Text(values) => values[row].clone(),
            Self::Whole(values) => values[row].map(|value| value.to_string()),
            Self::Number(_) => None,
        }
    }

    fn number(&self, row: usize) -> Result<Option<f64>, ()> {
        match self {
            Self::Text(_) => Err(()),
            Self::Whole(values) => Ok(values[row].map(|value| value as f64)),
            Self::Number(values) => Ok(values[row].filter(|value| !value.is_nan())),
        }
    }

    fn whole(&self, row: usize) -> Option<i64> {
        match self {
            Self::Whole(values) => values[row],
            Self::Number(values) => values[row].and_then(whole_of),
            Self::Text(_) => None,
        }
    }
}

/// Reads a log. The Parquet reader panics on some damaged pages (found by fuzzing); the file is then refused like any
/// other damaged one. Nothing of the reader is used after that.
pub(super) fn parse_parquet(file: &str, bytes: Vec<u8>, columns: LogColumns<'_>) -> Result<LogBuilder, LogFileError> {
    catch_unwind(AssertUnwindSafe(|| read_log(file, bytes, columns))).unwrap_or_else(|_| {
        let problem =
            "the Parquet file is damaged: one of its pages cannot be decoded; write the file again".to_string();
        Err(LogFileError::Parquet { file: file.to_string(), problem })
    })
}

fn read_log(file: &str, bytes: Vec<u8>, columns: LogColumns<'_>) -> Result<LogBuilder, LogFileError> {
    let failed = |problem: String| LogFileError::Parquet { file: file.to_string(), problem };
    let unreadable = |error: ParquetError| {
        failed(format!("the Parquet file cannot be read ({error}); write it with Snappy or without compression"))
    };
    let reader = SerializedFileReader::new(Bytes::from(bytes)).map_err(unreadable)?;
    let schema = reader.metadata().file_metadata().schema_descr_ptr();
    let names: Vec<String> = schema.columns().iter().map(|column| column.path().string()).collect();
    let place = |column: &str| {
        names.iter().position(|name| name == column).ok_or_else(|| TableError::Column {
            file: file.to_string(),
            column: column.to_string(),
            found: names.iter().map(|name| format!("`{}`", name.escape_debug())).collect::<Vec<_>>().join(", "),
        })
    };
    let (arm, loss) = (place(columns.arm)?, place(columns.loss)?);
    let order = columns.order.map(place).transpose()?;
    let unit = columns.unit.map(place).transpose()?;
    let mut builder = LogBuilder::new();
    for group in 0..reader.num_row_groups() {
        let group = reader.get_row_group(group).map_err(unreadable)?;
        let read = |place: usize| read_column(group.as_ref(), place).map_err(unreadable);
        let (arms, losses) = (read(arm)?, read(loss)?);
        let orders = order.map(read).transpose()?;
        let units = unit.map(read).transpose()?;
        for row in 0..arms.len() {
            let at = |column: &str, expected: &str| {
                failed(format!("`{column}` in row {} must be {expected}", builder.len() + 1))
            };
            let name = arms.name(row).ok_or_else(|| at(columns.arm, "a text or a whole number"))?;
            let loss = losses.number(row).map_err(|()| at(columns.loss, "a number"))?;
            let order = match &orders {
                Some(orders) => {
                    let column = columns.order.unwrap_or_default();
                    Some(orders.whole(row).ok_or_else(|| at(column, "a whole number"))?)
                }
                None => None,
            };
            let unit = match &units {
                Some(units) => {
                    let column = columns.unit.unwrap_or_default();
                    Some(units.name(row).ok_or_else(|| at(column, "a text or a whole number"))?)
                }
                None => None,
            };
            let pushed = builder.push(&name, loss, order, unit.as_deref());
            pushed.map_err(|source| LogFileError::Log { file: file.to_string(), source })?;
        }
    }
    if builder.is_empty() { Err(TableError::Empty { file: file.to_string() }.into()) } else { Ok(builder) }
}

fn read_column(group: &dyn RowGroupReader, place: usize) -> Result<ColumnValues, ParquetError> {
    let meaning = group.metadata().column(place).column_descr_ptr();
    if meaning.max_rep_level() > 0 {
        return Err(ParquetError::NYI(format!("column `{}` is a list", meaning.path().string())));
    }
    let shape = ColumnShape {
        rows: usize::try_from(group.metadata().num_rows()).unwrap_or(0),
        present: meaning.max_def_level(),
    };
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    // Files have one of two notes on the meaning of whole numbers, or both.
    let noted = meaning.converted_type();
    let unsigned = matches!(noted, Noted::UINT_8 | Noted::UINT_16 | Noted::UINT_32 | Noted::UINT_64)
        || matches!(meaning.logical_type_ref(), Some(LogicalType::Integer(kind)) if !kind.is_signed);
    let decimal = match meaning.logical_type_ref() {
        Some(LogicalType::Decimal(kind)) => Some(kind.scale),
        _ => (noted == Noted::DECIMAL).then(|| meaning.type_scale()),
    };
    let decimal = decimal.map(|scale| 10.0_f64.powi(scale));
    Ok(match (group.get_column_reader(place)?, decimal) {
        (ColumnReader::Int32ColumnReader(reader), Some(unit)) => {
            ColumnValues::Number(shape.values(reader, |&value| f64::from(value) / unit)?)
        }
        (ColumnReader::Int64ColumnReader(reader), Some(unit)) => {
            ColumnValues::Number(shape.values(reader, |&value| value as f64 / unit)?)
        }
        (ColumnReader::BoolColumnReader(reader), _) => {
            ColumnValues::Whole(shape.values(reader, |&value| i64::from(value))?)
        }
        (ColumnReader::Int32ColumnReader(reader), None) if unsigned => {
            ColumnValues::Whole(shape.values(reader, |&value| i64::from(value.cast_unsigned()))?)
        }
        (ColumnReader::Int32ColumnReader(reader), None) => {
            ColumnValues::Whole(shape.values(reader, |&value| i64::from(value))?)
        }
        (ColumnReader::Int64ColumnReader(reader), None) => {
            let whole = shape.values(reader, |&value| value)?;
            if unsigned && whole.iter().flatten().any(|&value| value < 0) {
                let name = meaning.path().string();
                return Err(ParquetError::NYI(format!("column `{name}` has numbers of 2^63 and more")));
            }
            ColumnValues::Whole(whole)
        }
        (ColumnReader::FloatColumnReader(reader), _) => {
            ColumnValues::Number(shape.values(reader, |&value| f64::from(value))?)
        }
        (ColumnReader::DoubleColumnReader(reader), _) => ColumnValues::Number(shape.values(reader, |&value| value)?),
        (ColumnReader::ByteArrayColumnReader(reader), None) => {
            ColumnValues::Text(shape.values(reader, |value| text(value.data()))?)
        }
        (ColumnReader::ByteArrayColumnReader(_) | ColumnReader::FixedLenByteArrayColumnReader(_), _) => {
            let name = meaning.path().string();
            return Err(ParquetError::NYI(format!(
                "column `{name}` has numbers of another kind: write it as 64-bit numbers"
            )));
        }
        (ColumnReader::Int96ColumnReader(_), _) => {
            return Err(ParquetError::NYI("columns of 96-bit integers".to_string()));
        }
    })
}

/// What is known about a column that is not a list.
#[derive(Clone, Copy)]
struct ColumnShape {
    rows: usize,
    /// The definition level of a value that is there: 0 if none can be missing.
    present: i16,
}

impl ColumnShape {
    /// All values of the column.
    fn values<T: DataType, V>(
        self,
        mut reader: ColumnReaderImpl<T>,
        convert: impl Fn(&T::T) -> V,
    ) -> Result<Vec<Option<V>>, ParquetError> {
        let (mut found, mut levels) = (Vec::new(), Vec::new());
        let mut all: Vec<Option<V>> = Vec::new();
        while all.len() < self.rows {
            found.clear();
            levels.clear();
            let (records, ..) = reader.read_records(64 * 1024, Some(&mut levels), None, &mut found)?;
            if records == 0 {
                break;
            }
            let mut present = found.iter().map(&convert);
            if levels.is_empty() {
                all.extend(present.map(Some));
            } else {
                all.extend(levels.iter().map(|&level| if level == self.present { present.next() } else { None }));
            }
        }
        if all.len() < self.rows {
            return Err(ParquetError::EOF(format!("a column has {} of {} values", all.len(), self.rows)));
        }
        Ok(all)
    }
}
