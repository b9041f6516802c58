//! Instances played side by side give the same bits as played one by one, whoever sits in the neighbouring lanes.

#![allow(clippy::unwrap_used)] // a test may panic

use calibandit::rng::StreamKey;
use calibandit::{
    AnyPolicy, Arm, Engine, Game, GameSpec, Grid, LossCurve, Noise, PolicySpec, Seat, Stream, Weights, simulate,
    simulate_together,
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

/// Trajectories, what the policies know in the end, and where their streams are.
fn assert_same(name: &str, seats: &[(Game, serde_json::Value)], horizon: u64) {
    let grid = Grid::linear(horizon, 7);
    let fresh = |instance: usize| {
        let (own, noise) = streams(name, instance);
        (policy(&seats[instance].1, &seats[instance].0, horizon, own), noise)
    };
    let mut together: Vec<_> = (0..seats.len()).map(fresh).collect();
    let mut at_table: Vec<_> =
        seats.iter().zip(&mut together).map(|((game, _), (policy, noise))| Seat { game, policy, noise }).collect();
    let trajectories = simulate_together(&mut at_table, &grid);
    for (instance, trajectory) in trajectories.into_iter().enumerate() {
        let (mut policy, mut noise) = fresh(instance);
        let alone = simulate(&seats[instance].0, &mut policy, &grid, Engine::Leaping, &mut noise).unwrap();
        assert_eq!(trajectory.unwrap(), alone, "{name}, instance {instance}");
        assert!((policy, noise) == together[instance], "{name}, instance {instance}: policies or streams differ");
    }
}

fn step(arms: usize, memory: usize, instance: usize) -> Game {
    let game = json!({"kind": "step", "arms": arms, "memory": memory, "usual_loss": 0.5, "best_loss": 0.1});
    let game: GameSpec = serde_json::from_value(game).unwrap();
    game.draw(&mut StreamKey::new(3, "game", instance as u64).game()).unwrap()
}

#[test]
fn any_number_of_instances() {
    for instances in [1, 2, 4, 5, 8, 9, 12, 13, 20] {
        let seats: Vec<_> = (0..instances).map(|i| (step(5, 3, i), json!({"kind": "exp3"}))).collect();
        assert_same(&format!("{instances} instances"), &seats, 3000);
    }
}

/// Batches of any length, also longer than the game and cut by its end, and any kind of feedback.
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
                let seats: Vec<_> = (0..11).map(|i| (game(i), spec(i))).collect();
                assert_same(&format!("{noise:?}, {arms} arms, memory {memory}, batch {batch}"), &seats, 1500);
            }
        }
    }
}

#[test]
fn any_number_of_arms_and_any_memory() {
    // Small windows are packed into one number, others kept by arm; beyond 32 arms there are no lanes.
    for (arms, memory) in [(1, 1), (2, 6), (7, 4), (8, 3), (20, 2), (20, 10), (32, 64), (33, 3), (200, 2)] {
        let seats: Vec<_> = (0..9).map(|i| (step(arms, memory, i), json!({"kind": "exp3"}))).collect();
        assert_same(&format!("{arms} arms, memory {memory}"), &seats, 2000);
    }
}

#[test]
fn any_rate() {
    // Large rates make logarithms grow fast, so that the reference is moved; 1 leaves nothing but even draws.
    for gamma in [1e-9, 1e-3, 0.3, 0.999, 1.0] {
        let seats: Vec<_> = (0..6).map(|i| (step(2, 2, i), json!({"kind": "exp3", "gamma": gamma}))).collect();
        assert_same(&format!("gamma {gamma}"), &seats, 20_000);
    }
}

/// Neighbours with other games, other rates, other kinds of noise and other policies.
#[test]
fn any_company() {
    let arm = |weights: &[f64], curve, noise| Arm::new(Weights::new(weights.to_vec()).unwrap(), curve, noise).unwrap();
    let linear = || LossCurve::linear(0.9, -0.2);
    let weighted = |noise| {
        Game::new(vec![
            arm(&[1.0, 0.5, 0.25, 0.2], linear(), noise),
            arm(&[0.8, 0.3], LossCurve::by_plays([0.7, 0.2]), noise),
            arm(&[1.0; 40], LossCurve::lap(0.3, 0.8, 0.0), noise),
        ])
    };
    let fading = |memory: u32| (1..=memory).map(|age| 1.0 / f64::from(age)).collect::<Vec<f64>>();
    let without_levels = Game::new(vec![arm(&fading(20), linear(), Noise::Bernoulli); 3]).unwrap();
    let long_window = Game::new(vec![arm(&fading(14), linear(), Noise::Bernoulli); 2]).unwrap();
    let exp3 = json!({"kind": "exp3"});
    let seats = vec![
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
    assert_same("company", &seats, 5000);
}

/// A policy that has played before goes on in a lane as it would alone.
#[test]
fn going_on_with_a_policy() {
    let games: Vec<_> = (0..3).map(|i| step(4, 2, i)).collect();
    let horizon = 1000;
    let mut alone: Vec<_> = (0..3).map(|i| streams("on", i)).collect();
    let mut policies: Vec<_> =
        alone.iter().zip(&games).map(|(s, g)| policy(&json!({"kind": "exp3"}), g, horizon, s.0.clone())).collect();
    for ((game, policy), (_, noise)) in games.iter().zip(&mut policies).zip(&mut alone) {
        simulate(game, policy, &Grid::end(horizon), Engine::Leaping, noise).unwrap();
    }
    let mut copies = policies.clone();
    let mut noises: Vec<_> = alone.iter().map(|(_, noise)| noise.clone()).collect();
    let mut seats: Vec<_> = games
        .iter()
        .zip(&mut copies)
        .zip(&mut noises)
        .map(|((game, policy), noise)| Seat { game, policy, noise })
        .collect();
    let together = simulate_together(&mut seats, &Grid::end(horizon));
    for (((game, policy), (_, noise)), together) in games.iter().zip(&mut policies).zip(&mut alone).zip(together) {
        assert_eq!(simulate(game, policy, &Grid::end(horizon), Engine::Leaping, noise), together);
    }
    assert_eq!(policies, copies);
}

#[test]
fn a_horizon_of_zero_is_an_error_for_every_seat() {
    let game = step(2, 2, 0);
    let mut policy = policy(&json!({"kind": "exp3"}), &game, 10, streams("zero", 0).0);
    let mut noise = streams("zero", 0).1;
    let played = simulate_together(&mut [Seat { game: &game, policy: &mut policy, noise: &mut noise }], &Grid::end(0));
    assert!(matches!(played.as_slice(), [Err(_)]));
}
