//! Bandits whose arms need to warm up.
//!
//! A crowd worker, a racing driver or a cache performs well only after some plays in a row. In a *weighted tallying*
//! game, an arm's expected loss depends on how often that arm was played recently. An arm that was played throughout
//! its memory is *calibrated*, and its loss is then its *eventual loss*. A policy that compares arms by their first
//! losses compares the wrong numbers; the policies recommended here ignore the losses of plays before the arm is
//! calibrated.
//!
//! # Simulate
//!
//! ```
//! use calibandit::prelude::*;
//!
//! // Two workers. The second one is better, but only from the fourth task in a row on.
//! let worker = |losses: [f64; 4]| Arm::new(Weights::unit(4)?, LossCurve::by_plays(losses), Noise::Bernoulli);
//! let game = Game::new(vec![worker([0.5, 0.5, 0.5, 0.5])?, worker([0.9, 0.7, 0.5, 0.1])?])?;
//! let outcome = Simulation::new(game)
//!     .policy(Calibrated::builder(4)) // recommended; 4 is the longest memory considered possible
//!     .policy(Thompson::builder()) // compares the arms by all losses, and never finds the better worker
//!     .horizon(100_000)
//!     .run()?;
//! println!("{outcome}"); // mean regret with standard error, and switches, over 20 instances
//! assert!(outcome.policies()[0].regret() < 100.0);
//! assert!(outcome.policies()[1].regret() > 10_000.0);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! Regret is the complete policy regret (CPR): the expected loss of the plays made less the least expected loss of any
//! sequence of as many plays, which is computed exactly.
//!
//! # Use it live
//!
//! ```
//! use calibandit::prelude::*;
//!
//! let mut advisor = Advisor::builder(Calibrated::builder(3), 4).seed(7).build()?; // memory bound 3, 4 arms
//! for _ in 0..1000 {
//!     let decision = advisor.ask()?; // id, arm, phase
//!     let loss = if decision.arm == 2 { 0.1 } else { 0.5 }; // play `decision.arm` and measure its loss
//!     advisor.tell(decision.id, loss)?; // also late, and in any order within a run
//! }
//! let best = advisor.recommend();
//! # assert_eq!(best, 2);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! Losses are minimised. To maximise a reward in [0, 1], tell `1.0 - reward`.
//!
//! # Your own policy
//!
//! Implement [`Policy`]: choose the next [`Run`], observe its [`Feedback`], recommend an arm. Add it to a simulation
//! with [`Simulation::policy_with`] or use it live with [`Advisor::new`]. `examples/own_policy.rs` is a complete
//! program.
//!
//! # Modules
//!
//! * [`game`]: a [`Game`] has [`Arm`]s with [`Weights`], a [`LossCurve`] and [`Noise`]. The [`zoo`] has every game of
//!   the paper by name, as a [`GameSpec`] from which instances are drawn.
//! * [`optimum()`]: the least expected loss of any sequence of plays, exactly, and a sequence that attains it.
//!   [`reo()`]: how much staying with one arm can lose against the optimum.
//! * [`policy`]: one algorithm per file, and [`PolicySpec`], a policy with its parameters as plain data.
//! * [`simulate`](mod@simulate): [`Simulation`], and below it [`simulate()`](fn@simulate) for one policy on one
//!   instance. [`cpr`] computes the regret of a trajectory.
//! * [`advisor`]: ask/tell over a policy, with snapshots, the state of every arm and reasons of decisions.
//! * [`lanes`]: the same for many users, machines or workers at once, with late and lost feedback and pauses.
//! * [`confidence`]: intervals of mean losses that hold at every time at once.
//! * [`tallying`]: which memories agree with observed losses.
//! * [`pilot_plan`]: which plays would show the memory.
//! * [`theory`]: the paper's theorems as functions. They give the order of the regret, not a number usable in practice.
//! * [`rng`]: named random streams. On one platform, a seed determines every number, bit for bit.
//!
//! # Features
//!
//! | feature | adds |
//! |---|---|
//! | `serde` | specs, games and policies as plain data, snapshots of advisors |
//! | `schema` | JSON schemas of the specs, and the catalogue of games and policies; implies `serde` |
//! | `simd` | faster [`simulate_batch`] for some policies, with the same bits |
//!
//! No feature is on by default.
//!
//! The library reads no files and no clock, starts no threads and has no global state. "The paper" is Malik, Igoe, Li
//! and Singh, "Weighted Tallying Bandits: Overcoming Intractability via Repeated Exposure Optimality" (ICML 2023).

pub mod advisor;
#[cfg(feature = "schema")]
pub mod catalogue;
pub mod confidence;
mod exponential;
pub mod game;
mod interrupt;
pub mod lanes;
mod math;
pub mod pilot_plan;
mod planning;
pub mod policy;
pub mod prelude;
pub mod regret;
pub mod rng;
mod run;
pub mod simulate;
pub mod tallying;
pub mod testing;
pub mod theory;

#[cfg(feature = "serde")]
pub use advisor::SnapshotError;
pub use advisor::{
    Advisor, AdvisorBuilder, AdvisorError, AdvisorState, ArmState, AskError, Confidence, ConfidenceError, Decision,
    ExplainError, Explanation, LossRange, LossRangeError, MonitorVerdict, Phase, TellError,
};
pub use game::{
    Arm, ArmError, ArmPlays, BestSequence, CurveLeftRange, CurveStep, ExponentialApproach, ExponentialLinear, Exposure,
    Formula, Game, GameError, GameSpec, GameSpecError, Limits, Linear, LossCurve, LossCurveSpec, LossFn, LossStep,
    Memory, NeedleCurve, Noise, Optima, Optimum, OptimumBounds, OptimumError, PeakCurve, PowerCurve, Ramp,
    RationalApproach, Reo, ReoError, RewardRange, Shape, SwitchingLoss, Trend, Weights, Window, optimum,
    optimum_bounds, reo, reo_interruptible, zoo,
};
pub use interrupt::{Interrupt, Interrupted};
pub use lanes::{LaneAdvisor, LaneSettings};
pub use pilot_plan::{PilotDesign, PilotPlan, PilotPlanError, PlannedRun};
pub use planning::block_cycle::BlockCycle;
pub use policy::{AnyPolicy, Certificate, Policy, PolicyError, PolicySpec, Radius};
pub use regret::{cpr, cpr_with};
pub use rng::{Stream, StreamKey};
pub use run::{Feedback, GameClass, Problem, Run};
pub use simulate::{
    BatchItem, Checkpoint, Engine, Grid, GridError, PolicyOutcome, SimulateError, Simulation, SimulationError,
    SimulationGame, SimulationOutcome, Trajectory, batch_size, simulate, simulate_batch, simulate_batch_interruptible,
    simulate_interruptible,
};
