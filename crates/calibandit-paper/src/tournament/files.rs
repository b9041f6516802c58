//! The output folder of a tournament.

use std::path::Path;
use std::sync::atomic::AtomicBool;

use calibandit_experiment::output::{Build, Journal, LAYOUT, OutputDir, OutputLock, OutputNote};
use calibandit_experiment::schedule::Progress;
use calibandit_experiment::{Error, ErrorKind};
use calibandit_report::session::{SessionError, write_report};
use serde_json::{Value, json};

use super::earlier::{INSTANCES, instances};
use super::play::{PlannedTournament, fingerprint};
use super::tables::feedback_name;
use super::{
    Tournament, TournamentError, TournamentOptions, WinRate, head_to_head, in_game, in_group, markdown, report,
};

/// How a tournament is run, and where its files go.
pub struct TournamentSession<'a> {
    /// The output folder.
    pub out: &'a OutputDir,
    /// Whether something else than a tournament in the folder is replaced. If not, it is refused:
    /// [`ErrorKind::Occupied`].
    pub force: bool,
    /// The kinds of policies that are played; the results of all others are taken from the folder, after a check. If
    /// empty, all are played.
    pub only: &'a [String],
    /// The command that runs the tournament again.
    pub command: &'a str,
    /// The number of threads; 0 for as many as the machine can run at once.
    pub threads: usize,
    /// Stops the tournament when it is set, from any thread.
    pub stop: &'a AtomicBool,
    /// Receives progress. A task is one instance of one game.
    pub progress: &'a dyn Progress,
    /// Is told what the user should know about the folder.
    pub note: &'a dyn Fn(OutputNote),
}

impl TournamentSession<'_> {
    /// Runs the tournament and writes its files. Finished instances are kept in a journal while it runs: after an
    /// interruption, the same tournament continues from there. The files do not depend on the time, the machine, the
    /// number of threads or on interruptions.
    ///
    /// # Errors
    /// [`TournamentError`] if the tournament fails or is stopped, if another process writes to the folder, or if a file
    /// cannot be written.
    pub fn run(&self, options: &TournamentOptions) -> Result<Tournament, TournamentError> {
        let lock = self.out.lock("tournament", self.note)?;
        if !self.force {
            self.out.check_replaceable_by_tournament()?;
        }
        let mut plan = PlannedTournament::new(options)?;
        let is_valid = |record: &_| plan.is_valid(record);
        let mut journal = Journal::open(&lock, "tournament", fingerprint(options, self.only), is_valid, self.note)?;
        // With a complete journal, the earlier results are not needed. A stop may have removed their manifest.
        if !self.only.is_empty() && journal.known().len() < plan.instances() {
            plan.take_over(self.out, self.only)?;
        }
        let tournament = plan.run(self.threads, self.stop, self.progress, Some(&mut journal))?;
        write(&lock, &tournament, self.command)?;
        journal.remove()?;
        Ok(tournament)
    }
}

fn write(lock: &OutputLock, tournament: &Tournament, command: &str) -> Result<(), SessionError> {
    let manifest = json!({
        "manifest": LAYOUT,
        "build": Build::default(),
        "options": tournament.options,
        "policies": tournament.policies,
        "games": tournament.games.iter().map(|game| &game.entry).collect::<Vec<_>>(),
    });
    let Value::Object(manifest) = manifest else { unreachable!("the manifest is an object") };
    let mut new = lock.replace(manifest)?;
    let folder = lock.output().path();
    new.table("games.csv", &table(folder, "games.csv", &GAMES, games(tournament))?)?;
    new.table("policies.csv", &table(folder, "policies.csv", &POLICIES, policies(tournament))?)?;
    new.table("head-to-head.csv", &table(folder, "head-to-head.csv", &HEAD_TO_HEAD, duels(tournament))?)?;
    let csv = |source: csv::Error| ErrorKind::Csv { path: folder.join(INSTANCES), source: source.into() };
    new.table(INSTANCES, &instances(tournament).map_err(|error| Error::from(csv(error)))?)?;
    new.table("tournament.md", markdown(tournament, command).as_bytes())?;
    write_report(lock, &report(tournament, command))?;
    Ok(new.finish()?)
}

fn table(folder: &Path, name: &str, header: &[&str], rows: Vec<Vec<String>>) -> Result<Vec<u8>, Error> {
    let failed = |source: csv::Error| ErrorKind::Csv { path: folder.join(name), source: source.into() };
    let mut table = csv::Writer::from_writer(Vec::new());
    table.write_record(header).map_err(failed)?;
    for row in rows {
        table.write_record(row).map_err(failed)?;
    }
    Ok(table.into_inner().expect("writing to memory does not fail"))
}

const GAMES: [&str; 23] = [
    "group",
    "game",
    "arms",
    "memory_bound",
    "horizon",
    "feedback",
    "policy",
    "status",
    "instances",
    "mean",
    "stderr",
    "median",
    "p99",
    "worst",
    "switches",
    "rank",
    "win_rate",
    "win_low",
    "win_high",
    "lower_bound",
    "times_best",
    "times_lower_bound",
    "inexact",
];

fn games(tournament: &Tournament) -> Vec<Vec<String>> {
    let mut all = Vec::new();
    for game in &tournament.games {
        let entry = &game.entry;
        for row in in_game(tournament, game) {
            let status = match row.cpr {
                Some(_) => "played",
                None if row.cannot => "cannot",
                None => "too slow",
            };
            let mut record = vec![
                entry.group.name().to_string(),
                entry.name.clone(),
                game.arms.to_string(),
                entry.memory_bound.to_string(),
                entry.horizon.to_string(),
                feedback_name(game.feedback).to_string(),
                row.policy.clone(),
                status.to_string(),
                row.cpr.map_or(0, |cpr| cpr.instances).to_string(),
            ];
            let spread = row.cpr.map(|cpr| [cpr.mean, cpr.stderr, cpr.median, cpr.p99, cpr.max]);
            record.extend((0..5).map(|i| optional(spread.map(|values| values[i]))));
            record.extend([row.switches, row.rank].map(optional));
            record.extend(rate(row.wins));
            record.extend([row.lower_bound, row.times_best, row.times_lower_bound].map(optional));
            record.push(game.inexact.to_string());
            all.push(record);
        }
    }
    all
}

const POLICIES: [&str; 15] = [
    "group",
    "policy",
    "played",
    "cannot",
    "too_slow",
    "mean_rank",
    "win_rate",
    "win_low",
    "win_high",
    "beats_leader",
    "beats_low",
    "beats_high",
    "times_best",
    "times_best_p99",
    "times_best_worst",
];

fn policies(tournament: &Tournament) -> Vec<Vec<String>> {
    let mut all = Vec::new();
    for row in tournament.options.part.groups().iter().copied().flat_map(|group| in_group(tournament, group, |_| true))
    {
        let counts = [row.games, row.cannot, row.too_slow].map(|count| count.to_string());
        let mut record = vec![row.group.name().to_string(), row.policy];
        record.extend(counts);
        record.push(optional(row.mean_rank));
        record.extend(rate(Some(row.wins)));
        record.extend(rate(Some(row.beats_leader)));
        let times = row.times_best;
        record.extend([times.map(|t| t.mean), times.map(|t| t.p99), times.map(|t| t.worst)].map(optional));
        all.push(record);
    }
    all
}

const HEAD_TO_HEAD: [&str; 7] = ["group", "policy", "against", "games", "win_rate", "win_low", "win_high"];

fn duels(tournament: &Tournament) -> Vec<Vec<String>> {
    let mut all = Vec::new();
    for &group in tournament.options.part.groups() {
        let rates = head_to_head(tournament, group);
        for (one, row) in tournament.policies.iter().zip(&rates) {
            for (other, &won) in tournament.policies.iter().zip(row).filter(|(other, _)| *other != one) {
                let mut record = vec![group.name().to_string(), one.clone(), other.clone(), won.of.to_string()];
                record.extend(rate(Some(won)));
                all.push(record);
            }
        }
    }
    all
}

fn optional(value: Option<f64>) -> String {
    value.map_or(String::new(), |value| value.to_string())
}

/// The share and its interval; empty if there were no trials.
fn rate(rate: Option<WinRate>) -> [String; 3] {
    let counted = rate.filter(|rate| rate.of > 0);
    [counted.map(|rate| rate.share), counted.map(|rate| rate.low), counted.map(|rate| rate.high)].map(optional)
}
