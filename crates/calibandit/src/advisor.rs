//! Live use: ask for one decision at a time, and tell its loss when it is known.
//!
//! An [`Advisor`] hands out the runs of any [`Policy`] play by play and adds up the losses. The policy receives exactly
//! what it asked for: the feedback of `record` plays after the burn-in.
//!
//! Losses are minimised. To maximise rewards in [0, 1], tell `1.0 - reward`.
//!
//! The advisor performs no I/O and is not internally synchronised. To persist it, store the string returned by
//! `Advisor::to_json` (feature `serde`).

mod builder;
mod error;
mod loss_range;
mod pending_ids;
mod run_tracker;
#[cfg(feature = "serde")]
mod snapshot;

pub use builder::AdvisorBuilder;
pub use error::{AdvisorError, AskError, TellError};
pub use loss_range::{LossRange, LossRangeError};
#[cfg(feature = "serde")]
pub use snapshot::SnapshotError;

use crate::{Certificate, Policy, Problem, Run};
use run_tracker::RunTracker;

/// One play to make.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[non_exhaustive]
pub struct Decision {
    /// Identifies the decision when its loss is told. Decisions are numbered from 0; no number is used twice.
    pub id: u64,
    /// The arm to play.
    pub arm: usize,
    /// How its loss is used.
    pub phase: Phase,
}

/// How the loss of a play is used.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(rename_all = "kebab-case"))]
#[non_exhaustive]
pub enum Phase {
    /// Not at all: the play belongs to the burn-in of a run, in which the arm warms up. The play has to be made, but
    /// its loss need not be told.
    #[cfg_attr(feature = "serde", serde(alias = "warm-up"))]
    BurnIn,
    /// The policy learns from it.
    Measured,
}

/// Ask/tell over a policy: created with [`builder`](Self::builder) for the policies of this library, with
/// [`new`](Self::new) for your own.
///
/// # Asking and telling
///
/// * Play the arms in the order of the decisions. Losses may be told late, and in any order within a run: the policy
///   receives the same sums to the last bit.
/// * A loss counts at most once. Telling it again is [`TellError::AlreadySettled`] and changes nothing, so a retry
///   after a lost answer is safe.
/// * A loss that is NaN, infinite or outside the [`LossRange`] is refused, and the decision is still without a loss.
/// * The loss of a burn-in play may be told (once, also late) and is ignored.
/// * If the policy needs outstanding losses before its next run, [`ask`](Self::ask) returns [them](AskError::Waiting).
///   A loss that will never come is given up with [`forget`](Self::forget).
/// * Every error leaves the advisor's state as it was.
///
/// # Memory
///
/// The memory of an advisor is bounded. At most 2^20 plays can be made beyond the oldest outstanding decision; `ask`
/// then waits for it. Some losses are not needed: those of burn-in plays, and those of a run [without an
/// end](Run::forever), from which the policy does not learn. Of the decisions without a loss among them, the latest
/// 1024 ranges of consecutive decisions are remembered; older ones count as settled.
///
/// # Example
///
/// Two crowd workers. A worker needs a task or two to warm up after a pause, so the policy below ignores the first two
/// tasks of each run.
///
/// ```
/// use calibandit::{Advisor, AskError, Feedback, Phase, Policy, Run, TellError};
///
/// /// Gives each worker 2 tasks to warm up and 3 that count, then all tasks to the better worker.
/// #[derive(Default)]
/// struct TryEachOnce { errors: Vec<f64> }
///
/// impl Policy for TryEachOnce {
///     fn next_run(&mut self) -> Run {
///         match self.errors.len() {
///             worker @ 0..2 => Run { arm: worker, burn_in: 2, record: 3 },
///             _ => Run::forever(self.recommend()),
///         }
///     }
///     fn observe(&mut self, _: Run, feedback: Feedback) { self.errors.push(feedback.mean()); }
///     fn recommend(&self) -> usize { usize::from(self.errors.len() == 2 && self.errors[1] < self.errors[0]) }
/// }
///
/// let mut advisor = Advisor::new(TryEachOnce::default(), 2)?;
/// let first: Vec<_> = (0..5).map(|_| advisor.ask()).collect::<Result<_, _>>()?;
/// assert!(first.iter().all(|task| task.arm == 0));
/// assert_eq!(first[1].phase, Phase::BurnIn);
///
/// // The second worker gets no task before the first worker's results are known.
/// assert_eq!(advisor.ask(), Err(AskError::Waiting { outstanding: vec![2, 3, 4] }));
/// advisor.tell(4, 1.0)?; // a wrong answer
/// advisor.tell(2, 0.0)?;
/// assert_eq!(advisor.tell(4, 1.0), Err(TellError::AlreadySettled { decision: 4 }));
/// advisor.forget(3)?; // this result was lost: one more task takes its place
/// let again = advisor.ask()?;
/// assert_eq!((again.id, again.arm, again.phase), (5, 0, Phase::Measured));
/// advisor.tell(5, 1.0)?;
///
/// for _ in 0..5 {
///     let task = advisor.ask()?;
///     advisor.tell(task.id, 0.0)?;
/// }
/// assert_eq!(advisor.recommend(), 1);
/// assert_eq!(advisor.plays(), [6, 5]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Advisor<P> {
    policy: P,
    tracker: RunTracker,
}

impl<P: Policy> Advisor<P> {
    /// An advisor over this policy on this many arms, with losses in [0, 1].
    pub fn new(policy: P, arms: usize) -> Result<Self, AdvisorError> {
        Self::with_range(policy, arms, LossRange::default())
    }

    /// An advisor over this policy on this many arms, with losses in this range.
    pub fn with_range(policy: P, arms: usize, range: LossRange) -> Result<Self, AdvisorError> {
        if !is_number_of_arms(arms) {
            return Err(AdvisorError::Arms { arms });
        }
        Ok(Self { policy, tracker: RunTracker::new(arms, range) })
    }

    /// The next play to make.
    pub fn ask(&mut self) -> Result<Decision, AskError> {
        let decision = self.tracker.play(|| self.policy.next_run())?;
        self.report();
        Ok(decision)
    }

    /// Reports the loss of a decision. Losses are minimised: for a reward in [0, 1], tell `1.0 - reward`.
    ///
    /// Returns whether the policy uses the loss. It does not for a burn-in play, nor in a run without an end.
    pub fn tell(&mut self, decision: u64, loss: f64) -> Result<bool, TellError> {
        let counted = self.tracker.tell(decision, loss)?;
        self.report();
        Ok(counted)
    }

    /// Gives up the loss of a decision whose play was made. If the policy needs it, one more play of the same arm, in
    /// the same run, takes its place. Never fails with [`TellError::Loss`].
    ///
    /// Whether a loss is lost must not depend on its value; otherwise the policy learns from a biased sample. If only
    /// failures are lost, tell a loss of 1 instead.
    pub fn forget(&mut self, decision: u64) -> Result<(), TellError> {
        self.tracker.forget(decision)?;
        self.report();
        Ok(())
    }

    /// Reports a run to the policy as soon as it is complete.
    fn report(&mut self) {
        if let Some((run, feedback)) = self.tracker.close() {
            self.policy.observe(run, feedback);
        }
    }

    /// The arm to commit to if exploration ended now.
    pub fn recommend(&self) -> usize {
        self.policy.recommend()
    }

    /// What the policy can guarantee about the arms so far, if it can.
    pub fn certificate(&self) -> Option<Certificate> {
        self.policy.certificate()
    }
}

impl<P> Advisor<P> {
    /// The number of decisions made, which is the id of the next one.
    pub fn decisions(&self) -> u64 {
        self.tracker.next
    }

    /// The number of plays per arm.
    pub fn plays(&self) -> &[u64] {
        &self.tracker.plays
    }

    /// How often the arm changed from one play to the next.
    pub fn switches(&self) -> u64 {
        self.tracker.switches
    }

    /// The decisions whose losses the policy needs before its next run, oldest first. They all belong to the
    /// [current run](Self::current_run).
    pub fn outstanding(&self) -> impl Iterator<Item = u64> + '_ {
        self.tracker.outstanding()
    }

    /// The open run; none before the first play and between runs.
    pub fn current_run(&self) -> Option<Run> {
        self.tracker.run()
    }

    /// The range of possible losses.
    pub fn loss_range(&self) -> LossRange {
        self.tracker.range
    }

    /// The policy.
    pub fn policy(&self) -> &P {
        &self.policy
    }

    /// Returns the policy. Losses told for an incomplete run are lost.
    pub fn into_policy(self) -> P {
        self.policy
    }
}

/// As many arms as games and policies can have.
fn is_number_of_arms(arms: usize) -> bool {
    (1..=Problem::MOST_ARMS).contains(&arms)
}
