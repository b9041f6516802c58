//! Sums of expected losses, and of the optima of sessions.

use rustc_hash::FxHashMap;

use super::{LiveError, LiveTrajectory};
use crate::lanes::LaneCounts;
use crate::{Checkpoint, Game, Grid, Interrupt, Optima, Trajectory};

/// What a live simulation records.
pub(super) struct LiveRecord<'a> {
    best_loss: f64,
    sum: f64,
    compensation: f64,
    /// The part of the sum that belongs to plays of the warm-up.
    warm_up: f64,
    time: u64,
    switches: u64,
    plays: Vec<u64>,
    times: &'a [u64],
    checkpoints: Vec<Checkpoint>,
    optima: Optima<'a>,
    by_length: FxHashMap<u64, f64>,
    /// The optima of the sessions that have ended.
    ended: f64,
    optimum: Vec<f64>,
}

impl<'a> LiveRecord<'a> {
    pub(super) fn new(game: &'a Game, grid: &'a Grid, interrupt: Interrupt<'a>) -> Self {
        Self {
            best_loss: game.best_loss(),
            sum: 0.0,
            compensation: 0.0,
            warm_up: 0.0,
            time: 0,
            switches: 0,
            plays: vec![0; game.arms().len()],
            times: grid.times(),
            checkpoints: Vec::new(),
            optima: Optima::new(game).interruptible(interrupt),
            by_length: FxHashMap::default(),
            ended: 0.0,
            optimum: Vec::new(),
        }
    }

    pub(super) fn horizon(&self) -> u64 {
        self.times.last().copied().unwrap_or(0)
    }

    /// Adds one play, with Neumaier's compensation.
    pub(super) fn add(&mut self, arm: usize, expected: f64, switches: bool, warms_up: bool) {
        let excess = expected - self.best_loss;
        let sum = self.sum + excess;
        self.compensation +=
            if self.sum.abs() >= excess.abs() { (self.sum - sum) + excess } else { (excess - sum) + self.sum };
        self.sum = sum;
        self.warm_up += if warms_up { excess } else { 0.0 };
        self.time += 1;
        self.switches += u64::from(switches);
        self.plays[arm] += 1;
    }

    /// Adds the optimum of a session that has ended after this many plays.
    pub(super) fn end_session(&mut self, plays: u64) -> Result<(), LiveError> {
        self.ended += self.optimum_of(plays)?;
        Ok(())
    }

    pub(super) fn is_checkpoint(&self) -> bool {
        self.times.get(self.checkpoints.len()) == Some(&self.time)
    }

    /// Records a checkpoint; `lengths` are the plays of the sessions under way.
    pub(super) fn note(&mut self, lengths: impl Iterator<Item = u64>) -> Result<(), LiveError> {
        let excess = self.sum + self.compensation;
        let loss = self.time as f64 * self.best_loss + excess;
        self.checkpoints.push(Checkpoint { t: self.time, loss, excess, switches: self.switches });
        let mut optimum = self.ended;
        // Most lanes have made as many plays as the one before.
        let mut latest = (0, 0.0);
        for length in lengths {
            if length != latest.0 {
                latest = (length, self.optimum_of(length)?);
            }
            optimum += latest.1;
        }
        self.optimum.push(optimum);
        Ok(())
    }

    /// The optimum of a session of this length, in excess of as many plays at mu(x*).
    fn optimum_of(&mut self, length: u64) -> Result<f64, LiveError> {
        if length == 0 {
            return Ok(0.0);
        }
        if let Some(&known) = self.by_length.get(&length) {
            return Ok(known);
        }
        let excess = self.optima.excess_at(length)?;
        self.by_length.insert(length, excess);
        Ok(excess)
    }

    /// The record of a simulation with these numbers of runs, steps and outcomes.
    pub(super) fn finish(self, runs: u64, steps: u64, counts: LaneCounts) -> LiveTrajectory {
        let trajectory = Trajectory { checkpoints: self.checkpoints, plays: self.plays, runs };
        LiveTrajectory { trajectory, optimum: self.optimum, steps, warm_up: self.warm_up, counts }
    }
}
