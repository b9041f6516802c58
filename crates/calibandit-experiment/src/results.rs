//! Results: loss, regret and switches of every policy at the checkpoints, and the files that store them.
//!
//! The order is always experiment, game, policy, instance, time. It does not depend on the order in which tasks were
//! finished, so the same seed gives the same bytes for any number of threads and shards.
//!
//! Curves are in memory as long as they are few. More than 256 MB of them are in a temporary file, from which tables,
//! summaries and figures read them one by one.

mod cell;
mod csv_file;
mod parquet_file;
mod rewards;
mod spill;
mod store;
mod swept;

pub(crate) use cell::text_cell;
pub(crate) use csv_file::read_csv_near;
pub use csv_file::{CsvError, read_csv, write_csv};
pub use parquet_file::{ParquetError, write_parquet};
pub use store::{CurveCollector, CurveIter};
pub(crate) use swept::swept_cell;
pub use swept::{SweptColumn, SweptField, SweptKind, swept_fields, swept_text};

use std::collections::HashMap;
use std::io;
use std::sync::Arc;

use crate::Experiment;
use calibandit::RewardRange;
use serde::{Deserialize, Serialize};
use store::StoredCurves;

/// One policy in one instance at one time. In JSON it is a list, `[t, loss, cpr, switches]`, because journals have many
/// of them.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(into = "(u64, f64, f64, u64)", from = "(u64, f64, f64, u64)")]
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

impl From<Sample> for (u64, f64, f64, u64) {
    fn from(Sample { t, loss, cpr, switches }: Sample) -> Self {
        (t, loss, cpr, switches)
    }
}

impl From<(u64, f64, f64, u64)> for Sample {
    fn from((t, loss, cpr, switches): (u64, f64, f64, u64)) -> Self {
        Self { t, loss, cpr, switches }
    }
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

    /// The end of the curve. Without samples, its numbers are NaN.
    pub fn end(&self) -> CurveEnd {
        let none = Sample { t: 0, loss: f64::NAN, cpr: f64::NAN, switches: 0 };
        CurveEnd { instance: self.instance, last: self.samples.last().copied().unwrap_or(none) }
    }
}

/// The end of a curve: all that rankings and tests need of it. It is always in memory.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct CurveEnd {
    /// The instance, from 0.
    pub instance: u64,
    /// The last sample, which is at the horizon.
    pub last: Sample,
}

/// The results of one experiment.
#[derive(Clone, Debug)]
pub struct Results {
    /// The experiment's name.
    pub experiment: String,
    /// The labels of the games: one per point of the sweep.
    pub games: Vec<String>,
    /// The labels of the policies.
    pub policies: Vec<String>,
    swept: Vec<SweptColumn>,
    /// Shared with the same results in rewards.
    curves: Arc<StoredCurves>,
    /// By game, the range of rewards; empty if results are those of a game in losses.
    ranges: Vec<RewardRange>,
    /// Whether curves are returned in rewards. They are stored in losses.
    in_rewards: bool,
}

impl Results {
    /// Results with these curves, which may be given in any order.
    pub fn new(experiment: String, games: Vec<String>, policies: Vec<String>, curves: Vec<Curve>) -> Self {
        Self::stored(experiment, games, policies, StoredCurves::in_memory(curves))
    }

    /// Results with the curves that were collected.
    ///
    /// # Errors
    /// If the temporary file of many curves cannot be written.
    pub fn collected(
        experiment: String,
        games: Vec<String>,
        policies: Vec<String>,
        curves: CurveCollector,
    ) -> io::Result<Self> {
        Ok(Self::stored(experiment, games, policies, curves.finish()?))
    }

    fn stored(experiment: String, games: Vec<String>, policies: Vec<String>, curves: StoredCurves) -> Self {
        let (swept, ranges) = (Vec::new(), Vec::new());
        Self { experiment, games, policies, swept, curves: Arc::new(curves), ranges, in_rewards: false }
    }

    /// The same results with what the experiment knows of its games: swept keys and ranges of rewards.
    #[must_use]
    pub(crate) fn described_by(self, experiment: &Experiment) -> Self {
        self.with_swept(experiment.swept()).with_ranges(experiment.reward_ranges().unwrap_or_default())
    }

    /// The results of this experiment among those that were read from tables: with games, policies and the types of
    /// swept values as the experiment has them. Results of several tables become one.
    ///
    /// # Errors
    /// If curves in a temporary file cannot be read or written.
    pub fn of_experiment(experiment: &Experiment, read: &[Results]) -> io::Result<Self> {
        let (games, policies) = (experiment.game_labels(), experiment.policy_labels());
        let of_it: Vec<&Results> = read.iter().filter(|results| results.experiment == experiment.name()).collect();
        if let [only] = of_it[..]
            && (&only.games, &only.policies) == (&games, &policies)
        {
            return Ok(only.clone().described_by(experiment));
        }
        let mut curves = CurveCollector::new(of_it.iter().find_map(|results| results.curves.folder()));
        for results in of_it {
            let game_of = places(&results.games, &games);
            let policy_of = places(&results.policies, &policies);
            for curve in results.curves() {
                let curve = curve?;
                if let (Some(game), Some(policy)) = (game_of[curve.game], policy_of[curve.policy]) {
                    curves.push(Curve { game, policy, ..curve.into_owned() })?;
                }
            }
        }
        let results = Self::collected(experiment.name().to_owned(), games, policies, curves)?;
        Ok(results.described_by(experiment))
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

    /// The curves, by game, policy and instance. An item is an error if its curve is in a temporary file that cannot be
    /// read.
    pub fn curves(&self) -> CurveIter<'_> {
        self.curves_at(0..self.curves.len())
    }

    /// The instances of one policy in one game, in order.
    pub fn of(&self, game: usize, policy: usize) -> CurveIter<'_> {
        self.curves_at(self.curves.range(game, policy))
    }

    /// The ends of the instances of one policy in one game, in order.
    pub fn ends(&self, game: usize, policy: usize) -> impl ExactSizeIterator<Item = CurveEnd> + Clone {
        let converted = move |end: CurveEnd| CurveEnd { last: self.shown(game, end.last), ..end };
        self.curves.range(game, policy).map(move |at| converted(self.curves.end(at)))
    }

    /// The time of the last checkpoint; 0 if there are no curves.
    pub fn end_time(&self) -> u64 {
        if self.curves.len() == 0 { 0 } else { self.curves.end(0).last.t }
    }

    /// The values of one policy in one game at each checkpoint: calls `visit` with the time and with one value per
    /// instance, in order. `value` gets the sample of an instance and, if there is a `reference` policy, the sample of
    /// the same instance of that policy.
    ///
    /// # Errors
    /// That of `visit`, or that of a temporary file that cannot be read.
    pub fn at_checkpoints<E: From<io::Error>>(
        &self,
        game: usize,
        policy: usize,
        reference: Option<usize>,
        value: impl Fn(&Sample, Option<&Sample>) -> f64,
        visit: impl FnMut(u64, Vec<f64>) -> Result<(), E>,
    ) -> Result<(), E> {
        let reference = reference.map(|policy| self.curves.range(game, policy));
        let value = |own: &Sample, other: Option<&Sample>| {
            let other = other.map(|other| self.shown(game, *other));
            value(&self.shown(game, *own), other.as_ref())
        };
        self.curves.at_checkpoints(self.curves.range(game, policy), reference, value, visit)
    }

    /// The number of rows of the tables.
    pub fn rows(&self) -> usize {
        (0..self.curves.len()).map(|at| self.curves.rows(at)).sum()
    }
}

/// Results are equal if their tables are. Curves that cannot be read are equal to none.
impl PartialEq for Results {
    fn eq(&self, other: &Self) -> bool {
        let curves = || {
            let same =
                |(one, other): (io::Result<_>, io::Result<_>)| one.ok().zip(other.ok()).is_some_and(|(a, b)| a == b);
            self.curves.len() == other.curves.len() && self.curves().zip(other.curves()).all(same)
        };
        (&self.experiment, &self.games, &self.policies) == (&other.experiment, &other.games, &other.policies)
            && self.swept == other.swept
            && curves()
    }
}

/// The place of each label among others, if it is there.
fn places(labels: &[String], among: &[String]) -> Vec<Option<usize>> {
    let place: HashMap<&String, usize> = among.iter().enumerate().map(|(at, label)| (label, at)).collect();
    labels.iter().map(|label| place.get(label).copied()).collect()
}
