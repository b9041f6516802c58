//! Results of an earlier tournament that are taken over instead of being played again.
//!
//! The streams of a policy do not depend on the other policies. So after a change of one kind of policy, only its
//! results change. That the others did not change is not believed: every policy plays the first instance of every game
//! again, and must have the same result, to the bit.

use std::collections::HashMap;

use calibandit_experiment::output::OutputDir;
use calibandit_experiment::{Error, ErrorKind};
use serde::{Deserialize, Serialize};
use serde_json::json;

use super::{PlayedInstance, Tournament, TournamentError, TournamentGame, TournamentOptions, TournamentPolicy};

/// The table of all instances.
pub(super) const INSTANCES: &str = "instances.csv";

/// A row of the table of all instances.
#[derive(Serialize, Deserialize)]
pub(super) struct InstanceRow<'a> {
    group: &'a str,
    game: &'a str,
    instance: u64,
    policy: &'a str,
    cpr: f64,
    switches: u64,
}

/// Every instance of every policy, as CSV.
pub(super) fn instances(tournament: &Tournament) -> Result<Vec<u8>, csv::Error> {
    let mut table = csv::Writer::from_writer(Vec::new());
    for game in &tournament.games {
        for (policy, outcome) in tournament.policies.iter().zip(&game.outcomes) {
            for (instance, played) in (0u64..).zip(outcome.instances()) {
                table.serialize(InstanceRow {
                    group: game.entry.group.name(),
                    game: &game.entry.name,
                    instance,
                    policy,
                    cpr: played.cpr,
                    switches: played.switches,
                })?;
            }
        }
    }
    Ok(table.into_inner().expect("writing to memory does not fail"))
}

/// The results of the policies that are not played again.
#[derive(Default)]
pub(super) struct EarlierResults {
    played: HashMap<(usize, usize, u64), PlayedInstance>,
}

impl EarlierResults {
    /// Reads the results of all policies except those of the kinds in `only` from a folder. They must be of the same
    /// games and options.
    pub(super) fn read(
        out: &OutputDir,
        options: &TournamentOptions,
        games: &[&TournamentGame],
        policies: &[TournamentPolicy],
        only: &[String],
    ) -> Result<Self, TournamentError> {
        let (manifest, table) = out.read_tournament_table(INSTANCES)?;
        for (what, now) in [("options", json!(options)), ("games", json!(games))] {
            if manifest[what] != now {
                return Err(TournamentError::OtherTournament { path: out.path().to_path_buf(), what });
            }
        }
        let game_at: HashMap<_, _> =
            (0..).zip(games).map(|(at, game)| ((game.group.name(), game.name.as_str()), at)).collect();
        let kept = (0..).zip(policies).filter(|(_, policy)| !only.iter().any(|kind| policy.is_of_kind(kind)));
        let policy_at: HashMap<&str, usize> = kept.map(|(at, policy)| (policy.label.as_str(), at)).collect();
        let failed = |source: csv::Error| {
            Error::from(ErrorKind::Csv { path: out.path().join(INSTANCES), source: source.into() })
        };
        let mut reader = csv::Reader::from_reader(&table[..]);
        let header = reader.byte_headers().map_err(failed)?.clone();
        let mut played = HashMap::new();
        let mut record = csv::ByteRecord::new();
        while reader.read_byte_record(&mut record).map_err(failed)? {
            let row: InstanceRow<'_> = record.deserialize(Some(&header)).map_err(failed)?;
            if let (Some(&game), Some(&policy)) = (game_at.get(&(row.group, row.game)), policy_at.get(row.policy)) {
                played.insert((game, policy, row.instance), PlayedInstance { cpr: row.cpr, switches: row.switches });
            }
        }
        Ok(Self { played })
    }

    /// The result of a policy on an instance of a game, if it is known.
    pub(super) fn get(&self, game: usize, policy: usize, instance: u64) -> Option<PlayedInstance> {
        self.played.get(&(game, policy, instance)).copied()
    }

    /// Whether the result is known and is not checked by playing it again.
    pub(super) fn replaces(&self, game: usize, policy: usize, instance: u64) -> bool {
        instance > 0 && self.played.contains_key(&(game, policy, instance))
    }
}

#[cfg(test)]
impl EarlierResults {
    /// The results of these instances.
    pub(super) fn of(played: impl IntoIterator<Item = ((usize, usize, u64), PlayedInstance)>) -> Self {
        Self { played: played.into_iter().collect() }
    }
}
