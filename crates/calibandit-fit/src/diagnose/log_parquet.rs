//! Logs from Parquet files: columns of text or numbers, without compression or with Snappy.

use bytes::Bytes;
use parquet::column::reader::{ColumnReader, ColumnReaderImpl};
use parquet::data_type::DataType;
use parquet::errors::ParquetError;
use parquet::file::reader::{FileReader, RowGroupReader, SerializedFileReader};

use super::log::LogBuilder;
use super::log_file::{LogColumns, LogFileError};
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

    /// A name: text, or a whole number as text.
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
            _ => None,
        }
    }
}

pub(super) fn parse_parquet(file: &str, bytes: Vec<u8>, columns: LogColumns<'_>) -> Result<LogBuilder, LogFileError> {
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
    let rows = usize::try_from(group.metadata().num_rows()).unwrap_or(0);
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    Ok(match group.get_column_reader(place)? {
        ColumnReader::BoolColumnReader(reader) => ColumnValues::Whole(values(reader, rows, |&value| i64::from(value))?),
        ColumnReader::Int32ColumnReader(reader) => {
            ColumnValues::Whole(values(reader, rows, |&value| i64::from(value))?)
        }
        ColumnReader::Int64ColumnReader(reader) => ColumnValues::Whole(values(reader, rows, |&value| value)?),
        ColumnReader::FloatColumnReader(reader) => {
            ColumnValues::Number(values(reader, rows, |&value| f64::from(value))?)
        }
        ColumnReader::DoubleColumnReader(reader) => ColumnValues::Number(values(reader, rows, |&value| value)?),
        ColumnReader::ByteArrayColumnReader(reader) => {
            ColumnValues::Text(values(reader, rows, |value| text(value.data()))?)
        }
        ColumnReader::FixedLenByteArrayColumnReader(reader) => {
            ColumnValues::Text(values(reader, rows, |value| text(value.data()))?)
        }
        ColumnReader::Int96ColumnReader(_) => {
            return Err(ParquetError::NYI("columns of 96-bit integers".to_string()));
        }
    })
}

/// All values of a column that is not a list.
fn values<T: DataType, V>(
    mut reader: ColumnReaderImpl<T>,
    rows: usize,
    convert: impl Fn(&T::T) -> V,
) -> Result<Vec<Option<V>>, ParquetError> {
    let (mut found, mut levels) = (Vec::new(), Vec::new());
    // Tables of a log are flat: a value is there if its definition level is the largest, 1, or if the column has none.
    let mut all: Vec<Option<V>> = Vec::new();
    while all.len() < rows {
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
            all.extend(levels.iter().map(|&level| if level > 0 { present.next() } else { None }));
        }
    }
    if all.len() < rows {
        return Err(ParquetError::EOF(format!("a column has {} of {rows} values", all.len())));
    }
    Ok(all)
}
