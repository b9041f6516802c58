//! What a policy says about itself: the status of its arms, the reason of a run, and whether it can start from past
//! losses.
//!
//! None of this influences what a policy does. [`Advisor`](crate::Advisor) shows it to people.

/// How a policy regards an arm.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(rename_all = "kebab-case"))]
#[non_exhaustive]
pub enum ArmStatus {
    /// Not measured yet.
    Unopened,
    /// In a burn-in at the moment, so its present losses do not count.
    Warming,
    /// The best so far, and no other arm is thought possibly better.
    Leading,
    /// The best so far; some other arm may still be better.
    Challenged,
    /// Behind, and may still be better than the best so far.
    Challenger,
    /// In play; the policy makes no further distinction.
    InPlay,
    /// The policy does not expect to play it again.
    RuledOut,
}

impl ArmStatus {
    /// Its name, as in tables.
    pub fn name(self) -> &'static str {
        match self {
            ArmStatus::Unopened => "unopened",
            ArmStatus::Warming => "warming",
            ArmStatus::Leading => "leading",
            ArmStatus::Challenged => "challenged",
            ArmStatus::Challenger => "challenger",
            ArmStatus::InPlay => "in play",
            ArmStatus::RuledOut => "ruled out",
        }
    }
}

/// What a policy says about one arm.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct ArmReport {
    /// How the policy regards the arm.
    pub status: ArmStatus,
    /// The evidence, in nats, that the arm is worse than the best so far, and the threshold at which that rules it out.
    pub evidence: Option<(f64, f64)>,
}

impl ArmReport {
    /// A report without evidence.
    pub fn new(status: ArmStatus) -> Self {
        Self { status, evidence: None }
    }

    /// The same with this evidence and this threshold, in nats.
    pub fn with_evidence(self, evidence: f64, threshold: f64) -> Self {
        Self { evidence: Some((evidence, threshold)), ..self }
    }
}

/// Why a policy asked for a run.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize), serde(rename_all = "kebab-case", tag = "kind"))]
#[non_exhaustive]
pub enum RunReason {
    /// Every arm is measured once.
    Opening,
    /// The arm is the best so far.
    Leading,
    /// The arm is behind and may still be better than the best so far.
    Challenge {
        /// The best arm so far.
        leader: usize,
        /// The evidence, in nats, that the arm is worse than the leader.
        evidence: f64,
        /// The evidence at which the arm is ruled out.
        threshold: f64,
    },
    /// The arm has the best index, or was drawn.
    Index,
    /// All arms that are not ruled out are measured equally often.
    Comparison,
    /// The policy has decided for this arm for good.
    Commitment,
    /// The policy gives no reason.
    Unstated,
}

/// Why a policy does not start from past losses.
#[derive(Clone, Copy, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum WarmStartError {
    /// The policy cannot use them.
    #[error(
        "the policy cannot start from past losses: it keeps no means of its arms; \
         `calibrated`, `epoch-ucb`, `ucb1` and `thompson` can"
    )]
    Unsupported,
    /// The number of arms is not that of the policy.
    #[error("there are past losses of {given} arms, but the policy has {arms}: give one entry per arm")]
    Arms {
        /// The number of entries.
        given: usize,
        /// The number of arms.
        arms: usize,
    },
    /// The numbers are not those of possible losses.
    #[error(
        "the past losses of arm {arm} are impossible: {plays} losses from {low} to {high} cannot have the sum \
         {sum} and the sum of squares {sum_sq}"
    )]
    Sums {
        /// The arm.
        arm: usize,
        /// The number of losses.
        plays: u64,
        /// The least possible loss.
        low: f64,
        /// The greatest possible loss.
        high: f64,
        /// The sum given.
        sum: f64,
        /// The sum of squares given.
        sum_sq: f64,
    },
    /// The policy needs past losses of every arm, or of none.
    #[error("the policy can start from past losses of every arm only, and there are none of arm {arm}")]
    Missing {
        /// The first arm without past losses.
        arm: usize,
    },
    /// The policy has been used.
    #[error("past losses can only be given before the first decision")]
    Started,
}

/// Why an arm cannot come or go.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ArmChangeError {
    /// The policy has the same arms throughout.
    #[error("the policy cannot add or retire arms while it runs; `calibrated` can")]
    Unsupported,
    /// There are as many arms as there can be.
    #[error("there are {arms} arms already, and there can be no more than {}", crate::Problem::MOST_ARMS)]
    TooMany {
        /// The number of arms.
        arms: usize,
    },
    /// This arm does not exist.
    #[error("there is no arm {arm}: the arms are 0 to {}", arms - 1)]
    Missing {
        /// The arm.
        arm: usize,
        /// The number of arms.
        arms: usize,
    },
    /// It is the only arm left.
    #[error("arm {arm} cannot be retired: it is the only one that is left; add another arm first")]
    Last {
        /// The arm.
        arm: usize,
    },
}
