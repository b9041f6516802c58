//! `Simulation` gives the numbers of `simulate` and `cpr` on the streams of its name and seed.

#![allow(clippy::unwrap_used)] // a test may panic

use calibandit::policy::{Calibrated, Exp3, Thompson};
use calibandit::{
    Arm, Engine, Feedback, Game, GameSpec, Grid, GridError, LossCurve, Noise, Policy, PolicySpec, Run, Simulation,
    SimulationError, StreamKey, Weights, cpr, simulate,
};

fn game() -> Game {
    let arm = |losses: [f64; 3]| Arm::new(Weights::unit(3).unwrap(), LossCurve::by_plays(losses), Noise::Bernoulli);
    Game::new(vec![arm([0.5, 0.5, 0.5]).unwrap(), arm([0.9, 0.5, 0.2]).unwrap()]).unwrap()
}

/// The best arm is drawn per instance.
fn drawn_game() -> GameSpec {
    serde_json::from_str(r#"{"kind": "step", "arms": 5, "memory": 3}"#).unwrap()
}

#[test]
fn numbers_are_those_of_single_simulations_on_the_same_streams() {
    let (horizon, spec) = (3000, drawn_game());
    for engine in [Engine::Leaping, Engine::Stepwise] {
        let outcome = Simulation::new(spec.clone())
            .policy(Calibrated::builder(3))
            .policy(Exp3::builder())
            .name("same")
            .seed(5)
            .horizon(horizon)
            .instances(11)
            .engine(engine)
            .checkpoints(4)
            .run()
            .unwrap();
        assert_eq!(outcome.times(), [750, 1500, 2250, 3000]);
        let grid = Grid::linear(horizon, 4).unwrap();
        for (policy, given) in
            outcome.policies().iter().zip([PolicySpec::from(Calibrated::builder(3)), PolicySpec::from(Exp3::builder())])
        {
            for instance in 0..11 {
                let key = StreamKey::new(5, "same", instance as u64);
                let game = spec.draw(&mut key.game()).unwrap();
                let mut alone = given.build(&game.problem(horizon), key.policy()).unwrap();
                let played = simulate(&game, &mut alone, &grid, engine, &mut key.noise()).unwrap();
                assert_eq!(policy.curves()[instance], cpr(&game, &played.checkpoints).unwrap());
                assert_eq!(policy.trajectories()[instance], played);
            }
        }
    }
}

#[test]
fn own_policies_and_specs_give_the_same_numbers() {
    let outcome = Simulation::new(game())
        .policy(Calibrated::builder(3))
        .policy_with("own", |problem, stream| PolicySpec::from(Calibrated::builder(3)).build(problem, stream).unwrap())
        .horizon(5000)
        .instances(9)
        .run()
        .unwrap();
    let [spec, own] = outcome.policies() else { panic!("two policies") };
    assert_eq!(spec.trajectories(), own.trajectories());
    assert_eq!(outcome.get("own"), Some(own));
    assert_eq!(outcome.get("nobody"), None);
}

#[test]
fn summaries_are_means_over_instances() {
    let outcome = Simulation::new(game()).policy(Thompson::builder()).horizon(500).instances(4).run().unwrap();
    let policy = &outcome.policies()[0];
    let regrets: Vec<f64> = policy.regrets().collect();
    let mean = regrets.iter().sum::<f64>() / 4.0;
    let variance = regrets.iter().map(|regret| (regret - mean).powi(2)).sum::<f64>() / 3.0;
    assert_eq!(policy.regret(), mean);
    assert!((policy.standard_error() - (variance / 4.0).sqrt()).abs() < 1e-12);
    assert_eq!(policy.mean_curve(), [mean]);
    assert!((policy.arm_plays().iter().sum::<f64>() - 500.0).abs() < 1e-9);
    let switches: u64 = policy.trajectories().iter().map(|played| played.last().switches).sum();
    assert_eq!(policy.switches(), switches as f64 / 4.0);
    let table = outcome.to_string();
    assert!(table.starts_with("policy") && table.contains(policy.label()), "{table}");
}

#[test]
fn labels_of_equal_policies_are_numbered() {
    let twice = Simulation::new(game()).policy(Thompson::builder()).policy(Thompson::builder());
    let outcome = twice.horizon(10).instances(1).run().unwrap();
    let labels: Vec<&str> = outcome.policies().iter().map(|policy| policy.label()).collect();
    assert_eq!(labels[1], format!("{} #2", labels[0]));
}

#[test]
fn mistakes_are_errors() {
    let simulation = || Simulation::new(game()).policy(Thompson::builder()).horizon(10);
    assert_eq!(Simulation::new(game()).run().unwrap_err(), SimulationError::NoPolicies);
    assert_eq!(simulation().instances(0).run().unwrap_err(), SimulationError::NoInstances);
    assert_eq!(simulation().horizon(0).run().unwrap_err(), SimulationError::Grid(GridError::NoHorizon));
    let same = Simulation::new(game()).policy_as("a", Thompson::builder()).policy_as("a", Exp3::builder());
    assert_eq!(same.run().unwrap_err(), SimulationError::SameLabel { label: "a".into() });
    let bad = simulation().policy_as("bad", Calibrated::builder(0)).run().unwrap_err();
    assert!(matches!(bad, SimulationError::Policy { ref label, .. } if label == "bad"), "{bad}");

    struct Wrong;
    impl Policy for Wrong {
        fn next_run(&mut self) -> Run {
            Run { arm: 7, burn_in: 0, record: 1 }
        }
        fn observe(&mut self, _: Run, _: Feedback) {}
        fn recommend(&self) -> usize {
            0
        }
    }
    let wrong = simulation().policy_with("wrong", |_, _| Wrong).run().unwrap_err();
    assert!(matches!(wrong, SimulationError::Simulate { instance: 0, .. }), "{wrong}");
}
