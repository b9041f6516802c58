//! FEWA: filtering by expanding window averages, for rotting arms.
//!
//! Seznec, Locatelli, Carpentier, Lazaric and Valko, "Rotting bandits are no harder than stochastic ones", AISTATS
//! 2019, <https://arxiv.org/abs/1811.11043>. For losses, after t plays:
//!
//! ```text
//! A = all arms
//! for h = h_0, h_1, ...:
//!     if some arm of A has fewer than h plays: play the least played of those
//!     keep in A the arms whose mean of the last h losses is at most the least one + 2·sqrt(2·alpha·sd²·ln(t) / h)
//!     if one arm is left: play it
//! ```
//!
//! In case of a tie, the first arm. This is the efficient form: h runs over the windows of a grid
//! (`rotting_windows.rs`), which takes O(K·log_g T) numbers and as much time per play. alpha = 0.06 is that of all the
//! authors' figures; their theory has 4, with which nothing is learnt in their first figure (docs/neighbours.md).

use super::error::{check, check_positive};
use super::history::{RestoredPlays, StateError};
use super::raw_ucb::{default_grid, label_with_alpha};
#[cfg(feature = "schema")]
use super::rotting_windows::{GREATEST_GRID, LEAST_GRID};
use super::rotting_windows::{RottingWindows, is_grid};
use super::single_plays::{checked_spec, default_sd, ensure_positive, plain_params, setters, single};
use super::spec::PolicyConfig;
use super::{PolicyError, RunReason};
use crate::math;
use crate::{Feedback, GameClass, Policy, Run};

/// Arms are filtered by the means of longer and longer windows, for arms that get worse with each play.
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(deny_unknown_fields))]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct FewaSpec {
    /// The constant alpha in the width 2 sqrt(2 alpha sd^2 ln(t) / h): a larger one explores more.
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
    0.06
}

setters!(FewaSpec: alpha, sd, grid);

checked_spec!(FewaParams, FewaSpec, Fewa);

impl PolicyConfig for FewaSpec {
    const NAME: &'static str = "fewa";
    const CITATION: &'static str = "Seznec, Locatelli, Carpentier, Lazaric, Valko (2019). Rotting bandits are no \
                                    harder than stochastic ones. AISTATS 2019. arXiv:1811.11043";
    const MEANT_FOR: &'static [GameClass] = &[GameClass::Rotting];
    plain_params!(FewaParams, Fewa);

    fn check(&self) -> Result<(), PolicyError> {
        check_positive(Self::NAME, "alpha", self.alpha)?;
        check_positive(Self::NAME, "sd", self.sd)?;
        check(Self::NAME, "grid", self.grid, is_grid(self.grid), "in [1.001, 1000]")
    }

    fn label(&self) -> String {
        label_with_alpha("FEWA", self.alpha, default_alpha())
    }
}

/// FEWA.
///
/// ```
/// use calibandit::policy::Fewa;
/// use calibandit::{Policy, Problem, Run};
/// let mut policy = Fewa::new(Fewa::builder().params(&Problem { arms: 5, horizon: None })?);
/// assert_eq!(policy.next_run(), Run { arm: 0, burn_in: 0, record: 1 });
/// # Ok::<(), calibandit::PolicyError>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(deny_unknown_fields))]
pub struct Fewa {
    alpha: f64,
    sd: f64,
    windows: RottingWindows,
    plays: u64,
}

impl Fewa {
    /// Default parameters: alpha 0.06, sd 1/2, grid 1.1. The horizon is ignored.
    pub fn builder() -> FewaSpec {
        FewaSpec { alpha: default_alpha(), sd: default_sd(), grid: default_grid() }
    }

    /// A policy ready for its first run.
    pub fn new(params: FewaParams) -> Self {
        let FewaSpec { alpha, sd, grid } = params.spec;
        Self { alpha, sd, windows: RottingWindows::new(params.arms, grid), plays: 0 }
    }

    /// The arm that passes all filters, or that has too few plays for the next one. `widths` are 1 / sqrt(h).
    fn choose(&self, widths: &[f64]) -> usize {
        let scale = 2.0 * self.sd * (2.0 * self.alpha * math::ln(self.plays.max(1) as f64)).sqrt();
        let mut left: Vec<usize> = (0..self.windows.arms()).collect();
        for (level, width) in widths.iter().enumerate() {
            let means = |arm: usize| self.windows.means(arm);
            // An arm has fewer than h plays if and only if it has no mean at this level.
            let short = left.iter().copied().filter(|&arm| means(arm).len() <= level);
            if let Some(arm) = short.min_by_key(|&arm| (self.windows.plays(arm), arm)) {
                return arm;
            }
            let least = left.iter().map(|&arm| means(arm)[level]).fold(f64::INFINITY, f64::min);
            let bound = least + scale * width;
            // Written so that the arm with the least mean stays, also if the bound is not a number.
            left.retain(|&arm| means(arm)[level] <= bound || means(arm)[level] == least);
            if left.len() <= 1 {
                break;
            }
        }
        left.first().copied().unwrap_or(0)
    }
}

impl Policy for Fewa {
    fn next_run(&mut self) -> Run {
        self.windows.prepare();
        single(self.choose(self.windows.widths()))
    }

    fn observe(&mut self, run: Run, feedback: Feedback) {
        self.windows.learn(run.arm, feedback.sum);
        self.plays += 1;
    }

    /// The arm that the policy would play next.
    fn recommend(&self) -> usize {
        let mut windows = RottingWindows::clone(&self.windows);
        windows.prepare();
        self.choose(windows.widths())
    }

    fn run_reason(&self, _: Run) -> RunReason {
        if self.plays < self.windows.arms() as u64 { RunReason::Opening } else { RunReason::Index }
    }

    fn check_restored(&self, history: &RestoredPlays<'_>) -> Result<(), StateError> {
        ensure_positive(&[self.alpha, self.sd], "alpha or sd is not a positive number")?;
        self.windows.check_restored(history)?;
        super::raw_ucb::check_opening(&self.windows, self.plays)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Problem;

    fn policy(arms: usize, spec: FewaSpec) -> Fewa {
        Fewa::new(spec.params(&Problem { arms, horizon: None }).unwrap())
    }

    #[test]
    fn choices_agree_with_a_calculation_by_hand() {
        // 8·alpha·sd² = 1: the width is sqrt(ln(t) / h).
        let mut policy = policy(2, Fewa::builder().alpha(0.125).sd(1.0).grid(2.0));
        let mut play = |loss| {
            let run = policy.next_run();
            policy.observe(run, Feedback::one(loss));
            run.arm
        };
        assert_eq!((play(0.9), play(0.1)), (0, 1));
        // t = 2, h = 1: 0.9 <= 0.1 + 0.833, both stay; h = 2: both have too few plays, the first.
        assert_eq!(play(0.8), 0);
        // t = 3, h = 1: 0.8 <= 0.1 + 1.048; h = 2: arm 1 has one play only.
        assert_eq!(play(0.2), 1);
        // t = 4, h = 1: 0.8 <= 0.2 + 1.177; h = 2: 0.85 <= 0.15 + 0.833; h = 4: both have two plays, the first.
        assert_eq!(play(3.0), 0);
        // t = 5, h = 1: 3 > 0.2 + 1.269: only arm 1 is left.
        assert_eq!(play(0.2), 1);
    }

    #[test]
    fn invalid_parameters_are_named() {
        let refused = |spec: FewaSpec| spec.params(&Problem { arms: 2, horizon: None }).unwrap_err().to_string();
        assert_eq!(refused(Fewa::builder().alpha(-1.0)), "policy `fewa`: `alpha` must be a positive number, but is -1");
        assert!(refused(Fewa::builder().grid(f64::NAN)).contains("`grid`"));
        assert!(refused(Fewa::builder().sd(f64::INFINITY)).contains("`sd`"));
    }
}
