//! SWA: the sliding window average, for rotting arms and a known horizon.
//!
//! Levine, Crammer and Mannor, "Rotting bandits", NIPS 2017, <https://arxiv.org/abs/1702.07274>. Every arm is played
//!
//! ```text
//! h = ceil( alpha·(16·sd²·T²·ln(sqrt(2)·T) / K²)^(1/3) )
//! ```
//!
//! times, then always the arm with the least mean of its last h losses; the first such arm in case of a tie. The theory
//! has alpha = (2·largest decrement)^(-2/3); the default 0.2 is the one that public code uses. The window does not
//! scale with the losses: if losses are divided by a factor, alpha must be divided by its power 2/3 to keep h, beside
//! `sd`.
//!
//! A play costs O(K). The last h losses of each arm are kept, O(K·h) numbers with h of order (T/K)^(2/3).

use std::collections::VecDeque;

use super::error::{check_positive, check_problem, needed_horizon};
use super::history::{RestoredPlays, StateError, ensure};
use super::raw_ucb::label_with_alpha;
use super::single_plays::{check_largest, check_single_plays, default_sd, least, setters, single, sums_agree};
use super::spec::PolicyConfig;
use super::{PolicyError, RunReason};
use crate::math;
use crate::{Feedback, GameClass, Policy, Problem, Run, Stream};

/// The arm with the least mean of its last h losses, for arms that get worse with each play.
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(deny_unknown_fields))]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct SwaSpec {
    /// The factor of the window's length: a larger one gives longer windows.
    #[cfg_attr(feature = "serde", serde(default = "default_alpha"))]
    #[cfg_attr(feature = "schema", schemars(extend("exclusiveMinimum" = 0)))]
    pub alpha: f64,
    /// The sub-Gaussian scale of the losses: 1/2 for losses in [0, 1], the standard deviation for normal noise.
    #[cfg_attr(feature = "serde", serde(default = "default_sd"))]
    #[cfg_attr(feature = "schema", schemars(extend("exclusiveMinimum" = 0)))]
    pub sd: f64,
}

/// The default of `alpha`, also that of the form without a horizon.
pub(super) fn default_alpha() -> f64 {
    0.2
}

setters!(SwaSpec: alpha, sd);

/// The checked parameters of [`Swa`], made by [`SwaSpec::params`].
#[derive(Clone, Debug, PartialEq)]
pub struct SwaParams {
    arms: usize,
    horizon: u64,
    spec: SwaSpec,
}

impl PolicyConfig for SwaSpec {
    const NAME: &'static str = "swa";
    const CITATION: &'static str = "Levine, Crammer, Mannor (2017). Rotting bandits. NIPS 2017. arXiv:1702.07274";
    const MEANT_FOR: &'static [GameClass] = &[GameClass::Rotting];
    type Params = SwaParams;
    type Policy = Swa;

    fn example() -> Self {
        Swa::builder()
    }

    fn check(&self) -> Result<(), PolicyError> {
        check_positive(Self::NAME, "alpha", self.alpha)?;
        check_positive(Self::NAME, "sd", self.sd)
    }

    fn params(&self, problem: &Problem) -> Result<SwaParams, PolicyError> {
        check_problem(problem)?;
        self.check()?;
        let horizon = needed_horizon(problem, Self::NAME, "use `wswa`, which does not need it")?;
        Ok(SwaParams { arms: problem.arms, horizon, spec: self.clone() })
    }

    fn filled(params: &SwaParams) -> Self {
        params.spec.clone()
    }

    fn start(params: SwaParams, _: Stream) -> Swa {
        Swa::new(params)
    }

    fn label(&self) -> String {
        label_with_alpha("SWA", self.alpha, default_alpha())
    }
}

/// The length of the window, at least 1.
pub(super) fn window(alpha: f64, sd: f64, arms: usize, horizon: u64) -> u64 {
    let (arms, horizon) = (arms as f64, horizon as f64);
    let cube = 16.0 * sd * sd * horizon * horizon * math::ln(std::f64::consts::SQRT_2 * horizon) / (arms * arms);
    // Saturates.
    ((alpha * math::cbrt(cube)).ceil() as u64).max(1)
}

/// The last losses of every arm.
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(deny_unknown_fields))]
pub(super) struct RecentLosses {
    /// h.
    pub(super) window: u64,
    /// The largest absolute value of the losses observed.
    largest: f64,
    /// By arm, the number of losses learnt.
    learnt: Vec<u64>,
    /// By arm, the last losses, at most h.
    losses: Vec<VecDeque<f64>>,
    /// By arm, their sum.
    sums: Vec<f64>,
}

impl RecentLosses {
    pub(super) fn new(arms: usize, window: u64) -> Self {
        let losses = vec![VecDeque::new(); arms];
        Self { window, largest: 0.0, learnt: vec![0; arms], losses, sums: vec![0.0; arms] }
    }

    pub(super) fn learn(&mut self, arm: usize, loss: f64) {
        self.largest = self.largest.max(loss.abs());
        self.learnt[arm] += 1;
        let losses = &mut self.losses[arm];
        losses.push_back(loss);
        self.sums[arm] += loss;
        if losses.len() as u64 > self.window {
            self.sums[arm] -= losses.pop_front().unwrap_or(0.0);
        }
        // Once per window, so that rounding errors do not add up.
        if self.learnt[arm].is_multiple_of(self.window) {
            self.sums[arm] = losses.iter().sum();
        }
    }

    /// The first arm with fewer than h losses; if there is none, the arm with the least mean.
    pub(super) fn choose(&self) -> usize {
        let short = self.learnt.iter().position(|&learnt| learnt < self.window);
        short.unwrap_or_else(|| least(self.sums.iter().copied()))
    }

    /// The arm with the least mean of its last losses, however few.
    pub(super) fn least_mean(&self) -> usize {
        least(self.losses.iter().zip(&self.sums).map(|(losses, sum)| sum / losses.len() as f64))
    }

    pub(super) fn is_opening(&self) -> bool {
        self.learnt.iter().any(|&learnt| learnt < self.window)
    }

    /// The number of losses learnt.
    pub(super) fn learnt(&self) -> &[u64] {
        &self.learnt
    }

    pub(super) fn check_restored(&self, history: &RestoredPlays<'_>) -> Result<(), StateError> {
        let arms = history.arms;
        let lengths = [self.learnt.len(), self.losses.len(), self.sums.len()];
        ensure(lengths == [arms; 3], "the policy has another number of arms")?;
        ensure(self.window >= 1, "the window is 0")?;
        check_largest(history, self.largest, self.losses.iter().flatten())?;
        for (arm, losses) in self.losses.iter().enumerate() {
            let n = losses.len() as u64;
            ensure(n == self.learnt[arm].min(self.window), "the last losses of an arm do not fit its plays")?;
            let agree = sums_agree(self.sums[arm], losses.iter().sum(), n as f64, self.largest);
            ensure(agree, "the sum of the last losses of an arm is not theirs")?;
        }
        // Every arm is played h times, in order, before any is played again.
        let filled = self.learnt.iter().take_while(|&&learnt| learnt >= self.window).count();
        let opening = self.learnt.iter().skip(filled + 1).all(|&learnt| learnt == 0)
            && (filled == arms || self.learnt[..filled].iter().all(|&learnt| learnt == self.window));
        ensure(opening, "the arms were not played in order at the start")
    }
}

/// SWA.
///
/// ```
/// use calibandit::policy::Swa;
/// use calibandit::{Policy, Problem, Run};
/// let mut policy = Swa::new(Swa::builder().params(&Problem { arms: 5, horizon: Some(1000) })?);
/// assert_eq!(policy.next_run(), Run { arm: 0, burn_in: 0, record: 1 });
/// # Ok::<(), calibandit::PolicyError>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(transparent))]
pub struct Swa {
    recent: RecentLosses,
}

impl Swa {
    /// Default parameters: alpha 0.2, sd 1/2. The horizon must be known.
    pub fn builder() -> SwaSpec {
        SwaSpec { alpha: default_alpha(), sd: default_sd() }
    }

    /// A policy ready for its first run.
    pub fn new(params: SwaParams) -> Self {
        let SwaParams { arms, horizon, spec } = params;
        Self { recent: RecentLosses::new(arms, window(spec.alpha, spec.sd, arms, horizon)) }
    }
}

impl Policy for Swa {
    fn next_run(&mut self) -> Run {
        single(self.recent.choose())
    }

    fn observe(&mut self, run: Run, feedback: Feedback) {
        self.recent.learn(run.arm, feedback.sum);
    }

    /// The arm with the least mean of its last losses.
    fn recommend(&self) -> usize {
        self.recent.least_mean()
    }

    fn run_reason(&self, _: Run) -> RunReason {
        if self.recent.is_opening() { RunReason::Opening } else { RunReason::Index }
    }

    fn check_restored(&self, history: &RestoredPlays<'_>) -> Result<(), StateError> {
        check_single_plays(history, self.recent.learnt())?;
        self.recent.check_restored(history)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_window_is_that_of_the_formula() {
        // sd = 1, K = 2, T = 10^4: 16·10^8·ln(14142.1)/4 = 16·10^8·9.5569/4 = 3.8228·10^9, cube root 1563.6.
        assert_eq!(window(0.2, 1.0, 2, 10_000), 313);
        assert_eq!(window(0.002, 1.0, 2, 10_000), 4);
        assert_eq!(window(1e-9, 1.0, 2, 1), 1);
        assert_eq!(window(f64::MAX, f64::MAX, 2, 2), u64::MAX);
    }

    #[test]
    fn choices_agree_with_a_calculation_by_hand() {
        let params = Swa::builder().alpha(0.3).params(&Problem { arms: 2, horizon: Some(20) }).unwrap();
        let mut policy = Swa::new(params);
        // 0.3·(16·0.25·400·ln(28.28)/4)^(1/3) = 0.3·(400·3.342)^(1/3) = 0.3·11.015 = 3.3
        assert_eq!(policy.recent.window, 4);
        let mut play = |loss| {
            let run = policy.next_run();
            policy.observe(run, Feedback::one(loss));
            run.arm
        };
        let opening: Vec<usize> = [0.1, 0.2, 0.3, 0.4, 0.5, 0.0, 0.5, 0.2].into_iter().map(&mut play).collect();
        assert_eq!(opening, [0, 0, 0, 0, 1, 1, 1, 1]);
        // Means 0.25 and 0.3.
        assert_eq!(play(0.4), 0);
        // The last four of arm 0 are 0.2, 0.3, 0.4, 0.4: mean 0.325.
        assert_eq!(play(0.9), 1);
        assert_eq!(play(0.0), 0);
        assert_eq!(policy.recommend(), 0);
    }

    #[test]
    fn the_horizon_is_needed() {
        let refused = Swa::builder().params(&Problem { arms: 2, horizon: None }).unwrap_err();
        let text = "policy `swa` needs to know the horizon: give one, or use `wswa`, which does not need it";
        assert_eq!(refused.to_string(), text);
    }
}
