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
mod confidence;
mod error;
mod explain;
mod loss_range;
mod monitor;
mod pending_ids;
mod probe_test;
mod run_tracker;
#[cfg(feature = "serde")]
mod snapshot;
mod state;

pub use builder::AdvisorBuilder;
pub use confidence::{Confidence, ConfidenceError};
pub use error::{AdvisorError, AskError, TellError};
pub use explain::{ExplainError, Explanation};
pub use loss_range::{LossRange, LossRangeError};
pub use monitor::MonitorVerdict;
#[cfg(feature = "serde")]
pub use snapshot::SnapshotError;
#[cfg(feature = "serde")]
pub(crate) use snapshot::checksum;
pub(crate) use state::StateView;
pub use state::{AdvisorState, ArmState};

use crate::confidence::LossSequence;
use crate::policy::WarmStartError;
use crate::{Certificate, Feedback, Policy, Problem, Run};
use explain::{ExplainedRun, RecentRuns};
pub(crate) use run_tracker::MOST_PAST;
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
    /// Whether it is beyond the horizon that the policy was told. What the policy guarantees holds up to there.
    #[cfg_attr(feature = "serde", serde(default))]
    pub beyond_horizon: bool,
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
/// * Play the arms in the order of the decisions, one after the other. For plays at the same time, see
///   [`lanes`](crate::lanes). Losses may be told late, and in any order within a run: the policy
///   receives the same sums to the last bit.
/// * A loss counts at most once. Telling it again is [`TellError::AlreadySettled`] and changes nothing, so a retry
///   after a lost answer is safe.
/// * A loss that is NaN, infinite or outside the [`LossRange`] is refused, and the decision is still without a loss.
/// * The loss of a burn-in play may be told (once, also late). The policy does not use it. The
///   [monitor](Self::state) uses those from the M-th play in a row on, if they are told before the run ends; whether
///   they are told must not depend on their values.
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
    recent: RecentRuns,
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
        Ok(Self { policy, tracker: RunTracker::new(arms, range), recent: RecentRuns::default() })
    }

    /// The same with this number of plays: decisions beyond it are [marked](Decision::beyond_horizon). The policy is
    /// not told.
    pub fn with_horizon(mut self, horizon: u64) -> Result<Self, AdvisorError> {
        if horizon == 0 {
            return Err(AdvisorError::NoHorizon);
        }
        self.tracker.horizon = Some(horizon);
        Ok(self)
    }

    /// The same with a monitor of this bound on the memory. Without it, the monitor takes the burn-in of each run for
    /// long enough. With `probe`, the first visit of each arm has a burn-in of 4 times the bound, less 1, which makes
    /// the monitor powerful.
    pub fn with_monitor(mut self, memory_bound: Option<u64>, probe: bool) -> Result<Self, AdvisorError> {
        let memory_bound = memory_bound.filter(|&bound| bound >= 1);
        if probe && memory_bound.is_none() {
            return Err(AdvisorError::ProbeWithoutBound);
        }
        (self.tracker.monitor.memory_bound, self.tracker.monitor.probe) = (memory_bound, probe);
        Ok(self)
    }

    /// The same, started from past losses: per arm the number, the sum and the sum of squares of losses of the
    /// calibrated arm. Policies that keep means use them, and so do the confidence intervals; other policies refuse
    /// them. Past losses of an arm must be the first ones of it that were recorded, not a selection.
    pub fn with_warm_start(mut self, past: &[Feedback]) -> Result<Self, AdvisorError> {
        check_past(past, self.tracker.plays.len(), &self.tracker.range, self.tracker.next > 0)?;
        self.policy.warm_start(past)?;
        let scale = self.tracker.range.scale();
        self.tracker.losses = past.iter().map(|past| LossSequence::after(past, &scale)).collect();
        self.tracker.past = past.to_vec();
        Ok(self)
    }

    /// The next play to make.
    pub fn ask(&mut self) -> Result<Decision, AskError> {
        let continues = self.tracker.open_run().is_some();
        let before = self.tracker.newest();
        let decision = self.tracker.play(|| self.policy.next_run())?;
        if !continues && let Some((first, run, probe)) = self.tracker.open_run() {
            let switched_from = before.filter(|&before| before != run.arm);
            let reason = self.policy.run_reason(run);
            self.recent.push(ExplainedRun { first, run, probe, switched_from, reason });
        }
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

    /// Reports the reward of a decision, in the range of losses `[low, high]`: the loss is `low + high - reward`, so
    /// `1.0 - reward` by default. An impossible reward is [`TellError::Reward`]. Returns what [`tell`](Self::tell)
    /// does.
    ///
    /// ```
    /// use calibandit::{Advisor, LossRange};
    /// use calibandit::policy::Ucb1;
    /// let range = LossRange::new(0.0, 100.0)?;
    /// let mut advisor = Advisor::builder(Ucb1::builder(), 2).loss_range(range).build()?;
    /// let decision = advisor.ask()?;
    /// let refused = advisor.tell_reward(decision.id, 120.0).unwrap_err();
    /// assert!(refused.to_string().starts_with("the reward 120 of decision 0 does not lie in [0, 100]"));
    /// assert!(advisor.tell_reward(decision.id, 80.0)?); // a loss of 20
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn tell_reward(&mut self, decision: u64, reward: f64) -> Result<bool, TellError> {
        let range = self.tracker.range;
        self.tracker.check_pending(decision)?;
        if !range.contains(reward) {
            return Err(TellError::Reward { decision, reward, range });
        }
        self.tell(decision, (range.low() + range.high() - reward).clamp(range.low(), range.high()))
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

    /// What is certain about the arms so far: what the policy guarantees, if it does, otherwise what the
    /// [confidence intervals](Self::confidence) show, with a probability of error of 0.05. `None` if that is nothing.
    pub fn certificate(&self) -> Option<Certificate> {
        let shown = || self.confidence_at(confidence::DELTA).certificate();
        self.policy.certificate().or_else(|| if self.is_informed() { shown() } else { None })
    }

    /// Whether every arm has recorded losses.
    fn is_informed(&self) -> bool {
        self.tracker.losses.iter().all(|losses| losses.len() > 0)
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

    /// The number of plays that the policy was told, if it was.
    pub fn horizon(&self) -> Option<u64> {
        self.tracker.horizon
    }

    /// Whether the bound on the memory looks too small.
    pub fn monitor(&self) -> MonitorVerdict {
        self.tracker.monitor.verdict()
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

/// Whether an advisor with losses in this range can start from these past losses.
pub(crate) fn check_past(
    past: &[Feedback],
    arms: usize,
    range: &LossRange,
    started: bool,
) -> Result<(), WarmStartError> {
    if past.len() != arms {
        return Err(WarmStartError::Arms { given: past.len(), arms });
    }
    if started {
        return Err(WarmStartError::Started);
    }
    let (low, high) = (range.low(), range.high());
    for (arm, &Feedback { plays, sum, sum_sq }) in past.iter().enumerate() {
        if plays > MOST_PAST || !crate::policy::history::allows_sums((low, high), plays as f64, sum, sum_sq) {
            return Err(WarmStartError::Sums { arm, plays, low, high, sum, sum_sq });
        }
    }
    Ok(())
}

/// As many arms as games and policies can have.
fn is_number_of_arms(arms: usize) -> bool {
    (1..=Problem::MOST_ARMS).contains(&arms)
}
