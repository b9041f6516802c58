//! The adaptive pilot: find the memory first, then play `calibrated` with it.
//!
//! Every policy with burn-in needs a bound M on the memory. This one needs only the longest memory considered possible:
//!
//! 1. The **pilot** plays arms at random, in runs of log-uniform length from 1 to twice a scale, which grows from 8 to
//!    `longest`: if the memory is short, short runs find it soon. It follows the tally of every candidate memory m
//!    (unit weights) and adds up losses by arm and tally.
//! 2. At **looks**, after numbers of plays that grow by a constant factor, it computes which memories agree with the
//!    losses under some monotone curves ([`memory_set`](crate::tallying::memory_set)). The set is *closed* if the
//!    absence of a warm-up is excluded and its upper end is at most 1.5 times its lower end.
//! 3. It **hands over** to [`Calibrated`](super::Calibrated) with the upper end of the set as M. If the set has not
//!    closed when the pilot must end, M is still the upper end, or `longest` if there is none. `calibrated` starts from
//!    the losses that were calibrated under that M.
//!
//! What is known about M is measured, not proven: if losses depend on unweighted tallies by monotone curves and no
//! memory exceeds `longest`, then M was at least the memory in 96 to 100 % of the runs of `examples/pilot_study`. There
//! is no correction for the many looks: the error was measured with them. The pilot pays with its plays: `calibrated`
//! with M = `longest` has less regret unless `longest` is far above the memory.
//!
//! The policy is this project's own. The set follows Hansen (2000), "Sample splitting and threshold estimation",
//! Econometrica 68(3).

mod handover;
mod search;
mod searching;

use super::calibrated::{Calibrated, Index};
use super::error::{check, check_positive, check_problem};
use super::history::{RestoredPlays, StateError, ensure};
use super::spec::PolicyConfig;
use super::{ArmReport, PolicyError, RunReason};
use crate::pilot_plan::{PilotDesign, PilotPlan};
use crate::{Certificate, Feedback, GameClass, Policy, Problem, Run, Stream};
use handover::Handover;
use searching::{Searching, first_look};

/// Find the memory by a pilot, then play `calibrated` with it. For users who know only a generous bound.
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(deny_unknown_fields))]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct PilotSpec {
    /// The longest memory considered possible: at least the game's true memory.
    #[cfg_attr(feature = "schema", schemars(range(min = 1, max = 65536)))]
    pub longest: u32,
    /// The smallest warm-up worth finding, in units of the loss. The pilot ends once warm-ups of this size would have
    /// been found.
    #[cfg_attr(feature = "serde", serde(default = "default_drop"))]
    #[cfg_attr(feature = "schema", schemars(extend("exclusiveMinimum" = 0)))]
    pub drop: f64,
    /// The most plays of the pilot. A tenth of a known horizon is the limit in any case.
    ///
    /// Default: T / 10, or K max(10 000, 20 longest) without a horizon.
    #[cfg_attr(feature = "serde", serde(default, skip_serializing_if = "Option::is_none"))]
    pub most: Option<u64>,
    /// The rule by which `calibrated` chooses arms afterwards.
    #[cfg_attr(feature = "serde", serde(default))]
    pub index: Index,
}

fn default_drop() -> f64 {
    PilotPlan::DEFAULT_DIFFERENCE
}

impl PilotSpec {
    /// Sets the smallest warm-up worth finding, in units of the loss: a positive number.
    pub fn drop(mut self, drop: f64) -> Self {
        self.drop = drop;
        self
    }

    /// Sets the most plays of the pilot.
    pub fn most(mut self, plays: u64) -> Self {
        self.most = Some(plays);
        self
    }

    /// Sets the rule by which `calibrated` chooses arms after the pilot.
    pub fn index(mut self, index: Index) -> Self {
        self.index = index;
        self
    }
}

/// The checked parameters of [`Pilot`], made by [`PilotSpec::params`].
#[derive(Clone, Debug, PartialEq)]
pub struct PilotParams {
    problem: Problem,
    longest: u32,
    drop: f64,
    most: u64,
    index: Index,
}

/// The longest memory that the policy can look for: the state has an entry per play of it.
const MOST_LONGEST: u32 = 1 << 16;
/// The most cells of losses in the state.
const MOST_CELLS: usize = 1 << 24;
/// The pilot takes at most one part in this many of a known horizon.
const HORIZON_SHARE: u64 = 10;
/// Without a horizon, the pilot takes at most this many plays per arm, or this many times the longest memory.
const MOST_PLAYS: u64 = 10_000;
const MOST_LENGTHS: u64 = 20;
/// The set is closed if its upper end is at most this many times its lower end. Then it is rarely above twice the
/// memory. Chosen by simulation.
const CLOSED: f64 = 1.5;

impl PolicyConfig for PilotSpec {
    const NAME: &'static str = "pilot";
    const CITATION: &'static str = "This project (https://calibandit.github.io/calibandit/memory.html), \
                                    after Hansen (2000), Econometrica 68(3)";
    const MEANT_FOR: &'static [GameClass] = &[GameClass::RepeatedExposure];
    type Params = PilotParams;
    type Policy = Pilot;

    fn example() -> Self {
        Pilot::builder(2)
    }

    fn check(&self) -> Result<(), PolicyError> {
        let possible = (1..=MOST_LONGEST).contains(&self.longest);
        check(Self::NAME, "longest", f64::from(self.longest), possible, "from 1 to 65536")?;
        check_positive(Self::NAME, "drop", self.drop)
    }

    fn params(&self, problem: &Problem) -> Result<PilotParams, PolicyError> {
        check_problem(problem)?;
        self.check()?;
        let Self { longest, drop, most, index } = *self;
        let cells = search::cells_per_arm(longest).saturating_mul(problem.arms);
        let few = "smaller for so many arms: at most 2^24 sums of losses are kept";
        check(Self::NAME, "longest", f64::from(longest), cells <= MOST_CELLS, few)?;
        let default = problem.arms as u64 * MOST_PLAYS.max(MOST_LENGTHS * u64::from(longest));
        let limit = problem.horizon.map(|horizon| horizon / HORIZON_SHARE);
        let most = most.or(limit).unwrap_or(default).min(limit.unwrap_or(u64::MAX));
        Ok(PilotParams { problem: *problem, longest, drop, most, index })
    }

    fn filled(params: &PilotParams) -> Self {
        let PilotParams { longest, drop, most, index, .. } = *params;
        Self { longest, drop, most: Some(most), index }
    }

    fn start(params: PilotParams, stream: Stream) -> Pilot {
        Pilot::new(params, stream)
    }

    fn label(&self) -> String {
        "pilot".to_string()
    }
}

/// Either the pilot, or what follows.
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(rename_all = "kebab-case"))]
enum PilotPhase {
    Search(Box<Searching>),
    Play(Box<Handover>),
}

/// A pilot, then [`Calibrated`].
///
/// ```
/// use calibandit::policy::Pilot;
/// use calibandit::rng::StreamKey;
/// use calibandit::{Feedback, Policy, Problem};
/// let problem = Problem { arms: 3, horizon: Some(1_000_000) };
/// let mut policy = Pilot::builder(32).build(&problem, StreamKey::new(1, "doc", 0).policy())?;
/// // Arms that lose 0.5 until the sixth play in a row, and then 0.2.
/// let mut in_a_row = (0, 0);
/// while policy.memory_bound().is_none() {
///     let run = policy.next_run();
///     in_a_row = if run.arm == in_a_row.0 { (run.arm, in_a_row.1 + run.record) } else { (run.arm, run.record) };
///     let n = run.record as f64;
///     let loss = if in_a_row.1 >= 6 { 0.2 } else { 0.5 };
///     policy.observe(run, Feedback { plays: run.record, sum: n * loss, sum_sq: n * loss * loss });
/// }
/// assert_eq!(policy.memory_bound(), Some(6));
/// # Ok::<(), calibandit::PolicyError>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(deny_unknown_fields))]
pub struct Pilot {
    problem: Problem,
    longest: u32,
    drop: f64,
    most: u64,
    index: Index,
    phase: PilotPhase,
}

impl Pilot {
    /// Default parameters, if no memory is longer than `longest`. A known horizon is used, but not needed.
    pub fn builder(longest: u32) -> PilotSpec {
        PilotSpec { longest, drop: default_drop(), most: None, index: Index::default() }
    }

    /// A policy ready for its first run.
    pub fn new(params: PilotParams, stream: Stream) -> Self {
        let PilotParams { problem, longest, drop, most, index } = params;
        // A pilot that ends before its first look, or has nothing to find, would be in vain.
        let in_vain = problem.arms == 1 || longest == 1 || most < first_look(problem.arms);
        let phase = if in_vain {
            let inner = Calibrated::builder(u64::from(longest)).index(index);
            PilotPhase::Play(Box::new(Handover::without_pilot(inner, problem, stream)))
        } else {
            PilotPhase::Search(Box::new(Searching::new(longest, problem.arms, most, stream)))
        };
        Self { problem, longest, drop, most, index, phase }
    }

    /// The memory bound that `calibrated` was given; `None` during the pilot.
    pub fn memory_bound(&self) -> Option<u64> {
        match &self.phase {
            PilotPhase::Search(_) => None,
            PilotPhase::Play(play) => Some(play.memory_bound()),
        }
    }

    /// The number of plays of the pilot so far.
    pub fn pilot_plays(&self) -> u64 {
        match &self.phase {
            PilotPhase::Search(state) => state.plays(),
            PilotPhase::Play(play) => play.pilot_plays(),
        }
    }

    /// At the end of a run: looks at the losses if it is time, and begins the next run of the pilot or hands over.
    fn end_run(&mut self) {
        let PilotPhase::Search(state) = &mut self.phase else { return };
        let over = state.plays() >= self.most;
        let mut ends = over;
        if over || state.plays() >= state.next_look() {
            let look = state.search().look();
            state.set_upper(look.and_then(|(set, _)| set.high));
            ends |= look.is_some_and(|(set, variance)| {
                let closed = set.low > 1 && set.high.is_some_and(|high| f64::from(high) <= CLOSED * f64::from(set.low));
                let enough = PilotDesign::Tallying.plays_per_arm(self.longest, variance.sqrt(), self.drop);
                closed || state.plays() as f64 >= enough * self.problem.arms as f64
            });
        }
        if !ends {
            return state.begin_run(self.most);
        }
        let memory_bound = state.upper().unwrap_or(self.longest);
        let spec = Calibrated::builder(u64::from(memory_bound)).index(self.index);
        let (pilot, past) = (state.search().plays().to_vec(), state.search().calibrated(memory_bound));
        let play = Handover::after_pilot(spec, self.problem, state.stream(), pilot, past);
        self.phase = PilotPhase::Play(Box::new(play));
    }
}

impl Policy for Pilot {
    fn next_run(&mut self) -> Run {
        match &mut self.phase {
            PilotPhase::Search(state) => state.run(),
            PilotPhase::Play(play) => play.next_run(),
        }
    }

    fn observe(&mut self, run: Run, feedback: Feedback) {
        let ended = match &mut self.phase {
            PilotPhase::Search(state) => state.observe(run, feedback),
            PilotPhase::Play(play) => return play.observe(run, feedback),
        };
        if ended {
            self.end_run();
        }
    }

    /// During the pilot, the arm with the least mean of its latest positions.
    fn recommend(&self) -> usize {
        match &self.phase {
            PilotPhase::Search(state) => state.search().best(),
            PilotPhase::Play(play) => play.policy().recommend(),
        }
    }

    fn certificate(&self) -> Option<Certificate> {
        match &self.phase {
            PilotPhase::Search(_) => None,
            PilotPhase::Play(play) => play.policy().certificate(),
        }
    }

    fn arm_reports(&self) -> Option<Vec<ArmReport>> {
        match &self.phase {
            PilotPhase::Search(_) => None,
            PilotPhase::Play(play) => play.policy().arm_reports(),
        }
    }

    fn run_reason(&self, run: Run) -> RunReason {
        match &self.phase {
            PilotPhase::Search(_) => RunReason::Unstated,
            PilotPhase::Play(play) => play.policy().run_reason(run),
        }
    }

    fn check_restored(&self, history: &RestoredPlays<'_>) -> Result<(), StateError> {
        ensure(self.problem.arms == history.arms, "the policy has another number of arms")?;
        let spec = PilotSpec { longest: self.longest, drop: self.drop, most: Some(self.most), index: self.index };
        let params = spec.params(&self.problem);
        ensure(params.is_ok_and(|params| params.most == self.most), "the parameters of the pilot are out of range")?;
        match &self.phase {
            PilotPhase::Search(state) => state.check_restored(self.longest, self.most, history),
            PilotPhase::Play(play) => play.check_restored(self.longest, history),
        }
    }

    fn observe_repeated(&mut self, run: Run, most: u64, feedback: &mut dyn FnMut() -> Feedback) -> u64 {
        let repetitions = match &self.phase {
            PilotPhase::Search(state) => state.repetitions().min(most),
            PilotPhase::Play(_) => 1,
        };
        (0..repetitions).for_each(|_| self.observe(run, feedback()));
        repetitions
    }
}
