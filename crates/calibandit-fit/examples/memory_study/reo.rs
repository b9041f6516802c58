//! The verdict on repeated exposure.

use calibandit::{Noise, StreamKey};
use calibandit_fit::diagnose::{Diagnosis, ReoVerdict};
use rand::RngExt;

use crate::known_truth::{Logging, TrueArm, log};
use crate::{OPTIONS, diagnosed, percent};

pub(crate) fn verdicts(games: u64) {
    println!(
        "\nRepeated exposure, random games with memory 4 to 32, {games} of each kind (a tenth of them with 100,000"
    );
    println!(
        "plays), reach at least the memory; losses of 0 and 1 in blocks, a standard deviation of 0.1 otherwise:\n"
    );
    println!("| games | log | plays | judged | holds | violated | undecided |");
    println!("|---|---|---:|---:|---:|---:|---:|");
    for (label, violating) in [("alpha = 0", false), ("alpha of 0.15 to 0.4", true)] {
        for (log_label, logging, plays, noise) in [
            ("blocks of 64", Logging::Blocks(64), 20_000, Noise::Bernoulli),
            ("blocks of 64", Logging::Blocks(64), 100_000, Noise::Bernoulli),
            ("staying with 0.97", Logging::Stay(0.97), 20_000, Noise::Normal { sd: 0.1 }),
        ] {
            let games = if plays > 20_000 { games.div_ceil(10) } else { games };
            let mut counts = [0; 3];
            for seed in 0..games {
                let arms = random_game(seed, violating);
                let found = diagnosed(&log(&arms, logging, noise, plays, 90_000 + seed), &OPTIONS);
                if reached(&found, &arms) {
                    counts[match found.reo.verdict {
                        ReoVerdict::Holds => 0,
                        ReoVerdict::Violated => 1,
                        _ => 2,
                    }] += 1;
                }
            }
            let all = counts.iter().sum();
            let [holds, violated, undecided] = counts.map(|count| percent(count, all));
            println!(
                "| {label} | {log_label} | {plays} | {all} | {holds} ({}) | {violated} | {undecided} |",
                counts[0]
            );
        }
    }
}

fn reached(found: &Diagnosis, arms: &[TrueArm]) -> bool {
    arms.iter().all(|arm| found.reach as usize >= arm.weights.len())
}

fn falling(share: f64) -> f64 {
    1.0 - share
}

/// The least value is at half of the memory.
fn tiring(share: f64) -> f64 {
    (2.0 * share - 1.0).powi(2) - 1.0
}

fn rising(share: f64) -> f64 {
    share - 1.0
}

/// Four arms with a common memory. In violating games, the best state of one arm is below every eventual loss.
fn random_game(seed: u64, violating: bool) -> Vec<TrueArm> {
    let mut stream = StreamKey::new(seed, "random games of the study", u64::from(violating)).game();
    let mut uniform = |low: f64, high: f64| low + (high - low) * stream.random::<f64>();
    let memory = uniform(4.0, 33.0) as usize;
    let mut arms: Vec<TrueArm> = (0..4)
        .map(|_| TrueArm {
            weights: vec![1.0; memory],
            curve: falling,
            level: uniform(0.45, 0.6),
            drop: uniform(0.0, 0.3),
        })
        .collect();
    if violating {
        let best = arms.iter().map(TrueArm::eventual).fold(f64::INFINITY, f64::min);
        let curve = if uniform(0.0, 1.0) < 0.5 { tiring } else { rising };
        let arm = &mut arms[(uniform(0.0, 4.0) as usize).min(3)];
        // The least value of the curve is -1, up to the grid of plays.
        arm.curve = curve;
        arm.drop = (arm.level - best) + uniform(0.2, 0.4);
        arm.drop = arm.drop.min(arm.level);
    }
    arms
}
