//! EXP3: exponential weights for exploration and exploitation.
//!
//! Auer, Cesa-Bianchi, Freund and Schapire, "The nonstochastic multiarmed bandit problem", SIAM Journal on Computing
//! 32(1), 48-77 (2002), Figure 1 and Corollary 3.2, <https://doi.org/10.1137/S0097539701398375>. All weights w_i begin
//! at 1; each play draws arm i with probability
//!
//! ```text
//! p_i = (1 - gamma) · w_i / sum_j w_j + gamma / K,
//! ```
//!
//! and its gain g in [0, 1] multiplies w_i by exp(gamma · g / (p_i · K)). For a known horizon T the default rate is
//! gamma = min(1, sqrt(K·ln K / ((e - 1)·T))).
//!
//! The gain is 1 - loss, where the loss is first **clamped to [0, 1]**: the update is stable for bounded gains only,
//! and normal feedback is not bounded.
//!
//! ExpWeights are stored as logarithms relative to a common reference, so that nothing overflows at any horizon. EXP3
//! has no burn-in: its runs are single plays.

use std::f64::consts::E;

use super::error::{check, check_problem, needed_horizon};
use super::exp_weights::ExpWeights;
use super::history::{RestoredPlays, StateError, ensure};
use super::spec::PolicyConfig;
use super::{PolicyError, RunReason};
use crate::math;
use crate::{Feedback, GameClass, Policy, Problem, Run, Stream};

/// Exponential weights over single plays: assumes nothing about the losses, and has no burn-in.
#[derive(Clone, Debug, Default, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(deny_unknown_fields))]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct Exp3Spec {
    /// The rate of exploration and of learning.
    ///
    /// Default: min(1, sqrt(K ln K / ((e - 1) N))) for N updates.
    #[cfg_attr(feature = "serde", serde(default, skip_serializing_if = "Option::is_none"))]
    #[cfg_attr(feature = "schema", schemars(extend("exclusiveMinimum" = 0, "maximum" = 1)))]
    pub gamma: Option<f64>,
}

impl Exp3Spec {
    /// Sets the rate of exploration and of learning, in (0, 1].
    pub fn gamma(mut self, gamma: f64) -> Self {
        self.gamma = Some(gamma);
        self
    }
}

/// The checked parameters of [`Exp3`], made by [`Exp3Spec::params`].
#[derive(Clone, Debug, PartialEq)]
pub struct Exp3Params {
    arms: usize,
    gamma: f64,
}

/// Checks a rate that was given.
pub(super) fn check_gamma(policy: &'static str, gamma: Option<f64>) -> Result<(), PolicyError> {
    gamma.map_or(Ok(()), |gamma| check(policy, "gamma", gamma, gamma > 0.0 && gamma <= 1.0, "in (0, 1]"))
}

/// The rate for a known number of updates.
pub(super) fn default_gamma(arms: usize, updates: u64) -> f64 {
    if arms == 1 {
        return 1.0; // the formula gives 0, which is not a valid rate; with one arm every rate does the same
    }
    let arms = arms as f64;
    (arms * math::ln(arms) / ((E - 1.0) * updates as f64)).sqrt().min(1.0)
}

impl PolicyConfig for Exp3Spec {
    const NAME: &'static str = "exp3";
    const CITATION: &'static str = "Auer, Cesa-Bianchi, Freund, Schapire (2002). The nonstochastic multiarmed bandit \
                                    problem. SIAM J. Comput. 32(1), 48-77. doi:10.1137/S0097539701398375";
    const MEANT_FOR: &'static [GameClass] = &[GameClass::Plain];
    type Params = Exp3Params;
    type Policy = Exp3;

    fn example() -> Self {
        Exp3::builder()
    }

    fn check(&self) -> Result<(), PolicyError> {
        check_gamma(Self::NAME, self.gamma)
    }

    fn params(&self, problem: &Problem) -> Result<Exp3Params, PolicyError> {
        check_problem(problem)?;
        self.check()?;
        let gamma = match self.gamma {
            Some(gamma) => gamma,
            None => default_gamma(problem.arms, needed_horizon(problem, Self::NAME, "set `gamma`")?),
        };
        Ok(Exp3Params { arms: problem.arms, gamma })
    }

    fn filled(params: &Exp3Params) -> Self {
        Self { gamma: Some(params.gamma) }
    }

    fn start(params: Exp3Params, stream: Stream) -> Exp3 {
        Exp3::new(params, stream)
    }

    fn label(&self) -> String {
        "EXP3".to_string()
    }
}

/// EXP3.
///
/// ```
/// use calibandit::policy::Exp3;
/// use calibandit::rng::StreamKey;
/// use calibandit::{Policy, Problem};
/// let problem = Problem { arms: 3, horizon: Some(1000) };
/// let mut policy = Exp3::builder().gamma(0.1).build(&problem, StreamKey::new(1, "example", 0).policy())?;
/// assert_eq!(policy.next_run().plays(), 1);
/// # Ok::<(), calibandit::PolicyError>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(deny_unknown_fields))]
pub struct Exp3 {
    pub(crate) weights: ExpWeights,
    pub(crate) stream: Stream,
}

impl Exp3 {
    /// Default parameters. Either the horizon must be known or [`gamma`](Exp3Spec::gamma) be set.
    pub fn builder() -> Exp3Spec {
        Exp3Spec::default()
    }

    /// A policy ready for its first run.
    pub fn new(params: Exp3Params, stream: Stream) -> Self {
        Self { weights: ExpWeights::new(params.arms, params.gamma), stream }
    }
}

impl Policy for Exp3 {
    #[inline]
    fn next_run(&mut self) -> Run {
        Run { arm: self.weights.draw(&mut self.stream), burn_in: 0, record: 1 }
    }

    #[inline]
    fn observe(&mut self, run: Run, feedback: Feedback) {
        self.weights.learn(run.arm, feedback.sum);
    }

    /// The arm with the largest weight.
    fn recommend(&self) -> usize {
        self.weights.heaviest()
    }

    fn run_reason(&self, _: Run) -> RunReason {
        RunReason::Index
    }

    fn check_restored(&self, history: &RestoredPlays<'_>) -> Result<(), StateError> {
        ensure(self.stream.is_valid(), "the state of the random generator is zero")?;
        self.weights.check_restored(1, history)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_default_rate_is_that_of_the_paper() {
        // sqrt(5 · ln 5 / ((e - 1) · 10^6)), computed outside this project.
        assert!((default_gamma(5, 1_000_000) - 0.002_164_088_002).abs() < 1e-12);
        assert_eq!(default_gamma(5, 1), 1.0);
        assert_eq!(default_gamma(1, 1000), 1.0);
    }

    #[test]
    fn invalid_parameters_are_named() {
        let params = |gamma, horizon| Exp3Spec { gamma }.params(&Problem { arms: 2, horizon });
        let refused = params(None, None).unwrap_err();
        assert_eq!(refused.to_string(), "policy `exp3` needs to know the horizon: give one, or set `gamma`");
        assert!(params(Some(1.0), None).is_ok());
        for gamma in [0.0, -0.5, 1.0f64.next_up(), f64::NAN, f64::INFINITY] {
            assert!(matches!(params(Some(gamma), Some(9)), Err(PolicyError::Parameter { parameter: "gamma", .. })));
        }
    }
}
