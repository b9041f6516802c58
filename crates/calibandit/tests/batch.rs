//! A batch gives the same bits as its items one by one, whatever the other items are.

#![allow(clippy::unwrap_used)] // a test may panic

use calibandit::rng::StreamKey;
use calibandit::{
    AnyPolicy, Arm, BatchItem, Engine, Game, GameSpec, Grid, LossCurve, Noise, PolicySpec, Stream, Weights, simulate,
    simulate_batch,
};
use serde_json::json;

fn streams(name: &str, instance: usize) -> (Stream, Stream) {
    let key = StreamKey::new(11, name, instance as u64);
    (key.policy(), key.noise())
}

fn policy(spec: &serde_json::Value, game: &Game, horizon: u64, own: Stream) -> AnyPolicy {
    let spec: PolicySpec = serde_json::from_value(spec.clone()).unwrap();
    spec.build(&game.problem(horizon), own).unwrap()
}

/// Compares trajectories, final states of the policies, and final states of the streams.
fn assert_same(name: &str, instances: &[(Game, serde_json::Value)], horizon: u64) {
    let grid = Grid::linear(horizon, 7).unwrap();
    let fresh = |instance: usize| {
        let (own, noise) = streams(name, instance);
        (policy(&instances[instance].1, &instances[instance].0, horizon, own), noise)
    };
    let mut batch: Vec<_> = (0..instances.len()).map(fresh).collect();
    let mut items: Vec<_> = instances
        .iter()
        .zip(&mut batch)
        .map(|((game, _), (policy, noise))| BatchItem { game, policy, noise })
        .collect();
    let trajectories = simulate_batch(&mut items, &grid);
    for (instance, trajectory) in trajectories.into_iter().enumerate() {
        let (mut policy, mut noise) = fresh(instance);
        let alone = simulate(&instances[instance].0, &mut policy, &grid, Engine::Leaping, &mut noise).unwrap();
        assert_eq!(trajectory.unwrap(), alone, "{name}, instance {instance}");
        assert!((policy, noise) == batch[instance], "{name}, instance {instance}: policies or streams differ");
    }
}

fn step(arms: usize, memory: usize, instance: usize) -> Game {
    let game = json!({"kind": "step", "arms": arms, "memory": memory, "usual_loss": 0.5, "best_loss": 0.1});
    let game: GameSpec = serde_json::from_value(game).unwrap();
    game.draw(&mut StreamKey::new(3, "game", instance as u64).game()).unwrap()
}

#[test]
fn any_number_of_instances() {
    for number in [1, 2, 4, 5, 8, 9, 12, 13, 20] {
        let instances: Vec<_> = (0..number).map(|i| (step(5, 3, i), json!({"kind": "exp3"}))).collect();
        assert_same(&format!("{number} instances"), &instances, 3000);
    }
}

/// Runs of any length, also longer than the horizon and cut by it, and any kind of feedback.
#[test]
fn any_batch_and_any_feedback() {
    let noises = [Noise::Bernoulli, Noise::None, Noise::Normal { sd: 0.2 }, Noise::Beta { concentration: 3.0 }];
    for noise in noises {
        for (arms, memory) in [(1, 1), (2, 6), (5, 3), (20, 10), (3, 14), (4, 100)] {
            let game = |i: usize| {
                let arm = |x: usize| {
                    let loss = 0.2 + 0.1 * ((x + i) % 5) as f64;
                    let curve = LossCurve::constant(0.7).when_calibrated(loss);
                    Arm::new(Weights::unit(memory).unwrap(), curve, noise).unwrap()
                };
                Game::new((0..arms).map(arm).collect()).unwrap()
            };
            for batch in [1, 2, 26, 700, 5000] {
                let spec = |i| match batch {
                    1 => json!({"kind": "exp3", "gamma": 0.02 * (i + 1) as f64}),
                    _ => json!({"kind": "batched-exp3", "batch": batch}),
                };
                let instances: Vec<_> = (0..11).map(|i| (game(i), spec(i))).collect();
                assert_same(&format!("{noise:?}, {arms} arms, memory {memory}, batch {batch}"), &instances, 1500);
            }
        }
    }
}

#[test]
fn any_number_of_arms_and_any_memory() {
    // Small windows are packed into one number, others are kept by arm; beyond 32 arms items are simulated one by one.
    for (arms, memory) in [(1, 1), (2, 6), (7, 4), (8, 3), (20, 2), (20, 10), (32, 64), (33, 3), (200, 2)] {
        let instances: Vec<_> = (0..9).map(|i| (step(arms, memory, i), json!({"kind": "exp3"}))).collect();
        assert_same(&format!("{arms} arms, memory {memory}"), &instances, 2000);
    }
}

#[test]
fn any_rate() {
    // Large rates make logarithms grow fast, so that the weights are rebased; with 1 all draws are uniform.
    for gamma in [1e-9, 1e-3, 0.3, 0.999, 1.0] {
        let instances: Vec<_> = (0..6).map(|i| (step(2, 2, i), json!({"kind": "exp3", "gamma": gamma}))).collect();
        assert_same(&format!("gamma {gamma}"), &instances, 20_000);
    }
}

/// One batch with different games, rates, kinds of noise and policies.
#[test]
fn mixed_games_and_policies() {
    let arm = |weights: &[f64], curve, noise| Arm::new(Weights::new(weights.to_vec()).unwrap(), curve, noise).unwrap();
    let linear = || LossCurve::linear(0.9, -0.2);
    let weighted = |noise| {
        Game::new(vec![
            arm(&[1.0, 0.5, 0.25, 0.2], linear(), noise),
            arm(&[0.8, 0.3], LossCurve::by_plays([0.7, 0.2]), noise),
            arm(&[1.0; 40], LossCurve::exponential_linear(0.3, 0.8, 0.0), noise),
        ])
    };
    let fading = |memory: u32| (1..=memory).map(|age| 1.0 / f64::from(age)).collect::<Vec<f64>>();
    let without_levels = Game::new(vec![arm(&fading(20), linear(), Noise::Bernoulli); 3]).unwrap();
    let long_window = Game::new(vec![arm(&fading(14), linear(), Noise::Bernoulli); 2]).unwrap();
    let exp3 = json!({"kind": "exp3"});
    let instances = vec![
        (weighted(Noise::Bernoulli).unwrap(), exp3.clone()),
        (step(3, 3, 0), exp3.clone()),
        (weighted(Noise::Normal { sd: 0.3 }).unwrap(), exp3.clone()),
        (weighted(Noise::Bernoulli).unwrap(), json!({"kind": "exp3", "gamma": 0.2})),
        (without_levels, exp3.clone()),
        (long_window.clone(), exp3.clone()),
        (long_window.clone(), json!({"kind": "batched-exp3"})),
        (long_window.clone(), json!({"kind": "batched-exp3", "batch": 7})),
        (long_window, exp3.clone()),
        (step(5, 3, 1), exp3.clone()),
        (step(5, 3, 2), json!({"kind": "batched-exp3"})),
        (step(5, 3, 3), exp3.clone()),
        (step(5, 3, 4), json!({"kind": "epoch-ucb", "memory_bound": 3})),
        (step(3, 2, 5), exp3),
    ];
    assert_same("mixed", &instances, 5000);
}

/// A policy that has played before continues in a batch as it does alone.
#[test]
fn policies_continue() {
    let games: Vec<_> = (0..3).map(|i| step(4, 2, i)).collect();
    let horizon = 1000;
    let mut alone: Vec<_> = (0..3).map(|i| streams("on", i)).collect();
    let mut policies: Vec<_> =
        alone.iter().zip(&games).map(|(s, g)| policy(&json!({"kind": "exp3"}), g, horizon, s.0.clone())).collect();
    for ((game, policy), (_, noise)) in games.iter().zip(&mut policies).zip(&mut alone) {
        simulate(game, policy, &Grid::end(horizon).unwrap(), Engine::Leaping, noise).unwrap();
    }
    let mut copies = policies.clone();
    let mut noises: Vec<_> = alone.iter().map(|(_, noise)| noise.clone()).collect();
    let mut items: Vec<_> = games
        .iter()
        .zip(&mut copies)
        .zip(&mut noises)
        .map(|((game, policy), noise)| BatchItem { game, policy, noise })
        .collect();
    let batch = simulate_batch(&mut items, &Grid::end(horizon).unwrap());
    for (((game, policy), (_, noise)), batch) in games.iter().zip(&mut policies).zip(&mut alone).zip(batch) {
        assert_eq!(simulate(game, policy, &Grid::end(horizon).unwrap(), Engine::Leaping, noise), batch);
    }
    assert_eq!(policies, copies);
}
