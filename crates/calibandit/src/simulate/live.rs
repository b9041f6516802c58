//! Simulation of live use: many lanes, plays under way at once, late and lost losses, sessions.
//!
//! The unit of time is a *step*. In every step each lane is asked once, in the order of their numbers, and makes the
//! play at once; with an overlap of c it takes effect up to c - 1 steps later, in random order. The loss is told after
//! a delay in steps. The horizon counts the plays of all lanes together.
//!
//! Recorded are expected losses, and beside them the optimum of the same sessions: for each session, the least expected
//! loss of as many plays from the empty window on. Their difference is the regret.

mod world;

use crate::lanes::{ExpiryRule, ExplorerCount, LaneFiller, LaneSettings, LaneSettingsError};
use crate::{Game, Grid, Interrupt, Optima, OptimumError, PolicySpec, StreamKey, Trajectory};

/// How live use is simulated.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(default, deny_unknown_fields))]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct LiveSpec {
    /// The number of lanes: users, machines or workers with a memory of their own.
    #[cfg_attr(feature = "schema", schemars(range(min = 1, max = 1_000_000)))]
    pub lanes: u64,
    /// How many plays of a lane are under way at once.
    #[cfg_attr(feature = "schema", schemars(range(min = 1, max = 64)))]
    pub overlap: u32,
    /// Whether the policy is told that there is no overlap, to see what that costs.
    pub ignore_overlap: bool,
    /// The mean delay of a loss, in steps.
    #[cfg_attr(feature = "schema", schemars(range(min = 0)))]
    pub delay: f64,
    /// The law of delays.
    pub delay_law: DelayLaw,
    /// The probability that a loss is lost.
    #[cfg_attr(feature = "schema", schemars(extend("minimum" = 0, "exclusiveMaximum" = 1)))]
    pub lost: f64,
    /// The probability, before each play of a lane, that the lane has lost its memory.
    #[cfg_attr(feature = "schema", schemars(extend("minimum" = 0, "maximum" = 1)))]
    pub resets: f64,
    /// The mean number of plays of a session, after which a lane is cold. Default: sessions do not end.
    #[cfg_attr(feature = "serde", serde(skip_serializing_if = "Option::is_none"))]
    #[cfg_attr(feature = "schema", schemars(range(min = 1)))]
    pub session: Option<f64>,
    /// The law of the lengths of sessions.
    pub session_law: SessionLaw,
    /// Whether a session that ends is followed by that of another lane, so that users come and go.
    pub arrivals: bool,
    /// What is played while losses are outstanding.
    pub filler: LaneFiller,
    /// The most lanes that explore at once. Default: by the number of active lanes.
    #[cfg_attr(feature = "serde", serde(skip_serializing_if = "Option::is_none"))]
    #[cfg_attr(feature = "schema", schemars(range(min = 1)))]
    pub explorers: Option<u32>,
    /// Decisions without an outcome expire after this many steps, as lost. Default: they do not expire.
    #[cfg_attr(feature = "serde", serde(skip_serializing_if = "Option::is_none"))]
    #[cfg_attr(feature = "schema", schemars(range(min = 1)))]
    pub timeout: Option<u64>,
}

/// The law of delays with a given mean.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(rename_all = "kebab-case"))]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub enum DelayLaw {
    /// Always the mean, rounded.
    #[default]
    Constant,
    /// Geometric.
    Geometric,
    /// Pareto with the exponent 1.5: finite mean, infinite variance.
    HeavyTailed,
    /// Geometric with twice the mean for a loss of 1, and without delay for a loss of 0.
    ByLoss,
}

/// The law of the lengths of sessions with a given mean.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(rename_all = "kebab-case"))]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub enum SessionLaw {
    /// Always the mean, rounded.
    #[default]
    Constant,
    /// Geometric, at least 1.
    Geometric,
}

impl Default for LiveSpec {
    fn default() -> Self {
        Self {
            lanes: 1,
            overlap: 1,
            ignore_overlap: false,
            delay: 0.0,
            delay_law: DelayLaw::default(),
            lost: 0.0,
            resets: 0.0,
            session: None,
            session_law: SessionLaw::default(),
            arrivals: false,
            filler: LaneFiller::default(),
            explorers: None,
            timeout: None,
        }
    }
}

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
    #[error("the loss function of arm {arm} returned a value outside [0, 1]; expected losses must lie in [0, 1]")]
    CurveLeftRange {
        /// The arm.
        arm: usize,
    },
    /// The simulation was stopped by its [`Interrupt`].
    #[error(transparent)]
    Interrupted(#[from] crate::Interrupted),
}

impl LiveSpec {
    /// Many lanes.
    pub fn lanes(self, lanes: u64) -> Self {
        Self { lanes, ..self }
    }

    /// Plays of a lane under way at once.
    pub fn overlap(self, overlap: u32) -> Self {
        Self { overlap, ..self }
    }

    /// Late losses: the mean delay in steps, and its law.
    pub fn delay(self, delay: f64, delay_law: DelayLaw) -> Self {
        Self { delay, delay_law, ..self }
    }

    /// Sessions of this mean length.
    pub fn session(self, plays: f64, session_law: SessionLaw) -> Self {
        Self { session: Some(plays), session_law, ..self }
    }

    /// Losses that are lost with this probability.
    pub fn lost(self, probability: f64) -> Self {
        Self { lost: probability, ..self }
    }

    /// Lanes that lose their memory with this probability before each play.
    pub fn resets(self, probability: f64) -> Self {
        Self { resets: probability, ..self }
    }

    /// Sessions that are followed by those of other lanes.
    pub fn arrivals(self, arrivals: bool) -> Self {
        Self { arrivals, ..self }
    }

    /// Decisions that expire after this many steps.
    pub fn timeout(self, steps: u64) -> Self {
        Self { timeout: Some(steps), ..self }
    }

    /// Whether the policy is told that there is no overlap.
    pub fn ignore_overlap(self, ignore_overlap: bool) -> Self {
        Self { ignore_overlap, ..self }
    }

    /// Another filler.
    pub fn filler(self, filler: LaneFiller) -> Self {
        Self { filler, ..self }
    }

    /// This many explorers at most.
    pub fn explorers(self, explorers: u32) -> Self {
        Self { explorers: Some(explorers), ..self }
    }

    /// Checks the ranges of the numbers, and that the policy can be used with these lanes.
    pub fn check(&self, policy: &PolicySpec) -> Result<(), LiveError> {
        let range = |field, value: f64, valid, holds| match holds {
            true => Ok(()),
            false => Err(LiveError::Range { field, value, valid }),
        };
        range("lanes", self.lanes as f64, "between 1 and 1,000,000", (1..=1_000_000).contains(&self.lanes))?;
        range("overlap", f64::from(self.overlap), "between 1 and 64", (1..=64).contains(&self.overlap))?;
        range("delay", self.delay, "between 0 and 10^9", (0.0..=1e9).contains(&self.delay))?;
        range("lost", self.lost, "at least 0 and less than 1", (0.0..1.0).contains(&self.lost))?;
        range("resets", self.resets, "between 0 and 1", (0.0..=1.0).contains(&self.resets))?;
        let session = self.session.unwrap_or(1.0);
        range("session", session, "between 1 and 10^15", (1.0..=1e15).contains(&session))?;
        range("explorers", 0.0, "at least 1", self.explorers != Some(0))?;
        range("timeout", 0.0, "at least 1", self.timeout != Some(0))?;
        crate::lanes::check_policy_kind(policy, &self.settings())?;
        Ok(())
    }

    /// The settings of the advisor.
    pub fn settings(&self) -> LaneSettings {
        let expiry = self.timeout.map_or(ExpiryRule::Never, |after| ExpiryRule::Lost { after });
        let overlap = if self.ignore_overlap { 1 } else { self.overlap };
        let explorers = self.explorers.map_or(ExplorerCount::Auto, ExplorerCount::AtMost);
        let settings = LaneSettings::new(expiry).overlap(overlap).filler(self.filler).explorers(explorers);
        if self.lanes > 1 || self.arrivals { settings.many() } else { settings }
    }
}

/// The record of one policy in simulated live use.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct LiveTrajectory {
    /// Expected losses, switches within lanes and plays per arm. `t` counts the plays of all lanes.
    pub trajectory: Trajectory,
    /// At each checkpoint, the optimum of the same sessions, in excess of as many plays at mu(x*).
    pub optimum: Vec<f64>,
    /// The number of steps.
    pub steps: u64,
    /// The decisions and outcomes of each kind.
    pub counts: crate::lanes::LaneCounts,
}

impl LiveTrajectory {
    /// The regret at the horizon.
    pub fn regret(&self) -> f64 {
        self.trajectory.last().excess - self.optimum.last().copied().unwrap_or(0.0)
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
    live.check(policy)?;
    if game.is_rested() {
        return Err(LiveError::Rested);
    }
    let optima = Optima::new(game).interruptible(interrupt);
    world::LiveWorld::new(game, policy, grid, live, streams, optima)?.play(interrupt)
}
