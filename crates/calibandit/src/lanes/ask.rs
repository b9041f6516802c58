//! Asking: which arm a lane plays next.

use super::forecast::is_playable;
use super::lane::Lane;
use super::settings::{LaneFiller, LaneMode};
use super::{AskAfter, LaneAdvisor, LaneBooks, LaneDecision, LaneError, LanePhase, LaneRun, OpenDecision};
use crate::Policy;

/// At most this many decisions may be without an outcome. It bounds the memory.
pub(super) const MOST_OPEN: usize = 1 << 20;

/// The arm to play, and whether the lane explores.
struct LaneChoice {
    arm: usize,
    explores: bool,
}

impl<P: Policy> LaneAdvisor<P> {
    pub(super) fn give_out(
        &mut self,
        lane: u64,
        after: AskAfter,
        available: Option<&[usize]>,
    ) -> Result<LaneDecision, LaneError> {
        self.books.check_lane(lane)?;
        if let Some(available) = available {
            self.books.check_available(available)?;
        }
        if let Some(id) = self.books.redelivered(lane, after)? {
            return Ok(LaneDecision { redelivered: true, ..self.books.decision(id) });
        }
        self.books.check_free(lane)?;
        self.open_run()?;
        self.books.check_waiting(lane)?;
        self.books.make_room()?;
        self.books.reset_if_idle(lane);
        if self.books.settings.lanes == LaneMode::Many {
            self.plan();
        }
        let id = self.books.play_next(lane, available);
        self.collect();
        Ok(self.books.decision(id))
    }

    /// Opens runs until one needs plays.
    ///
    /// Every accepted command ends with this, not the next ask: an ask that is refused would otherwise have opened a
    /// run, and a replay without it would differ.
    pub(super) fn open_run(&mut self) -> Result<(), LaneError> {
        while self.books.run.is_none() {
            let (run, arms) = (self.policy.next_run(), self.books.banks.len());
            if !is_playable(run, arms, self.books.settings.keeps_runs()) {
                return Err(LaneError::BadRun { run, arms });
            }
            self.books.run = Some(LaneRun::new(run));
            self.reasons.push(self.books.runs, run, self.policy.run_reason(run));
            self.books.runs += 1;
            self.books.plan.without_loss = 0;
            self.books.leader = self.policy.recommend();
            self.fill_run();
        }
        Ok(())
    }
}

impl LaneBooks {
    /// With one lane, the first one that is asked is the only one.
    pub(super) fn check_lane(&self, lane: u64) -> Result<(), LaneError> {
        match self.lanes.keys().next() {
            Some(&only) if self.settings.lanes == LaneMode::One && only != lane => {
                Err(LaneError::OneLane { lane, only })
            }
            _ => Ok(()),
        }
    }

    pub(super) fn check_arm(&self, arm: usize) -> Result<(), LaneError> {
        let arms = self.banks.len();
        if arm < arms { Ok(()) } else { Err(LaneError::Arm { arm, arms }) }
    }

    fn check_available(&self, available: &[usize]) -> Result<(), LaneError> {
        available.iter().try_for_each(|&arm| self.check_arm(arm))?;
        if available.iter().all(|arm| self.retired.contains(arm)) {
            Err(LaneError::NoneAvailable { arms: self.banks.len() })
        } else {
            Ok(())
        }
    }

    /// The decision that the request repeats, if it is a repetition.
    fn redelivered(&self, lane: u64, after: AskAfter) -> Result<Option<u64>, LaneError> {
        let after = match after {
            AskAfter::Unstated => return Ok(None),
            AskAfter::Start => None,
            AskAfter::Decision(id) => Some(id),
        };
        let known = self.lanes.get(&lane);
        let newest = known.and_then(|lane| lane.newest);
        if after == newest {
            return Ok(None);
        }
        let successor = known.and_then(|lane| lane.successor(after)).filter(|id| self.open.contains_key(id));
        successor.map(Some).ok_or(LaneError::StaleAfter { lane, newest })
    }

    /// Whether the overlap allows a further play of the lane.
    pub(super) fn check_free(&self, lane: u64) -> Result<(), LaneError> {
        let overlap = self.settings.overlap;
        match self.lanes.get(&lane) {
            Some(known) if overlap > 1 && known.is_busy(overlap) => {
                Err(LaneError::Busy { lane, overlap, open: known.pending().map(|play| play.id).collect() })
            }
            _ => Ok(()),
        }
    }

    /// Bounds the number of open decisions. Those whose loss nobody needs count as made.
    fn make_room(&mut self) -> Result<(), LaneError> {
        if self.open.len() < MOST_OPEN {
            return Ok(());
        }
        match self.open.first_key_value() {
            Some((&id, open)) if !open.counted && self.settings.overlap == 1 => {
                self.close_decision(id);
                Ok(())
            }
            _ => Err(LaneError::TooManyOpen { open: self.open.len() }),
        }
    }

    /// The number of further calibrated plays that the open run needs.
    pub(super) fn wanted(&self) -> u64 {
        let needed = |open: &LaneRun| open.run.record.saturating_sub(open.losses());
        self.run.as_ref().map_or(0, |open| needed(open).saturating_sub(self.banks[open.run.arm].len()))
    }

    /// Without a filler, the lanes that play the run wait for its losses.
    fn check_waiting(&self, lane: u64) -> Result<(), LaneError> {
        let Some(open) = &self.run else { return Ok(()) };
        let present = || self.lanes.get(&lane).and_then(|lane| lane.streak().arm());
        let plays_run =
            self.settings.lanes == LaneMode::One || open.run.arm != self.leader && present() == Some(open.run.arm);
        let given = self.wanted() == 0 && !(self.settings.keeps_runs() && open.given < open.run.burn_in);
        if self.settings.filler == LaneFiller::Wait && plays_run && given {
            return Err(LaneError::Waiting { outstanding: self.banks[open.run.arm].outstanding().collect() });
        }
        Ok(())
    }

    fn choose(&mut self, lane: u64) -> LaneChoice {
        let (leader, wanted) = (self.leader, self.wanted());
        let open = self.run.as_ref().expect("a run was opened before a play is chosen");
        let arm = open.run.arm;
        let run = |explores| LaneChoice { arm, explores };
        let filler = || match self.settings.filler {
            LaneFiller::Leader => LaneChoice { arm: leader, explores: false },
            LaneFiller::Stay | LaneFiller::Wait => run(false),
        };
        if open.is_endless() {
            return run(false);
        }
        match self.settings.lanes {
            LaneMode::One if wanted > 0 || self.settings.keeps_runs() => run(false),
            LaneMode::One => filler(),
            LaneMode::Many => {
                let chosen = self.assign(lane);
                let doubtful = chosen != leader || self.known(chosen).plays == 0;
                LaneChoice { arm: chosen, explores: chosen == arm && doubtful }
            }
        }
    }

    /// The best arm of these: the leader, or the one with the least mean; arms without losses come last.
    fn best_of(&self, available: &[usize]) -> usize {
        if available.contains(&self.leader) {
            return self.leader;
        }
        let mean = |arm: usize| if self.taken[arm].plays > 0 { self.taken[arm].mean() } else { f64::INFINITY };
        let usable = available.iter().copied().filter(|arm| !self.retired.contains(arm));
        let best = usable.min_by(|&a, &b| mean(a).total_cmp(&mean(b)).then(a.cmp(&b)));
        best.unwrap_or(self.leader)
    }

    /// With overlap, a play of another arm could overtake counted plays that are under way. The lane then plays its arm
    /// again, up to c - 1 times and without counting, until they are finished; the arm that it plays.
    fn drains(&self, lane: u64, arm: usize, available: Option<&[usize]>) -> Option<usize> {
        let known = self.lanes.get(&lane).filter(|_| self.settings.overlap > 1)?;
        let stay = known.streak().arm().filter(|_| known.would_overtake(arm))?;
        let usable = !self.retired.contains(&stay) && available.is_none_or(|available| available.contains(&stay));
        usable.then_some(stay)
    }

    /// Gives out the next play of a lane and returns its id.
    fn play_next(&mut self, lane: u64, available: Option<&[usize]>) -> u64 {
        let id = self.next;
        self.presence.leave(self.lanes.get(&lane).and_then(|lane| lane.newest), id);
        let wanted = self.wanted();
        let LaneChoice { mut arm, mut explores } = self.choose(lane);
        if let Some(available) = available.filter(|available| !available.contains(&arm)) {
            (arm, explores) = (self.best_of(available), false);
        }
        let drains = self.drains(lane, arm, available);
        if let Some(stay) = drains {
            (arm, explores) = (stay, false);
        }
        let burn_in = self.settings.burn_in();
        let keeps_runs = self.settings.keeps_runs();
        let open = self.run.as_mut().expect("a run was opened before a play is given out");
        let in_run = arm == open.run.arm;
        let warmed_up = !(keeps_runs && in_run) || open.given >= open.run.burn_in;
        open.given = open.given.saturating_add(u64::from(in_run));
        let (endless, run) = (open.is_endless(), self.runs - 1);
        let known = self.lanes.entry(lane).or_insert_with(|| Lane::new(self.now));
        let before = known.streak().before(arm);
        let calibrated = before >= burn_in && warmed_up;
        let counted = calibrated && !endless && drains.is_none() && self.banks[arm].insert(id);
        known.notes.measured |= calibrated;
        self.presence.arrive(id, arm, known.notes.measured, &mut self.watch);
        let phase = match () {
            // A run without an end is never reported: nothing is ignored in it that would be used otherwise.
            () if keeps_runs && in_run && endless && warmed_up => LanePhase::Measured,
            () if !calibrated => LanePhase::WarmUp,
            () if counted && in_run && (wanted > 0 || keeps_runs) => LanePhase::Measured,
            () => LanePhase::Filler,
        };
        known.push(id, arm, counted, self.now, false);
        let overtaken = if self.settings.overlap > 1 { known.demote_overtaken() } else { Vec::new() };
        if explores {
            self.plan.without_loss = if counted { 0 } else { self.plan.without_loss.saturating_add(1) };
        }
        if self.settings.overlap == 1 {
            // Bounds the tail; nothing becomes certain that was not.
            known.release(1);
        }
        for (id, arm) in overtaken {
            self.demote(id, arm);
        }
        let position = before + 1;
        let decision = OpenDecision { lane, arm: arm as u32, phase, counted, run, position, asked_at: self.now };
        self.open.insert(id, decision);
        self.next += 1;
        self.plays[arm] += 1;
        self.counts.count_phase(phase);
        id
    }

    /// An open decision as it was given out.
    fn decision(&self, id: u64) -> LaneDecision {
        let OpenDecision { lane, arm, phase, run, position, asked_at, .. } = self.open[&id];
        LaneDecision {
            id,
            lane,
            arm: arm as usize,
            phase,
            run,
            position,
            asked_at,
            expires_at: self.settings.expiry.after().map(|after| asked_at.saturating_add(after)),
            beyond_horizon: self.horizon.is_some_and(|horizon| id >= horizon),
            redelivered: false,
        }
    }
}

impl super::LaneCounts {
    fn count_phase(&mut self, phase: LanePhase) {
        match phase {
            LanePhase::WarmUp => self.warm_up += 1,
            LanePhase::Measured => self.measured += 1,
            LanePhase::Filler => self.filler += 1,
        }
    }
}
