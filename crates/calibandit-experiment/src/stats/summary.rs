//! `summary.csv`: the CPR of each policy over the instances, one row per checkpoint. The columns of swept keys are the
//! last ones, as in `results.csv`.

use std::borrow::Cow;
use std::io::{self, Write};

use serde::Serialize;

use serde_json::Value;

use super::Spread;
use crate::results::{CsvError, Results, Sample, swept_cell, swept_fields, text_cell};

/// One row of `summary.csv`.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct SummaryRow {
    /// The experiment.
    pub experiment: String,
    /// The game.
    pub game: String,
    /// The policy.
    pub policy: String,
    /// The values of the swept keys in this game, in the order of [`Results::swept`].
    pub swept: Vec<Value>,
    /// The number of plays.
    pub t: u64,
    /// The CPR over the instances.
    pub cpr: Spread,
}

/// The CPR of each policy in each game at each checkpoint, over the instances.
///
/// # Errors
/// If curves in a temporary file cannot be read.
pub fn summarise(results: &Results) -> io::Result<Vec<SummaryRow>> {
    let mut rows = Vec::new();
    for_each_row(results, |row| {
        rows.push(row);
        Ok::<_, io::Error>(())
    })?;
    Ok(rows)
}

/// Calls `visit` with each row of the summary, in order. There can be millions of them.
fn for_each_row<E: From<io::Error>>(
    results: &Results,
    mut visit: impl FnMut(SummaryRow) -> Result<(), E>,
) -> Result<(), E> {
    for (g, game) in results.games.iter().enumerate() {
        let swept: Vec<Value> = results.swept().iter().map(|column| column.values[g].clone()).collect();
        for (p, policy) in results.policies.iter().enumerate() {
            let cpr = |sample: &Sample, _: Option<&Sample>| sample.cpr;
            results.at_checkpoints(g, p, None, cpr, |t, values| match Spread::of(values) {
                None => Ok(()),
                Some(cpr) => visit(SummaryRow {
                    experiment: results.experiment.clone(),
                    game: game.clone(),
                    policy: policy.clone(),
                    swept: swept.clone(),
                    t,
                    cpr,
                }),
            })?;
        }
    }
    Ok(())
}

/// The columns of every table, in order.
const COLUMNS: [&str; 11] =
    ["experiment", "game", "policy", "t", "instances", "mean", "stderr", "median", "p90", "p99", "max"];

/// Writes `summary.csv`.
pub fn write_summary(all: &[Results], to: impl Write) -> Result<(), CsvError> {
    let mut table = csv::Writer::from_writer(to);
    let fields = swept_fields(all);
    let names: Vec<Cow<'_, str>> = fields.iter().map(|field| text_cell(&field.name)).collect();
    table.write_record(COLUMNS.into_iter().chain(names.iter().map(|name| &**name)))?;
    for results in all {
        let place = |name: &str| results.swept().iter().position(|column| column.name == name);
        let places: Vec<Option<usize>> = fields.iter().map(|field| place(&field.name)).collect();
        for_each_row(results, |row| {
            let Spread { instances, mean, stderr, median, p90, p99, max, .. } = row.cpr;
            let texts = [row.experiment, row.game, row.policy].map(|text| text_cell(&text).into_owned());
            let mut record: Vec<String> = texts.into_iter().chain([row.t.to_string(), instances.to_string()]).collect();
            record.extend([mean, stderr, median, p90, p99, max].map(|value| value.to_string()));
            let swept = places.iter().map(|place| place.map_or_else(String::new, |i| swept_cell(&row.swept[i])));
            record.extend(swept);
            table.write_record(record)
        })?;
    }
    table.flush().map_err(csv::Error::from)?;
    Ok(())
}
