//! The names that most programs need: `use calibandit::prelude::*;`.

pub use crate::advisor::{Advisor, Decision, LossRange, Phase};
pub use crate::game::{Arm, Game, GameSpec, LossCurve, Noise, Weights, zoo};
pub use crate::policy::{
    AnytimeElimination, BatchedExp3, Calibrated, EpochUcb, Exp3, ExploreThenCommit, Policy, PolicySpec,
    SuccessiveElimination, Thompson, Ucb1,
};
pub use crate::rng::{Stream, StreamKey};
pub use crate::run::{Feedback, Problem, Run};
pub use crate::simulate::{Engine, Simulation};
