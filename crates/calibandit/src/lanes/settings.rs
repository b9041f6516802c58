//! The settings of a [`LaneAdvisor`](super::LaneAdvisor), checked once when it is created.

use crate::LossRange;
use crate::policy::PolicyError;

/// How many sequences of plays with a memory of their own there are.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(rename_all = "kebab-case"))]
#[non_exhaustive]
pub enum LaneMode {
    /// One: every play is part of the policy's runs.
    #[default]
    One,
    /// Any number. Some lanes explore for the policy, the others play the recommended arm.
    Many,
}

/// What a lane plays while the policy waits for losses that were not told yet.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(rename_all = "kebab-case"))]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub enum LaneFiller {
    /// The arm of the run again.
    #[default]
    Stay,
    /// The recommended arm.
    Leader,
    /// Nothing: asking is refused with [`LaneError::Waiting`](super::LaneError::Waiting).
    Wait,
}

/// What becomes of a decision whose outcome is not told. There is no default: "no click within an hour" is a loss of 1,
/// a message that got lost is no loss at all, and only the user knows which.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(rename_all = "kebab-case"))]
#[non_exhaustive]
pub enum ExpiryRule {
    /// Decisions do not expire. A loss that never comes holds up the losses behind it.
    Never,
    /// After this time nothing is known about the play. It must not be made any more.
    Lost {
        /// The time from the decision to its expiry.
        after: u64,
    },
    /// After this time the play counts as made, with this loss.
    Loss {
        /// The time from the decision to its expiry.
        after: u64,
        /// The loss.
        loss: f64,
    },
}

impl ExpiryRule {
    /// The time from a decision to its expiry.
    pub fn after(&self) -> Option<u64> {
        match *self {
            ExpiryRule::Never => None,
            ExpiryRule::Lost { after } | ExpiryRule::Loss { after, .. } => Some(after),
        }
    }
}

/// How many lanes explore at once, if there are many lanes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(rename_all = "kebab-case"))]
#[non_exhaustive]
pub enum ExplorerCount {
    /// By the number of active lanes: see docs/lanes.md for the rule and the measurements behind it.
    #[default]
    Auto,
    /// At most this many, at least 1.
    AtMost(u32),
}

/// The settings of a [`LaneAdvisor`](super::LaneAdvisor). Times are in any unit; it is the caller's.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(deny_unknown_fields))]
#[non_exhaustive]
pub struct LaneSettings {
    /// One lane or many.
    #[cfg_attr(feature = "serde", serde(default))]
    pub lanes: LaneMode,
    /// How many plays of one lane may be under way at once, the c of docs/lanes.md. With 1, asking a lane again means
    /// that its plays so far were made.
    #[cfg_attr(feature = "serde", serde(default = "default_overlap"))]
    pub overlap: u32,
    /// A bound on the memory of the arms, the M of docs/lanes.md.
    #[cfg_attr(feature = "serde", serde(default = "default_memory_bound"))]
    pub memory_bound: u64,
    /// What is played while losses are outstanding.
    #[cfg_attr(feature = "serde", serde(default))]
    pub filler: LaneFiller,
    /// What becomes of decisions whose outcome is not told.
    pub expiry: ExpiryRule,
    /// A lane that was not asked for longer than this is cold again.
    #[cfg_attr(feature = "serde", serde(default))]
    pub reset_after: Option<u64>,
    /// How many lanes explore at once.
    #[cfg_attr(feature = "serde", serde(default))]
    pub explorers: ExplorerCount,
    /// The most losses that one explorer measures in one visit, before another lane takes its place, so that a
    /// measurement does not depend on a single lane. Default: a quarter of the losses that were measured of the arm
    /// before, at least 4 times the burn-in and 16.
    #[cfg_attr(feature = "serde", serde(default))]
    pub visit_cap: Option<u64>,
    /// Exploring stops after this many plays of explorers without a measured one, until a loss of the arm arrives.
    /// Default: 100 times the burn-in plus 100.
    #[cfg_attr(feature = "serde", serde(default))]
    pub starve_after: Option<u64>,
}

#[cfg(feature = "serde")]
fn default_overlap() -> u32 {
    1
}

#[cfg(feature = "serde")]
fn default_memory_bound() -> u64 {
    1
}

/// The largest overlap.
pub(super) const MOST_OVERLAP: u32 = 1024;

impl LaneSettings {
    /// One lane without overlap, with this rule for decisions whose outcome is not told.
    pub fn new(expiry: ExpiryRule) -> Self {
        Self {
            lanes: LaneMode::One,
            overlap: 1,
            memory_bound: 1,
            filler: LaneFiller::default(),
            expiry,
            reset_after: None,
            explorers: ExplorerCount::Auto,
            visit_cap: None,
            starve_after: None,
        }
    }

    /// The same with many lanes.
    pub fn many(self) -> Self {
        Self { lanes: LaneMode::Many, ..self }
    }

    /// The same with this many plays of a lane under way at once.
    pub fn overlap(self, overlap: u32) -> Self {
        Self { overlap, ..self }
    }

    /// The same with this bound on the memory.
    pub fn memory_bound(self, memory_bound: u64) -> Self {
        Self { memory_bound, ..self }
    }

    /// The same with this filler.
    pub fn filler(self, filler: LaneFiller) -> Self {
        Self { filler, ..self }
    }

    /// The same with lanes that are cold after this time without a decision.
    pub fn reset_after(self, time: u64) -> Self {
        Self { reset_after: Some(time), ..self }
    }

    /// The same with this number of explorers.
    pub fn explorers(self, explorers: ExplorerCount) -> Self {
        Self { explorers, ..self }
    }

    /// The same with at most this many measured losses per visit of an explorer.
    pub fn visit_cap(self, losses: u64) -> Self {
        Self { visit_cap: Some(losses), ..self }
    }

    /// The same with an end of exploring after this many plays without a measured one.
    pub fn starve_after(self, plays: u64) -> Self {
        Self { starve_after: Some(plays), ..self }
    }

    /// The number of plays in a row before a loss is calibrated.
    pub fn burn_in(&self) -> u64 {
        overlap_burn_in(self.memory_bound, self.overlap)
    }

    /// Whether runs are handed out exactly as the policy asks for them, their own burn-in included.
    pub(super) fn keeps_runs(&self) -> bool {
        self.lanes == LaneMode::One && self.filler == LaneFiller::Wait
    }

    pub(super) fn most_without_loss(&self) -> u64 {
        self.starve_after.unwrap_or_else(|| self.burn_in().saturating_add(1).saturating_mul(100))
    }

    pub(super) fn check(&self, range: &LossRange) -> Result<(), LaneSettingsError> {
        let error = |field, value: u64, valid| Err(LaneSettingsError::Range { field, value, valid });
        if !(1..=MOST_OVERLAP).contains(&self.overlap) {
            return error("overlap", self.overlap.into(), "between 1 and 1024");
        }
        if !(1..=1 << 40).contains(&self.memory_bound) {
            return error("memory_bound", self.memory_bound, "between 1 and 2^40");
        }
        if self.explorers == ExplorerCount::AtMost(0) {
            return error("explorers", 0, "at least 1");
        }
        if self.visit_cap == Some(0) {
            return error("visit_cap", 0, "at least 1");
        }
        if self.starve_after == Some(0) {
            return error("starve_after", 0, "at least 1");
        }
        if self.reset_after == Some(0) {
            return error("reset_after", 0, "at least 1");
        }
        if self.expiry.after() == Some(0) {
            return error("expiry", 0, "at least 1");
        }
        match self.expiry {
            ExpiryRule::Loss { loss, .. } if !range.contains(loss) => {
                Err(LaneSettingsError::ExpiryLoss { loss, range: *range })
            }
            _ => Ok(()),
        }
    }
}

/// The number of plays of an arm in a row after which its losses are calibrated, if up to `overlap` plays are under way
/// at once: M - 1 + 2(c - 1), the lemma of docs/lanes.md. A memory of 1 needs none.
///
/// ```
/// use calibandit::lanes::overlap_burn_in;
/// assert_eq!(overlap_burn_in(8, 1), 7);
/// assert_eq!(overlap_burn_in(8, 3), 11);
/// assert_eq!(overlap_burn_in(1, 3), 0);
/// ```
pub fn overlap_burn_in(memory_bound: u64, overlap: u32) -> u64 {
    match memory_bound {
        0 | 1 => 0,
        _ => (memory_bound - 1).saturating_add(2 * u64::from(overlap.max(1) - 1)),
    }
}

/// Why a [`LaneAdvisor`](super::LaneAdvisor) cannot be created.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum LaneSettingsError {
    /// A number is out of range.
    #[error("`{field}` is {value}, and must be {valid}")]
    Range {
        /// The setting.
        field: &'static str,
        /// Its value.
        value: u64,
        /// What it must be.
        valid: &'static str,
    },
    /// The loss of expired decisions is outside the declared range.
    #[error("expired decisions get the loss {loss}, which does not lie in [{}, {}]", range.low(), range.high())]
    ExpiryLoss {
        /// The loss.
        loss: f64,
        /// The declared range.
        range: LossRange,
    },
    /// The policy learns only from the losses of its own draws.
    #[error(
        "the policy `{kind}` weights each loss with the probability of its own draw, so it cannot use losses of other \
         lanes or of plays beyond its runs: choose one lane with the filler `wait`, or another policy such as \
         `calibrated`"
    )]
    OwnDraws {
        /// The kind of the policy.
        kind: &'static str,
    },
    /// The policy measures arms that are not calibrated on purpose.
    #[error(
        "the policy `{kind}` searches the memory with plays in a fixed order, so it needs one lane with the filler \
         `wait` and without overlap: choose these, or `calibrated` with a memory bound"
    )]
    OrderedPlays {
        /// The kind of the policy.
        kind: &'static str,
    },
    /// A policy that plans the plays of one window.
    #[error(
        "the policy `{kind}` plans every play of one window and learns from arms that are not calibrated, so it cannot \
         use losses of lanes: use it with `Advisor`"
    )]
    OneWindow {
        /// The kind of the policy.
        kind: &'static str,
    },
    /// The number of arms is out of range.
    #[error("an advisor needs between 1 and {} arms, but {arms} were given", crate::Problem::MOST_ARMS)]
    Arms {
        /// The number given.
        arms: usize,
    },
    /// The horizon is 0.
    #[error("the horizon is 0: there must be at least one play")]
    NoHorizon,
    /// The policy cannot be built.
    #[error(transparent)]
    Policy(#[from] PolicyError),
}
