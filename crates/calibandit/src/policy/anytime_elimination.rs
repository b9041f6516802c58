//! Successive elimination that needs no horizon.
//!
//! Malik, Igoe, Li and Singh, "Weighted Tallying Bandits: Overcoming Intractability via Repeated Exposure Optimality"
//! (2023), Section 3.1, "Efficiency & Practicality": Algorithm 1 with the radius
//!
//! ```text
//! C_s = sqrt(64 / n_s · ln(2·K / delta)),   delta < 0.009,
//! ```
//!
//! which is at least the radius of Algorithm 1 for every horizon up to 2^64, so that its guarantee holds up to
//! constants whenever playing stops.
//!
//! The epochs are those of [`SuccessiveElimination`](super::SuccessiveElimination). The last arm is played in a single
//! [`Run::forever`](crate::Run::forever) here as well: nothing is left to learn, so a live caller need not report any
//! more losses.

use super::PolicyError;
use super::elimination::{Elimination, elimination_policy};
use super::error::{check, check_memory_bound, check_problem};
use super::spec::PolicyConfig;
use crate::math;
use crate::{GameClass, Problem, Stream};

/// The constant in the radius, that of the paper.
const CONSTANT: f64 = 64.0;

/// An upper limit on the number of epochs: more do not fit into 2^64 plays.
const EPOCHS: u32 = 64;

/// The paper's Algorithm 1 with a wider radius, for an unknown horizon.
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(deny_unknown_fields))]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct AnytimeEliminationSpec {
    /// What the policy is told about the memory: at least the game's true memory, the paper's M.
    #[cfg_attr(feature = "schema", schemars(range(min = 1)))]
    pub memory_bound: u64,
    /// The probability with which the guarantee may fail; the paper requires less than 0.009.
    #[cfg_attr(feature = "serde", serde(default = "default_delta"))]
    #[cfg_attr(feature = "schema", schemars(extend("exclusiveMinimum" = 0, "exclusiveMaximum" = 0.009)))]
    pub delta: f64,
}

fn default_delta() -> f64 {
    0.005
}

impl AnytimeEliminationSpec {
    /// Sets the probability with which the guarantee may fail, in (0, 0.009).
    pub fn delta(mut self, delta: f64) -> Self {
        self.delta = delta;
        self
    }
}

/// The checked parameters of [`AnytimeElimination`], made by [`AnytimeEliminationSpec::params`].
#[derive(Clone, Debug, PartialEq)]
pub struct AnytimeEliminationParams {
    arms: usize,
    memory_bound: u64,
    delta: f64,
}

impl PolicyConfig for AnytimeEliminationSpec {
    const NAME: &'static str = "anytime-elimination";
    const CITATION: &'static str = "Malik, Igoe, Li, Singh (2023). Weighted Tallying Bandits: Overcoming \
                                    Intractability via Repeated Exposure Optimality. Section 3.1, Efficiency & \
                                    Practicality.";
    const MEANT_FOR: &'static [GameClass] = &[GameClass::RepeatedExposure];
    type Params = AnytimeEliminationParams;
    type Policy = AnytimeElimination;

    fn example() -> Self {
        AnytimeElimination::builder(2)
    }

    fn check(&self) -> Result<(), PolicyError> {
        check_memory_bound(Self::NAME, self.memory_bound)?;
        let fine = self.delta > 0.0 && self.delta < 0.009;
        check(Self::NAME, "delta", self.delta, fine, "in (0, 0.009), as its horizon-free radius requires")
    }

    fn params(&self, problem: &Problem) -> Result<AnytimeEliminationParams, PolicyError> {
        check_problem(problem)?;
        self.check()?;
        let Self { memory_bound, delta } = *self;
        Ok(AnytimeEliminationParams { arms: problem.arms, memory_bound, delta })
    }

    fn filled(params: &AnytimeEliminationParams) -> Self {
        Self { memory_bound: params.memory_bound, delta: params.delta }
    }

    fn start(params: AnytimeEliminationParams, _: Stream) -> AnytimeElimination {
        AnytimeElimination::new(params)
    }

    fn memory_bound(&self) -> Option<u64> {
        Some(self.memory_bound)
    }

    fn set_memory_bound(&mut self, memory_bound: u64) {
        self.memory_bound = memory_bound;
    }

    fn label(&self) -> String {
        "SE (anytime)".to_string()
    }
}

/// Successive elimination without a horizon.
///
/// ```
/// use calibandit::policy::AnytimeElimination;
/// use calibandit::{Policy, Problem, Run};
/// let params = AnytimeElimination::builder(10).params(&Problem { arms: 2, horizon: None })?;
/// assert_eq!(AnytimeElimination::new(params).next_run(), Run { arm: 0, burn_in: 20, record: 20 });
/// # Ok::<(), calibandit::PolicyError>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(transparent))]
pub struct AnytimeElimination {
    epochs: Elimination,
}

impl AnytimeElimination {
    /// Default parameters for a memory of at most `memory_bound`: delta 0.005. The horizon is ignored.
    pub fn builder(memory_bound: u64) -> AnytimeEliminationSpec {
        AnytimeEliminationSpec { memory_bound, delta: default_delta() }
    }

    /// A policy ready for its first run.
    pub fn new(params: AnytimeEliminationParams) -> Self {
        let AnytimeEliminationParams { arms, memory_bound, delta } = params;
        let spread = CONSTANT * math::ln(2.0 * arms as f64 / delta);
        Self { epochs: Elimination::new(arms, memory_bound, spread, delta, EPOCHS) }
    }
}

elimination_policy!(AnytimeElimination);

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Feedback, Policy};

    #[test]
    fn the_radius_is_that_of_the_paper() {
        let problem = Problem { arms: 5, horizon: None };
        let mut policy = AnytimeElimination::new(AnytimeElimination::builder(3).params(&problem).unwrap());
        for _ in 0..5 {
            let run = policy.next_run();
            policy.observe(run, Feedback { plays: 6, sum: 3.0, sum_sq: 3.0 });
        }
        // n_1 = 6: C_1 = sqrt(64/6 · ln(2·5/0.005)).
        let gap = 4.0 * (64.0 / 6.0 * 2000f64.ln()).sqrt();
        let certificate = policy.certificate().unwrap();
        assert!((certificate.gap - gap).abs() < 1e-12 * gap);
        assert_eq!(certificate.delta, 0.005);
    }

    /// The paper's "short numerical computation": for every horizon up to 2^64 the radius is at least that of Algorithm
    /// 1.
    #[test]
    fn the_radius_is_large_enough_for_every_horizon() {
        for arms in [1, 2, 5, 1000] {
            let covers = |delta: f64| CONSTANT * math::ln(2.0 * arms as f64 / delta);
            let needed = |delta: f64| 32.0 * (2.0 * arms as f64 * f64::from(EPOCHS) / delta).ln();
            for delta in [1e-9, 0.005, 0.009f64.next_down()] {
                assert!(covers(delta) >= needed(delta), "K = {arms}, delta = {delta}");
            }
        }
    }

    #[test]
    fn a_delta_outside_its_range_is_refused() {
        let problem = Problem { arms: 5, horizon: None };
        for delta in [0.009, 0.05, 0.0, -0.1, 1.0, f64::NAN] {
            let refused = AnytimeElimination::builder(3).delta(delta).params(&problem).unwrap_err().to_string();
            assert!(refused.contains("`delta` must be in (0, 0.009)"), "{refused}");
        }
    }
}
