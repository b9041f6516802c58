//! Checks of a state that was read from a snapshot: whether this code can have produced it.

use super::{LossSequence, MOST_PAST, OpenRun, RunTracker, is_complete, is_playable};
use crate::Feedback;
use crate::policy::history::ensure;
use crate::policy::{ClosedRuns, RestoredPlays, StateError};

impl RunTracker {
    /// Checks a state that was read from a snapshot: whether this code can have produced it. It made at
    /// most `most` decisions.
    pub(in crate::advisor) fn check(&self, most: u64) -> Result<(), StateError> {
        let arms = self.plays.len();
        let total = self.plays.iter().try_fold(0u64, |sum, &plays| sum.checked_add(plays));
        ensure(crate::advisor::is_number_of_arms(arms), "the number of arms is out of range")?;
        ensure(total == Some(self.next), "the plays of the arms do not add up to the number of decisions")?;
        ensure(self.next <= most, "the number of decisions is out of range")?;
        ensure(self.newest.is_some() == (self.next > 0), "the arm played last does not fit the number of decisions")?;
        ensure(
            self.newest.is_none_or(|arm| arm < arms && self.plays[arm] > 0),
            "the arm played last was never played",
        )?;
        ensure(self.switches <= self.next.saturating_sub(1), "there are more switches than decisions")?;
        ensure(self.pending.end() <= self.next, "a decision is pending but was never made")?;
        ensure(self.horizon.is_none_or(|horizon| horizon >= 1), "the horizon is 0")?;
        self.open.as_ref().map_or(Ok(()), |open| self.check_open(open))?;
        self.check_losses()?;
        // The monitor takes the losses of a run when it is complete.
        self.monitor.check(self.open.as_ref().map_or(self.next, |open| open.first))?;
        self.closed.as_ref().map_or(Ok(()), |closed| self.check_closed(closed))
    }

    /// What the state of the policy must agree with.
    pub(in crate::advisor) fn history(&self) -> RestoredPlays<'_> {
        let losses = (self.range.low(), self.range.high());
        RestoredPlays {
            arms: self.plays.len(),
            closed: self.closed.as_ref(),
            open: self.run(),
            losses,
            past: &self.past,
            retired: &[],
        }
    }

    /// Starts what an older snapshot does not have: the confidence sequences of the losses from now on.
    pub(in crate::advisor) fn complete(&mut self) {
        if self.losses.is_empty() {
            self.losses = vec![LossSequence::default(); self.plays.len()];
            self.unseen = self.added_up().unwrap_or_default();
        }
    }

    /// Per arm, the recorded losses that were added up; `None` after a snapshot without counts of closed runs.
    fn added_up(&self) -> Option<Vec<u64>> {
        let mut counts = self.closed.as_ref()?.recorded.clone();
        if let Some(open) = &self.open
            && let Some(count) = counts.get_mut(open.run.arm)
        {
            *count = count.saturating_add(open.feedback.plays);
        }
        Some(counts)
    }

    /// The confidence sequences and past losses fit the plays.
    fn check_losses(&self) -> Result<(), StateError> {
        let arms = self.plays.len();
        let fits = |length: usize| length == 0 || length == arms;
        let lengths = self.losses.len() == arms && fits(self.past.len()) && fits(self.unseen.len());
        ensure(lengths, "the losses are of another number of arms")?;
        let history = self.history();
        for past in &self.past {
            let counted = past.plays <= MOST_PAST;
            let possible = counted && history.allows_sums(past.plays as f64, past.sum, past.sum_sq);
            ensure(possible, "the past losses of an arm are out of range")?;
        }
        let (scale, added_up) = (self.range.scale(), self.added_up());
        for (arm, losses) in self.losses.iter().enumerate() {
            let unseen = self.unseen.get(arm).copied().unwrap_or(0);
            let past = self.past.get(arm).map_or(0, |past| past.plays);
            let count = match &added_up {
                Some(counts) => counts.get(arm).and_then(|&count| count.checked_sub(unseen)?.checked_add(past)),
                None => Some(losses.len()).filter(|&count| count <= self.plays[arm].saturating_add(past)),
            };
            let Some(count) = count else {
                return Err(StateError::new("more losses are unseen than there were"));
            };
            losses.check(count, &scale)?;
        }
        Ok(())
    }

    /// The plays of closed runs and of the open run are all plays.
    fn check_closed(&self, closed: &ClosedRuns) -> Result<(), StateError> {
        let ClosedRuns { recorded, burn_in, lost, probe, visits, last } = closed;
        let arms = self.plays.len();
        let lengths = [recorded.len(), burn_in.len(), lost.len()] == [arms; 3] && [0, arms].contains(&probe.len());
        ensure(lengths, "the counts of closed runs have another number of arms")?;
        let (open_arm, open_plays) = match &self.open {
            Some(open) => (Some(open.run.arm), self.next - open.first),
            None => (None, 0),
        };
        for (arm, &plays) in self.plays.iter().enumerate() {
            let open = if open_arm == Some(arm) { open_plays } else { 0 };
            let probed = probe.get(arm).copied().unwrap_or(0);
            let parts = [recorded[arm], burn_in[arm], lost[arm], probed, open];
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
        let OpenRun { run, first, forgotten, feedback, held, probe, bins } = open;
        ensure(is_playable(*run, self.plays.len()), "the open run cannot be played")?;
        ensure(*first <= self.next && self.next <= open.end(), "the open run does not fit the number of decisions")?;
        let asked = self.next - first;
        if asked > 0 {
            let own = self.newest == Some(run.arm) && self.plays.get(run.arm).is_some_and(|&plays| plays >= asked);
            ensure(own, "the plays of the open run are missing")?;
        }
        let first_visit = self.plays.get(run.arm).copied() == self.next.checked_sub(*first);
        let probes = *probe == 0 || *probe == self.monitor.extra_burn_in(run, first_visit);
        ensure(probes, "the probe of the open run does not fit the memory bound")?;
        if let Some(bins) = bins {
            let settled = |from: u64, to: u64| {
                let (from, to) = (first.saturating_add(from).min(self.next), first.saturating_add(to).min(self.next));
                to - from - (self.pending.count_from(from) - self.pending.count_from(to))
            };
            bins.check(open.burn_in().saturating_add(run.record), settled)?;
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
