//! `summary.csv`: the CPR of each policy over the instances, one row per checkpoint.

use std::io::Write;

use serde::Serialize;

use super::Spread;
use crate::results::{CsvError, Results};

/// One row of `summary.csv`.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct SummaryRow {
    /// The experiment.
    pub experiment: String,
    /// The game.
    pub game: String,
    /// The policy.
    pub policy: String,
    /// The number of plays.
    pub t: u64,
    /// The CPR over the instances.
    pub cpr: Spread,
}

/// The CPR of each policy in each game at each checkpoint, over the instances.
pub fn summarise(results: &Results) -> Vec<SummaryRow> {
    let mut rows = Vec::new();
    for (g, game) in results.games.iter().enumerate() {
        for (p, policy) in results.policies.iter().enumerate() {
            let curves = results.of(g, p);
            let times = curves.first().map_or(0, |curve| curve.samples.len());
            for i in 0..times {
                let at = curves.iter().filter_map(|curve| curve.samples.get(i));
                if let Some(cpr) = Spread::of(at.map(|sample| sample.cpr)) {
                    rows.push(SummaryRow {
                        experiment: results.experiment.clone(),
                        game: game.clone(),
                        policy: policy.clone(),
                        t: curves[0].samples[i].t,
                        cpr,
                    });
                }
            }
        }
    }
    rows
}

/// Writes `summary.csv`.
pub fn write_summary(all: &[Results], to: impl Write) -> Result<(), CsvError> {
    let mut table = csv::Writer::from_writer(to);
    table.write_record([
        "experiment",
        "game",
        "policy",
        "t",
        "instances",
        "mean",
        "stderr",
        "median",
        "p90",
        "p99",
        "max",
    ])?;
    for row in all.iter().flat_map(summarise) {
        let Spread { instances, mean, stderr, median, p90, p99, max, .. } = row.cpr;
        let mut record = vec![row.experiment, row.game, row.policy, row.t.to_string(), instances.to_string()];
        record.extend([mean, stderr, median, p90, p99, max].map(|value| value.to_string()));
        table.write_record(record)?;
    }
    table.flush().map_err(csv::Error::from)?;
    Ok(())
}
