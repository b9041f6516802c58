//! One workload for the benchmarks: `workload POLICY ARMS MEMORY HORIZON INSTANCES [alone]`.
//!
//! Simulates the paper's unweighted game and prints the CPU time of the plays and the mean excess loss over the
//! calibrated best arm with its standard error, which `cargo xtask bench` uses to check that all implementations
//! compute the same. With `alone` the instances are simulated one by one instead of as a batch.
//!
//! MEMORY 0 is a rested game: the rotting arms of Seznec et al. 2019, Figure 1 with L = 0.02 · 1.25^16 for two arms,
//! Figure 2 for any other number. The policies have the constants of that paper's figures.

use std::error::Error;
use std::fs;
use std::time::Instant;

use calibandit::rng::StreamKey;
use calibandit::{BatchItem, Engine, GameSpec, Grid, PolicySpec, simulate, simulate_batch};
use serde_json::json;

/// The CPU time of this thread on Linux, wall-clock time elsewhere.
fn seconds(start: Instant) -> f64 {
    // The kernel updates its account when a thread yields.
    std::thread::yield_now();
    let told = fs::read_to_string("/proc/thread-self/schedstat").ok();
    let nanoseconds = told.and_then(|text| text.split_whitespace().next()?.parse::<f64>().ok());
    nanoseconds.map_or_else(|| start.elapsed().as_secs_f64(), |nanoseconds| nanoseconds * 1e-9)
}

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [policy, numbers @ ..] = arguments.as_slice() else { return Err("which policy?".into()) };
    let number = |position: usize| -> Result<u64, Box<dyn Error>> {
        Ok(numbers.get(position).ok_or("arguments: POLICY ARMS MEMORY HORIZON INSTANCES [alone]")?.parse()?)
    };
    let (arms, memory, horizon, instances) = (number(0)?, number(1)?, number(2)?, number(3)?);
    let alone = numbers.get(4).is_some_and(|word| word == "alone");

    // The range of rewards: policies see losses, which are rewards divided by it.
    let range = if arms == 2 { 0.02 * 1.25f64.powi(16) } else { 20.0 };
    let game = match (memory, arms) {
        (0, 2) => json!({"kind": "rotting-two", "gap": range}),
        (0, _) => json!({"kind": "rotting-ten", "arms": arms}),
        _ => json!({"kind": "step", "arms": arms, "memory": memory, "usual_loss": 0.5, "best_loss": 0.35}),
    };
    let game: GameSpec = serde_json::from_value(game)?;
    let kind = PolicySpec::catalogue().iter().find(|kind| kind.name == policy).ok_or("no such policy")?;
    let spec = match memory {
        0 => {
            let mut parameters = json!({"kind": policy});
            if kind.parameter("sd").is_some() {
                parameters["sd"] = json!(1.0 / range);
            }
            if policy == "wswa" {
                parameters["alpha"] = json!(0.02 * range.powf(2.0 / 3.0));
            }
            serde_json::from_value(parameters)?
        }
        _ => kind.example.clone().with_memory_bound(memory),
    };

    let mut games = Vec::new();
    let mut policies = Vec::new();
    let mut noises = Vec::new();
    for instance in 0..instances {
        let streams = StreamKey::new(1, "bench", instance);
        let game = game.draw(&mut streams.game())?;
        policies.push(spec.build(&game.problem(horizon), streams.policy())?);
        noises.push(streams.noise());
        games.push(game);
    }
    let grid = Grid::end(horizon)?;
    let (clock, start) = (Instant::now(), seconds(Instant::now()));
    let mut excesses = Vec::new();
    if alone {
        for ((game, policy), noise) in games.iter().zip(&mut policies).zip(&mut noises) {
            excesses.push(simulate(game, policy, &grid, Engine::Leaping, noise)?.last().excess);
        }
    } else {
        let items = games.iter().zip(&mut policies).zip(&mut noises);
        let mut items: Vec<_> = items.map(|((game, policy), noise)| BatchItem { game, policy, noise }).collect();
        for trajectory in simulate_batch(&mut items, &grid) {
            excesses.push(trajectory?.last().excess);
        }
    }
    let seconds = seconds(clock) - start;
    let n = excesses.len() as f64;
    let mean = excesses.iter().sum::<f64>() / n;
    let variance = excesses.iter().map(|excess| (excess - mean).powi(2)).sum::<f64>() / (n - 1.0).max(1.0);
    println!("{seconds} {mean} {}", (variance / n).sqrt());
    Ok(())
}
