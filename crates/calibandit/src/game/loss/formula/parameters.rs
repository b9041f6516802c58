//! The parameters of the formulas.

use crate::game::ArmError;

/// A loss from some play on.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LossStep {
    /// The first number of plays with this loss. The first step begins at 1.
    pub from: u64,
    /// The loss from there to the next step.
    pub loss: f64,
}

/// A step of a curve as it is written in files: with `loss`, or with `reward` in a curve of rewards.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(deny_unknown_fields))]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct CurveStep {
    /// The first number of plays of this step. The first step begins at 1.
    #[cfg_attr(feature = "schema", schemars(range(min = 1)))]
    pub from: u64,
    /// The loss from there to the next step.
    #[cfg_attr(feature = "serde", serde(default, skip_serializing_if = "Option::is_none"))]
    pub loss: Option<f64>,
    /// The reward from there to the next step, in a curve of rewards.
    #[cfg_attr(feature = "serde", serde(default, skip_serializing_if = "Option::is_none"))]
    pub reward: Option<f64>,
}

impl TryFrom<CurveStep> for LossStep {
    type Error = ArmError;

    fn try_from(step: CurveStep) -> Result<Self, ArmError> {
        match (step.loss, step.reward) {
            (Some(loss), None) => Ok(Self { from: step.from, loss }),
            _ => Err(ArmError::StepKey { key: "loss", other: "reward" }),
        }
    }
}

impl From<LossStep> for CurveStep {
    fn from(step: LossStep) -> Self {
        Self { from: step.from, loss: Some(step.loss), reward: None }
    }
}

/// `limit + scale · n^(-exponent)` at the n-th play.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(deny_unknown_fields))]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct PowerCurve {
    /// The eventual loss.
    pub limit: f64,
    /// What the first play adds to it; negative for a loss that rises.
    pub scale: f64,
    /// How fast the difference to the limit vanishes.
    #[cfg_attr(feature = "schema", schemars(extend("exclusiveMinimum" = 0)))]
    pub exponent: f64,
    /// The loss changes only after so many plays: n is then the number of the group of plays.
    #[cfg_attr(feature = "serde", serde(default = "one", skip_serializing_if = "is_one"))]
    #[cfg_attr(feature = "schema", schemars(range(min = 1)))]
    pub every: u64,
}

/// From `start` to `end`: `start + (end - start) · min(1, x / plays)^exponent`.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(deny_unknown_fields))]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Ramp {
    /// The loss at x = 0.
    pub start: f64,
    /// The loss from x = `plays` on.
    pub end: f64,
    /// The x at which `end` is reached.
    #[cfg_attr(feature = "schema", schemars(extend("exclusiveMinimum" = 0)))]
    pub plays: f64,
    /// 1 for a line.
    #[cfg_attr(feature = "serde", serde(default = "one_float", skip_serializing_if = "is_one_float"))]
    #[cfg_attr(feature = "schema", schemars(extend("exclusiveMinimum" = 0)))]
    pub exponent: f64,
    /// x at the first play: 1 (the number of the play) or 0 (the number of plays before it).
    #[cfg_attr(feature = "serde", serde(default = "first_is_one", skip_serializing_if = "is_first_one"))]
    #[cfg_attr(feature = "schema", schemars(range(min = 0, max = 1)))]
    pub first: u32,
}

/// From `start` towards `end`: `end + (start - end) · exp(-rate · x)`.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(deny_unknown_fields))]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ExponentialApproach {
    /// The loss at x = 0.
    pub start: f64,
    /// The eventual loss.
    pub end: f64,
    /// How fast the difference to the eventual loss vanishes.
    #[cfg_attr(feature = "schema", schemars(extend("exclusiveMinimum" = 0)))]
    pub rate: f64,
    /// x at the first play: 1 (the number of the play) or 0 (the number of plays before it).
    #[cfg_attr(feature = "serde", serde(default = "first_is_one", skip_serializing_if = "is_first_one"))]
    #[cfg_attr(feature = "schema", schemars(range(min = 0, max = 1)))]
    pub first: u32,
}

/// From `start` towards `end`: `end + (start - end) · (scale / (x + scale))^exponent`.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(deny_unknown_fields))]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct RationalApproach {
    /// The loss at x = 0.
    pub start: f64,
    /// The eventual loss.
    pub end: f64,
    /// The x at which, with exponent 1, half of the way is done.
    #[cfg_attr(feature = "schema", schemars(extend("exclusiveMinimum" = 0)))]
    pub scale: f64,
    /// 1 if not given.
    #[cfg_attr(feature = "serde", serde(default = "one_float", skip_serializing_if = "is_one_float"))]
    #[cfg_attr(feature = "schema", schemars(extend("exclusiveMinimum" = 0)))]
    pub exponent: f64,
    /// Whether losses below 0 and above 1 are cut there.
    #[cfg_attr(feature = "serde", serde(default, skip_serializing_if = "is_false"))]
    pub clipped: bool,
    /// x at the first play: 1 (the number of the play) or 0 (the number of plays before it).
    #[cfg_attr(feature = "serde", serde(default = "first_is_one", skip_serializing_if = "is_first_one"))]
    #[cfg_attr(feature = "schema", schemars(range(min = 0, max = 1)))]
    pub first: u32,
}

/// A fall of the loss followed by a rise, with u = x - `centre`:
/// `before + (after - before) / (1 + exp(-(fall + rise) · u)) + height · exp(-fall · u)`.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(deny_unknown_fields))]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct PeakCurve {
    /// The loss that the fall approaches.
    pub before: f64,
    /// The eventual loss, not below `before`; a reward, not above it.
    pub after: f64,
    /// The height of the falling part at the centre: at least 0, and at most 0 in a curve of rewards.
    pub height: f64,
    /// The rate of the fall.
    #[cfg_attr(feature = "schema", schemars(extend("exclusiveMinimum" = 0)))]
    pub fall: f64,
    /// The rise has the rate `fall + rise`.
    #[cfg_attr(feature = "schema", schemars(range(min = 0.0)))]
    pub rise: f64,
    /// The x in the middle of the rise.
    pub centre: f64,
    /// x at the first play: 1 (the number of the play) or 0 (the number of plays before it).
    #[cfg_attr(feature = "serde", serde(default = "first_is_one", skip_serializing_if = "is_first_one"))]
    #[cfg_attr(feature = "schema", schemars(range(min = 0, max = 1)))]
    pub first: u32,
}

#[cfg(feature = "serde")]
fn one() -> u64 {
    1
}

#[cfg(feature = "serde")]
fn is_one(value: &u64) -> bool {
    *value == 1
}

#[cfg(feature = "serde")]
fn one_float() -> f64 {
    1.0
}

#[cfg(feature = "serde")]
fn is_one_float(value: &f64) -> bool {
    *value == 1.0
}

#[cfg(feature = "serde")]
fn first_is_one() -> u32 {
    1
}

#[cfg(feature = "serde")]
fn is_first_one(value: &u32) -> bool {
    *value == 1
}

#[cfg(feature = "serde")]
fn is_false(value: &bool) -> bool {
    !*value
}
