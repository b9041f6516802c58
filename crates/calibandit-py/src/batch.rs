//! Results as one Arrow batch with the columns of `results.csv`.

use std::sync::Arc;

use arrow_array::types::Int32Type;
use arrow_array::{ArrayRef, DictionaryArray, Float64Array, Int32Array, Int64Array, RecordBatch, StringArray};
use arrow_schema::{ArrowError, Field, Schema};
use calibandit_experiment::results::{Curve, Results, Sample, SweptKind, swept_fields, swept_text};
use serde_json::Value;

/// The columns that are labels. They are dictionaries, in the order in which tables and figures have their policies.
pub(crate) const LABELS: [&str; 3] = ["experiment", "game", "policy"];

/// The batch. Whole numbers are signed, so that differences of them are right.
pub(crate) fn batch(all: &[Results]) -> Result<RecordBatch, ArrowError> {
    let samples = || curves(all).flat_map(|(_, curve)| &curve.samples);
    let integers = |of: fn(&Sample) -> u64| -> ArrayRef { Arc::new(whole(samples().map(of))) };
    let floats = |of: fn(&Sample) -> f64| -> ArrayRef { Arc::new(Float64Array::from_iter_values(samples().map(of))) };
    let instances = curves(all).flat_map(|(_, curve)| std::iter::repeat_n(curve.instance, curve.samples.len()));
    let mut columns: Vec<(String, ArrayRef, bool)> = Vec::new();
    let mut add = |name: &str, column: ArrayRef| columns.push((name.to_owned(), column, false));
    add(LABELS[0], labels(all, |results, _| Some(results.experiment.clone()))?);
    add(LABELS[1], labels(all, |results, curve| Some(results.games[curve.game].clone()))?);
    add(LABELS[2], labels(all, |results, curve| Some(results.policies[curve.policy].clone()))?);
    add("instance", Arc::new(whole(instances)));
    add("t", integers(|sample| sample.t));
    add("loss", floats(|sample| sample.loss));
    add("cpr", floats(|sample| sample.cpr));
    add("switches", integers(|sample| sample.switches));
    for field in swept_fields(all) {
        columns.push((field.name.clone(), swept(all, &field.name, field.kind)?, true));
    }
    let field =
        |(name, column, nullable): &(String, ArrayRef, bool)| Field::new(name, column.data_type().clone(), *nullable);
    let schema = Arc::new(Schema::new(columns.iter().map(field).collect::<Vec<_>>()));
    RecordBatch::try_new(schema, columns.into_iter().map(|(_, column, _)| column).collect())
}

/// All curves, in the order of the rows.
fn curves(all: &[Results]) -> impl Iterator<Item = (&Results, &Curve)> {
    all.iter().flat_map(|results| results.curves().iter().map(move |curve| (results, curve)))
}

/// Times and counts are below 2^63: no simulation makes so many plays.
fn whole(values: impl Iterator<Item = u64>) -> Int64Array {
    values.map(|value| Some(i64::try_from(value).unwrap_or(i64::MAX))).collect()
}

/// A column of texts, each stored once. `None` is a missing value.
fn labels(all: &[Results], label: impl Fn(&Results, &Curve) -> Option<String>) -> Result<ArrayRef, ArrowError> {
    let mut known: Vec<String> = Vec::new();
    let mut keys: Vec<Option<i32>> = Vec::new();
    for (results, curve) in curves(all) {
        let key = label(results, curve).map(|text| {
            let key = known.iter().position(|other| *other == text).unwrap_or_else(|| {
                known.push(text);
                known.len() - 1
            });
            key as i32
        });
        keys.extend(std::iter::repeat_n(key, curve.samples.len()));
    }
    let column: DictionaryArray<Int32Type> =
        DictionaryArray::try_new(Int32Array::from(keys), Arc::new(StringArray::from(known)))?;
    Ok(Arc::new(column))
}

/// The column of a swept key. A value is missing where the experiment or the point does not set the key.
fn swept(all: &[Results], name: &str, kind: SweptKind) -> Result<ArrayRef, ArrowError> {
    fn value<'a>(results: &'a Results, curve: &Curve, name: &str) -> Option<&'a Value> {
        results.swept_column(name).map(|column| &column.values[curve.game])
    }
    fn each<'a, T: Copy + 'a>(
        all: &'a [Results],
        name: &'a str,
        of: fn(&Value) -> Option<T>,
    ) -> impl Iterator<Item = Option<T>> + 'a {
        curves(all).flat_map(move |(results, curve)| {
            std::iter::repeat_n(value(results, curve, name).and_then(of), curve.samples.len())
        })
    }
    match kind {
        SweptKind::Integer => Ok(Arc::new(each(all, name, Value::as_i64).collect::<Int64Array>())),
        SweptKind::Number => Ok(Arc::new(each(all, name, Value::as_f64).collect::<Float64Array>())),
        SweptKind::Text => {
            labels(all, |results, curve| value(results, curve, name).filter(|value| !value.is_null()).map(swept_text))
        }
    }
}
