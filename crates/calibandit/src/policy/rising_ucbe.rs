//! R-UCBE: best-arm identification among rising arms by upper confidence bounds.
//!
//! Mussi, Montenegro, Trovò, Restelli and Metelli, "Best arm identification for stochastic rising bandits", ICML 2024,
//! <https://arxiv.org/abs/2302.07510>. The question is which arm has the least loss after T plays. Each play is of the
//! arm with the least
//!
//! ```text
//! index_x = estimate for T - sd·(T - n + h - 1)·sqrt(a / h³),   -infinity while h = 0,
//! ```
//!
//! the first such arm in case of a tie, with n, h and the estimate as in `rising_ucb.rs`. The arm with the least
//! estimate is recommended, as in the authors' code. The paper's text has the least index instead; the plays make the
//! indices equal, so that it is nearly arbitrary in the end: in setting A of the paper it is wrong in about half of the
//! runs.
//!
//! The best `a` depends on the game and is not known. The default is ours: a = 10·ln(40·K·T), with which the paper's
//! bound 2·K·T·exp(-a/10) of the error is 1/20. The bound holds if T is long enough for that `a`.
//!
//! O(K) per play; the last 2·share·n losses of each arm are kept.

use super::error::{check_positive, check_problem, needed_horizon};
use super::history::{RestoredPlays, StateError, ensure};
use super::recent_trend::RecentTrend;
use super::rising_ucb::{check_trends, default_share, opening_or_index, rising_index};
use super::single_plays::{check_share, default_sd, ensure_positive, least, setters, single};
use super::spec::PolicyConfig;
use super::{PolicyError, RunReason};
use crate::math;
use crate::{Feedback, GameClass, Policy, Problem, Run, Stream};

/// Confidence bounds on the loss after all plays, to find the arm that will be the best, for arms that keep improving.
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(deny_unknown_fields))]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct RisingUcbeSpec {
    /// The constant a in the width sd (T - n + h - 1) sqrt(a / h^3): a larger one explores more.
    ///
    /// Default: 10 ln(40 K T).
    #[cfg_attr(feature = "serde", serde(default, skip_serializing_if = "Option::is_none"))]
    #[cfg_attr(feature = "schema", schemars(extend("exclusiveMinimum" = 0)))]
    pub exploration: Option<f64>,
    /// The share of an arm's plays in each of the two windows that show its trend, the paper's epsilon.
    #[cfg_attr(feature = "serde", serde(default = "default_share"))]
    #[cfg_attr(feature = "schema", schemars(extend("exclusiveMinimum" = 0, "exclusiveMaximum" = 0.5)))]
    pub share: f64,
    /// The sub-Gaussian scale of the losses: 1/2 for losses in [0, 1], the standard deviation for normal noise.
    #[cfg_attr(feature = "serde", serde(default = "default_sd"))]
    #[cfg_attr(feature = "schema", schemars(extend("exclusiveMinimum" = 0)))]
    pub sd: f64,
}

impl RisingUcbeSpec {
    /// Sets the constant a in the width, a positive number.
    pub fn exploration(mut self, constant: f64) -> Self {
        self.exploration = Some(constant);
        self
    }
}

setters!(RisingUcbeSpec: sd, share);

/// The checked parameters of [`RisingUcbe`], made by [`RisingUcbeSpec::params`].
#[derive(Clone, Debug, PartialEq)]
pub struct RisingUcbeParams {
    arms: usize,
    horizon: u64,
    exploration: f64,
    share: f64,
    sd: f64,
}

impl PolicyConfig for RisingUcbeSpec {
    const NAME: &'static str = "rising-ucbe";
    const CITATION: &'static str = "Mussi, Montenegro, Trovo, Restelli, Metelli (2024). Best arm identification for \
                                    stochastic rising bandits. ICML 2024. arXiv:2302.07510";
    const MEANT_FOR: &'static [GameClass] = &[GameClass::Rising];
    type Params = RisingUcbeParams;
    type Policy = RisingUcbe;

    fn example() -> Self {
        RisingUcbe::builder()
    }

    fn check(&self) -> Result<(), PolicyError> {
        check_share(Self::NAME, self.share)?;
        self.exploration.map_or(Ok(()), |constant| check_positive(Self::NAME, "exploration", constant))?;
        check_positive(Self::NAME, "sd", self.sd)
    }

    fn params(&self, problem: &Problem) -> Result<RisingUcbeParams, PolicyError> {
        check_problem(problem)?;
        self.check()?;
        let horizon = needed_horizon(problem, Self::NAME, "use `rising-ucb`, which does not need it")?;
        let default = || 10.0 * math::ln(40.0 * problem.arms as f64 * horizon as f64);
        let exploration = self.exploration.unwrap_or_else(default);
        Ok(RisingUcbeParams { arms: problem.arms, horizon, exploration, share: self.share, sd: self.sd })
    }

    fn filled(params: &RisingUcbeParams) -> Self {
        Self { exploration: Some(params.exploration), share: params.share, sd: params.sd }
    }

    fn start(params: RisingUcbeParams, _: Stream) -> RisingUcbe {
        RisingUcbe::new(params)
    }

    fn label(&self) -> String {
        self.exploration.map_or("R-UCBE".to_string(), |constant| format!("R-UCBE (a = {constant})"))
    }
}

/// R-UCBE.
///
/// ```
/// use calibandit::policy::RisingUcbe;
/// use calibandit::{Policy, Problem, Run};
/// let mut policy = RisingUcbe::new(RisingUcbe::builder().params(&Problem { arms: 5, horizon: Some(1000) })?);
/// assert_eq!(policy.next_run(), Run { arm: 0, burn_in: 0, record: 1 });
/// # Ok::<(), calibandit::PolicyError>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(deny_unknown_fields))]
pub struct RisingUcbe {
    horizon: u64,
    exploration: f64,
    share: f64,
    sd: f64,
    plays: u64,
    arms: Vec<RecentTrend>,
}

impl RisingUcbe {
    /// Default parameters: a = 10 ln(40 K T), share 1/4, sd 1/2. The horizon must be known.
    pub fn builder() -> RisingUcbeSpec {
        RisingUcbeSpec { exploration: None, share: default_share(), sd: default_sd() }
    }

    /// A policy ready for its first run.
    pub fn new(params: RisingUcbeParams) -> Self {
        let RisingUcbeParams { arms, horizon, exploration, share, sd } = params;
        Self { horizon, exploration, share, sd, plays: 0, arms: vec![RecentTrend::new(); arms] }
    }

    fn least_index(&self) -> usize {
        let scale = self.sd * self.exploration.sqrt();
        least(self.arms.iter().map(|arm| rising_index(arm, self.share, self.horizon as f64, scale)))
    }
}

impl Policy for RisingUcbe {
    fn next_run(&mut self) -> Run {
        single(self.least_index())
    }

    fn observe(&mut self, run: Run, feedback: Feedback) {
        self.arms[run.arm].learn(self.share, feedback.sum);
        self.plays += 1;
    }

    /// The arm with the least estimate for the horizon; one without an estimate only if no arm has one.
    fn recommend(&self) -> usize {
        let estimate = |arm: &RecentTrend| arm.estimate(self.share, self.horizon as f64);
        least(self.arms.iter().map(|arm| estimate(arm).map_or(f64::INFINITY, |(loss, _)| loss)))
    }

    fn run_reason(&self, run: Run) -> RunReason {
        opening_or_index(&self.arms[run.arm], self.share)
    }

    fn check_restored(&self, history: &RestoredPlays<'_>) -> Result<(), StateError> {
        ensure_positive(&[self.exploration, self.sd], "the exploration or sd is not a positive number")?;
        ensure(self.horizon >= 1, "the horizon is 0")?;
        check_trends(&self.arms, self.share, self.plays, history)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_default_exploration_bounds_the_error_by_a_twentieth() {
        let params = RisingUcbe::builder().params(&Problem { arms: 5, horizon: Some(1000) }).unwrap();
        let bound = 2.0 * 1000.0 * 5.0 * (-params.exploration / 10.0).exp();
        assert!((bound - 0.05).abs() < 1e-12);
    }

    /// Without noise and with hardly any width, the arm whose line is the lowest at T is found from a few plays.
    #[test]
    fn the_arm_that_will_be_the_best_is_recommended() {
        let params = RisingUcbe::builder().sd(1e-6).params(&Problem { arms: 2, horizon: Some(200) }).unwrap();
        let mut policy = RisingUcbe::new(params);
        let mut plays = [0u32; 2];
        for _ in 0..30 {
            let run = policy.next_run();
            plays[run.arm] += 1;
            let n = f64::from(plays[run.arm]);
            policy.observe(run, Feedback::one(if run.arm == 0 { 0.2 } else { 0.9 - 0.004 * n }));
        }
        assert_eq!(policy.recommend(), 1);
        let refused = RisingUcbe::builder().params(&Problem { arms: 2, horizon: None }).unwrap_err();
        assert!(matches!(refused, PolicyError::HorizonNeeded { policy: "rising-ucbe", .. }));
    }
}
