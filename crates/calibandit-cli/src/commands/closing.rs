//! The closing output of runs: who wins, whether that is significant, and where the results are.

use std::io::Write;
use std::path::{Path, PathBuf};

use calibandit_experiment::Experiment;
use calibandit_experiment::format::{short, thousands};
use calibandit_experiment::results::Results;
use calibandit_experiment::stats::{SIGNIFICANCE, compare, rank_policies};
use serde_json::Value;

use super::lists::print_json;
use crate::args::ExecutionArgs;
use crate::error::CliError;
use crate::table;
use crate::text::{hanging, terminal_width, visible};

/// More lines than this are one line per experiment instead of one per panel.
const MOST_LINES: usize = 16;

/// Longer lines are hard to read on wide terminals too.
const WIDEST: usize = 100;

/// The results of a command, folder by folder.
pub(super) struct Closing {
    pub(super) tables: bool,
    pub(super) json: bool,
    pub(super) parts: Vec<FolderResults>,
}

/// The experiments of one output folder with their results.
pub(super) struct FolderResults {
    folder: PathBuf,
    results: Vec<(Experiment, Results)>,
}

impl Closing {
    pub(super) fn new(execution: &ExecutionArgs) -> Self {
        Self { tables: execution.tables, json: execution.json, parts: Vec::new() }
    }

    pub(super) fn add(&mut self, folder: PathBuf, specs: &[Experiment], results: Vec<Results>) {
        let shown = |(spec, results): (&Experiment, Results)| (spec.clone(), results.shown_by(spec));
        self.parts.push(FolderResults { folder, results: specs.iter().zip(results).map(shown).collect() });
    }

    pub(super) fn print(&self, out: &mut impl Write) -> Result<(), CliError> {
        let all = || self.parts.iter().flat_map(|part| &part.results);
        if self.json {
            return print_json(&all().map(|(spec, results)| table::json(spec, results)).collect::<Vec<Value>>());
        }
        // A shard has only some of the instances, and no report.
        let is_whole = self.parts.iter().all(|part| part.folder.join("report.html").exists());
        let width = terminal_width().min(WIDEST);
        if is_whole && self.tables {
            for (spec, results) in all() {
                table::print(out, spec, results, width)?;
            }
            writeln!(out)?;
        } else if is_whole && all().next().is_some() {
            let lines: usize = all().map(|(_, results)| results.games.len() + 1).sum();
            for (spec, results) in all() {
                print_winners(out, spec, results, lines <= MOST_LINES, width)?;
            }
            if all().any(|(_, results)| results.policies.len() > 1) {
                writeln!(out, "Tested over instances: paired t-tests, Holm, {} %.", 100.0 * SIGNIFICANCE)?;
            }
            writeln!(out)?;
        }
        for part in &self.parts {
            print_places(out, &part.folder)?;
        }
        Ok(())
    }
}

/// One line per panel, or one line for all of them.
fn print_winners(
    out: &mut impl Write,
    spec: &Experiment,
    results: &Results,
    each: bool,
    width: usize,
) -> Result<(), CliError> {
    let name = spec.name();
    if let [_] = results.games.as_slice() {
        let text = format!("{name}: {}", Winner::of(results, 0).sentence());
        return Ok(write!(out, "{}", hanging(&text, "", "  ", width))?);
    }
    let winners: Vec<Winner> = (0..results.games.len()).map(|game| Winner::of(results, game)).collect();
    if !each {
        let text = format!("{name}, {} panels: {}", winners.len(), wins(&winners));
        return Ok(write!(out, "{}", hanging(&text, "", "  ", width))?);
    }
    let heading = format!(
        "{}: {}, {} instances",
        visible(spec.heading()),
        results.regret_name(&format!("CPR at T = {}", thousands(spec.horizon()))),
        thousands(spec.instances())
    );
    write!(out, "{}", hanging(&heading, "", "  ", width))?;
    for (winner, point) in winners.iter().zip(spec.points()) {
        let text = format!("{}: {}", visible(&point.title), winner.sentence());
        write!(out, "{}", hanging(&text, "  ", "    ", width))?;
    }
    Ok(())
}

/// Where the results are.
fn print_places(out: &mut impl Write, folder: &Path) -> Result<(), CliError> {
    let report = folder.join("report.html");
    if !report.exists() {
        return Ok(writeln!(out, "{}", folder.display())?);
    }
    writeln!(out, "tables: {}", folder.join("*.csv").display())?;
    Ok(writeln!(out, "report: {}", report.display())?)
}

/// The policy with the smallest mean CPR in a game, and the next one.
struct Winner {
    policy: String,
    cpr: f64,
    next: Option<Runner>,
}

/// The second policy of a game.
struct Runner {
    policy: String,
    cpr: f64,
    /// Whether the two differ significantly; `None` if that could not be tested.
    significant: Option<bool>,
}

impl Winner {
    fn of(results: &Results, game: usize) -> Self {
        let mut rows = rank_policies(results, game).into_iter();
        let Some(first) = rows.next() else {
            return Self { policy: "no policy".into(), cpr: f64::NAN, next: None };
        };
        let next = rows.next().map(|row| Runner {
            // An error means that there are too few instances for a test.
            significant: compare(results, game, &first.policy, &row.policy)
                .ok()
                .map(|comparison| comparison.p_corrected < SIGNIFICANCE),
            policy: row.policy,
            cpr: row.cpr.mean,
        });
        Self { policy: first.policy, cpr: first.cpr.mean, next }
    }

    fn is_significant(&self) -> bool {
        self.next.as_ref().is_some_and(|next| next.significant == Some(true))
    }

    /// "a wins, b has 2.5 times its CPR (significant)".
    fn sentence(&self) -> String {
        let winner = visible(&self.policy);
        let Some(next) = &self.next else { return format!("{winner} has CPR {}", short(self.cpr, 4)) };
        let other = visible(&next.policy);
        let tested = match next.significant {
            Some(true) => "significant",
            Some(false) => "not significant",
            None => "not tested: too few instances",
        };
        if next.cpr == self.cpr {
            return format!("{winner} and {other} both have CPR {}", short(self.cpr, 4));
        }
        let verb = if self.is_significant() { "wins" } else { "leads" };
        if self.cpr > 0.0 {
            return format!("{winner} {verb}, {other} has {} times its CPR ({tested})", short(next.cpr / self.cpr, 3));
        }
        let (own, others) = (short(self.cpr, 4), short(next.cpr, 4));
        format!("{winner} {verb} with CPR {own}, {other} has {others} ({tested})")
    }
}

/// "a is first in 8, b in 4; significantly in 10".
fn wins(winners: &[Winner]) -> String {
    let mut counts: Vec<(&str, usize)> = Vec::new();
    for winner in winners {
        match counts.iter_mut().find(|(policy, _)| *policy == winner.policy) {
            Some((_, count)) => *count += 1,
            None => counts.push((&winner.policy, 1)),
        }
    }
    counts.sort_by_key(|&(_, count)| std::cmp::Reverse(count));
    let mut parts: Vec<String> =
        counts.iter().map(|(policy, count)| format!("{} in {count}", visible(policy))).collect();
    if let Some(first) = parts.first_mut() {
        *first = first.replacen(" in ", " is first in ", 1);
    }
    let significant = winners.iter().filter(|winner| winner.is_significant()).count();
    format!("{}; significantly in {significant}", parts.join(", "))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn winner(policy: &str, cpr: f64, next: Option<(f64, Option<bool>)>) -> Winner {
        let next = next.map(|(cpr, significant)| Runner { policy: "next".into(), cpr, significant });
        Winner { policy: policy.into(), cpr, next }
    }

    #[test]
    fn sentences_name_winner_factor_and_significance() {
        for (winner, expected) in [
            (winner("a", 2.0, Some((5.0, Some(true)))), "a wins, next has 2.50 times its CPR (significant)"),
            (winner("a", 2.0, Some((2.2, Some(false)))), "a leads, next has 1.10 times its CPR (not significant)"),
            (
                winner("a", 1.0, Some((2.0, None))),
                "a leads, next has 2.00 times its CPR (not tested: too few instances)",
            ),
            (winner("a", 0.0, Some((2.0, Some(true)))), "a wins with CPR 0.000, next has 2.000 (significant)"),
            (winner("a", 3.0, Some((3.0, Some(false)))), "a and next both have CPR 3.000"),
            (winner("a\u{1b}", 3.0, None), "a\\u{1b} has CPR 3.000"),
        ] {
            assert_eq!(winner.sentence(), expected);
        }
    }

    #[test]
    fn panels_are_counted_by_their_first_policy() {
        let yes = Some((9.0, Some(true)));
        let winners = [winner("b", 1.0, Some((2.0, Some(false)))), winner("in a", 1.0, yes), winner("in a", 1.0, yes)];
        assert_eq!(wins(&winners), "in a is first in 2, b in 1; significantly in 2");
    }
}
