//! Plans of pilots: which arms to play, and for how many plays in a row, so that the log answers which memory bound is
//! enough.
//!
//! A log of a good policy hardly ever has long runs after long rests, so it says little about the memory. A pilot is a
//! short log that was planned for this question. There are two designs, for two beliefs ([`PilotDesign`]). A plan
//! depends on no loss; the policy `pilot` is the adaptive form of the first design.
//!
//! The sizes are measured, not proven: docs/memory.md has the fraction of simulated pilots that gave a usable bound.

use rand::RngExt;
use rand::seq::SliceRandom;

use crate::math;
use crate::{Problem, Stream, StreamKey};

/// How a pilot plays, and what its answer assumes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(rename_all = "kebab-case"))]
#[non_exhaustive]
pub enum PilotDesign {
    /// Arms in random order, in runs of log-uniform length from 1 to twice the longest memory. The answer assumes
    /// tallying with a monotone curve; it needs few plays.
    Tallying,
    /// Blocks of one and a half times the longest memory, each after a rest at least as long. The answer assumes
    /// nothing but that no memory is longer.
    Blocks,
}

/// Plays of an arm per `(sd / drop)²`, for [`PilotDesign::Tallying`]. Chosen by simulation.
const TALLYING_PLAYS: f64 = 800.0;
/// The same design plays each arm at least this many times the longest memory.
const TALLYING_LENGTHS: f64 = 10.0;
/// Plays of an arm per `(sd / tolerance)²`, for [`PilotDesign::Blocks`]. Chosen by simulation.
const BLOCKS_PLAYS: f64 = 225.0;
/// The same design plays each arm in at least this many blocks.
const BLOCKS_RUNS: f64 = 20.0;

impl PilotDesign {
    /// Its name, as in files.
    pub fn name(self) -> &'static str {
        match self {
            PilotDesign::Tallying => "tallying",
            PilotDesign::Blocks => "blocks",
        }
    }

    /// The number of plays of each arm that the design needs, as a real number. Blocks are rounded up to whole blocks.
    ///
    /// `sd` is the standard deviation of a single loss. `difference` is the smallest warm-up worth finding (the drop of
    /// the loss, for `Tallying`), or the difference that does not matter (the tolerance, for `Blocks`).
    ///
    /// ```
    /// use calibandit::PilotDesign;
    /// assert_eq!(PilotDesign::Tallying.plays_per_arm(64, 0.5, 0.25), 3200.0);
    /// assert_eq!(PilotDesign::Blocks.plays_per_arm(64, 0.5, 0.1), 5664.0); // 225·25 plays, in 59 blocks of 96
    /// ```
    pub fn plays_per_arm(self, longest: u32, sd: f64, difference: f64) -> f64 {
        let ratio = sd / difference;
        match self {
            PilotDesign::Tallying => (TALLYING_PLAYS * ratio * ratio).max(TALLYING_LENGTHS * f64::from(longest)).ceil(),
            PilotDesign::Blocks => {
                let block = f64::from(block_length(longest));
                (BLOCKS_PLAYS * ratio * ratio / block).ceil().max(BLOCKS_RUNS) * block
            }
        }
    }
}

/// One and a half times the longest memory, rounded up.
fn block_length(longest: u32) -> u32 {
    longest.saturating_add(longest.div_ceil(2))
}

/// A length from 1 to 2·`longest`: the whole part of a log-uniform number.
pub(crate) fn log_uniform_length(longest: u32, stream: &mut Stream) -> u32 {
    let most = 2.0 * f64::from(longest);
    let length = math::exp(stream.random::<f64>() * math::ln(most + 1.0));
    length.floor().clamp(1.0, most) as u32
}

/// Plays of one arm in a row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(deny_unknown_fields))]
pub struct PlannedRun {
    /// The arm to play.
    pub arm: usize,
    /// How many times in a row.
    pub plays: u32,
}

/// A pilot: the runs to play, in this order, and the losses to log.
///
/// ```
/// use calibandit::{PilotDesign, PilotPlan};
/// // Three arms that remember at most 16 plays. Losses of 0 and 1 have a standard deviation of at most 0.5.
/// let plan = PilotPlan::new(PilotDesign::Tallying, 3, 16, 0.5, 0.2, 1)?;
/// assert_eq!((plan.plays_per_arm, plan.plays), (5000, 15000));
/// assert!(plan.runs.iter().all(|run| run.arm < 3 && run.plays >= 1));
/// # Ok::<(), calibandit::PilotPlanError>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(deny_unknown_fields))]
#[non_exhaustive]
pub struct PilotPlan {
    /// How the pilot plays.
    pub design: PilotDesign,
    /// The longest memory considered possible.
    pub longest: u32,
    /// The standard deviation of a single loss that the size assumes.
    pub sd: f64,
    /// The smallest warm-up worth finding, or the difference that does not matter.
    pub difference: f64,
    /// The seed of the order of the runs.
    pub seed: u64,
    /// The number of plays of each arm.
    pub plays_per_arm: u64,
    /// The number of plays of all arms.
    pub plays: u64,
    /// The runs. Neighbours are of different arms, so that each run is a run of the log.
    pub runs: Vec<PlannedRun>,
}

/// Why there is no such plan.
#[derive(Clone, Copy, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum PilotPlanError {
    /// Fewer than two arms.
    #[error("a pilot needs at least two arms, because an arm rests only while another one is played, but got {arms}")]
    TooFewArms {
        /// The number given.
        arms: usize,
    },
    /// A parameter is out of range.
    #[error("`{parameter}` of a pilot must be {expected}, but is {value}")]
    Parameter {
        /// Its name: `longest`, `sd`, `drop` or `tolerance`.
        parameter: &'static str,
        /// The value given.
        value: f64,
        /// The values that are allowed.
        expected: &'static str,
    },
    /// The plan would be too long.
    #[error(
        "the pilot would need {plays:e} plays, more than {}: name fewer arms, a shorter longest memory, or a larger \
         difference worth finding",
        PilotPlan::MOST_PLAYS
    )]
    TooLong {
        /// The plays that it would need.
        plays: f64,
    },
}

impl PilotPlan {
    /// The most plays of a plan.
    pub const MOST_PLAYS: u64 = 100_000_000;

    /// The longest memory that a plan can look for.
    pub const MOST_LONGEST: u32 = 1 << 20;

    /// The standard deviation to assume if nothing is known about losses in [0, 1]: none is larger.
    pub const DEFAULT_SD: f64 = 0.5;

    /// The smallest warm-up worth finding, or the tolerance, if nothing else is said about losses in [0, 1].
    pub const DEFAULT_DIFFERENCE: f64 = 0.1;

    /// A plan for this number of arms.
    ///
    /// `sd` is the standard deviation of a single loss, `difference` the smallest warm-up worth finding (for
    /// [`PilotDesign::Tallying`]) or the difference that does not matter (for [`PilotDesign::Blocks`]). The seed fixes
    /// the random order of the runs.
    pub fn new(
        design: PilotDesign,
        arms: usize,
        longest: u32,
        sd: f64,
        difference: f64,
        seed: u64,
    ) -> Result<Self, PilotPlanError> {
        if arms < 2 {
            return Err(PilotPlanError::TooFewArms { arms });
        }
        let check = |parameter, value: f64, fine: bool, expected| {
            if fine { Ok(()) } else { Err(PilotPlanError::Parameter { parameter, value, expected }) }
        };
        let possible = (1..=Self::MOST_LONGEST).contains(&longest);
        check("longest", f64::from(longest), possible, "an integer from 1 to 2^20")?;
        let name = if design == PilotDesign::Tallying { "drop" } else { "tolerance" };
        for (parameter, value) in [("sd", sd), (name, difference)] {
            check(parameter, value, value > 0.0 && value.is_finite(), "a positive number")?;
        }
        let plays_per_arm = design.plays_per_arm(longest, sd, difference);
        let plays = plays_per_arm * arms as f64;
        if plays > Self::MOST_PLAYS as f64 || arms > Problem::MOST_ARMS {
            return Err(PilotPlanError::TooLong { plays });
        }
        let (plays_per_arm, plays) = (plays_per_arm as u64, plays as u64);
        let mut stream = StreamKey::new(seed, "pilot", 0).policy();
        let runs = match design {
            PilotDesign::Tallying => log_uniform_runs(arms, longest, plays_per_arm, &mut stream),
            PilotDesign::Blocks => blocks(arms, longest, plays_per_arm, &mut stream),
        };
        Ok(Self { design, longest, sd, difference, seed, plays_per_arm, plays, runs })
    }

    /// What the log of this pilot can answer, and under which assumption, as sentences.
    pub fn answers(&self) -> String {
        let Self { longest, difference, .. } = self;
        match self.design {
            PilotDesign::Tallying => format!(
                "If losses depend on how many of the last plays were of the same arm, rise or fall with that number, \
                 and no arm remembers more than {longest} plays, then the log shows the memory of arms whose loss \
                 changes by {difference} or more while they warm up."
            ),
            PilotDesign::Blocks => format!(
                "If no arm remembers more than {longest} plays, then the log shows after how many plays in a row the \
                 loss of each arm stays within {difference} of its eventual loss. Nothing else is assumed."
            ),
        }
    }
}

/// Runs of log-uniform length with the same number of plays of each arm, in random order.
fn log_uniform_runs(arms: usize, longest: u32, plays_per_arm: u64, stream: &mut Stream) -> Vec<PlannedRun> {
    let mut order = Vec::new();
    for arm in 0..arms {
        let mut left = plays_per_arm;
        while left > 0 {
            let plays = u64::from(log_uniform_length(longest, stream)).min(left) as u32;
            order.push(PlannedRun { arm, plays });
            left -= u64::from(plays);
        }
    }
    order.shuffle(stream);
    separated(order)
}

/// Blocks of equal length, in rounds: every arm once per round, in random order.
fn blocks(arms: usize, longest: u32, plays_per_arm: u64, stream: &mut Stream) -> Vec<PlannedRun> {
    let plays = block_length(longest);
    let mut runs: Vec<PlannedRun> = Vec::new();
    let mut round: Vec<usize> = (0..arms).collect();
    for _ in 0..plays_per_arm / u64::from(plays) {
        round.shuffle(stream);
        if runs.last().is_some_and(|run| run.arm == round[0]) {
            let other = stream.random_range(1..arms);
            round.swap(0, other);
        }
        runs.extend(round.iter().map(|&arm| PlannedRun { arm, plays }));
    }
    runs
}

/// The same runs, so that neighbours are of different arms: a run that would follow one of its own arm waits for the
/// next run of another arm. Those that are left at the end continue the last run.
fn separated(order: Vec<PlannedRun>) -> Vec<PlannedRun> {
    let mut runs: Vec<PlannedRun> = Vec::with_capacity(order.len());
    // All runs that wait are of the arm played last.
    let mut waiting: Vec<PlannedRun> = Vec::new();
    for run in order {
        if runs.last().is_some_and(|last| last.arm == run.arm) {
            waiting.push(run);
            continue;
        }
        runs.push(run);
        runs.extend(waiting.pop());
    }
    if let Some(last) = runs.last_mut() {
        last.plays += waiting.iter().map(|run| run.plays).sum::<u32>();
    }
    runs
}

#[cfg(test)]
mod tests {
    use super::*;

    fn plan(design: PilotDesign, arms: usize, longest: u32, seed: u64) -> PilotPlan {
        PilotPlan::new(design, arms, longest, 0.5, 0.25, seed).unwrap()
    }

    #[test]
    fn every_arm_gets_the_same_plays_in_separate_runs() {
        for design in [PilotDesign::Tallying, PilotDesign::Blocks] {
            for (arms, longest) in [(2, 1), (2, 64), (3, 7), (7, 33), (40, 2)] {
                let plan = plan(design, arms, longest, 3);
                let mut plays = vec![0; arms];
                plan.runs.iter().for_each(|run| plays[run.arm] += u64::from(run.plays));
                assert_eq!(plays, vec![plan.plays_per_arm; arms], "{design:?} {arms} {longest}");
                assert_eq!(plan.plays, plan.plays_per_arm * arms as u64);
                assert!(plan.runs.windows(2).all(|pair| pair[0].arm != pair[1].arm));
                assert!(plan.runs.iter().all(|run| run.plays >= 1));
            }
        }
    }

    /// Every block must begin after a rest of at least the longest memory: that is what makes its first plays cold.
    #[test]
    fn blocks_are_longer_than_the_longest_memory_and_begin_rested() {
        for (arms, longest) in [(2, 1), (2, 5), (5, 64)] {
            let plan = plan(PilotDesign::Blocks, arms, longest, 1);
            let mut last_end = vec![None; arms];
            let mut time = 0;
            for run in &plan.runs {
                assert!(f64::from(run.plays) >= 1.5 * f64::from(longest));
                assert!(last_end[run.arm].is_none_or(|end: u64| time - end >= u64::from(longest)));
                time += u64::from(run.plays);
                last_end[run.arm] = Some(time);
            }
            assert!(plan.runs.len() >= 20 * arms);
        }
    }

    #[test]
    fn sizes_are_those_of_the_formulas() {
        let size = PilotDesign::plays_per_arm;
        assert_eq!(size(PilotDesign::Tallying, 64, 0.1, 0.2), 640.0, "ten times the longest memory");
        assert_eq!(size(PilotDesign::Tallying, 64, 0.5, 0.1), 20_000.0);
        assert_eq!(size(PilotDesign::Blocks, 64, 0.1, 0.2), 1920.0, "20 blocks of 96");
        assert_eq!(size(PilotDesign::Blocks, 3, 0.5, 0.1), 5625.0, "1125 blocks of 5");
    }

    /// The logarithms of lengths are uniform up to rounding: each doubling has the same share of runs.
    #[test]
    fn lengths_are_log_uniform() {
        let mut stream = StreamKey::new(1, "lengths", 0).noise();
        let mut counts = [0_u32; 65];
        let draws = 200_000;
        for _ in 0..draws {
            counts[log_uniform_length(32, &mut stream) as usize] += 1;
        }
        assert_eq!(counts[0], 0);
        for length in 1..=64_u32 {
            let share = (f64::from(length + 1) / f64::from(length)).ln() / 65_f64.ln();
            let expected = share * f64::from(draws);
            let count = f64::from(counts[length as usize]);
            assert!((count - expected).abs() < 5.0 * expected.sqrt(), "{length}: {count} {expected}");
        }
    }

    #[test]
    fn a_seed_fixes_the_order() {
        let one = plan(PilotDesign::Tallying, 3, 8, 1);
        assert_eq!(one, plan(PilotDesign::Tallying, 3, 8, 1));
        assert_ne!(one.runs, plan(PilotDesign::Tallying, 3, 8, 2).runs);
    }

    #[test]
    fn impossible_plans_are_refused_with_field_and_value() {
        let refused = |arms, longest, sd, difference| {
            PilotPlan::new(PilotDesign::Blocks, arms, longest, sd, difference, 1).unwrap_err().to_string()
        };
        assert!(refused(1, 8, 0.5, 0.1).contains("at least two arms"));
        let longest = "`longest` of a pilot must be an integer from 1 to 2^20, but is 0";
        assert_eq!(refused(2, 0, 0.5, 0.1), longest);
        assert!(refused(2, u32::MAX, 0.5, 0.1).starts_with("`longest`"));
        assert_eq!(refused(2, 8, f64::NAN, 0.1), "`sd` of a pilot must be a positive number, but is NaN");
        assert_eq!(refused(2, 8, 0.5, 0.0), "`tolerance` of a pilot must be a positive number, but is 0");
        assert!(refused(2, 8, 0.5, 1e-6).contains("more than 100000000"));
        assert!(refused(2, 8, 1e300, 1e-300).contains("more than 100000000"));
        assert!(refused(usize::MAX, 8, 0.5, 0.1).contains("more than"));
    }

    #[test]
    fn plans_are_plain_data() {
        let plan = plan(PilotDesign::Tallying, 2, 4, 9);
        let text = serde_json::to_string(&plan).unwrap();
        assert_eq!(serde_json::from_str::<PilotPlan>(&text).unwrap(), plan);
        assert!(text.starts_with(r#"{"design":"tallying","longest":4,"#), "{text}");
    }
}
