//! Results: loss, regret and switches of every policy at the checkpoints, and the files that store them.
//!
//! The order is always experiment, game, policy, instance, time. It does not depend on the order in which tasks were
//! finished, so the same seed gives the same bytes for any number of threads and shards.

mod csv_file;
mod parquet_file;

pub use csv_file::{CsvError, read_csv, write_csv};
pub use parquet_file::{ParquetError, write_parquet};

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
    curves: Vec<Curve>,
}

impl Results {
    /// Results with these curves, which may be given in any order.
    pub fn new(experiment: String, games: Vec<String>, policies: Vec<String>, mut curves: Vec<Curve>) -> Self {
        curves.sort_by_key(Curve::order);
        Self { experiment, games, policies, curves }
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
