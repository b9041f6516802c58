//! The closing tables: policies sorted by mean CPR.

use std::io::{self, Write};

use calibandit_experiment::Experiment;
use calibandit_experiment::format::{short, thousands};
use calibandit_experiment::results::Results;
use calibandit_experiment::stats::{PolicyRanking, SIGNIFICANCE, rank_policies};
use serde_json::{Value, json};
use textwrap::core::display_width;

use crate::text::{aligned, hanging, paragraph, visible};

const COLUMNS: [&str; 8] = ["policy", "mean", "± stderr", "median", "p99", "max", "switches", "group"];

/// Prints one table per game of an experiment, in lines of at most `width` columns where the labels allow it.
pub(crate) fn print(out: &mut impl Write, spec: &Experiment, results: &Results, width: usize) -> io::Result<()> {
    let instances = spec.instances();
    let regret = results.regret_name(&format!("CPR at T = {}", thousands(spec.horizon())));
    let heading = format!("{}: {regret}, {instances} instances", spec.heading());
    write!(out, "\n{}", hanging(&visible(&heading), "", "  ", width))?;
    for (game, label) in results.games.iter().enumerate() {
        let rows: Vec<Vec<String>> = rank_policies(results, game).iter().map(cells).collect();
        writeln!(out, "  {}", visible(label))?;
        for line in lines(&rows, width - 4) {
            writeln!(out, "    {line}")?;
        }
    }
    let level = 100.0 * SIGNIFICANCE;
    let note = format!(
        "Policies that share a letter do not differ significantly (paired t-tests over instances, Holm, {level} %)."
    );
    write!(out, "{}", paragraph(&note, "  ", width))
}

fn cells(row: &PolicyRanking) -> Vec<String> {
    let PolicyRanking { policy, cpr, switches, groups, .. } = row;
    let numbers = [cpr.median, cpr.p99, cpr.max, *switches].map(number);
    let mut cells = vec![visible(policy), number(cpr.mean), format!("± {}", number(cpr.stderr))];
    cells.extend(numbers);
    cells.push(groups.clone());
    cells
}

/// The lines of a table. If they are too long, every policy has a line of its own above its numbers.
fn lines(rows: &[Vec<String>], width: usize) -> Vec<String> {
    let split = |table: &str| table.lines().map(str::to_owned).collect::<Vec<String>>();
    let whole = split(&aligned(&COLUMNS, rows, 1));
    if whole.iter().all(|line| display_width(line) <= width) {
        return whole;
    }
    let numbers: Vec<Vec<String>> = rows.iter().map(|row| row[1..].to_vec()).collect();
    let mut numbers = split(&aligned(&COLUMNS[1..], &numbers, 0)).into_iter().map(|line| format!("  {line}"));
    let mut lines = vec![COLUMNS[0].to_owned()];
    lines.extend(numbers.next());
    for (row, numbers) in rows.iter().zip(numbers) {
        lines.extend([row[0].clone(), numbers]);
    }
    lines
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
    let unit = if results.are_in_rewards() { "rewards" } else { "losses" };
    json!({
        "experiment": spec.name(),
        "horizon": spec.horizon(),
        "instances": spec.instances(),
        "unit": unit,
        "games": games,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn policies_with_long_labels_have_a_line_of_their_own() {
        let row = |policy: &str| {
            let numbers = ["26.00", "± 1.150", "24.85", "35.32", "36.35", "2.400", "a"];
            [policy].iter().chain(&numbers).map(|cell| (*cell).to_owned()).collect::<Vec<String>>()
        };
        assert_eq!(lines(&[row("short")], 76).len(), 2);
        let rows = [row("short"), row(&"long ".repeat(10))];
        let lines = lines(&rows, 76);
        assert_eq!(lines.len(), 6);
        assert!(lines.iter().all(|line| display_width(line) <= 76), "{lines:?}");
        assert_eq!((lines[0].as_str(), lines[2].as_str()), ("policy", "short"));
        assert!(lines[3].trim_start().starts_with("26.00") && lines[3].ends_with('a'));
    }
}
