//! Live use: ask for one decision at a time, tell its loss when it is known.
//!
//! An [`Advisor`] meters the runs of any [`Policy`] out play by play. It adds the losses up, and the policy gets exactly
//! what it asked for: the feedback of `record` plays of an arm that has been warmed up.
//!
//! It does not measure, wait or retry; it holds no clock, no file and no lock. To live longer than the process, save
//! [`Advisor::to_json`] wherever you keep things.

mod awaiting;
mod error;
mod meter;
mod range;
mod snapshot;

pub use error::{AdvisorError, AskError, SnapshotError, TellError};
pub use range::{LossRange, LossRangeError};

use serde::{Deserialize, Serialize};

use crate::{Certificate, Policy, Run};
use meter::Meter;

/// What to do next.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Decision {
    /// Names the decision when its loss is told. Decisions are numbered from 0; no number is used twice.
    pub id: u64,
    /// The arm to play.
    pub arm: usize,
    /// What its loss will be used for.
    pub phase: Phase,
}

/// What the loss of a play is used for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Phase {
    /// Nothing: the arm is warming up. The play has to be made, but its loss need not be told.
    WarmUp,
    /// The policy learns from it.
    Measured,
}

/// Ask/tell over a policy.
///
/// # Asking and telling
///
/// * Play the arms in the order of the decisions. Losses may come late, and in any order within a run: the policy is
///   told the same sums to the last bit.
/// * A loss counts at most once. Telling it again is [`TellError::AlreadySettled`] and changes nothing, so a retry after a
///   lost answer is safe.
/// * A loss that is NaN, infinite or outside the [`LossRange`] is refused, and the decision still awaits its loss.
/// * The loss of a warm-up play may be told (once, and late as well) and is ignored.
/// * When the policy cannot go on without losses that are outstanding, [`ask`](Self::ask) says
///   [which](AskError::Waiting). A loss that will never come is given up with [`forget`](Self::forget).
///
/// # Memory
///
/// An advisor stays small however long it lives. At most 2^20 plays may be made beyond the oldest outstanding
/// decision; `ask` then waits for it. Of the decisions whose losses nobody needs (warm-up plays, and all plays of a
/// run [without an end](Run::forever), from which the policy does not learn), the latest 1024 stretches that were not told
/// are remembered; older ones count as settled.
///
/// # Example
///
/// Two crowd workers; who has just come back to the job needs a task or two to get going. So the policy below does
/// not judge a worker by the first two tasks of a run.
///
/// ```
/// use calibandit::{Advisor, AskError, Feedback, Phase, Policy, Run, TellError};
///
/// /// Gives each worker 2 tasks to warm up and 3 that count, then all tasks to the better one.
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
/// assert_eq!(first[1].phase, Phase::WarmUp);
///
/// // Nobody else gets a task before the first worker's results are in.
/// assert_eq!(advisor.ask(), Err(AskError::Waiting { outstanding: vec![2, 3, 4] }));
/// advisor.tell(4, 1.0)?; // a wrong answer
/// advisor.tell(2, 0.0)?;
/// assert_eq!(advisor.tell(4, 1.0), Err(TellError::AlreadySettled { decision: 4 }));
/// advisor.forget(3)?; // this result was lost: one more task, please
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
    meter: Meter,
}

impl<P: Policy> Advisor<P> {
    /// An advisor on this many arms, whose losses lie in [0, 1].
    pub fn new(policy: P, arms: usize) -> Result<Self, AdvisorError> {
        Self::with_range(policy, arms, LossRange::default())
    }

    /// An advisor on this many arms, with losses in this range.
    pub fn with_range(policy: P, arms: usize, range: LossRange) -> Result<Self, AdvisorError> {
        if !is_number_of_arms(arms) {
            return Err(AdvisorError::Arms { arms });
        }
        Ok(Self { policy, meter: Meter::new(arms, range) })
    }

    /// The next play to make.
    pub fn ask(&mut self) -> Result<Decision, AskError> {
        let decision = self.meter.play(|| self.policy.next_run())?;
        self.report();
        Ok(decision)
    }

    /// Takes the loss of a decision.
    pub fn tell(&mut self, decision: u64, loss: f64) -> Result<(), TellError> {
        self.meter.tell(decision, loss)?;
        self.report();
        Ok(())
    }

    /// Gives up the loss of a decision whose play was made. If the policy needs it, one more play of the same
    /// arm, still in the same run, takes its place. Never fails with [`TellError::Loss`].
    ///
    /// Whether a loss gets lost must have nothing to do with how large it is; otherwise the policy learns from a
    /// biased sample. If only failures go missing, tell a loss of 1 instead.
    pub fn forget(&mut self, decision: u64) -> Result<(), TellError> {
        self.meter.forget(decision)?;
        self.report();
        Ok(())
    }

    /// Reports a run to the policy as soon as it is complete.
    fn report(&mut self) {
        if let Some((run, feedback)) = self.meter.close() {
            self.policy.observe(run, feedback);
        }
    }

    /// The arm to settle on if playing stopped being about learning now.
    pub fn recommend(&self) -> usize {
        self.policy.recommend()
    }

    /// What the policy can say with confidence about its arms so far.
    pub fn certificate(&self) -> Option<Certificate> {
        self.policy.certificate()
    }
}

impl<P> Advisor<P> {
    /// How many decisions were made: the next one has this id.
    pub fn decisions(&self) -> u64 {
        self.meter.next
    }

    /// How often each arm was played.
    pub fn plays(&self) -> &[u64] {
        &self.meter.plays
    }

    /// How often the arm changed from one play to the next.
    pub fn switches(&self) -> u64 {
        self.meter.switches
    }

    /// The decisions whose losses the policy needs before its next run, oldest first. They all belong to the
    /// [current run](Self::current_run).
    pub fn outstanding(&self) -> impl Iterator<Item = u64> + '_ {
        self.meter.outstanding()
    }

    /// The run being played; none before the first play and between runs.
    pub fn current_run(&self) -> Option<Run> {
        self.meter.run()
    }

    /// The losses declared possible.
    pub fn loss_range(&self) -> LossRange {
        self.meter.range
    }

    /// The policy.
    pub fn policy(&self) -> &P {
        &self.policy
    }

    /// Gives the policy back. What was told of a run that is not complete is lost.
    pub fn into_policy(self) -> P {
        self.policy
    }
}

/// Arms are numbered with 32 bits, as in games.
fn is_number_of_arms(arms: usize) -> bool {
    arms > 0 && arms < u32::MAX as usize
}
