//! The size of pilots in blocks: how often the diagnosis of their log gives a usable memory bound.

#![allow(clippy::unwrap_used)] // a test may panic

use calibandit::{Arm, Game, LossCurve, Noise, PilotDesign, PilotPlan, StreamKey, Weights};
use calibandit_fit::diagnose::{DiagnoseOptions, LogBuilder, diagnose};

const LONGEST: u32 = 64;
const ARMS: [&str; 4] = ["a", "b", "c", "d"];

/// Four arms whose loss falls by 0.3 while they warm up, with this shape from 1 to 0.
fn game(memory: usize, noise: Noise, shape: fn(f64) -> f64) -> Game {
    let arm = |x: usize| {
        let excess = |tally: usize| 0.3 * shape(tally as f64 / memory as f64);
        let losses: Vec<f64> = (1..=memory).map(|tally| 0.1 + 0.1 * x as f64 + excess(tally)).collect();
        Arm::new(Weights::unit(memory).unwrap(), LossCurve::by_plays(losses), noise).unwrap()
    };
    Game::new((0..ARMS.len()).map(arm).collect()).unwrap()
}

/// The memory bound from the log of one pilot.
fn bound(game: &Game, sd: f64, tolerance: f64, seed: u64) -> Option<u32> {
    let plan = PilotPlan::new(PilotDesign::Blocks, ARMS.len(), LONGEST, sd, tolerance, seed).unwrap();
    let (mut window, mut draws) = (game.empty_window(), StreamKey::new(seed, "blocks", 0).noise());
    let mut log = LogBuilder::new();
    for run in &plan.runs {
        for _ in 0..run.plays {
            let expected = game.play(run.arm, &mut window);
            let loss = game.arms()[run.arm].noise().draw(expected, &mut draws);
            log.push(ARMS[run.arm], Some(loss), None, None).unwrap();
        }
    }
    let options = DiagnoseOptions { longest: Some(LONGEST), tolerance: Some(tolerance), ..Default::default() };
    diagnose(&log.build().unwrap(), &options).unwrap().memory_bound
}

/// The part of the warm-up that is left, by share of the memory.
type WarmUpShape = fn(f64) -> f64;

#[test]
#[ignore = "slow: 100 pilots of eight games"]
fn pilots_in_blocks_give_a_usable_bound() {
    let tolerance = 0.1;
    let shapes: [(&str, usize, WarmUpShape); 4] = [
        ("step 8", 8, |t| f64::from(u8::from(t < 1.0))),
        ("step 32", 32, |t| f64::from(u8::from(t < 1.0))),
        ("linear 16", 16, |t| 1.0 - t),
        ("exponential 32", 32, |t| ((-4.0 * t).exp() - (-4.0_f64).exp()) / (1.0 - (-4.0_f64).exp())),
    ];
    for (noise, sd) in [(Noise::Bernoulli, 0.5), (Noise::Normal { sd: 0.2 }, 0.2)] {
        for (name, memory, shape) in shapes {
            let game = game(memory, noise, shape);
            let settled = (1..=memory).find(|&k| 0.3 * shape(k as f64 / memory as f64) <= tolerance).unwrap();
            let bounds: Vec<_> = (0..100).filter_map(|seed| bound(&game, sd, tolerance, seed)).collect();
            let usable = bounds.iter().filter(|&&bound| (settled..=2 * memory).contains(&(bound as usize))).count();
            // With 95 %, fewer than 88 have probability 0.001.
            assert!(usable >= 88, "{name}, {noise:?}: {usable} of 100");
            let above = bounds.iter().filter(|&&bound| bound as usize >= settled).count();
            assert!(above + 12 >= bounds.len(), "{name}, {noise:?}: {above} of {} are enough", bounds.len());
        }
    }
}
