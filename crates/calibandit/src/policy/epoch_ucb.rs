//! Epoch UCB: upper confidence bounds over epochs of M plays.
//!
//! Malik, Igoe, Li and Singh, "Weighted Tallying Bandits: Overcoming Intractability via Repeated Exposure Optimality"
//! (2023), Section 3.1, the modified UCB of its experiments. An epoch plays one arm M times in a row and records only
//! the last loss, which comes from the calibrated arm. After N epochs, n_x of them with arm x, the next epoch plays the
//! arm with the least
//!
//! ```text
//! mean_x - sqrt(c·ln(N) / n_x),
//! ```
//!
//! the first such arm in case of a tie, once every arm has had one epoch. The paper states no constant; c = 2 is that
//! of UCB1 ([`Ucb1`](super::Ucb1)), which has the same index.

use super::PolicyError;
use super::error::{check_memory_bound, check_positive, check_problem};
use super::history::{StateError, ensure};
use super::spec::PolicyConfig;
use super::ucb_index::{UcbIndex, ucb_policy};
use crate::{GameClass, Problem, Stream};

/// UCB over epochs of M plays of one arm, of which only the last is recorded.
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(deny_unknown_fields))]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct EpochUcbSpec {
    /// What the policy is told about the memory: at least the game's true memory, the paper's M.
    #[cfg_attr(feature = "schema", schemars(range(min = 1)))]
    pub memory_bound: u64,
    /// The constant c in the index mean - sqrt(c ln(epochs) / n): a larger one explores more.
    #[cfg_attr(feature = "serde", serde(default = "default_exploration"))]
    #[cfg_attr(feature = "schema", schemars(extend("exclusiveMinimum" = 0)))]
    pub exploration: f64,
}

fn default_exploration() -> f64 {
    2.0
}

impl EpochUcbSpec {
    /// Sets the constant c in the index, a positive number.
    pub fn exploration(mut self, constant: f64) -> Self {
        self.exploration = constant;
        self
    }
}

/// The checked parameters of [`EpochUcb`], made by [`EpochUcbSpec::params`].
#[derive(Clone, Debug, PartialEq)]
pub struct EpochUcbParams {
    arms: usize,
    memory_bound: u64,
    exploration: f64,
}

impl PolicyConfig for EpochUcbSpec {
    const NAME: &'static str = "epoch-ucb";
    const CITATION: &'static str = "Malik, Igoe, Li, Singh (2023). Weighted Tallying Bandits: Overcoming \
                                    Intractability via Repeated Exposure Optimality. Section 3.1.";
    const MEANT_FOR: &'static [GameClass] = &[GameClass::RepeatedExposure];
    type Params = EpochUcbParams;
    type Policy = EpochUcb;

    fn example() -> Self {
        EpochUcb::builder(2)
    }

    fn check(&self) -> Result<(), PolicyError> {
        check_memory_bound(Self::NAME, self.memory_bound)?;
        check_positive(Self::NAME, "exploration", self.exploration)
    }

    fn params(&self, problem: &Problem) -> Result<EpochUcbParams, PolicyError> {
        check_problem(problem)?;
        self.check()?;
        let Self { memory_bound, exploration } = *self;
        Ok(EpochUcbParams { arms: problem.arms, memory_bound, exploration })
    }

    fn filled(params: &EpochUcbParams) -> Self {
        Self { memory_bound: params.memory_bound, exploration: params.exploration }
    }

    fn start(params: EpochUcbParams, _: Stream) -> EpochUcb {
        EpochUcb::new(params)
    }

    fn memory_bound(&self) -> Option<u64> {
        Some(self.memory_bound)
    }

    fn set_memory_bound(&mut self, memory_bound: u64) {
        self.memory_bound = memory_bound;
    }

    fn label(&self) -> String {
        if self.exploration == default_exploration() {
            "UCB (epochs)".to_string()
        } else {
            format!("UCB (epochs, c = {})", self.exploration)
        }
    }
}

/// Upper confidence bounds over epochs of M plays.
///
/// ```
/// use calibandit::policy::EpochUcb;
/// use calibandit::{Policy, Problem, Run};
/// let mut policy = EpochUcb::new(EpochUcb::builder(3).params(&Problem { arms: 5, horizon: None })?);
/// assert_eq!(policy.next_run(), Run { arm: 0, burn_in: 2, record: 1 });
/// # Ok::<(), calibandit::PolicyError>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(deny_unknown_fields))]
pub struct EpochUcb {
    memory_bound: u64,
    index: UcbIndex,
}

impl EpochUcb {
    /// Default parameters for a memory of at most `memory_bound`: exploration 2. The horizon is ignored.
    pub fn builder(memory_bound: u64) -> EpochUcbSpec {
        EpochUcbSpec { memory_bound, exploration: default_exploration() }
    }

    /// A policy ready for its first run.
    pub fn new(params: EpochUcbParams) -> Self {
        Self { memory_bound: params.memory_bound, index: UcbIndex::new(params.arms, params.exploration) }
    }

    fn check_parameters(&self) -> Result<(), StateError> {
        ensure(self.memory_bound >= 1, "the memory bound is 0")
    }

    fn burn_in(&self) -> u64 {
        self.memory_bound - 1
    }
}

ucb_policy!(EpochUcb);

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Feedback, Policy, Run};

    #[test]
    fn every_arm_is_played_once_before_any_is_repeated() {
        let mut policy = EpochUcb::new(EpochUcb::builder(4).params(&Problem { arms: 3, horizon: None }).unwrap());
        for arm in 0..3 {
            let run = policy.next_run();
            assert_eq!(run, Run { arm, burn_in: 3, record: 1 });
            policy.observe(run, Feedback::one(1.0));
        }
        // All indices are equal: the first arm.
        assert_eq!(policy.next_run().arm, 0);
    }

    #[test]
    fn invalid_parameters_are_named() {
        let problem = Problem { arms: 2, horizon: None };
        for exploration in [0.0, -2.0, f64::NAN, f64::INFINITY] {
            let refused = EpochUcb::builder(1).exploration(exploration).params(&problem).unwrap_err();
            assert!(matches!(refused, PolicyError::Parameter { parameter: "exploration", .. }));
        }
        let refused = EpochUcb::builder(0).params(&problem).unwrap_err();
        assert_eq!(refused.to_string(), "policy `epoch-ucb`: `memory_bound` must be at least 1, but is 0");
    }
}
