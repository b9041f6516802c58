//! Explore-then-commit with burn-in: measure every arm once, then play the best until the end.
//!
//! Slivkins, "Introduction to Multi-Armed Bandits", Foundations and Trends in Machine Learning 12(1-2), 1-286 (2019),
//! Algorithm 1.1 and Theorem 1.5, <https://arxiv.org/abs/1904.07272>: explore each arm n times, then play the arm with
//! the least mean. The theorem's n is
//!
//! ```text
//! n = (T / K)^(2/3) · (ln T)^(1/3),
//! ```
//!
//! rounded up here. Each measurement follows a burn-in of M - 1 plays, so that all n losses come from the calibrated
//! arm. It is a reference: the simplest policy with burn-in.
//!
//! The exploration, K·(M - 1 + n) plays, must fit into the horizon. A default n that does not fit is reduced until it
//! does; an n that was given and does not fit is an error.

use super::error::{check, check_memory_bound, check_problem};
use super::history::{RestoredPlays, StateError, ensure};
use super::spec::PolicyConfig;
use super::{ArmReport, ArmStatus, PolicyError, RunReason};
use crate::math;
use crate::{Feedback, GameClass, Policy, Problem, Run, Stream};

/// Measure every arm once after a burn-in, then play the best until the end: a reference.
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(deny_unknown_fields))]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct ExploreThenCommitSpec {
    /// What the policy is told about the memory: at least the game's true memory, the paper's M.
    #[cfg_attr(feature = "schema", schemars(range(min = 1)))]
    pub memory_bound: u64,
    /// The number of plays to record of each arm before the decision.
    ///
    /// Default: ceil((T / K)^(2/3) (ln T)^(1/3)), or as many as the horizon allows.
    #[cfg_attr(feature = "serde", serde(default, skip_serializing_if = "Option::is_none"))]
    #[cfg_attr(feature = "schema", schemars(range(min = 1)))]
    pub explore: Option<u64>,
}

impl ExploreThenCommitSpec {
    /// Sets the number of plays to record of each arm before the decision, at least 1.
    pub fn explore(mut self, plays: u64) -> Self {
        self.explore = Some(plays);
        self
    }
}

/// The checked parameters of [`ExploreThenCommit`], made by [`ExploreThenCommitSpec::params`].
#[derive(Clone, Debug, PartialEq)]
pub struct ExploreThenCommitParams {
    arms: usize,
    memory_bound: u64,
    explore: u64,
}

/// The theorem's n, at least 1.
fn default_explore(arms: usize, horizon: u64) -> u64 {
    let (arms, horizon) = (arms as f64, horizon as f64);
    let plays = math::powi(math::cbrt(horizon / arms), 2) * math::cbrt(math::ln(horizon));
    (plays.ceil() as u64).max(1)
}

impl PolicyConfig for ExploreThenCommitSpec {
    const NAME: &'static str = "explore-then-commit";
    const CITATION: &'static str = "Slivkins (2019). Introduction to Multi-Armed Bandits. Foundations and Trends in \
                                    Machine Learning 12(1-2), Theorem 1.5. arXiv:1904.07272";
    const MEANT_FOR: &'static [GameClass] = &[GameClass::RepeatedExposure];
    type Params = ExploreThenCommitParams;
    type Policy = ExploreThenCommit;

    fn example() -> Self {
        ExploreThenCommit::builder(2)
    }

    fn check(&self) -> Result<(), PolicyError> {
        check_memory_bound(Self::NAME, self.memory_bound)?;
        self.explore.map_or(Ok(()), |n| check(Self::NAME, "explore", n as f64, n >= 1, "at least 1"))
    }

    fn params(&self, problem: &Problem) -> Result<ExploreThenCommitParams, PolicyError> {
        check_problem(problem)?;
        self.check()?;
        let Problem { arms, horizon } = *problem;
        let memory_bound = self.memory_bound;
        if let Some(horizon) = horizon {
            let least = self.explore.unwrap_or(1);
            let needed = arms as u128 * (u128::from(memory_bound - 1) + u128::from(least));
            if u128::from(horizon) < needed {
                let why = "K·(M - 1 + explore), measuring every arm";
                return Err(PolicyError::HorizonTooShort { policy: Self::NAME, needed, why, horizon });
            }
        }
        let explore = match (self.explore, horizon) {
            (Some(explore), _) => explore,
            (None, Some(horizon)) => {
                let fits = horizon / arms as u64 - (memory_bound - 1);
                default_explore(arms, horizon).min(fits)
            }
            (None, None) => return Err(PolicyError::HorizonNeeded { policy: Self::NAME, instead: "set `explore`" }),
        };
        Ok(ExploreThenCommitParams { arms, memory_bound, explore })
    }

    fn filled(params: &ExploreThenCommitParams) -> Self {
        Self { memory_bound: params.memory_bound, explore: Some(params.explore) }
    }

    fn start(params: ExploreThenCommitParams, _: Stream) -> ExploreThenCommit {
        ExploreThenCommit::new(params)
    }

    fn memory_bound(&self) -> Option<u64> {
        Some(self.memory_bound)
    }

    fn set_memory_bound(&mut self, memory_bound: u64) {
        self.memory_bound = memory_bound;
    }

    fn label(&self) -> String {
        "ETC".to_string()
    }
}

/// Explore-then-commit with burn-in.
///
/// ```
/// use calibandit::policy::ExploreThenCommit;
/// use calibandit::{Feedback, Policy, Problem, Run};
/// let params = ExploreThenCommit::builder(3).explore(10).params(&Problem { arms: 2, horizon: None })?;
/// let mut policy = ExploreThenCommit::new(params);
/// for (arm, sum) in [(0, 6.0), (1, 4.0)] {
///     let run = policy.next_run();
///     assert_eq!(run, Run { arm, burn_in: 2, record: 10 });
///     policy.observe(run, Feedback { plays: 10, sum, sum_sq: sum });
/// }
/// assert_eq!(policy.next_run(), Run::forever(1));
/// # Ok::<(), calibandit::PolicyError>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(deny_unknown_fields))]
pub struct ExploreThenCommit {
    arms: usize,
    memory_bound: u64,
    explore: u64,
    /// The number of arms measured so far.
    measured: usize,
    /// The arm with the least mean so far.
    best: usize,
    /// Its mean.
    best_mean: f64,
}

impl ExploreThenCommit {
    /// Default parameters for a memory of at most `memory_bound`. Either the horizon must be known or
    /// [`explore`](ExploreThenCommitSpec::explore) be set.
    pub fn builder(memory_bound: u64) -> ExploreThenCommitSpec {
        ExploreThenCommitSpec { memory_bound, explore: None }
    }

    /// A policy ready for its first run.
    pub fn new(params: ExploreThenCommitParams) -> Self {
        let ExploreThenCommitParams { arms, memory_bound, explore } = params;
        Self { arms, memory_bound, explore, measured: 0, best: 0, best_mean: 0.0 }
    }

    fn run(&self) -> Run {
        if self.measured < self.arms {
            Run { arm: self.measured, burn_in: self.memory_bound - 1, record: self.explore }
        } else {
            Run::forever(self.best)
        }
    }
}

impl Policy for ExploreThenCommit {
    fn next_run(&mut self) -> Run {
        self.run()
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

    fn arm_reports(&self) -> Option<Vec<ArmReport>> {
        if self.measured < self.arms {
            return None;
        }
        let mut reports = vec![ArmReport::new(ArmStatus::RuledOut); self.arms];
        reports[self.best].status = ArmStatus::Leading;
        Some(reports)
    }

    fn run_reason(&self, _: Run) -> RunReason {
        if self.measured < self.arms { RunReason::Opening } else { RunReason::Commitment }
    }

    fn check_restored(&self, history: &RestoredPlays<'_>) -> Result<(), StateError> {
        ensure(self.arms == history.arms, "the policy has another number of arms")?;
        ensure(self.memory_bound >= 1 && self.explore >= 1, "the memory bound or the number of plays is 0")?;
        ensure(self.measured <= self.arms, "more arms are measured than there are")?;
        ensure(self.best < self.measured.max(1), "the best arm is not a measured one")?;
        let mean = if self.measured == 0 { self.best_mean == 0.0 } else { history.allows_mean(self.best_mean) };
        ensure(mean, "the mean loss of the best arm is out of range")?;
        let recorded = |arm| history.has_recorded(arm, if arm < self.measured { self.explore } else { 0 });
        ensure((0..self.arms).all(recorded), "the recorded plays differ from those of the measured arms")?;
        ensure(history.has_burn_in(self.memory_bound - 1, self.explore), "the burn-in does not fit the memory bound")?;
        ensure(history.open.is_none_or(|run| run == self.run()), "the open run is not the one asked for")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn resolve(spec: ExploreThenCommitSpec, arms: usize, horizon: Option<u64>) -> Result<u64, PolicyError> {
        spec.params(&Problem { arms, horizon }).map(|params| params.explore)
    }

    #[test]
    fn the_default_length_is_that_of_the_theorem() {
        // (10^6 / 8)^(2/3) = 2500 and ln(10^6)^(1/3) = 13.8155^(1/3) = 2.39946: 5998.6
        assert_eq!(default_explore(8, 1_000_000), 5999);
        assert_eq!(default_explore(1, 1), 1);
    }

    #[test]
    fn a_tie_is_decided_for_the_first_arm() {
        let params = ExploreThenCommit::builder(1).explore(2).params(&Problem { arms: 4, horizon: Some(8) });
        let mut policy = ExploreThenCommit::new(params.unwrap());
        for sum in [5.0, -3.0, -3.0, 9.0] {
            let run = policy.next_run();
            policy.observe(run, Feedback { plays: 2, sum, sum_sq: 9.0 });
        }
        assert_eq!(policy.next_run(), Run::forever(1));
        assert_eq!(policy.recommend(), 1);
    }

    #[test]
    fn a_default_length_is_reduced_to_fit_and_a_given_one_is_refused() {
        // 4 arms of 10 plays each, 7 of them burn-in, leave 3.
        assert_eq!(resolve(ExploreThenCommit::builder(8), 4, Some(43)), Ok(3));
        assert_eq!(resolve(ExploreThenCommit::builder(10), 4, Some(40)), Ok(1));
        let given = ExploreThenCommit::builder(8).explore(4);
        assert_eq!(resolve(given.clone(), 4, Some(44)), Ok(4));
        let refused = resolve(given.clone(), 4, Some(43)).unwrap_err();
        assert!(matches!(refused, PolicyError::HorizonTooShort { needed: 44, horizon: 43, .. }));
        assert_eq!(resolve(given, 4, None), Ok(4));
    }

    #[test]
    fn invalid_parameters_are_named() {
        let refused = resolve(ExploreThenCommit::builder(10), 4, Some(39)).unwrap_err();
        assert!(matches!(refused, PolicyError::HorizonTooShort { needed: 40, .. }));
        let refused = resolve(ExploreThenCommit::builder(u64::MAX), 1000, Some(u64::MAX)).unwrap_err();
        assert!(matches!(refused, PolicyError::HorizonTooShort { .. }));
        let refused = resolve(ExploreThenCommit::builder(10), 4, None).unwrap_err();
        assert!(matches!(refused, PolicyError::HorizonNeeded { .. }));
        let none = ExploreThenCommit::builder(1).explore(0);
        assert!(matches!(resolve(none, 4, None), Err(PolicyError::Parameter { parameter: "explore", .. })));
    }
}
