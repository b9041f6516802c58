//! Successive elimination: the paper's Algorithm 1.
//!
//! Malik, Igoe, Li and Singh, "Weighted Tallying Bandits: Overcoming Intractability via Repeated Exposure Optimality"
//! (2023), Algorithm 1 and Theorem 1. In epoch s each arm that is left is played n_s = ceil(K·M·2^s / |A_s|) plays to
//! warm up and n_s plays to measure; arms whose mean is above the least one by more than 2·C_s are dropped, where
//!
//! ```text
//! C_s = sqrt(c / n_s · ln(2·K·S / delta))
//! ```
//!
//! Choices the paper leaves open, or in which this differs:
//! - **S**, in the paper log2(T / (4·K·M) + 1), is the number of epochs that can start within the horizon: the largest s
//!   with 4·K·M·(2^(s-1) - 1) < T. An epoch with fewer arms is never shorter, so no more can start.
//! - **c** is 32 in the paper. Hoeffding's inequality gives |mean - mu| <= C_s for all arms and epochs with probability
//!   1 - delta already for c = 1/2. Applied to differences of two means, of which only those with the best arm matter,
//!   it gives |(mean(x) - mean(x*)) - (mu(x) - mu(x*))| <= 2·C_s for c = 1/4, and that is all that the proofs of
//!   Lemma 3 and Lemma 5 use. All three keep the paper's guarantee; see [`Radius`].
//! - The epoch that the horizon cuts eliminates nothing. Played past its horizon the policy goes on, but certifies
//!   nothing more, because delta accounts for S epochs.
//! - The last arm is played to the end in a single [`Run::forever`].
//!
//! The guarantee is for losses observed in [0, 1]; with other feedback the policy works, without it.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::elimination::Elimination;
use super::error::{check, check_memory_bound, check_positive, check_problem, needed_horizon};
use super::spec::{Configuration, MEMORY_BOUND};
use super::{Parameter, PolicyError, PolicyKind};
use crate::math;
use crate::{Certificate, Feedback, Policy, Problem, Run, Stream};

const NAME: &str = "successive-elimination";

/// The constant c in the radius C_s = sqrt(c / n_s · ln(2·K·S / delta)).
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", expecting = "`radius` must be \"paper\", \"hoeffding\", \"difference\" or a number")]
pub enum Radius {
    /// 32, as printed in the paper.
    #[default]
    Paper,
    /// 1/2, what Hoeffding's inequality asks for.
    Hoeffding,
    /// 1/4, what Hoeffding's inequality for the difference of two means asks for.
    Difference,
    /// Any other positive number. Below 1/4 the guarantee is gone.
    #[serde(untagged)]
    #[schemars(extend("exclusiveMinimum" = 0))]
    Constant(f64),
}

impl Radius {
    /// The constant.
    pub fn constant(self) -> f64 {
        match self {
            Radius::Paper => 32.0,
            Radius::Hoeffding => 0.5,
            Radius::Difference => 0.25,
            Radius::Constant(constant) => constant,
        }
    }
}

/// The parameters of [`SuccessiveElimination`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SuccessiveEliminationSpec {
    /// What the policy is told about the memory: at least the game's true memory, the paper's M.
    #[schemars(range(min = 1))]
    pub memory_bound: u64,
    /// The constant in the confidence radius: the larger, the later arms are dropped.
    #[serde(default)]
    pub radius: Radius,
    /// The probability with which the guarantee may fail.
    #[serde(default = "default_delta")]
    #[schemars(extend("exclusiveMinimum" = 0, "exclusiveMaximum" = 1))]
    pub delta: f64,
}

fn default_delta() -> f64 {
    0.05
}

impl SuccessiveEliminationSpec {
    /// The defaults: the paper's radius and delta 0.05.
    pub fn new(memory_bound: u64) -> Self {
        Self { memory_bound, radius: Radius::default(), delta: default_delta() }
    }
}

impl Configuration for SuccessiveEliminationSpec {
    const KIND: PolicyKind = PolicyKind {
        name: NAME,
        summary: "The paper's Algorithm 1: measure all arms in doubling epochs, drop those that are clearly worse.",
        parameters: &[
            MEMORY_BOUND,
            Parameter {
                name: "radius",
                values: "\"paper\" (32), \"hoeffding\" (1/2), \"difference\" (1/4) or a positive number",
                default: Some("\"paper\""),
                meaning: "The constant in the confidence radius: the larger, the later arms are dropped.",
            },
            Parameter {
                name: "delta",
                values: "a number in (0, 1)",
                default: Some("0.05"),
                meaning: "The probability with which the guarantee may fail.",
            },
        ],
        citation: "Malik, Igoe, Li, Singh (2023). Weighted Tallying Bandits: Overcoming Intractability via Repeated \
                   Exposure Optimality. Algorithm 1.",
    };
    type Policy = SuccessiveElimination;

    fn resolve(&self, problem: &Problem) -> Result<Self, PolicyError> {
        check_problem(problem)?;
        check_memory_bound(NAME, self.memory_bound)?;
        check_positive(NAME, "radius", self.radius.constant())?;
        check(NAME, "delta", self.delta, self.delta > 0.0 && self.delta < 1.0, "in (0, 1)")?;
        let horizon = needed_horizon(problem, NAME, "use `anytime-elimination`")?;
        let needed = 4 * problem.arms as u128 * u128::from(self.memory_bound);
        if u128::from(horizon) < needed {
            let why = "4·K·M, one epoch";
            return Err(PolicyError::HorizonTooShort { policy: NAME, needed, why, horizon });
        }
        Ok(self.clone())
    }

    fn build(&self, problem: &Problem, _: Stream) -> Result<SuccessiveElimination, PolicyError> {
        SuccessiveElimination::new(self, problem)
    }

    fn memory_bound(&self) -> Option<u64> {
        Some(self.memory_bound)
    }

    fn label(&self) -> String {
        match self.radius {
            Radius::Paper => "SE".to_string(),
            Radius::Hoeffding => "SE (hoeffding)".to_string(),
            Radius::Difference => "SE (difference)".to_string(),
            Radius::Constant(constant) => format!("SE (c = {constant})"),
        }
    }
}

/// Successive elimination with a horizon, the paper's Algorithm 1.
///
/// ```
/// use calibandit::policy::{SuccessiveElimination, SuccessiveEliminationSpec};
/// use calibandit::{Feedback, Policy, Problem, Radius, Run};
/// let spec = SuccessiveEliminationSpec { radius: Radius::Hoeffding, ..SuccessiveEliminationSpec::new(100) };
/// let mut policy = SuccessiveElimination::new(&spec, &Problem { arms: 2, horizon: Some(10_000) })?;
/// // Two arms, memory bound 100: 200 plays to warm up and 200 to measure for each arm in the first epoch.
/// for mean in [0.9, 0.1] {
///     let run = policy.next_run();
///     assert_eq!((run.burn_in, run.record), (200, 200));
///     policy.observe(run, Feedback { plays: 200, sum: 200.0 * mean, sum_sq: 200.0 * mean });
/// }
/// // The first is worse by more than 2·C_1 = 0.26, so that the second is played to the end.
/// assert_eq!(policy.next_run(), Run::forever(1));
/// assert_eq!(policy.certificate().map(|certificate| certificate.arms), Some(vec![1]));
/// # Ok::<(), calibandit::PolicyError>(())
/// ```
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct SuccessiveElimination {
    epochs: Elimination,
}

impl SuccessiveElimination {
    /// A policy ready for its first run. The horizon must be known, and be at least one epoch: 4·K·M plays.
    pub fn new(spec: &SuccessiveEliminationSpec, problem: &Problem) -> Result<Self, PolicyError> {
        let SuccessiveEliminationSpec { memory_bound, radius, delta } = spec.resolve(problem)?;
        let horizon = needed_horizon(problem, NAME, "use `anytime-elimination`")?;
        let epochs = startable_epochs(problem.arms, memory_bound, horizon);
        let spread = radius.constant() * math::ln(2.0 * problem.arms as f64 * f64::from(epochs) / delta);
        Ok(Self { epochs: Elimination::new(problem.arms, memory_bound, spread, delta, epochs) })
    }
}

/// S: how many epochs can start within the horizon, whatever is eliminated.
fn startable_epochs(arms: usize, memory_bound: u64, horizon: u64) -> u32 {
    let first = 4 * arms as u128 * u128::from(memory_bound);
    let mut epochs = 1;
    // The next epoch starts after 4·K·M·(2^epochs - 1) plays. The first factor is at least 4, so this ends before 64.
    while first.saturating_mul((1 << epochs) - 1) < u128::from(horizon) {
        epochs += 1;
    }
    epochs
}

impl Policy for SuccessiveElimination {
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
    fn counts_the_epochs_that_can_start() {
        // 4·K·M = 60: epochs start after 0, 60, 180, 420, ... plays.
        for (horizon, epochs) in [(60, 1), (61, 2), (180, 2), (181, 3), (420, 3), (421, 4)] {
            assert_eq!(startable_epochs(5, 3, horizon), epochs, "{horizon}");
        }
        // By trying: the starts are the sums of the lengths 2·K·M·2^s.
        for horizon in (1..2000).step_by(7) {
            let starts = (1..).scan(0u64, |time, s| Some(std::mem::replace(time, *time + 2 * 15 * (1 << s))));
            assert_eq!(startable_epochs(5, 3, horizon), starts.take_while(|&start| start < horizon).count() as u32);
        }
        // 4·(2^62 - 1) is below 2^64 - 1, and 4·(2^63 - 1) is not.
        assert_eq!(startable_epochs(1, 1, u64::MAX), 63);
        assert_eq!(startable_epochs(1 << 30, u64::MAX, u64::MAX), 1);
    }

    #[test]
    fn the_radius_is_the_papers() {
        let problem = Problem { arms: 5, horizon: Some(421) };
        for (radius, constant) in
            [(Radius::Paper, 32.0), (Radius::Hoeffding, 0.5), (Radius::Difference, 0.25), (Radius::Constant(3.0), 3.0)]
        {
            let spec = SuccessiveEliminationSpec { radius, ..SuccessiveEliminationSpec::new(3) };
            let mut policy = SuccessiveElimination::new(&spec, &problem).unwrap();
            for _ in 0..5 {
                let run = policy.next_run();
                policy.observe(run, Feedback { plays: 6, sum: 3.0, sum_sq: 3.0 });
            }
            // n_1 = 6 and S = 4: C_1 = sqrt(c/6 · ln(2·5·4/0.05)).
            let gap = 4.0 * (constant / 6.0 * 800f64.ln()).sqrt();
            let certificate = policy.certificate().unwrap();
            assert!((certificate.gap - gap).abs() < 1e-12 * gap, "{} {gap}", certificate.gap);
            assert_eq!(certificate.arms, [0, 1, 2, 3, 4]);
        }
    }

    #[test]
    fn radii_are_names_or_numbers_in_files() {
        for (radius, text) in [
            (Radius::Paper, "\"paper\""),
            (Radius::Hoeffding, "\"hoeffding\""),
            (Radius::Difference, "\"difference\""),
            (Radius::Constant(0.1), "0.1"),
        ] {
            assert_eq!(serde_json::to_string(&radius).unwrap(), text);
            assert_eq!(serde_json::from_str::<Radius>(text).unwrap(), radius);
        }
        assert_eq!(serde_json::from_str::<Radius>("32").unwrap(), Radius::Constant(32.0));
        let refused = serde_json::from_str::<Radius>("\"sharp\"").unwrap_err().to_string();
        assert!(refused.starts_with("`radius` must be"), "{refused}");
    }

    #[test]
    fn says_what_is_wrong() {
        let good = SuccessiveEliminationSpec::new(3);
        let problem = Problem { arms: 5, horizon: Some(60) };
        assert!(SuccessiveElimination::new(&good, &problem).is_ok());
        let refused = SuccessiveElimination::new(&good, &Problem { horizon: Some(59), ..problem }).unwrap_err();
        assert_eq!(
            refused.to_string(),
            "policy `successive-elimination` needs a horizon of at least 60 plays (4·K·M, one epoch), but it is 59"
        );
        let refused = SuccessiveElimination::new(&good, &Problem { horizon: None, ..problem }).unwrap_err();
        assert!(matches!(refused, PolicyError::HorizonNeeded { .. }));
        for constant in [0.0, -1.0, f64::NAN, f64::INFINITY] {
            let spec = SuccessiveEliminationSpec { radius: Radius::Constant(constant), ..good.clone() };
            let refused = SuccessiveElimination::new(&spec, &problem).unwrap_err();
            assert!(matches!(refused, PolicyError::Parameter { parameter: "radius", .. }));
        }
    }
}
