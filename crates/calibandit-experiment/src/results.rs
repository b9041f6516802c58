//! Results: loss, regret and switches of every policy at the checkpoints, and the files that store them.
//!
//! The order is always experiment, game, policy, instance, time. It does not depend on the order in which tasks were
//! finished, so the same seed gives the same bytes for any number of threads and shards.

mod csv_file;
mod parquet_file;
mod swept;

pub use csv_file::{CsvError, read_csv, write_csv};
pub use parquet_file::{ParquetError, write_parquet};
pub use swept::{SweptColumn, SweptField, SweptKind, swept_fields, swept_text};

use crate::Experiment;
use serde::{Deserialize, Serialize};

/// One policy in one instance at one time.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Sample {
    /// The number of plays made.
    pub t: u64,
    /// Their expected loss.
    pub loss: f64,
    /// The complete policy regret: `loss` less the exact optimum over `t` plays.
    pub cpr: f64,
    /// The number of plays whose arm differs from that of the play before.
    pub switches: u64,
}

/// One policy in one instance of one game.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Curve {
    /// Index into [`Results::games`].
    pub game: usize,
    /// Index into [`Results::policies`].
    pub policy: usize,
    /// The instance, from 0.
    pub instance: u64,
    /// The samples, by time.
    pub samples: Vec<Sample>,
}

impl Curve {
    fn order(&self) -> (usize, usize, u64) {
        (self.game, self.policy, self.instance)
    }

    /// The CPR at the horizon.
    pub fn final_cpr(&self) -> f64 {
        self.samples.last().map_or(f64::NAN, |sample| sample.cpr)
    }
}

/// The results of one experiment.
#[derive(Clone, Debug, PartialEq)]
pub struct Results {
    /// The experiment's name.
    pub experiment: String,
    /// The labels of the games: one per point of the sweep.
    pub games: Vec<String>,
    /// The labels of the policies.
    pub policies: Vec<String>,
    swept: Vec<SweptColumn>,
    curves: Vec<Curve>,
}

impl Results {
    /// Results with these curves, which may be given in any order.
    pub fn new(experiment: String, games: Vec<String>, policies: Vec<String>, mut curves: Vec<Curve>) -> Self {
        curves.sort_by_key(Curve::order);
        Self { experiment, games, policies, swept: Vec::new(), curves }
    }

    /// The results of this experiment among those that were read from tables: with games, policies and the types of
    /// swept values as the experiment has them. Results of several tables become one.
    pub fn of_experiment(experiment: &Experiment, read: &[Results]) -> Self {
        let (games, policies) = (experiment.game_labels(), experiment.policy_labels());
        let mut curves = Vec::new();
        for results in read.iter().filter(|results| results.experiment == experiment.name()) {
            for curve in &results.curves {
                let game = games.iter().position(|label| *label == results.games[curve.game]);
                let policy = policies.iter().position(|label| *label == results.policies[curve.policy]);
                if let (Some(game), Some(policy)) = (game, policy) {
                    curves.push(Curve { game, policy, ..curve.clone() });
                }
            }
        }
        Self::new(experiment.name().to_owned(), games, policies, curves).with_swept(experiment.swept())
    }

    /// The same results with these columns of swept keys, each with one value per game.
    ///
    /// # Panics
    /// If a column has another number of values than there are games.
    #[must_use]
    pub fn with_swept(mut self, swept: Vec<SweptColumn>) -> Self {
        assert!(swept.iter().all(|column| column.values.len() == self.games.len()), "one value per game");
        self.swept = swept;
        self
    }

    /// The columns of swept keys; none if there is no sweep.
    pub fn swept(&self) -> &[SweptColumn] {
        &self.swept
    }

    /// The column of a swept key.
    pub fn swept_column(&self, name: &str) -> Option<&SweptColumn> {
        self.swept.iter().find(|column| column.name == name)
    }

    /// The curves, by game, policy and instance.
    pub fn curves(&self) -> &[Curve] {
        &self.curves
    }

    /// The instances of one policy in one game, in order.
    pub fn of(&self, game: usize, policy: usize) -> &[Curve] {
        let start = self.curves.partition_point(|curve| (curve.game, curve.policy) < (game, policy));
        let end = self.curves.partition_point(|curve| (curve.game, curve.policy) <= (game, policy));
        &self.curves[start..end]
    }

    /// The number of rows of the tables.
    pub fn rows(&self) -> usize {
        self.curves.iter().map(|curve| curve.samples.len()).sum()
    }
}
