//! Every policy of the library, used by an advisor.

use calibandit::catalogue::CatalogueEntry;
use calibandit::rng::StreamKey;
use calibandit::{
    Advisor, AnyPolicy, AskError, Decision, Engine, GameSpec, Grid, LossRange, PolicySpec, Problem, Stream, simulate,
};

use crate::reloaded;

/// Every kind of policy, with default parameters and memory bound 2.
fn every_policy(problem: &Problem, seed: u64) -> Vec<(&'static str, AnyPolicy)> {
    let build = |kind: &'static CatalogueEntry<PolicySpec>| {
        let own: Stream = StreamKey::new(seed, "advisor", 0).policy();
        (kind.name, kind.example.build(problem, own).expect("a valid policy"))
    };
    PolicySpec::catalogue().iter().map(build).collect()
}

/// Plays, telling losses as late as possible and the newest first.
fn play(advisor: &mut Advisor<AnyPolicy>, plays: usize) -> Vec<Decision> {
    let mut made = Vec::new();
    while made.len() < plays {
        match advisor.ask() {
            Ok(decision) => made.push(decision),
            Err(AskError::Waiting { outstanding }) => {
                for &id in outstanding.iter().rev() {
                    advisor.tell(id, (id as f64 * 0.377).fract()).expect("it is outstanding");
                }
            }
            Err(other) => panic!("{other}"),
        }
    }
    made
}

#[test]
fn forty_snapshots_within_a_thousand_plays_change_nothing() {
    let problem = Problem { arms: 3, horizon: Some(1000) };
    for (name, policy) in every_policy(&problem, 7) {
        let mut through = Advisor::new(policy, 3).unwrap();
        let mut paused = through.clone();
        let whole = play(&mut through, 1000);
        let mut parts = Vec::new();
        for _ in 0..40 {
            parts.extend(play(&mut paused, 25));
            paused = reloaded(&paused);
        }
        assert_eq!(parts, whole, "{name}");
        assert_eq!(paused, through, "{name}");
        assert_eq!(paused.certificate(), through.certificate(), "{name}");
    }
}

#[test]
fn every_policy_chooses_as_under_the_stepwise_engine() {
    for game in
        [r#"{"kind": "step", "arms": 4, "memory": 2}"#, r#"{"kind": "step", "feedback": {"normal": {"sd": 0.5}}}"#]
    {
        let spec: GameSpec = serde_json::from_str(game).unwrap();
        let game = spec.draw(&mut StreamKey::new(3, "advisor", 0).game()).unwrap();
        let horizon = 3000;
        let problem = game.problem(horizon);
        for ((name, mut simulated), (_, live)) in every_policy(&problem, 3).into_iter().zip(every_policy(&problem, 3)) {
            let drawn = StreamKey::new(3, "advisor", 0).noise();
            let grid = Grid::end(horizon).unwrap();
            let trajectory = simulate(&game, &mut simulated, &grid, Engine::Stepwise, &mut drawn.clone()).unwrap();

            let (mut noise, mut window) = (drawn, game.empty_window());
            let mut advisor = Advisor::with_range(live, problem.arms, LossRange::unbounded()).unwrap();
            for _ in 0..horizon {
                let decision = advisor.ask().unwrap();
                let expected = game.play(decision.arm, &mut window);
                let observed = game.arms()[decision.arm].noise().draw(expected, &mut noise);
                advisor.tell(decision.id, observed).unwrap();
            }
            assert_eq!(advisor.plays(), trajectory.plays, "{name}");
            assert_eq!(advisor.switches(), trajectory.last().switches, "{name}");
            assert_eq!(*advisor.policy(), simulated, "{name}");
        }
    }
}
