//! `results.parquet`: the table of `results.csv` in a compact, typed form.

use std::borrow::Cow;
use std::io::Write;
use std::sync::Arc;

use parquet::basic::{Compression, LogicalType, Repetition, Type as PhysicalType};
use parquet::data_type::{ByteArray, ByteArrayType, DataType, DoubleType, Int64Type};
use parquet::file::properties::WriterProperties;
use parquet::file::writer::{SerializedFileWriter, SerializedRowGroupWriter};
use parquet::schema::parser::parse_message_type;
use parquet::schema::types::Type;
use serde_json::Value;

use super::{Curve, Results, Sample, SweptColumn, SweptField, SweptKind, swept_fields, swept_text};

/// Why a Parquet file could not be written.
#[derive(Debug, thiserror::Error)]
#[error("the table could not be written: {0}")]
pub struct ParquetError(#[from] parquet::errors::ParquetError);

/// The columns of every table. Counts are signed: differences of unsigned ones wrap in many programs.
const SCHEMA: &str = "
    message results {
        required binary experiment (STRING);
        required binary game (STRING);
        required binary policy (STRING);
        required int64 instance;
        required int64 t;
        required double loss;
        required double cpr;
        required int64 switches;";

/// The number of rows of a row group: its curves are in memory while its columns are written. In tests, tables of a few
/// rows have several groups.
const GROUP_ROWS: usize = if cfg!(test) { 3 } else { 4_000_000 };

/// Writes the table with one row group per experiment, or with one per four million rows of it. The same results give
/// the same bytes.
pub fn write_parquet(all: &[Results], to: impl Write + Send) -> Result<(), ParquetError> {
    let fields = swept_fields(all);
    let schema = Arc::new(schema(&fields)?);
    let properties = WriterProperties::builder()
        .set_compression(Compression::SNAPPY)
        .set_created_by(concat!("calibandit ", env!("CARGO_PKG_VERSION")).to_string())
        .build();
    let mut file = SerializedFileWriter::new(to, schema, Arc::new(properties))?;
    for results in all {
        let mut curves = results.curves().peekable();
        let mut first = true;
        while first || curves.peek().is_some() {
            first = false;
            let mut group: Vec<Cow<'_, Curve>> = Vec::new();
            let mut rows = 0;
            while rows < GROUP_ROWS
                && let Some(curve) = curves.next().transpose().map_err(parquet::errors::ParquetError::from)?
            {
                rows += curve.samples.len();
                group.push(curve);
            }
            write_group(file.next_row_group()?, results, &group, &fields)?;
        }
    }
    file.close()?;
    Ok(())
}

/// Writes some of the curves of an experiment as a row group.
fn write_group(
    mut group: SerializedRowGroupWriter<'_, impl Write + Send>,
    results: &Results,
    curves: &[Cow<'_, Curve>],
    fields: &[SweptField],
) -> Result<(), ParquetError> {
    let experiment = |_: &_| ByteArray::from(results.experiment.as_str());
    column::<ByteArrayType, _>(&mut group, curves, |curve| experiment(curve), |name, _| name.clone())?;
    let game = |curve: &Curve| ByteArray::from(results.games[curve.game].as_str());
    column::<ByteArrayType, _>(&mut group, curves, game, |name, _| name.clone())?;
    let policy = |curve: &Curve| ByteArray::from(results.policies[curve.policy].as_str());
    column::<ByteArrayType, _>(&mut group, curves, policy, |name, _| name.clone())?;
    column::<Int64Type, _>(&mut group, curves, |curve| curve.instance as i64, |&instance, _| instance)?;
    column::<Int64Type, _>(&mut group, curves, |_| (), |(), sample| sample.t as i64)?;
    column::<DoubleType, _>(&mut group, curves, |_| (), |(), sample| sample.loss)?;
    column::<DoubleType, _>(&mut group, curves, |_| (), |(), sample| sample.cpr)?;
    column::<Int64Type, _>(&mut group, curves, |_| (), |(), sample| sample.switches as i64)?;
    for field in fields {
        swept_column(&mut group, results, curves, field)?;
    }
    group.close()?;
    Ok(())
}

/// The schema with these columns of swept keys, which are optional. Their names may have any characters, so they are
/// not part of a text that is parsed.
fn schema(fields: &[SweptField]) -> Result<Type, ParquetError> {
    let fixed = parse_message_type(&format!("{SCHEMA} }}"))?;
    let mut columns = fixed.get_fields().to_vec();
    for SweptField { name, kind } in fields {
        let column = match kind {
            SweptKind::Integer => Type::primitive_type_builder(name, PhysicalType::INT64),
            SweptKind::Number => Type::primitive_type_builder(name, PhysicalType::DOUBLE),
            SweptKind::Text => Type::primitive_type_builder(name, PhysicalType::BYTE_ARRAY)
                .with_logical_type(Some(LogicalType::String)),
        };
        columns.push(Arc::new(column.with_repetition(Repetition::OPTIONAL).build()?));
    }
    Ok(Type::group_type_builder(fixed.name()).with_fields(columns).build()?)
}

/// Writes the next column: the value of a swept key in the game of each curve.
fn swept_column(
    group: &mut SerializedRowGroupWriter<'_, impl Write + Send>,
    results: &Results,
    curves: &[Cow<'_, Curve>],
    field: &SweptField,
) -> Result<(), ParquetError> {
    let swept = results.swept_column(&field.name);
    match field.kind {
        SweptKind::Integer => optional_column::<Int64Type>(group, curves, swept, Value::as_i64),
        SweptKind::Number => optional_column::<DoubleType>(group, curves, swept, Value::as_f64),
        SweptKind::Text => {
            let text = |value: &Value| Some(ByteArray::from(swept_text(value).as_str()));
            optional_column::<ByteArrayType>(group, curves, swept, text)
        }
    }
}

fn optional_column<T: DataType>(
    group: &mut SerializedRowGroupWriter<'_, impl Write + Send>,
    curves: &[Cow<'_, Curve>],
    swept: Option<&SweptColumn>,
    typed: impl Fn(&Value) -> Option<T::T>,
) -> Result<(), ParquetError> {
    let Some(mut column) = group.next_column()? else { return Ok(()) };
    for curve in curves {
        let value = swept.map(|column| &column.values[curve.game]).filter(|value| !value.is_null()).and_then(&typed);
        let rows = curve.samples.len();
        let values = value.map_or_else(Vec::new, |value| vec![value; rows]);
        // The definition level of a column that may be empty: 1 where there is a value.
        let levels = vec![i16::from(!values.is_empty()); rows];
        column.typed::<T>().write_batch(&values, Some(&levels), None)?;
    }
    column.close()?;
    Ok(())
}

/// Writes the next column, curve by curve: `of_curve` is called once per curve, `value` once per sample.
fn column<T: DataType, C>(
    group: &mut SerializedRowGroupWriter<'_, impl Write + Send>,
    curves: &[Cow<'_, Curve>],
    of_curve: impl Fn(&Curve) -> C,
    value: impl Fn(&C, &Sample) -> T::T,
) -> Result<(), ParquetError> {
    let Some(mut column) = group.next_column()? else { return Ok(()) };
    for curve in curves {
        let common = of_curve(curve);
        let values: Vec<T::T> = curve.samples.iter().map(|sample| value(&common, sample)).collect();
        column.typed::<T>().write_batch(&values, None, None)?;
    }
    column.close()?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use parquet::file::reader::{FileReader, SerializedFileReader};
    use parquet::record::{Field, Row};
    use serde_json::json;

    fn results(name: &str, columns: &[(&str, Value)]) -> Results {
        let sample = |t| Sample { t, loss: 0.5, cpr: 0.25, switches: 3 };
        let curve = |game| Curve { game, policy: 0, instance: 7, samples: vec![sample(1), sample(2)] };
        let column = |(name, values): &(&str, Value)| SweptColumn {
            name: (*name).to_owned(),
            values: values.as_array().unwrap().clone(),
        };
        Results::new(name.into(), vec!["a".into(), "b".into()], vec!["SE".into()], vec![curve(0), curve(1)])
            .with_swept(columns.iter().map(column).collect())
    }

    #[test]
    fn a_reader_finds_signed_counts_and_typed_swept_columns() {
        let all = [
            results("one", &[("policy.memory_bound", json!([2, 4])), ("policy.SE, sharp.delta", json!([null, 0.5]))]),
            results("two", &[("pair", json!(["x", "y"]))]),
        ];
        let mut file = tempfile::tempfile().unwrap();
        write_parquet(&all, &mut file).unwrap();
        let reader = SerializedFileReader::new(file).unwrap();
        let schema = reader.metadata().file_metadata().schema();
        let types: Vec<(&str, PhysicalType)> =
            schema.get_fields().iter().map(|field| (field.name(), field.get_physical_type())).collect();
        let swept = [
            ("policy.memory_bound", PhysicalType::INT64),
            ("policy.SE, sharp.delta", PhysicalType::DOUBLE),
            ("pair", PhysicalType::BYTE_ARRAY),
        ];
        assert_eq!(types[8..], swept);
        assert!(schema.get_fields()[..8].iter().all(|field| field.is_primitive() && !field.is_optional()));
        let counts = [3, 4, 7].map(|i| schema.get_fields()[i].get_basic_info().logical_type_ref().is_none());
        assert_eq!(counts, [true; 3], "plain int64 columns are signed");
        assert_eq!(reader.metadata().num_row_groups(), 2, "four rows of each experiment fit into one group");
        let rows: Vec<Row> = reader.get_row_iter(None).unwrap().map(Result::unwrap).collect();
        let cells = |row: &Row| {
            let all: Vec<Field> = row.get_column_iter().map(|(_, field)| field.clone()).collect();
            [3, 4, 8, 9, 10].map(|column| all[column].clone())
        };
        let (long, text) = (Field::Long, |text: &str| Field::Str(text.to_owned()));
        assert_eq!(cells(&rows[0]), [long(7), long(1), long(2), Field::Null, Field::Null]);
        assert_eq!(cells(&rows[3]), [long(7), long(2), long(4), Field::Double(0.5), Field::Null]);
        assert_eq!(cells(&rows[7]), [long(7), long(2), Field::Null, Field::Null, text("y")]);
    }
}
