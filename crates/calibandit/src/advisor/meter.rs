//! The books of an advisor: a run metered out one play at a time. Knows nothing of policies.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::awaiting::Awaiting;
use super::{AskError, Decision, LossRange, Phase, TellError};
use crate::{Feedback, Run};

/// So many plays may be made beyond the oldest decision whose loss the policy needs.
pub(super) const IN_FLIGHT: u64 = 1 << 20;
/// So many ranges of decisions are remembered whose losses nobody needs.
pub(super) const REMEMBERED: usize = 1024;

/// Decisions are numbered from 0. Within a run the warm-up plays come first, so two numbers tell the phase of each
/// decision of the open run; decisions of earlier runs that still await a loss are all warm-up plays.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Meter {
    pub(super) range: LossRange,
    /// How often each arm was played.
    pub(super) plays: Vec<u64>,
    pub(super) switches: u64,
    newest: Option<usize>,
    /// The next decision's id: the number of plays so far.
    pub(super) next: u64,
    awaiting: Awaiting,
    open: Option<OpenRun>,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct OpenRun {
    run: Run,
    /// The id of its first play.
    first: u64,
    /// Measured plays whose loss was given up; each is replaced by one more play.
    forgotten: u64,
    /// The recorded losses, added up in the order of the decisions, up to the oldest one that is outstanding.
    feedback: Feedback,
    /// Losses told early: they wait for the outstanding decisions before them, so that the sum is the same, to
    /// the last bit, whatever order they come in.
    held: BTreeMap<u64, f64>,
}

impl OpenRun {
    fn new(run: Run, first: u64) -> Self {
        Self { run, first, forgotten: 0, feedback: Feedback::default(), held: BTreeMap::new() }
    }

    /// Nobody learns from a run without an end: its feedback is never due.
    fn is_endless(&self) -> bool {
        self.run.record == u64::MAX
    }

    /// The id of the first measured play.
    fn measured_from(&self) -> u64 {
        self.first.saturating_add(self.run.burn_in)
    }

    fn end(&self) -> u64 {
        self.measured_from().saturating_add(self.run.record).saturating_add(self.forgotten)
    }
}

impl Meter {
    pub(super) fn new(arms: usize, range: LossRange) -> Self {
        let awaiting = Awaiting::default();
        Self { range, plays: vec![0; arms], switches: 0, newest: None, next: 0, awaiting, open: None }
    }

    pub(super) fn run(&self) -> Option<Run> {
        self.open.as_ref().map(|open| open.run)
    }

    /// The decisions whose losses the policy needs.
    pub(super) fn outstanding(&self) -> impl Iterator<Item = u64> + '_ {
        let from = self.open.as_ref().filter(|open| !open.is_endless()).map(OpenRun::measured_from);
        from.into_iter().flat_map(|from| self.awaiting.ids_from(from))
    }

    /// The next play of the open run, or of the next one if none is open.
    pub(super) fn play(&mut self, next_run: impl FnOnce() -> Run) -> Result<Decision, AskError> {
        let arms = self.plays.len();
        let open = self.open.get_or_insert_with(|| OpenRun::new(next_run(), self.next));
        let (run, measured_from, end) = (open.run, open.measured_from(), open.end());
        if run.arm >= arms || run.plays() == 0 {
            return Err(AskError::BadRun { run, arms });
        }
        let full = self.outstanding().next().is_some_and(|oldest| self.next - oldest >= IN_FLIGHT);
        if full || self.next >= end {
            return Err(AskError::Waiting { outstanding: self.outstanding().collect() });
        }
        let phase = if self.next < measured_from { Phase::WarmUp } else { Phase::Measured };
        let decision = Decision { id: self.next, arm: run.arm, phase };
        self.awaiting.push(self.next);
        self.next += 1;
        self.plays[run.arm] += 1;
        self.switches += u64::from(self.newest.is_some_and(|newest| newest != run.arm));
        self.newest = Some(run.arm);
        self.prune();
        Ok(decision)
    }

    pub(super) fn tell(&mut self, decision: u64, loss: f64) -> Result<(), TellError> {
        self.check_awaiting(decision)?;
        if !self.range.contains(loss) {
            return Err(TellError::Loss { decision, loss, range: self.range });
        }
        self.awaiting.remove(decision);
        if let Some(open) = self.needing(decision) {
            open.held.insert(decision, loss);
        }
        self.add_up();
        self.prune();
        Ok(())
    }

    pub(super) fn forget(&mut self, decision: u64) -> Result<(), TellError> {
        self.check_awaiting(decision)?;
        self.awaiting.remove(decision);
        if let Some(open) = self.needing(decision) {
            open.forgotten += 1;
        }
        self.add_up();
        self.prune();
        Ok(())
    }

    /// The open run and its feedback, if that is complete; the run is closed then.
    pub(super) fn close(&mut self) -> Option<(Run, Feedback)> {
        let open = self.open.take_if(|open| !open.is_endless() && is_complete(open, self.next))?;
        Some((open.run, open.feedback))
    }

    fn check_awaiting(&self, decision: u64) -> Result<(), TellError> {
        if decision >= self.next {
            return Err(TellError::Unknown { decision, made: self.next });
        }
        if self.awaiting.contains(decision) { Ok(()) } else { Err(TellError::AlreadySettled { decision }) }
    }

    /// The open run, if it needs the loss of this decision.
    fn needing(&mut self, decision: u64) -> Option<&mut OpenRun> {
        self.open.as_mut().filter(|open| !open.is_endless() && decision >= open.measured_from())
    }

    /// Adds up the held losses before the oldest outstanding decision.
    fn add_up(&mut self) {
        let oldest = self.outstanding().next().unwrap_or(self.next);
        let Some(open) = &mut self.open else { return };
        while let Some(held) = open.held.first_entry()
            && *held.key() < oldest
        {
            open.feedback += Feedback::one(held.remove());
        }
    }

    /// Keeps the memory bounded: forgets the oldest of the decisions whose losses nobody needs.
    fn prune(&mut self) {
        let needed_from = match &self.open {
            Some(open) if !open.is_endless() => open.measured_from(),
            _ => u64::MAX,
        };
        while self.awaiting.ranges() > REMEMBERED && self.awaiting.oldest_end().is_some_and(|end| end <= needed_from) {
            self.awaiting.drop_oldest();
        }
    }

    /// For books that come from outside: whether they can have been kept by this code.
    pub(super) fn check(&self) -> Result<(), &'static str> {
        let arms = self.plays.len();
        let total = self.plays.iter().try_fold(0u64, |sum, &plays| sum.checked_add(plays));
        ensure(super::is_number_of_arms(arms), "the number of arms is impossible")?;
        ensure(total == Some(self.next), "the plays of the arms do not add up to the number of decisions")?;
        // Leaves room for more plays than anybody can make, so that ids never run out.
        ensure(self.next <= u64::MAX / 2, "the number of decisions is impossible")?;
        ensure(self.newest.is_some() == (self.next > 0), "the arm played last does not fit the number of decisions")?;
        ensure(
            self.newest.is_none_or(|arm| arm < arms && self.plays[arm] > 0),
            "the arm played last was never played",
        )?;
        ensure(self.switches <= self.next.saturating_sub(1), "there are more switches than decisions")?;
        ensure(self.awaiting.end() <= self.next, "a decision awaits a loss but was never made")?;
        self.open.as_ref().map_or(Ok(()), |open| self.check_open(open))
    }

    fn check_open(&self, open: &OpenRun) -> Result<(), &'static str> {
        let OpenRun { run, first, forgotten, feedback, held } = open;
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
        let settled = self.next.saturating_sub(from) - self.awaiting.count_from(from);
        ensure(told == Some(settled), "the losses of the open run do not add up to its plays")?;
        let fits = |(&id, &loss): (&u64, &f64)| {
            id > oldest && id < self.next && !self.awaiting.contains(id) && self.range.contains(loss)
        };
        ensure(held.iter().all(fits), "a held loss is not one that can be held")?;
        let (most, n) = (self.range.low().abs().max(self.range.high().abs()), feedback.plays as f64);
        let sums = feedback.sum.abs() <= n * most * 1.01 && (0.0..=n * most * most * 1.01).contains(&feedback.sum_sq);
        ensure(sums, "the sums of the losses are impossible")?;
        let playable = run.arm < self.plays.len() && run.plays() > 0;
        ensure(!(playable && is_complete(open, self.next)), "a complete run is still open")
    }
}

/// Whether the run has all its plays, and all the losses that it needs.
fn is_complete(open: &OpenRun, next: u64) -> bool {
    open.run.plays() > 0 && next == open.end() && open.feedback.plays == open.run.record
}

fn ensure(holds: bool, otherwise: &'static str) -> Result<(), &'static str> {
    if holds { Ok(()) } else { Err(otherwise) }
}
