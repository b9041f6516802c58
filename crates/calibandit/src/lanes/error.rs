//! Why a command is refused. A refused command changes nothing; only time may have passed.

use super::command::PlayOutcome;
use crate::{LossRange, Run};

/// Why a [`LaneCommand`](super::LaneCommand) is refused.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum LaneError {
    /// There is one lane, and it is another one.
    #[error("there is only one lane, number {only}, but lane {lane} was asked for: choose many lanes")]
    OneLane {
        /// The lane asked for.
        lane: u64,
        /// The only lane.
        only: u64,
    },
    /// As many plays of the lane are under way as its overlap allows.
    #[error(
        "lane {lane} may have {overlap} plays under way at once, and decision {} is not finished: report its outcome",
        open.first().copied().unwrap_or_default()
    )]
    Busy {
        /// The lane.
        lane: u64,
        /// The overlap.
        overlap: u32,
        /// The decisions of the lane without an outcome, oldest first.
        open: Vec<u64>,
    },
    /// The policy needs the losses of these decisions before its next run, and there is no filler.
    #[error(
        "the policy waits for the losses of {} decisions, the oldest being {}: \
         report them, or report as lost those that will never come",
        outstanding.len(), outstanding.first().copied().unwrap_or_default()
    )]
    Waiting {
        /// The decisions, oldest first.
        outstanding: Vec<u64>,
    },
    /// Too many decisions have no outcome.
    #[error("{open} decisions have no outcome: report outcomes, or choose a rule by which decisions expire")]
    TooManyOpen {
        /// The number of decisions.
        open: usize,
    },
    /// The policy asked for a run that cannot be played. The run is discarded.
    #[error(
        "the policy asked for {run:?}, which must have at least one recorded play, of one of the arms 0 to {}",
        arms - 1
    )]
    BadRun {
        /// The run.
        run: Run,
        /// The number of arms.
        arms: usize,
    },
    /// The decision that follows the given one is over, or the given one does not belong to the lane.
    #[error(
        "lane {lane} has no open decision that follows the one given in `after`; its newest decision is {newest:?}"
    )]
    StaleAfter {
        /// The lane.
        lane: u64,
        /// The newest decision of the lane.
        newest: Option<u64>,
    },
    /// None of the arms that are available exists.
    #[error("none of the {arms} arms is available")]
    NoneAvailable {
        /// The number of arms.
        arms: usize,
    },
    /// This arm does not exist.
    #[error("there is no arm {arm}: the arms are 0 to {}", arms - 1)]
    Arm {
        /// The arm.
        arm: usize,
        /// The number of arms.
        arms: usize,
    },
    /// This decision was never made.
    #[error("decision {decision} was never made: {made} decisions have been made so far, numbered from 0")]
    Unknown {
        /// The decision.
        decision: u64,
        /// The number of decisions made.
        made: u64,
    },
    /// The decision has another outcome already.
    #[error("decision {decision} has an outcome already{}; the new one was not recorded", in_words(first))]
    AlreadySettled {
        /// The decision.
        decision: u64,
        /// Its outcome, if it is remembered.
        first: Option<PlayOutcome>,
    },
    /// The play was not made as advised, but the policy has used losses of later plays of its lane.
    #[error(
        "decision {decision} cannot be taken back: the policy has used the loss of decision {used}, which came after \
         it in the lane; report plays that were not made before the next ask of the lane"
    )]
    TooLate {
        /// The decision.
        decision: u64,
        /// The later decision.
        used: u64,
    },
    /// The arm cannot come or go.
    #[error(transparent)]
    ArmChange(#[from] crate::policy::ArmChangeError),
    /// The loss is outside the declared range. The decision is still without an outcome.
    #[error("the loss {loss} does not lie in [{}, {}], the losses declared possible", range.low(), range.high())]
    Loss {
        /// The loss.
        loss: f64,
        /// The declared range.
        range: LossRange,
    },
}

fn in_words(first: &Option<PlayOutcome>) -> String {
    match first {
        Some(PlayOutcome::Loss(loss)) => format!(", the loss {loss}"),
        Some(PlayOutcome::Done) => ", `done`".to_owned(),
        Some(PlayOutcome::Lost) => ", `lost`".to_owned(),
        Some(PlayOutcome::NotPlayed) => ", `not played`".to_owned(),
        Some(PlayOutcome::Overridden { arm, .. }) => format!(", a play of arm {arm}"),
        None => String::new(),
    }
}
