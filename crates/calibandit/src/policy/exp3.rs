//! EXP3: exponential weights for exploration and exploitation.
//!
//! Auer, Cesa-Bianchi, Freund and Schapire, "The nonstochastic multiarmed bandit problem", SIAM Journal on Computing
//! 32(1), 48-77 (2002), Figure 1 and Corollary 3.2, <https://doi.org/10.1137/S0097539701398375>. With weights w_i = 1
//! in the beginning, each play draws arm i with probability
//!
//! ```text
//! p_i = (1 - gamma) · w_i / sum_j w_j + gamma / K,
//! ```
//!
//! and its gain g in [0, 1] multiplies w_i by exp(gamma · g / (p_i · K)). For a known horizon T the rate is by default
//! gamma = min(1, sqrt(K·ln K / ((e - 1)·T))).
//!
//! The gain is 1 - loss, with the loss **clamped to [0, 1]** first: the update is only stable for bounded gains, and
//! normal feedback is not bounded.
//!
//! Weights are kept as logarithms relative to a common reference, so that nothing overflows at any horizon. EXP3 takes no care of warm-up: its runs are single plays.

use std::f64::consts::E;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::error::{check, check_problem, needed_horizon};
use super::spec::Configuration;
use super::weights::Weights;
use super::{Parameter, PolicyError, PolicyKind};
use crate::math;
use crate::{Feedback, Policy, Problem, Run, Stream};

const NAME: &str = "exp3";

/// The parameters of [`Exp3`].
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Exp3Spec {
    /// The rate of exploration and of learning.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("exclusiveMinimum" = 0, "maximum" = 1))]
    pub gamma: Option<f64>,
}

/// The rate, described.
pub(super) const GAMMA: Parameter = Parameter {
    name: "gamma",
    values: "a number in (0, 1]",
    default: Some("min(1, sqrt(K ln K / ((e - 1) T))), for T updates"),
    meaning: "The rate of exploration and of learning.",
};

/// Checks a rate that was given.
pub(super) fn check_gamma(policy: &'static str, gamma: f64) -> Result<(), PolicyError> {
    check(policy, "gamma", gamma, gamma > 0.0 && gamma <= 1.0, "in (0, 1]")
}

/// The rate for a known number of updates.
pub(super) fn default_gamma(arms: usize, updates: u64) -> f64 {
    if arms == 1 {
        return 1.0; // the formula's 0 would do as well: there is nothing to choose
    }
    let arms = arms as f64;
    (arms * math::ln(arms) / ((E - 1.0) * updates as f64)).sqrt().min(1.0)
}

impl Configuration for Exp3Spec {
    const KIND: PolicyKind = PolicyKind {
        name: NAME,
        summary: "Exponential weights over single plays: no assumption on the losses, no care of warm-up.",
        parameters: &[GAMMA],
        citation: "Auer, Cesa-Bianchi, Freund, Schapire (2002). The nonstochastic multiarmed bandit problem. \
                   SIAM J. Comput. 32(1), 48-77. doi:10.1137/S0097539701398375",
    };
    type Policy = Exp3;

    fn resolve(&self, problem: &Problem) -> Result<Self, PolicyError> {
        check_problem(problem)?;
        let gamma = match self.gamma {
            Some(gamma) => gamma,
            None => default_gamma(problem.arms, needed_horizon(problem, NAME, "set `gamma`")?),
        };
        check_gamma(NAME, gamma)?;
        Ok(Self { gamma: Some(gamma) })
    }

    fn build(&self, problem: &Problem, stream: Stream) -> Result<Exp3, PolicyError> {
        Exp3::new(self, problem, stream)
    }

    fn label(&self) -> String {
        "EXP3".to_string()
    }
}

/// EXP3.
///
/// ```
/// use calibandit::policy::{Exp3, Exp3Spec};
/// use calibandit::rng::StreamKey;
/// use calibandit::{Policy, Problem};
/// let stream = StreamKey::new(1, "example", 0).policy();
/// let mut policy = Exp3::new(&Exp3Spec::default(), &Problem { arms: 3, horizon: Some(1000) }, stream)?;
/// assert_eq!(policy.next_run().plays(), 1);
/// # Ok::<(), calibandit::PolicyError>(())
/// ```
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Exp3 {
    pub(crate) weights: Weights,
    pub(crate) stream: Stream,
}

impl Exp3 {
    /// A policy ready for its first run. Either the horizon or `gamma` must be given.
    pub fn new(spec: &Exp3Spec, problem: &Problem, stream: Stream) -> Result<Self, PolicyError> {
        let gamma = spec.resolve(problem)?.gamma.unwrap_or(1.0); // always there once resolved
        Ok(Self { weights: Weights::new(problem.arms, gamma), stream })
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
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rng::StreamKey;

    #[test]
    fn the_rate_is_the_papers() {
        // sqrt(5 · ln 5 / ((e - 1) · 10^6)), computed outside this project.
        assert!((default_gamma(5, 1_000_000) - 0.002_164_088_002).abs() < 1e-12);
        assert_eq!(default_gamma(5, 1), 1.0);
        assert_eq!(default_gamma(1, 1000), 1.0);
    }

    #[test]
    fn says_what_is_wrong() {
        let new = |gamma, horizon| {
            Exp3::new(&Exp3Spec { gamma }, &Problem { arms: 2, horizon }, StreamKey::new(1, "", 0).policy()).map(|_| ())
        };
        let refused = new(None, None).unwrap_err();
        assert_eq!(refused.to_string(), "policy `exp3` needs to know the horizon: give one, or set `gamma`");
        assert!(new(Some(1.0), None).is_ok());
        for gamma in [0.0, -0.5, 1.0f64.next_up(), f64::NAN, f64::INFINITY] {
            assert!(matches!(new(Some(gamma), Some(9)), Err(PolicyError::Parameter { parameter: "gamma", .. })));
        }
    }
}
