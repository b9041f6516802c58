//! The memories that a tallying model allows, from a log.

use std::cell::RefCell;

use calibandit::tallying::{
    CHARGE, Kernel, LOWER_CUT, MemorySet, TallyFit, TallyModel, UPPER_CUT, candidate_memories, memory_set,
    memory_set_of_arm,
};
use calibandit::{Interrupt, Interrupted};
use statrs::distribution::{ChiSquared, ContinuousCDF};

use super::cells::Cells;
use super::diagnosis::TallyingDiagnosis;
use super::game::ArmCurve;
use super::log::Log;
use super::runs::ArmRun;

/// Plays that the profile over unit weights uses at most,
const MOST_PLAYS: usize = 1_000_000;

/// and the comparison of all kernels.
const MOST_KERNEL_PLAYS: usize = 150_000;

/// Without a longest memory, no candidate is longer than this.
const MOST_MEMORY: u32 = 1024;

/// The losses of a log as a tallying model sees them.
pub(super) struct TallyInput<'a> {
    pub(super) log: &'a Log,
    pub(super) losses: &'a [f64],
    pub(super) runs: &'a [Vec<ArmRun>],
    /// The longest memory that is possible, or that the log can speak of.
    pub(super) longest: Option<u32>,
    /// Whether units begin rested.
    pub(super) starts_rested: bool,
    pub(super) tolerance: f64,
    pub(super) interrupt: Interrupt<'a>,
}

/// What a tallying model says, and the curves of its arms if the weights are equal.
type FoundTallying = (TallyingDiagnosis, Option<Vec<ArmCurve>>);

/// What a tallying model says; `None` if there are too few plays.
pub(super) fn tallying(input: &TallyInput<'_>) -> Result<Option<FoundTallying>, Interrupted> {
    let found = compared(input);
    // A comparison that was stopped has left out candidates.
    input.interrupt.check().map(|()| found)
}

fn compared(input: &TallyInput<'_>) -> Option<FoundTallying> {
    let most = input.longest.map_or(MOST_MEMORY, |longest| longest.saturating_mul(2)).clamp(4, 4 * MOST_MEMORY);
    // A memory cannot be judged from sequences of plays that are hardly longer.
    let most = most.min((input.log.plays() / 10).try_into().unwrap_or(u32::MAX)).max(2);
    let memories = candidate_memories(most);
    let few = input.part(MOST_KERNEL_PLAYS, most);
    if few.plays < 2.0 {
        return None;
    }
    let all: Vec<(Kernel, Vec<TallyFit>)> =
        Kernel::ALL.iter().map(|&kernel| (kernel, few.profile(kernel, &every_second(&memories, kernel)))).collect();
    let likeliest = all.iter().flat_map(|(_, fits)| fits).max_by(|a, b| a.explained.total_cmp(&b.explained))?;
    let variance = few.variance(likeliest);
    let dispersion = few.dispersion(&vec![likeliest; input.log.names.len()], variance);
    let noise = (variance * dispersion).max(f64::MIN_POSITIVE);
    // Kernels differ in their numbers of levels, so every value of a curve is charged.
    let worth = |fit: &TallyFit| fit.explained / noise - CHARGE * fit.blocks as f64;
    let best = |fits: &[TallyFit]| fits.iter().map(worth).fold(f64::NEG_INFINITY, f64::max);
    // Arms may have memories of their own, under any kernel.
    let arms = input.log.names.len();
    let worth_of = |fit: &TallyFit, arm: usize| fit.explained_of(arm) / noise - CHARGE * fit.blocks_of(arm) as f64;
    let apart = |fits: &[TallyFit]| -> f64 {
        (0..arms).map(|arm| fits.iter().map(|fit| worth_of(fit, arm)).fold(f64::NEG_INFINITY, f64::max)).sum()
    };
    let unit = apart(&all[0].1);
    // Unit weights, unless another kernel is significantly better.
    let chosen = all
        .iter()
        .skip(1)
        .filter(|(_, fits)| apart(fits) - unit > LOWER_CUT)
        .max_by(|a, b| apart(&a.1).total_cmp(&apart(&b.1)))
        .unwrap_or(&all[0]);
    let kernel = chosen.0;
    let (set, curves) = if kernel == Kernel::Unit && !few.whole {
        let many = input.part(MOST_PLAYS, most);
        let fits = many.profile(kernel, &memories);
        let likeliest = fits.iter().max_by(|a, b| a.explained.total_cmp(&b.explained))?;
        let noise = many.variance(likeliest) * dispersion;
        let sets = joint_set(&fits, arms, noise)?;
        (sets.joint(), Some(sets.curves(&fits, many.centre, noise)))
    } else {
        let sets = joint_set(&chosen.1, arms, noise)?;
        let curves = (kernel == Kernel::Unit).then(|| sets.curves(&chosen.1, few.centre, noise));
        (sets.joint(), curves)
    };
    let set = set?;
    let least = all.iter().map(|(_, fits)| best(fits)).fold(f64::NEG_INFINITY, f64::max);
    let allowed = |fit: &TallyFit| least - worth(fit) <= LOWER_CUT;
    let mut settled = Some(1);
    for (_, fits) in &all {
        for (place, fit) in fits.iter().enumerate().filter(|(_, fit)| allowed(fit)) {
            // The largest candidate is not excluded: what lies beyond is unknown.
            let bounded = place + 1 < fits.len();
            settled = settled.filter(|_| bounded).map(|most: u32| most.max(settles(fit, input)));
        }
    }
    let fits = joint_set(&chosen.1, arms, noise)?.fits(&chosen.1);
    let fit = few.adequacy(&fits, noise);
    let found = TallyingDiagnosis { kernel, memory: set.memory, set: (set.low, set.high), settled, dispersion, fit };
    Some((found, curves))
}

/// The memories of all arms: a common one, or one per arm.
struct ArmSets {
    /// One per arm.
    sets: Vec<MemorySet>,
}

/// The set of a common memory; if arms differ significantly, a set for each.
fn joint_set(fits: &[TallyFit], arms: usize, noise: f64) -> Option<ArmSets> {
    let noise = noise.max(f64::MIN_POSITIVE);
    let common = fits.iter().max_by(|a, b| a.explained.total_cmp(&b.explained))?;
    let gain = |arm: usize| {
        let own = fits.iter().map(|fit| fit.explained_of(arm)).fold(f64::NEG_INFINITY, f64::max);
        (own - common.explained_of(arm)) / noise
    };
    // No arm gains more from a memory of its own than a memory can by chance.
    if (0..arms).all(|arm| gain(arm) <= UPPER_CUT + 2.0 * (arms as f64).ln()) {
        return Some(ArmSets { sets: vec![memory_set(fits, noise)?; arms] });
    }
    Some(ArmSets { sets: (0..arms).map(|arm| memory_set_of_arm(fits, arm, noise)).collect::<Option<_>>()? })
}

impl ArmSets {
    /// The set of the longest memory.
    fn joint(&self) -> Option<MemorySet> {
        let memory = self.sets.iter().map(|set| set.memory).max()?;
        let low = self.sets.iter().map(|set| set.low).max()?;
        let high = self.sets.iter().map(|set| set.high).try_fold(1, |most, high| high.map(|high| most.max(high)));
        Some(MemorySet { memory, low, high })
    }

    /// The fit of each arm, with its likeliest memory.
    fn fits<'f>(&self, fits: &'f [TallyFit]) -> Vec<&'f TallyFit> {
        let of = |set: &MemorySet| fits.iter().find(|fit| fit.memory == set.memory);
        self.sets.iter().map(|set| of(set).expect("a set has the memory of a candidate")).collect()
    }

    /// The expected losses of each arm by plays in a row after a rest, with its likeliest memory.
    fn curves(&self, fits: &[TallyFit], centre: f64, noise: f64) -> Vec<ArmCurve> {
        let curve = |(arm, fit): (usize, &TallyFit)| {
            let levels = TallyModel::new(fit.kernel, fit.memory, 1).rested_levels(fit.memory);
            let loss = |&level: &usize| fit.loss(arm, level).unwrap_or(0.0) + centre;
            let error = |&level: &usize| (noise / fit.plays(arm, level).max(1.0)).sqrt();
            ArmCurve { losses: levels.iter().map(loss).collect(), errors: levels.iter().map(error).collect() }
        };
        self.fits(fits).into_iter().enumerate().map(curve).collect()
    }
}

/// Kernels with smooth weights do not need every memory.
fn every_second(memories: &[u32], kernel: Kernel) -> Vec<u32> {
    if kernel == Kernel::Unit {
        return memories.to_vec();
    }
    let mut some: Vec<u32> = memories.iter().copied().step_by(4).collect();
    some.extend(memories.last().filter(|last| some.last() != Some(last)));
    some
}

/// The plays after which the last arm has settled under a fit.
fn settles(fit: &TallyFit, input: &TallyInput<'_>) -> u32 {
    // After four times their memory, smooth kernels have less than a thousandth of their weights left, or change too
    // slowly to matter.
    let plays = fit.memory.saturating_mul(4);
    let levels = TallyModel::new(fit.kernel, fit.memory, 1).rested_levels(plays);
    let mut settled = 1;
    for arm in 0..input.log.names.len() {
        let Some(eventual) = levels.last().and_then(|&level| fit.loss(arm, level)) else { continue };
        let outside =
            |&level: &usize| fit.loss(arm, level).is_some_and(|loss| (loss - eventual).abs() > input.tolerance);
        let after = levels.iter().rposition(outside).map_or(1, |play| play as u32 + 2);
        settled = settled.max(after);
    }
    settled
}

/// The beginning of a log, with the plays whose tallies are known for every candidate.
struct LogPart<'a> {
    input: &'a TallyInput<'a>,
    /// The place after its last play.
    end: usize,
    /// Plays after a start that is not known to be rested, for which no candidate's tally is known.
    unknown: usize,
    plays: f64,
    squares: f64,
    centre: f64,
    /// Whether the part is the whole log.
    whole: bool,
}

impl<'a> TallyInput<'a> {
    fn part(&'a self, most_plays: usize, most_memory: u32) -> LogPart<'a> {
        let end = self.log.plays().min(most_plays);
        let known: Vec<f64> = self.losses[..end].iter().copied().filter(|loss| !loss.is_nan()).collect();
        let centre = known.iter().sum::<f64>() / (known.len() as f64).max(1.0);
        let mut part = LogPart {
            input: self,
            end,
            unknown: most_memory as usize,
            plays: 0.0,
            squares: 0.0,
            centre,
            whole: end == self.log.plays(),
        };
        let (mut plays, mut squares) = (0.0, 0.0);
        part.each(
            |_, deviation, _| {
                plays += 1.0;
                squares += deviation * deviation;
            },
            || {},
        );
        (part.plays, part.squares) = (plays, squares);
        part
    }
}

impl LogPart<'_> {
    /// Calls `play` with the arm, the centred loss and whether the loss counts, for each play; `rest` before each
    /// segment. Losses that do not count are those that are missing, or whose tally is not known.
    fn each_play(&self, mut play: impl FnMut(usize, usize, Option<f64>), mut rest: impl FnMut()) {
        for segment in &self.input.log.segments {
            if segment.plays.start >= self.end {
                break;
            }
            rest();
            let unknown = if segment.begins_unit && self.input.starts_rested { 0 } else { self.unknown };
            for place in segment.plays.start..segment.plays.end.min(self.end) {
                let loss = self.input.losses[place];
                let counts = !loss.is_nan() && place - segment.plays.start >= unknown;
                play(place, self.input.log.arms[place] as usize, counts.then_some(loss - self.centre));
            }
        }
    }

    /// Calls `each` with the arm, the centred loss and the place of every loss that counts.
    fn each(&self, mut each: impl FnMut(usize, f64, usize), rest: impl FnMut()) {
        self.each_play(
            |place, arm, loss| {
                if let Some(loss) = loss {
                    each(arm, loss, place);
                }
            },
            rest,
        );
    }

    fn profile(&self, kernel: Kernel, memories: &[u32]) -> Vec<TallyFit> {
        let wanted = memories.iter().take_while(|_| !self.input.interrupt.is_stopped());
        wanted.map(|&memory| self.model(kernel, memory).fit()).collect()
    }

    fn model(&self, kernel: Kernel, memory: u32) -> TallyModel {
        let model = RefCell::new(TallyModel::new(kernel, memory, self.input.log.names.len()));
        self.each_play(
            |_, arm, loss| {
                let mut model = model.borrow_mut();
                let level = model.play(arm);
                if let Some(loss) = loss {
                    model.record(arm, level, loss);
                }
            },
            || model.borrow_mut().rest(),
        );
        model.into_inner()
    }

    /// The variance of a loss around a fit.
    fn variance(&self, fit: &TallyFit) -> f64 {
        ((self.squares - fit.explained) / (self.plays - fit.blocks as f64).max(1.0)).max(0.0)
    }

    /// The residual of each loss that counts, by place, around the fit of its arm; NaN elsewhere.
    fn residuals(&self, fits: &[&TallyFit]) -> Vec<f64> {
        let mut residuals = vec![f64::NAN; self.end];
        let mut memories: Vec<u32> = fits.iter().map(|fit| fit.memory).collect();
        memories.sort_unstable();
        memories.dedup();
        for memory in memories {
            let model = RefCell::new(TallyModel::new(fits[0].kernel, memory, fits.len()));
            self.each_play(
                |place, arm, loss| {
                    let level = model.borrow_mut().play(arm);
                    if fits[arm].memory == memory
                        && let (Some(loss), Some(expected)) = (loss, fits[arm].loss(arm, level))
                    {
                        residuals[place] = loss - expected;
                    }
                },
                || model.borrow_mut().rest(),
            );
        }
        residuals
    }

    /// How much more the sums of residuals of runs vary than those of independent losses; at least 1.
    fn dispersion(&self, fits: &[&TallyFit], variance: f64) -> f64 {
        if variance == 0.0 {
            return 1.0;
        }
        let arms = &self.input.log.arms;
        let (mut squares, mut plays) = (0.0, 0.0);
        let (mut sum, mut count) = (0.0, 0.0_f64);
        let mut before: Option<usize> = None;
        let residuals = self.residuals(fits);
        for (place, &residual) in residuals.iter().enumerate().filter(|(_, residual)| !residual.is_nan()) {
            let same = before.is_some_and(|before| before + 1 == place && arms[before] == arms[place]) && count < 64.0;
            if !same {
                squares += sum * sum;
                plays += count;
                (sum, count) = (0.0, 0.0);
            }
            sum += residual;
            count += 1.0;
            before = Some(place);
        }
        ((squares + sum * sum) / ((plays + count) * variance)).max(1.0)
    }

    /// The p-value of the residuals by arm, rest and position: small if tallying does not fit. `None` if too few cells
    /// have enough losses.
    fn adequacy(&self, fits: &[&TallyFit], variance: f64) -> Option<f64> {
        if variance == 0.0 {
            return None;
        }
        let classes = Cells::below(1 << 20);
        let coarse = |value: u32| classes.of(value.clamp(1, (1 << 20) - 1)) / 4;
        let side = classes.len() / 4 + 1;
        let arms = self.input.log.names.len();
        let residual_of = self.residuals(fits);
        let mut sums = vec![(0.0_f64, 0.0_f64); arms * side * side];
        for (arm, runs) in self.input.runs.iter().enumerate() {
            for run in runs.iter().filter(|run| run.range().end <= self.end) {
                let rest = coarse(run.rest.max(1));
                for (position, place) in (1..).zip(run.range()) {
                    if !residual_of[place].is_nan() {
                        let cell = &mut sums[(arm * side + rest) * side + coarse(position)];
                        *cell = (cell.0 + 1.0, cell.1 + residual_of[place]);
                    }
                }
            }
        }
        let used: Vec<_> = sums.into_iter().filter(|cell| cell.0 >= 20.0).collect();
        // The fit uses up at most one degree of freedom per block, but hardly all of them in these cells: this errs on
        // the side of a good fit.
        let freedom = used.len() as f64 - arms as f64;
        if freedom < 3.0 {
            return None;
        }
        let statistic: f64 = used.iter().map(|(n, sum)| sum * sum / (n * variance)).sum();
        Some(ChiSquared::new(freedom).expect("degrees of freedom are positive").sf(statistic))
    }
}
