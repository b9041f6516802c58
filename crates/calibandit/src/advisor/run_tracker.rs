//! The state of an advisor apart from its policy: the open run, handed out one play at a time, and the losses told.

use std::collections::BTreeMap;

use super::pending_ids::PendingIds;
use super::{AskError, Decision, LossRange, Phase, TellError};
use crate::policy::ClosedRuns;
#[cfg(feature = "serde")]
use crate::policy::{RestoredPlays, StateError, history::ensure};
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
}

impl OpenRun {
    fn new(run: Run, first: u64) -> Self {
        Self { run, first, forgotten: 0, feedback: Feedback::default(), held: BTreeMap::new() }
    }

    /// A run without an end is never reported, so its losses are not needed.
    fn is_endless(&self) -> bool {
        self.run.record == u64::MAX
    }

    /// The id of the first recorded play.
    fn measured_from(&self) -> u64 {
        self.first.saturating_add(self.run.burn_in)
    }

    fn end(&self) -> u64 {
        self.measured_from().saturating_add(self.run.record).saturating_add(self.forgotten)
    }
}

impl RunTracker {
    pub(super) fn new(arms: usize, range: LossRange) -> Self {
        let (pending, closed) = (PendingIds::default(), Some(ClosedRuns::new(arms)));
        Self { range, plays: vec![0; arms], switches: 0, newest: None, next: 0, pending, open: None, closed }
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
                let open = self.open.insert(OpenRun::new(run, self.next));
                (run, open.measured_from(), open.end())
            }
        };
        let full = self.outstanding().next().is_some_and(|oldest| self.next - oldest >= IN_FLIGHT);
        if full || self.next >= end {
            return Err(AskError::Waiting { outstanding: self.outstanding().collect() });
        }
        let phase = if self.next < measured_from { Phase::BurnIn } else { Phase::Measured };
        let decision = Decision { id: self.next, arm: run.arm, phase };
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
            closed.close(open.run, open.forgotten);
        }
        Some((open.run, open.feedback))
    }

    fn check_pending(&self, decision: u64) -> Result<(), TellError> {
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
        let Some(open) = &mut self.open else { return };
        while let Some(held) = open.held.first_entry()
            && *held.key() < oldest
        {
            open.feedback += Feedback::one(held.remove());
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

/// For snapshots.
#[cfg(feature = "serde")]
impl RunTracker {
    /// Checks a state that was read from a snapshot: whether this code can have produced it.
    pub(super) fn check(&self) -> Result<(), StateError> {
        let arms = self.plays.len();
        let total = self.plays.iter().try_fold(0u64, |sum, &plays| sum.checked_add(plays));
        ensure(super::is_number_of_arms(arms), "the number of arms is out of range")?;
        ensure(total == Some(self.next), "the plays of the arms do not add up to the number of decisions")?;
        // Leaves room for 2^63 more plays, so that ids never overflow.
        ensure(self.next <= u64::MAX / 2, "the number of decisions is out of range")?;
        ensure(self.newest.is_some() == (self.next > 0), "the arm played last does not fit the number of decisions")?;
        ensure(
            self.newest.is_none_or(|arm| arm < arms && self.plays[arm] > 0),
            "the arm played last was never played",
        )?;
        ensure(self.switches <= self.next.saturating_sub(1), "there are more switches than decisions")?;
        ensure(self.pending.end() <= self.next, "a decision is pending but was never made")?;
        self.open.as_ref().map_or(Ok(()), |open| self.check_open(open))?;
        self.closed.as_ref().map_or(Ok(()), |closed| self.check_closed(closed))
    }

    /// What the state of the policy must agree with.
    pub(super) fn history(&self) -> RestoredPlays<'_> {
        let losses = (self.range.low(), self.range.high());
        RestoredPlays { arms: self.plays.len(), closed: self.closed.as_ref(), open: self.run(), losses }
    }

    /// The plays of closed runs and of the open run are all plays.
    fn check_closed(&self, closed: &ClosedRuns) -> Result<(), StateError> {
        let ClosedRuns { recorded, burn_in, lost, visits, last } = closed;
        let arms = self.plays.len();
        let lengths = [recorded.len(), burn_in.len(), lost.len()] == [arms; 3];
        ensure(lengths, "the counts of closed runs have another number of arms")?;
        let (open_arm, open_plays) = match &self.open {
            Some(open) => (Some(open.run.arm), self.next - open.first),
            None => (None, 0),
        };
        for (arm, &plays) in self.plays.iter().enumerate() {
            let open = if open_arm == Some(arm) { open_plays } else { 0 };
            let parts = [recorded[arm], burn_in[arm], lost[arm], open];
            let sum = parts.iter().try_fold(0u64, |sum, &part| sum.checked_add(part));
            ensure(sum == Some(plays), "the runs of an arm do not add up to its plays")?;
        }
        ensure(last.is_none_or(|arm| arm < arms), "the last closed run is of an arm that does not exist")?;
        ensure(last.is_some() == (*visits > 0), "the last closed run is missing")?;
        ensure(open_plays > 0 || *last == self.newest, "the last closed run is not of the arm played last")?;
        // A switch is the first play of a visit; the very first visit has none.
        let switched = open_plays > 0 && last.is_some() && *last != open_arm;
        let switches = visits.saturating_sub(1).checked_add(u64::from(switched));
        ensure(switches == Some(self.switches), "the switches do not fit the runs")
    }

    fn check_open(&self, open: &OpenRun) -> Result<(), StateError> {
        let OpenRun { run, first, forgotten, feedback, held } = open;
        ensure(is_playable(*run, self.plays.len()), "the open run cannot be played")?;
        ensure(*first <= self.next && self.next <= open.end(), "the open run does not fit the number of decisions")?;
        let asked = self.next - first;
        if asked > 0 {
            let own = self.newest == Some(run.arm) && self.plays.get(run.arm).is_some_and(|&plays| plays >= asked);
            ensure(own, "the plays of the open run are missing")?;
        }
        if open.is_endless() {
            let empty = held.is_empty() && *forgotten == 0 && *feedback == Feedback::default();
            return ensure(empty, "a run without an end has feedback");
        }
        let from = open.measured_from();
        let oldest = self.outstanding().next().unwrap_or(self.next);
        let told = feedback.plays.checked_add(held.len() as u64).and_then(|told| told.checked_add(*forgotten));
        let settled = self.next.saturating_sub(from) - self.pending.count_from(from);
        ensure(told == Some(settled), "the losses of the open run do not add up to its plays")?;
        let fits = |(&id, &loss): (&u64, &f64)| {
            id > oldest && id < self.next && !self.pending.contains(id) && self.range.contains(loss)
        };
        ensure(held.iter().all(fits), "a held loss does not belong to the open run")?;
        let sums = self.history().allows_sums(feedback.plays as f64, feedback.sum, feedback.sum_sq);
        ensure(sums, "the sums of the losses are out of range")?;
        ensure(!is_complete(open, self.next), "a complete run is still open")
    }
}

/// Whether the run has all its plays and all the losses that it needs.
fn is_complete(open: &OpenRun, next: u64) -> bool {
    next == open.end() && open.feedback.plays == open.run.record
}

/// Whether a run has at least one play, of one of the arms.
fn is_playable(run: Run, arms: usize) -> bool {
    run.arm < arms && run.plays() > 0
}
