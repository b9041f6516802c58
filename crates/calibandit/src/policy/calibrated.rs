//! Calibrated policies: keep every calibrated loss, burn in only on a switch, switch rarely.
//!
//! After M - 1 plays in a row the losses of an arm are i.i.d. with its eventual loss as their mean, so every index of
//! the plain stochastic bandit applies to them; the only additional cost is the burn-in at each switch. The family has
//! three parts:
//!
//! - the **index** ([`Index`], `calibrated/index.rs` and `challenge.rs`): which arm to record next;
//! - the **schedule** (`calibrated/schedule.rs`): how many plays to record at the start and at each visit. A visit
//!   multiplies the recorded plays of its arm by a constant factor, so there are O(K·log T) switches;
//! - the **burn-in** (`burn_in` below): M - 1 plays on a switch, none when the arm stays.
//!
//! The regret is at most that of the index in a stochastic bandit plus the burn-in times the number of switches;
//! docs/calibrated.md has the guarantee and its proof. The default index is this project's own; it builds on
//! Lai (1987), "Adaptive treatment allocation and the multi-armed bandit problem", Annals of Statistics 15(3), and on
//! Waudby-Smith and Ramdas (2024), "Estimating means of bounded random variables by betting", JRSS B 86(1).

mod arm_changes;
mod arms_view;
mod challenge;
mod crowd;
mod index;
mod lookup;
mod opening;
mod price;
mod restored;
mod ruling_out;
mod sample_stats;
mod schedule;
mod stats_groups;
mod status;
mod threshold;
mod tuning;

pub use index::Index;
pub(super) use index::largest;
pub use tuning::Tuning;

use rand::seq::SliceRandom;

use super::error::{check, check_memory_bound, check_problem};
use super::history::{RestoredPlays, StateError};
use super::spec::PolicyConfig;
use super::{ArmChangeError, ArmReport, PolicyError, RunReason, WarmStartError};
use crate::{Certificate, Feedback, GameClass, Policy, Problem, Run, Stream};
use arm_changes::ArmChanges;
use arms_view::{ArmsView, Situation};
use crowd::Crowd;
use lookup::ArmLookup;
use price::BurnInLosses;
use sample_stats::SampleStats;
use schedule::{Schedule, is_growth};

/// Keep every calibrated loss, burn in only on a switch, switch rarely: far less regret, same guarantee.
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(deny_unknown_fields))]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct CalibratedSpec {
    /// What the policy is told about the memory: at least the game's true memory, the paper's M.
    #[cfg_attr(feature = "schema", schemars(range(min = 1)))]
    pub memory_bound: u64,
    /// The rule that chooses the next arm.
    #[cfg_attr(feature = "serde", serde(default))]
    pub index: Index,
    /// The number of plays to record of each arm at the start; fewer if the horizon is short, more if the burn-in is
    /// long.
    #[cfg_attr(feature = "serde", serde(default = "default_first"))]
    #[cfg_attr(feature = "schema", schemars(range(min = 1)))]
    pub first: u64,
    /// A visit records at least this fraction of the arm's earlier recorded plays.
    ///
    /// Default: 0.15, or 1 for `elimination`.
    #[cfg_attr(feature = "serde", serde(default, skip_serializing_if = "Option::is_none"))]
    #[cfg_attr(feature = "schema", schemars(extend("exclusiveMinimum" = 0, "maximum" = 100)))]
    pub growth: Option<f64>,
    /// The constants of the index `empirical-bayes`; the other indices have none.
    ///
    /// Default: caution 3 and novelty 1 for that index.
    #[cfg_attr(feature = "serde", serde(default, skip_serializing_if = "Option::is_none"))]
    pub tuning: Option<Tuning>,
}

fn default_first() -> u64 {
    32
}

impl CalibratedSpec {
    /// Sets the rule that chooses the next arm.
    pub fn index(mut self, index: Index) -> Self {
        self.index = index;
        self
    }

    /// Sets the number of plays to record of each arm at the start, at least 1.
    pub fn first(mut self, plays: u64) -> Self {
        self.first = plays;
        self
    }

    /// Sets the fraction of the arm's earlier recorded plays that a visit records at least, a positive number.
    pub fn growth(mut self, fraction: f64) -> Self {
        self.growth = Some(fraction);
        self
    }

    /// Sets the constants of the index `empirical-bayes`.
    pub fn tuning(mut self, tuning: Tuning) -> Self {
        self.tuning = Some(tuning);
        self
    }
}

/// The checked parameters of [`Calibrated`], made by [`CalibratedSpec::params`].
#[derive(Clone, Debug, PartialEq)]
pub struct CalibratedParams {
    problem: Problem,
    memory_bound: u64,
    index: Index,
    first: u64,
    growth: f64,
    tuning: Tuning,
}

impl PolicyConfig for CalibratedSpec {
    const NAME: &'static str = "calibrated";
    const CITATION: &'static str = "This project (https://calibandit.github.io/calibandit/calibrated.html), \
                                    after Lai (1987), Annals of Statistics 15(3), \
                                    and Waudby-Smith and Ramdas (2024), JRSS B 86(1)";
    const MEANT_FOR: &'static [GameClass] = &[GameClass::RepeatedExposure];
    type Params = CalibratedParams;
    type Policy = Calibrated;

    fn example() -> Self {
        Calibrated::builder(2)
    }

    fn check(&self) -> Result<(), PolicyError> {
        check_memory_bound(Self::NAME, self.memory_bound)?;
        check(Self::NAME, "first", self.first as f64, self.first >= 1, "at least 1")?;
        self.tuning.map_or(Ok(()), |tuning| tuning.check(Self::NAME))?;
        self.growth.map_or(Ok(()), |growth| check(Self::NAME, "growth", growth, is_growth(growth), "in (0, 100]"))
    }

    fn params(&self, problem: &Problem) -> Result<CalibratedParams, PolicyError> {
        check_problem(problem)?;
        self.check()?;
        let Self { memory_bound, index, first, growth, tuning } = *self;
        // Algorithm 1 doubles its epochs; the other indices reconsider more often.
        let growth = growth.unwrap_or(if index == Index::Elimination { 1.0 } else { 0.15 });
        let tuning = tuning.unwrap_or_default();
        Ok(CalibratedParams { problem: *problem, memory_bound, index, first, growth, tuning })
    }

    fn filled(params: &CalibratedParams) -> Self {
        let CalibratedParams { memory_bound, index, first, growth, tuning, .. } = *params;
        Self { memory_bound, index, first, growth: Some(growth), tuning: Some(tuning) }
    }

    fn start(params: CalibratedParams, stream: Stream) -> Calibrated {
        Calibrated::new(params, stream)
    }

    fn memory_bound(&self) -> Option<u64> {
        Some(self.memory_bound)
    }

    fn set_memory_bound(&mut self, memory_bound: u64) {
        self.memory_bound = memory_bound;
    }

    fn label(&self) -> String {
        match self.index {
            Index::Challenge => "calibrated".to_string(),
            index => format!("calibrated ({})", index.name()),
        }
    }
}

/// Whether snapshots need not have this value. Those of policies without it are as they were before it existed.
#[cfg(feature = "serde")]
fn is_default<T: Default + PartialEq>(value: &T) -> bool {
    *value == T::default()
}

/// What to play next: this arm, with this many recorded plays.
#[derive(Clone, Copy, Debug, PartialEq)]
struct NextRun {
    arm: usize,
    record: f64,
}

/// The visit that is under way: an unbroken sequence of plays of one arm.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(deny_unknown_fields))]
struct Visit {
    /// The recorded plays of the arm before the visit, which determine its least length.
    before: f64,
}

/// A calibrated policy.
///
/// ```
/// use calibandit::policy::Calibrated;
/// use calibandit::rng::StreamKey;
/// use calibandit::{Feedback, Policy, Problem, Run};
/// let problem = Problem { arms: 2, horizon: Some(100_000) };
/// let mut policy = Calibrated::builder(4).build(&problem, StreamKey::new(1, "doc", 0).policy())?;
/// // Every arm is measured once, after a burn-in of 3 plays...
/// for (arm, sum) in [(0, 20.0), (1, 4.0)] {
///     let run = policy.next_run();
///     assert_eq!(run, Run { arm, burn_in: 3, record: 32 });
///     policy.observe(run, Feedback { plays: 32, sum, sum_sq: sum });
/// }
/// // ... and an arm that is far better continues without another burn-in.
/// let run = policy.next_run();
/// assert_eq!((run.arm, run.burn_in), (1, 0));
/// # Ok::<(), calibandit::PolicyError>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(deny_unknown_fields))]
pub struct Calibrated {
    memory_bound: u64,
    #[cfg_attr(feature = "serde", serde(default, skip_serializing_if = "Option::is_none"))]
    horizon: Option<u64>,
    index: Index,
    #[cfg_attr(feature = "serde", serde(default, skip_serializing_if = "is_default"))]
    tuning: Tuning,
    schedule: Schedule,
    records: Vec<SampleStats>,
    /// The arms in play: in increasing order once all have been measured, before that in the order of measurement.
    arms: Vec<usize>,
    /// The number of them that have been measured once.
    opened: usize,
    /// Plays made, burn-in included.
    time: u64,
    #[cfg_attr(feature = "serde", serde(default, skip_serializing_if = "Option::is_none"))]
    current: Option<usize>,
    #[cfg_attr(feature = "serde", serde(default, skip_serializing_if = "Option::is_none"))]
    visit: Option<Visit>,
    /// Whether all losses so far can have come from [0, 1].
    bounded: bool,
    /// For the index `empirical-bayes`: the arms that are clearly worse than the leader.
    #[cfg_attr(feature = "serde", serde(default, skip_serializing_if = "is_default"))]
    crowd: Crowd,
    /// For the index `empirical-bayes`: what switches cost.
    #[cfg_attr(feature = "serde", serde(default, skip_serializing_if = "is_default"))]
    burn_in_losses: BurnInLosses,
    stream: Stream,
    /// With very many arms and the index `thompson`, the bound below which few draws lie.
    #[cfg_attr(feature = "serde", serde(default, skip_serializing_if = "Option::is_none"))]
    cut: Option<f64>,
    /// Arms that came or went after the start.
    #[cfg_attr(feature = "serde", serde(default, skip_serializing_if = "is_default"))]
    changes: ArmChanges,
    #[cfg_attr(feature = "serde", serde(skip))]
    lookup: ArmLookup,
}

impl Calibrated {
    /// Default parameters for a memory of at most `memory_bound`. A known horizon is used, but not needed.
    pub fn builder(memory_bound: u64) -> CalibratedSpec {
        CalibratedSpec { memory_bound, index: Index::default(), first: default_first(), growth: None, tuning: None }
    }

    /// A policy ready for its first run.
    pub fn new(params: CalibratedParams, mut stream: Stream) -> Self {
        let CalibratedParams { problem: Problem { arms: count, horizon }, memory_bound, index, first, growth, tuning } =
            params;
        let (schedule, tried) = Schedule::new(first, growth, count, horizon, memory_bound - 1);
        let mut arms: Vec<usize> = (0..count).collect();
        let stops_early = index == Index::EmpiricalBayes;
        if tried < count || stops_early && opening::is_long(count, horizon, memory_bound - 1, schedule.first()) {
            // The horizon is too short for all arms: the choice of those that are tried must not depend on their order.
            arms.shuffle(&mut stream);
            arms.truncate(tried);
        }
        Self {
            memory_bound,
            horizon,
            index,
            tuning,
            schedule,
            records: vec![SampleStats::default(); count],
            arms,
            opened: 0,
            time: 0,
            current: None,
            visit: None,
            bounded: true,
            crowd: Crowd::default(),
            burn_in_losses: BurnInLosses::default(),
            stream,
            cut: None,
            changes: ArmChanges::default(),
            lookup: ArmLookup::default(),
        }
    }

    fn situation(&self) -> Situation {
        let plays = match self.horizon {
            Some(horizon) => horizon.saturating_sub(self.time),
            None => self.time,
        };
        Situation {
            bounded: self.bounded,
            plays: plays as f64,
            horizon_known: self.horizon.is_some(),
            burn_in: (self.memory_bound - 1) as f64,
            burn_in_losses: self.burn_in_losses,
            current: self.current,
        }
    }

    /// The burn-in: M - 1 plays on a switch, none when the arm stays. No shorter burn-in is safe: an arm is calibrated
    /// only if all plays in its window are its own, and a single play of another arm stays in the window for M - 1
    /// plays.
    fn burn_in(&self, arm: usize) -> u64 {
        if self.current == Some(arm) { 0 } else { self.memory_bound - 1 }
    }

    /// Whether these losses cannot have come from [0, 1]: losses in [0, 1] are at least their squares.
    pub(super) fn leaves_unit(feedback: &Feedback) -> bool {
        feedback.sum_sq > feedback.sum * (1.0 + 1e-9) + 1e-9
    }

    fn choose(&mut self) -> NextRun {
        let visit = self.visit.zip(self.current);
        let visit = visit.map(|(visit, arm)| (self.records[arm].n - visit.before, visit.before));
        let groups = self.lookup.groups.as_deref();
        let view = ArmsView { stats: &self.records, arms: &self.arms, now: self.situation(), groups };
        if let Some(rule) = self.threshold_rule() {
            return challenge::choose(&view, &self.schedule, visit, rule, &mut self.crowd);
        }
        let arm = match &mut self.lookup.race {
            Some(race) => self.arms[race.choose(&mut self.cut, &mut self.stream)],
            None => index::prefer(self.index, &view, &mut self.stream),
        };
        NextRun { arm, record: self.schedule.visit(view.stats[arm].n, view.now.burn_in) }
    }
}

/// The probability with which elimination may be wrong: the default of Algorithm 1 here.
const DELTA: f64 = 0.05;

impl Policy for Calibrated {
    fn next_run(&mut self) -> Run {
        if self.arms.len() == 1 && (self.opened >= 1 || self.records.len() == 1) {
            return Run::forever(self.arms[0]);
        }
        if self.opened < self.arms.len() {
            let arm = self.arms[self.opened];
            // A visit that a new arm has interrupted is over.
            self.visit = None;
            return Run { arm, burn_in: self.burn_in(arm), record: self.opening(arm) as u64 };
        }
        self.look_up(None);
        let next = self.choose();
        if self.current != Some(next.arm) {
            self.visit = Some(Visit { before: self.records[next.arm].n });
        }
        // Visits are far shorter than 2^63 plays; the conversion saturates in any case.
        Run { arm: next.arm, burn_in: self.burn_in(next.arm), record: (next.record.ceil() as u64).max(1) }
    }

    fn observe(&mut self, run: Run, feedback: Feedback) {
        self.records[run.arm].add(feedback);
        self.current = Some(run.arm);
        self.time = self.time.saturating_add(run.plays());
        if self.bounded && Self::leaves_unit(&feedback) {
            self.bounded = false;
            // All posteriors change.
            (self.lookup.race, self.cut) = (None, None);
        }
        if self.arms.get(self.opened) == Some(&run.arm) && self.is_measured(run.arm) {
            self.opened += 1;
            if self.has_enough_arms() {
                self.arms.truncate(self.opened);
            }
            if self.opened == self.arms.len() {
                self.arms.sort_unstable();
            }
        }
        self.look_up(Some(run.arm));
        if self.index == Index::Elimination && self.opened >= self.arms.len() {
            self.eliminate(run.arm);
        }
    }

    fn wants_burn_in(&self) -> bool {
        self.index == Index::EmpiricalBayes
    }

    fn observe_burn_in(&mut self, _: Run, losses: Feedback) {
        self.burn_in_losses.add(losses);
    }

    /// The arm with the least mean of those measured so far.
    fn recommend(&self) -> usize {
        let measured = if self.opened < self.arms.len() { &self.arms[..self.opened.max(1)] } else { &self.arms };
        ArmsView { stats: &self.records, arms: measured, now: self.situation(), groups: None }.leader()
    }

    /// The arms that `elimination` has not ruled out; `None` for the other indices, before every arm has been measured,
    /// and once a loss cannot have come from [0, 1].
    fn certificate(&self) -> Option<Certificate> {
        if self.index != Index::Elimination || self.opened < self.arms.len() || !self.bounded {
            return None;
        }
        let level = self.elimination_level();
        let lower = self.arms.iter().map(|&arm| index::lower(&self.records[arm], level)).fold(f64::INFINITY, f64::min);
        let upper = self.arms.iter().map(|&arm| index::upper(&self.records[arm], level)).fold(0.0, f64::max);
        let gap = if self.arms.len() == 1 { 0.0 } else { upper - lower };
        let delta = DELTA * self.changes.error_factor(self.records.len());
        Some(Certificate { arms: self.arms.clone(), gap, delta })
    }

    fn arm_reports(&self) -> Option<Vec<ArmReport>> {
        Some(self.reports())
    }

    fn run_reason(&self, run: Run) -> RunReason {
        self.reason(run)
    }

    fn warm_start(&mut self, past: &[Feedback]) -> Result<(), WarmStartError> {
        self.start_from(past)
    }

    fn add_arm(&mut self) -> Result<usize, ArmChangeError> {
        self.add()
    }

    fn retire_arm(&mut self, arm: usize) -> Result<(), ArmChangeError> {
        self.retire(arm)
    }

    fn check_restored(&self, history: &RestoredPlays<'_>) -> Result<(), StateError> {
        self.check_state(history)
    }
}
