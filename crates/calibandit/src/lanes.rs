//! Lanes: live use with many users, machines or workers at once, late and lost feedback, and pauses.
//!
//! A *lane* is what holds the memory: one sequence of plays with one window. What is learnt is shared by all lanes,
//! windows are not. A loss is used if its lane played the arm at least M - 1 times just before, and 2(c - 1) times more
//! if up to c plays of the lane are under way at once. docs/lanes.md has the model and its proofs.
//!
//! A [`LaneAdvisor`] is a state machine: [`apply`](LaneAdvisor::apply) takes a [`LaneCommand`] and the time, and gives
//! an answer. It reads no clock, has no threads and performs no I/O, so that a server can store the commands and replay
//! them to the same bits. [`Advisor`](crate::Advisor) is the simple interface for one lane.

mod arms;
mod ask;
mod bank;
mod builder;
mod command;
mod error;
mod forecast;
mod lane;
mod plan;
mod presence;
#[cfg(feature = "serde")]
mod restored;
mod settings;
mod settle;
#[cfg(feature = "serde")]
mod snapshot;
mod state;
mod warning;
mod watch;

pub use builder::LaneBuilder;
pub(crate) use builder::check_policy_kind;
pub use command::{AskAfter, CountedAs, LaneAnswer, LaneCommand, LaneDecision, LanePhase, PlayOutcome};
pub use error::LaneError;
pub use settings::{ExpiryRule, ExplorerCount, LaneFiller, LaneMode, LaneSettings, LaneSettingsError, overlap_burn_in};

#[cfg(feature = "serde")]
pub use snapshot::LaneParts;
pub use warning::LaneWarning;

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use crate::confidence::LossSequence;
use crate::policy::ClosedRuns;
use crate::{Certificate, Feedback, LossRange, Policy, Run, Stream};
use bank::ArmBank;
use lane::Lane;
use plan::LanePlan;
use presence::Presence;
use state::LaneReasons;
use watch::LaneWatch;

/// Ask/tell over a policy, on one lane or many.
///
/// ```
/// use calibandit::lanes::{ExpiryRule, LaneAdvisor, LanePhase, LaneSettings, PlayOutcome};
/// use calibandit::policy::Calibrated;
///
/// // Users of a recommender. A click within 60 s is a loss of 0, none is a loss of 1; a session ends after 1800 s.
/// let settings = LaneSettings::new(ExpiryRule::Loss { after: 60, loss: 1.0 }).many().reset_after(1800);
/// let mut advisor = LaneAdvisor::builder(Calibrated::builder(3), 4, settings).seed(7).build()?;
///
/// let first = advisor.ask(17, 0)?; // user 17, at time 0
/// assert_eq!((first.position, first.phase), (1, LanePhase::WarmUp));
/// advisor.settle(first.id, PlayOutcome::Loss(0.0), 5)?;
/// let second = advisor.ask(17, 10)?;
/// assert_eq!(second.position, 2);
/// let other = advisor.ask(23, 11)?; // another user has a window of its own
/// assert_eq!(other.position, 1);
/// assert_eq!(advisor.ask(17, 4000)?.position, 1, "the user comes back in a new session");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct LaneAdvisor<P> {
    policy: P,
    fork: PolicyFork<P>,
    reasons: LaneReasons,
    books: LaneBooks,
}

/// How a policy is copied, if it can be, to look ahead. It is no part of the state.
struct PolicyFork<P>(Option<fn(&P) -> P>);

impl<P> PolicyFork<P> {
    fn copy(&self, policy: &P) -> Option<P> {
        self.0.map(|copy| copy(policy))
    }
}

impl<P> Clone for PolicyFork<P> {
    fn clone(&self) -> Self {
        Self(self.0)
    }
}

impl<P> std::fmt::Debug for PolicyFork<P> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(if self.0.is_some() { "PolicyFork" } else { "no PolicyFork" })
    }
}

impl<P> PartialEq for PolicyFork<P> {
    fn eq(&self, _: &Self) -> bool {
        true
    }
}

/// Everything but the policy.
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(deny_unknown_fields))]
struct LaneBooks {
    settings: LaneSettings,
    range: LossRange,
    horizon: Option<u64>,
    /// For the choice of explorers.
    stream: Stream,
    /// The latest time.
    now: u64,
    /// The id of the next decision.
    next: u64,
    /// The plays of each arm, as far as is known.
    plays: Vec<u64>,
    /// Per arm, the losses that runs have taken.
    taken: Vec<Feedback>,
    banks: Vec<ArmBank>,
    /// The arms that are retired.
    retired: BTreeSet<usize>,
    /// The runs that the policy has got the feedback of.
    closed: ClosedRuns,
    /// They are written beside the rest.
    #[cfg_attr(feature = "serde", serde(skip))]
    lanes: BTreeMap<u64, Lane>,
    /// The decisions without an outcome.
    #[cfg_attr(feature = "serde", serde(with = "snapshot::pairs"))]
    open: BTreeMap<u64, OpenDecision>,
    /// The outcomes of some earlier decisions; `None` for those that expired.
    #[cfg_attr(feature = "serde", serde(with = "snapshot::pairs"))]
    settled: BTreeMap<u64, Option<PlayOutcome>>,
    run: Option<LaneRun>,
    /// The number of runs that were opened.
    runs: u64,
    /// The arm that the policy recommends.
    leader: usize,
    /// Per arm, the losses that the policy has got, after the past ones.
    losses: Vec<LossSequence>,
    /// Per arm, the past losses that the policy started from; empty if there are none.
    past: Vec<Feedback>,
    watch: LaneWatch,
    presence: Presence,
    plan: LanePlan,
    counts: LaneCounts,
}

/// The run that the policy has asked for.
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(deny_unknown_fields))]
struct LaneRun {
    run: Run,
    /// The sum of its oldest losses.
    feedback: Feedback,
    /// Its latest losses, by decision, in order. They can still be given back.
    latest: VecDeque<(u64, f64)>,
    /// Its plays so far, if runs are handed out exactly.
    given: u64,
}

/// This many losses of the open run are kept one by one.
const KEPT_LOSSES: usize = 4096;

impl LaneRun {
    fn new(run: Run) -> Self {
        Self { run, feedback: Feedback::default(), latest: VecDeque::new(), given: 0 }
    }

    fn is_endless(&self) -> bool {
        self.run.record == u64::MAX
    }

    /// The number of its losses.
    fn losses(&self) -> u64 {
        self.feedback.plays + self.latest.len() as u64
    }

    /// Adds a loss, and returns the one that can no longer be given back, if there is one.
    fn add(&mut self, decision: u64, loss: f64) -> Option<f64> {
        self.latest.push_back((decision, loss));
        let (_, oldest) = if self.latest.len() > KEPT_LOSSES { self.latest.pop_front()? } else { return None };
        self.feedback += Feedback::one(oldest);
        Some(oldest)
    }

    /// The place of a loss that can be given back.
    fn place(&self, arm: usize, decision: u64) -> Option<usize> {
        let place = self.latest.binary_search_by_key(&decision, |&(decision, _)| decision).ok();
        place.filter(|_| self.run.arm == arm)
    }

    /// All its losses, added up in the order of the decisions.
    fn total(&self) -> Feedback {
        let mut total = self.feedback;
        self.latest.iter().for_each(|&(_, loss)| total += Feedback::one(loss));
        total
    }
}

#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(deny_unknown_fields))]
struct OpenDecision {
    lane: u64,
    arm: u32,
    phase: LanePhase,
    /// Whether it has a place in the bank.
    counted: bool,
    run: u64,
    position: u64,
    asked_at: u64,
}

/// How many outcomes of each kind there were.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(deny_unknown_fields))]
#[non_exhaustive]
pub struct LaneCounts {
    /// Losses told.
    pub told: u64,
    /// Plays made without a loss to tell.
    pub done: u64,
    /// Plays made whose loss was lost.
    pub lost: u64,
    /// Plays that were not made.
    pub not_played: u64,
    /// Plays of another arm than advised.
    pub overridden: u64,
    /// Decisions that expired.
    pub expired: u64,
    /// Outcomes reported after the expiry.
    pub late: u64,
    /// Resets by command.
    pub resets: u64,
    /// Resets after an idle time.
    pub idle_resets: u64,
    /// Plays without advice.
    pub unadvised: u64,
    /// Calibrated plays that turned out not to be.
    pub demoted: u64,
    /// Decisions of the warm-up.
    pub warm_up: u64,
    /// Decisions that the policy had asked for.
    pub measured: u64,
    /// Decisions beyond the runs.
    pub filler: u64,
}

#[cfg(feature = "serde")]
impl LaneCounts {
    fn all(&self) -> [u64; 14] {
        let Self { told, done, lost, not_played, overridden, expired, late, resets, idle_resets, unadvised, .. } =
            *self;
        let Self { demoted, warm_up, measured, filler, .. } = *self;
        let outcomes = [told, done, lost, not_played, overridden, expired, late, resets, idle_resets, unadvised];
        let [a, b, c, d, e, f, g, h, i, j] = outcomes;
        [a, b, c, d, e, f, g, h, i, j, demoted, warm_up, measured, filler]
    }
}

impl<P: Policy> LaneAdvisor<P> {
    /// An advisor over your own policy, with losses in this range. `seed_stream` is for the choice of explorers.
    ///
    /// A policy that relates each loss to its own draw, such as EXP3, must only be used with one lane and the filler
    /// `wait`; [`builder`](Self::builder) checks this for the policies of the library.
    pub fn new(
        policy: P,
        arms: usize,
        range: LossRange,
        settings: LaneSettings,
        seed_stream: Stream,
    ) -> Result<Self, LaneSettingsError> {
        if !(1..=crate::Problem::MOST_ARMS).contains(&arms) {
            return Err(LaneSettingsError::Arms { arms });
        }
        settings.check(&range)?;
        let leader = policy.recommend();
        let books = LaneBooks {
            settings,
            range,
            horizon: None,
            stream: seed_stream,
            now: 0,
            next: 0,
            plays: vec![0; arms],
            taken: vec![Feedback::default(); arms],
            banks: vec![ArmBank::default(); arms],
            retired: BTreeSet::new(),
            closed: ClosedRuns::new(arms),
            lanes: BTreeMap::new(),
            open: BTreeMap::new(),
            settled: BTreeMap::new(),
            run: None,
            runs: 0,
            leader,
            losses: vec![LossSequence::default(); arms],
            past: Vec::new(),
            watch: LaneWatch::new(arms),
            presence: Presence::new(arms),
            plan: LanePlan::default(),
            counts: LaneCounts::default(),
        };
        Ok(Self { policy, fork: PolicyFork(None), reasons: LaneReasons::default(), books })
    }

    /// The same with a policy that can be copied. A copy shows which runs the policy would ask for next, so that many
    /// lanes measure them at the same time. Without it, lanes measure one run after the other.
    pub fn looking_ahead(mut self) -> Self
    where
        P: Clone,
    {
        self.fork = PolicyFork(Some(P::clone));
        self
    }

    /// Applies a command at this time. Time never goes back: an earlier time counts as the latest one.
    ///
    /// A refused command changes nothing, except that time passes: decisions that expire by then have expired.
    pub fn apply(&mut self, command: &LaneCommand, now: u64) -> Result<LaneAnswer, LaneError> {
        self.pass_time(now);
        match command {
            LaneCommand::Ask { lane, after, available } => {
                self.give_out(*lane, *after, available.as_deref()).map(LaneAnswer::Decision)
            }
            LaneCommand::Settle { decision, outcome, played_at } => self.record(*decision, *outcome, *played_at),
            LaneCommand::Play { lane, arm, loss } => self.record_play(*lane, *arm, *loss),
            LaneCommand::Reset { lane } => {
                self.reset(*lane);
                Ok(LaneAnswer::Noted)
            }
            LaneCommand::AddArm => self.add_arm(now).map(|arm| LaneAnswer::Arm { arm }),
            LaneCommand::RetireArm { arm } => self.retire_arm(*arm, now).map(|()| LaneAnswer::Noted),
            LaneCommand::Tick => Ok(LaneAnswer::Noted),
        }
    }

    /// The next play of a lane: [`LaneCommand::Ask`] without `after`.
    pub fn ask(&mut self, lane: u64, now: u64) -> Result<LaneDecision, LaneError> {
        self.pass_time(now);
        self.give_out(lane, AskAfter::Unstated, None)
    }

    /// Reports the loss of a decision.
    pub fn tell(&mut self, decision: u64, loss: f64, now: u64) -> Result<LaneAnswer, LaneError> {
        self.settle(decision, PlayOutcome::Loss(loss), now)
    }

    /// Reports what became of a decision: [`LaneCommand::Settle`].
    pub fn settle(&mut self, decision: u64, outcome: PlayOutcome, now: u64) -> Result<LaneAnswer, LaneError> {
        self.apply(&LaneCommand::Settle { decision, outcome, played_at: None }, now)
    }

    /// What the policy guarantees about its arms, if it does.
    pub fn certificate(&self) -> Option<Certificate> {
        self.policy.certificate()
    }

    /// The arm to commit to if exploration ended now.
    pub fn recommend(&self) -> usize {
        self.policy.recommend()
    }

    /// Gives the open run what the bank has. If that completes it, the next one is opened.
    fn collect(&mut self) {
        self.fill_run();
        // Before the first play, a warm start may still come.
        if self.books.next > 0 {
            // A run that cannot be played is refused when a lane asks.
            let _ = self.open_run();
        }
    }

    /// Gives the open run what the bank has, and reports it to the policy once it is complete.
    fn fill_run(&mut self) {
        let Some(open) = &mut self.books.run else { return };
        if open.is_endless() {
            return;
        }
        let (arm, scale) = (open.run.arm, self.books.range.scale());
        while open.losses() < open.run.record
            && let Some((decision, loss)) = self.books.banks[arm].take()
        {
            if let Some(oldest) = open.add(decision, loss) {
                self.books.losses[arm].push(oldest, &scale);
            }
            self.books.plan.without_loss = 0;
        }
        let run = open.run;
        if open.losses() == run.record && (run.record > 0 || open.given >= run.burn_in) {
            let feedback = open.total();
            open.latest.iter().for_each(|&(_, loss)| self.books.losses[arm].push(loss, &scale));
            self.policy.observe(run, feedback);
            self.books.closed.close(run, 0, 0);
            self.books.taken[arm] += feedback;
            self.books.run = None;
            self.books.leader = self.policy.recommend();
        }
    }
}

impl<P> LaneAdvisor<P> {
    /// The number of decisions made, which is the id of the next one. Plays without advice have ids too.
    pub fn decisions(&self) -> u64 {
        self.books.next
    }

    /// The number of plays per arm, as far as is known.
    pub fn plays(&self) -> &[u64] {
        &self.books.plays
    }

    /// Per arm, the losses that the policy has got.
    pub fn measured(&self) -> &[Feedback] {
        &self.books.taken
    }

    /// The number of runs that the policy has asked for.
    pub fn runs(&self) -> u64 {
        self.books.runs
    }

    /// The open run and what it has got.
    pub fn current_run(&self) -> Option<(Run, Feedback)> {
        self.books.run.as_ref().map(|open| (open.run, open.total()))
    }

    /// The number of lanes that were ever asked.
    pub fn lanes(&self) -> usize {
        self.books.lanes.len()
    }

    /// An estimate of the number of lanes that are asked at present.
    pub fn active_lanes(&self) -> f64 {
        self.books.presence.active_lanes()
    }

    /// A lane's present arm, the plays of it in a row and its newest decision; `None` if it was never asked.
    pub fn lane(&self, lane: u64) -> Option<(Option<usize>, u64, Option<u64>)> {
        let lane = self.books.lanes.get(&lane)?;
        let arm = lane.streak().arm();
        Some((arm, arm.map_or(0, |arm| lane.streak().before(arm)), lane.newest))
    }

    /// The decisions without an outcome, oldest first.
    pub fn open(&self) -> impl Iterator<Item = u64> + '_ {
        self.books.open.keys().copied()
    }

    /// When an open decision was asked for.
    pub fn asked_at(&self, decision: u64) -> Option<u64> {
        self.books.open.get(&decision).map(|open| open.asked_at)
    }

    /// The number of calibrated losses of an arm that wait for a run.
    pub fn banked(&self, arm: usize) -> usize {
        self.books.banks.get(arm).map_or(0, ArmBank::known)
    }

    /// How many outcomes of each kind there were.
    pub fn counts(&self) -> LaneCounts {
        self.books.counts
    }

    /// The settings.
    pub fn settings(&self) -> &LaneSettings {
        &self.books.settings
    }

    /// The latest time.
    pub fn now(&self) -> u64 {
        self.books.now
    }

    /// The policy.
    pub fn policy(&self) -> &P {
        &self.policy
    }
}
