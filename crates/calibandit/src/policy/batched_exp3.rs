//! Batched EXP3: exponential weights over batches of plays, for losses that remember.
//!
//! Arora, Dekel and Tewari, "Online bandit learning against an adaptive adversary: from regret to policy regret",
//! ICML 2012, Algorithm 1 and Theorem 2, <https://arxiv.org/abs/1206.6400>. The plays are divided into batches of
//! length tau; EXP3 picks one arm for each batch and learns from the batch's mean loss. Against a memory that is short
//! compared with tau, its policy regret is of the order T^(2/3); the theorem's length is
//!
//! ```text
//! tau = (T / (7·K·ln K))^(1/3),
//! ```
//!
//! here rounded down and at least 1. With a single arm the batch is the whole horizon. The [`Exp3`](super::Exp3)
//! inside has ceil(T / tau) updates to plan its rate for, and clamps the mean loss of a batch to [0, 1].

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::error::{check, check_problem, needed_horizon};
use super::exp3::{GAMMA, check_gamma, default_gamma};
use super::spec::Configuration;
use super::weights::Weights;
use super::{Parameter, PolicyError, PolicyKind};
use crate::math;
use crate::{Feedback, Policy, Problem, Run, Stream};

const NAME: &str = "batched-exp3";

/// The parameters of [`BatchedExp3`].
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct BatchedExp3Spec {
    /// The number of plays of a batch.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1))]
    pub batch: Option<u64>,
    /// The rate of exploration and of learning.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("exclusiveMinimum" = 0, "maximum" = 1))]
    pub gamma: Option<f64>,
}

/// The theorem's batch length.
fn default_batch(arms: usize, horizon: u64) -> u64 {
    if arms == 1 {
        return horizon;
    }
    let arms = arms as f64;
    (math::cbrt(horizon as f64 / (7.0 * arms * math::ln(arms))) as u64).max(1)
}

impl Configuration for BatchedExp3Spec {
    const KIND: PolicyKind = PolicyKind {
        name: NAME,
        summary: "EXP3 over batches of plays: sublinear policy regret against any bounded memory.",
        parameters: &[
            Parameter {
                name: "batch",
                values: "an integer, at least 1",
                default: Some("floor((T / (7 K ln K))^(1/3)), at least 1"),
                meaning: "The number of plays of a batch.",
            },
            GAMMA,
        ],
        citation: "Arora, Dekel, Tewari (2012). Online bandit learning against an adaptive adversary: from regret to \
                   policy regret. ICML 2012. arXiv:1206.6400",
    };
    type Policy = BatchedExp3;

    fn resolve(&self, problem: &Problem) -> Result<Self, PolicyError> {
        check_problem(problem)?;
        let horizon = || needed_horizon(problem, NAME, "set `batch` and `gamma`");
        let batch = match self.batch {
            Some(batch) => batch,
            None => default_batch(problem.arms, horizon()?),
        };
        check(NAME, "batch", batch as f64, batch >= 1, "at least 1")?;
        let gamma = match self.gamma {
            Some(gamma) => gamma,
            None => default_gamma(problem.arms, horizon()?.div_ceil(batch)),
        };
        check_gamma(NAME, gamma)?;
        Ok(Self { batch: Some(batch), gamma: Some(gamma) })
    }

    fn build(&self, problem: &Problem, stream: Stream) -> Result<BatchedExp3, PolicyError> {
        BatchedExp3::new(self, problem, stream)
    }

    fn label(&self) -> String {
        "EXP3B".to_string()
    }
}

/// Batched EXP3.
///
/// ```
/// use calibandit::policy::{BatchedExp3, BatchedExp3Spec};
/// use calibandit::rng::StreamKey;
/// use calibandit::{Policy, Problem};
/// let stream = StreamKey::new(1, "example", 0).policy();
/// let problem = Problem { arms: 5, horizon: Some(1_000_000) };
/// let mut policy = BatchedExp3::new(&BatchedExp3Spec::default(), &problem, stream)?;
/// assert_eq!(policy.next_run().plays(), 26); // (10^6 / (35 · ln 5))^(1/3) = 26.08...
/// # Ok::<(), calibandit::PolicyError>(())
/// ```
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct BatchedExp3 {
    pub(crate) batch: u64,
    pub(crate) weights: Weights,
    pub(crate) stream: Stream,
}

impl BatchedExp3 {
    /// A policy ready for its first run. Either the horizon or both parameters must be given.
    pub fn new(spec: &BatchedExp3Spec, problem: &Problem, stream: Stream) -> Result<Self, PolicyError> {
        let BatchedExp3Spec { batch, gamma } = spec.resolve(problem)?;
        // Both are always there once resolved.
        Ok(Self { batch: batch.unwrap_or(1), weights: Weights::new(problem.arms, gamma.unwrap_or(1.0)), stream })
    }
}

impl Policy for BatchedExp3 {
    #[inline]
    fn next_run(&mut self) -> Run {
        Run { arm: self.weights.draw(&mut self.stream), burn_in: 0, record: self.batch }
    }

    #[inline]
    fn observe(&mut self, run: Run, feedback: Feedback) {
        self.weights.learn(run.arm, feedback.mean());
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

    fn resolve(spec: BatchedExp3Spec, arms: usize, horizon: Option<u64>) -> Result<(u64, f64), PolicyError> {
        let resolved = spec.resolve(&Problem { arms, horizon })?;
        Ok((resolved.batch.unwrap(), resolved.gamma.unwrap()))
    }

    #[test]
    fn the_batch_is_the_theorems() {
        // (10^6 / (7·5·1.6094379))^(1/3) = 17752.50^(1/3) = 26.09
        assert_eq!(default_batch(5, 1_000_000), 26);
        // (10^9 / (7·20·2.9957323))^(1/3) = 2384349.9^(1/3) = 133.6
        assert_eq!(default_batch(20, 1_000_000_000), 133);
        assert_eq!(default_batch(20, 1), 1);
        assert_eq!(default_batch(1, 500), 500);
    }

    #[test]
    fn the_rate_is_for_the_number_of_batches() {
        let (batch, gamma) = resolve(BatchedExp3Spec::default(), 5, Some(1_000_000)).unwrap();
        assert_eq!((batch, gamma), (26, default_gamma(5, 38_462))); // 10^6 / 26 = 38461.5
        let given = BatchedExp3Spec { batch: Some(100), gamma: None };
        assert_eq!(resolve(given, 5, Some(1_000_000)).unwrap().1, default_gamma(5, 10_000));
    }

    #[test]
    fn learns_from_the_mean_of_a_batch() {
        let spec = BatchedExp3Spec { batch: Some(4), gamma: Some(0.5) };
        let problem = Problem { arms: 2, horizon: None };
        let mut policy = BatchedExp3::new(&spec, &problem, StreamKey::new(1, "", 0).policy()).unwrap();
        let run = policy.next_run();
        assert_eq!((run.burn_in, run.record), (0, 4));
        policy.observe(run, Feedback { plays: 4, sum: 3.0, sum_sq: 3.0 });
        let mut expected = Weights::new(2, 0.5);
        expected.learn(run.arm, 0.75);
        assert_eq!(policy.weights, expected);
    }

    #[test]
    fn says_what_is_wrong() {
        let spec = |batch, gamma| BatchedExp3Spec { batch, gamma };
        for incomplete in [spec(None, None), spec(Some(5), None), spec(None, Some(0.1))] {
            let refused = resolve(incomplete, 3, None).unwrap_err();
            assert_eq!(refused, PolicyError::HorizonNeeded { policy: NAME, instead: "set `batch` and `gamma`" });
        }
        assert!(resolve(spec(Some(5), Some(0.1)), 3, None).is_ok());
        let refused = resolve(spec(Some(0), None), 3, Some(100)).unwrap_err();
        assert!(matches!(refused, PolicyError::Parameter { parameter: "batch", .. }));
        let refused = resolve(spec(None, Some(f64::NAN)), 3, Some(100)).unwrap_err();
        assert!(matches!(refused, PolicyError::Parameter { parameter: "gamma", .. }));
    }
}
