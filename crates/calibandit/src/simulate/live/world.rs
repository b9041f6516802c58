//! The world of a live simulation: lanes with windows, plays under way, losses that are told later.

use std::collections::{BTreeMap, VecDeque};

use rand::RngExt;

use super::record::LiveRecord;
use super::{DelayLaw, LiveError, LiveSpec, LiveTrajectory, SessionLaw};
use crate::interrupt::PlayMeter;
use crate::lanes::{LaneAdvisor, LaneCommand, LaneError, LanePhase, PlayOutcome};
use crate::{Game, Grid, Interrupt, Policy, Stream, StreamKey, Window, math};

/// A game in progress on all lanes.
pub(super) struct LiveWorld<'a, P> {
    game: &'a Game,
    live: LiveSpec,
    advisor: LaneAdvisor<P>,
    places: Vec<LanePlace>,
    /// The number of the next lane that arrives.
    next_lane: u64,
    /// By step, the outcomes that are told at its beginning.
    due: BTreeMap<u64, Vec<(u64, PlayOutcome)>>,
    step: u64,
    noise: Stream,
    dice: Stream,
    record: LiveRecord<'a>,
    interrupt: Interrupt<'a>,
}

/// A place that has one lane at a time, which is asked once in every step.
struct LanePlace {
    lane: u64,
    window: Window,
    newest: Option<usize>,
    /// Plays that have not taken effect, in the order in which they were given out.
    under_way: VecDeque<PlayUnderWay>,
    /// Whether the lane was asked for its next play already, and had to wait: then the dice for a reset are thrown.
    waits: bool,
    /// The plays of this session so far, and those that are left.
    played: u64,
    left: u64,
    /// The step in which the session begins.
    begins: u64,
}

struct PlayUnderWay {
    decision: u64,
    arm: usize,
    /// The step in which it was given out.
    given: u64,
    /// Whether the advisor takes it for a play of the warm-up.
    warms_up: bool,
}

impl<'a, P: Policy> LiveWorld<'a, P> {
    pub(super) fn new(
        game: &'a Game,
        advisor: LaneAdvisor<P>,
        grid: &'a Grid,
        live: &LiveSpec,
        streams: StreamKey<'_>,
        interrupt: Interrupt<'a>,
    ) -> Self {
        let mut dice = streams.delays();
        let place = |lane| LanePlace {
            lane,
            window: game.empty_window(),
            newest: None,
            under_way: VecDeque::new(),
            waits: false,
            played: 0,
            left: session_length(live, &mut dice),
            begins: 0,
        };
        let places = (0..live.lanes).map(place).collect();
        Self {
            game,
            live: *live,
            advisor,
            places,
            next_lane: live.lanes,
            due: BTreeMap::new(),
            step: 0,
            noise: streams.noise(),
            dice,
            record: LiveRecord::new(game, grid, interrupt),
            interrupt,
        }
    }

    /// Plays up to the horizon.
    pub(super) fn play(mut self) -> Result<LiveTrajectory, LiveError> {
        let horizon = self.record.horizon();
        let mut meter = PlayMeter::new(self.interrupt);
        let mut given = 0;
        while given < horizon {
            self.tell_due()?;
            let before = given;
            for place in 0..self.places.len() {
                if given < horizon && self.step_lane(place)? {
                    given += 1;
                    meter.add(1)?;
                }
            }
            self.step = if given > before { self.step + 1 } else { self.next_event()? };
            meter.add(0)?;
        }
        for place in 0..self.places.len() {
            self.finish_given_by(place, u64::MAX)?;
        }
        Ok(self.record.finish(self.advisor.runs(), self.step, self.advisor.counts()))
    }

    /// The next step in which something happens, if no lane could make a play.
    fn next_event(&self) -> Result<u64, LiveError> {
        let told = self.due.first_key_value().map(|(&step, _)| step);
        let begins = self.places.iter().map(|place| place.begins).filter(|&begins| begins > self.step).min();
        let takes_effect = self.places.iter().any(|place| !place.under_way.is_empty()).then_some(self.step + 1);
        let oldest = self.advisor.open().next().and_then(|decision| self.advisor.asked_at(decision));
        let expires = self.live.timeout.zip(oldest).map(|(after, asked_at)| asked_at.saturating_add(after));
        let events = [told, begins, takes_effect, expires].into_iter().flatten();
        events.min().map(|step| step.max(self.step + 1)).ok_or(LiveError::Stuck)
    }

    fn tell_due(&mut self) -> Result<(), LiveError> {
        while let Some(due) = self.due.first_entry()
            && *due.key() <= self.step
        {
            for (decision, outcome) in due.remove() {
                self.tell(decision, outcome)?;
            }
        }
        Ok(())
    }

    fn tell(&mut self, decision: u64, outcome: PlayOutcome) -> Result<(), LiveError> {
        match self.advisor.settle(decision, outcome, self.step) {
            // Each outcome is told once: the advisor has given this decision up, because it expired long ago or
            // because too many were open.
            Ok(_) | Err(LaneError::AlreadySettled { .. }) => Ok(()),
            Err(error) => Err(error.into()),
        }
    }

    /// Asks a lane and makes its play; false if it makes none in this step.
    fn step_lane(&mut self, place: usize) -> Result<bool, LiveError> {
        let ends = self.places[place].left == 0;
        if ends {
            self.end_session(place)?;
        }
        let lane = &mut self.places[place];
        if lane.begins > self.step {
            return Ok(false);
        }
        let throws = !std::mem::replace(&mut lane.waits, true) && !ends && self.live.resets > 0.0;
        if throws && self.dice.random::<f64>() < self.live.resets {
            self.cool_down(place)?;
            self.reset_lane(place)?;
        }
        let given = match self.advisor.ask(self.places[place].lane, self.step) {
            Ok(decision) => {
                let lane = &mut self.places[place];
                let (id, arm, warms_up) = (decision.id, decision.arm, decision.phase == LanePhase::WarmUp);
                let play = PlayUnderWay { decision: id, arm, given: self.step, warms_up };
                lane.under_way.push_back(play);
                (lane.left, lane.waits) = (lane.left.saturating_sub(1), false);
                true
            }
            Err(LaneError::Busy { .. } | LaneError::Waiting { .. }) => false,
            Err(error) => return Err(error.into()),
        };
        let overlap = u64::from(self.live.overlap);
        let under_way = self.places[place].under_way.len();
        if overlap > 1 && under_way > 0 && self.dice.random::<bool>() {
            let any = self.dice.random_range(0..under_way);
            self.take_effect(place, any)?;
        }
        // A play given out c steps later finds this one finished.
        if self.step + 1 >= overlap {
            self.finish_given_by(place, self.step + 1 - overlap)?;
        }
        Ok(given)
    }

    /// Lets the plays that were given out up to this step take effect.
    fn finish_given_by(&mut self, place: usize, step: u64) -> Result<(), LiveError> {
        while self.places[place].under_way.front().is_some_and(|play| play.given <= step) {
            self.take_effect(place, 0)?;
        }
        Ok(())
    }

    fn take_effect(&mut self, place: usize, which: usize) -> Result<(), LiveError> {
        let lane = &mut self.places[place];
        let PlayUnderWay { decision, arm, warms_up, .. } = lane.under_way.remove(which).expect("the play is under way");
        let expected = self.game.play(arm, &mut lane.window);
        if expected.is_nan() {
            return Err(LiveError::CurveLeftRange { arm, name: self.game.arm_name(arm).map(str::to_owned) });
        }
        let switches = lane.newest.is_some_and(|newest| newest != arm);
        (lane.newest, lane.played) = (Some(arm), lane.played + 1);
        let loss = self.game.arms()[arm].noise().draw(expected, &mut self.noise);
        self.record.add(arm, expected, switches, warms_up);
        if self.record.is_checkpoint() {
            let lengths = self.places.iter().map(|lane| lane.played);
            self.record.note(lengths)?;
        }
        let lost = self.live.lost > 0.0 && self.dice.random::<f64>() < self.live.lost;
        let outcome = if lost { PlayOutcome::Lost } else { PlayOutcome::Loss(loss) };
        match self.delay(loss) {
            0 => self.tell(decision, outcome)?,
            delay => self.due.entry(self.step.saturating_add(delay)).or_default().push((decision, outcome)),
        }
        Ok(())
    }

    /// The session ends. The next one is that of the same lane, which is cold, or of another lane.
    fn end_session(&mut self, place: usize) -> Result<(), LiveError> {
        self.cool_down(place)?;
        let lane = &mut self.places[place];
        lane.left = session_length(&self.live, &mut self.dice);
        lane.begins = self.step.saturating_add(geometric(self.live.pause, &mut self.dice));
        if self.live.arrivals {
            lane.lane = self.next_lane;
            self.next_lane += 1;
            return Ok(());
        }
        self.reset_lane(place)
    }

    /// The window becomes empty. Plays under way take effect before that.
    fn cool_down(&mut self, place: usize) -> Result<(), LiveError> {
        self.finish_given_by(place, u64::MAX)?;
        let lane = &mut self.places[place];
        let played = std::mem::take(&mut lane.played);
        (lane.window, lane.newest) = (self.game.empty_window(), None);
        self.record.end_session(played)
    }

    fn reset_lane(&mut self, place: usize) -> Result<(), LiveError> {
        let lane = self.places[place].lane;
        self.advisor.apply(&LaneCommand::Reset { lane: Some(lane) }, self.step)?;
        Ok(())
    }

    fn delay(&mut self, loss: f64) -> u64 {
        let mean = self.live.delay;
        if mean == 0.0 {
            return 0;
        }
        match self.live.delay_law {
            DelayLaw::Constant => mean.round() as u64,
            DelayLaw::Geometric => geometric(mean, &mut self.dice),
            // Least value x and exponent 1.5 have the mean 3x.
            DelayLaw::HeavyTailed => {
                let uniform = 1.0 - self.dice.random::<f64>();
                (mean / 3.0 * math::exp(-math::ln(uniform) / 1.5)).min(1e15).round() as u64
            }
            DelayLaw::ByLoss => geometric(2.0 * mean * loss.clamp(0.0, 1.0), &mut self.dice),
        }
    }
}

/// The number of plays of a session.
fn session_length(live: &LiveSpec, dice: &mut Stream) -> u64 {
    match (live.session, live.session_law) {
        (None, _) => u64::MAX,
        (Some(mean), SessionLaw::Constant) => mean.round().max(1.0) as u64,
        (Some(mean), SessionLaw::Geometric) => geometric(mean - 1.0, dice).saturating_add(1),
    }
}

/// A geometric number from 0 on with this mean.
fn geometric(mean: f64, dice: &mut Stream) -> u64 {
    if mean <= 0.0 {
        return 0;
    }
    let uniform = 1.0 - dice.random::<f64>();
    // Success has the probability 1/(1 + mean); its complement is mean/(1 + mean).
    (math::ln(uniform) / math::ln(mean / (1.0 + mean))).floor().min(1e15) as u64
}
