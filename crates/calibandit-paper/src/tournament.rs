//! The tournament: every policy on the paper's games, the other games of the catalogue, the ten races and random games,
//! compared by exact CPR.
//!
//! It shows which policy to use if nothing is known about the game but K, M and T. So every policy has the same
//! parameters in all games: its defaults (and some named variants, see [`policies()`]). The tables compare the CPR over
//! instances, ranks, shares of wins, and the ratio to an estimate of the least possible regret
//! ([`LowerBoundEstimate`]).
//!
//! It is not an [`Experiment`](calibandit_experiment::Experiment): it has hundreds of games with different horizons,
//! and keeps only the values at the horizon. [`run`] makes a [`Tournament`]; [`TournamentSession`] also writes its
//! output folder, and continues there after an interruption:
//!
//! | file | content |
//! |---|---|
//! | `games.csv` | every policy in every game |
//! | `policies.csv` | every policy in every group of games |
//! | `head-to-head.csv` | every pair of policies in every group |
//! | `instances.csv` | every policy in every instance of every game |
//! | `manifest.json` | the games, the options, the program, and the digests of the tables |
//! | `tournament.md` | the tables as Markdown |
//! | `report.html`, `figures/` | the report |
//! | `.unfinished-tournament-FINGERPRINT.jsonl` | the journal of an unfinished tournament |

mod earlier;
mod files;
mod games;
mod lower_bound;
mod neighbours;
mod page;
mod play;
mod policies;
mod published;
mod ranking;
mod tables;
mod text;

pub use files::TournamentSession;
pub use games::{TournamentGame, TournamentGroup, games};
pub use lower_bound::LowerBoundEstimate;
pub use neighbours::TournamentPart;
pub use page::report;
pub use play::{GameResult, PlayedInstance, Tournament, TournamentOutcome, run};
pub use policies::{TournamentPolicy, policies};
pub use published::{Evidence, evidence, published};
pub use ranking::{GameRow, GroupRow, WinRate, head_to_head, in_game, in_group};
pub use tables::tables;
pub use text::{markdown, plain};

use std::path::PathBuf;

use calibandit::{GameError, PolicyError, SimulateError};
use calibandit_report::session::SessionError;
use serde::Serialize;

/// The size of a tournament.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct TournamentOptions {
    /// Which games and policies.
    pub part: TournamentPart,
    /// The seed.
    pub seed: u64,
    /// The number of instances per named game.
    pub instances: u64,
    /// The horizon of the named games.
    pub horizon: u64,
    /// The number of random games.
    pub random_games: u64,
    /// The number of instances per random game.
    pub random_instances: u64,
    /// The longest horizon of a random game.
    pub longest: u64,
    /// The time in seconds, by a fixed estimate, that a policy may take for all instances of a race or of another game
    /// of the catalogue. Policies that would take longer play fewer instances. The paper's games have no such limit.
    pub named_seconds: f64,
    /// The same for a random game.
    pub random_seconds: f64,
    /// A policy whose budget is too small for one instance plays one if it takes no longer than this many seconds.
    pub instance_seconds: f64,
}

impl Default for TournamentOptions {
    fn default() -> Self {
        Self {
            part: TournamentPart::Main,
            seed: 1,
            instances: 400,
            horizon: 1_000_000,
            random_games: 300,
            random_instances: 5,
            longest: 10_000_000,
            named_seconds: 0.2,
            random_seconds: 0.1,
            instance_seconds: 0.3,
        }
    }
}

impl TournamentOptions {
    /// The number of instances that a policy plays of a game of this group, if one instance takes this long; `None` if
    /// it is too slow.
    fn instances_within_budget(&self, group: TournamentGroup, nanoseconds: f64, instances: u64) -> Option<u64> {
        let seconds = match group {
            TournamentGroup::Paper | TournamentGroup::Short => return Some(instances),
            TournamentGroup::Zoo
            | TournamentGroup::Races
            | TournamentGroup::Rested
            | TournamentGroup::RestedLong
            | TournamentGroup::Windowed => self.named_seconds,
            TournamentGroup::Random => self.random_seconds,
        };
        match (seconds * 1e9 / nanoseconds) as u64 {
            0 => (nanoseconds <= self.instance_seconds * 1e9).then_some(1),
            fit => Some(fit.min(instances)),
        }
    }

    /// A small tournament that runs in seconds, as a preview.
    pub fn quick() -> Self {
        Self {
            instances: 10,
            horizon: 100_000,
            random_games: 30,
            random_instances: 2,
            longest: 100_000,
            named_seconds: 0.02,
            random_seconds: 0.02,
            instance_seconds: 0.05,
            ..Self::default()
        }
    }
}

/// Why a tournament could not be run.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum TournamentError {
    /// The parameters of a policy are not valid.
    #[error("the parameters of policy {policy} are not valid: {source}")]
    Parameters {
        /// The policy.
        policy: String,
        /// The reason.
        source: serde_json::Error,
    },
    /// A game could not be drawn.
    #[error("{game}: {source}")]
    Game {
        /// The game.
        game: String,
        /// The reason.
        source: GameError,
    },
    /// A policy could not be built; a horizon that is too short for it is not an error.
    #[error("{game}, policy {policy}: {source}")]
    Policy {
        /// The game.
        game: String,
        /// The policy.
        policy: String,
        /// The reason.
        source: Box<PolicyError>,
    },
    /// A policy could not be simulated.
    #[error("{game}, policy {policy}: {source}")]
    Simulate {
        /// The game.
        game: String,
        /// The policy.
        policy: String,
        /// The reason.
        source: SimulateError,
    },
    /// The folder has another tournament than the one whose results would be taken over.
    #[error(
        "{path} has a tournament with other {what}, so its results cannot be taken over; play all policies instead",
        path = path.display()
    )]
    OtherTournament {
        /// The output folder.
        path: PathBuf,
        /// What is different: options or games.
        what: &'static str,
    },
    /// A policy whose results would be taken over does not give them any more.
    #[error(
        "{game}: {policy} has another result than in the folder (CPR {now} instead of {before} on the first instance); \
         play its kind again too, or all policies"
    )]
    Changed {
        /// The game.
        game: String,
        /// The policy.
        policy: String,
        /// The CPR in the folder.
        before: f64,
        /// The CPR now.
        now: f64,
    },
    /// The stop flag was set.
    #[error("the tournament was stopped after {done} of {total} instances")]
    Stopped {
        /// The number of finished instances.
        done: usize,
        /// The number of all instances.
        total: usize,
    },
    /// The output folder is in use, or could not be read or written.
    #[error(transparent)]
    Output(#[from] calibandit_experiment::Error),
    /// The report could not be written.
    #[error(transparent)]
    Report(#[from] SessionError),
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slow_policies_play_fewer_instances_except_of_the_papers_games() {
        let options = TournamentOptions {
            named_seconds: 2.0,
            random_seconds: 0.1,
            instance_seconds: 0.5,
            ..TournamentOptions::default()
        };
        assert_eq!(options.instances_within_budget(TournamentGroup::Races, 1e5, 400), Some(400));
        assert_eq!(options.instances_within_budget(TournamentGroup::Races, 5e7, 400), Some(40));
        assert_eq!(options.instances_within_budget(TournamentGroup::Random, 4e8, 5), Some(1));
        assert_eq!(options.instances_within_budget(TournamentGroup::Random, 6e8, 5), None);
        for group in [TournamentGroup::Paper, TournamentGroup::Short] {
            assert_eq!(options.instances_within_budget(group, 6e9, 400), Some(400));
        }
    }
}
