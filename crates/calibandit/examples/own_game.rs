//! Defines a game, examines it and simulates policies on it: `cargo run --release --example own_game`.

use calibandit::prelude::*;
use calibandit::{Trend, optimum, reo};

pub(crate) fn main() -> Result<(), Box<dyn std::error::Error>> {
    // Three caches. An arm is a cache, a play is a request, and the loss is the probability of a miss: the more of the
    // last 16 requests a cache has served, the fewer it misses.
    let cache = |cold: f64, warm: f64| {
        let misses = LossCurve::function(move |served| warm + (cold - warm) * (-served / 4.0).exp());
        Arm::new(Weights::unit(16)?, misses.with_trend(Trend::Decreasing), Noise::Bernoulli)
    };
    let game = Game::new(vec![cache(0.9, 0.30)?, cache(0.5, 0.35)?, cache(0.95, 0.25)?])?;

    // Before any simulation: the best arm, whether staying with it is optimal (alpha = 0), and the least possible loss.
    let horizon = 100_000;
    let best = optimum(&game, horizon)?;
    println!("best arm: {}, alpha: {}", game.best_arm(), reo(&game)?.alpha);
    println!("least expected loss of {horizon} plays: {:.0}", best.loss);

    // The regret is measured against that optimum.
    let outcome = Simulation::new(game)
        .policy(Calibrated::builder(16))
        .policy(Ucb1::builder())
        .horizon(horizon)
        .instances(10)
        .run()?;
    println!("{outcome}");
    Ok(())
}
