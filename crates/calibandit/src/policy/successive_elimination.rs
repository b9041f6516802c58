//! Successive elimination: the paper's Algorithm 1.
//!
//! Malik, Igoe, Li and Singh, "Weighted Tallying Bandits: Overcoming Intractability via Repeated Exposure Optimality"
//! (2023), Algorithm 1 and Theorem 1. In epoch s each remaining arm has a burn-in of n_s = ceil(K·M·2^s / |A_s|) plays
//! and n_s recorded plays; arms whose mean is above the least one by more than 2·C_s are dropped, where
//!
//! ```text
//! C_s = sqrt(c / n_s · ln(2·K·S / delta))
//! ```
//!
//! Choices that the paper leaves open, and differences from it:
//! - **S**, in the paper log2(T / (4·K·M) + 1), is the number of epochs that can start within the horizon: the largest
//!   s with 4·K·M·(2^(s-1) - 1) < T. An epoch with fewer arms is never shorter, so no more epochs can start.
//! - **c** is 32 in the paper. By Hoeffding's inequality, c = 1/2 suffices for |mean - mu| <= C_s for all arms and
//!   epochs with probability 1 - delta. Applied to differences of two means, of which only those with the best arm
//!   matter, the inequality gives |(mean(x) - mean(x*)) - (mu(x) - mu(x*))| <= 2·C_s for c = 1/4, and the proofs of
//!   Lemma 3 and Lemma 5 use nothing else. All three constants keep the paper's guarantee; see [`Radius`].
//! - The epoch that the horizon cuts eliminates nothing. Played past its horizon the policy continues, but certifies
//!   nothing more, because delta accounts for S epochs.
//! - The last arm is played until the end in a single [`Run::forever`](crate::Run::forever).
//!
//! The guarantee holds for observed losses in [0, 1]; with other feedback the policy works without a guarantee.

use super::PolicyError;
use super::elimination::{Elimination, elimination_policy};
use super::error::{check, check_memory_bound, check_positive, check_problem, needed_horizon};
use super::spec::PolicyConfig;
use crate::math;
use crate::{GameClass, Problem, Stream};

/// The constant c in the radius C_s = sqrt(c / n_s · ln(2·K·S / delta)).
#[derive(Clone, Copy, Debug, Default, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[cfg_attr(
    feature = "serde",
    serde(
        rename_all = "kebab-case",
        expecting = "`radius` must be \"paper\", \"hoeffding\", \"difference\" or a number"
    )
)]
#[non_exhaustive]
pub enum Radius {
    /// 32, as printed in the paper.
    #[default]
    Paper,
    /// 1/2, which Hoeffding's inequality requires.
    Hoeffding,
    /// 1/4, which Hoeffding's inequality for the difference of two means requires.
    Difference,
    /// Any other positive number. Below 1/4 there is no guarantee.
    #[cfg_attr(feature = "serde", serde(untagged))]
    #[cfg_attr(feature = "schema", schemars(extend("exclusiveMinimum" = 0)))]
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

/// The paper's Algorithm 1: measure all arms in epochs of doubling length, drop those that are clearly worse.
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(deny_unknown_fields))]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct SuccessiveEliminationSpec {
    /// What the policy is told about the memory: at least the game's true memory, the paper's M.
    #[cfg_attr(feature = "schema", schemars(range(min = 1)))]
    pub memory_bound: u64,
    /// The constant in the confidence radius: with a larger one, arms are dropped later.
    #[cfg_attr(feature = "serde", serde(default))]
    pub radius: Radius,
    /// The probability with which the guarantee may fail.
    #[cfg_attr(feature = "serde", serde(default = "default_delta"))]
    #[cfg_attr(feature = "schema", schemars(extend("exclusiveMinimum" = 0, "exclusiveMaximum" = 1)))]
    pub delta: f64,
}

fn default_delta() -> f64 {
    0.05
}

impl SuccessiveEliminationSpec {
    /// Sets the constant in the confidence radius.
    pub fn radius(mut self, radius: Radius) -> Self {
        self.radius = radius;
        self
    }

    /// Sets the probability with which the guarantee may fail, in (0, 1).
    pub fn delta(mut self, delta: f64) -> Self {
        self.delta = delta;
        self
    }
}

/// The checked parameters of [`SuccessiveElimination`], made by [`SuccessiveEliminationSpec::params`].
#[derive(Clone, Debug, PartialEq)]
pub struct SuccessiveEliminationParams {
    arms: usize,
    horizon: u64,
    memory_bound: u64,
    radius: Radius,
    delta: f64,
}

impl PolicyConfig for SuccessiveEliminationSpec {
    const NAME: &'static str = "successive-elimination";
    const CITATION: &'static str = "Malik, Igoe, Li, Singh (2023). Weighted Tallying Bandits: Overcoming \
                                    Intractability via Repeated Exposure Optimality. Algorithm 1.";
    const MEANT_FOR: &'static [GameClass] = &[GameClass::RepeatedExposure];
    type Params = SuccessiveEliminationParams;
    type Policy = SuccessiveElimination;

    fn example() -> Self {
        SuccessiveElimination::builder(2)
    }

    fn check(&self) -> Result<(), PolicyError> {
        check_memory_bound(Self::NAME, self.memory_bound)?;
        check_positive(Self::NAME, "radius", self.radius.constant())?;
        check(Self::NAME, "delta", self.delta, self.delta > 0.0 && self.delta < 1.0, "in (0, 1)")
    }

    fn params(&self, problem: &Problem) -> Result<SuccessiveEliminationParams, PolicyError> {
        check_problem(problem)?;
        self.check()?;
        let Self { memory_bound, radius, delta } = *self;
        let arms = problem.arms;
        let horizon = needed_horizon(problem, Self::NAME, "use `anytime-elimination`")?;
        let needed = 4 * arms as u128 * u128::from(memory_bound);
        if u128::from(horizon) < needed {
            let why = "4·K·M, one epoch";
            return Err(PolicyError::HorizonTooShort { policy: Self::NAME, needed, why, horizon });
        }
        Ok(SuccessiveEliminationParams { arms, horizon, memory_bound, radius, delta })
    }

    fn filled(params: &SuccessiveEliminationParams) -> Self {
        Self { memory_bound: params.memory_bound, radius: params.radius, delta: params.delta }
    }

    fn start(params: SuccessiveEliminationParams, _: Stream) -> SuccessiveElimination {
        SuccessiveElimination::new(params)
    }

    fn memory_bound(&self) -> Option<u64> {
        Some(self.memory_bound)
    }

    fn set_memory_bound(&mut self, memory_bound: u64) {
        self.memory_bound = memory_bound;
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
/// use calibandit::policy::SuccessiveElimination;
/// use calibandit::{Feedback, Policy, Problem, Radius, Run};
/// let spec = SuccessiveElimination::builder(100).radius(Radius::Hoeffding);
/// let mut policy = SuccessiveElimination::new(spec.params(&Problem { arms: 2, horizon: Some(10_000) })?);
/// // Two arms, memory bound 100: in the first epoch each arm has 200 plays of burn-in and 200 recorded plays.
/// for mean in [0.9, 0.1] {
///     let run = policy.next_run();
///     assert_eq!((run.burn_in, run.record), (200, 200));
///     policy.observe(run, Feedback { plays: 200, sum: 200.0 * mean, sum_sq: 200.0 * mean });
/// }
/// // The first arm is worse by more than 2·C_1 = 0.26, so the second is played until the end.
/// assert_eq!(policy.next_run(), Run::forever(1));
/// assert_eq!(policy.certificate().map(|certificate| certificate.arms), Some(vec![1]));
/// # Ok::<(), calibandit::PolicyError>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(transparent))]
pub struct SuccessiveElimination {
    epochs: Elimination,
}

impl SuccessiveElimination {
    /// Default parameters for a memory of at most `memory_bound`: the paper's radius and delta 0.05. The horizon must
    /// be known, and be at least one epoch: 4·K·M plays.
    pub fn builder(memory_bound: u64) -> SuccessiveEliminationSpec {
        SuccessiveEliminationSpec { memory_bound, radius: Radius::default(), delta: default_delta() }
    }

    /// A policy ready for its first run.
    pub fn new(params: SuccessiveEliminationParams) -> Self {
        let SuccessiveEliminationParams { arms, horizon, memory_bound, radius, delta } = params;
        let epochs = startable_epochs(arms, memory_bound, horizon);
        let spread = radius.constant() * math::ln(2.0 * arms as f64 * f64::from(epochs) / delta);
        Self { epochs: Elimination::new(arms, memory_bound, spread, delta, epochs) }
    }
}

/// S: the number of epochs that can start within the horizon, whatever is eliminated.
fn startable_epochs(arms: usize, memory_bound: u64, horizon: u64) -> u32 {
    let first = 4 * arms as u128 * u128::from(memory_bound);
    let mut epochs = 1;
    // The next epoch starts after 4·K·M·(2^epochs - 1) plays. The first factor is at least 4, so this ends before 64.
    while first.saturating_mul((1 << epochs) - 1) < u128::from(horizon) {
        epochs += 1;
    }
    epochs
}

elimination_policy!(SuccessiveElimination);

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Feedback, Policy};

    #[test]
    fn the_number_of_epochs_that_can_start() {
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
    fn the_radius_is_that_of_the_paper() {
        let problem = Problem { arms: 5, horizon: Some(421) };
        for (radius, constant) in
            [(Radius::Paper, 32.0), (Radius::Hoeffding, 0.5), (Radius::Difference, 0.25), (Radius::Constant(3.0), 3.0)]
        {
            let spec = SuccessiveElimination::builder(3).radius(radius);
            let mut policy = SuccessiveElimination::new(spec.params(&problem).unwrap());
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
    fn invalid_parameters_are_named() {
        let good = SuccessiveElimination::builder(3);
        let problem = Problem { arms: 5, horizon: Some(60) };
        assert!(good.params(&problem).is_ok());
        let refused = good.params(&Problem { horizon: Some(59), ..problem }).unwrap_err();
        assert_eq!(
            refused.to_string(),
            "policy `successive-elimination` needs a horizon of at least 60 plays (4·K·M, one epoch), but it is 59"
        );
        let refused = good.params(&Problem { horizon: None, ..problem }).unwrap_err();
        assert!(matches!(refused, PolicyError::HorizonNeeded { .. }));
        for constant in [0.0, -1.0, f64::NAN, f64::INFINITY] {
            let refused = good.clone().radius(Radius::Constant(constant)).params(&problem).unwrap_err();
            assert!(matches!(refused, PolicyError::Parameter { parameter: "radius", .. }));
        }
    }
}
