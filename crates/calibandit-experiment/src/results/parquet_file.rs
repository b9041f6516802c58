//! `results.parquet`: the table of `results.csv` in a compact, typed form.

use std::io::Write;
use std::sync::Arc;

use parquet::basic::Compression;
use parquet::data_type::{ByteArray, ByteArrayType, DataType, DoubleType, Int64Type};
use parquet::file::properties::WriterProperties;
use parquet::file::writer::{SerializedFileWriter, SerializedRowGroupWriter};
use parquet::schema::parser::parse_message_type;

use super::{Results, Sample};

/// Why a Parquet file could not be written.
#[derive(Debug, thiserror::Error)]
#[error("the table could not be written: {0}")]
pub struct ParquetError(#[from] parquet::errors::ParquetError);

const SCHEMA: &str = "
    message results {
        required binary experiment (STRING);
        required binary game (STRING);
        required binary policy (STRING);
        required int64 instance (INTEGER(64, false));
        required int64 t (INTEGER(64, false));
        required double loss;
        required double cpr;
        required int64 switches (INTEGER(64, false));
    }";

/// Writes the table with one row group per experiment. The same results give the same bytes.
pub fn write_parquet(all: &[Results], to: impl Write + Send) -> Result<(), ParquetError> {
    let schema = Arc::new(parse_message_type(SCHEMA)?);
    let properties = WriterProperties::builder()
        .set_compression(Compression::SNAPPY)
        .set_created_by(concat!("calibandit ", env!("CARGO_PKG_VERSION")).to_string())
        .build();
    let mut file = SerializedFileWriter::new(to, schema, Arc::new(properties))?;
    for results in all {
        let mut group = file.next_row_group()?;
        let experiment = |_: &_| ByteArray::from(results.experiment.as_str());
        column::<ByteArrayType, _>(&mut group, results, |curve| experiment(curve), |name, _| name.clone())?;
        let game = |curve: &super::Curve| ByteArray::from(results.games[curve.game].as_str());
        column::<ByteArrayType, _>(&mut group, results, game, |name, _| name.clone())?;
        let policy = |curve: &super::Curve| ByteArray::from(results.policies[curve.policy].as_str());
        column::<ByteArrayType, _>(&mut group, results, policy, |name, _| name.clone())?;
        column::<Int64Type, _>(&mut group, results, |curve| curve.instance as i64, |&instance, _| instance)?;
        column::<Int64Type, _>(&mut group, results, |_| (), |(), sample| sample.t as i64)?;
        column::<DoubleType, _>(&mut group, results, |_| (), |(), sample| sample.loss)?;
        column::<DoubleType, _>(&mut group, results, |_| (), |(), sample| sample.cpr)?;
        column::<Int64Type, _>(&mut group, results, |_| (), |(), sample| sample.switches as i64)?;
        group.close()?;
    }
    file.close()?;
    Ok(())
}

/// Writes the next column, curve by curve: `of_curve` is called once per curve, `value` once per sample.
fn column<T: DataType, C>(
    group: &mut SerializedRowGroupWriter<'_, impl Write + Send>,
    results: &Results,
    of_curve: impl Fn(&super::Curve) -> C,
    value: impl Fn(&C, &Sample) -> T::T,
) -> Result<(), ParquetError> {
    let Some(mut column) = group.next_column()? else { return Ok(()) };
    for curve in results.curves() {
        let common = of_curve(curve);
        let values: Vec<T::T> = curve.samples.iter().map(|sample| value(&common, sample)).collect();
        column.typed::<T>().write_batch(&values, None, None)?;
    }
    column.close()?;
    Ok(())
}
