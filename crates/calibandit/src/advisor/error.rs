//! The errors of an advisor. Every error leaves the advisor's state as it was.

use super::LossRange;
use crate::policy::WarmStartError;
use crate::{PolicyError, Run};

/// Why an advisor cannot be created.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum AdvisorError {
    /// The number of arms is out of range.
    #[error("an advisor needs between 1 and {} arms, but {arms} were given", crate::Problem::MOST_ARMS)]
    Arms {
        /// The number given.
        arms: usize,
    },
    /// The policy cannot start from these past losses.
    #[error(transparent)]
    WarmStart(#[from] WarmStartError),
    /// A probe without a bound on the memory.
    #[error("the probe of the monitor needs a bound on the memory, and the policy has none")]
    ProbeWithoutBound,
    /// The horizon is 0.
    #[error("the horizon is 0: there must be at least one play")]
    NoHorizon,
    /// The policy cannot be built.
    #[error(transparent)]
    Policy(#[from] PolicyError),
}

/// Why there is no next decision.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum AskError {
    /// The policy needs the losses of these decisions before its next run.
    #[error(
        "the policy waits for the losses of {} decisions, the oldest being {}: \
         tell them, or forget those that will never come",
        outstanding.len(), outstanding.first().copied().unwrap_or_default()
    )]
    Waiting {
        /// The decisions, oldest first.
        outstanding: Vec<u64>,
    },
    /// The policy asked for a run that cannot be played: a mistake in the policy, or a wrong number of arms. The run is
    /// discarded, and the next [`ask`](super::Advisor::ask) asks the policy again.
    #[error("the policy asked for {run:?}, which must have at least one play, of one of the arms 0 to {}", arms - 1)]
    BadRun {
        /// The run.
        run: Run,
        /// The number of arms.
        arms: usize,
    },
}

/// Why a loss is refused, or a decision not forgotten.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum TellError {
    /// This decision was never made.
    #[error("decision {decision} was never made: {made} decisions have been made so far, numbered from 0")]
    Unknown {
        /// The decision.
        decision: u64,
        /// The number of decisions made.
        made: u64,
    },
    /// A second loss for the same decision (a retry, most likely), or a loss for a decision that was given up.
    #[error("decision {decision} is settled: its loss was told before, or given up; a loss counts at most once")]
    AlreadySettled {
        /// The decision.
        decision: u64,
    },
    /// The loss is outside the declared range. The decision is still without a loss.
    #[error(
        "the loss {loss} of decision {decision} does not lie in [{}, {}], the losses declared possible",
        range.low(), range.high()
    )]
    Loss {
        /// The decision.
        decision: u64,
        /// The loss told.
        loss: f64,
        /// The declared range.
        range: LossRange,
    },
    /// The reward is outside the declared range. The decision is still without a loss.
    #[error(
        "the reward {reward} of decision {decision} does not lie in [{}, {}], the rewards declared possible",
        range.low(), range.high()
    )]
    Reward {
        /// The decision.
        decision: u64,
        /// The reward told.
        reward: f64,
        /// The declared range, which is that of losses and of rewards.
        range: LossRange,
    },
}
