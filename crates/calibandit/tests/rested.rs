//! Rested games: both engines have the same law, and leaping is exact where the curve is flat.
//!
//! Fixed seeds: each test either always passes or always fails. 60 comparisons are made at a level of 1e-5.

#![allow(clippy::unwrap_used)] // a test may panic

mod common;

use calibandit::rng::StreamKey;
use calibandit::{
    Arm, BatchItem, Engine, Exposure, Feedback, Formula, Game, Grid, LossCurve, Noise, Policy, PolicySpec, PowerCurve,
    Ramp, Run, Weights, cpr, simulate, simulate_batch,
};
use common::kolmogorov_smirnov;
use serde_json::json;

const LEVEL: f64 = 1e-5;
const INSTANCES: u64 = 1000;
const HORIZON: u64 = 400;

fn game(noise: Noise) -> Game {
    let arm = |curve| Arm::new(Weights::all(), curve, noise).unwrap();
    Game::new(vec![
        arm(LossCurve::steps([(1, 0.2), (30, 0.6), (90, 0.4)])),
        arm(LossCurve::formula(Formula::Ramp(Ramp { start: 0.9, end: 0.3, plays: 60.0, exponent: 1.0, first: 0 }))),
        arm(LossCurve::formula(Formula::Power(PowerCurve { limit: 0.9, scale: -0.7, exponent: 0.4, every: 5 }))),
        // Beside rested arms, an arm with a constant loss may have any memory.
        Arm::new(Weights::unit(3).unwrap(), LossCurve::constant(0.5), noise).unwrap(),
    ])
    .unwrap()
}

fn policies() -> Vec<PolicySpec> {
    let policies = json!([
        {"kind": "ucb1"},
        {"kind": "exp3"},
        {"kind": "batched-exp3", "batch": 7},
        {"kind": "successive-elimination", "memory_bound": 5, "radius": 0.05},
        {"kind": "explore-then-commit", "memory_bound": 4, "explore": 20},
    ]);
    serde_json::from_value(policies).unwrap()
}

/// The compared numbers: final excess, and plays of the first two arms.
fn sample(spec: &PolicySpec, noise: Noise, engine: Engine) -> [Vec<f64>; 3] {
    let game = game(noise);
    let name = format!("{engine:?}");
    let mut columns = [const { Vec::new() }; 3];
    for instance in 0..INSTANCES {
        let key = StreamKey::new(16, &name, instance);
        let mut policy = spec.build(&game.problem(HORIZON), key.policy()).unwrap();
        let played = simulate(&game, &mut policy, &Grid::end(HORIZON).unwrap(), engine, &mut key.noise()).unwrap();
        // The engines add up in different orders: rounding must not tell equal sums apart.
        let excess = (played.last().excess * 1e9).round();
        let values = [excess, played.plays[0] as f64, played.plays[1] as f64];
        columns.iter_mut().zip(values).for_each(|(column, value)| column.push(value));
    }
    columns
}

#[test]
fn both_engines_have_the_same_law_on_rested_games() {
    for noise in [Noise::Bernoulli, Noise::Normal { sd: 0.2 }, Noise::Beta { concentration: 4.0 }, Noise::None] {
        for spec in policies() {
            let (leaping, stepwise) = (sample(&spec, noise, Engine::Leaping), sample(&spec, noise, Engine::Stepwise));
            for (column, (a, b)) in leaping.into_iter().zip(stepwise).enumerate() {
                let p = kolmogorov_smirnov(&a, &b);
                assert!(p > LEVEL, "{} with {noise:?}, column {column}: p = {p}", spec.kind());
            }
        }
    }
}

/// Plays given runs, whatever their feedback.
struct Script(Vec<Run>, usize, Vec<Feedback>);

impl Policy for Script {
    fn next_run(&mut self) -> Run {
        self.1 += 1;
        self.0[(self.1 - 1) % self.0.len()]
    }
    fn observe(&mut self, _: Run, feedback: Feedback) {
        self.2.push(feedback);
    }
    fn recommend(&self) -> usize {
        0
    }
}

fn script() -> Script {
    let runs = [(0, 0, 1), (1, 7, 20), (2, 0, 12), (0, 25, 10), (3, 2, 2), (1, 0, 100), (0, 0, 1), (0, 0, 1)];
    Script(runs.map(|(arm, burn_in, record)| Run { arm, burn_in, record }).to_vec(), 0, Vec::new())
}

#[test]
fn without_noise_both_engines_give_the_same_losses_at_every_checkpoint() {
    let game = game(Noise::None);
    let grid = Grid::linear(2000, 500).unwrap();
    let mut stream = StreamKey::new(1, "none", 0).noise();
    let (mut one, mut other) = (script(), script());
    let leaping = simulate(&game, &mut one, &grid, Engine::Leaping, &mut stream).unwrap();
    let stepwise = simulate(&game, &mut other, &grid, Engine::Stepwise, &mut stream).unwrap();
    assert_eq!((&leaping.plays, leaping.runs), (&stepwise.plays, stepwise.runs));
    for (a, b) in leaping.checkpoints.iter().zip(&stepwise.checkpoints) {
        assert_eq!((a.t, a.switches), (b.t, b.switches));
        assert!((a.excess - b.excess).abs() < 1e-11, "{a:?} {b:?}");
    }
    for (a, b) in one.2.iter().zip(&other.2) {
        assert!(a.plays == b.plays && (a.sum - b.sum).abs() < 1e-11 && (a.sum_sq - b.sum_sq).abs() < 1e-11);
    }
    assert!(cpr(&game, &leaping.checkpoints).unwrap().iter().all(|regret| *regret > -1e-9));
}

/// By hand: the losses of a run of a billion plays over three steps.
#[test]
fn a_run_leaps_from_step_to_step() {
    let arm = Arm::new(Weights::all(), LossCurve::steps([(1, 0.25), (11, 0.5), (1001, 0.75)]), Noise::None).unwrap();
    let game = Game::new(vec![arm]).unwrap();
    let mut policy = Script(vec![Run { arm: 0, burn_in: 5, record: 999_999_995 }], 0, Vec::new());
    let grid = Grid::at(1_000_000_000, [10, 12, 2000]).unwrap();
    let mut stream = StreamKey::new(1, "leap", 0).noise();
    let played = simulate(&game, &mut policy, &grid, Engine::Leaping, &mut stream).unwrap();
    let losses: Vec<f64> = played.checkpoints.iter().map(|at| at.loss).collect();
    assert_eq!(losses, [2.5, 3.5, 2.5 + 990.0 * 0.5 + 750.0, 2.5 + 990.0 * 0.5 + 999_999_000.0 * 0.75]);
    assert_eq!(policy.2[0].sum, 1.25 + 495.0 + 999_999_000.0 * 0.75);
}

/// Repetition is an optimisation: a policy that is told losses one by one plays the same.
#[test]
fn repeated_runs_are_those_that_are_told_one_by_one() {
    /// Hides that a policy can take several losses at once.
    struct OneByOne<P>(P);
    impl<P: Policy> Policy for OneByOne<P> {
        fn next_run(&mut self) -> Run {
            self.0.next_run()
        }
        fn observe(&mut self, run: Run, feedback: Feedback) {
            self.0.observe(run, feedback);
        }
        fn recommend(&self) -> usize {
            self.0.recommend()
        }
    }
    let ucb1: PolicySpec = serde_json::from_value(json!({"kind": "ucb1"})).unwrap();
    for noise in [Noise::Bernoulli, Noise::Normal { sd: 0.1 }] {
        let game = game(noise);
        let grid = Grid::linear(20_000, 7).unwrap();
        let key = StreamKey::new(1, "repeat", 0);
        let build = || ucb1.build(&game.problem(20_000), key.policy()).unwrap();
        let repeated = simulate(&game, &mut build(), &grid, Engine::Leaping, &mut key.noise()).unwrap();
        let singly = simulate(&game, &mut OneByOne(build()), &grid, Engine::Leaping, &mut key.noise()).unwrap();
        assert_eq!(repeated.plays, singly.plays);
        for (a, b) in repeated.checkpoints.iter().zip(&singly.checkpoints) {
            assert!((a.excess - b.excess).abs() < 1e-9);
        }
    }
}

/// The lanes of a batch have windows only: rested games are simulated one by one.
#[test]
fn batches_of_rested_games_are_those_of_single_simulations() {
    let exp3: PolicySpec = serde_json::from_value(json!({"kind": "exp3"})).unwrap();
    let game = game(Noise::Bernoulli);
    let grid = Grid::linear(1000, 3).unwrap();
    let key = |instance| StreamKey::new(1, "batch", instance);
    let build = |instance| exp3.build(&game.problem(1000), key(instance).policy()).unwrap();
    let mut policies: Vec<_> = (0..5).map(build).collect();
    let mut noises: Vec<_> = (0..5).map(|instance| key(instance).noise()).collect();
    let items = policies.iter_mut().zip(&mut noises).map(|(policy, noise)| BatchItem { game: &game, policy, noise });
    for (instance, played) in simulate_batch(&mut items.collect::<Vec<_>>(), &grid).into_iter().enumerate() {
        let instance = instance as u64;
        let alone = simulate(&game, &mut build(instance), &grid, Engine::Leaping, &mut key(instance).noise());
        assert_eq!(played, alone);
    }
}

#[test]
fn games_of_rested_and_windowed_arms_are_refused() {
    let rested = Arm::new(Weights::all(), LossCurve::table([0.5, 0.4]), Noise::None).unwrap();
    let windowed = Arm::new(Weights::unit(2).unwrap(), LossCurve::by_plays([0.5, 0.4]), Noise::None).unwrap();
    let message = Game::new(vec![windowed, rested.clone()]).unwrap_err().to_string();
    assert!(message.contains("arm 1 is rested") && message.contains("arm 0 has memory 2"), "{message}");
    let game = Game::new(vec![rested]).unwrap();
    assert!(game.is_rested() && game.memory() == usize::MAX && game.window_length() == 1);
    assert_eq!(game.arms()[0].loss(Exposure::rested(7)), 0.4);
}
