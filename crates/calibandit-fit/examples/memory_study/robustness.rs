//! Losses that are not independent: effects of runs and of units, and drift.

use calibandit::Noise;
use calibandit_fit::diagnose::{DiagnoseOptions, ReoVerdict};

use crate::known_truth::{Disturbance, Logging, disturbed_log, game};
use crate::{NAMES, OPTIONS, Share, TOLERANCE, diagnosed};

pub(crate) fn disturbances(logs: u64) {
    println!(
        "\nRuns of log-uniform length to 64, 40,000 plays, normal noise of 0.15; games none, step 8, linear 16:\n"
    );
    println!(
        "| disturbance | answered | bound at least the truth | eventual loss covered | memory in the set | \
         falsely violated |"
    );
    println!("|---|---:|---:|---:|---:|---:|");
    let none = Disturbance::default();
    for (label, disturbance, drifting) in [
        ("none", none, false),
        ("effects of runs, 0.1", Disturbance { runs: 0.1, ..none }, false),
        ("20 units, 0.1", Disturbance { units: 0.1, unit_count: 20, ..none }, false),
        ("drift of 0.1, `--drifting`", Disturbance { drift: 0.1, ..none }, true),
    ] {
        let [mut answered, mut covered, mut eventual, mut set, mut violated] = [Share::default(); 5];
        for (number, name) in (0..).zip(["none", "step8", "linear16"]) {
            let arms = game(name);
            for seed in 0..logs {
                let noise = Noise::Normal { sd: 0.15 };
                let seed = 130_000 + 1000 * number + seed;
                let log = disturbed_log(&arms, Logging::LogUniform(64), noise, 40_000, seed, disturbance);
                let found = diagnosed(&log, &DiagnoseOptions { longest: Some(24), drifting, ..OPTIONS });
                violated.count(found.reo.verdict == ReoVerdict::Violated);
                if let Some(tallying) = &found.tallying {
                    let memory = arms[0].weights.len() as u32;
                    set.count(tallying.set.0 <= memory && tallying.set.1.is_none_or(|high| high >= memory));
                }
                for (truth, name) in arms.iter().zip(NAMES) {
                    let Some(arm) = found.arm(name) else { continue };
                    answered.count(arm.settled.upper.is_some());
                    if let Some(upper) = arm.settled.upper {
                        covered.count(upper >= truth.settles(TOLERANCE));
                    }
                    if let Some(found) = arm.eventual {
                        // A drift has a mean of half its size over the log.
                        let value = truth.eventual() + 0.5 * disturbance.drift;
                        eventual.count((found.low..=found.high).contains(&value));
                    }
                }
            }
        }
        println!(
            "| {label} | {} | {} | {} | {} | {} |",
            answered.percent(),
            covered.percent(),
            eventual.percent(),
            set.percent(),
            violated.percent()
        );
    }
}
