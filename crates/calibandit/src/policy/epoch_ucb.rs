//! Epoch UCB: upper confidence bounds over epochs of M plays.
//!
//! Malik, Igoe, Li and Singh, "Weighted Tallying Bandits: Overcoming Intractability via Repeated Exposure Optimality"
//! (2023), Section 3.1, the modified UCB that its experiments compare with. An epoch plays one arm M times in a row and
//! records the last loss alone, which comes from the calibrated arm. After N epochs, n_x of them with arm x, the next
//! one goes to the arm with the least
//!
//! ```text
//! mean_x - sqrt(c·ln(N) / n_x),
//! ```
//!
//! the first of them if there are several, once every arm has had an epoch. The paper states no constant; c = 2 is that
//! of UCB1 ([`Ucb1`](super::Ucb1)), whose index this is.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::error::{check_memory_bound, check_positive, check_problem};
use super::index::Index;
use super::spec::{Configuration, MEMORY_BOUND};
use super::{Parameter, PolicyError, PolicyKind};
use crate::{Feedback, Policy, Problem, Run, Stream};

const NAME: &str = "epoch-ucb";

/// The parameters of [`EpochUcb`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct EpochUcbSpec {
    /// What the policy is told about the memory: at least the game's true memory, the paper's M.
    #[schemars(range(min = 1))]
    pub memory_bound: u64,
    /// The constant c in the index mean - sqrt(c ln(epochs) / n): the larger, the more it explores.
    #[serde(default = "default_exploration")]
    #[schemars(extend("exclusiveMinimum" = 0))]
    pub exploration: f64,
}

fn default_exploration() -> f64 {
    2.0
}

impl EpochUcbSpec {
    /// The default: exploration 2.
    pub fn new(memory_bound: u64) -> Self {
        Self { memory_bound, exploration: default_exploration() }
    }
}

impl Configuration for EpochUcbSpec {
    const KIND: PolicyKind = PolicyKind {
        name: NAME,
        summary: "UCB over epochs of M plays of one arm, of which the last one counts.",
        parameters: &[
            MEMORY_BOUND,
            Parameter {
                name: "exploration",
                values: "a positive number",
                default: Some("2"),
                meaning: "The constant c in the index mean - sqrt(c ln(epochs) / n): the larger, the more it explores.",
            },
        ],
        citation: "Malik, Igoe, Li, Singh (2023). Weighted Tallying Bandits: Overcoming Intractability via Repeated \
                   Exposure Optimality. Section 3.1.",
    };
    type Policy = EpochUcb;

    fn resolve(&self, problem: &Problem) -> Result<Self, PolicyError> {
        check_problem(problem)?;
        check_memory_bound(NAME, self.memory_bound)?;
        check_positive(NAME, "exploration", self.exploration)?;
        Ok(self.clone())
    }

    fn build(&self, problem: &Problem, _: Stream) -> Result<EpochUcb, PolicyError> {
        EpochUcb::new(self, problem)
    }

    fn memory_bound(&self) -> Option<u64> {
        Some(self.memory_bound)
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
/// use calibandit::policy::{EpochUcb, EpochUcbSpec};
/// use calibandit::{Policy, Problem, Run};
/// let mut policy = EpochUcb::new(&EpochUcbSpec::new(3), &Problem { arms: 5, horizon: None })?;
/// assert_eq!(policy.next_run(), Run { arm: 0, burn_in: 2, record: 1 });
/// # Ok::<(), calibandit::PolicyError>(())
/// ```
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct EpochUcb {
    memory_bound: u64,
    index: Index,
}

impl EpochUcb {
    /// A policy ready for its first run. The horizon is ignored.
    pub fn new(spec: &EpochUcbSpec, problem: &Problem) -> Result<Self, PolicyError> {
        let EpochUcbSpec { memory_bound, exploration } = spec.resolve(problem)?;
        Ok(Self { memory_bound, index: Index::new(problem.arms, exploration) })
    }
}

impl Policy for EpochUcb {
    #[inline]
    fn next_run(&mut self) -> Run {
        Run { arm: self.index.least(), burn_in: self.memory_bound - 1, record: 1 }
    }

    #[inline]
    fn observe(&mut self, run: Run, feedback: Feedback) {
        self.index.learn(run.arm, feedback.sum);
    }

    fn observe_repeated(&mut self, run: Run, most: u64, feedback: &mut dyn FnMut() -> Feedback) -> u64 {
        self.index.learn_repeated(run.arm, most, &mut || feedback().sum)
    }

    /// The arm that was chosen most often, of several the one with the least mean.
    fn recommend(&self) -> usize {
        self.index.most_chosen()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn plays_every_arm_once_first() {
        let mut policy = EpochUcb::new(&EpochUcbSpec::new(4), &Problem { arms: 3, horizon: None }).unwrap();
        for arm in 0..3 {
            let run = policy.next_run();
            assert_eq!(run, Run { arm, burn_in: 3, record: 1 });
            policy.observe(run, Feedback::one(1.0));
        }
        // All are alike: the first.
        assert_eq!(policy.next_run().arm, 0);
    }

    #[test]
    fn says_what_is_wrong() {
        let problem = Problem { arms: 2, horizon: None };
        for exploration in [0.0, -2.0, f64::NAN, f64::INFINITY] {
            let refused = EpochUcb::new(&EpochUcbSpec { memory_bound: 1, exploration }, &problem).unwrap_err();
            assert!(matches!(refused, PolicyError::Parameter { parameter: "exploration", .. }));
        }
        let refused = EpochUcb::new(&EpochUcbSpec::new(0), &problem).unwrap_err();
        assert_eq!(refused.to_string(), "policy `epoch-ucb`: `memory_bound` must be at least 1, but is 0");
    }
}
