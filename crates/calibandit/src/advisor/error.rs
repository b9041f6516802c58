//! What can go wrong between an advisor and its user. Every error leaves the advisor as it was.

use super::LossRange;
use crate::Run;

/// Why an advisor cannot be made.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum AdvisorError {
    /// A number of arms that cannot be.
    #[error("an advisor needs between 1 and {} arms, but {arms} were given", u32::MAX - 1)]
    Arms {
        /// How many were given.
        arms: usize,
    },
}

/// Why there is no next decision.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum AskError {
    /// The policy must know these losses before it can go on.
    #[error(
        "the policy waits for the losses of {} decisions, the oldest being {}: tell them, or forget those that will never come",
        outstanding.len(), outstanding.first().copied().unwrap_or_default()
    )]
    Waiting {
        /// The decisions, oldest first.
        outstanding: Vec<u64>,
    },
    /// The policy asked for something that cannot be played: a mistake in the policy, or in the number of arms.
    #[error("the policy asked for {run:?}, which must have at least one play, of one of the arms 0 to {}", arms - 1)]
    BadRun {
        /// What it asked for.
        run: Run,
        /// How many arms there are.
        arms: usize,
    },
}

/// Why a loss is not taken, or a decision not forgotten.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum TellError {
    /// This decision was never made.
    #[error("decision {decision} was never made: {made} decisions have been made so far, numbered from 0")]
    Unknown {
        /// The decision.
        decision: u64,
        /// How many were made.
        made: u64,
    },
    /// A second loss for the same decision (a retry, most likely), or a loss for one that was given up.
    #[error("decision {decision} is settled: its loss was told before, or given up; a loss counts at most once")]
    AlreadySettled {
        /// The decision.
        decision: u64,
    },
    /// A loss that cannot be. The decision still awaits its loss.
    #[error("the loss {loss} of decision {decision} does not lie in [{}, {}], the losses declared possible", range.low(), range.high())]
    Loss {
        /// The decision.
        decision: u64,
        /// Its alleged loss.
        loss: f64,
        /// What was declared.
        range: LossRange,
    },
}

/// Why a snapshot cannot be written or read.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SnapshotError {
    /// Not the JSON that was expected, or a policy that does not serialise.
    #[error("the snapshot of an advisor: {0}")]
    Json(#[from] serde_json::Error),
    /// Not a snapshot of an advisor, or one of another version.
    #[error(
        "the snapshot has {} for `calibandit_advisor`, but this version reads {supported}",
        found.as_deref().unwrap_or("nothing")
    )]
    Version {
        /// What is written there.
        found: Option<String>,
        /// What can be read.
        supported: u64,
    },
    /// The parts contradict each other: it was changed after it was written.
    #[error("the snapshot contradicts itself: {problem}")]
    Inconsistent {
        /// How.
        problem: &'static str,
    },
}
