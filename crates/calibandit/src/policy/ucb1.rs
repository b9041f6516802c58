//! UCB1: upper confidence bounds over single plays, without burn-in.
//!
//! Auer, Cesa-Bianchi and Fischer, "Finite-time analysis of the multiarmed bandit problem", Machine Learning 47,
//! 235-256 (2002), Figure 1, <https://doi.org/10.1023/A:1013689704352>. For losses: every arm once, then always the arm
//! with the least
//!
//! ```text
//! mean_x - sqrt(2·ln(N) / n_x)
//! ```
//!
//! after N plays, n_x of them of arm x. It is a reference: because it switches often, it hardly ever observes a
//! calibrated arm. It is [`EpochUcb`](super::EpochUcb) with a memory bound of 1, which also has the constant as a
//! parameter.

use super::PolicyError;
use super::error::check_problem;
use super::history::StateError;
use super::spec::PolicyConfig;
use super::ucb_index::{UcbIndex, ucb_policy};
use crate::{GameClass, Problem, Stream};

/// The constant in the index, that of the paper.
const EXPLORATION: f64 = 2.0;

/// UCB over single plays, without burn-in: a reference.
#[derive(Clone, Debug, Default, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(deny_unknown_fields))]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct Ucb1Spec {}

/// The checked parameters of [`Ucb1`], made by [`Ucb1Spec::params`].
#[derive(Clone, Debug, PartialEq)]
pub struct Ucb1Params {
    arms: usize,
}

impl PolicyConfig for Ucb1Spec {
    const NAME: &'static str = "ucb1";
    const CITATION: &'static str = "Auer, Cesa-Bianchi, Fischer (2002). Finite-time analysis of the multiarmed bandit \
                                    problem. Machine Learning 47, 235-256. doi:10.1023/A:1013689704352";
    const MEANT_FOR: &'static [GameClass] = &[GameClass::Plain];
    type Params = Ucb1Params;
    type Policy = Ucb1;

    fn example() -> Self {
        Ucb1::builder()
    }

    fn check(&self) -> Result<(), PolicyError> {
        Ok(())
    }

    fn params(&self, problem: &Problem) -> Result<Ucb1Params, PolicyError> {
        check_problem(problem)?;
        Ok(Ucb1Params { arms: problem.arms })
    }

    fn filled(_: &Ucb1Params) -> Self {
        Self {}
    }

    fn start(params: Ucb1Params, _: Stream) -> Ucb1 {
        Ucb1::new(params)
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
/// let mut policy = Ucb1::new(Ucb1::builder().params(&Problem { arms: 5, horizon: None })?);
/// assert_eq!(policy.next_run(), Run { arm: 0, burn_in: 0, record: 1 });
/// # Ok::<(), calibandit::PolicyError>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(transparent))]
pub struct Ucb1 {
    index: UcbIndex,
}

impl Ucb1 {
    /// There are no parameters; the horizon is ignored.
    pub fn builder() -> Ucb1Spec {
        Ucb1Spec::default()
    }

    /// A policy ready for its first run.
    pub fn new(params: Ucb1Params) -> Self {
        Self { index: UcbIndex::new(params.arms, EXPLORATION) }
    }

    fn check_parameters(&self) -> Result<(), StateError> {
        Ok(())
    }

    fn burn_in(&self) -> u64 {
        0
    }
}

ucb_policy!(Ucb1);

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Feedback, Policy};

    #[test]
    fn choices_agree_with_a_calculation_by_hand() {
        let mut policy = Ucb1::new(Ucb1::builder().params(&Problem { arms: 2, horizon: None }).unwrap());
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
