//! Why a policy cannot be built, and the checks that several policies share.

use crate::Problem;

/// Why a policy cannot be built.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum PolicyError {
    /// There are no arms.
    #[error("there are no arms: a policy needs at least one")]
    NoArms,
    /// More than [`Problem::MOST_ARMS`].
    #[error("{arms} arms are more than a policy can have ({})", Problem::MOST_ARMS)]
    TooManyArms {
        /// The number given.
        arms: usize,
    },
    /// The horizon is 0.
    #[error("the horizon is 0: there must be at least one play")]
    NoHorizon,
    /// A parameter is outside its range.
    #[error("policy `{policy}`: `{parameter}` must be {expected}, but is {value}")]
    Parameter {
        /// The kind of policy, as in files.
        policy: &'static str,
        /// The parameter's name, as in files.
        parameter: &'static str,
        /// The value given.
        value: f64,
        /// The values that are allowed.
        expected: &'static str,
    },
    /// The policy needs the horizon, which is not known.
    #[error("policy `{policy}` needs to know the horizon: give one, or {instead}")]
    HorizonNeeded {
        /// The kind of policy, as in files.
        policy: &'static str,
        /// What to do if the horizon is not known.
        instead: &'static str,
    },
    /// Plans of the policy would be too large.
    #[error(
        "policy `{policy}` would plan over {} {what}, and {limit} are the most that it can: {instead}",
        plain(*.size)
    )]
    PlanTooLarge {
        /// The kind of policy, as in files.
        policy: &'static str,
        /// What it plans over.
        what: &'static str,
        /// How many there are.
        size: f64,
        /// How many there may be.
        limit: u64,
        /// What to do about it.
        instead: &'static str,
    },
    /// The horizon is shorter than the least that the policy needs.
    #[error("policy `{policy}` needs a horizon of at least {needed} plays ({why}), but it is {horizon}")]
    HorizonTooShort {
        /// The kind of policy, as in files.
        policy: &'static str,
        /// The least horizon.
        needed: u128,
        /// Where that number comes from.
        why: &'static str,
        /// The horizon given.
        horizon: u64,
    },
}

/// A large number as people write it.
fn plain(number: f64) -> String {
    if number < 1e12 { format!("{number:.0}") } else { format!("{number:.1e}") }
}

/// Reports a parameter unless it is `fine`. Conditions are written so that they are false for NaN.
pub(super) fn check(
    policy: &'static str,
    parameter: &'static str,
    value: f64,
    fine: bool,
    expected: &'static str,
) -> Result<(), PolicyError> {
    if fine { Ok(()) } else { Err(PolicyError::Parameter { policy, parameter, value, expected }) }
}

/// Checks a bound on the memory.
pub(super) fn check_memory_bound(policy: &'static str, memory_bound: u64) -> Result<(), PolicyError> {
    check(policy, "memory_bound", memory_bound as f64, memory_bound >= 1, "at least 1")
}

/// Checks a parameter that may be any positive number.
pub(super) fn check_positive(policy: &'static str, parameter: &'static str, value: f64) -> Result<(), PolicyError> {
    check(policy, parameter, value, value > 0.0 && value.is_finite(), "a positive number")
}

/// Checks that there is something to play.
pub(super) fn check_problem(problem: &Problem) -> Result<(), PolicyError> {
    match problem {
        Problem { arms: 0, .. } => Err(PolicyError::NoArms),
        Problem { arms, .. } if *arms > Problem::MOST_ARMS => Err(PolicyError::TooManyArms { arms: *arms }),
        Problem { horizon: Some(0), .. } => Err(PolicyError::NoHorizon),
        _ => Ok(()),
    }
}

/// The horizon, for a policy that needs it; `instead` is what the error advises.
pub(super) fn needed_horizon(
    problem: &Problem,
    policy: &'static str,
    instead: &'static str,
) -> Result<u64, PolicyError> {
    problem.horizon.ok_or(PolicyError::HorizonNeeded { policy, instead })
}
