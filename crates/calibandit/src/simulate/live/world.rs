//! The world of a live simulation: lanes with windows, plays under way, losses that are told later.

use std::collections::{BTreeMap, VecDeque};

use rand::RngExt;
use rustc_hash::FxHashMap;

use super::{DelayLaw, LiveError, LiveSpec, LiveTrajectory, SessionLaw};
use crate::interrupt::PlayMeter;
use crate::lanes::{LaneAdvisor, LaneCommand, LaneError, PlayOutcome};
use crate::{
    AnyPolicy, Checkpoint, Game, Grid, Interrupt, LossRange, Optima, PolicySpec, Stream, StreamKey, Trajectory, Window,
    math,
};

/// A game in progress on all lanes.
pub(super) struct LiveWorld<'a> {
    game: &'a Game,
    live: LiveSpec,
    advisor: LaneAdvisor<AnyPolicy>,
    places: Vec<LanePlace>,
    /// The number of the next lane that arrives.
    next_lane: u64,
    /// By step, the outcomes that are told at its beginning.
    due: BTreeMap<u64, Vec<(u64, PlayOutcome)>>,
    step: u64,
    noise: Stream,
    dice: Stream,
    record: LiveRecord<'a>,
}

/// A lane that is asked once in every step.
struct LanePlace {
    lane: u64,
    window: Window,
    newest: Option<usize>,
    /// Plays that have not taken effect: place in the lane, decision, arm.
    under_way: VecDeque<(u64, u64, usize)>,
    /// The number of plays given out.
    given: u64,
    /// The plays of this session so far, and those that are left.
    played: u64,
    left: u64,
}

/// Sums of expected losses and of optima.
struct LiveRecord<'a> {
    best_loss: f64,
    sum: f64,
    compensation: f64,
    time: u64,
    switches: u64,
    plays: Vec<u64>,
    times: &'a [u64],
    checkpoints: Vec<Checkpoint>,
    optima: Optima<'a>,
    by_length: FxHashMap<u64, f64>,
    /// The optima of the sessions that have ended.
    ended: f64,
    optimum: Vec<f64>,
}

impl<'a> LiveWorld<'a> {
    pub(super) fn new(
        game: &'a Game,
        policy: &PolicySpec,
        grid: &'a Grid,
        live: &LiveSpec,
        streams: StreamKey<'_>,
        optima: Optima<'a>,
    ) -> Result<Self, LiveError> {
        let bounded = game.arms().iter().all(|arm| arm.noise().is_bounded());
        let range = if bounded { LossRange::default() } else { LossRange::unbounded() };
        let builder = LaneAdvisor::builder(policy.clone(), game.arms().len(), live.settings());
        let advisor = builder.horizon(grid.horizon()).loss_range(range).build_with(streams)?;
        let mut dice = streams.delays();
        let place = |lane, dice: &mut Stream| LanePlace {
            lane,
            window: game.empty_window(),
            newest: None,
            under_way: VecDeque::new(),
            given: 0,
            played: 0,
            left: session_length(live, dice),
        };
        let places = (0..live.lanes).map(|lane| place(lane, &mut dice)).collect();
        let record = LiveRecord {
            best_loss: game.best_loss(),
            sum: 0.0,
            compensation: 0.0,
            time: 0,
            switches: 0,
            plays: vec![0; game.arms().len()],
            times: grid.times(),
            checkpoints: Vec::new(),
            optima,
            by_length: FxHashMap::default(),
            ended: 0.0,
            optimum: Vec::new(),
        };
        let (noise, due) = (streams.noise(), BTreeMap::new());
        let (live, next_lane) = (*live, live.lanes);
        Ok(Self { game, live, advisor, places, next_lane, due, step: 0, noise, dice, record })
    }

    /// Plays up to the horizon.
    pub(super) fn play(mut self, interrupt: Interrupt<'_>) -> Result<LiveTrajectory, LiveError> {
        let horizon = self.record.times.last().copied().unwrap_or(0);
        let mut meter = PlayMeter::new(interrupt);
        let mut given = 0;
        // A lane can wait for at most the longest delay; beyond that, it waits for ever.
        let mut idle_since = 0;
        while given < horizon {
            self.tell_due()?;
            let before = given;
            for place in 0..self.places.len() {
                if given < horizon && self.step_lane(place)? {
                    given += 1;
                }
            }
            meter.add(given - before)?;
            if given > before {
                idle_since = self.step;
            } else if self.due.is_empty() && self.live.timeout.is_none_or(|after| self.step > idle_since + after) {
                return Err(LiveError::Stuck);
            }
            self.step += 1;
        }
        for place in 0..self.places.len() {
            self.finish_until(place, u64::MAX)?;
        }
        let LiveRecord { checkpoints, plays, optimum, .. } = self.record;
        let runs = self.advisor.runs();
        let trajectory = Trajectory { checkpoints, plays, runs };
        Ok(LiveTrajectory { trajectory, optimum, steps: self.step, counts: self.advisor.counts() })
    }

    fn tell_due(&mut self) -> Result<(), LiveError> {
        while let Some(due) = self.due.first_entry()
            && *due.key() <= self.step
        {
            for (decision, outcome) in due.remove() {
                self.advisor.settle(decision, outcome, self.step)?;
            }
        }
        Ok(())
    }

    /// Asks a lane and makes its play; false if it has to wait.
    fn step_lane(&mut self, place: usize) -> Result<bool, LiveError> {
        let ends = self.places[place].left == 0;
        let resets = !ends && self.live.resets > 0.0 && self.dice.random::<f64>() < self.live.resets;
        if ends || resets {
            self.end_session(place, ends)?;
        }
        let decision = match self.advisor.ask(self.places[place].lane, self.step) {
            Ok(decision) => decision,
            Err(LaneError::Busy { .. } | LaneError::Waiting { .. }) => return Ok(false),
            Err(error) => return Err(error.into()),
        };
        let lane = &mut self.places[place];
        lane.under_way.push_back((lane.given, decision.id, decision.arm));
        lane.given += 1;
        lane.left = lane.left.saturating_sub(1);
        let overlap = u64::from(self.live.overlap);
        if overlap > 1 {
            let any = self.dice.random_range(0..lane.under_way.len());
            if lane.under_way.len() as u64 >= overlap || self.dice.random::<bool>() {
                self.take_effect(place, any)?;
            }
        }
        // The next play is given out after all up to `overlap` places before it have finished.
        let given = self.places[place].given;
        self.finish_until(place, (given + 1).saturating_sub(overlap))?;
        Ok(true)
    }

    /// Lets the plays below this place in the lane take effect.
    fn finish_until(&mut self, place: usize, end: u64) -> Result<(), LiveError> {
        while self.places[place].under_way.front().is_some_and(|&(given, ..)| given < end) {
            self.take_effect(place, 0)?;
        }
        Ok(())
    }

    fn take_effect(&mut self, place: usize, which: usize) -> Result<(), LiveError> {
        let lane = &mut self.places[place];
        let (_, decision, arm) = lane.under_way.remove(which).expect("the play is under way");
        let expected = self.game.play(arm, &mut lane.window);
        if expected.is_nan() {
            return Err(LiveError::CurveLeftRange { arm });
        }
        let switches = lane.newest.is_some_and(|newest| newest != arm);
        (lane.newest, lane.played) = (Some(arm), lane.played + 1);
        let loss = self.game.arms()[arm].noise().draw(expected, &mut self.noise);
        self.record.add(arm, expected, switches);
        if self.record.is_checkpoint() {
            let lengths = self.places.iter().map(|lane| lane.played);
            self.record.note(lengths)?;
        }
        let lost = self.live.lost > 0.0 && self.dice.random::<f64>() < self.live.lost;
        let outcome = if lost { PlayOutcome::Lost } else { PlayOutcome::Loss(loss) };
        match self.delay(loss) {
            0 => {
                self.advisor.settle(decision, outcome, self.step)?;
            }
            delay => self.due.entry(self.step.saturating_add(delay)).or_default().push((decision, outcome)),
        }
        Ok(())
    }

    /// The lane loses its memory: by itself, or because another lane takes its place.
    fn end_session(&mut self, place: usize, ends: bool) -> Result<(), LiveError> {
        self.finish_until(place, u64::MAX)?;
        let played = std::mem::take(&mut self.places[place].played);
        self.record.ended += self.record.optimum_of(played)?;
        let lane = &mut self.places[place];
        lane.window = self.game.empty_window();
        lane.newest = None;
        if ends {
            lane.left = session_length(&self.live, &mut self.dice);
        }
        if self.live.arrivals {
            lane.lane = self.next_lane;
            self.next_lane += 1;
        } else {
            self.advisor.apply(&LaneCommand::Reset { lane: Some(lane.lane) }, self.step)?;
        }
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

impl LiveRecord<'_> {
    /// Adds one play, with Neumaier's compensation.
    fn add(&mut self, arm: usize, expected: f64, switches: bool) {
        let excess = expected - self.best_loss;
        let sum = self.sum + excess;
        self.compensation +=
            if self.sum.abs() >= excess.abs() { (self.sum - sum) + excess } else { (excess - sum) + self.sum };
        self.sum = sum;
        self.time += 1;
        self.switches += u64::from(switches);
        self.plays[arm] += 1;
    }

    fn is_checkpoint(&self) -> bool {
        self.times.get(self.checkpoints.len()) == Some(&self.time)
    }

    /// Records a checkpoint; `lengths` are the plays of the sessions under way.
    fn note(&mut self, lengths: impl Iterator<Item = u64>) -> Result<(), LiveError> {
        let excess = self.sum + self.compensation;
        let loss = self.time as f64 * self.best_loss + excess;
        self.checkpoints.push(Checkpoint { t: self.time, loss, excess, switches: self.switches });
        let mut optimum = self.ended;
        for length in lengths {
            optimum += self.optimum_of(length)?;
        }
        self.optimum.push(optimum);
        Ok(())
    }

    /// The optimum of a session of this length, in excess of as many plays at mu(x*).
    fn optimum_of(&mut self, length: u64) -> Result<f64, LiveError> {
        if length == 0 {
            return Ok(0.0);
        }
        if let Some(&known) = self.by_length.get(&length) {
            return Ok(known);
        }
        let excess = self.optima.excess_at(length)?;
        self.by_length.insert(length, excess);
        Ok(excess)
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
