//! Compares policies on one game: `cargo run --release --example compare`.

use calibandit::prelude::*;

pub(crate) fn main() -> Result<(), Box<dyn std::error::Error>> {
    // Three workers. The last one is the best, but only from the fourth task in a row on.
    let worker = |losses: [f64; 4]| Arm::new(Weights::unit(4)?, LossCurve::by_plays(losses), Noise::Bernoulli);
    let game =
        Game::new(vec![worker([0.5, 0.5, 0.5, 0.5])?, worker([0.6, 0.5, 0.45, 0.4])?, worker([0.9, 0.7, 0.5, 0.1])?])?;

    let outcome = Simulation::new(game)
        .policy(Calibrated::builder(4))
        .policy(EpochUcb::builder(4))
        .policy(Thompson::builder())
        .horizon(50_000)
        .instances(20)
        .seed(1)
        .run()?;

    println!("{outcome}\n");
    for policy in outcome.policies() {
        println!("{:30} plays per arm: {:.0?}", policy.label(), policy.arm_plays());
    }
    Ok(())
}
