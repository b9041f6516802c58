//! UCB1: upper confidence bounds without any care of warm-up.
//!
//! Auer, Cesa-Bianchi and Fischer, "Finite-time analysis of the multiarmed bandit problem", Machine Learning 47,
//! 235-256 (2002), Figure 1, <https://doi.org/10.1023/A:1013689704352>. For losses: every arm once, then always the arm
//! with the least
//!
//! ```text
//! mean_x - sqrt(2·ln(N) / n_x)
//! ```
//!
//! after N plays, n_x of them of arm x. A reference: switching all the time, it never sees what a calibrated arm gives.
//! It is [`EpochUcb`](super::EpochUcb) with a memory bound of 1, which also has the constant as a parameter.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::error::check_problem;
use super::index::Index;
use super::spec::Configuration;
use super::{PolicyError, PolicyKind};
use crate::{Feedback, Policy, Problem, Run, Stream};

/// The constant in the index.
const EXPLORATION: f64 = 2.0;

/// The parameters of [`Ucb1`]: none.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Ucb1Spec {}

impl Configuration for Ucb1Spec {
    const KIND: PolicyKind = PolicyKind {
        name: "ucb1",
        summary: "UCB over single plays, without any care of warm-up: a reference.",
        parameters: &[],
        citation: "Auer, Cesa-Bianchi, Fischer (2002). Finite-time analysis of the multiarmed bandit problem. \
                   Machine Learning 47, 235-256. doi:10.1023/A:1013689704352",
    };
    type Policy = Ucb1;

    fn resolve(&self, problem: &Problem) -> Result<Self, PolicyError> {
        check_problem(problem)?;
        Ok(self.clone())
    }

    fn build(&self, problem: &Problem, _: Stream) -> Result<Ucb1, PolicyError> {
        Ucb1::new(problem)
    }

    fn label(&self) -> String {
        "UCB1".to_string()
    }
}

/// UCB1.
///
/// ```
/// use calibandit::policy::Ucb1;
/// use calibandit::{Policy, Problem, Run};
/// let mut policy = Ucb1::new(&Problem { arms: 5, horizon: None })?;
/// assert_eq!(policy.next_run(), Run { arm: 0, burn_in: 0, record: 1 });
/// # Ok::<(), calibandit::PolicyError>(())
/// ```
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Ucb1 {
    index: Index,
}

impl Ucb1 {
    /// A policy ready for its first run. The horizon is ignored.
    pub fn new(problem: &Problem) -> Result<Self, PolicyError> {
        check_problem(problem)?;
        Ok(Self { index: Index::new(problem.arms, EXPLORATION) })
    }
}

impl Policy for Ucb1 {
    #[inline]
    fn next_run(&mut self) -> Run {
        Run { arm: self.index.least(), burn_in: 0, record: 1 }
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
    fn plays_by_hand() {
        let mut policy = Ucb1::new(&Problem { arms: 2, horizon: None }).unwrap();
        let mut play = |loss| {
            let run = policy.next_run();
            assert_eq!((run.burn_in, run.record), (0, 1));
            policy.observe(run, Feedback::one(loss));
            run.arm
        };
        assert_eq!(play(0.9), 0);
        assert_eq!(play(0.1), 1);
        // N = 2, both widths are sqrt(2·ln 2) = 1.177: the lower mean.
        assert_eq!(play(0.3), 1);
        // N = 3. Arm 0: 0.9 - sqrt(2·ln 3) = 0.9 - 1.482 = -0.582; arm 1: 0.2 - sqrt(ln 3) = 0.2 - 1.048 = -0.848.
        assert_eq!(play(1.0), 1);
        // N = 4. Arm 0: 0.9 - sqrt(2·ln 4) = -0.765; arm 1: 1.4/3 - sqrt(2·ln 4 / 3) = 0.467 - 0.961 = -0.495.
        assert_eq!(play(0.0), 0);
        assert_eq!(policy.recommend(), 1);
    }
}
