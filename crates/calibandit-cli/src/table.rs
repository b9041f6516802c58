//! The closing table: policies sorted by mean CPR.

use std::io::{self, Write};

use calibandit_experiment::Experiment;
use calibandit_experiment::format::{short, thousands};
use calibandit_experiment::results::Results;
use calibandit_experiment::stats::{PolicyRanking, SIGNIFICANCE, rank_policies};
use serde_json::{Value, json};

/// Prints one table per game of an experiment.
pub(crate) fn print(out: &mut impl Write, spec: &Experiment, results: &Results) -> io::Result<()> {
    let instances = spec.instances();
    writeln!(out, "\n{}: CPR at T = {}, {instances} instances", spec.heading(), thousands(spec.horizon()))?;
    let width = results.policies.iter().map(|label| label.chars().count()).max().unwrap_or(0).max(6);
    for (game, label) in results.games.iter().enumerate() {
        let rows = rank_policies(results, game);
        writeln!(out, "  {label}")?;
        writeln!(
            out,
            "    {:width$}  {:>12}   {:>10}  {:>12}  {:>12}  {:>12}  {:>10}  group",
            "policy", "mean", "± stderr", "median", "p99", "max", "switches"
        )?;
        for row in &rows {
            let PolicyRanking { policy, cpr, switches, groups, .. } = row;
            writeln!(
                out,
                "    {policy:width$}  {:>12} ± {:>10}  {:>12}  {:>12}  {:>12}  {:>10}  {groups}",
                number(cpr.mean),
                number(cpr.stderr),
                number(cpr.median),
                number(cpr.p99),
                number(cpr.max),
                number(*switches)
            )?;
        }
    }
    let level = 100.0 * SIGNIFICANCE;
    writeln!(
        out,
        "  Policies that share a letter do not differ significantly (paired t-tests over instances, Holm, {level} %)."
    )
}

/// Four digits, and all digits before the point.
fn number(value: f64) -> String {
    short(value, 4)
}

/// The tables as JSON.
pub(crate) fn json(spec: &Experiment, results: &Results) -> Value {
    let games = results.games.iter().enumerate();
    let games: Vec<Value> =
        games.map(|(game, label)| json!({"game": label, "policies": rank_policies(results, game)})).collect();
    json!({"experiment": spec.name(), "horizon": spec.horizon(), "instances": spec.instances(), "games": games})
}
