//! Commands that only print: games, policies, schema, completions.

use std::io::{self, Write};

use calibandit::catalogue::CatalogueEntry;
use calibandit::{GameSpec, PolicySpec};
use calibandit_experiment::spec;
use calibandit_paper::tournament::{Evidence, TournamentGroup, evidence, published};
use clap::CommandFactory;
use clap_complete::Shell;
use serde::Serialize;

use crate::args::{Arguments, ListArgs};
use crate::error::CliError;

pub(crate) fn games(arguments: &ListArgs) -> Result<(), CliError> {
    let kinds = GameSpec::catalogue();
    if arguments.json {
        return print_json(&kinds);
    }
    let out = &mut io::stdout().lock();
    for kind in kinds {
        writeln!(out, "{}\n  {}\n  Paper: {}", kind.name, kind.summary, kind.citation)?;
        for parameter in &kind.parameters {
            let default = match &parameter.default {
                Some(default) => format!(" [{default}]"),
                None if parameter.required => " (required)".to_string(),
                None => String::new(),
            };
            writeln!(out, "    {}{default}: {}", parameter.name, parameter.meaning)?;
        }
        writeln!(out)?;
    }
    Ok(())
}

pub(crate) fn policies(arguments: &ListArgs) -> Result<(), CliError> {
    if arguments.json {
        let kinds: Vec<_> =
            PolicySpec::catalogue().iter().map(|kind| ListedPolicy { kind, tournament: evidence(kind.name) }).collect();
        return print_json(&kinds);
    }
    let out = &mut io::stdout().lock();
    for kind in PolicySpec::catalogue() {
        writeln!(out, "{}\n  {}\n  Source: {}", kind.name, kind.summary, kind.citation)?;
        writeln!(out, "  Tournament: {}", ranks(&evidence(kind.name)))?;
        for parameter in &kind.parameters {
            let default = parameter.default_in_words();
            let default = default.map_or(" (required)".to_string(), |default| format!(" [{default}]"));
            writeln!(out, "    {}{default}: {}", parameter.name, parameter.meaning)?;
        }
        writeln!(out)?;
    }
    let policies = published().iter().filter(|row| row.group == TournamentGroup::Random).count();
    writeln!(out, "  Which one? {}", recommendation())?;
    writeln!(out, "  Ranks are among {policies} policies by mean CPR, with default parameters:")?;
    writeln!(out, "  https://calibandit.github.io/calibandit/tournament.html")?;
    Ok(())
}

/// A kind of policy with its results in the published tournament.
#[derive(Serialize)]
struct ListedPolicy {
    #[serde(flatten)]
    kind: &'static CatalogueEntry<PolicySpec>,
    tournament: Vec<Evidence>,
}

/// The mean ranks of a policy in one line.
fn ranks(evidence: &[Evidence]) -> String {
    let part = |(group, name): (TournamentGroup, &str)| {
        let row = evidence.iter().find(|row| row.group == group)?;
        Some(format!("{:.1} on {name}", row.mean_rank?))
    };
    let parts: Vec<String> = GROUPS.into_iter().filter_map(part).collect();
    if parts.is_empty() { "did not take part".into() } else { format!("rank {}", parts.join(", ")) }
}

const GROUPS: [(TournamentGroup, &str); 4] = [
    (TournamentGroup::Paper, "the paper's games"),
    (TournamentGroup::Short, "the same at a hundredth of the plays"),
    (TournamentGroup::Races, "races"),
    (TournamentGroup::Random, "random games"),
];

/// The policy with the least mean ratio of its regret to the least regret of each game. Every group of games has the
/// same weight.
fn recommendation() -> String {
    let published = published();
    let times = |policy: &str| {
        let own = published.iter().filter(|row| row.policy == policy);
        let logs: Option<Vec<f64>> = own.map(|row| row.times_best.map(f64::ln)).collect();
        logs.map_or(f64::INFINITY, |logs| (logs.iter().sum::<f64>() / logs.len() as f64).exp())
    };
    let best = published.iter().min_by(|a, b| times(&a.policy).total_cmp(&times(&b.policy)));
    let Evidence { policy, .. } = best.expect("the published table has rows");
    let times = times(policy);
    format!("{policy}: its regret is on average {times:.2} times the least of each game, the smallest ratio of all.")
}

pub(crate) fn schema() -> Result<(), CliError> {
    print_json(&spec::schema())
}

pub(crate) fn completions(shell: Shell) -> Result<(), CliError> {
    let mut script = Vec::new();
    clap_complete::generate(shell, &mut Arguments::command(), "calibandit", &mut script);
    Ok(io::stdout().lock().write_all(&script)?)
}

/// Prints a value as JSON on standard output.
pub(crate) fn print_json(value: &impl Serialize) -> Result<(), CliError> {
    let text = serde_json::to_string_pretty(value).map_err(io::Error::other)?;
    Ok(writeln!(io::stdout().lock(), "{text}")?)
}
