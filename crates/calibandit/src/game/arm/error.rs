//! What can be wrong with an arm.

use super::{LONGEST_NAME, excerpt};
use crate::game::Trend;

/// What can be wrong with an arm.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum ArmError {
    /// The memory is 0.
    #[error("the memory is 0: give at least one weight (memory 1 is the plain stochastic bandit)")]
    NoMemory,
    /// A weight outside (0, 1].
    #[error("weight {} is {weight}, but weights must lie in (0, 1]", position + 1)]
    Weight {
        /// Its position, from 0.
        position: usize,
        /// Its value.
        weight: f64,
    },
    /// The curve leaves [0, 1].
    #[error(
        "the loss curve is {loss} at {plays} plays in the window (tally {tally}), \
         but expected losses must lie in [0, 1]"
    )]
    Curve {
        /// The value.
        loss: f64,
        /// At this tally.
        tally: f64,
        /// At this number of plays.
        plays: usize,
    },
    /// A special value outside [0, 1].
    #[error("the loss `{what}` is {value}, but expected losses must lie in [0, 1]")]
    SpecialValue {
        /// Which value.
        what: &'static str,
        /// Its value.
        value: f64,
    },
    /// A loss function contradicts its declared trend.
    #[error(
        "the loss function is declared {trend:?} in the tally, but is not from {} to {plays} plays in a row",
        plays - 1
    )]
    Trend {
        /// What was declared.
        trend: Trend,
        /// Where it is wrong.
        plays: usize,
    },
    /// The table `by_plays` has the wrong length.
    #[error(
        "the list of losses by plays has {values} values, but the memory is {memory}: \
         give one loss for each number of plays from 1 to {memory}"
    )]
    Table {
        /// How many values were given.
        values: usize,
        /// How many are needed.
        memory: usize,
    },
    /// A parameter of the noise is not a positive number.
    #[error("{parameter} must be a positive number, but is {value}")]
    Noise {
        /// Which.
        parameter: &'static str,
        /// Its value.
        value: f64,
    },
    /// A name that is blank, too long, or has control characters.
    #[error(
        "the name of an arm must have 1 to {LONGEST_NAME} characters, not all blank and none of them a control \
         character, but is `{}`",
        excerpt(name)
    )]
    Name {
        /// The name.
        name: String,
    },
    /// An arm in a file has neither `weights` nor `memory`.
    #[error("the arm has no weights: give `weights`, newest play first, or `memory` for that many weights of 1")]
    NoWeights,
    /// An arm in a file has both `weights` and `memory`.
    #[error("the arm has both `weights` and `memory`: the memory is the number of weights, so give one of them")]
    WeightsAndMemory,
    /// An arm in a file has neither `loss` nor `reward`.
    #[error("the arm has no loss: give `loss`, or `reward` in a game with `rewards = [low, high]`")]
    NoCurve,
    /// An arm in a file has both `loss` and `reward`.
    #[error("the arm has both `loss` and `reward`: give one of them")]
    LossAndReward,
    /// A shape that is stated in losses, for rewards.
    #[error("`{shape}` is a curve of losses: give `loss`, or another curve of rewards")]
    NotOfRewards {
        /// Its name, as in files.
        shape: &'static str,
    },
    /// A step has the wrong key, or both.
    #[error("each of `steps` must have `from` and `{key}`, and not `{other}`")]
    StepKey {
        /// What it must have.
        key: &'static str,
        /// What it must not have.
        other: &'static str,
    },
    /// A curve in a file has no shape.
    #[error(
        "the loss curve has no shape: give one of `constant`, `by_plays`, `linear`, `exponential_linear`, `needle`, \
         `steps`, `power`, `ramp`, `exponential`, `rational`, `peak`, `table`, `by_gap`, `by_streak`"
    )]
    NoShape,
    /// A parameter of a formula is out of its range.
    #[error("`{parameter}` must be {expected}, but is {value}")]
    Formula {
        /// Its name, as in files.
        parameter: &'static str,
        /// The value given.
        value: f64,
        /// The values that it can have.
        expected: &'static str,
    },
    /// The first of the steps does not begin at the first play.
    #[error(
        "`steps` must begin with a step from play 1, but {}",
        from.map_or("there are none".to_owned(), |from| format!("the first one is from play {from}"))
    )]
    FirstStep {
        /// Where the first step begins.
        from: Option<u64>,
    },
    /// The steps are not in order.
    #[error("`steps` must be in the order of `from`, but {from} follows {before}")]
    StepOrder {
        /// The beginning of a step.
        before: u64,
        /// That of the next one.
        from: u64,
    },
    /// A table without values.
    #[error("`table` has no values: give the loss of the first play, at least")]
    NoValues,
    /// A value for calibrated plays of a rested arm.
    #[error("the arm has `memory = \"all\"` and is never calibrated: leave out `calibrated`, which is {value}")]
    NeverCalibrated {
        /// The value given.
        value: f64,
    },
    /// A list with one value per number of plays, for a rested arm.
    #[error(
        "`by_plays` has one loss for each number of plays in the memory, but the memory is \"all\": \
         give `table`, whose last value is repeated"
    )]
    EndlessTable,
    /// A line, for a rested arm.
    #[error(
        "a line with slope {slope} leaves [0, 1] at some number of plays, because the memory is \"all\": \
         give `ramp`, which ends"
    )]
    EndlessLine {
        /// What a play adds.
        slope: f64,
    },
    /// A curve in a file has two shapes.
    #[error("the loss curve has two shapes, `{one}` and `{other}`: give exactly one")]
    TwoShapes {
        /// The first.
        one: &'static str,
        /// The second.
        other: &'static str,
    },
    /// A loss by gap or streak with too long a memory.
    #[error(
        "`by_gap` and `by_streak` need a memory of at most {longest} plays, but it is {}",
        memory.map_or("\"all\"".to_owned(), |memory| memory.to_string())
    )]
    SwitchingMemory {
        /// The memory; `None` if the arm is rested.
        memory: Option<usize>,
        /// The longest possible one.
        longest: usize,
    },
    /// The list of losses by gap or streak has the wrong length.
    #[error(
        "`{what}` has {values} values, but the memory is {memory}: give one loss for each number from 1 to {memory}"
    )]
    SwitchingTable {
        /// Which list.
        what: &'static str,
        /// How many values were given.
        values: usize,
        /// How many are needed.
        memory: usize,
    },
    /// A loss by gap or streak with weights.
    #[error("a loss by gap or streak does not depend on weights: leave out `weights`, and give `memory`")]
    SwitchingWeights,
}
