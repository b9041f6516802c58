//! Means of the last losses of each arm over windows of geometrically growing length: the state of RAW-UCB and FEWA.
//!
//! Seznec, Locatelli, Carpentier, Lazaric and Valko, "Rotting bandits are no harder than stochastic ones", AISTATS
//! 2019, <https://arxiv.org/abs/1811.11043>, the efficient form of FEWA. Window lengths are
//!
//! ```text
//! h_0 = 1,   h_(j+1) = ceil(g·h_j)
//! ```
//!
//! for a grid g. Each level j of an arm has the mean of h_j successive losses, the newest of which is at most about
//! h_j·(1 - 1/g) plays old, and a pending window, which replaces it once it has h_j losses. A pending window starts as
//! that of the level below. So K arms need O(K·log_g T) numbers after T plays, and a play costs O(log_g T).
//!
//! Pending sums are differences of the sum of all losses: only the levels whose pending window is full are touched.

use super::history::{RestoredPlays, StateError, ensure};
use super::single_plays::check_single_plays;

/// The least grid. With a smaller one the number of levels would be close to the number of plays.
pub(super) const LEAST_GRID: f64 = 1.001;
/// The greatest grid.
pub(super) const GREATEST_GRID: f64 = 1000.0;
/// Levels are examined in blocks of this size, of which most have no full window.
const BLOCK: usize = 8;

/// The lengths of windows. They follow from the grid and are not saved.
#[derive(Clone, Debug, Default)]
struct WindowLengths {
    lengths: Vec<u64>,
    /// 1 / sqrt(h).
    widths: Vec<f64>,
}

impl PartialEq for WindowLengths {
    fn eq(&self, _: &Self) -> bool {
        true
    }
}

impl WindowLengths {
    /// Makes sure that this level exists.
    fn reach(&mut self, grid: f64, level: usize) {
        while self.lengths.len() <= level {
            let next = self.lengths.last().map_or(1, |&last| (grid * last as f64).ceil() as u64);
            self.lengths.push(next);
            self.widths.push((next as f64).sqrt().recip());
        }
    }
}

/// The windows of every arm.
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(deny_unknown_fields))]
pub(super) struct RottingWindows {
    grid: f64,
    arms: Vec<ArmWindows>,
    #[cfg_attr(feature = "serde", serde(skip))]
    grown: WindowLengths,
}

/// The windows of one arm.
#[derive(Clone, Debug, Default, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(deny_unknown_fields))]
struct ArmWindows {
    plays: u64,
    /// The sum of all losses.
    total: f64,
    /// By level, the mean of the last full window.
    means: Vec<f64>,
    /// By level from 1 on, the number of plays before the pending window.
    starts: Vec<u64>,
    /// By level from 1 on, the sum of the losses before the pending window.
    bases: Vec<f64>,
    #[cfg_attr(feature = "serde", serde(skip))]
    due: DueBlocks,
}

/// By block of levels, the number of plays at which the first of its pending windows is full. It follows from the rest.
#[derive(Clone, Debug, Default)]
struct DueBlocks(Vec<u64>);

impl PartialEq for DueBlocks {
    fn eq(&self, _: &Self) -> bool {
        true
    }
}

impl RottingWindows {
    pub(super) fn new(arms: usize, grid: f64) -> Self {
        Self { grid, arms: vec![ArmWindows::default(); arms], grown: WindowLengths::default() }
    }

    pub(super) fn arms(&self) -> usize {
        self.arms.len()
    }

    pub(super) fn plays(&self, arm: usize) -> u64 {
        self.arms[arm].plays
    }

    /// By level, the mean of the last full window of this arm. Level j exists once the arm has h_j plays.
    #[inline]
    pub(super) fn means(&self, arm: usize) -> &[f64] {
        &self.arms[arm].means
    }

    /// By level, 1 / sqrt(h), at least for the levels of every arm. Call [`prepare`](Self::prepare) first.
    #[inline]
    pub(super) fn widths(&self) -> &[f64] {
        &self.grown.widths
    }

    /// Makes the lengths of all levels known, which are not part of the saved state.
    #[inline]
    pub(super) fn prepare(&mut self) {
        if self.grown.lengths.is_empty() {
            let levels = self.arms.iter().map(|arm| arm.means.len()).max().unwrap_or(0);
            self.grown.reach(self.grid, levels);
        }
    }

    /// Learns the loss of one play.
    pub(super) fn learn(&mut self, arm: usize, loss: f64) {
        self.prepare();
        let levels = self.arms[arm].means.len();
        self.grown.reach(self.grid, levels + 1);
        self.arms[arm].learn(loss, &self.grown.lengths);
    }
}

impl ArmWindows {
    fn learn(&mut self, loss: f64, lengths: &[u64]) {
        let before = (self.plays, self.total);
        self.plays += 1;
        self.total += loss;
        if self.means.is_empty() {
            self.means.push(loss);
            self.open(before);
            self.set_due(lengths);
            return;
        }
        self.means[0] = loss;
        if self.due.0.is_empty() {
            self.set_due(lengths);
        }
        // From the highest level down, so that a pending window starts from the old one of the level below.
        for block in (0..self.due.0.len()).rev() {
            if self.due.0[block] == self.plays {
                self.finish(block, before, lengths);
            }
        }
    }

    /// Replaces the means of the levels of this block whose pending window is full.
    fn finish(&mut self, block: usize, before: (u64, f64), lengths: &[u64]) {
        let levels = block * BLOCK..(block * BLOCK + BLOCK).min(self.starts.len());
        let mut opened = false;
        for pending in levels.clone().rev() {
            let length = lengths[pending + 1];
            if self.plays - self.starts[pending] < length {
                continue;
            }
            let mean = (self.total - self.bases[pending]) / length as f64;
            match self.means.get_mut(pending + 1) {
                Some(kept) => *kept = mean,
                None => {
                    self.means.push(mean);
                    self.open((self.starts[pending], self.bases[pending]));
                    opened = true;
                }
            }
            let below = if pending == 0 { before } else { (self.starts[pending - 1], self.bases[pending - 1]) };
            (self.starts[pending], self.bases[pending]) = below;
        }
        if opened {
            self.set_due(lengths);
        } else {
            let due = levels.map(|pending| self.starts[pending] + lengths[pending + 1]).min();
            self.due.0[block] = due.unwrap_or(u64::MAX);
        }
    }

    /// Opens one more level, whose pending window starts there.
    fn open(&mut self, (start, base): (u64, f64)) {
        self.starts.push(start);
        self.bases.push(base);
    }

    fn set_due(&mut self, lengths: &[u64]) {
        let blocks = self.starts.chunks(BLOCK).zip(lengths[1..].chunks(BLOCK));
        let due = |(starts, lengths): (&[u64], &[u64])| starts.iter().zip(lengths).map(|(start, h)| start + h).min();
        self.due.0 = blocks.map(|block| due(block).unwrap_or(u64::MAX)).collect();
    }

    fn check_restored(&self, lengths: &[u64], history: &RestoredPlays<'_>) -> Result<(), StateError> {
        let levels = lengths.iter().take_while(|&&length| length <= self.plays).count();
        let pending = levels;
        ensure(self.means.len() == levels, "the windows of an arm do not fit its plays")?;
        ensure(
            self.starts.len() == pending && self.bases.len() == pending,
            "the pending windows of an arm do not fit its plays",
        )?;
        ensure(history.allows_sum(self.plays as f64, self.total), "the sum of the losses of an arm is out of range")?;
        ensure(self.means.iter().all(|&mean| history.allows_mean(mean)), "the mean of a window is out of range")?;
        for (level, (&start, &base)) in self.starts.iter().zip(&self.bases).enumerate() {
            let count = self.plays.checked_sub(start);
            let fits = count.is_some_and(|count| count >= 1 && count < lengths[level + 1]);
            ensure(fits, "a pending window has the wrong length")?;
            let parts = history.allows_sum(start as f64, base)
                && history.allows_sum(count.unwrap_or(0) as f64, self.total - base);
            ensure(parts, "the sum of a pending window is out of range")?;
        }
        // The newest level is opened when all plays of the arm fill its window.
        let newest = (self.starts.last(), self.bases.last());
        ensure(newest == (None, None) || newest == (Some(&0), Some(&0.0)), "the longest pending window starts too late")
    }
}

impl RottingWindows {
    pub(super) fn check_restored(&self, history: &RestoredPlays<'_>) -> Result<(), StateError> {
        ensure(is_grid(self.grid), "the grid is out of range")?;
        let plays: Vec<u64> = self.arms.iter().map(|arm| arm.plays).collect();
        check_single_plays(history, &plays)?;
        let most = plays.iter().copied().max().unwrap_or(0);
        let mut grown = WindowLengths::default();
        grown.reach(self.grid, 1);
        while grown.lengths.last().is_some_and(|&last| last <= most) {
            grown.reach(self.grid, grown.lengths.len());
        }
        self.arms.iter().try_for_each(|arm| arm.check_restored(&grown.lengths, history))
    }
}

/// Whether this is a grid.
pub(super) fn is_grid(grid: f64) -> bool {
    (LEAST_GRID..=GREATEST_GRID).contains(&grid)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rng::StreamKey;
    use rand::RngExt;

    /// The algorithm as it is written, with pending sums that every loss is added to.
    #[derive(Default)]
    struct Literal {
        finished: Vec<f64>,
        pending: Vec<(f64, u64)>,
    }

    impl Literal {
        fn learn(&mut self, x: f64, lengths: &[u64]) {
            if self.pending.is_empty() {
                self.pending.push((x, 1));
            } else {
                self.pending[0] = (x, 1);
                for pending in &mut self.pending[1..] {
                    *pending = (pending.0 + x, pending.1 + 1);
                }
            }
            let old = self.pending.clone();
            let full: Vec<usize> = (0..old.len()).filter(|&j| old[j].1 == lengths[j]).collect();
            for &j in &full {
                self.finished.resize(self.finished.len().max(j + 1), 0.0);
                self.finished[j] = old[j].0;
            }
            if full.last() == Some(&(old.len() - 1)) {
                self.pending.push(old[old.len() - 1]);
            }
            for &j in full.iter().filter(|&&j| j >= 1) {
                self.pending[j] = old[j - 1];
            }
        }
    }

    #[test]
    fn windows_are_those_of_the_literal_algorithm() {
        let mut draws = StreamKey::new(1, "windows", 0).noise();
        for grid in [1.01, 1.1, 1.5, 2.0, 3.7] {
            let mut windows = RottingWindows::new(1, grid);
            let mut literal = Literal::default();
            for play in 1..=3000u64 {
                // Quarters, so that sums are exact.
                let loss = f64::from(draws.random_range(0..8u32)) / 4.0;
                windows.learn(0, loss);
                literal.learn(loss, &windows.grown.lengths);
                let arm = &windows.arms[0];
                let lengths = &windows.grown.lengths;
                let means: Vec<f64> = literal.finished.iter().zip(lengths).map(|(s, &h)| s / h as f64).collect();
                assert_eq!(arm.means, means, "g = {grid}, play {play}");
                let pending: Vec<_> =
                    arm.starts.iter().zip(&arm.bases).map(|(s, b)| (arm.total - b, play - s)).collect();
                assert_eq!(pending, literal.pending[1..], "g = {grid}, play {play}");
                assert_eq!(arm.means.len(), lengths.iter().filter(|&&h| h <= play).count());
            }
        }
    }

    #[test]
    fn the_lengths_of_the_grids_of_the_paper() {
        let lengths = |grid, levels: usize| {
            let mut grown = WindowLengths::default();
            grown.reach(grid, levels - 1);
            grown.lengths
        };
        assert_eq!(lengths(2.0, 6), [1, 2, 4, 8, 16, 32]);
        assert_eq!(lengths(1.1, 14), [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 13, 15, 17]);
    }

    /// A window of h_j losses ends at most h_j·(1 - 1/g) plays ago, rounded up by one for each level below.
    #[test]
    fn windows_are_recent() {
        let mut windows = RottingWindows::new(1, 2.0);
        for play in 0..5000u32 {
            windows.learn(0, f64::from(play));
            for (level, &mean) in windows.means(0).iter().enumerate() {
                let length = windows.grown.lengths[level] as f64;
                let newest = mean + (length - 1.0) / 2.0;
                assert!(f64::from(play) - newest < (length / 2.0).max(1.0), "play {play}, level {level}");
            }
        }
    }

    #[test]
    fn restored_windows_continue_bit_for_bit() {
        let mut windows = RottingWindows::new(1, 1.1);
        for play in 0..500 {
            let text = serde_json::to_string(&windows).unwrap();
            let mut restored: RottingWindows = serde_json::from_str(&text).unwrap();
            for next in play..play + 20 {
                restored.learn(0, f64::from(next).sin());
            }
            let mut continued = windows.clone();
            for next in play..play + 20 {
                continued.learn(0, f64::from(next).sin());
            }
            assert_eq!(restored, continued);
            windows.learn(0, f64::from(play).sin());
        }
    }
}
