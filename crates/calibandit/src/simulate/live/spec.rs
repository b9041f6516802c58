//! How live use is simulated: the keys of the table `[live]` of experiment files.

use super::LiveError;
use crate::PolicySpec;
use crate::lanes::{ExpiryRule, ExplorerCount, LaneFiller, LaneSettings};

/// Live use: many lanes with a memory of their own, late and lost losses, sessions. The unit of time is a step, in
/// which every lane makes one play. The horizon counts the plays of all lanes together.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(default, deny_unknown_fields))]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct LiveSpec {
    /// The number of lanes: users, machines or workers with a memory of their own.
    #[cfg_attr(feature = "schema", schemars(range(min = 1, max = 1_000_000)))]
    pub lanes: u64,
    /// How many plays of a lane are under way at once. A play takes effect up to `overlap` - 1 steps after it was given
    /// out, in random order.
    #[cfg_attr(feature = "schema", schemars(range(min = 1, max = 64)))]
    pub overlap: u32,
    /// Whether the policy is told that there is no overlap, to see what that costs.
    pub ignore_overlap: bool,
    /// The mean delay of a loss, in steps. A loss without delay is told before the next play of any lane.
    #[cfg_attr(feature = "schema", schemars(range(min = 0, max = 1_000_000_000)))]
    pub delay: f64,
    /// The law of delays.
    pub delay_law: DelayLaw,
    /// The probability that a loss is lost.
    #[cfg_attr(feature = "schema", schemars(extend("minimum" = 0, "exclusiveMaximum" = 1)))]
    pub lost: f64,
    /// The probability, before each play of a lane, that the lane has lost its memory.
    #[cfg_attr(feature = "schema", schemars(extend("minimum" = 0, "maximum" = 1)))]
    pub resets: f64,
    /// The mean number of plays of a session, after which the lane is cold. Default: sessions do not end.
    #[cfg_attr(feature = "serde", serde(skip_serializing_if = "Option::is_none"))]
    #[cfg_attr(feature = "schema", schemars(range(min = 1, max = 1_000_000_000_000_000_u64)))]
    pub session: Option<f64>,
    /// The law of the lengths of sessions.
    pub session_law: SessionLaw,
    /// The mean number of steps from the end of a session to the beginning of the next one, geometric.
    #[cfg_attr(feature = "schema", schemars(range(min = 0, max = 1_000_000_000)))]
    pub pause: f64,
    /// Whether the next session belongs to a lane that was not there before: users come and go. Otherwise the same lane
    /// comes back, cold.
    pub arrivals: bool,
    /// What lanes that play the policy's run play while its losses are outstanding.
    pub filler: LaneFiller,
    /// The most lanes that explore at once. Default: by the number of active lanes.
    #[cfg_attr(feature = "serde", serde(skip_serializing_if = "Option::is_none"))]
    #[cfg_attr(feature = "schema", schemars(range(min = 1)))]
    pub explorers: Option<u32>,
    /// Decisions without an outcome expire after this many steps, at least `overlap`. Default: they do not expire.
    #[cfg_attr(feature = "serde", serde(skip_serializing_if = "Option::is_none"))]
    #[cfg_attr(feature = "schema", schemars(range(min = 1)))]
    pub timeout: Option<u64>,
    /// The loss of decisions that expire. Default: they have none, and it is not known whether they were played.
    #[cfg_attr(feature = "serde", serde(skip_serializing_if = "Option::is_none"))]
    #[cfg_attr(feature = "schema", schemars(range(min = 0, max = 1)))]
    pub timeout_loss: Option<f64>,
    /// A bound on the memory, for policies that have none of their own. With 1 they use every loss.
    #[cfg_attr(feature = "schema", schemars(range(min = 1, max = 1_000_000_000)))]
    pub memory_bound: u64,
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
            pause: 0.0,
            arrivals: false,
            filler: LaneFiller::default(),
            explorers: None,
            timeout: None,
            timeout_loss: None,
            memory_bound: 1,
        }
    }
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

    /// A pause of this mean length between sessions.
    pub fn pause(self, steps: f64) -> Self {
        Self { pause: steps, ..self }
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

    /// Decisions that expire after this many steps, with this loss or with none.
    pub fn timeout(self, steps: u64, loss: Option<f64>) -> Self {
        Self { timeout: Some(steps), timeout_loss: loss, ..self }
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

    /// A bound on the memory, for policies that have none of their own.
    pub fn memory_bound(self, memory_bound: u64) -> Self {
        Self { memory_bound, ..self }
    }

    /// Whether the regret is measured against the optimum of a player who has the same information. Otherwise the
    /// optimum is a bound: it knows in advance when each session ends, and in which order plays that overlap take
    /// effect, so that the regret is overstated by what this knowledge is worth.
    pub fn has_exact_optimum(&self) -> bool {
        let known_ends = self.session.is_none() || self.session_law == SessionLaw::Constant;
        self.overlap == 1 && self.resets == 0.0 && known_ends
    }

    /// Checks the numbers. [`check_policy`](Self::check_policy) checks that a policy can be used with these lanes.
    pub fn check(&self) -> Result<(), LiveError> {
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
        range("pause", self.pause, "between 0 and 10^9", (0.0..=1e9).contains(&self.pause))?;
        range("explorers", 0.0, "at least 1", self.explorers != Some(0))?;
        let loss = self.timeout_loss.unwrap_or(0.0);
        range("timeout_loss", loss, "between 0 and 1", (0.0..=1.0).contains(&loss))?;
        let bound = self.memory_bound;
        range("memory_bound", bound as f64, "between 1 and 10^9", (1..=1_000_000_000).contains(&bound))?;
        let timeout = self.timeout.unwrap_or(u64::MAX);
        if timeout < u64::from(self.overlap) {
            // A play that takes effect after its decision has expired would break the rule of docs/lanes.md.
            let valid = "at least `overlap`, so that no play takes effect after its decision has expired";
            return Err(LiveError::Range { field: "timeout", value: timeout as f64, valid });
        }
        let needs = |field, needs, holds| if holds { Ok(()) } else { Err(LiveError::Needs { field, needs }) };
        needs("arrivals", "session", !self.arrivals || self.session.is_some())?;
        needs("pause", "session", self.pause == 0.0 || self.session.is_some())?;
        needs("timeout_loss", "timeout", self.timeout_loss.is_none() || self.timeout.is_some())
    }

    /// Checks the numbers, and that the policy can be used with these lanes.
    pub fn check_policy(&self, policy: &PolicySpec) -> Result<(), LiveError> {
        self.check()?;
        crate::lanes::check_policy_kind(policy, &self.settings())?;
        Ok(())
    }

    /// The settings of the advisor.
    pub fn settings(&self) -> LaneSettings {
        let expiry = match (self.timeout, self.timeout_loss) {
            (None, _) => ExpiryRule::Never,
            (Some(after), None) => ExpiryRule::Lost { after },
            (Some(after), Some(loss)) => ExpiryRule::Loss { after, loss },
        };
        let overlap = if self.ignore_overlap { 1 } else { self.overlap };
        let explorers = self.explorers.map_or(ExplorerCount::Auto, ExplorerCount::AtMost);
        let settings = LaneSettings::new(expiry).overlap(overlap).filler(self.filler).explorers(explorers);
        let settings = settings.memory_bound(self.memory_bound);
        if self.lanes > 1 || self.arrivals { settings.many() } else { settings }
    }
}
