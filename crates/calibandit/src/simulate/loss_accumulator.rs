//! Sums of expected losses, exact to the last digits at any horizon, and their record at the checkpoints.

use super::Trajectory;
use super::loss_table::LossTable;
use crate::Game;

/// The state of a trajectory at one time.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Checkpoint {
    /// The number of plays made.
    pub t: u64,
    /// Their expected loss.
    pub loss: f64,
    /// Their expected loss in excess of `t` plays at the least eventual loss mu(x*). It is kept beside `loss` because
    /// the difference of two losses has few correct digits at large times.
    pub excess: f64,
    /// How often the arm changed from one play to the next.
    pub switches: u64,
}

/// Adds up expected losses. Plays that are counted by row of the loss table are kept as integers and multiplied by
/// their loss only at checkpoints, so that the sum of 10^12 of them is as exact as the sum of ten.
pub(super) struct LossAccumulator {
    best_loss: f64,
    /// Per row, the loss in excess of the best eventual loss, and the number of plays. If plays are not counted by row,
    /// there is one row per arm, for its calibrated plays.
    excesses: Vec<f64>,
    counts: Vec<u64>,
    /// The rows of arm x are those from `starts[x]` to `starts[x + 1]`.
    starts: Vec<usize>,
    /// Plays that are not counted by row: their number per arm, and their excess with Neumaier's compensation.
    others: Vec<u64>,
    sum: f64,
    compensation: f64,
    time: u64,
    switches: u64,
    newest: Option<usize>,
    /// The next checkpoint; `u64::MAX` after the last.
    next: u64,
    times: Vec<u64>,
    checkpoints: Vec<Checkpoint>,
}

impl LossAccumulator {
    pub(super) fn new(game: &Game, table: Option<&LossTable>, times: Vec<u64>) -> Self {
        let best_loss = game.best_loss();
        let excess = |loss: f64| loss - best_loss;
        let (excesses, firsts): (Vec<f64>, Vec<usize>) = match table {
            Some(table) => (
                table.losses().iter().map(|&loss| excess(loss)).collect(),
                table.arms().iter().map(|arm| arm.first).collect(),
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
            sum: 0.0,
            compensation: 0.0,
            time: 0,
            switches: 0,
            newest: None,
            next: times.first().copied().unwrap_or(u64::MAX),
            checkpoints: Vec::with_capacity(times.len()),
            times,
        }
    }

    /// Whether a loss was NaN.
    pub(super) fn has_nan(&self) -> bool {
        self.sum.is_nan()
    }

    #[inline(always)]
    fn count_switch(&mut self, arm: usize) {
        self.switches += u64::from(self.newest.is_some_and(|newest| newest != arm));
        self.newest = Some(arm);
    }

    /// Adds to the sum, keeping what rounding loses.
    #[inline(always)]
    fn add(&mut self, excess: f64) {
        let sum = self.sum + excess;
        self.compensation +=
            if self.sum.abs() >= excess.abs() { (self.sum - sum) + excess } else { (excess - sum) + self.sum };
        self.sum = sum;
    }

    /// Adds one play with this expected loss.
    pub(super) fn add_one(&mut self, arm: usize, loss: f64) {
        self.count_switch(arm);
        self.add(loss - self.best_loss);
        self.others[arm] += 1;
        self.time += 1;
        if self.time == self.next {
            self.record();
        }
    }

    /// Adds this many plays of an arm that all have this expected loss. Checkpoints on the way are recorded.
    pub(super) fn add_many(&mut self, arm: usize, loss: f64, plays: u64) {
        self.count_switch(arm);
        self.others[arm] += plays;
        let excess = loss - self.best_loss;
        let end = self.time + plays;
        while end >= self.next {
            self.add((self.next - self.time) as f64 * excess);
            self.time = self.next;
            self.record();
        }
        if end > self.time {
            self.add((end - self.time) as f64 * excess);
            self.time = end;
        }
    }

    /// Counts this many plays of one row of an arm. Checkpoints on the way are recorded as if the plays were added one
    /// by one.
    #[inline(always)]
    pub(super) fn count(&mut self, arm: usize, row: usize, plays: u64) {
        self.count_switch(arm);
        let end = self.time + plays;
        while end >= self.next {
            self.counts[row] += self.next - self.time;
            self.time = self.next;
            self.record();
        }
        self.counts[row] += end - self.time;
        self.time = end;
    }

    /// Records the checkpoint at the present time.
    #[cold]
    fn record(&mut self) {
        let played = self.counts.iter().zip(&self.excesses).filter(|(plays, _)| **plays > 0);
        let counted: f64 = played.map(|(&plays, excess)| plays as f64 * excess).sum();
        let excess = self.sum + self.compensation + counted;
        let loss = self.time as f64 * self.best_loss + excess;
        self.checkpoints.push(Checkpoint { t: self.time, loss, excess, switches: self.switches });
        self.next = self.times.get(self.checkpoints.len()).copied().unwrap_or(u64::MAX);
    }

    pub(super) fn finish(self, runs: u64) -> Trajectory {
        let of_arm = |(others, rows): (u64, &[usize])| others + self.counts[rows[0]..rows[1]].iter().sum::<u64>();
        let plays = self.others.iter().copied().zip(self.starts.windows(2)).map(of_arm).collect();
        Trajectory { checkpoints: self.checkpoints, plays, runs }
    }
}

/// For plays that are counted elsewhere, in the lanes of vectors.
#[cfg(feature = "simd")]
impl LossAccumulator {
    pub(super) fn time(&self) -> u64 {
        self.time
    }

    /// The next checkpoint; `u64::MAX` after the last.
    pub(super) fn next(&self) -> u64 {
        self.next
    }

    /// Adds the plays made elsewhere up to `time`, which is not later than the next checkpoint: new plays per row, the
    /// total number of switches, and the newest arm.
    pub(super) fn merge(
        &mut self,
        time: u64,
        counts: impl Iterator<Item = (usize, u64)>,
        switches: u64,
        newest: usize,
    ) {
        for (row, plays) in counts {
            self.counts[row] += plays;
        }
        (self.time, self.switches, self.newest) = (time, switches, Some(newest));
        if time == self.next {
            self.record();
        }
    }
}
