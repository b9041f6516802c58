//! The contract of the advisor: the decisions it hands out, the losses it accepts, and the feedback the policy
//! receives.

mod damaged;
mod edited;
mod explained;
mod monitored;
mod policies;
mod properties;
mod stored;

use calibandit::rng::StreamKey;
use calibandit::{
    Advisor, AdvisorError, Arm, AskError, Decision, Engine, Feedback, Game, Grid, LossCurve, LossRange, Noise, Phase,
    Policy, Run, SnapshotError, Stream, TellError, Weights, simulate,
};
use rand::RngExt;
use serde::{Deserialize, Serialize};

/// Asks for the given runs cyclically and keeps all feedback.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
struct Script {
    runs: Vec<Run>,
    asked: usize,
    seen: Vec<(Run, Feedback)>,
}

impl Script {
    fn new(runs: impl Into<Vec<Run>>) -> Self {
        Self { runs: runs.into(), ..Self::default() }
    }
}

impl Policy for Script {
    fn next_run(&mut self) -> Run {
        let playable = |run: &Run| run.arm < 3 && run.plays() > 0;
        let asked = (0..self.asked).filter(|i| playable(&self.runs[i % self.runs.len()])).count();
        assert_eq!(asked, self.seen.len(), "asked again before the last run was reported");
        self.asked += 1;
        self.runs[(self.asked - 1) % self.runs.len()]
    }
    fn observe(&mut self, run: Run, feedback: Feedback) {
        self.seen.push((run, feedback));
    }
    fn recommend(&self) -> usize {
        self.seen.len()
    }
}

/// Random runs that depend on every bit of the feedback: any difference in the feedback changes its choices.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
struct Fickle {
    stream: Stream,
    mood: f64,
}

impl Policy for Fickle {
    fn next_run(&mut self) -> Run {
        let draw: u64 = self.stream.random::<u64>() ^ self.mood.to_bits();
        Run { arm: (draw % 3) as usize, burn_in: draw / 3 % 4, record: 1 + draw / 12 % 6 }
    }
    fn observe(&mut self, run: Run, feedback: Feedback) {
        assert_eq!(run.record, feedback.plays);
        self.mood = feedback.sum + 1e-3 * feedback.sum_sq + self.mood / 3.0;
    }
    fn recommend(&self) -> usize {
        0
    }
}

fn fickle(seed: u64) -> Fickle {
    Fickle { stream: StreamKey::new(seed, "advisor", 0).policy(), mood: 0.0 }
}

fn run(arm: usize, burn_in: u64, record: u64) -> Run {
    Run { arm, burn_in, record }
}

fn parts(decision: Decision) -> (u64, usize, Phase) {
    (decision.id, decision.arm, decision.phase)
}

fn ask(advisor: &mut Advisor<Script>, plays: u64) {
    for _ in 0..plays {
        advisor.ask().expect("the run has plays left");
    }
}

fn reloaded<P: Policy + Serialize + serde::de::DeserializeOwned>(advisor: &Advisor<P>) -> Advisor<P> {
    let json = advisor.to_json().expect("test policies serialise");
    Advisor::from_json(&json).expect("what was written can be read")
}

#[test]
fn a_run_is_handed_out_play_by_play() {
    let mut advisor = Advisor::new(Script::new([run(1, 2, 1), run(0, 0, 2)]), 2).unwrap();
    let decisions: Vec<Decision> = (0..3).map(|_| advisor.ask().unwrap()).collect();
    let decisions: Vec<_> = decisions.into_iter().map(parts).collect();
    assert_eq!(decisions, [(0, 1, Phase::BurnIn), (1, 1, Phase::BurnIn), (2, 1, Phase::Measured)]);
    assert_eq!(advisor.ask(), Err(AskError::Waiting { outstanding: vec![2] }));
    assert_eq!(advisor.current_run(), Some(run(1, 2, 1)));
    advisor.tell(2, 0.25).unwrap();
    assert_eq!(advisor.policy().seen, [(run(1, 2, 1), Feedback::one(0.25))]);
    assert_eq!((advisor.current_run(), advisor.recommend()), (None, 1));
    assert_eq!(advisor.ask().map(parts), Ok((3, 0, Phase::Measured)));
    assert_eq!((advisor.plays(), advisor.switches(), advisor.decisions()), (&[1, 3][..], 1, 4));
    assert!(advisor.outstanding().eq([3]));
}

#[test]
fn a_second_loss_is_already_settled_even_after_the_run() {
    let mut advisor = Advisor::new(Script::new([run(0, 0, 1)]), 1).unwrap();
    let decision = advisor.ask().unwrap().id;
    advisor.tell(decision, 1.0).unwrap();
    let before = advisor.clone();
    assert_eq!(advisor.tell(decision, 1.0), Err(TellError::AlreadySettled { decision }));
    assert_eq!(advisor.forget(decision), Err(TellError::AlreadySettled { decision }));
    assert_eq!(advisor.tell(1, 1.0), Err(TellError::Unknown { decision: 1, made: 1 }));
    assert_eq!(advisor.tell(u64::MAX, 1.0), Err(TellError::Unknown { decision: u64::MAX, made: 1 }));
    assert_eq!(advisor, before);
}

#[test]
fn burn_in_losses_are_accepted_once_and_ignored_also_after_their_run() {
    let mut advisor = Advisor::new(Script::new([run(0, 2, 1)]), 1).unwrap();
    ask(&mut advisor, 3);
    assert_eq!(advisor.tell(0, 1.0), Ok(false));
    assert_eq!(advisor.tell(0, 1.0), Err(TellError::AlreadySettled { decision: 0 }));
    assert_eq!(advisor.tell(2, 0.5), Ok(true));
    assert_eq!(advisor.tell(1, 1.0), Ok(false));
    assert_eq!(advisor.tell(1, 1.0), Err(TellError::AlreadySettled { decision: 1 }));
    assert_eq!(advisor.policy().seen, [(run(0, 2, 1), Feedback::one(0.5))]);
}

#[test]
fn a_run_without_recorded_plays_completes_without_a_loss() {
    let mut advisor = Advisor::new(Script::new([run(0, 2, 0)]), 1).unwrap();
    ask(&mut advisor, 4);
    assert_eq!(advisor.policy().seen, vec![(run(0, 2, 0), Feedback::default()); 2]);
}

#[test]
fn losses_outside_the_range_are_refused_and_change_nothing() {
    let mut advisor = Advisor::new(Script::new([run(0, 1, 1)]), 1).unwrap();
    ask(&mut advisor, 2);
    let before = advisor.clone();
    for loss in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY, -1e-9, 1.0 + 1e-9] {
        for decision in [0, 1] {
            assert!(matches!(advisor.tell(decision, loss), Err(TellError::Loss { .. })), "{loss}");
        }
    }
    assert_eq!(advisor, before);
    let mut any = Advisor::with_range(Script::new([run(0, 0, 1)]), 1, LossRange::unbounded()).unwrap();
    let decision = any.ask().unwrap().id;
    assert!(any.tell(decision, f64::NAN).is_err());
    assert_eq!(any.tell(decision, -7.5), Ok(true));
}

#[test]
fn a_lost_loss_is_replaced_by_one_more_play_of_the_same_run() {
    let mut advisor = Advisor::new(Script::new([run(0, 1, 2), run(1, 1, 2)]), 2).unwrap();
    ask(&mut advisor, 3);
    advisor.forget(0).unwrap(); // a burn-in play: nothing to replace
    advisor.tell(2, 0.25).unwrap();
    advisor.forget(1).unwrap();
    assert_eq!(advisor.ask().map(parts), Ok((3, 0, Phase::Measured)));
    advisor.forget(3).unwrap();
    assert_eq!(advisor.ask().map(parts), Ok((4, 0, Phase::Measured)));
    assert_eq!(advisor.ask(), Err(AskError::Waiting { outstanding: vec![4] }));
    advisor.tell(4, 0.5).unwrap();
    let feedback = Feedback { plays: 2, sum: 0.75, sum_sq: 0.0625 + 0.25 };
    assert_eq!(advisor.policy().seen, [(run(0, 1, 2), feedback)]);
    assert_eq!(advisor.ask().map(parts), Ok((5, 1, Phase::BurnIn)));
}

#[test]
fn invalid_numbers_of_arms_are_errors() {
    assert_eq!(Advisor::new(Script::new([]), 0), Err(AdvisorError::Arms { arms: 0 }));
    assert!(Advisor::new(Script::new([]), usize::MAX).is_err());
    let spec = calibandit::policy::Calibrated::builder(0);
    assert!(matches!(Advisor::builder(spec, 2).build(), Err(AdvisorError::Policy(_))));
}

/// The state without the policy, as in a snapshot.
fn state(advisor: &Advisor<Script>) -> serde_json::Value {
    let json = advisor.to_json().expect("test policies serialise");
    serde_json::from_str::<serde_json::Value>(&json).expect("a snapshot is JSON")["state"].take()
}

#[test]
fn a_run_that_cannot_be_played_is_an_error_and_the_policy_is_asked_again() {
    for bad in [run(3, 0, 1), run(0, 0, 0), run(usize::MAX, 0, u64::MAX)] {
        let mut advisor = Advisor::new(Script::new([run(0, 0, 1), bad, bad, run(1, 0, 1)]), 3).unwrap();
        // The script counts what it is told to know where it is; a refused run is not told.
        advisor.ask().unwrap();
        advisor.tell(0, 0.5).unwrap();
        let before = state(&advisor);
        for _ in 0..2 {
            assert_eq!(advisor.ask(), Err(AskError::BadRun { run: bad, arms: 3 }));
            assert_eq!(state(&advisor), before);
            assert_eq!(advisor.current_run(), None);
        }
        assert_eq!(advisor.ask().map(parts), Ok((1, 1, Phase::Measured)));
    }
}

#[test]
fn a_run_without_an_end_needs_no_losses_and_no_memory() {
    let mut advisor = Advisor::new(Script::new([run(0, 3, u64::MAX)]), 1).unwrap();
    for _ in 0..200_000 {
        let decision = advisor.ask().unwrap();
        // The worst pattern for ranges: every second loss is missing.
        if decision.id.is_multiple_of(2) {
            advisor.tell(decision.id, 0.5).unwrap();
        }
    }
    assert_eq!(advisor.outstanding().count(), 0);
    assert!(advisor.to_json().unwrap().len() < 30_000);
    assert_eq!(advisor.tell(1, 0.5), Err(TellError::AlreadySettled { decision: 1 }), "too long ago");
    assert_eq!(advisor.tell(199_999, 0.5), Ok(false));
    assert_eq!(advisor.forget(199_997), Ok(()));
    assert!(advisor.policy().seen.is_empty());
    assert_eq!(reloaded(&advisor), advisor);
}

#[test]
fn the_oldest_outstanding_loss_stops_a_long_run_before_memory_grows() {
    let mut advisor = Advisor::new(Script::new([run(0, 10, 1 << 40)]), 1).unwrap();
    let limit = 10 + (1 << 20);
    ask(&mut advisor, limit);
    assert!((11..limit).all(|id| advisor.tell(id, 0.0).unwrap()));
    assert_eq!(advisor.ask(), Err(AskError::Waiting { outstanding: vec![10] }));
    advisor.tell(10, 1.0).unwrap();
    assert!(advisor.to_json().unwrap().len() < 1000);
    assert_eq!(advisor.ask().map(|decision| decision.id), Ok(limit));
}

#[test]
fn snapshots_of_other_versions_are_recognised() {
    let found = |text: &str| match Advisor::<Script>::from_json(text) {
        Err(SnapshotError::Version { found, supported: 3 }) => found,
        other => panic!("{other:?}"),
    };
    assert_eq!(found("{}"), None);
    assert_eq!(found("[]"), None);
    assert_eq!(found(r#"{"calibandit_advisor": 4, "news": []}"#).as_deref(), Some("4"));
    assert_eq!(found(r#"{"calibandit_advisor": "1"}"#).as_deref(), Some("\"1\""));
    for text in ["", "nonsense", r#"{"calibandit_advisor": 1}"#] {
        assert!(matches!(Advisor::<Script>::from_json(text), Err(SnapshotError::Json(_))), "{text}");
    }
}

#[test]
fn a_snapshot_between_plays_changes_nothing() {
    let play = |advisor: &mut Advisor<Fickle>, plays: u64| -> Vec<Decision> {
        let one = |_| {
            let decision = advisor.ask().unwrap();
            advisor.tell(decision.id, (decision.id as f64 * 0.377).fract()).unwrap();
            decision
        };
        (0..plays).map(one).collect()
    };
    for seed in 0..50 {
        let mut through = Advisor::new(fickle(seed), 3).unwrap();
        let mut paused = through.clone();
        let whole = play(&mut through, 50);
        let mut halves = play(&mut paused, 25);
        let mut paused = reloaded(&paused);
        halves.extend(play(&mut paused, 25));
        assert_eq!((halves, &paused), (whole, &through));
    }
}

/// The stepwise engine and an advisor on the same simulated game make the same choices, to the last bit.
#[test]
fn an_advisor_on_a_simulated_game_plays_as_the_stepwise_engine() {
    let curves = [LossCurve::by_plays([0.9, 0.6, 0.2]), LossCurve::constant(0.4), LossCurve::linear(0.8, -0.1)];
    for noise in [Noise::Bernoulli, Noise::Normal { sd: 0.3 }, Noise::Beta { concentration: 2.0 }, Noise::None] {
        let arm = |curve: &LossCurve| Arm::new(Weights::unit(3).unwrap(), curve.clone(), noise).unwrap();
        let game = Game::new(curves.iter().map(arm).collect()).unwrap();
        for (seed, horizon) in (0..20).map(|seed| (seed, 500 + seed)) {
            let drawn = StreamKey::new(seed, "advisor", 0).noise();
            let mut policy = fickle(seed);
            let (mut noise_of_simulator, mut noise_of_advisor) = (drawn.clone(), drawn);
            let trajectory =
                simulate(&game, &mut policy, &Grid::end(horizon).unwrap(), Engine::Stepwise, &mut noise_of_simulator)
                    .unwrap();

            let mut advisor = Advisor::with_range(fickle(seed), 3, LossRange::unbounded()).unwrap();
            let mut window = game.empty_window();
            for _ in 0..horizon {
                let decision = advisor.ask().unwrap();
                let expected = game.play(decision.arm, &mut window);
                let observed = game.arms()[decision.arm].noise().draw(expected, &mut noise_of_advisor);
                advisor.tell(decision.id, observed).unwrap();
            }
            assert_eq!(advisor.plays(), trajectory.plays);
            assert_eq!(advisor.switches(), trajectory.last().switches);
            assert_eq!(*advisor.policy(), policy);
            assert_eq!(noise_of_advisor, noise_of_simulator);
        }
    }
}
