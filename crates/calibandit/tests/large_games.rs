//! Games with long memories: what can be solved takes little memory, and what cannot is refused before it is tried.
//!
//! Each of these needs tens of gigabytes if something grows with the square of the memory or with 2 to its power.

#![allow(clippy::unwrap_used)] // a test may panic

use calibandit::zoo::{AdaptivityB, RandomReo, Span, Step};
use calibandit::{
    Arm, Engine, Game, Grid, Limits, LossCurve, Noise, Optima, OptimumError, PolicySpec, StreamKey, Weights, optimum,
    reo, simulate,
};
use serde_json::json;

fn stream() -> calibandit::Stream {
    StreamKey::new(5, "large", 0).game()
}

#[test]
fn a_step_game_with_memory_100_000_is_solved_and_simulated() {
    let memory = 100_000;
    let game = Step { memory, ..Step::default() }.draw(&mut stream()).unwrap();
    let found = reo(&game).unwrap();
    assert_eq!((found.alpha, found.arm, found.window.len()), (0.0, game.best_arm(), memory));
    let mut optima = Optima::new(&game);
    assert!(optima.memory_estimate(1_000_000) < 100_000_000 && game.memory_estimate() < 100_000_000);
    let best = optima.at(1_000_000).unwrap();
    // One arm throughout: m - 1 plays at 0.5 and the others at 0.35.
    assert!((best.excess - 0.15 * (memory - 1) as f64).abs() < 1e-9, "{}", best.excess);
    assert_eq!((best.sequence.len(), best.sequence.cycle.len()), (1_000_000, 1));
    assert!(best.sequence.iter().all(|arm| arm == game.best_arm()));
    let policy: PolicySpec = serde_json::from_value(json!({"kind": "calibrated", "memory_bound": memory})).unwrap();
    let streams = StreamKey::new(5, "large", 1);
    let mut policy = policy.build(&game.problem(2_000_000), streams.policy()).unwrap();
    let grid = Grid::end(2_000_000).unwrap();
    let played = simulate(&game, &mut policy, &grid, Engine::Leaping, &mut streams.noise()).unwrap();
    assert!(played.last().excess > best.excess && played.last().excess < 0.15 * 2e6);
}

#[test]
fn losses_by_plays_and_the_games_of_theorem_2_have_long_memories_too() {
    let losses: Vec<f64> = (0..100_000).map(|plays| 0.9 - 5e-6 * f64::from(plays)).collect();
    let arm = Arm::new(Weights::unit(losses.len()).unwrap(), LossCurve::by_plays(losses.clone()), Noise::None).unwrap();
    let other = Arm::new(Weights::unit(1).unwrap(), LossCurve::constant(0.7), Noise::None).unwrap();
    let game = Game::new(vec![arm, other]).unwrap();
    let warming: f64 = losses.iter().map(|loss| loss - losses[99_999]).sum();
    assert!((optimum(&game, 10_000_000).unwrap().excess - warming).abs() < 1e-6);
    assert_eq!(reo(&game).unwrap().alpha, 0.0);

    let bound = 1_000_000;
    let game = AdaptivityB { memory_bound: bound, ..AdaptivityB::default() }.draw(&mut stream()).unwrap();
    let best = optimum(&game, 100_000_000).unwrap();
    assert_eq!(best.excess, (bound - 1) as f64);
}

#[test]
fn random_games_with_long_memories_are_solved_or_refused_with_numbers() {
    for memory in [30, 100, 200, 400, 1000] {
        let game = RandomReo { memory: Span::One(memory), ..RandomReo::default() }.draw(&mut stream()).unwrap();
        let mut optima = Optima::new(&game);
        match optima.at(100_000) {
            Ok(best) => assert_eq!(best.sequence.len(), 100_000),
            Err(error) => {
                assert!(error.is_too_large(), "{error}");
                let text = error.to_string();
                assert!(text.contains("limit is") && text.contains("choose a shorter memory"), "{text}");
            }
        }
        let bounds = optima.bounds_at(100_000);
        assert!(bounds.lower <= bounds.upper);
    }
}

/// The lower bound of the number of states that refuses games early never refuses one that has a graph.
#[test]
fn early_refusals_agree_with_the_number_of_states() {
    for memory in 2..=12 {
        let losses: Vec<f64> = (0..memory).map(|plays| if plays == 1 { 0.1 } else { 0.5 }).collect();
        let arm = |loss: f64| {
            let losses: Vec<f64> = losses.iter().map(|other| other + loss).collect();
            Arm::new(Weights::unit(memory).unwrap(), LossCurve::by_plays(losses), Noise::None).unwrap()
        };
        let constant = Arm::new(Weights::unit(1).unwrap(), LossCurve::constant(0.3), Noise::None).unwrap();
        for arms in [vec![arm(0.0); 2], vec![arm(0.0), arm(0.1)], vec![arm(0.0), constant]] {
            let game = Game::new(arms).unwrap();
            // The number of windows of both arms or of one arm and blanks, exactly: 2^(m-1) orders of the last m - 1
            // plays, half of them if the arms are alike, and those of the first plays.
            let most = 1 << (memory + 1);
            let with = |states| Optima::with_limits(&game, Limits { states, ..Limits::default() }).at(1000);
            assert!(with(most).is_ok(), "memory {memory}");
            let half: usize = (1 << memory) / 16;
            if half > 0 {
                let refused = with(half).unwrap_err();
                assert!(matches!(refused, OptimumError::TooManyStates { .. }), "memory {memory}: {refused}");
            }
        }
    }
}

#[test]
fn the_limit_on_bytes_refuses_what_the_limit_on_states_admits() {
    let losses: Vec<f64> = (0..18).map(|plays| if plays == 9 { 0.1 } else { 0.5 }).collect();
    let arm = Arm::new(Weights::unit(18).unwrap(), LossCurve::by_plays(losses), Noise::None).unwrap();
    let other = Arm::new(Weights::unit(1).unwrap(), LossCurve::constant(0.4), Noise::None).unwrap();
    let game = Game::new(vec![arm, other]).unwrap();
    let limits = Limits { bytes: 1_000_000, ..Limits::default() };
    let refused = Optima::with_limits(&game, limits).at(1000).unwrap_err();
    let OptimumError::TooMuchMemory { bytes_at_least, limit, .. } = refused else { panic!("{refused}") };
    assert!(bytes_at_least > limit && limit == 1_000_000);
    assert!(refused.to_string().contains("MB of memory, and the limit is 1 MB"), "{refused}");
    // The estimate is at most the limit, and the bounds are there all the same.
    assert!(Optima::with_limits(&game, limits).memory_estimate(1000) <= 1_000_000 + 100_000);
    assert!(!Optima::with_limits(&game, limits).bounds_at(1000).exact);
}
