//! Checks of a state that was read from a snapshot: whether this code can have produced it.

use std::collections::BTreeSet;

use super::bank::BankEntry;
use super::settings::LaneMode;
use super::settle::REMEMBERED;
use super::{ExpiryRule, KEPT_LOSSES, LaneBooks, LaneRun, PlayOutcome, ask, forecast};
use crate::Policy;
use crate::policy::history::{RestoredPlays, StateError, ensure};

impl LaneBooks {
    /// Checks everything, the policy included. No count may be above `most`.
    pub(super) fn check_restored<P: Policy>(&self, policy: &P, most: u64) -> Result<(), StateError> {
        let arms = self.plays.len();
        ensure((1..=crate::Problem::MOST_ARMS).contains(&arms), "the number of arms is out of range")?;
        let lengths = [self.taken.len(), self.banks.len()] == [arms; 2];
        let past = [0, arms].contains(&self.past.len()) && self.losses.len() == arms;
        ensure(lengths && past, "the losses are of another number of arms")?;
        ensure(self.watch.is_possible(arms, self.next, most), "the watched losses are out of range")?;
        self.check_losses()?;
        ensure(self.settings.check(&self.range).is_ok(), "a setting is out of range")?;
        ensure(self.horizon.is_none_or(|horizon| horizon >= 1), "the horizon is 0")?;
        ensure(self.stream.is_valid(), "the state of the random generator is zero")?;
        ensure(self.next <= most && self.runs <= most, "the number of decisions is out of range")?;
        ensure(self.retired.len() < arms && self.retired.iter().all(|&arm| arm < arms), "a retired arm is missing")?;
        ensure(self.counts.all().iter().all(|&count| count <= most), "a count is out of range")?;
        let one = self.settings.lanes == LaneMode::Many || self.lanes.len() <= 1;
        ensure(one, "there are several lanes instead of one")?;
        self.check_open_decisions()?;
        self.check_banks()?;
        self.check_lanes()?;
        self.check_settled()?;
        self.presence.check_restored(arms, self.next)?;
        self.plan.check_restored(arms, self.next)?;
        ensure(!self.plan.arms().any(|arm| self.retired.contains(&arm)), "the plan has a retired arm")?;
        self.run.as_ref().map_or(Ok(()), |open| self.check_run(open))?;
        self.check_closed(most)?;
        let retired: Vec<usize> = self.retired.iter().copied().collect();
        let history = RestoredPlays {
            arms,
            closed: Some(&self.closed),
            open: self.run.as_ref().map(|open| open.run),
            losses: (self.range.low(), self.range.high()),
            past: &self.past,
            retired: &retired,
        };
        policy.check_restored(&history)?;
        ensure(self.leader == policy.recommend() && self.leader < arms, "the recommended arm is another one")
    }

    fn allows_sums(&self, losses: &crate::Feedback) -> bool {
        let range = (self.range.low(), self.range.high());
        crate::policy::history::allows_sums(range, losses.plays as f64, losses.sum, losses.sum_sq)
    }

    /// The confidence sequences have the losses that were added up, after the past ones.
    fn check_losses(&self) -> Result<(), StateError> {
        for past in &self.past {
            let possible = past.plays <= crate::advisor::MOST_PAST && self.allows_sums(past);
            ensure(possible, "the past losses of an arm are out of range")?;
        }
        let scale = self.scale();
        for (arm, losses) in self.losses.iter().enumerate() {
            let open = self.run.as_ref().filter(|open| open.run.arm == arm).map_or(0, |open| open.feedback.plays);
            let past = self.past.get(arm).map_or(0, |past| past.plays);
            let count = self.taken[arm].plays.checked_add(open).and_then(|count| count.checked_add(past));
            losses.check(count.ok_or(StateError::new("there are more losses than decisions"))?, &scale)?;
        }
        Ok(())
    }

    fn check_open_decisions(&self) -> Result<(), StateError> {
        ensure(self.open.len() <= ask::MOST_OPEN, "too many decisions have no outcome")?;
        let mut plays = vec![0u64; self.plays.len()];
        for (&id, open) in &self.open {
            let arm = open.arm as usize;
            ensure(id < self.next && arm < plays.len(), "an open decision was never made")?;
            ensure(open.asked_at <= self.now && open.position >= 1, "an open decision is of the future")?;
            ensure(open.run < self.runs, "an open decision is of a run that was never asked for")?;
            plays[arm] += 1;
            let place = self.banks[arm].entry(id);
            let fits = if open.counted { place == Some(BankEntry::Outstanding) } else { place.is_none() };
            ensure(fits, "an open decision does not fit the bank")?;
            let known = self.lanes.get(&open.lane);
            let kept = known.is_some_and(|lane| lane.keeps(id) || self.settings.overlap == 1);
            ensure(kept, "the lane of an open decision is missing")?;
        }
        let total = self.plays.iter().try_fold(0u64, |sum, &plays| sum.checked_add(plays));
        ensure(total.is_some_and(|total| total <= self.next), "there are more plays than decisions")?;
        let enough = self.plays.iter().zip(&plays).all(|(all, open)| all >= open);
        ensure(enough, "an arm has more open decisions than plays")
    }

    fn check_banks(&self) -> Result<(), StateError> {
        for (arm, bank) in self.banks.iter().enumerate() {
            bank.check_restored(self.next)?;
            ensure(bank.is_empty() || !self.retired.contains(&arm), "a retired arm has losses in the bank")?;
            for (id, entry) in bank.entries() {
                let fits = match entry {
                    BankEntry::Outstanding => {
                        self.open.get(&id).is_some_and(|open| open.counted && open.arm as usize == arm)
                    }
                    BankEntry::Held(loss) => self.range.contains(loss) && self.settings.overlap > 1,
                    BankEntry::Ready(loss) => self.range.contains(loss),
                };
                ensure(fits, "a loss in the bank is out of range, or of no decision")?;
            }
            ensure(self.allows_sums(&self.taken[arm]), "the losses of an arm are out of range")?;
        }
        Ok(())
    }

    fn check_lanes(&self) -> Result<(), StateError> {
        let (arms, mut held) = (self.plays.len(), BTreeSet::new());
        for (&number, lane) in &self.lanes {
            lane.check_restored(arms, self.next, self.now, &self.settings)?;
            for play in lane.pending() {
                let open = self.open.get(&play.id);
                let fits = open
                    .is_some_and(|open| open.lane == number && open.arm == play.arm && open.counted == play.counted);
                ensure(fits, "a play of a lane is no open decision")?;
            }
            held.extend(lane.held().map(|(id, arm)| (arm, id)));
        }
        for (arm, bank) in self.banks.iter().enumerate() {
            let mut waiting = bank.entries().filter(|(_, entry)| matches!(entry, BankEntry::Held(_)));
            ensure(waiting.all(|(id, _)| held.contains(&(arm, id))), "a loss waits for a play that is over")?;
        }
        Ok(())
    }

    fn check_settled(&self) -> Result<(), StateError> {
        ensure(self.settled.len() <= REMEMBERED, "too many outcomes are remembered")?;
        for (id, outcome) in &self.settled {
            let possible = match outcome {
                Some(PlayOutcome::Loss(loss)) => self.range.contains(*loss),
                Some(PlayOutcome::Overridden { arm, loss }) => {
                    *arm < self.plays.len() && loss.is_none_or(|loss| self.range.contains(loss))
                }
                None => self.settings.expiry != ExpiryRule::Never,
                Some(_) => true,
            };
            ensure(*id < self.next && !self.open.contains_key(id) && possible, "an outcome is of no decision")?;
        }
        Ok(())
    }

    fn check_run(&self, open: &LaneRun) -> Result<(), StateError> {
        let (run, arms) = (open.run, self.plays.len());
        ensure(forecast::is_playable(run, arms, self.settings.keeps_runs()), "the open run cannot be played")?;
        ensure(self.runs >= 1 && !self.retired.contains(&run.arm), "the open run is of a retired arm")?;
        ensure(open.latest.len() <= KEPT_LOSSES && open.given <= self.next, "the open run is too long")?;
        let mut next = 0;
        for &(id, loss) in &open.latest {
            let fits = id >= next && self.banks[run.arm].was_taken(id) && self.range.contains(loss);
            ensure(fits, "a loss of the open run is out of range")?;
            next = id + 1;
        }
        let none = open.latest.is_empty() && open.feedback == crate::Feedback::default();
        ensure(!open.is_endless() || none, "a run without an end has feedback")?;
        ensure(self.allows_sums(&open.feedback), "the losses of the open run are out of range")?;
        let losses = open.feedback.plays.checked_add(open.latest.len() as u64);
        let complete = losses.is_none_or(|losses| losses > run.record || losses == run.record && run.record > 0)
            || run.record == 0 && open.given >= run.burn_in;
        ensure(!complete, "a complete run is still open")
    }

    /// The runs that the policy has got are those whose losses were taken.
    fn check_closed(&self, most: u64) -> Result<(), StateError> {
        let (arms, closed) = (self.plays.len(), &self.closed);
        let lengths = [closed.recorded.len(), closed.burn_in.len(), closed.lost.len()] == [arms; 3];
        ensure(lengths && closed.probe.is_empty(), "the counts of closed runs have another number of arms")?;
        ensure(closed.lost.iter().all(|&lost| lost == 0), "a closed run has lost plays")?;
        let taken = self.taken.iter().zip(&closed.recorded).all(|(taken, &recorded)| taken.plays == recorded);
        ensure(taken, "the closed runs do not add up to the losses")?;
        let total = closed.recorded.iter().try_fold(0u64, |sum, &plays| sum.checked_add(plays));
        ensure(total.is_some_and(|total| total <= self.next), "there are more losses than decisions")?;
        let burn_in = closed.burn_in.iter().try_fold(0u64, |sum, &plays| sum.checked_add(plays));
        ensure(burn_in.is_some_and(|plays| plays <= most), "the burn-in plays are out of range")?;
        ensure(closed.last.is_none_or(|arm| arm < arms), "the last closed run is of an arm that does not exist")?;
        ensure(closed.last.is_some() == (closed.visits > 0), "the last closed run is missing")?;
        ensure(closed.visits <= self.runs, "there are more visits than runs")
    }
}
