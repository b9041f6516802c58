//! Explore-then-commit with burn-in: measure every arm once, then play the best.
//!
//! Slivkins, "Introduction to Multi-Armed Bandits", Foundations and Trends in Machine Learning 12(1-2), 1-286 (2019),
//! Algorithm 1.1 and Theorem 1.5, <https://arxiv.org/abs/1904.07272>: explore each arm n times, then play the one with
//! the least mean. The theorem's balance is
//!
//! ```text
//! n = (T / K)^(2/3) · (ln T)^(1/3),
//! ```
//!
//! here rounded up. Each measurement follows M - 1 plays that are ignored, so that all n losses come from the
//! calibrated arm. A reference: the least one can do about warm-up.
//!
//! The exploration, K·(M - 1 + n) plays, must fit the horizon. A default n that does not is cut to what fits; an n that
//! was asked for is not, and is an error.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::error::{check, check_memory_bound, check_problem};
use super::spec::{Configuration, MEMORY_BOUND};
use super::{Parameter, PolicyError, PolicyKind};
use crate::math;
use crate::{Feedback, Policy, Problem, Run, Stream};

const NAME: &str = "explore-then-commit";

/// The parameters of [`ExploreThenCommit`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ExploreThenCommitSpec {
    /// What the policy is told about the memory: at least the game's true memory, the paper's M.
    #[schemars(range(min = 1))]
    pub memory_bound: u64,
    /// How many plays of each arm to record before deciding.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1))]
    pub explore: Option<u64>,
}

impl ExploreThenCommitSpec {
    /// The default: as many plays as the theorem says.
    pub fn new(memory_bound: u64) -> Self {
        Self { memory_bound, explore: None }
    }
}

/// The theorem's n, at least 1.
fn default_explore(arms: usize, horizon: u64) -> u64 {
    let (arms, horizon) = (arms as f64, horizon as f64);
    let plays = math::powi(math::cbrt(horizon / arms), 2) * math::cbrt(math::ln(horizon));
    (plays.ceil() as u64).max(1)
}

impl Configuration for ExploreThenCommitSpec {
    const KIND: PolicyKind = PolicyKind {
        name: NAME,
        summary: "Warm up and measure every arm once, then play the best to the end: a reference.",
        parameters: &[
            MEMORY_BOUND,
            Parameter {
                name: "explore",
                values: "an integer, at least 1",
                default: Some("ceil((T / K)^(2/3) (ln T)^(1/3)), or what fits the horizon"),
                meaning: "How many plays of each arm to record before deciding.",
            },
        ],
        citation: "Slivkins (2019). Introduction to Multi-Armed Bandits. Foundations and Trends in Machine Learning \
                   12(1-2), Theorem 1.5. arXiv:1904.07272",
    };
    type Policy = ExploreThenCommit;

    fn resolve(&self, problem: &Problem) -> Result<Self, PolicyError> {
        check_problem(problem)?;
        let memory_bound = self.memory_bound;
        check_memory_bound(NAME, memory_bound)?;
        if let Some(explore) = self.explore {
            check(NAME, "explore", explore as f64, explore >= 1, "at least 1")?;
        }
        let Some(horizon) = problem.horizon else {
            return match self.explore {
                Some(_) => Ok(self.clone()),
                None => Err(PolicyError::HorizonNeeded { policy: NAME, instead: "set `explore`" }),
            };
        };
        let least = self.explore.unwrap_or(1);
        let needed = problem.arms as u128 * (u128::from(memory_bound - 1) + u128::from(least));
        if u128::from(horizon) < needed {
            let why = "K·(M - 1 + explore), measuring every arm";
            return Err(PolicyError::HorizonTooShort { policy: NAME, needed, why, horizon });
        }
        let fits = horizon / problem.arms as u64 - (memory_bound - 1);
        let explore = self.explore.unwrap_or_else(|| default_explore(problem.arms, horizon).min(fits));
        Ok(Self { memory_bound, explore: Some(explore) })
    }

    fn build(&self, problem: &Problem, _: Stream) -> Result<ExploreThenCommit, PolicyError> {
        ExploreThenCommit::new(self, problem)
    }

    fn memory_bound(&self) -> Option<u64> {
        Some(self.memory_bound)
    }

    fn label(&self) -> String {
        "ETC".to_string()
    }
}

/// Explore-then-commit with burn-in.
///
/// ```
/// use calibandit::policy::{ExploreThenCommit, ExploreThenCommitSpec};
/// use calibandit::{Feedback, Policy, Problem, Run};
/// let spec = ExploreThenCommitSpec { memory_bound: 3, explore: Some(10) };
/// let mut policy = ExploreThenCommit::new(&spec, &Problem { arms: 2, horizon: None })?;
/// for (arm, sum) in [(0, 6.0), (1, 4.0)] {
///     let run = policy.next_run();
///     assert_eq!(run, Run { arm, burn_in: 2, record: 10 });
///     policy.observe(run, Feedback { plays: 10, sum, sum_sq: sum });
/// }
/// assert_eq!(policy.next_run(), Run::forever(1));
/// # Ok::<(), calibandit::PolicyError>(())
/// ```
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ExploreThenCommit {
    arms: usize,
    memory_bound: u64,
    explore: u64,
    /// How many arms have been measured.
    measured: usize,
    /// The arm with the least mean so far, and that mean.
    best: usize,
    best_mean: f64,
}

impl ExploreThenCommit {
    /// A policy ready for its first run. Either the horizon or `explore` must be given.
    pub fn new(spec: &ExploreThenCommitSpec, problem: &Problem) -> Result<Self, PolicyError> {
        let ExploreThenCommitSpec { memory_bound, explore } = spec.resolve(problem)?;
        let explore = explore.unwrap_or(1); // always there once resolved
        Ok(Self { arms: problem.arms, memory_bound, explore, measured: 0, best: 0, best_mean: 0.0 })
    }
}

impl Policy for ExploreThenCommit {
    fn next_run(&mut self) -> Run {
        if self.measured < self.arms {
            Run { arm: self.measured, burn_in: self.memory_bound - 1, record: self.explore }
        } else {
            Run::forever(self.best)
        }
    }

    fn observe(&mut self, run: Run, feedback: Feedback) {
        if self.measured == self.arms {
            return;
        }
        let mean = feedback.mean();
        if self.measured == 0 || mean < self.best_mean {
            self.best = run.arm;
            self.best_mean = mean;
        }
        self.measured += 1;
    }

    /// The arm with the least mean so far.
    fn recommend(&self) -> usize {
        self.best
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn resolve(spec: ExploreThenCommitSpec, arms: usize, horizon: Option<u64>) -> Result<u64, PolicyError> {
        Ok(spec.resolve(&Problem { arms, horizon })?.explore.unwrap())
    }

    #[test]
    fn the_length_is_the_theorems() {
        // (10^6 / 8)^(2/3) = 2500 and ln(10^6)^(1/3) = 13.8155^(1/3) = 2.39946: 5998.6
        assert_eq!(default_explore(8, 1_000_000), 5999);
        assert_eq!(default_explore(1, 1), 1);
    }

    #[test]
    fn commits_to_the_first_of_the_best() {
        let spec = ExploreThenCommitSpec { memory_bound: 1, explore: Some(2) };
        let mut policy = ExploreThenCommit::new(&spec, &Problem { arms: 4, horizon: Some(8) }).unwrap();
        for sum in [5.0, -3.0, -3.0, 9.0] {
            let run = policy.next_run();
            policy.observe(run, Feedback { plays: 2, sum, sum_sq: 9.0 });
        }
        assert_eq!(policy.next_run(), Run::forever(1));
        assert_eq!(policy.recommend(), 1);
    }

    #[test]
    fn a_default_is_cut_to_the_horizon_and_a_wish_is_not() {
        // 4 arms of 10 plays each, 7 of them to warm up, leave 3.
        assert_eq!(resolve(ExploreThenCommitSpec::new(8), 4, Some(43)), Ok(3));
        assert_eq!(resolve(ExploreThenCommitSpec::new(10), 4, Some(40)), Ok(1));
        let wish = ExploreThenCommitSpec { memory_bound: 8, explore: Some(4) };
        assert_eq!(resolve(wish.clone(), 4, Some(44)), Ok(4));
        let refused = resolve(wish.clone(), 4, Some(43)).unwrap_err();
        assert!(matches!(refused, PolicyError::HorizonTooShort { needed: 44, horizon: 43, .. }));
        assert_eq!(resolve(wish, 4, None), Ok(4));
    }

    #[test]
    fn says_what_is_wrong() {
        let refused = resolve(ExploreThenCommitSpec::new(10), 4, Some(39)).unwrap_err();
        assert!(matches!(refused, PolicyError::HorizonTooShort { needed: 40, .. }));
        let refused = resolve(ExploreThenCommitSpec::new(u64::MAX), 1000, Some(u64::MAX)).unwrap_err();
        assert!(matches!(refused, PolicyError::HorizonTooShort { .. }));
        let refused = resolve(ExploreThenCommitSpec::new(10), 4, None).unwrap_err();
        assert!(matches!(refused, PolicyError::HorizonNeeded { .. }));
        let none = ExploreThenCommitSpec { memory_bound: 1, explore: Some(0) };
        assert!(matches!(resolve(none, 4, None), Err(PolicyError::Parameter { parameter: "explore", .. })));
    }
}
