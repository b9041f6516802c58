//! Which memories agree with observed losses, if losses depend on a weighted tally of recent plays.
//!
//! A candidate is a kind of weights (the [`Kernel`]) and a memory. A [`TallyModel`] follows the plays of all arms,
//! computes the tally of each play, and adds up the losses by arm and tally. The likeliest monotone loss curve of each
//! arm, increasing or decreasing, is then a weighted isotonic regression. [`memory_set`] compares the candidates: a
//! memory is excluded if its deviance exceeds the least one by more than a fixed value. A memory is a threshold, so the
//! deviance does not have the distribution of regular models; the value is that of Hansen (2000), "Sample splitting and
//! threshold estimation", Econometrica 68(3).
//!
//! The statements hold under the model: tallying, a monotone curve, and memories up to the largest candidate. No data
//! can show that an arm does not remember plays further back than the log varies (the paper's Theorem 2).

mod isotonic;
pub(crate) mod tally;

use isotonic::{MonotoneFit, monotone};
use tally::Tally;

/// The weights of past plays in a tally, up to a factor.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(rename_all = "kebab-case"))]
#[non_exhaustive]
pub enum Kernel {
    /// Each of the last m plays counts the same.
    Unit,
    /// The weights fall linearly to zero over the last m plays.
    Linear,
    /// The weights fall geometrically; that of the play m plays ago is 5 %.
    Geometric,
    /// The weights fall with the square of the age; that of the play m plays ago is 5 %.
    PowerLaw,
}

impl Kernel {
    /// All kernels, the simplest first.
    pub const ALL: [Kernel; 4] = [Kernel::Unit, Kernel::Linear, Kernel::Geometric, Kernel::PowerLaw];

    /// Its name, as in files.
    pub fn name(self) -> &'static str {
        match self {
            Kernel::Unit => "unit",
            Kernel::Linear => "linear",
            Kernel::Geometric => "geometric",
            Kernel::PowerLaw => "power-law",
        }
    }
}

/// The memories to compare: every whole number up to 32, then steps of 5 %, and `most` itself.
pub fn candidate_memories(most: u32) -> Vec<u32> {
    let mut memories: Vec<u32> = (1..=most.min(32)).collect();
    let mut memory = 32.0;
    loop {
        memory *= 1.05;
        if memory >= f64::from(most) {
            break;
        }
        memories.push(memory as u32);
    }
    if most > 32 {
        memories.push(most);
    }
    memories
}

/// One candidate: a kernel and a memory, with the losses by arm and tally.
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(deny_unknown_fields))]
pub struct TallyModel {
    kernel: Kernel,
    memory: u32,
    tally: Tally,
    /// Number and sum of losses, by arm and level.
    cells: Vec<LossSum>,
    levels: usize,
}

/// A number of losses and their sum.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct LossSum {
    /// The number of losses.
    pub plays: f64,
    /// Their sum.
    pub sum: f64,
}

impl TallyModel {
    /// A model without plays.
    ///
    /// # Panics
    /// If the memory or the number of arms is 0.
    pub fn new(kernel: Kernel, memory: u32, arms: usize) -> Self {
        assert!(memory > 0 && arms > 0, "a tally needs a memory and an arm");
        let tally = Tally::new(kernel, memory, arms);
        let levels = tally.levels();
        Self { kernel, memory, tally, cells: vec![LossSum::default(); arms * levels], levels }
    }

    /// The kernel.
    pub fn kernel(&self) -> Kernel {
        self.kernel
    }

    /// The memory.
    pub fn memory(&self) -> u32 {
        self.memory
    }

    /// Makes a play of `arm` and returns the level of its tally, from 0.
    pub fn play(&mut self, arm: usize) -> usize {
        self.tally.play(arm)
    }

    /// Records the loss of a play with this level.
    pub fn record(&mut self, arm: usize, level: usize, loss: f64) {
        let cell = &mut self.cells[arm * self.levels + level];
        cell.plays += 1.0;
        cell.sum += loss;
    }

    /// Forgets all plays, not their losses: every arm is rested, as at the beginning of another sequence of plays.
    pub fn rest(&mut self) {
        self.tally.rest();
    }

    /// The monotone curves of all arms.
    pub fn fit(&self) -> TallyFit {
        TallyFit::new(self.kernel, self.memory, &self.cells, self.levels)
    }

    /// The level of each play of a run of one arm that starts rested, up to `plays` plays.
    pub fn rested_levels(&self, plays: u32) -> Vec<usize> {
        let mut tally = Tally::new(self.kernel, self.memory, 1);
        (0..plays).map(|_| tally.play(0)).collect()
    }
}

/// The values of the best monotone curve, increasing or decreasing, through the means of these levels. Levels without
/// losses take the value of the next block below, or of the first block; `None` if there are no losses at all.
pub fn monotone_means(levels: &[LossSum]) -> Vec<Option<f64>> {
    let fit = monotone(levels);
    (0..levels.len()).map(|level| fit.value(level)).collect()
}

/// The likeliest monotone curves of a candidate.
#[derive(Clone, Debug, PartialEq)]
pub struct TallyFit {
    /// The kernel.
    pub kernel: Kernel,
    /// The memory.
    pub memory: u32,
    /// The part of the sum of squared losses that the curves explain.
    pub explained: f64,
    /// The number of different values of all curves.
    pub blocks: usize,
    arms: Vec<MonotoneFit>,
}

impl TallyFit {
    /// The number of losses whose mean is the expected loss of an arm at a level; 0 if it has no losses.
    pub fn plays(&self, arm: usize, level: usize) -> f64 {
        self.arms[arm].plays(level)
    }

    /// The number of different values of the curve of one arm.
    pub fn blocks_of(&self, arm: usize) -> usize {
        self.arms[arm].blocks.len()
    }

    /// The part of the sum of squared losses that the curve of one arm explains.
    pub fn explained_of(&self, arm: usize) -> f64 {
        self.arms[arm].explained
    }

    /// The fit of losses by arm and level.
    pub(crate) fn new(kernel: Kernel, memory: u32, cells: &[LossSum], levels: usize) -> Self {
        let arms = cells.chunks(levels).map(monotone).collect::<Vec<_>>();
        let explained = arms.iter().map(|arm| arm.explained).sum();
        let blocks = arms.iter().map(|arm| arm.blocks.len()).sum();
        Self { kernel, memory, explained, blocks, arms }
    }

    /// The expected loss of an arm at a level. Levels without losses get the value of the next block below, or of the
    /// first block.
    pub fn loss(&self, arm: usize, level: usize) -> Option<f64> {
        self.arms[arm].value(level)
    }
}

/// The upper end of a set keeps memories up to this deviance: the 95 % quantile of Hansen (2000), -2·ln(1 -
/// sqrt(0.95)).
pub const UPPER_CUT: f64 = 7.35;

/// The lower end charges this much for every value of a curve, because with long runs a longer memory contains a
/// shorter one,
pub const CHARGE: f64 = 2.0;

/// and keeps memories up to this charged deviance.
pub const LOWER_CUT: f64 = 12.0;

/// The memories that are not excluded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct MemorySet {
    /// The likeliest memory.
    pub memory: u32,
    /// The least memory that is not excluded.
    pub low: u32,
    /// The largest memory that is not excluded; `None` if the largest candidate is not.
    pub high: Option<u32>,
}

/// Compares candidates of one kernel, in increasing order of memory. `variance` is that of a loss around its
/// expectation, times the dispersion if losses of one run are alike. `None` without candidates.
///
/// All arms have the same memory. Between two candidates that were tried, the set ends at the one that is excluded.
pub fn memory_set<'a>(fits: impl IntoIterator<Item = &'a TallyFit>, variance: f64) -> Option<MemorySet> {
    set_of(
        fits.into_iter().map(|fit| CandidateMemory {
            memory: fit.memory,
            explained: fit.explained,
            blocks: fit.blocks,
        }),
        variance,
    )
}

/// [`memory_set`] for one arm alone.
pub fn memory_set_of_arm<'a>(
    fits: impl IntoIterator<Item = &'a TallyFit>,
    arm: usize,
    variance: f64,
) -> Option<MemorySet> {
    let candidate = |fit: &TallyFit| {
        let MonotoneFit { explained, blocks } = &fit.arms[arm];
        CandidateMemory { memory: fit.memory, explained: *explained, blocks: blocks.len() }
    };
    set_of(fits.into_iter().map(candidate), variance)
}

/// A memory with what its curves explain.
#[derive(Clone, Copy)]
struct CandidateMemory {
    memory: u32,
    explained: f64,
    blocks: usize,
}

fn set_of(candidates: impl Iterator<Item = CandidateMemory>, variance: f64) -> Option<MemorySet> {
    let all: Vec<CandidateMemory> = candidates.collect();
    // Losses without noise: any difference beyond rounding excludes a candidate.
    let scale = all.iter().map(|candidate| candidate.explained.abs()).fold(0.0, f64::max);
    let variance = variance.max(1e-12 * scale).max(f64::MIN_POSITIVE);
    let deviance = |candidate: &CandidateMemory| -candidate.explained / variance;
    let charged = |candidate: &CandidateMemory| deviance(candidate) + CHARGE * candidate.blocks as f64;
    let least = all.iter().map(deviance).fold(f64::INFINITY, f64::min);
    let best = all.iter().min_by(|a, b| charged(a).total_cmp(&charged(b)))?;
    let first = all.iter().position(|candidate| charged(candidate) <= charged(best) + LOWER_CUT)?;
    let last = all.iter().rposition(|candidate| deviance(candidate) <= least + UPPER_CUT)?;
    let low = first.checked_sub(1).map_or(1, |below| all[below].memory + 1);
    let high = all.get(last + 1).map(|above| above.memory - 1);
    Some(MemorySet { memory: best.memory, low, high })
}

#[cfg(test)]
mod tests {
    use super::*;
    use rand::RngExt;

    use crate::StreamKey;

    #[test]
    fn candidates_are_dense_and_end_at_the_largest() {
        assert_eq!(candidate_memories(5), [1, 2, 3, 4, 5]);
        let many = candidate_memories(1000);
        assert_eq!((many[31], many[many.len() - 1]), (32, 1000));
        assert!(many.windows(2).all(|pair| pair[0] < pair[1] && pair[1] <= pair[0] * 21 / 20 + 1));
    }

    /// 20,000 plays of four arms that switch at random: the study behind this module found the memory to one play.
    #[test]
    fn the_memory_of_randomly_switching_arms_is_found() {
        for (case, truth) in [3_usize, 8, 20].into_iter().enumerate() {
            let mut stream = StreamKey::new(5, "tallying", case as u64).noise();
            let mut models: Vec<_> =
                candidate_memories(64).into_iter().map(|m| TallyModel::new(Kernel::Unit, m, 4)).collect();
            let (mut plays, mut squares) = (Vec::<usize>::new(), 0.0);
            let mut arm = 0;
            for _ in 0..20_000 {
                if stream.random::<f64>() < 0.1 {
                    arm = (stream.random::<f64>() * 4.0) as usize;
                }
                plays.push(arm);
                let tally = plays.iter().rev().take(truth).filter(|&&played| played == arm).count();
                let mean = 0.8 - 0.6 * tally as f64 / truth as f64;
                let loss = f64::from(stream.random::<f64>() < mean);
                squares += loss * loss;
                for model in &mut models {
                    let level = model.play(arm);
                    model.record(arm, level, loss);
                }
            }
            let fits: Vec<_> = models.iter().map(TallyModel::fit).collect();
            let explained = fits.iter().map(|fit| fit.explained).fold(0.0, f64::max);
            let set = memory_set(&fits, (squares - explained) / 20_000.0).unwrap();
            let truth = truth as u32;
            assert!(set.memory.abs_diff(truth) <= 1, "{truth}: {set:?}");
            assert!(set.low <= truth && set.high.is_some_and(|high| high >= truth), "{truth}: {set:?}");
        }
    }

    #[test]
    fn losses_that_never_change_exclude_nothing() {
        let mut models: Vec<_> = [1, 2, 4].map(|m| TallyModel::new(Kernel::Unit, m, 2)).into();
        for play in 0..50 {
            for model in &mut models {
                let level = model.play(play % 2);
                model.record(play % 2, level, 0.5);
            }
        }
        let fits: Vec<_> = models.iter().map(TallyModel::fit).collect();
        assert_eq!(memory_set(&fits, 0.0), Some(MemorySet { memory: 1, low: 1, high: None }));
        assert_eq!(memory_set([], 1.0), None);
    }
}
