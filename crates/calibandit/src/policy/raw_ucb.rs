//! RAW-UCB: an upper confidence bound that adapts its window, for rotting arms.
//!
//! Seznec, Ménard, Lazaric and Valko, "A single algorithm for both restless and rested rotting bandits", AISTATS 2020,
//! <https://arxiv.org/abs/2604.21432>. For losses: every arm once, then always the arm with the least
//!
//! ```text
//! index_x = max over windows h <= n_x of   mean of the last h losses of x - sqrt(2·alpha·sd²·ln(t) / h)
//! ```
//!
//! after t plays, n_x of them of arm x; the first such arm in case of a tie. If losses never fall, every window gives a
//! lower bound of the next loss, and the greatest of them is the best one.
//!
//! This is the efficient form: windows are those of a grid g (`rotting_windows.rs`), which takes O(K·log_g T) numbers
//! instead of all losses. alpha = 1.4 is that of the authors' figures; their theory has 4, which learns far more slowly
//! (docs/neighbours.md). A play costs O(K + log_g T): as ln(t) grows, the index of an arm that is not played is one
//! line mean - scale·width until another window overtakes it.

use super::error::{check, check_positive};
use super::history::{RestoredPlays, StateError, ensure};
#[cfg(feature = "schema")]
use super::rotting_windows::{GREATEST_GRID, LEAST_GRID};
use super::rotting_windows::{RottingWindows, is_grid};
use super::single_plays::{checked_spec, default_sd, ensure_positive, least, plain_params, setters, single};
use super::spec::PolicyConfig;
use super::{PolicyError, RunReason};
use crate::math;
use crate::{Feedback, GameClass, Policy, Run};

/// A confidence bound over all windows of the last losses, for arms that get worse with each play.
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(deny_unknown_fields))]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct RawUcbSpec {
    /// The constant alpha in the width sqrt(2 alpha sd^2 ln(t) / h): a larger one explores more.
    #[cfg_attr(feature = "serde", serde(default = "default_alpha"))]
    #[cfg_attr(feature = "schema", schemars(extend("exclusiveMinimum" = 0)))]
    pub alpha: f64,
    /// The sub-Gaussian scale of the losses: 1/2 for losses in [0, 1], the standard deviation for normal noise.
    #[cfg_attr(feature = "serde", serde(default = "default_sd"))]
    #[cfg_attr(feature = "schema", schemars(extend("exclusiveMinimum" = 0)))]
    pub sd: f64,
    /// The ratio of successive window lengths: a smaller one needs more numbers and is closer to all windows.
    #[cfg_attr(feature = "serde", serde(default = "default_grid"))]
    #[cfg_attr(feature = "schema", schemars(range(min = LEAST_GRID, max = GREATEST_GRID)))]
    pub grid: f64,
}

fn default_alpha() -> f64 {
    1.4
}

/// The default of `grid`, also that of FEWA.
pub(super) fn default_grid() -> f64 {
    1.1
}

setters!(RawUcbSpec: alpha, sd, grid);

checked_spec!(RawUcbParams, RawUcbSpec, RawUcb);

impl PolicyConfig for RawUcbSpec {
    const NAME: &'static str = "raw-ucb";
    const CITATION: &'static str = "Seznec, Menard, Lazaric, Valko (2020). A single algorithm for both restless and \
                                    rested rotting bandits. AISTATS 2020. arXiv:2604.21432";
    const MEANT_FOR: &'static [GameClass] = &[GameClass::Rotting];
    plain_params!(RawUcbParams, RawUcb);

    fn check(&self) -> Result<(), PolicyError> {
        check_positive(Self::NAME, "alpha", self.alpha)?;
        check_positive(Self::NAME, "sd", self.sd)?;
        check(Self::NAME, "grid", self.grid, is_grid(self.grid), "in [1.001, 1000]")
    }

    fn label(&self) -> String {
        label_with_alpha("RAW-UCB", self.alpha, default_alpha())
    }
}

/// The name of a policy, with its alpha if that is not the default.
pub(super) fn label_with_alpha(name: &str, alpha: f64, default: f64) -> String {
    if alpha == default { name.to_string() } else { format!("{name} (alpha = {alpha})") }
}

/// RAW-UCB.
///
/// ```
/// use calibandit::policy::RawUcb;
/// use calibandit::{Policy, Problem, Run};
/// let mut policy = RawUcb::new(RawUcb::builder().params(&Problem { arms: 5, horizon: None })?);
/// assert_eq!(policy.next_run(), Run { arm: 0, burn_in: 0, record: 1 });
/// # Ok::<(), calibandit::PolicyError>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(deny_unknown_fields))]
pub struct RawUcb {
    alpha: f64,
    sd: f64,
    windows: RottingWindows,
    plays: u64,
    #[cfg_attr(feature = "serde", serde(skip))]
    lines: IndexLines,
}

/// By arm, the window whose bound is the index, as long as it is. It follows from the rest of the state.
#[derive(Clone, Debug, Default)]
struct IndexLines {
    lines: Vec<IndexLine>,
}

impl PartialEq for IndexLines {
    fn eq(&self, _: &Self) -> bool {
        true
    }
}

/// The index of an arm is mean - scale·width for all scales in [the scale at which it was computed, `until`).
#[derive(Clone, Copy, Debug)]
struct IndexLine {
    mean: f64,
    width: f64,
    until: f64,
}

/// Not known: `until` is below every scale.
const UNKNOWN: IndexLine = IndexLine { mean: 0.0, width: 0.0, until: f64::NEG_INFINITY };
/// Lines that are closer to each other than this, relative to their means, are compared again.
const ROUNDING: f64 = 1e-12;

impl RawUcb {
    /// Default parameters: alpha 1.4, sd 1/2, grid 1.1. The horizon is ignored.
    pub fn builder() -> RawUcbSpec {
        RawUcbSpec { alpha: default_alpha(), sd: default_sd(), grid: default_grid() }
    }

    /// A policy ready for its first run.
    pub fn new(params: RawUcbParams) -> Self {
        let RawUcbSpec { alpha, sd, grid } = params.spec;
        let windows = RottingWindows::new(params.arms, grid);
        Self { alpha, sd, windows, plays: 0, lines: IndexLines::default() }
    }

    /// sqrt(2·alpha·sd²·ln(t)).
    fn scale(&self, plays: u64) -> f64 {
        self.sd * (2.0 * self.alpha * math::ln(plays.max(1) as f64)).sqrt()
    }

    /// The arm with the least index; before that every arm once, in order.
    fn choose(&mut self) -> usize {
        let arms = self.windows.arms();
        if self.plays < arms as u64 {
            return self.plays as usize;
        }
        self.windows.prepare();
        self.lines.lines.resize(arms, UNKNOWN);
        let scale = self.scale(self.plays);
        // Without a logarithm per arm: until the plays have grown by an eighth.
        let later = self.scale(self.plays.saturating_add(self.plays / 8 + 8));
        let mut best = (0, f64::INFINITY);
        for arm in 0..arms {
            let known = scale < self.lines.lines[arm].until;
            if !known {
                self.lines.lines[arm] = index_line(self.windows.means(arm), self.windows.widths(), scale, later);
            }
            let line = self.lines.lines[arm];
            let index = line.mean - scale * line.width;
            if index < best.1 {
                best = (arm, index);
            }
        }
        best.0
    }

    /// The index by its definition.
    fn index(&self, arm: usize) -> f64 {
        let scale = self.scale(self.plays);
        let bounds = self.windows.means(arm).iter().zip(self.windows.widths());
        bounds.map(|(mean, width)| mean - scale * width).fold(f64::NEG_INFINITY, f64::max)
    }
}

/// The window with the greatest bound at `scale`. Bounds are lines in the scale, so a line that is the greatest at two
/// scales is the greatest between them.
fn index_line(means: &[f64], widths: &[f64], scale: f64, later: f64) -> IndexLine {
    let greatest = |scale: f64| {
        let mut greatest = (0, f64::NEG_INFINITY);
        for (level, (mean, width)) in means.iter().zip(widths).enumerate() {
            let bound = mean - scale * width;
            if bound > greatest.1 {
                greatest = (level, bound);
            }
        }
        greatest.0
    };
    let (now, then) = (greatest(scale), greatest(later));
    let (mean, width) = (means[now], widths[now]);
    if now == then {
        return IndexLine { mean, width, until: later };
    }
    // The first of the longer windows that overtakes it.
    let overtakes = means.iter().zip(widths).filter(|&(_, &other)| other < width).map(|(&other_mean, &other)| {
        let room = ROUNDING * (1.0 + mean.abs() + other_mean.abs());
        (mean - other_mean - room) / (width - other)
    });
    IndexLine { mean, width, until: overtakes.fold(later, f64::min) }
}

impl Policy for RawUcb {
    fn next_run(&mut self) -> Run {
        single(self.choose())
    }

    fn observe(&mut self, run: Run, feedback: Feedback) {
        self.windows.learn(run.arm, feedback.sum);
        self.plays += 1;
        if let Some(line) = self.lines.lines.get_mut(run.arm) {
            *line = UNKNOWN;
        }
    }

    /// The arm with the least index.
    fn recommend(&self) -> usize {
        let mut windows = self.clone();
        windows.windows.prepare();
        least((0..self.windows.arms()).map(|arm| windows.index(arm)))
    }

    fn run_reason(&self, _: Run) -> RunReason {
        if self.plays < self.windows.arms() as u64 { RunReason::Opening } else { RunReason::Index }
    }

    fn check_restored(&self, history: &RestoredPlays<'_>) -> Result<(), StateError> {
        ensure_positive(&[self.alpha, self.sd], "alpha or sd is not a positive number")?;
        self.windows.check_restored(history)?;
        check_opening(&self.windows, self.plays)
    }
}

/// Checks the number of plays, and that every arm was played once before any was played again.
pub(super) fn check_opening(windows: &RottingWindows, plays: u64) -> Result<(), StateError> {
    let arms = windows.arms();
    let total = (0..arms).map(|arm| windows.plays(arm)).fold(0u64, u64::saturating_add);
    ensure(total == plays, "the plays of the arms do not add up")?;
    let start = usize::try_from(plays).map_or(arms, |plays| plays.min(arms));
    let started = (0..arms).all(|arm| (windows.plays(arm) > 0) == (arm < start));
    ensure(started, "an arm was skipped at the start")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Problem;
    use crate::rng::StreamKey;
    use rand::RngExt;

    fn policy(arms: usize, spec: RawUcbSpec) -> RawUcb {
        RawUcb::new(spec.params(&Problem { arms, horizon: None }).unwrap())
    }

    #[test]
    fn choices_agree_with_a_calculation_by_hand() {
        // 2·alpha·sd² = 2.
        let mut policy = policy(2, RawUcb::builder().alpha(1.0).sd(1.0).grid(2.0));
        let mut play = |loss| {
            let run = policy.next_run();
            policy.observe(run, Feedback::one(loss));
            run.arm
        };
        assert_eq!((play(0.9), play(0.1)), (0, 1));
        // t = 2: equal widths, the lower loss.
        assert_eq!(play(2.0), 1);
        // t = 3, sqrt(2·ln 3) = 1.482. Arm 0: 0.9 - 1.482 = -0.582. Arm 1, h = 1: 2 - 1.482 = 0.518; h = 2: 0.002.
        assert_eq!(play(0.2), 0);
        // t = 4, sqrt(2·ln 4) = 1.665. Arm 0, h = 1: -1.465; h = 2: 0.55 - 1.177 = -0.627. Arm 1: 0.335.
        assert_eq!(play(0.2), 0);
    }

    /// Rotting, constant, random and unbounded losses: the lines give what the definition gives.
    #[test]
    fn choices_are_those_of_the_definition() {
        let mut draws = StreamKey::new(1, "raw-ucb", 0).noise();
        for (case, grid) in [(0, 1.1), (1, 2.0), (2, 1.01), (3, 1.5)] {
            let mut policy = policy(4, RawUcb::builder().grid(grid));
            let mut plays = [0u32; 4];
            for choice in 0..6000 {
                let defined = if choice < 4 { choice } else { policy.recommend() };
                let run = policy.next_run();
                assert_eq!(run.arm, defined, "case {case}, choice {choice}");
                plays[run.arm] += 1;
                let uniform: f64 = draws.random();
                let loss = match case {
                    0 => f64::from(uniform < if plays[run.arm] > 300 { 0.8 } else { 0.3 }),
                    1 => 0.5,
                    2 => uniform,
                    _ => 1e6 * (uniform - 0.3),
                };
                policy.observe(run, Feedback::one(loss));
            }
        }
    }

    #[test]
    fn invalid_parameters_are_named() {
        let refused = |spec: RawUcbSpec| spec.params(&Problem { arms: 2, horizon: None }).unwrap_err().to_string();
        let text = "policy `raw-ucb`: `grid` must be in [1.001, 1000], but is 1";
        assert_eq!(refused(RawUcb::builder().grid(1.0)), text);
        assert!(refused(RawUcb::builder().alpha(f64::NAN)).contains("`alpha`"));
        assert!(refused(RawUcb::builder().sd(0.0)).contains("`sd`"));
    }
}
