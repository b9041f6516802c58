//! The search for the memory: losses by tally for every candidate memory, and by position in the run.
//!
//! A play costs a few integer operations per candidate. The isotonic regressions are computed at looks only. The state
//! has one ring of past plays for all candidates, because the window of a candidate is the end of the longest window.

use crate::Feedback;
use crate::policy::history::{RestoredPlays, StateError, ensure};
use crate::tallying::tally::{unit_level, unit_levels};
use crate::tallying::{Kernel, LossSum, MemorySet, TallyFit, memory_set};

/// Memories below this are all candidates.
const DENSE: u32 = 16;
/// Above, each candidate exceeds the one before by this factor.
const STEP: f64 = 1.08;

/// The candidates: every memory up to [`DENSE`], then steps of [`STEP`], and `longest` itself.
pub(super) fn candidates(longest: u32) -> Vec<u32> {
    let mut memories: Vec<u32> = (1..=longest.min(DENSE)).collect();
    let mut memory = f64::from(DENSE);
    loop {
        memory = (memory * STEP).max(memory + 1.0);
        if memory >= f64::from(longest) {
            break;
        }
        memories.push(memory as u32);
    }
    if longest > DENSE {
        memories.push(longest);
    }
    memories
}

/// Whether two sums of the same losses agree up to rounding errors; `scale` is a bound of the sum of absolute losses.
fn same_sum(one: f64, other: f64, scale: f64) -> bool {
    // Squares of tiny losses are 0, so the sums themselves count too.
    (one - other).abs() <= 1e-9 * (scale + one.abs() + other.abs())
}

/// The number of cells of losses per arm, over all candidates.
pub(super) fn cells_per_arm(longest: u32) -> usize {
    candidates(longest).into_iter().map(unit_levels).sum()
}

/// All losses of the search.
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(deny_unknown_fields))]
pub(super) struct MemorySearch {
    arms: usize,
    memories: Vec<u32>,
    /// The last plays, at most as many as the longest memory: a ring, in which `next` is the oldest once it is full.
    ring: Vec<u32>,
    next: usize,
    /// The plays of each arm in the window of each candidate, by candidate and arm.
    counts: Vec<u32>,
    /// The losses by candidate, arm and level of the tally.
    cells: Vec<LossSum>,
    /// The losses by arm and position in the run: from one candidate to before the next.
    positions: Vec<Feedback>,
    /// The plays of each arm.
    plays: Vec<u64>,
    /// The sum of all squared losses.
    sum_sq: f64,
}

impl MemorySearch {
    pub(super) fn new(longest: u32, arms: usize) -> Self {
        let memories = candidates(longest);
        let counts = vec![0; memories.len() * arms];
        let cells = vec![LossSum::default(); cells_per_arm(longest) * arms];
        let positions = vec![Feedback::default(); memories.len() * arms];
        Self { arms, memories, ring: Vec::new(), next: 0, counts, cells, positions, plays: vec![0; arms], sum_sq: 0.0 }
    }

    /// The longest candidate.
    pub(super) fn longest(&self) -> u32 {
        self.memories[self.memories.len() - 1]
    }

    /// The plays of each arm.
    pub(super) fn plays(&self) -> &[u64] {
        &self.plays
    }

    /// Records plays of `arm`, of which the first is at this position in its run, from 1. Several plays are allowed
    /// from the longest memory on, where the arm is calibrated under every candidate.
    pub(super) fn record(&mut self, arm: usize, position: u32, feedback: Feedback) {
        // From the longest memory on, all windows are of this arm already, and further plays change none.
        self.play(arm);
        let mut cells = self.cells.as_mut_slice();
        for (counts, &memory) in self.counts.chunks_exact(self.arms).zip(&self.memories) {
            let levels = unit_levels(memory);
            let (own, others) = cells.split_at_mut(levels * self.arms);
            let cell = &mut own[arm * levels + unit_level(counts[arm], memory)];
            cell.plays += feedback.plays as f64;
            cell.sum += feedback.sum;
            cells = others;
        }
        let cell = self.memories.partition_point(|&memory| memory <= position) - 1;
        self.positions[arm * self.memories.len() + cell] += feedback;
        self.plays[arm] += feedback.plays;
        self.sum_sq += feedback.sum_sq;
    }

    fn play(&mut self, arm: usize) {
        let longest = self.longest() as usize;
        for (counts, &memory) in self.counts.chunks_exact_mut(self.arms).zip(&self.memories) {
            let memory = memory as usize;
            counts[arm] += 1;
            if self.ring.len() >= memory {
                // The play that leaves the window was made `memory` plays ago.
                let at = if self.next >= memory { self.next - memory } else { self.next + self.ring.len() - memory };
                counts[self.ring[at] as usize] -= 1;
            }
        }
        if self.ring.len() < longest {
            self.ring.push(arm as u32);
            self.next = self.ring.len() % longest;
        } else {
            self.ring[self.next] = arm as u32;
            self.next = (self.next + 1) % longest;
        }
    }

    /// The memories that agree with the losses so far, and the variance of a loss around its expectation.
    pub(super) fn look(&self) -> Option<(MemorySet, f64)> {
        let mut fits = Vec::with_capacity(self.memories.len());
        let mut cells = self.cells.as_slice();
        for &memory in &self.memories {
            let levels = unit_levels(memory);
            let (own, others) = cells.split_at(levels * self.arms);
            fits.push(TallyFit::new(Kernel::Unit, memory, own, levels));
            cells = others;
        }
        let plays: u64 = self.plays.iter().sum();
        let explained = fits.iter().map(|fit| fit.explained).fold(0.0, f64::max);
        let variance = ((self.sum_sq - explained) / plays.max(1) as f64).max(0.0);
        Some((memory_set(&fits, variance)?, variance))
    }

    /// Checks a restored search: the tallies follow from the last plays, and all sums are of the same losses.
    pub(super) fn check_restored(&self, longest: u32, history: &RestoredPlays<'_>) -> Result<(), StateError> {
        let arms = history.arms;
        let lengths = self.arms == arms && self.plays.len() == arms && self.memories == candidates(longest);
        ensure(lengths, "the pilot has other arms or candidates")?;
        let sizes = [self.counts.len(), self.positions.len()] == [self.memories.len() * arms; 2];
        ensure(sizes && self.cells.len() == cells_per_arm(longest) * arms, "the pilot has too few or too many sums")?;
        self.check_tallies()?;
        let recorded = self.plays.iter().enumerate().all(|(arm, &plays)| history.has_recorded(arm, plays));
        ensure(recorded, "the pilot and the advisor differ in the recorded plays")?;
        for (cells, &plays) in self.positions.chunks(self.memories.len()).zip(&self.plays) {
            let sane = |cell: &Feedback| history.allows_sums(cell.plays as f64, cell.sum, cell.sum_sq);
            ensure(cells.iter().all(sane), "the sums of the losses of an arm are out of range")?;
            let sum = cells.iter().try_fold(0u64, |sum, cell| sum.checked_add(cell.plays));
            ensure(sum == Some(plays), "the positions and the plays of an arm differ")?;
        }
        let totals = self.calibrated(1);
        let squares: f64 = totals.iter().map(|total| total.sum_sq).sum();
        ensure(same_sum(squares, self.sum_sq, squares), "the sums of squares of the losses differ")?;
        let mut cells = self.cells.as_slice();
        for &memory in &self.memories {
            let levels = unit_levels(memory);
            for total in &totals {
                let (own, others) = cells.split_at(levels);
                cells = others;
                let sane = |cell: &LossSum| cell.plays >= 0.0 && cell.plays.fract() == 0.0;
                let allowed = |cell: &LossSum| sane(cell) && history.allows_sum(cell.plays, cell.sum);
                ensure(own.iter().all(allowed), "the sums of the losses by tally are out of range")?;
                let plays: f64 = own.iter().map(|cell| cell.plays).sum();
                let sum: f64 = own.iter().map(|cell| cell.sum).sum();
                let scale = (total.plays as f64 * total.sum_sq).sqrt();
                let same = plays == total.plays as f64 && same_sum(sum, total.sum, scale);
                ensure(same, "the sums of the losses by tally and by position differ")?;
            }
        }
        Ok(())
    }

    fn check_tallies(&self) -> Result<(), StateError> {
        let (kept, longest) = (self.ring.len(), self.longest() as usize);
        let plays = self.plays.iter().try_fold(0u64, |sum, &plays| sum.checked_add(plays));
        let length = plays.is_some_and(|plays| kept as u64 == plays.min(longest as u64));
        let next = if kept < longest { self.next == kept } else { self.next < longest };
        let known = self.ring.iter().all(|&arm| (arm as usize) < self.arms);
        ensure(length && next && known, "the last plays of the pilot are out of range")?;
        for (counts, &memory) in self.counts.chunks_exact(self.arms).zip(&self.memories) {
            let mut window = vec![0; self.arms];
            self.latest(memory as usize).for_each(|arm| window[arm] += 1);
            ensure(window == counts, "the tallies contradict the last plays")?;
        }
        Ok(())
    }

    /// The arms of the last plays, at most `plays` of them, the newest first.
    pub(super) fn latest(&self, plays: usize) -> impl Iterator<Item = usize> {
        let kept = self.ring.len();
        (1..=plays.min(kept)).map(move |age| self.ring[(self.next + kept - age) % kept] as usize)
    }

    /// The losses of each arm from this play in a row on.
    pub(super) fn calibrated(&self, memory_bound: u32) -> Vec<Feedback> {
        let after = self.memories.partition_point(|&memory| memory < memory_bound);
        let sum = |cells: &[Feedback]| {
            let mut sum = Feedback::default();
            cells[after..].iter().for_each(|&cell| sum += cell);
            sum
        };
        self.positions.chunks(self.memories.len()).map(sum).collect()
    }

    /// The arm with the least mean loss in the longest runs of all arms, or in all plays; the first one of these.
    pub(super) fn best(&self) -> usize {
        let sums = (0..self.memories.len())
            .rev()
            .map(|cell| self.calibrated(self.memories[cell]))
            .find(|sums| sums.iter().all(|sum| sum.plays > 0))
            .unwrap_or_else(|| self.calibrated(1));
        let means = sums.iter().map(|sum| if sum.plays == 0 { f64::INFINITY } else { sum.mean() });
        means.enumerate().min_by(|(_, a), (_, b)| a.total_cmp(b)).map_or(0, |(arm, _)| arm)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rand::RngExt;

    use crate::StreamKey;
    use crate::tallying::TallyModel;

    #[test]
    fn candidates_are_few_and_end_at_the_longest() {
        assert_eq!(candidates(3), [1, 2, 3]);
        assert_eq!(candidates(18), [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18]);
        for longest in [16, 17, 64, 1000, 65_536] {
            let memories = candidates(longest);
            assert!(memories.len() <= 130 && memories.is_sorted_by(|a, b| a < b), "{longest}: {memories:?}");
            assert_eq!(memories[memories.len() - 1], longest);
        }
    }

    /// Random runs, recorded one play at a time; `batched` gives the rest of a run at once from the longest memory on.
    fn recorded(longest: u32, batched: bool) -> (MemorySearch, Vec<TallyModel>) {
        let mut stream = StreamKey::new(1, "search", 0).noise();
        let mut search = MemorySearch::new(longest, 3);
        let mut models: Vec<TallyModel> =
            candidates(longest).into_iter().map(|memory| TallyModel::new(Kernel::Unit, memory, 3)).collect();
        for _ in 0..200 {
            let (arm, length) = (stream.random_range(0..3), stream.random_range(1..=2 * longest));
            let mut rest = Feedback::default();
            for position in 1..=length {
                let loss = f64::from(stream.random::<f64>() < 0.4);
                for model in &mut models {
                    let level = model.play(arm);
                    model.record(arm, level, loss);
                }
                if batched && position >= longest {
                    rest += Feedback::one(loss);
                } else {
                    search.record(arm, position, Feedback::one(loss));
                }
            }
            if rest.plays > 0 {
                search.record(arm, longest, rest);
            }
        }
        (search, models)
    }

    /// Each candidate has the losses by tally of a model that follows the plays on its own.
    #[test]
    fn losses_are_those_of_one_model_per_candidate() {
        for longest in [1, 7, 40, 300] {
            for batched in [false, true] {
                let (search, models) = recorded(longest, batched);
                let fits: Vec<TallyFit> = models.iter().map(TallyModel::fit).collect();
                let plays: f64 = search.plays.iter().sum::<u64>() as f64;
                let explained = fits.iter().map(|fit| fit.explained).fold(0.0, f64::max);
                let variance = (search.sum_sq - explained) / plays;
                let (set, own) = search.look().unwrap();
                assert_eq!(Some(set), memory_set(&fits, variance), "{longest}");
                assert!((own - variance).abs() < 1e-12);
            }
        }
    }

    #[test]
    fn calibrated_losses_are_those_from_the_memory_bound_on() {
        let mut search = MemorySearch::new(40, 2);
        for position in 1..=40 {
            search.record(1, position, Feedback::one(f64::from(position)));
        }
        let sums = search.calibrated(38);
        // 38 is between two candidates, 37 and 40.
        assert_eq!((sums[0].plays, sums[1].plays, sums[1].sum), (0, 1, 40.0));
        assert_eq!(search.calibrated(10)[1].sum, f64::from((10..=40).sum::<i32>()));
        assert_eq!(search.latest(3).collect::<Vec<_>>(), [1, 1, 1]);
    }
}
