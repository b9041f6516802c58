//! The account of expected losses, at any horizon without loss of precision.

use serde::{Deserialize, Serialize};

use super::Trajectory;
use super::levels::Levels;
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

/// Adds up expected losses. Plays whose losses are known by level are counted in integers and multiplied only when asked
/// for, so that 10^12 of them are as exact as ten.
pub(super) struct Ledger {
    best_loss: f64,
    /// Each level's loss in excess of the best eventual loss, and how often it was played. Where a game has no levels, each
    /// arm has one, for its calibrated plays.
    excesses: Vec<f64>,
    counts: Vec<u64>,
    /// The levels of arm x are those from `starts[x]` to `starts[x + 1]`.
    starts: Vec<usize>,
    /// Plays that are not counted by level: how many of each arm, and their excess, with Neumaier's compensation.
    others: Vec<u64>,
    warming: f64,
    compensation: f64,
    time: u64,
    switches: u64,
    newest: Option<usize>,
    /// The next checkpoint.
    next: u64,
    times: Vec<u64>,
    checkpoints: Vec<Checkpoint>,
}

impl Ledger {
    pub(super) fn new(game: &Game, levels: Option<&Levels>, times: Vec<u64>) -> Self {
        let best_loss = game.best_loss();
        let excess = |loss: f64| loss - best_loss;
        let (excesses, firsts): (Vec<f64>, Vec<usize>) = match levels {
            Some(levels) => (
                levels.losses().iter().map(|&loss| excess(loss)).collect(),
                levels.arms().iter().map(|arm| arm.first).collect(),
            ),
            None => {
                (game.arms().iter().map(|arm| excess(arm.eventual_loss())).collect(), (0..game.arms().len()).collect())
            }
        };
        let mut starts = firsts;
        starts.push(excesses.len());
        Self {
            best_loss,
            counts: vec![0; excesses.len()],
            excesses,
            starts,
            others: vec![0; game.arms().len()],
            warming: 0.0,
            compensation: 0.0,
            time: 0,
            switches: 0,
            newest: None,
            next: times.first().copied().unwrap_or(u64::MAX),
            checkpoints: Vec::with_capacity(times.len()),
            times,
        }
    }

    pub(super) fn time(&self) -> u64 {
        self.time
    }

    /// The next checkpoint.
    pub(super) fn next(&self) -> u64 {
        self.next
    }

    /// Whether a loss was NaN.
    pub(super) fn is_poisoned(&self) -> bool {
        self.warming.is_nan()
    }

    #[inline(always)]
    fn chosen(&mut self, arm: usize) {
        self.switches += u64::from(self.newest.is_some_and(|newest| newest != arm));
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
        self.others[arm] += 1;
        self.time += 1;
        if self.time == self.next {
            self.record();
        }
    }

    /// This many plays of one level of an arm; checkpoints on the way are recorded as if it were one by one.
    #[inline(always)]
    pub(super) fn count(&mut self, arm: usize, level: usize, plays: u64) {
        self.chosen(arm);
        let end = self.time + plays;
        while end >= self.next {
            self.counts[level] += self.next - self.time;
            self.time = self.next;
            self.record();
        }
        self.counts[level] += end - self.time;
        self.time = end;
    }

    /// Takes what was played elsewhere up to `time`, not later than the next checkpoint: plays of each level in addition to
    /// those before, switches in all, and the newest arm.
    pub(super) fn take(&mut self, time: u64, counts: impl Iterator<Item = (usize, u64)>, switches: u64, newest: usize) {
        for (level, plays) in counts {
            self.counts[level] += plays;
        }
        (self.time, self.switches, self.newest) = (time, switches, Some(newest));
        if time == self.next {
            self.record();
        }
    }

    /// Records the checkpoint that is now.
    #[cold]
    fn record(&mut self) {
        let played = self.counts.iter().zip(&self.excesses).filter(|(plays, _)| **plays > 0);
        let counted: f64 = played.map(|(&plays, excess)| plays as f64 * excess).sum();
        let excess = self.warming + self.compensation + counted;
        let loss = self.time as f64 * self.best_loss + excess;
        self.checkpoints.push(Checkpoint { t: self.time, loss, excess, switches: self.switches });
        self.next = self.times.get(self.checkpoints.len()).copied().unwrap_or(u64::MAX);
    }

    pub(super) fn finish(self, runs: u64) -> Trajectory {
        let of_arm = |(others, levels): (u64, &[usize])| others + self.counts[levels[0]..levels[1]].iter().sum::<u64>();
        let plays = self.others.iter().copied().zip(self.starts.windows(2)).map(of_arm).collect();
        Trajectory { checkpoints: self.checkpoints, plays, runs }
    }
}
