//! Bandits whose arms need to warm up.

pub mod advisor;
pub mod bounds;
pub mod game;
pub mod policy;
pub mod rng;
pub mod simulate;

pub use advisor::{
    Advisor, AdvisorError, AskError, Decision, LossRange, LossRangeError, Phase, SnapshotError, TellError,
};
pub use game::{
    Arm, ArmError, Exposure, Game, GameError, GameSpec, Lap, Linear, LossCurve, LossCurveSpec, LossFn, Needle, Noise,
    Shape, Trend, Weights, Window, zoo,
};
pub use policy::{AnyPolicy, Certificate, Feedback, Policy, PolicyError, PolicyKind, PolicySpec, Radius, Run, Setting};
pub use rng::Stream;
pub use simulate::{Checkpoint, Engine, Grid, GridError, SimulateError, Trajectory, simulate};
