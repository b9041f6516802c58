//! Small random games of every kind.

#![allow(dead_code)] // each test file uses its own part

use calibandit::rng::StreamKey;
use calibandit::zoo::{RandomReo, Span};
use calibandit::{Arm, Game, LossCurve, Noise, Stream, Trend, Weights};
use rand::RngExt;

/// How large the games may get.
#[derive(Clone, Copy)]
pub(crate) struct Size {
    pub(crate) arms: usize,
    pub(crate) memory: usize,
}

/// A stream for the test of this name.
pub(crate) fn draws(test: &str, instance: u64) -> Stream {
    StreamKey::new(7, test, instance).game()
}

/// A random game: mixed memories, weights, curves and special values; often with arms that are alike, and with ties.
pub(crate) fn random_game(size: Size, stream: &mut Stream) -> Game {
    let arms = stream.random_range(1..=size.arms);
    // Few different losses make for many ties.
    let coarse = stream.random_bool(0.5);
    let mut made: Vec<Arm> = Vec::new();
    for _ in 0..arms {
        if !made.is_empty() && stream.random_bool(0.3) {
            let like = made[stream.random_range(0..made.len())].clone();
            let noise = Noise::Normal { sd: 0.1 };
            made.push(Arm::new(like.weights().clone(), like.curve().clone(), noise).unwrap());
        } else {
            made.push(random_arm(size.memory, coarse, stream));
        }
    }
    Game::new(made).unwrap()
}

fn random_loss(coarse: bool, stream: &mut Stream) -> f64 {
    let loss: f64 = stream.random();
    if coarse { (loss * 4.0).round() / 4.0 } else { loss }
}

fn random_arm(longest: usize, coarse: bool, stream: &mut Stream) -> Arm {
    let memory = stream.random_range(1..=longest);
    let weights = match stream.random_range(0..4) {
        0 => Weights::unit(memory),
        1 => Weights::new((1..=memory).map(|i| 0.5f64.powi(i as i32)).collect()),
        2 => Weights::new((0..memory).map(|_| 0.01 + 0.99 * stream.random::<f64>()).collect()),
        _ => Weights::new((0..memory).map(|_| [0.25, 0.5, 1.0][stream.random_range(0..3)]).collect()),
    }
    .unwrap();
    let total = weights.total();
    let curve = match stream.random_range(0..7) {
        0 => LossCurve::constant(random_loss(coarse, stream)),
        1 | 2 => LossCurve::by_plays((0..memory).map(|_| random_loss(coarse, stream)).collect::<Vec<_>>()),
        3 => {
            let (from, to) = (random_loss(coarse, stream), 0.98 * random_loss(coarse, stream) + 0.01);
            LossCurve::linear(from, (to - from) / total)
        }
        4 => {
            let window: Vec<bool> = (0..memory).map(|age| age == 0 || stream.random()).collect();
            LossCurve::needle(weights.tally(window), random_loss(coarse, stream), random_loss(coarse, stream))
        }
        5 => {
            let pitch = stream.random_range(1.0..40.0);
            LossCurve::function(move |tally| 0.5 + 0.5 * (pitch * tally).sin())
        }
        _ => LossCurve::function(move |tally| 1.0 / (1.0 + tally)).with_trend(Trend::Decreasing),
    };
    let curve = if stream.random_bool(0.3) { curve.when_calibrated(random_loss(coarse, stream)) } else { curve };
    let curve = if stream.random_bool(0.2) { curve.when_alone(random_loss(coarse, stream)) } else { curve };
    Arm::new(weights, curve, Noise::Bernoulli).unwrap()
}

/// A random game that satisfies alpha-REO: 2 to 6 arms, memory 1 to 6, alpha 0 or more.
pub(crate) fn random_reo_game(instance: u64, stream: &mut Stream) -> Game {
    let alpha = [0.0, 0.0, 0.02, 0.1][instance as usize % 4];
    // With memory 1 there are no windows but the calibrated one, so that alpha can only be 0.
    let memory = if alpha > 0.0 { 2 + instance / 4 % 5 } else { 1 + instance / 4 % 6 };
    let arms = 2 + instance as usize % 5;
    RandomReo { arms, memory: Span::One(memory as usize), alpha, ..RandomReo::default() }.draw(stream).unwrap()
}
