//! Predicted and true regret.

use calibandit::policy::Calibrated;
use calibandit::{Arm, Game, LossCurve, Noise, Simulation, Weights};
use calibandit_fit::diagnose::PriceOptions;

use crate::known_truth::{Logging, TrueArm, game, log};
use crate::{OPTIONS, diagnosed};

pub(crate) fn prices(instances: u64) {
    println!(
        "\nPredicted / true regret of `calibrated` at 10^5 plays, from a log of 40,000 plays in runs of log-uniform"
    );
    println!("length to 64, {instances} instances of the truth:\n");
    println!("| game | M = m/2 | M = m | M = 2m | M = 4m |");
    println!("|---|---:|---:|---:|---:|");
    for (name, memory) in [("step8", 8), ("step32", 32), ("linear16", 16), ("exp32", 32)] {
        let arms = game(name);
        let found = diagnosed(&log(&arms, Logging::LogUniform(64), Noise::Bernoulli, 40_000, 170_000), &OPTIONS);
        let options = PriceOptions { memory_bound: Some(memory), games: 200, ..PriceOptions::default() };
        let Ok(price) = found.price(&options) else {
            println!("| {name} | no fitted game | | | |");
            continue;
        };
        let cells = [memory / 2, memory, 2 * memory, 4 * memory].map(|bound| {
            let predicted =
                price.rows.iter().find(|row| row.memory_bound == Some(bound)).map_or(f64::NAN, |row| row.regret);
            let simulation = Simulation::new(truth(&arms)).policy(Calibrated::builder(u64::from(bound)));
            let outcome = simulation.instances(instances).run().expect("the game can be simulated");
            format!("{predicted:.0} / {:.0}", outcome.policies()[0].regret())
        });
        println!("| {name} | {} |", cells.join(" | "));
    }
}

fn truth(arms: &[TrueArm]) -> Game {
    let arm = |arm: &TrueArm| {
        let losses: Vec<f64> = (1..=arm.weights.len()).map(|k| arm.rested(k)).collect();
        let weights = Weights::unit(losses.len()).expect("a memory");
        Arm::new(weights, LossCurve::by_plays(losses), Noise::Bernoulli).expect("losses in [0, 1]")
    };
    Game::new(arms.iter().map(arm).collect()).expect("four arms")
}
