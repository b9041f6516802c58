//! The time of one instance with very many arms, for every index of `calibrated`.

use std::time::Instant;

use calibandit::{Arm, Engine, Game, LossCurve, Noise, PolicySpec, Problem, StreamKey, Weights};
use calibandit::{Grid, simulate};

/// The indices of `calibrated`.
const INDICES: [&str; 9] =
    ["challenge", "empirical-bayes", "cautious", "elimination", "kl-ucb", "moss", "bernstein", "imed", "thompson"];

/// The memory of the arms, and the plays of each game.
const MEMORY: u64 = 2;
const HORIZON: u64 = 1_000_000;

/// The CPU time of this thread on Linux, wall-clock time elsewhere.
fn seconds(start: Instant) -> f64 {
    // The kernel updates its account when a thread yields.
    std::thread::yield_now();
    let told = std::fs::read_to_string("/proc/thread-self/schedstat").ok();
    let nanoseconds = told.and_then(|text| text.split_whitespace().next()?.parse::<f64>().ok());
    nanoseconds.map_or_else(|| start.elapsed().as_secs_f64(), |nanoseconds| nanoseconds * 1e-9)
}

/// Losses that are evenly spaced from 0.35 to 0.65, in an order without pattern.
fn game(arms: usize, noise: Noise) -> Game {
    let arm = |i: usize| {
        let loss = 0.35 + 0.3 * (i * 7919 % arms) as f64 / arms as f64;
        Arm::new(Weights::unit(MEMORY as usize)?, LossCurve::constant(loss), noise)
    };
    let arms = (0..arms).map(arm).collect::<Result<_, calibandit::ArmError>>();
    Game::new(arms.expect("losses lie in [0, 1]")).expect("there are arms")
}

/// Prints a table of these indices; of all if there are none.
pub(crate) fn print_times(indices: &[String]) {
    let noises = [("Bernoulli", Noise::Bernoulli), ("normal", Noise::Normal { sd: 0.2 })];
    let counts = [1_000, 10_000, 100_000];
    let columns = noises.iter().flat_map(|(name, _)| counts.map(|count| format!("{name}, K = {count}")));
    println!("| index | {} |", columns.collect::<Vec<_>>().join(" | "));
    println!("|---|{}", "---|".repeat(noises.len() * counts.len()));
    for index in INDICES.into_iter().filter(|index| indices.is_empty() || indices.iter().any(|name| name == index)) {
        let json = format!(r#"{{"kind": "calibrated", "index": "{index}", "memory_bound": {MEMORY}}}"#);
        let spec: PolicySpec = serde_json::from_str(&json).expect("the index exists");
        let mut cells = Vec::new();
        for (_, noise) in noises {
            for count in counts {
                let game = game(count, noise);
                let streams = StreamKey::new(1, "policy-study/scale", count as u64);
                let grid = Grid::end(HORIZON).expect("the horizon is positive");
                let clock = Instant::now();
                let start = seconds(clock);
                let problem = Problem { arms: count, horizon: Some(HORIZON) };
                let mut policy = spec.build(&problem, streams.policy()).expect("the parameters are valid");
                simulate(&game, &mut policy, &grid, Engine::Leaping, &mut streams.noise()).expect("runs are valid");
                cells.push(format!("{:.2}", seconds(clock) - start));
            }
        }
        println!("| `{index}` | {} |", cells.join(" | "));
    }
    println!("\nSeconds of CPU time for one instance with T = {HORIZON} and M = {MEMORY}.");
}
