//! The games of the zoo against the paper's formulas, worked by hand or by brute force.

#![allow(clippy::unwrap_used)] // a test may panic

#[path = "../common/mod.rs"]
mod common;
mod errors;
mod formulas;
mod lower_bounds;
mod neighbours;
mod placing;
mod random_reo;
mod spec;

use calibandit::rng::StreamKey;
use calibandit::{Exposure, Game, GameSpec, Stream};

/// The stream of an instance.
fn instance(instance: u64) -> Stream {
    StreamKey::new(7, "zoo", instance).game()
}

fn draw(spec: impl Into<GameSpec>) -> Game {
    spec.into().draw(&mut instance(0)).unwrap()
}

/// Losses equal up to rounding.
#[track_caller]
fn close(found: &[f64], expected: &[f64]) {
    assert_eq!(found.len(), expected.len());
    for (found, expected) in found.iter().zip(expected) {
        assert!((found - expected).abs() < 1e-14, "{found} instead of {expected}");
    }
}

/// Every window {1} x {0,1}^(m-1) of an arm, newest play first.
fn windows(memory: usize) -> impl Iterator<Item = Vec<bool>> {
    (0..1u64 << (memory - 1)).map(move |bits| (0..memory).map(|age| age == 0 || bits >> (age - 1) & 1 == 1).collect())
}

/// The smallest alpha, straight from the definition: over all arms and all windows.
fn alpha(game: &Game) -> f64 {
    let mut least = f64::INFINITY;
    let mut least_calibrated = f64::INFINITY;
    for arm in game.arms() {
        for window in windows(arm.memory()) {
            let loss = arm.loss(Exposure::of(&window, arm.weights()));
            least = least.min(loss);
            if window.iter().all(|&played| played) {
                least_calibrated = least_calibrated.min(loss);
            }
        }
    }
    (least_calibrated - least).max(0.0)
}
