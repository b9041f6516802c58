//! What the policies `planner` and `rotation` know of an unknown game: the losses of each cell.
//!
//! A *cell* is an arm with a tally, the number of its plays among the last M, this one included; or, for the generic
//! form of `planner`, an arm with the whole window. Tallies are counted from the plays made, so every play is a sample
//! of a known cell, also those on the way from one plan to the next.

use super::calibrated::{Calibrated, largest};
use super::history::{RestoredPlays, StateError, ensure};
use crate::Feedback;

/// The last M - 1 plays.
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(deny_unknown_fields))]
pub(super) struct RecentPlays {
    /// M - 1.
    most: usize,
    /// Fewer than `most` at the beginning.
    plays: Vec<u32>,
    /// Where the oldest play is, once there are `most`.
    oldest: usize,
}

impl RecentPlays {
    pub(super) fn new(memory: usize) -> Self {
        Self { most: memory - 1, plays: Vec::new(), oldest: 0 }
    }

    pub(super) fn push(&mut self, arm: u32) {
        if self.plays.len() < self.most {
            self.plays.push(arm);
        } else if let Some(oldest) = self.plays.get_mut(self.oldest) {
            *oldest = arm;
            self.oldest = (self.oldest + 1) % self.most;
        }
    }

    /// Plays of one arm in a row.
    pub(super) fn push_many(&mut self, arm: u32, plays: u64) {
        for _ in 0..plays.min(self.most as u64) {
            self.push(arm);
        }
    }

    /// The number of plays of an arm among the last M, if it is played next.
    pub(super) fn tally(&self, arm: u32) -> usize {
        1 + self.plays.iter().filter(|&&played| played == arm).count()
    }

    /// How many of the next `most` plays of `arm` have the same tally as the first of them.
    fn equal_tallies(&self, arm: u32, most: u64) -> u64 {
        let forgotten = |play: u64| {
            // Each play lets the oldest one fall out of the window, once there are enough.
            let index = (self.plays.len() as u64 + play).checked_sub(self.most as u64)?;
            // Beyond the plays made, plays of this arm fall out.
            let at = (self.oldest as u64 + index) % (self.most as u64).max(1);
            Some(if index < self.plays.len() as u64 { self.plays[at as usize] } else { arm })
        };
        // After as many plays the window holds nothing but this arm.
        let changes = (0..most.min(self.most as u64)).find(|&play| forgotten(play) != Some(arm));
        changes.map_or(most, |play| play + 1).min(most)
    }

    /// Whether all of the last M - 1 plays were of this arm.
    fn is_only(&self, arm: u32) -> bool {
        self.plays.len() == self.most && self.plays.iter().all(|&played| played == arm)
    }

    /// The plays as digits of a number with as many values as there are arms, the newest as the last digit.
    fn number(&self, arms: usize) -> usize {
        let (newer, older) = self.plays.split_at(self.oldest.min(self.plays.len()));
        older.iter().chain(newer).fold(0, |number, &arm| number * arms + arm as usize)
    }

    /// The arm of the last play.
    fn newest(&self) -> Option<u32> {
        if self.oldest > 0 { self.plays.get(self.oldest - 1).copied() } else { self.plays.last().copied() }
    }
}

/// Which cells there are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(deny_unknown_fields))]
pub(super) struct CellGrid {
    pub(super) arms: usize,
    /// M.
    pub(super) memory: usize,
    /// Whether a cell is an arm with the whole window, not with a tally.
    pub(super) by_window: bool,
}

impl CellGrid {
    /// The number of cells.
    pub(super) fn len(self) -> usize {
        if self.by_window { self.windows() * self.arms } else { self.arms * self.memory }
    }

    /// The number of windows of M - 1 plays.
    pub(super) fn windows(self) -> usize {
        self.arms.pow(self.memory as u32 - 1)
    }

    /// The cell of an arm at a tally.
    pub(super) fn at_tally(self, arm: u32, tally: usize) -> usize {
        arm as usize * self.memory + tally - 1
    }

    /// The cell of the next play, if it is of this arm.
    pub(super) fn cell(self, recent: &RecentPlays, arm: u32) -> usize {
        if self.by_window {
            recent.number(self.arms) * self.arms + arm as usize
        } else {
            self.at_tally(arm, recent.tally(arm))
        }
    }

    /// The arm of a cell.
    fn arm(self, cell: usize) -> usize {
        if self.by_window { cell % self.arms } else { cell / self.memory }
    }

    /// How many of the next `most` plays of `arm` are of the same cell as the first of them.
    pub(super) fn equal_cells(self, recent: &RecentPlays, arm: u32, most: u64) -> u64 {
        match self.by_window {
            false => recent.equal_tallies(arm, most),
            true if recent.is_only(arm) => most,
            true => 1,
        }
    }
}

/// The recorded losses of every cell.
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(deny_unknown_fields))]
pub(super) struct CellLosses {
    counts: Vec<u64>,
    sums: Vec<f64>,
    /// The counts when the present plan was made.
    planned: Vec<u64>,
    /// Whether all losses can have come from [0, 1].
    bounded: bool,
}

impl CellLosses {
    pub(super) fn new(grid: CellGrid) -> Self {
        let cells = grid.len();
        Self { counts: vec![0; cells], sums: vec![0.0; cells], planned: vec![0; cells], bounded: true }
    }

    /// Adds the losses of a cell; true if it has now twice as many as when the plan was made.
    pub(super) fn add(&mut self, cell: usize, feedback: Feedback) -> bool {
        self.counts[cell] = self.counts[cell].saturating_add(feedback.plays);
        self.sums[cell] += feedback.sum;
        self.bounded &= !Calibrated::leaves_unit(&feedback);
        self.until_doubled(cell) == 0
    }

    /// How many more losses of a cell make the plan due.
    pub(super) fn until_doubled(&self, cell: usize) -> u64 {
        let wanted = self.planned[cell].saturating_mul(2).max(1);
        wanted.saturating_sub(self.counts[cell])
    }

    /// Starts to count for the next plan.
    pub(super) fn plan_made(&mut self) {
        self.planned.copy_from_slice(&self.counts);
    }

    /// The least mean of each cell that its losses do not rule out at this level. It is the relative entropy bound for
    /// losses in [0, 1], and Hoeffding's for others. A cell without losses may have any mean.
    pub(super) fn lower_bounds(&self, level: f64) -> Vec<f64> {
        let bound = |(&n, &sum): (&u64, &f64)| {
            if n == 0 {
                return 0.0;
            }
            let (n, mean) = (n as f64, sum / n as f64);
            if self.bounded {
                1.0 - largest(1.0 - mean.clamp(0.0, 1.0), level / n)
            } else {
                (mean - (level / (2.0 * n)).sqrt()).clamp(0.0, 1.0)
            }
        };
        self.counts.iter().zip(&self.sums).map(bound).collect()
    }

    /// Checks a restored state.
    pub(super) fn check_restored(
        &self,
        grid: CellGrid,
        recent: &RecentPlays,
        history: &RestoredPlays<'_>,
    ) -> Result<(), StateError> {
        let cells = grid.len();
        let lengths = [self.counts.len(), self.sums.len(), self.planned.len()];
        ensure(lengths == [cells; 3], "the number of cells differs")?;
        let mut recorded = vec![0u64; grid.arms];
        for cell in 0..cells {
            let (n, sum) = (self.counts[cell], self.sums[cell]);
            ensure(n <= 1 << 53 && self.planned[cell] <= n, "the number of plays of a cell is impossible")?;
            ensure(history.allows_sum(n as f64, sum), "the sum of the losses of a cell is out of range")?;
            recorded[grid.arm(cell)] = recorded[grid.arm(cell)].saturating_add(n);
        }
        let agree = recorded.iter().enumerate().all(|(arm, &plays)| history.has_recorded(arm, plays));
        ensure(agree, "the policy and the advisor differ in the recorded plays")?;
        let RecentPlays { most, plays, oldest } = recent;
        ensure(*most == grid.memory - 1 && plays.len() <= *most, "the recent plays are more than the memory")?;
        ensure(*oldest == 0 || plays.len() == *most && oldest < most, "the oldest play is not a recent one")?;
        ensure(plays.iter().all(|&arm| (arm as usize) < grid.arms), "a recent play is of an arm that does not exist")?;
        let Some(closed) = history.closed else { return Ok(()) };
        let known = closed.known_plays();
        ensure(plays.len() as u64 == known.min(*most as u64), "the recent plays are not those of the advisor")?;
        let last = closed.last.filter(|_| *most > 0).map(|arm| arm as u32);
        ensure(recent.newest() == last, "the last play is not that of the advisor")
    }
}

#[cfg(test)]
mod tests {
    use rand::RngExt;

    use super::*;
    use crate::rng::StreamKey;

    fn recent(memory: usize, plays: &[u32]) -> RecentPlays {
        let mut recent = RecentPlays::new(memory);
        plays.iter().for_each(|&arm| recent.push(arm));
        recent
    }

    #[test]
    fn tallies_and_windows_are_those_of_the_plays() {
        for instance in 0..200 {
            let stream = &mut StreamKey::new(1, "recent", instance).game();
            let memory = stream.random_range(1..=6);
            let plays: Vec<u32> = (0..stream.random_range(0..20)).map(|_| stream.random_range(0..3)).collect();
            let recent = recent(memory, &plays);
            let last = &plays[plays.len().saturating_sub(memory - 1)..];
            for arm in 0..3 {
                assert_eq!(recent.tally(arm), 1 + last.iter().filter(|&&played| played == arm).count());
                // Play on, and count how long the cell stays the same.
                for by_window in [false, true] {
                    let grid = CellGrid { arms: 3, memory, by_window };
                    let first = grid.cell(&recent, arm);
                    assert!(first < grid.len() && grid.arm(first) == arm as usize);
                    let mut onward = recent.clone();
                    let mut equal = 0;
                    while equal < 30 && grid.cell(&onward, arm) == first {
                        equal += 1;
                        onward.push(arm);
                    }
                    // A window that is not full yet has the number of one that begins with the first arm.
                    if !by_window || last.len() == memory - 1 {
                        assert_eq!(grid.equal_cells(&recent, arm, 30), equal, "{plays:?} {memory} {arm}");
                    }
                }
            }
            assert_eq!(recent.number(3), last.iter().fold(0, |number, &arm| 3 * number + arm as usize));
            assert_eq!(recent.newest(), last.last().copied());
        }
    }

    #[test]
    fn a_plan_is_due_when_a_cell_has_doubled() {
        let grid = CellGrid { arms: 1, memory: 2, by_window: false };
        let mut losses = CellLosses::new(grid);
        let feedback = |plays| Feedback { plays, sum: 0.0, sum_sq: 0.0 };
        assert!(losses.add(1, feedback(1)));
        losses.plan_made();
        assert!(losses.add(1, feedback(1)));
        losses.plan_made();
        assert_eq!(losses.until_doubled(1), 2);
        assert!(!losses.add(1, feedback(1)));
        assert_eq!((losses.until_doubled(1), losses.until_doubled(0)), (1, 1));
        assert!(losses.add(1, feedback(1)));
    }

    #[test]
    fn lower_bounds_by_hand() {
        let grid = CellGrid { arms: 1, memory: 2, by_window: false };
        let mut losses = CellLosses::new(grid);
        losses.add(0, Feedback { plays: 10, sum: 10.0, sum_sq: 10.0 });
        // A loss of 1 at every play: q^10 = exp(-2).
        let bounds = losses.lower_bounds(2.0);
        assert!((bounds[0] - (-0.2f64).exp()).abs() < 1e-12 && bounds[1] == 0.0, "{bounds:?}");
        losses.add(1, Feedback { plays: 2, sum: 3.0, sum_sq: 5.0 });
        // Losses outside [0, 1]: 1 - sqrt(2/20), and 1.5 - sqrt(2/4).
        let bounds = losses.lower_bounds(2.0);
        assert!((bounds[0] - (1.0 - 0.1f64.sqrt())).abs() < 1e-12, "{bounds:?}");
        assert!((bounds[1] - (1.5 - 0.5f64.sqrt())).abs() < 1e-12, "{bounds:?}");
    }
}
