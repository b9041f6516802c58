//! Commands and answers: what a server stores and replays.

/// One thing that happens to a [`LaneAdvisor`](super::LaneAdvisor). The same commands at the same times give the same
/// answers and the same state, bit for bit. Refused commands may be left out.
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(rename_all = "kebab-case"))]
#[non_exhaustive]
pub enum LaneCommand {
    /// Asks for the next play of a lane.
    Ask {
        /// The lane.
        lane: u64,
        /// The newest decision of the lane that the caller has. Makes a repeated request harmless.
        #[cfg_attr(feature = "serde", serde(default))]
        after: AskAfter,
        /// The arms that can be played now; `None` for all.
        #[cfg_attr(feature = "serde", serde(default))]
        available: Option<Vec<usize>>,
    },
    /// Reports what became of a decision.
    Settle {
        /// The decision.
        decision: u64,
        /// What became of it.
        outcome: PlayOutcome,
        /// When the play was made, if that is known. A pause before it that is longer than `reset_after` makes it the
        /// first play of a cold lane.
        #[cfg_attr(feature = "serde", serde(default))]
        played_at: Option<u64>,
    },
    /// Reports a play that was made without advice.
    Play {
        /// The lane.
        lane: u64,
        /// The arm.
        arm: usize,
        /// Its loss, if it is known.
        #[cfg_attr(feature = "serde", serde(default))]
        loss: Option<f64>,
    },
    /// A lane has lost its memory, or all lanes have.
    Reset {
        /// The lane; `None` for all.
        #[cfg_attr(feature = "serde", serde(default))]
        lane: Option<u64>,
    },
    /// Adds an arm. The policy must support it.
    AddArm,
    /// Retires an arm. The policy must support it.
    RetireArm {
        /// The arm.
        arm: usize,
    },
    /// Nothing but the passing of time: decisions expire.
    Tick,
}

/// Which decision of its lane a caller has received last.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(rename_all = "kebab-case"))]
#[non_exhaustive]
pub enum AskAfter {
    /// Not stated: every ask is a new play.
    #[default]
    Unstated,
    /// None: it asks for the first decision of the lane.
    Start,
    /// This one. The answer is the decision that follows it in the lane: a new one, or the same as before if the
    /// request is a repetition.
    Decision(u64),
}

/// What became of a decision.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(rename_all = "kebab-case"))]
#[non_exhaustive]
pub enum PlayOutcome {
    /// The play was made, with this loss.
    Loss(f64),
    /// The play was made, and there is no loss to tell: for warm-up and filler plays.
    Done,
    /// The play was made, and its loss is lost. If the policy needs it, another play takes its place.
    Lost,
    /// The play was not made and will not be.
    NotPlayed,
    /// Another arm was played instead.
    Overridden {
        /// The arm that was played.
        arm: usize,
        /// Its loss, if it is known.
        #[cfg_attr(feature = "serde", serde(default))]
        loss: Option<f64>,
    },
}

/// The answer to a [`LaneCommand`].
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(rename_all = "kebab-case"))]
#[non_exhaustive]
pub enum LaneAnswer {
    /// To an ask: the play to make.
    Decision(LaneDecision),
    /// To an outcome or to a play without advice.
    Recorded {
        /// The decision. A play without advice gets a number of its own.
        decision: u64,
        /// How it counts.
        counted: CountedAs,
        /// False if the same outcome was reported before; then nothing has changed.
        first: bool,
    },
    /// To an outcome of a decision that has expired: it is counted as late, and not used.
    Expired {
        /// The decision.
        decision: u64,
    },
    /// To a new arm: its number.
    Arm {
        /// The arm.
        arm: usize,
    },
    /// To a reset, a retired arm or a tick.
    Noted,
}

/// One play to make.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[non_exhaustive]
pub struct LaneDecision {
    /// Identifies the decision. Decisions of all lanes are numbered from 0; no number is used twice.
    pub id: u64,
    /// The lane.
    pub lane: u64,
    /// The arm to play.
    pub arm: usize,
    /// How its loss will be used.
    pub phase: LanePhase,
    /// The number of the policy's run that was open, from 0.
    pub run: u64,
    /// The plays of this arm in a row in this lane, this one included.
    pub position: u64,
    /// When it was asked for.
    pub asked_at: u64,
    /// When it expires, if it does.
    pub expires_at: Option<u64>,
    /// Whether it is beyond the horizon that the policy was told.
    pub beyond_horizon: bool,
    /// Whether it was given out before, and this is the answer to a repeated request.
    pub redelivered: bool,
}

/// How the loss of a play of a lane is used.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(rename_all = "kebab-case"))]
#[non_exhaustive]
pub enum LanePhase {
    /// Not at all: the arm warms up in this lane.
    WarmUp,
    /// The policy has asked for it.
    Measured,
    /// Nobody has asked for it. If the arm is calibrated, its loss is kept for a later run.
    Filler,
}

/// How an outcome counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(rename_all = "kebab-case"))]
#[non_exhaustive]
pub enum CountedAs {
    /// A loss for the open run.
    Run,
    /// A calibrated loss for a later run.
    Bank,
    /// A play of the warm-up.
    WarmUp,
    /// Not at all: there is no loss, the play was not made, or the policy has stopped learning.
    Not,
}
