//! Successive elimination that needs no horizon.
//!
//! Malik, Igoe, Li and Singh, "Weighted Tallying Bandits: Overcoming Intractability via Repeated Exposure Optimality"
//! (2023), Section 3.1, "Efficiency & Practicality": Algorithm 1 with the radius
//!
//! ```text
//! C_s = sqrt(64 / n_s · ln(2·K / delta)),   delta < 0.009,
//! ```
//!
//! which for any horizon up to 2^64 is at least the radius of Algorithm 1, so that its guarantee holds up to constants
//! whenever playing stops.
//!
//! The epochs are those of [`SuccessiveElimination`](super::SuccessiveElimination). The last arm is played in a single
//! [`Run::forever`] here as well: there is nothing left to learn, so whoever plays live need not report any more losses.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::elimination::Elimination;
use super::error::{check, check_memory_bound, check_problem};
use super::spec::{Configuration, MEMORY_BOUND};
use super::{Parameter, PolicyError, PolicyKind};
use crate::math;
use crate::{Certificate, Feedback, Policy, Problem, Run, Stream};

const NAME: &str = "anytime-elimination";

/// The constant in the radius.
const CONSTANT: f64 = 64.0;

/// More epochs than this do not fit into 2^64 plays.
const EPOCHS: u32 = 64;

/// The parameters of [`AnytimeElimination`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct AnytimeEliminationSpec {
    /// What the policy is told about the memory: at least the game's true memory, the paper's M.
    #[schemars(range(min = 1))]
    pub memory_bound: u64,
    /// The probability with which the guarantee may fail; the paper asks for less than 0.009.
    #[serde(default = "default_delta")]
    #[schemars(extend("exclusiveMinimum" = 0, "exclusiveMaximum" = 0.009))]
    pub delta: f64,
}

fn default_delta() -> f64 {
    0.005
}

impl AnytimeEliminationSpec {
    /// The default: delta 0.005.
    pub fn new(memory_bound: u64) -> Self {
        Self { memory_bound, delta: default_delta() }
    }
}

impl Configuration for AnytimeEliminationSpec {
    const KIND: PolicyKind = PolicyKind {
        name: NAME,
        summary: "The paper's Algorithm 1 with a wider radius, for when the horizon is not known.",
        parameters: &[
            MEMORY_BOUND,
            Parameter {
                name: "delta",
                values: "a number in (0, 0.009)",
                default: Some("0.005"),
                meaning: "The probability with which the guarantee may fail; the paper asks for less than 0.009.",
            },
        ],
        citation: "Malik, Igoe, Li, Singh (2023). Weighted Tallying Bandits: Overcoming Intractability via Repeated \
                   Exposure Optimality. Section 3.1, Efficiency & Practicality.",
    };
    type Policy = AnytimeElimination;

    fn resolve(&self, problem: &Problem) -> Result<Self, PolicyError> {
        check_problem(problem)?;
        check_memory_bound(NAME, self.memory_bound)?;
        let fine = self.delta > 0.0 && self.delta < 0.009;
        check(NAME, "delta", self.delta, fine, "in (0, 0.009), which its horizon-free radius relies on")?;
        Ok(self.clone())
    }

    fn build(&self, problem: &Problem, _: Stream) -> Result<AnytimeElimination, PolicyError> {
        AnytimeElimination::new(self, problem)
    }

    fn memory_bound(&self) -> Option<u64> {
        Some(self.memory_bound)
    }

    fn label(&self) -> String {
        "SE (anytime)".to_string()
    }
}

/// Successive elimination without a horizon.
///
/// ```
/// use calibandit::policy::{AnytimeElimination, AnytimeEliminationSpec};
/// use calibandit::{Policy, Problem, Run};
/// let mut policy = AnytimeElimination::new(&AnytimeEliminationSpec::new(10), &Problem { arms: 2, horizon: None })?;
/// assert_eq!(policy.next_run(), Run { arm: 0, burn_in: 20, record: 20 });
/// # Ok::<(), calibandit::PolicyError>(())
/// ```
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct AnytimeElimination {
    epochs: Elimination,
}

impl AnytimeElimination {
    /// A policy ready for its first run. The horizon is ignored.
    pub fn new(spec: &AnytimeEliminationSpec, problem: &Problem) -> Result<Self, PolicyError> {
        let AnytimeEliminationSpec { memory_bound, delta } = spec.resolve(problem)?;
        let spread = CONSTANT * math::ln(2.0 * problem.arms as f64 / delta);
        Ok(Self { epochs: Elimination::new(problem.arms, memory_bound, spread, delta, EPOCHS) })
    }
}

impl Policy for AnytimeElimination {
    fn next_run(&mut self) -> Run {
        self.epochs.next_run()
    }

    fn observe(&mut self, _: Run, feedback: Feedback) {
        self.epochs.observe(feedback);
    }

    /// The arm with the least mean of the last complete epoch; arm 0 before that.
    fn recommend(&self) -> usize {
        self.epochs.recommend()
    }

    /// The surviving arms and 4·C_s of the last complete epoch; `None` before that. For a single survivor the gap is 0:
    /// the best arm survives with probability 1 - delta, so this is it.
    fn certificate(&self) -> Option<Certificate> {
        self.epochs.certificate()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_radius_is_the_papers() {
        let problem = Problem { arms: 5, horizon: None };
        let mut policy = AnytimeElimination::new(&AnytimeEliminationSpec::new(3), &problem).unwrap();
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

    /// The paper's "short numerical computation": for every horizon up to 2^64 the radius is at least that of Algorithm 1.
    #[test]
    fn the_radius_covers_every_horizon() {
        for arms in [1, 2, 5, 1000] {
            let covers = |delta: f64| CONSTANT * (2.0 * arms as f64 / delta).ln();
            let needed = |delta: f64| 32.0 * (2.0 * arms as f64 * f64::from(EPOCHS) / delta).ln();
            for delta in [1e-9, 0.005, 0.009f64.next_down()] {
                assert!(covers(delta) >= needed(delta), "K = {arms}, delta = {delta}");
            }
        }
    }

    #[test]
    fn a_larger_delta_is_refused() {
        let problem = Problem { arms: 5, horizon: None };
        for delta in [0.009, 0.05, 0.0, -0.1, 1.0, f64::NAN] {
            let refused = AnytimeElimination::new(&AnytimeEliminationSpec { memory_bound: 3, delta }, &problem);
            let refused = refused.unwrap_err().to_string();
            assert!(refused.contains("`delta` must be in (0, 0.009)"), "{refused}");
        }
    }
}
