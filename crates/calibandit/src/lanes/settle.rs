//! What becomes of decisions: outcomes, expiry, resets, plays without advice. docs/lanes.md has the table.

use super::lane::{Lane, PlayState, Revision, TailPlay};
use super::settings::ExpiryRule;
use super::watch::ToldLoss;
use super::{CountedAs, LaneAdvisor, LaneAnswer, LaneBooks, LaneError, LanePhase, OpenDecision, PlayOutcome};
use crate::Policy;

/// The outcomes of this many decisions are remembered, to recognise repetitions.
pub(super) const REMEMBERED: usize = 4096;

impl<P: Policy> LaneAdvisor<P> {
    /// Time passes: decisions expire, oldest first.
    pub(super) fn pass_time(&mut self, now: u64) {
        self.books.now = self.books.now.max(now);
        let Some(after) = self.books.settings.expiry.after() else { return };
        while let Some((&id, open)) = self.books.open.first_key_value()
            && open.asked_at.saturating_add(after) <= self.books.now
        {
            self.books.expire(id);
            self.collect();
        }
    }

    pub(super) fn record(
        &mut self,
        decision: u64,
        outcome: PlayOutcome,
        played_at: Option<u64>,
    ) -> Result<LaneAnswer, LaneError> {
        let Some(&open) = self.books.open.get(&decision) else { return self.books.recorded_before(decision, outcome) };
        let counted = self.books.settle(decision, open, outcome, played_at)?;
        self.books.remember(decision, Some(outcome));
        self.collect();
        Ok(LaneAnswer::Recorded { decision, counted, first: true })
    }

    pub(super) fn record_play(&mut self, lane: u64, arm: usize, loss: Option<f64>) -> Result<LaneAnswer, LaneError> {
        self.books.check_lane(lane)?;
        self.books.check_arm(arm)?;
        self.books.check_loss(loss)?;
        self.books.check_free(lane)?;
        let (decision, counted) = self.books.add_play(lane, arm, loss);
        self.collect();
        Ok(LaneAnswer::Recorded { decision, counted, first: true })
    }

    pub(super) fn reset(&mut self, lane: Option<u64>) {
        let lanes: Vec<u64> = match lane {
            Some(lane) => vec![lane],
            None => self.books.lanes.keys().copied().collect(),
        };
        for lane in lanes {
            self.books.reset_lane(lane);
        }
        self.books.counts.resets += 1;
        self.collect();
    }
}

impl LaneBooks {
    fn check_loss(&self, loss: Option<f64>) -> Result<(), LaneError> {
        match loss {
            Some(loss) if !self.range.contains(loss) => Err(LaneError::Loss { loss, range: self.range }),
            _ => Ok(()),
        }
    }

    /// The answer to an outcome of a decision that is not open.
    fn recorded_before(&mut self, decision: u64, outcome: PlayOutcome) -> Result<LaneAnswer, LaneError> {
        if decision >= self.next {
            return Err(LaneError::Unknown { decision, made: self.next });
        }
        match self.settled.get(&decision) {
            Some(None) => {
                self.counts.late += 1;
                Ok(LaneAnswer::Expired { decision })
            }
            Some(&Some(first)) if first == outcome => {
                Ok(LaneAnswer::Recorded { decision, counted: CountedAs::Not, first: false })
            }
            first => Err(LaneError::AlreadySettled { decision, first: first.copied().flatten() }),
        }
    }

    fn remember(&mut self, decision: u64, outcome: Option<PlayOutcome>) {
        self.settled.insert(decision, outcome);
        if self.settled.len() > REMEMBERED {
            self.settled.pop_first();
        }
    }

    fn settle(
        &mut self,
        decision: u64,
        open: OpenDecision,
        outcome: PlayOutcome,
        played_at: Option<u64>,
    ) -> Result<CountedAs, LaneError> {
        let arm = open.arm as usize;
        match outcome {
            PlayOutcome::Loss(loss) => {
                self.check_loss(Some(loss))?;
                self.note_pause(decision, &open, played_at)?;
                self.counts.told += 1;
                Ok(self.told(decision, loss, self.now))
            }
            PlayOutcome::Done | PlayOutcome::Lost => {
                self.note_pause(decision, &open, played_at)?;
                match outcome {
                    PlayOutcome::Done => self.counts.done += 1,
                    _ => self.counts.lost += 1,
                }
                self.close_decision(decision);
                Ok(without_loss(open.phase))
            }
            PlayOutcome::NotPlayed => {
                let revision = self.revise(decision, &open, |play| {
                    (play.state, play.counted) = (PlayState::NotMade, false);
                })?;
                self.counts.not_played += 1;
                self.plays[arm] -= 1;
                self.commit(decision, &open, revision);
                Ok(CountedAs::Not)
            }
            PlayOutcome::Overridden { arm: played, loss } => {
                self.check_arm(played)?;
                self.check_loss(loss)?;
                self.override_play(decision, &open, played, loss)
            }
        }
    }

    /// Takes the loss of an open decision, which is known since `at`.
    fn told(&mut self, decision: u64, loss: f64, at: u64) -> CountedAs {
        let open = self.open.remove(&decision).expect("the decision is open");
        let arm = open.arm as usize;
        let ready = self.settings.overlap == 1;
        if open.counted {
            self.banks[arm].tell(decision, loss, ready);
            let (delay, first) = (at - open.asked_at, self.settings.burn_in() + 1);
            let told = ToldLoss { arm, loss, delay, position: open.position, first };
            let known = self.lanes.get_mut(&open.lane).expect("the lane of a decision exists");
            self.watch.tell(&mut known.notes, told, &self.range);
        }
        self.lane_mut(&open).settle(decision, open.counted);
        self.release(open.lane);
        match open.phase {
            _ if open.counted => self.counted_for(arm),
            LanePhase::WarmUp => CountedAs::WarmUp,
            _ if self.is_endless() => CountedAs::Not,
            _ => CountedAs::WarmUp,
        }
    }

    fn counted_for(&self, arm: usize) -> CountedAs {
        if self.run.as_ref().is_some_and(|open| open.run.arm == arm) { CountedAs::Run } else { CountedAs::Bank }
    }

    /// Closes a decision whose play was made and has no loss.
    pub(super) fn close_decision(&mut self, decision: u64) {
        let open = self.open.remove(&decision).expect("the decision is open");
        if open.counted {
            self.banks[open.arm as usize].remove(decision);
        }
        self.lane_mut(&open).settle(decision, false);
        self.release(open.lane);
    }

    fn override_play(
        &mut self,
        decision: u64,
        open: &OpenDecision,
        played: usize,
        loss: Option<f64>,
    ) -> Result<CountedAs, LaneError> {
        let revision = self.revise(decision, open, |play| {
            (play.arm, play.state, play.counted) = (played as u32, PlayState::Made, false);
        })?;
        let usable = !self.is_endless() && !self.retired.contains(&played);
        let calibrated = revision.before >= self.settings.burn_in() && usable;
        self.counts.overridden += 1;
        self.plays[open.arm as usize] -= 1;
        self.plays[played] += 1;
        let mut counted = if loss.is_some() { CountedAs::WarmUp } else { CountedAs::Not };
        let (lane, overlap) = (open.lane, self.settings.overlap);
        self.begin_commit(decision, open, revision);
        if let Some(loss) = loss
            && calibrated
            && self.banks[played].insert(decision)
        {
            self.banks[played].tell(decision, loss, self.settings.overlap == 1);
            counted = self.counted_for(played);
            let known = self.lane_mut(open);
            known.count(decision);
            // With overlap, advised plays behind it may have overtaken it.
            let overtaken = if overlap > 1 { known.demote_overtaken() } else { Vec::new() };
            for (id, arm) in overtaken {
                self.demote(id, arm);
                counted = CountedAs::WarmUp;
            }
        }
        self.release(lane);
        Ok(counted)
    }

    /// What changes in a lane if a play was not what was advised. Refused if a loss behind it was used.
    fn revise(
        &self,
        decision: u64,
        open: &OpenDecision,
        change: impl FnOnce(&mut TailPlay),
    ) -> Result<Revision, LaneError> {
        let lane = &self.lanes[&open.lane];
        let Some(revision) = lane.revise(decision, &self.settings, change) else {
            return Err(LaneError::TooLate { decision, used: lane.newest.unwrap_or(decision) });
        };
        match revision.demoted.iter().find(|&&(id, arm)| self.was_used(id, arm)) {
            Some(&(used, _)) => Err(LaneError::TooLate { decision, used }),
            None => Ok(revision),
        }
    }

    fn begin_commit(&mut self, decision: u64, open: &OpenDecision, revision: Revision) {
        for &(id, arm) in &revision.demoted {
            self.demote(id, arm);
        }
        self.lane_mut(open).commit(revision);
        self.open.remove(&decision);
        if open.run + 1 == self.runs
            && let Some(run) = &mut self.run
            && open.phase == LanePhase::WarmUp
        {
            run.given = run.given.saturating_sub(1);
        }
    }

    fn commit(&mut self, decision: u64, open: &OpenDecision, revision: Revision) {
        self.begin_commit(decision, open, revision);
        self.release(open.lane);
    }

    /// Whether the loss of a play was reported to the policy, or can no longer be taken out of the open run.
    fn was_used(&self, decision: u64, arm: usize) -> bool {
        let in_run = self.run.as_ref().is_some_and(|open| open.place(arm, decision).is_some());
        self.banks[arm].was_taken(decision) && !in_run
    }

    pub(super) fn is_endless(&self) -> bool {
        self.run.as_ref().is_some_and(|open| open.is_endless())
    }

    /// A play is not calibrated after all.
    pub(super) fn demote(&mut self, decision: u64, arm: usize) {
        self.banks[arm].remove(decision);
        if let Some(open) = &mut self.run
            && let Some(place) = open.place(arm, decision)
        {
            open.latest.remove(place);
        }
        self.counts.demoted += 1;
        if let Some(open) = self.open.get_mut(&decision) {
            open.counted = false;
        }
    }

    /// A pause before the play that was longer than `reset_after` makes it the first play of a cold lane.
    fn note_pause(&mut self, decision: u64, open: &OpenDecision, played_at: Option<u64>) -> Result<(), LaneError> {
        let Some(at) = played_at.filter(|&at| at > open.asked_at) else { return Ok(()) };
        let at = at.min(self.now);
        let revision = match self.revise(decision, open, |play| play.at = at) {
            // It is no longer kept one by one.
            Err(LaneError::TooLate { .. }) if !self.lanes[&open.lane].keeps(decision) => return Ok(()),
            revised => revised?,
        };
        for &(id, arm) in &revision.demoted {
            self.demote(id, arm);
        }
        self.lane_mut(open).commit(revision);
        Ok(())
    }

    fn lane_mut(&mut self, open: &OpenDecision) -> &mut Lane {
        self.lanes.get_mut(&open.lane).expect("the lane of a decision exists")
    }

    /// Forgets what can no longer change in a lane; what is certain now can be taken.
    pub(super) fn release(&mut self, lane: u64) {
        let Some(lane) = self.lanes.get_mut(&lane) else { return };
        for (decision, arm) in lane.release(self.settings.overlap) {
            self.banks[arm].make_ready(decision);
        }
    }

    fn expire(&mut self, decision: u64) {
        let open = self.open[&decision];
        self.counts.expired += 1;
        self.remember(decision, None);
        if let ExpiryRule::Loss { loss, after } = self.settings.expiry {
            // Not the present time: when an expiry is noticed depends on which commands there are.
            self.told(decision, loss, open.asked_at.saturating_add(after));
            return;
        }
        let lane = &self.lanes[&open.lane];
        // Without overlap, asking a lane again says that its plays so far were made; then only the loss is lost.
        let made = self.settings.overlap == 1 && !lane.is_newest(decision);
        if made {
            self.close_decision(decision);
            return;
        }
        let unknown = |play: &mut TailPlay| (play.state, play.counted) = (PlayState::Unknown, false);
        match self.revise(decision, &open, unknown) {
            Ok(revision) => self.commit(decision, &open, revision),
            // A lane with overlap keeps every unfinished play, and uses no loss behind it.
            Err(_) => self.close_decision(decision),
        }
    }

    pub(super) fn reset_if_idle(&mut self, lane: u64) {
        let Some(known) = self.lanes.get(&lane) else { return };
        if self.settings.reset_after.is_some_and(|longest| self.now - known.last_at() > longest) {
            self.reset_lane(lane);
            self.counts.idle_resets += 1;
        }
    }

    fn reset_lane(&mut self, lane: u64) {
        let overlap = self.settings.overlap;
        let Some(known) = self.lanes.get_mut(&lane) else { return };
        self.watch.end_session(std::mem::take(&mut known.notes).measured);
        for (decision, arm) in known.reset(overlap) {
            self.demote(decision, arm);
        }
        if let Some(run) = &mut self.run {
            run.given = 0;
        }
    }

    /// A play that was made without advice.
    fn add_play(&mut self, lane: u64, arm: usize, loss: Option<f64>) -> (u64, CountedAs) {
        self.reset_if_idle(lane);
        let (decision, unused) = (self.next, self.is_endless() || self.retired.contains(&arm));
        self.presence.leave(self.lanes.get(&lane).and_then(|lane| lane.newest), decision);
        let known = self.lanes.entry(lane).or_insert_with(|| Lane::new(self.now));
        let calibrated = known.streak().before(arm) >= self.settings.burn_in();
        let mut counted = if loss.is_some() { CountedAs::WarmUp } else { CountedAs::Not };
        let banked = loss.filter(|_| calibrated && !unused && self.banks[arm].insert(decision));
        known.notes.measured |= calibrated;
        self.presence.arrive(decision, arm, known.notes.measured, &mut self.watch);
        known.push(decision, arm, banked.is_some(), self.now, true);
        let overtaken = if self.settings.overlap > 1 { known.demote_overtaken() } else { Vec::new() };
        for (id, arm) in overtaken {
            self.demote(id, arm);
        }
        if let Some(loss) = banked {
            self.banks[arm].tell(decision, loss, self.settings.overlap == 1);
            counted = self.counted_for(arm);
        }
        self.next += 1;
        self.plays[arm] += 1;
        self.counts.unadvised += 1;
        self.remember(decision, Some(loss.map_or(PlayOutcome::Done, PlayOutcome::Loss)));
        self.release(lane);
        (decision, counted)
    }
}

fn without_loss(phase: LanePhase) -> CountedAs {
    if phase == LanePhase::WarmUp { CountedAs::WarmUp } else { CountedAs::Not }
}
