//! The state of an advisor apart from its policy: the open run, handed out one play at a time, and the losses told.

#[cfg(feature = "serde")]
mod restored;

use std::collections::BTreeMap;

use super::monitor::{Monitor, RunBins};
use super::pending_ids::PendingIds;
use super::{AskError, Decision, LossRange, Phase, TellError};
use crate::confidence::LossSequence;
use crate::policy::ClosedRuns;
use crate::{Feedback, Run};

/// At most this many plays beyond the oldest decision whose loss the policy needs. It bounds the losses held: 16 MB.
pub(super) const IN_FLIGHT: u64 = 1 << 20;
/// At most this many ranges of decisions are remembered whose losses are not needed.
pub(super) const REMEMBERED: usize = 1024;

/// Decisions are numbered from 0. Within a run the burn-in comes first, so two numbers give the phase of each decision
/// of the open run. Pending decisions of earlier runs all belong to burn-ins.
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(deny_unknown_fields))]
pub(super) struct RunTracker {
    pub(super) range: LossRange,
    /// The number of plays per arm.
    pub(super) plays: Vec<u64>,
    pub(super) switches: u64,
    newest: Option<usize>,
    /// The id of the next decision, which is the number of plays so far.
    pub(super) next: u64,
    /// Decisions without a loss. The name in snapshots is older.
    #[cfg_attr(feature = "serde", serde(rename = "awaiting"))]
    pending: PendingIds,
    open: Option<OpenRun>,
    /// Counts over the runs that were reported; `None` after an older snapshot, which does not have them.
    #[cfg_attr(feature = "serde", serde(default))]
    closed: Option<ClosedRuns>,
    /// The number of plays that the policy was told.
    #[cfg_attr(feature = "serde", serde(default))]
    pub(super) horizon: Option<u64>,
    /// Per arm, the recorded losses as far as they were added up, after the past ones.
    #[cfg_attr(feature = "serde", serde(default))]
    pub(super) losses: Vec<LossSequence>,
    /// Per arm, recorded plays that are not in `losses`, because an older snapshot does not have them; empty if none.
    #[cfg_attr(feature = "serde", serde(default, skip_serializing_if = "Vec::is_empty"))]
    unseen: Vec<u64>,
    /// Per arm, the past losses that the policy started from; empty if there are none.
    #[cfg_attr(feature = "serde", serde(default, skip_serializing_if = "Vec::is_empty"))]
    pub(super) past: Vec<Feedback>,
    #[cfg_attr(feature = "serde", serde(default))]
    pub(super) monitor: Monitor,
}

#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(deny_unknown_fields))]
struct OpenRun {
    run: Run,
    /// The id of its first play.
    first: u64,
    /// Recorded plays whose loss was given up; each is replaced by one more play.
    forgotten: u64,
    /// The sum of the recorded losses, in the order of the decisions, up to the oldest outstanding one.
    feedback: Feedback,
    /// Losses told before those of earlier decisions. They are held back so that the sum has the same bits in whatever
    /// order the losses arrive.
    held: BTreeMap<u64, f64>,
    /// Burn-in plays beyond those of the run: the probe of the monitor.
    #[cfg_attr(feature = "serde", serde(default, skip_serializing_if = "is_zero"))]
    probe: u64,
    /// The losses that the monitor compares.
    #[cfg_attr(feature = "serde", serde(default, skip_serializing_if = "Option::is_none"))]
    bins: Option<RunBins>,
}

#[cfg(feature = "serde")]
fn is_zero(number: &u64) -> bool {
    *number == 0
}

impl OpenRun {
    fn new(run: Run, first: u64, probe: u64, bins: Option<RunBins>) -> Self {
        Self { run, first, forgotten: 0, feedback: Feedback::default(), held: BTreeMap::new(), probe, bins }
    }

    /// The number of plays whose losses are ignored.
    fn burn_in(&self) -> u64 {
        self.run.burn_in.saturating_add(self.probe)
    }

    /// A run without an end is never reported, so its losses are not needed.
    fn is_endless(&self) -> bool {
        self.run.record == u64::MAX
    }

    /// The id of the first recorded play.
    fn measured_from(&self) -> u64 {
        self.first.saturating_add(self.burn_in())
    }

    fn end(&self) -> u64 {
        self.measured_from().saturating_add(self.run.record).saturating_add(self.forgotten)
    }
}

impl RunTracker {
    pub(super) fn new(arms: usize, range: LossRange) -> Self {
        let (pending, closed) = (PendingIds::default(), Some(ClosedRuns::new(arms)));
        Self {
            range,
            plays: vec![0; arms],
            switches: 0,
            newest: None,
            next: 0,
            pending,
            open: None,
            closed,
            horizon: None,
            losses: vec![LossSequence::default(); arms],
            unseen: Vec::new(),
            past: Vec::new(),
            monitor: Monitor::default(),
        }
    }

    /// The open run: the id of its first play, the run, and the length of its probe.
    pub(super) fn open_run(&self) -> Option<(u64, Run, u64)> {
        self.open.as_ref().map(|open| (open.first, open.run, open.probe))
    }

    /// The arm played last.
    pub(super) fn newest(&self) -> Option<usize> {
        self.newest
    }

    /// The arm that is in a burn-in: that of the next play, or of the last one if no run is open.
    pub(super) fn warming(&self) -> Option<usize> {
        self.open.as_ref().filter(|open| self.next < open.measured_from()).map(|open| open.run.arm)
    }

    pub(super) fn run(&self) -> Option<Run> {
        self.open.as_ref().map(|open| open.run)
    }

    /// The decisions whose losses the policy needs.
    pub(super) fn outstanding(&self) -> impl Iterator<Item = u64> + '_ {
        let from = self.open.as_ref().filter(|open| !open.is_endless()).map(OpenRun::measured_from);
        from.into_iter().flat_map(|from| self.pending.ids_from(from))
    }

    /// The next play of the open run, or of the next one if none is open.
    pub(super) fn play(&mut self, next_run: impl FnOnce() -> Run) -> Result<Decision, AskError> {
        let arms = self.plays.len();
        let (run, measured_from, end) = match &self.open {
            Some(open) => (open.run, open.measured_from(), open.end()),
            None => {
                let run = next_run();
                // Checked before it becomes part of the state: an error leaves the state as it was.
                if !is_playable(run, arms) {
                    return Err(AskError::BadRun { run, arms });
                }
                let probe = self.monitor.extra_burn_in(&run, self.plays[run.arm] == 0);
                let switches = self.newest != Some(run.arm);
                let burn_in = run.burn_in.saturating_add(probe);
                let bins = if switches { self.monitor.bins(&run, burn_in, &self.range.scale()) } else { None };
                let open = self.open.insert(OpenRun::new(run, self.next, probe, bins));
                (run, open.measured_from(), open.end())
            }
        };
        let full = self.outstanding().next().is_some_and(|oldest| self.next - oldest >= IN_FLIGHT);
        if full || self.next >= end {
            return Err(AskError::Waiting { outstanding: self.outstanding().collect() });
        }
        let phase = if self.next < measured_from { Phase::BurnIn } else { Phase::Measured };
        let beyond_horizon = self.horizon.is_some_and(|horizon| self.next >= horizon);
        let decision = Decision { id: self.next, arm: run.arm, phase, beyond_horizon };
        self.pending.push(self.next);
        self.next += 1;
        self.plays[run.arm] += 1;
        self.switches += u64::from(self.newest.is_some_and(|newest| newest != run.arm));
        self.newest = Some(run.arm);
        self.prune();
        Ok(decision)
    }

    /// Takes a loss, and returns whether the policy needs it.
    pub(super) fn tell(&mut self, decision: u64, loss: f64) -> Result<bool, TellError> {
        self.check_pending(decision)?;
        if !self.range.contains(loss) {
            return Err(TellError::Loss { decision, loss, range: self.range });
        }
        self.pending.remove(decision);
        if let Some(open) = &mut self.open
            && let (Some(bins), Some(position)) = (&mut open.bins, decision.checked_sub(open.first))
        {
            bins.add(position, loss);
        }
        let open = self.needing(decision);
        let counted = open.is_some();
        if let Some(open) = open {
            open.held.insert(decision, loss);
        }
        self.add_up();
        self.prune();
        Ok(counted)
    }

    pub(super) fn forget(&mut self, decision: u64) -> Result<(), TellError> {
        self.check_pending(decision)?;
        self.pending.remove(decision);
        if let Some(open) = self.needing(decision) {
            open.forgotten += 1;
        }
        self.add_up();
        self.prune();
        Ok(())
    }

    /// Closes the open run if its feedback is complete, and returns both.
    pub(super) fn close(&mut self) -> Option<(Run, Feedback)> {
        let open = self.open.take_if(|open| !open.is_endless() && is_complete(open, self.next))?;
        if let Some(closed) = &mut self.closed {
            closed.close(open.run, open.forgotten, open.probe);
        }
        if let Some(bins) = &open.bins {
            self.monitor.close(bins);
        }
        if self.plays[open.run.arm] == self.next - open.first {
            self.monitor.close_first_visit(open.bins.as_ref(), self.plays.len());
        }
        self.monitor.pool(&open.feedback);
        Some((open.run, open.feedback))
    }

    pub(super) fn check_pending(&self, decision: u64) -> Result<(), TellError> {
        if decision >= self.next {
            return Err(TellError::Unknown { decision, made: self.next });
        }
        if self.pending.contains(decision) { Ok(()) } else { Err(TellError::AlreadySettled { decision }) }
    }

    /// The open run, if it needs the loss of this decision.
    fn needing(&mut self, decision: u64) -> Option<&mut OpenRun> {
        self.open.as_mut().filter(|open| !open.is_endless() && decision >= open.measured_from())
    }

    /// Adds the held losses before the oldest outstanding decision.
    fn add_up(&mut self) {
        let oldest = self.outstanding().next().unwrap_or(self.next);
        let scale = self.range.scale();
        let Some(open) = &mut self.open else { return };
        while let Some(held) = open.held.first_entry()
            && *held.key() < oldest
        {
            let loss = held.remove();
            open.feedback += Feedback::one(loss);
            self.losses[open.run.arm].push(loss, &scale);
        }
    }

    /// Bounds the memory: drops the oldest decisions whose losses are not needed.
    fn prune(&mut self) {
        let needed_from = match &self.open {
            Some(open) if !open.is_endless() => open.measured_from(),
            _ => u64::MAX,
        };
        while self.pending.ranges() > REMEMBERED && self.pending.oldest_end().is_some_and(|end| end <= needed_from) {
            self.pending.drop_oldest();
        }
    }
}

/// The most past losses of an arm: every count up to here is exact as a floating-point number.
pub(crate) const MOST_PAST: u64 = 1 << 52;

/// Whether the run has all its plays and all the losses that it needs.
fn is_complete(open: &OpenRun, next: u64) -> bool {
    next == open.end() && open.feedback.plays == open.run.record
}

/// Whether a run has at least one play, of one of the arms.
fn is_playable(run: Run, arms: usize) -> bool {
    run.arm < arms && run.plays() > 0
}
