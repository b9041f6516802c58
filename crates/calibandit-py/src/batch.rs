//! Results as one Arrow batch with the columns of `results.csv`.

use std::collections::HashMap;
use std::sync::Arc;

use arrow_array::types::Int32Type;
use arrow_array::{ArrayRef, DictionaryArray, Float64Array, Int32Array, Int64Array, RecordBatch, StringArray};
use arrow_schema::{ArrowError, Field, Schema};
use calibandit_experiment::results::{Results, SweptColumn, SweptField, SweptKind, swept_fields, swept_text};
use serde_json::Value;

/// The columns that are labels. They are dictionaries, in the order in which tables and figures have their policies.
pub(crate) const LABELS: [&str; 3] = ["experiment", "game", "policy"];

/// The batch. Whole numbers are signed, so that differences of them are right.
pub(crate) fn batch(all: &[Results]) -> Result<RecordBatch, ArrowError> {
    let rows: usize = all.iter().map(Results::rows).sum();
    let mut labels = LABELS.map(|_| LabelColumn::new(rows));
    let (mut instances, mut times, mut switches) = (Numbers::new(rows), Numbers::new(rows), Numbers::new(rows));
    let (mut losses, mut cprs) = (Vec::with_capacity(rows), Vec::with_capacity(rows));
    // The experiment, the game and the number of rows of each curve.
    let mut places: Vec<(usize, usize, usize)> = Vec::new();
    for (experiment, results) in all.iter().enumerate() {
        for curve in results.curves() {
            let curve = curve?;
            let count = curve.samples.len();
            let texts = [&results.experiment, &results.games[curve.game], &results.policies[curve.policy]];
            for (column, text) in labels.iter_mut().zip(texts) {
                column.add(Some(text), count);
            }
            places.push((experiment, curve.game, count));
            for sample in &curve.samples {
                instances.add(curve.instance);
                times.add(sample.t);
                losses.push(sample.loss);
                cprs.push(sample.cpr);
                switches.add(sample.switches);
            }
        }
    }
    let mut columns: Vec<(String, ArrayRef, bool)> = Vec::new();
    let mut add = |name: &str, column: ArrayRef| columns.push((name.to_owned(), column, false));
    for (name, column) in LABELS.into_iter().zip(labels) {
        add(name, column.finish()?);
    }
    add("instance", instances.finish());
    add("t", times.finish());
    add(all.first().map_or("loss", Results::loss_column), Arc::new(Float64Array::from(losses)));
    add("cpr", Arc::new(Float64Array::from(cprs)));
    add("switches", switches.finish());
    for SweptField { name, kind, .. } in swept_fields(all) {
        let column = swept(all, &name, kind, &places)?;
        columns.push((name, column, true));
    }
    let field =
        |(name, column, nullable): &(String, ArrayRef, bool)| Field::new(name, column.data_type().clone(), *nullable);
    let schema = Arc::new(Schema::new(columns.iter().map(field).collect::<Vec<_>>()));
    RecordBatch::try_new(schema, columns.into_iter().map(|(_, column, _)| column).collect())
}

/// A column of whole numbers. Times and counts are below 2^63: no simulation makes so many plays.
struct Numbers(Vec<i64>);

impl Numbers {
    fn new(rows: usize) -> Self {
        Self(Vec::with_capacity(rows))
    }

    fn add(&mut self, value: u64) {
        self.0.push(i64::try_from(value).unwrap_or(i64::MAX));
    }

    fn finish(self) -> ArrayRef {
        Arc::new(Int64Array::from(self.0))
    }
}

/// A column of labels.
pub(crate) fn label_column<'a>(labels: impl IntoIterator<Item = &'a str>) -> Result<ArrayRef, ArrowError> {
    let mut column = LabelColumn::new(0);
    labels.into_iter().for_each(|label| column.add(Some(label), 1));
    column.finish()
}

/// A column of texts, each stored once, in the order of first appearance.
struct LabelColumn {
    labels: Vec<String>,
    known: HashMap<String, i32>,
    keys: Vec<Option<i32>>,
}

impl LabelColumn {
    fn new(rows: usize) -> Self {
        Self { labels: Vec::new(), known: HashMap::new(), keys: Vec::with_capacity(rows) }
    }

    /// Adds this many rows with one text. `None` is a missing value.
    fn add(&mut self, text: Option<&str>, rows: usize) {
        let key = text.map(|text| {
            self.known.get(text).copied().unwrap_or_else(|| {
                let key = self.labels.len() as i32;
                self.labels.push(text.to_owned());
                self.known.insert(text.to_owned(), key);
                key
            })
        });
        self.keys.extend(std::iter::repeat_n(key, rows));
    }

    fn finish(self) -> Result<ArrayRef, ArrowError> {
        let labels = Arc::new(StringArray::from(self.labels));
        let column: DictionaryArray<Int32Type> = DictionaryArray::try_new(Int32Array::from(self.keys), labels)?;
        Ok(Arc::new(column))
    }
}

/// The column of a swept key. A value is missing where the experiment or the point does not set the key. `places` has
/// the experiment, the game and the number of rows of each curve.
fn swept(
    all: &[Results],
    name: &str,
    kind: SweptKind,
    places: &[(usize, usize, usize)],
) -> Result<ArrayRef, ArrowError> {
    let of: Vec<Option<&SweptColumn>> = all.iter().map(|results| results.swept_column(name)).collect();
    let value = |&(experiment, game, _): &(usize, usize, usize)| of[experiment].map(|column| &column.values[game]);
    fn repeated<T: Copy>(values: impl Iterator<Item = (Option<T>, usize)>) -> impl Iterator<Item = Option<T>> {
        values.flat_map(|(value, rows)| std::iter::repeat_n(value, rows))
    }
    let integer = |place| (value(place).and_then(Value::as_i64), place.2);
    let number = |place| (value(place).and_then(Value::as_f64), place.2);
    match kind {
        SweptKind::Integer => Ok(Arc::new(repeated(places.iter().map(integer)).collect::<Int64Array>())),
        SweptKind::Number => Ok(Arc::new(repeated(places.iter().map(number)).collect::<Float64Array>())),
        SweptKind::Text => {
            let mut column = LabelColumn::new(0);
            for place in places {
                let text = value(place).filter(|value| !value.is_null()).map(swept_text);
                column.add(text.as_deref(), place.2);
            }
            column.finish()
        }
    }
}
