//! The account of expected losses, at any horizon without loss of precision.

use serde::{Deserialize, Serialize};

use super::Trajectory;
use crate::Game;

/// The state of a trajectory at one time.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Checkpoint {
    /// The number of plays made.
    pub t: u64,
    /// Their expected loss.
    pub loss: f64,
    /// Their expected loss in excess of `t` plays at the least eventual loss mu(x*). Kept beside `loss` because at large
    /// times the difference of two losses has few digits left.
    pub excess: f64,
    /// How often the arm changed from one play to the next.
    pub switches: u64,
}

/// Adds up expected losses. Plays of calibrated arms are counted in integers and multiplied only when asked for, so that
/// 10^12 of them are as exact as ten.
pub(super) struct Ledger {
    best_loss: f64,
    /// Each arm's eventual loss in excess of the best.
    gaps: Vec<f64>,
    /// Calibrated plays of each arm.
    calibrated: Vec<u64>,
    plays: Vec<u64>,
    /// Excess of the plays that were not calibrated, with Neumaier's compensation.
    warming: f64,
    compensation: f64,
    time: u64,
    switches: u64,
    newest: Option<usize>,
    times: Vec<u64>,
    checkpoints: Vec<Checkpoint>,
}

impl Ledger {
    pub(super) fn new(game: &Game, times: Vec<u64>) -> Self {
        let best_loss = game.best_loss();
        let gaps = game.arms().iter().map(|arm| arm.eventual_loss() - best_loss).collect();
        let arms = game.arms().len();
        Self {
            best_loss,
            gaps,
            calibrated: vec![0; arms],
            plays: vec![0; arms],
            warming: 0.0,
            compensation: 0.0,
            time: 0,
            switches: 0,
            newest: None,
            checkpoints: Vec::with_capacity(times.len()),
            times,
        }
    }

    pub(super) fn time(&self) -> u64 {
        self.time
    }

    /// Whether a loss was NaN.
    pub(super) fn is_poisoned(&self) -> bool {
        self.warming.is_nan()
    }

    fn chosen(&mut self, arm: usize) {
        if self.newest.is_some_and(|newest| newest != arm) {
            self.switches += 1;
        }
        self.newest = Some(arm);
    }

    /// One play with this expected loss.
    pub(super) fn one(&mut self, arm: usize, loss: f64) {
        self.chosen(arm);
        let excess = loss - self.best_loss;
        let sum = self.warming + excess;
        self.compensation += if self.warming.abs() >= excess.abs() {
            (self.warming - sum) + excess
        } else {
            (excess - sum) + self.warming
        };
        self.warming = sum;
        self.plays[arm] += 1;
        self.time += 1;
        self.record(0, arm);
    }

    /// This many plays of a calibrated arm; checkpoints on the way are recorded as if it were one by one.
    pub(super) fn calibrated(&mut self, arm: usize, plays: u64) {
        self.chosen(arm);
        let end = self.time + plays;
        while let Some(&next) = self.times.get(self.checkpoints.len())
            && next < end
        {
            let ahead = next - self.time;
            self.record(ahead, arm);
        }
        self.calibrated[arm] += plays;
        self.plays[arm] += plays;
        self.time = end;
        self.record(0, arm);
    }

    /// Records the checkpoint `ahead` calibrated plays of `arm` from here, if there is one.
    fn record(&mut self, ahead: u64, arm: usize) {
        let t = self.time + ahead;
        if self.times.get(self.checkpoints.len()) != Some(&t) {
            return;
        }
        let calibrated: f64 = self.calibrated.iter().zip(&self.gaps).map(|(&plays, gap)| plays as f64 * gap).sum();
        let excess = self.warming + self.compensation + calibrated + ahead as f64 * self.gaps[arm];
        let loss = t as f64 * self.best_loss + excess;
        self.checkpoints.push(Checkpoint { t, loss, excess, switches: self.switches });
    }

    pub(super) fn finish(self, runs: u64) -> Trajectory {
        Trajectory { checkpoints: self.checkpoints, plays: self.plays, runs }
    }
}
