//! Commands that only print: games, policies, schema, completions.

use std::io::{self, Write};

use calibandit::catalogue::CatalogueEntry;
use calibandit::{GameSpec, PolicySpec};
use calibandit_experiment::spec;
use calibandit_paper::tournament::{Evidence, TournamentGroup, evidence, published};
use clap::CommandFactory;
use clap_complete::Shell;
use serde::Serialize;

use super::describe::{entry, first_sentence};
use crate::args::{Arguments, GamesArgs, PoliciesArgs};
use crate::error::CliError;
use crate::text::{paragraph, terminal_width, visible_json};

pub(crate) fn games(arguments: &GamesArgs) -> Result<(), CliError> {
    let kinds = GameSpec::catalogue();
    let width = terminal_width();
    let text = match &arguments.name {
        Some(name) => {
            let kind = find(kinds, name);
            if arguments.json {
                return print_json(kind);
            }
            entry(kind, &[("Paper", kind.citation.into())], width)
        }
        None if arguments.json => return print_json(&kinds),
        None => {
            let mut text = short_list(kinds, width);
            text.push('\n');
            text +=
                &paragraph("`calibandit games NAME` shows one in full: its parameters and their values.", "", width);
            text
        }
    };
    Ok(io::stdout().lock().write_all(text.as_bytes())?)
}

pub(crate) fn policies(arguments: &PoliciesArgs) -> Result<(), CliError> {
    let kinds = PolicySpec::catalogue();
    let listed = |kind: &'static CatalogueEntry<PolicySpec>| ListedPolicy { kind, tournament: evidence(kind.name) };
    let width = terminal_width();
    let text = match &arguments.name {
        Some(name) => {
            let kind = find(kinds, name);
            if arguments.json {
                return print_json(&listed(kind));
            }
            let ranks = ranks(&evidence(kind.name));
            let classes: Vec<_> = kind.meant_for.iter().map(|class| class.name()).collect();
            let meant_for = format!("{} games", classes.join(", "));
            let notes = [("Source", kind.citation.into()), ("Meant for", meant_for), ("Tournament", ranks)];
            entry(kind, &notes, width)
        }
        None if arguments.json => return print_json(&kinds.iter().map(listed).collect::<Vec<_>>()),
        None => {
            let mut text = short_list(kinds, width);
            for closing in [
                "`calibandit policies NAME` shows one in full: its parameters and their values.".into(),
                format!("Which one? {}", recommendation()),
            ] {
                text.push('\n');
                text += &paragraph(&closing, "", width);
            }
            text
        }
    };
    Ok(io::stdout().lock().write_all(text.as_bytes())?)
}

/// The kind of this name or former name.
fn find<Spec>(kinds: &'static [CatalogueEntry<Spec>], name: &str) -> &'static CatalogueEntry<Spec> {
    let found = kinds.iter().find(|kind| kind.name == name || kind.aliases.contains(&name));
    found.expect("the command line accepts only the names of the catalogue")
}

/// Every kind with one sentence.
fn short_list<Spec>(kinds: &[CatalogueEntry<Spec>], width: usize) -> String {
    kinds
        .iter()
        .map(|kind| format!("{}\n{}", kind.name, paragraph(first_sentence(&kind.summary), "  ", width)))
        .collect()
}

/// A kind of policy with its results in the published tournament.
#[derive(Serialize)]
struct ListedPolicy {
    #[serde(flatten)]
    kind: &'static CatalogueEntry<PolicySpec>,
    tournament: Vec<Evidence>,
}

/// The mean ranks of a policy in words.
fn ranks(evidence: &[Evidence]) -> String {
    let part = |(group, name): (TournamentGroup, &str)| {
        let row = evidence.iter().find(|row| row.group == group)?;
        Some(format!("{:.1} on {name}", row.mean_rank?))
    };
    let parts: Vec<String> = GROUPS.into_iter().filter_map(part).collect();
    if parts.is_empty() {
        return "did not take part".into();
    }
    let policies = published().iter().filter(|row| row.group == TournamentGroup::Random).count();
    format!(
        "rank {}; among {policies} policies by mean CPR, with default parameters ({TOURNAMENT_PAGE})",
        parts.join(", ")
    )
}

const TOURNAMENT_PAGE: &str = "https://calibandit.github.io/calibandit/tournament.html";

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
    Ok(writeln!(io::stdout().lock(), "{}", visible_json(&text))?)
}
