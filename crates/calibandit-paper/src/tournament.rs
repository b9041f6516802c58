//! The tournament: every policy on the paper's games, the rest of the zoo, the ten races and random games, by exact CPR.
//!
//! It answers which policy to use where nothing is known of the game but K, M and T. So every policy plays with the same
//! parameters everywhere, its defaults; see [`field()`]. What is compared is the CPR over instances ([`summary`](crate::summary)),
//! the rank, how often a policy is the best, and how far it is from a [`Yardstick`] of what cannot be avoided.
//!
//! Not an experiment like those of [`spec`](crate::spec): there are hundreds of games with horizons of their own, and only
//! what happens at the horizon is kept.
//!
//! | file | what |
//! |---|---|
//! | `games.csv` | every policy on every game |
//! | `policies.csv` | every policy in every group of games |
//! | `head-to-head.csv` | every pair of policies in every group |
//! | `manifest.json` | the games and the options |
//! | `tournament.md` | the tables for people, as Markdown |
//! | `report.html`, `figures/` | the page |

mod bound;
mod cost;
mod field;
mod files;
mod games;
mod page;
mod play;
mod published;
mod standing;
mod tables;
mod text;

pub use bound::Yardstick;
pub use field::{Contender, field};
pub use files::write;
pub use games::{Entry, Group, games};
pub use page::report;
pub use play::{GameResult, Outcome, Played, Tournament, run};
pub use published::{Evidence, evidence, published};
pub use standing::{GameRow, GroupRow, Rate, head_to_head, in_game, in_group};
pub use tables::tables;
pub use text::{markdown, plain};

use calibandit::{GameError, PolicyError, SimulateError};
use serde::Serialize;

/// How large a tournament is.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Options {
    /// The seed of everything.
    pub seed: u64,
    /// The number of instances of each named game.
    pub instances: u64,
    /// The horizon of the named games.
    pub horizon: u64,
    /// The number of random games.
    pub random_games: u64,
    /// The number of instances of each random game.
    pub random_instances: u64,
    /// The longest horizon of a random game.
    pub longest: u64,
    /// The seconds, by a fixed estimate, that a policy may take for all instances of one of the paper's games; those that
    /// would take longer play fewer instances.
    pub paper_seconds: f64,
    /// The same for a game of the zoo or a race.
    pub named_seconds: f64,
    /// The same for a random game.
    pub random_seconds: f64,
    /// A policy that fits no instance into that plays one if it takes no longer than this.
    pub instance_seconds: f64,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            seed: 1,
            instances: 400,
            horizon: 1_000_000,
            random_games: 300,
            random_instances: 5,
            longest: 10_000_000,
            paper_seconds: 1.0,
            named_seconds: 0.2,
            random_seconds: 0.1,
            instance_seconds: 0.3,
        }
    }
}

impl Options {
    /// The instances that a policy plays of a game of this group if one takes it so long; none if it is too slow.
    fn fit(&self, group: Group, nanoseconds: f64, instances: u64) -> Option<u64> {
        let seconds = match group {
            Group::Paper | Group::Short => self.paper_seconds,
            Group::Zoo | Group::Races => self.named_seconds,
            Group::Random => self.random_seconds,
        };
        match (seconds * 1e9 / nanoseconds) as u64 {
            0 => (nanoseconds <= self.instance_seconds * 1e9).then_some(1),
            fit => Some(fit.min(instances)),
        }
    }

    /// A first look, in seconds.
    pub fn quick() -> Self {
        Self {
            instances: 10,
            horizon: 100_000,
            random_games: 30,
            random_instances: 2,
            longest: 100_000,
            paper_seconds: 0.03,
            named_seconds: 0.02,
            random_seconds: 0.02,
            instance_seconds: 0.05,
            ..Self::default()
        }
    }
}

/// Why a tournament could not be held.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum TournamentError {
    /// A policy of the field cannot be made from its parameters.
    #[error("policy {policy} cannot take part: {source}")]
    Contender {
        /// The policy.
        policy: String,
        /// Why.
        source: serde_json::Error,
    },
    /// A game could not be drawn.
    #[error("{game}: {source}")]
    Game {
        /// The game.
        game: String,
        /// Why.
        source: GameError,
    },
    /// A policy could not be built, for another reason than a horizon that is too short for it.
    #[error("{game}, policy {policy}: {source}")]
    Policy {
        /// The game.
        game: String,
        /// The policy.
        policy: String,
        /// Why.
        source: PolicyError,
    },
    /// A policy could not be played.
    #[error("{game}, policy {policy}: {source}")]
    Simulate {
        /// The game.
        game: String,
        /// The policy.
        policy: String,
        /// Why.
        source: SimulateError,
    },
    /// It was told to stop before all was done; nothing is kept.
    #[error("the tournament was stopped after {done} of {pieces} instances, and nothing of it is kept")]
    Stopped {
        /// Instances finished.
        done: usize,
        /// Instances in all.
        pieces: usize,
    },
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slow_policies_play_fewer_instances() {
        let options = Options { paper_seconds: 2.0, random_seconds: 0.1, instance_seconds: 0.5, ..Options::default() };
        assert_eq!(options.fit(Group::Paper, 1e5, 400), Some(400));
        assert_eq!(options.fit(Group::Paper, 5e7, 400), Some(40));
        assert_eq!(options.fit(Group::Random, 4e8, 5), Some(1));
        assert_eq!(options.fit(Group::Random, 6e8, 5), None);
    }
}
