//! Simulation of live use: many lanes, plays under way at once, late and lost losses, sessions.
//!
//! The unit of time is a *step*. In every step each lane is asked once, in the order of their numbers, and makes the
//! play at once; with an overlap of c it takes effect up to c - 1 steps later, in random order. The loss is told after
//! a delay in steps. A lane that waits or pauses makes no play in a step. The horizon counts the plays of all lanes
//! together.
//!
//! Recorded are expected losses, and beside them the optimum of the same sessions: for each session, the least expected
//! loss of as many plays from the empty window on. Their difference is the regret.

mod record;
mod spec;
mod world;

pub use spec::{DelayLaw, LiveSpec, SessionLaw};

use crate::game::arm_title;
use crate::lanes::{LaneAdvisor, LaneSettingsError};
use crate::{Game, Grid, Interrupt, LossRange, OptimumError, Policy, PolicySpec, StreamKey, Trajectory};
use world::LiveWorld;

/// Why live use cannot be simulated.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum LiveError {
    /// A number is out of range.
    #[error("`{field}` is {value}, and must be {valid}")]
    Range {
        /// The field.
        field: &'static str,
        /// Its value.
        value: f64,
        /// What it must be.
        valid: &'static str,
    },
    /// A field has no meaning without another one.
    #[error("`{field}` has no meaning without `{needs}`: give `{needs}`, or leave `{field}` out")]
    Needs {
        /// The field.
        field: &'static str,
        /// The other one.
        needs: &'static str,
    },
    /// The policy cannot be used with these lanes.
    #[error(transparent)]
    Settings(#[from] LaneSettingsError),
    /// The game has an arm whose memory never ends.
    #[error("live use is simulated on games with a finite memory, and this one has rested arms (`memory = \"all\"`)")]
    Rested,
    /// The lanes wait for losses that never come.
    #[error("no lane makes a play any more: every one waits for losses, so choose another filler or a timeout")]
    Stuck,
    /// The optimum of a session cannot be computed.
    #[error(transparent)]
    Optimum(#[from] OptimumError),
    /// A command was refused that must not be.
    #[error(transparent)]
    Lane(#[from] crate::lanes::LaneError),
    /// A loss function returned a value outside [0, 1] during play.
    #[error(
        "the loss function of {} returned a value outside [0, 1]; expected losses must lie in [0, 1]",
        arm_title(*arm, name)
    )]
    CurveLeftRange {
        /// The arm.
        arm: usize,
        /// Its name, if it has one.
        name: Option<String>,
    },
    /// The simulation was stopped by its [`Interrupt`].
    #[error(transparent)]
    Interrupted(#[from] crate::Interrupted),
}

/// The record of one policy in simulated live use.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct LiveTrajectory {
    /// Expected losses, switches within lanes and plays per arm. `t` counts the plays of all lanes.
    pub trajectory: Trajectory,
    /// At each checkpoint, the optimum of the same sessions, in excess of as many plays at mu(x*). Where
    /// [`LiveSpec::has_exact_optimum`] is false, it is a lower bound of what any policy can reach.
    pub optimum: Vec<f64>,
    /// The number of steps.
    pub steps: u64,
    /// The part of the expected losses in excess of mu(x*) that belongs to plays of the warm-up, on all lanes.
    pub warm_up: f64,
    /// The decisions and outcomes of each kind.
    pub counts: crate::lanes::LaneCounts,
}

impl LiveTrajectory {
    /// The regret at the horizon.
    pub fn regret(&self) -> f64 {
        self.trajectory.last().excess - self.optimum.last().copied().unwrap_or(0.0)
    }

    /// The part of the regret that is burn-in: what the plays of the warm-up cost beyond the optimum, which has to warm
    /// up in every session as well.
    pub fn burn_in_cost(&self) -> f64 {
        self.warm_up - self.optimum.last().copied().unwrap_or(0.0)
    }
}

/// Simulates a policy in live use up to the horizon of `grid`, which counts the plays of all lanes. All draws come from
/// the streams of `streams`.
///
/// ```
/// use calibandit::policy::Calibrated;
/// use calibandit::simulate::{DelayLaw, LiveSpec, simulate_live};
/// use calibandit::{Grid, Interrupt, PolicySpec, StreamKey, zoo};
///
/// let key = StreamKey::new(1, "doc", 0);
/// let game = zoo::Step { arms: 5, memory: 3, ..Default::default() }.draw(&mut key.game())?;
/// let live = LiveSpec::default().lanes(10).delay(20.0, DelayLaw::Geometric);
/// let policy = PolicySpec::from(Calibrated::builder(3));
/// let played = simulate_live(&game, &policy, &Grid::end(20_000)?, &live, key, Interrupt::never())?;
/// assert!(played.regret() < 1000.0);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn simulate_live(
    game: &Game,
    policy: &PolicySpec,
    grid: &Grid,
    live: &LiveSpec,
    streams: StreamKey<'_>,
    interrupt: Interrupt<'_>,
) -> Result<LiveTrajectory, LiveError> {
    live.check_policy(policy)?;
    let builder = LaneAdvisor::builder(policy.clone(), game.arms().len(), live.settings());
    let advisor = builder.horizon(grid.horizon()).loss_range(loss_range(game)).build_with(streams)?;
    play(game, advisor, grid, live, streams, interrupt)
}

/// [`simulate_live`] with a policy of your own, whose bound on the memory is [`LiveSpec::memory_bound`]. With more than
/// one lane, or a filler other than `wait`, the policy gets losses of plays beyond its own runs.
pub fn simulate_live_policy<P: Policy>(
    game: &Game,
    policy: P,
    grid: &Grid,
    live: &LiveSpec,
    streams: StreamKey<'_>,
    interrupt: Interrupt<'_>,
) -> Result<LiveTrajectory, LiveError> {
    live.check()?;
    let (arms, range) = (game.arms().len(), loss_range(game));
    let advisor = LaneAdvisor::new(policy, arms, range, live.settings(), streams.lanes())?;
    play(game, advisor, grid, live, streams, interrupt)
}

fn play<P: Policy>(
    game: &Game,
    advisor: LaneAdvisor<P>,
    grid: &Grid,
    live: &LiveSpec,
    streams: StreamKey<'_>,
    interrupt: Interrupt<'_>,
) -> Result<LiveTrajectory, LiveError> {
    if game.is_rested() {
        return Err(LiveError::Rested);
    }
    LiveWorld::new(game, advisor, grid, live, streams, interrupt).play()
}

fn loss_range(game: &Game) -> LossRange {
    let bounded = game.arms().iter().all(|arm| arm.noise().is_bounded());
    if bounded { LossRange::default() } else { LossRange::unbounded() }
}
