//! Checks of a restored policy: lengths, indices, numbers, and agreement with the plays that were made.

use super::{ArmChanges, Calibrated, Index};
use crate::Run;
use crate::policy::history::{ClosedRuns, RestoredPlays, StateError, ensure};

impl Calibrated {
    pub(super) fn check_state(&self, history: &RestoredPlays<'_>) -> Result<(), StateError> {
        ensure(self.memory_bound >= 1, "the memory bound is 0")?;
        ensure(self.horizon.is_none_or(|horizon| horizon >= 1), "the horizon is 0")?;
        ensure(self.stream.is_valid(), "the state of the random generator is zero")?;
        let cut = self.cut.is_none_or(|cut| cut.is_finite() && self.index == Index::Thompson);
        ensure(cut, "the bound of the draws is out of range")?;
        self.schedule.check_restored(self.horizon)?;
        ensure(self.tuning.is_valid(), "a constant of the index is out of range")?;
        self.crowd.check_restored(history.arms)?;
        self.burn_in_losses.check_restored()?;
        self.check_arms(history.arms)?;
        ensure(self.changes.retired == history.retired, "the retired arms are others")?;
        for (arm, stats) in self.records.iter().enumerate() {
            stats.check_restored(arm, self.bounded, history)?;
        }
        self.check_measured(history)?;
        if let Some(closed) = history.closed {
            self.check_plays(closed, history)?;
        }
        self.check_visit(history.open)?;
        history.open.map_or(Ok(()), |run| self.check_open(run))
    }

    fn check_arms(&self, arms: usize) -> Result<(), StateError> {
        ensure(self.records.len() == arms, "the policy has another number of arms")?;
        ensure(!self.arms.is_empty() && self.arms.len() <= arms, "the number of arms in play is out of range")?;
        // Elimination takes measured arms out of play.
        let most = if self.index == Index::Elimination { arms } else { self.arms.len() };
        ensure(self.opened <= most, "more arms are measured than are in play")?;
        let mut in_play = vec![false; arms];
        for &arm in &self.arms {
            let new = in_play.get_mut(arm).is_some_and(|seen| !std::mem::replace(seen, true));
            ensure(new, "an arm in play does not exist or is there twice")?;
        }
        let ArmChanges { added, retired } = &self.changes;
        let known = *added < arms && retired.is_sorted_by(|a, b| a < b) && retired.iter().all(|&arm| arm < arms);
        ensure(known && retired.iter().all(|&arm| !in_play[arm]), "a retired arm does not exist or is in play")?;
        let sorted = self.opened < self.arms.len() || self.arms.is_sorted();
        ensure(sorted, "the arms in play are not in order")
    }

    /// The least number of recorded plays of a measured arm. The default index may rule an arm out before its first
    /// measurement is complete.
    fn least_measured(&self) -> f64 {
        let first = self.schedule.first();
        if self.measures_in_parts() { self.schedule.least().min(first) } else { first }
    }

    /// Every measured arm has at least the recorded plays of the start; the other arms have none but past ones, unless
    /// elimination has ruled them out, or the arm is being measured.
    fn check_measured(&self, history: &RestoredPlays<'_>) -> Result<(), StateError> {
        let mut left = vec![true; self.records.len()];
        for &arm in self.arms.iter().take(self.opened) {
            left[arm] = false;
            ensure(self.records[arm].n >= self.least_measured(), "a measured arm has too few recorded plays")?;
        }
        let past = |arm: usize| history.past_plays(arm) as f64;
        let next = self.arms.get(self.opened).copied();
        let begun = next.filter(|&arm| self.measures_in_parts() && self.records[arm].n > past(arm));
        if let Some(arm) = begun {
            left[arm] = false;
            // With a dear burn-in it may have more than the first plays.
            ensure(self.current == Some(arm), "the arm that is being measured is not the one played last")?;
        }
        let eliminates = self.index == Index::Elimination && (self.opened >= self.arms.len() || self.changes.added > 0);
        self.changes.retired.iter().for_each(|&arm| left[arm] = false);
        let unplayed = (0..left.len()).all(|arm| !left[arm] || eliminates || self.records[arm].n == past(arm));
        ensure(unplayed, "an arm has recorded plays but was not measured")?;
        let known = self.current.is_none_or(|arm| arm < self.records.len() && self.records[arm].n > 0.0);
        let played = self.opened > 0 || begun.is_some();
        let changed = !self.changes.retired.is_empty();
        let started = self.current.is_some() == played || history.starts_warm() || changed;
        ensure(known && started, "the arm played last was not measured")
    }

    /// Every visit begins with M - 1 burn-in plays.
    fn check_plays(&self, closed: &ClosedRuns, history: &RestoredPlays<'_>) -> Result<(), StateError> {
        let retired = self.current.is_none() && closed.last.is_some_and(|arm| self.changes.is_retired(arm));
        ensure(self.current == closed.last || retired, "the policy and the advisor differ in the arm played last")?;
        let plays = closed.known_plays().saturating_add(history.all_past_plays());
        ensure(self.time == plays, "the policy and the advisor differ in the number of plays")?;
        let burn_in = closed.burn_in.iter().try_fold(0u64, |sum, &plays| sum.checked_add(plays));
        let expected = closed.visits.checked_mul(self.memory_bound - 1);
        ensure(burn_in == expected, "the burn-in plays do not fit the memory bound")
    }

    /// The visit under way is of the arm that is being played: that of the open run, if there is one.
    fn check_visit(&self, open: Option<Run>) -> Result<(), StateError> {
        let Some(visit) = &self.visit else { return Ok(()) };
        let arm = open.map(|run| run.arm).or(self.current).filter(|&arm| arm < self.records.len());
        let fits = arm.is_some_and(|arm| visit.before >= 0.0 && visit.before <= self.records[arm].n);
        ensure(fits && visit.before.fract() == 0.0, "the visit under way contradicts the recorded plays")
    }

    fn check_open(&self, run: Run) -> Result<(), StateError> {
        if run.record == u64::MAX {
            return ensure(self.arms == [run.arm] && run.burn_in == 0, "a run without an end is of the last arm only");
        }
        ensure(run.burn_in == self.burn_in(run.arm), "the burn-in of the open run does not fit the memory bound")?;
        if self.opened < self.arms.len() {
            let arm = self.arms[self.opened];
            if self.changes.added > 0 && self.arms[..self.opened].contains(&run.arm) {
                // It was asked for before the new arm came.
                return ensure(run.record < u64::MAX / 2, "the open run is too long");
            }
            let first = run.arm == arm && run.record == self.opening(arm) as u64;
            return ensure(first, "the open run does not measure the next arm");
        }
        ensure(self.arms.contains(&run.arm), "the open run is of an arm that is not in play")?;
        let (n, burn_in) = (self.records[run.arm].n, (self.memory_bound - 1) as f64);
        let most = self.schedule.visit(n, burn_in).max(self.schedule.visit_leader(n)).max(n);
        ensure(run.record as f64 <= most.ceil(), "the open run is too long")
    }
}
