//! Batched EXP3: exponential weights over batches of plays, for losses that depend on earlier plays.
//!
//! Arora, Dekel and Tewari, "Online bandit learning against an adaptive adversary: from regret to policy regret",
//! ICML 2012, Algorithm 1 and Theorem 2, <https://arxiv.org/abs/1206.6400>. The plays are divided into batches of
//! length tau; EXP3 chooses one arm per batch and learns from the mean loss of the batch. If the memory is short
//! compared with tau, the policy regret is of order T^(2/3). The theorem's length is
//!
//! ```text
//! tau = (T / (7·K·ln K))^(1/3),
//! ```
//!
//! rounded down here, and at least 1. With a single arm the batch is the whole horizon. The inner [`Exp3`](super::Exp3)
//! has ceil(T / tau) updates, for which its default rate is computed; it clamps the mean loss of a batch to [0, 1].

use super::error::{check, check_problem, needed_horizon};
use super::exp_weights::ExpWeights;
use super::exp3::{check_gamma, default_gamma};
use super::history::{RestoredPlays, StateError, ensure};
use super::spec::PolicyConfig;
use super::{PolicyError, RunReason};
use crate::math;
use crate::{Feedback, GameClass, Policy, Problem, Run, Stream};

/// EXP3 over batches of plays: sublinear policy regret against any bounded memory.
#[derive(Clone, Debug, Default, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(deny_unknown_fields))]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct BatchedExp3Spec {
    /// The number of plays per batch.
    ///
    /// Default: floor((T / (7 K ln K))^(1/3)), at least 1.
    #[cfg_attr(feature = "serde", serde(default, skip_serializing_if = "Option::is_none"))]
    #[cfg_attr(feature = "schema", schemars(range(min = 1)))]
    pub batch: Option<u64>,
    /// The rate of exploration and of learning.
    ///
    /// Default: min(1, sqrt(K ln K / ((e - 1) N))) for N batches.
    #[cfg_attr(feature = "serde", serde(default, skip_serializing_if = "Option::is_none"))]
    #[cfg_attr(feature = "schema", schemars(extend("exclusiveMinimum" = 0, "maximum" = 1)))]
    pub gamma: Option<f64>,
}

impl BatchedExp3Spec {
    /// Sets the number of plays per batch, at least 1.
    pub fn batch(mut self, plays: u64) -> Self {
        self.batch = Some(plays);
        self
    }

    /// Sets the rate of exploration and of learning, in (0, 1].
    pub fn gamma(mut self, gamma: f64) -> Self {
        self.gamma = Some(gamma);
        self
    }
}

/// The checked parameters of [`BatchedExp3`], made by [`BatchedExp3Spec::params`].
#[derive(Clone, Debug, PartialEq)]
pub struct BatchedExp3Params {
    arms: usize,
    batch: u64,
    gamma: f64,
}

/// The theorem's batch length.
fn default_batch(arms: usize, horizon: u64) -> u64 {
    if arms == 1 {
        return horizon;
    }
    let arms = arms as f64;
    (math::cbrt(horizon as f64 / (7.0 * arms * math::ln(arms))) as u64).max(1)
}

impl PolicyConfig for BatchedExp3Spec {
    const NAME: &'static str = "batched-exp3";
    const CITATION: &'static str = "Arora, Dekel, Tewari (2012). Online bandit learning against an adaptive adversary: \
                                    from regret to policy regret. ICML 2012. arXiv:1206.6400";
    const MEANT_FOR: &'static [GameClass] = &[GameClass::RepeatedExposure];
    type Params = BatchedExp3Params;
    type Policy = BatchedExp3;

    fn example() -> Self {
        BatchedExp3::builder()
    }

    fn check(&self) -> Result<(), PolicyError> {
        if let Some(batch) = self.batch {
            check(Self::NAME, "batch", batch as f64, batch >= 1, "at least 1")?;
        }
        check_gamma(Self::NAME, self.gamma)
    }

    fn params(&self, problem: &Problem) -> Result<BatchedExp3Params, PolicyError> {
        check_problem(problem)?;
        self.check()?;
        let horizon = || needed_horizon(problem, Self::NAME, "set `batch` and `gamma`");
        let batch = match self.batch {
            Some(batch) => batch,
            None => default_batch(problem.arms, horizon()?),
        };
        let gamma = match self.gamma {
            Some(gamma) => gamma,
            None => default_gamma(problem.arms, horizon()?.div_ceil(batch)),
        };
        Ok(BatchedExp3Params { arms: problem.arms, batch, gamma })
    }

    fn filled(params: &BatchedExp3Params) -> Self {
        Self { batch: Some(params.batch), gamma: Some(params.gamma) }
    }

    fn start(params: BatchedExp3Params, stream: Stream) -> BatchedExp3 {
        BatchedExp3::new(params, stream)
    }

    fn label(&self) -> String {
        "EXP3B".to_string()
    }
}

/// Batched EXP3.
///
/// ```
/// use calibandit::policy::BatchedExp3;
/// use calibandit::rng::StreamKey;
/// use calibandit::{Policy, Problem};
/// let problem = Problem { arms: 5, horizon: Some(1_000_000) };
/// let mut policy = BatchedExp3::builder().build(&problem, StreamKey::new(1, "example", 0).policy())?;
/// assert_eq!(policy.next_run().plays(), 26); // (10^6 / (35 · ln 5))^(1/3) = 26.08...
/// # Ok::<(), calibandit::PolicyError>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(deny_unknown_fields))]
pub struct BatchedExp3 {
    pub(crate) batch: u64,
    pub(crate) weights: ExpWeights,
    pub(crate) stream: Stream,
}

impl BatchedExp3 {
    /// Default parameters. Either the horizon must be known or both parameters be set.
    pub fn builder() -> BatchedExp3Spec {
        BatchedExp3Spec::default()
    }

    /// A policy ready for its first run.
    pub fn new(params: BatchedExp3Params, stream: Stream) -> Self {
        Self { batch: params.batch, weights: ExpWeights::new(params.arms, params.gamma), stream }
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

    fn run_reason(&self, _: Run) -> RunReason {
        RunReason::Index
    }

    fn check_restored(&self, history: &RestoredPlays<'_>) -> Result<(), StateError> {
        ensure(self.batch >= 1, "the length of a batch is 0")?;
        ensure(self.stream.is_valid(), "the state of the random generator is zero")?;
        self.weights.check_restored(self.batch, history)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rng::StreamKey;

    fn resolve(spec: BatchedExp3Spec, arms: usize, horizon: Option<u64>) -> Result<(u64, f64), PolicyError> {
        spec.params(&Problem { arms, horizon }).map(|params| (params.batch, params.gamma))
    }

    #[test]
    fn the_default_batch_is_that_of_the_theorem() {
        // (10^6 / (7·5·1.6094379))^(1/3) = 17752.50^(1/3) = 26.09
        assert_eq!(default_batch(5, 1_000_000), 26);
        // (10^9 / (7·20·2.9957323))^(1/3) = 2384349.9^(1/3) = 133.6
        assert_eq!(default_batch(20, 1_000_000_000), 133);
        assert_eq!(default_batch(20, 1), 1);
        assert_eq!(default_batch(1, 500), 500);
    }

    #[test]
    fn the_default_rate_is_that_for_the_number_of_batches() {
        let (batch, gamma) = resolve(BatchedExp3::builder(), 5, Some(1_000_000)).unwrap();
        assert_eq!((batch, gamma), (26, default_gamma(5, 38_462))); // 10^6 / 26 = 38461.5
        assert_eq!(resolve(BatchedExp3::builder().batch(100), 5, Some(1_000_000)).unwrap().1, default_gamma(5, 10_000));
    }

    #[test]
    fn learns_from_the_mean_of_a_batch() {
        let problem = Problem { arms: 2, horizon: None };
        let spec = BatchedExp3::builder().batch(4).gamma(0.5);
        let mut policy = spec.build(&problem, StreamKey::new(1, "", 0).policy()).unwrap();
        let run = policy.next_run();
        assert_eq!((run.burn_in, run.record), (0, 4));
        policy.observe(run, Feedback { plays: 4, sum: 3.0, sum_sq: 3.0 });
        let mut expected = ExpWeights::new(2, 0.5);
        expected.learn(run.arm, 0.75);
        assert_eq!(policy.weights, expected);
    }

    #[test]
    fn invalid_parameters_are_named() {
        let spec = |batch, gamma| BatchedExp3Spec { batch, gamma };
        for incomplete in [spec(None, None), spec(Some(5), None), spec(None, Some(0.1))] {
            let refused = resolve(incomplete, 3, None).unwrap_err();
            assert_eq!(
                refused,
                PolicyError::HorizonNeeded { policy: "batched-exp3", instead: "set `batch` and `gamma`" }
            );
        }
        assert!(resolve(spec(Some(5), Some(0.1)), 3, None).is_ok());
        let refused = resolve(spec(Some(0), None), 3, Some(100)).unwrap_err();
        assert!(matches!(refused, PolicyError::Parameter { parameter: "batch", .. }));
        let refused = resolve(spec(None, Some(f64::NAN)), 3, Some(100)).unwrap_err();
        assert!(matches!(refused, PolicyError::Parameter { parameter: "gamma", .. }));
    }
}
