//! How far the best block cycle is from the exact optimum, on small random games; and how long its plans take for long
//! memories. The tables are in docs/beyond-reo.md: `cargo run --release --example block_cycles 500`.
//!
//! The argument is the number of games per family and size.

use std::time::Instant;

use calibandit::policy::{Planner, Rotation};
use calibandit::{
    Arm, BlockCycle, Feedback, Game, LossCurve, Noise, Policy, Problem, Stream, StreamKey, Weights, optimum,
};
use rand::RngExt;

/// Kinds of loss curves, by the number of plays among the last m.
#[derive(Clone, Copy, Debug)]
enum Family {
    /// Rises with every play.
    Congestion,
    /// Falls down to a sweet spot and rises after it.
    Fatigue,
    /// Every tally has a loss of its own.
    Arbitrary,
}

impl Family {
    fn draw(self, memory: usize, stream: &mut Stream) -> Vec<f64> {
        let mut losses: Vec<f64> = (0..memory).map(|_| stream.random()).collect();
        match self {
            Family::Congestion => losses.sort_by(f64::total_cmp),
            Family::Fatigue => {
                let spot = stream.random_range(1..=memory);
                losses[..spot].sort_by(|a, b| b.total_cmp(a));
                let least = losses[spot - 1];
                // Losses after the sweet spot are not below it.
                losses[spot..].iter_mut().for_each(|loss| *loss = least + (1.0 - least) * *loss);
                losses[spot..].sort_by(f64::total_cmp);
            }
            Family::Arbitrary => {}
        }
        losses
    }
}

/// The mean loss of the exact optimum in the long run: that of its cycle.
fn optimal_mean(losses: &[Vec<f64>]) -> Result<f64, Box<dyn std::error::Error>> {
    let memory = losses[0].len();
    let arm = |curve: &Vec<f64>| Arm::new(Weights::unit(memory)?, LossCurve::by_plays(curve.clone()), Noise::None);
    let game = Game::new(losses.iter().map(arm).collect::<Result<_, _>>()?)?;
    let cycle = optimum(&game, 1_000_000_000)?.sequence.cycle;
    let rounds = 1 + memory.div_ceil(cycle.len());
    let played = game.losses(&cycle.repeat(rounds + 1))?;
    Ok(played[rounds * cycle.len()..].iter().sum::<f64>() / cycle.len() as f64)
}

fn quantile(sorted: &[f64], share: f64) -> f64 {
    sorted[((sorted.len() - 1) as f64 * share).round() as usize]
}

pub(crate) fn main() -> Result<(), Box<dyn std::error::Error>> {
    let games: u64 = std::env::args().nth(1).map_or(Ok(10), |text| text.parse())?;
    println!("| curves | K | m | optimum | one arm | block cycle | exact | gap, mean | 95 % | largest |");
    println!("|---|---|---|---|---|---|---|---|---|---|");
    for family in [Family::Congestion, Family::Fatigue, Family::Arbitrary] {
        for (arms, memory) in [(2, 4), (2, 8), (3, 4), (3, 6)] {
            let (mut gaps, mut exact, mut means) = (Vec::new(), 0, [0.0; 3]);
            for game in 0..games {
                let stream = &mut StreamKey::new(1, &format!("{family:?} {arms} {memory}"), game).game();
                let losses: Vec<Vec<f64>> = (0..arms).map(|_| family.draw(memory, stream)).collect();
                let best = optimal_mean(&losses)?;
                let block = BlockCycle::best(&losses, 2 * memory).ok_or("losses are numbers")?.mean;
                let stay = losses.iter().map(|curve| curve[memory - 1]).fold(f64::INFINITY, f64::min);
                means.iter_mut().zip([best, stay, block]).for_each(|(sum, mean)| *sum += mean / games as f64);
                exact += u64::from(block - best < 1e-9);
                gaps.push((block - best).max(0.0));
            }
            gaps.sort_by(f64::total_cmp);
            let [best, stay, block] = means;
            println!(
                "| {} | {arms} | {memory} | {best:.3} | {stay:.3} | {block:.3} | {:.0} % | {:.4} | {:.4} | {:.4} |",
                format!("{family:?}").to_lowercase(),
                100.0 * exact as f64 / games as f64,
                gaps.iter().sum::<f64>() / games as f64,
                quantile(&gaps, 0.95),
                quantile(&gaps, 1.0),
            );
        }
    }
    println!();
    let problem = |arms| Problem { arms, horizon: None };
    for (arms, memory) in [(10, 16), (10, 64), (10, 128)] {
        let spec = Rotation::builder(memory);
        let mut policy = spec.build(&problem(arms), StreamKey::new(1, "plan", 0).policy())?;
        time("rotation", arms, memory, &mut policy, |policy| policy.plans());
    }
    for (arms, memory) in [(3, 6), (2, 12), (3, 10), (2, 17)] {
        let spec = Planner::builder(memory);
        let mut policy = spec.build(&problem(arms), StreamKey::new(1, "plan", 0).policy())?;
        time("planner", arms, memory, &mut policy, |policy| policy.plans());
    }
    Ok(())
}

/// The mean time of the first plans, with losses drawn at random for each play.
fn time<P: Policy>(name: &str, arms: usize, memory: u64, policy: &mut P, plans: fn(&P) -> u64) {
    let mut stream = StreamKey::new(2, "time", 0).noise();
    let start = Instant::now();
    while plans(policy) < 60 {
        let run = policy.next_run();
        let loss = f64::from(stream.random::<bool>());
        policy.observe(
            run,
            Feedback { plays: run.record, sum: loss * run.record as f64, sum_sq: loss * run.record as f64 },
        );
    }
    let each = start.elapsed().as_secs_f64() / 60.0;
    println!("{name}, K = {arms}, M = {memory}: {:.2} ms per plan", 1e3 * each);
}
