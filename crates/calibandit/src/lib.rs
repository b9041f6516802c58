//! Bandits whose arms need to warm up.
//!
//! A crowd worker, a driver or a cache is only as good as it gets after some plays in a row. In a *weighted tallying* game
//! an arm's expected loss depends on how often that arm was played lately; an arm that has been played throughout its
//! memory is *calibrated*, and its loss then is its *eventual loss*. Good policies judge arms by nothing else.
//!
//! ```
//! use calibandit::rng::StreamKey;
//! use calibandit::{Arm, Engine, Game, Grid, LossCurve, Noise, PolicySpec, Weights, cpr, simulate};
//!
//! // Three workers. The last one is the best, but needs four tasks in a row to get there.
//! let worker = |losses: [f64; 4]| Arm::new(Weights::unit(4)?, LossCurve::by_plays(losses), Noise::Bernoulli);
//! let game = Game::new(vec![
//!     worker([0.5, 0.5, 0.5, 0.5])?,
//!     worker([0.6, 0.5, 0.45, 0.4])?,
//!     worker([0.9, 0.7, 0.5, 0.1])?,
//! ])?;
//! assert_eq!(game.best_arm(), 2);
//!
//! let horizon = 1_000_000;
//! let mut regret = Vec::new();
//! let careful = r#"{"kind": "successive-elimination", "memory_bound": 4, "radius": "hoeffding"}"#;
//! for policy in [careful, r#"{"kind": "thompson"}"#] {
//!     let spec: PolicySpec = serde_json::from_str(policy)?;
//!     let mut policy = spec.build(&game.problem(horizon), StreamKey::new(1, "tour", 0).policy())?;
//!     let noise = &mut StreamKey::new(1, "tour", 0).noise();
//!     let played = simulate(&game, &mut policy, &Grid::end(horizon)?, Engine::Leaping, noise)?;
//!     regret.push(cpr(&game, &played.checkpoints)?[0]); // against the best of all sequences of plays
//! }
//! assert!(regret[0] < 1_000.0, "lets every arm warm up before it judges");
//! assert!(regret[1] > 100_000.0, "gives up the best worker after a few bad first tasks");
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # The tour
//!
//! * [`game`]: a [`Game`] has [`Arm`]s with [`Weights`], a [`LossCurve`] and [`Noise`]. The [`zoo`] has every game of the
//!   paper by name, as a [`GameSpec`] from which instances are drawn.
//! * [`optimum()`]: the least expected loss of any sequence of plays, exactly, with one that has it; [`reo()`]: how far a game
//!   is from being won by staying with one arm.
//! * [`policy`]: a [`Policy`] asks for [`Run`]s and learns from [`Feedback`]. One algorithm a file; a [`PolicySpec`] names it with
//!   its parameters.
//! * [`simulate()`]: a policy against a game, [stepwise or leaping](Engine). What counts is expected loss, never what was
//!   drawn. [`cpr`] makes the complete policy regret of it.
//! * [`advisor`]: a policy against the world. [`Advisor::ask`], play, [`Advisor::tell`]; save and go on another day.
//! * [`theory`]: the theorems, as functions.
//! * [`rng`]: a seed fixes every number, bit for bit.
//!
//! The library reads no files or clocks, starts no threads and has no global randomness. "The paper" is Malik, Igoe, Li and
//! Singh, "Weighted Tallying Bandits: Overcoming Intractability via Repeated Exposure Optimality" (ICML 2023).

pub mod advisor;
pub mod catalogue;
mod exponential;
pub mod game;
mod math;
pub mod policy;
pub mod regret;
pub mod rng;
mod run;
pub mod simulate;
pub mod theory;

pub use advisor::{
    Advisor, AdvisorBuilder, AdvisorError, AskError, Decision, LossRange, LossRangeError, Phase, SnapshotError,
    TellError,
};
pub use game::{
    Arm, ArmError, BestSequence, ExponentialLinear, Exposure, Game, GameError, GameSpec, GameSpecError, Limits, Linear,
    LossCurve, LossCurveSpec, LossFn, NeedleCurve, Noise, Optima, Optimum, OptimumBounds, OptimumError, Reo, ReoError,
    Shape, Trend, Weights, Window, optimum, optimum_bounds, reo, zoo,
};
pub use policy::{AnyPolicy, Certificate, Policy, PolicyError, PolicySpec, Radius};
pub use regret::{cpr, cpr_with};
pub use rng::{Stream, StreamKey};
pub use run::{Feedback, Problem, Run};
pub use simulate::{
    BatchItem, Checkpoint, Engine, Grid, GridError, SimulateError, Trajectory, batch_size, simulate, simulate_batch,
};
