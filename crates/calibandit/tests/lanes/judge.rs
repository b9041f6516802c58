//! A game that knows its windows judges every loss that the policy gets: a calibrated loss is 0, any other is 1, so
//! that a single loss that is not calibrated shows in a sum.
//!
//! The world behind the advisor makes plays, leaves some out, plays other arms, loses, delays, repeats and reorders
//! reports, and resets lanes. It keeps the rules of docs/lanes.md: a lane that is asked again without overlap has made
//! its plays, and a play that was not made as advised is reported before a loss behind it is.

use std::collections::BTreeMap;

use calibandit::lanes::{
    ExpiryRule, ExplorerCount, LaneAdvisor, LaneAnswer, LaneCommand, LaneError, LaneFiller, LaneSettings, PlayOutcome,
};
use calibandit::{Feedback, LossRange, Policy, Run, Stream, StreamKey};
use rand::RngExt;

const ARMS: usize = 3;

/// Asks for random runs, and adds up the losses, which are 1 if they are not calibrated.
#[derive(Clone, Debug, PartialEq, serde::Serialize, serde::Deserialize)]
struct RandomRuns {
    stream: Stream,
    losses: u64,
    not_calibrated: f64,
    leader: usize,
}

impl Policy for RandomRuns {
    fn next_run(&mut self) -> Run {
        self.leader = self.stream.random_range(0..ARMS);
        Run { arm: self.stream.random_range(0..ARMS), burn_in: 0, record: self.stream.random_range(1..12) }
    }
    fn observe(&mut self, run: Run, feedback: Feedback) {
        assert_eq!(feedback.plays, run.record);
        self.losses += feedback.plays;
        self.not_calibrated += feedback.sum;
    }
    fn recommend(&self) -> usize {
        self.leader
    }
}

/// What the world will do with a decision, and has done.
#[derive(Clone, Copy, Debug)]
struct WorldPlay {
    lane: u64,
    id: u64,
    /// The arm that is really played; `None` if none is.
    arm: Option<usize>,
    advised: usize,
    /// The loss once the play was made.
    loss: Option<f64>,
    over: bool,
    reported: bool,
}

struct World {
    memory: usize,
    overlap: u32,
    /// The true plays of each lane since its last reset, newest last, at most the memory.
    windows: BTreeMap<u64, Vec<usize>>,
    /// When the last play of each lane took effect, and the pause after which a lane is cold.
    ended: BTreeMap<u64, u64>,
    pause: Option<u64>,
    now: u64,
    plays: Vec<WorldPlay>,
    reports: Vec<(u64, PlayOutcome)>,
}

impl World {
    /// Makes a play: it takes effect now.
    fn make(&mut self, place: usize) {
        let play = &mut self.plays[place];
        play.over = true;
        let Some(arm) = play.arm else { return };
        self.ended.insert(play.lane, self.now);
        let window = self.windows.entry(play.lane).or_default();
        window.push(arm);
        let calibrated = window.len() >= self.memory && window[window.len() - self.memory..].iter().all(|&a| a == arm);
        play.loss = Some(f64::from(u8::from(!calibrated)));
        if window.len() > 64 {
            window.drain(..32);
        }
    }

    /// Makes the plays of a lane that are not made, in the order of the decisions.
    fn make_all(&mut self, lane: u64) {
        for place in 0..self.plays.len() {
            if self.plays[place].lane == lane && !self.plays[place].over {
                self.make(place);
            }
        }
    }

    /// A play begins when it is given out. If no play was under way for longer than the pause, the lane is cold.
    fn begin(&mut self, lane: u64) {
        let under_way = self.plays.iter().any(|play| play.lane == lane && !play.over);
        let idle = self.now - self.ended.get(&lane).copied().unwrap_or(self.now);
        if !under_way && self.pause.is_some_and(|pause| idle > pause) {
            self.windows.remove(&lane);
        }
    }

    /// Whether an earlier play of the lane that was not made as advised is not reported.
    fn hides_something(&self, place: usize) -> bool {
        let play = self.plays[place];
        self.overlap == 1
            && self.plays[..place]
                .iter()
                .any(|other| other.lane == play.lane && !other.reported && other.arm != Some(other.advised))
    }

    fn outcome(play: &WorldPlay, stream: &mut Stream) -> PlayOutcome {
        match (play.arm, play.loss) {
            (None, _) => PlayOutcome::NotPlayed,
            (Some(arm), loss) if arm != play.advised => {
                PlayOutcome::Overridden { arm, loss: loss.filter(|_| stream.random::<f64>() < 0.8) }
            }
            (_, Some(loss)) => match stream.random_range(0..20) {
                0 => PlayOutcome::Done,
                1 => PlayOutcome::Lost,
                _ => PlayOutcome::Loss(loss),
            },
            _ => unreachable!("a play that was made has a loss"),
        }
    }
}

/// Plays one random history and returns the numbers of plays and of measured losses.
fn judge(history: u64, steps: u64) -> (u64, u64) {
    let mut dice = StreamKey::new(history, "judge", 0).noise();
    let memory = dice.random_range(1..6usize);
    let overlap = dice.random_range(1..5u32);
    let lanes = if dice.random::<bool>() { 1 } else { dice.random_range(2..9u64) };
    let after = dice.random_range(5..60);
    let expiry = match dice.random_range(0..3) {
        0 => ExpiryRule::Never,
        // A loss of 0 is that of a calibrated play, so that only the right ones may count.
        _ if history % 4 == 3 => ExpiryRule::Loss { after, loss: 0.0 },
        _ => ExpiryRule::Lost { after },
    };
    let filler = [LaneFiller::Stay, LaneFiller::Leader, LaneFiller::Wait][dice.random_range(0..3)];
    let mut settings = LaneSettings::new(expiry).overlap(overlap).memory_bound(memory as u64).filler(filler);
    if lanes > 1 {
        settings = settings.many().explorers(ExplorerCount::AtMost(dice.random_range(1..4)));
    }
    if dice.random::<bool>() {
        settings = settings.reset_after(after / 2 + 2);
    }
    let trouble = if dice.random::<bool>() { 0.02 } else { 0.2 };
    let stream = StreamKey::new(history, "judge", 0);
    let policy = RandomRuns { stream: stream.policy(), losses: 0, not_calibrated: 0.0, leader: 0 };
    let mut advisor = LaneAdvisor::new(policy, ARMS, LossRange::default(), settings, stream.lanes()).unwrap();
    let mut world = World {
        memory,
        overlap,
        windows: BTreeMap::new(),
        ended: BTreeMap::new(),
        pause: settings.reset_after,
        now: 0,
        plays: Vec::new(),
        reports: Vec::new(),
    };
    let (mut accepted, mut copy) = (Vec::new(), advisor.clone());
    let mut now = 0;
    for step in 0..steps {
        if dice.random::<f64>() < 0.3 {
            let later = now + dice.random_range(0..4);
            // A play that was not made as advised is reported before the decision expires.
            let expires = |play: &WorldPlay| !stays_open(&advisor, play.id, settings.expiry, later);
            let wrong = |play: &WorldPlay| !play.reported && play.arm != Some(play.advised) && expires(play);
            let places: Vec<usize> = (0..world.plays.len()).filter(|&place| wrong(&world.plays[place])).collect();
            for place in places {
                if !world.plays[place].over {
                    world.make(place);
                }
                let play = world.plays[place];
                let outcome = World::outcome(&play, &mut dice);
                let command = LaneCommand::Settle { decision: play.id, outcome, played_at: None };
                if advisor.apply(&command, now).is_ok() {
                    accepted.push((command, now));
                }
                world.plays[place].reported = true;
            }
            (now, world.now) = (later, later);
        }
        let command = next_command(&mut world, &advisor, lanes, trouble, &mut dice);
        // What expires with a loss was made, by then at the latest.
        if let ExpiryRule::Loss { .. } = settings.expiry {
            let expires = |play: &WorldPlay| !play.over && !stays_open(&advisor, play.id, settings.expiry, now);
            let places: Vec<usize> = (0..world.plays.len()).filter(|&place| expires(&world.plays[place])).collect();
            places.into_iter().for_each(|place| world.make(place));
        }
        // What expires otherwise was made before, or never will be.
        if settings.expiry.after().is_some() {
            world
                .plays
                .retain(|play| play.over || play.reported || stays_open(&advisor, play.id, settings.expiry, now));
        }
        match advisor.apply(&command, now) {
            Ok(answer) => {
                accepted.push((command.clone(), now));
                follow(&mut world, &command, answer, trouble, &mut dice);
            }
            Err(
                LaneError::Busy { .. }
                | LaneError::Waiting { .. }
                | LaneError::AlreadySettled { .. }
                | LaneError::TooLate { .. },
            ) => {}
            Err(other) => panic!("history {history}, step {step}: {other}"),
        }
    }
    assert_eq!(advisor.policy().not_calibrated, 0.0, "history {history}: {settings:?}, {lanes} lanes");
    // The accepted commands alone give the same state, bit for bit.
    for (command, now) in accepted {
        copy.apply(&command, now).unwrap();
    }
    copy.apply(&LaneCommand::Tick, now).unwrap();
    advisor.apply(&LaneCommand::Tick, now).unwrap();
    assert_eq!(copy, advisor, "history {history}");
    assert_eq!(copy.to_json().unwrap(), advisor.to_json().unwrap());
    (advisor.decisions(), advisor.policy().losses)
}

/// Whether a decision is not about to expire. A play that was not made until then is not made any more.
fn stays_open(advisor: &LaneAdvisor<RandomRuns>, id: u64, expiry: ExpiryRule, now: u64) -> bool {
    let Some(after) = expiry.after() else { return true };
    advisor.asked_at(id).is_some_and(|asked| asked + after > now)
}

/// The next thing that happens.
fn next_command(
    world: &mut World,
    advisor: &LaneAdvisor<RandomRuns>,
    lanes: u64,
    trouble: f64,
    dice: &mut Stream,
) -> LaneCommand {
    let lane = dice.random_range(0..lanes);
    if dice.random::<f64>() < trouble / 8.0 {
        // The lane loses its memory; plays under way may come before or after it.
        world.windows.remove(&lane);
        return LaneCommand::Reset { lane: Some(lane) };
    }
    // With overlap, plays take effect in any order.
    let waiting: Vec<usize> = (0..world.plays.len()).filter(|&place| !world.plays[place].over).collect();
    if world.overlap > 1 && !waiting.is_empty() && dice.random::<f64>() < 0.5 {
        world.make(waiting[dice.random_range(0..waiting.len())]);
    }
    let reportable: Vec<usize> = (0..world.plays.len())
        .filter(|&place| world.plays[place].over && !world.plays[place].reported && !world.hides_something(place))
        .collect();
    if !world.reports.is_empty() && dice.random::<f64>() < 0.05 {
        let (decision, outcome) = world.reports[dice.random_range(0..world.reports.len())];
        return LaneCommand::Settle { decision, outcome, played_at: None };
    }
    if !reportable.is_empty() && dice.random::<f64>() < 0.5 {
        let place = reportable[dice.random_range(0..reportable.len())];
        let play = world.plays[place];
        let outcome = World::outcome(&play, dice);
        return LaneCommand::Settle { decision: play.id, outcome, played_at: None };
    }
    if world.overlap == 1 {
        // Asking the lane again means that its plays so far were made.
        world.make_all(lane);
    }
    if dice.random::<f64>() < trouble / 4.0 && advisor.decisions() > 0 {
        let arm = dice.random_range(0..ARMS);
        return LaneCommand::Play { lane, arm, loss: None };
    }
    LaneCommand::Ask { lane, after: Default::default(), available: None }
}

/// What the world does after an accepted command.
fn follow(world: &mut World, command: &LaneCommand, answer: LaneAnswer, trouble: f64, dice: &mut Stream) {
    match (command, answer) {
        (_, LaneAnswer::Decision(decision)) => {
            let arm = match dice.random::<f64>() {
                chance if chance < trouble / 2.0 => None,
                chance if chance < trouble => Some(dice.random_range(0..ARMS)),
                _ => Some(decision.arm),
            };
            let (lane, id, advised) = (decision.lane, decision.id, decision.arm);
            world.begin(lane);
            world.plays.push(WorldPlay { lane, id, arm, advised, loss: None, over: false, reported: false });
            if world.plays.len() > 400 {
                world.plays.retain(|play| !play.reported);
            }
        }
        (LaneCommand::Settle { decision, outcome, .. }, _) => {
            if let Some(play) = world.plays.iter_mut().find(|play| play.id == *decision) {
                play.reported = true;
            }
            world.reports.push((*decision, *outcome));
            if world.reports.len() > 20 {
                world.reports.remove(0);
            }
        }
        (LaneCommand::Play { lane, arm, .. }, LaneAnswer::Recorded { decision, .. }) => {
            let (lane, id, arm) = (*lane, decision, *arm);
            world.begin(lane);
            let play = WorldPlay { lane, id, arm: Some(arm), advised: arm, loss: None, over: false, reported: true };
            world.plays.push(play);
            world.make(world.plays.len() - 1);
        }
        _ => {}
    }
}

#[test]
fn every_measured_loss_is_calibrated() {
    let (mut plays, mut losses) = (0, 0);
    for history in 0..300 {
        let (played, measured) = judge(history, 1000);
        (plays, losses) = (plays + played, losses + measured);
    }
    assert!(plays > 100_000 && losses > 10_000, "{plays} plays, {losses} losses: the test must measure something");
}

/// A million plays. In history 1506 an ask that was refused had opened a run, so that a replay without it differed.
#[test]
#[ignore = "slow: a million plays"]
fn every_measured_loss_is_calibrated_in_a_million_plays() {
    let (mut plays, mut history) = (0, 0);
    while plays < 1_000_000 || history < 2000 {
        plays += judge(history, 1000).0;
        history += 1;
    }
}
