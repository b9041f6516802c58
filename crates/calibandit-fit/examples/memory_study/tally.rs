//! The sets of memories under a tallying model.

use calibandit::Noise;

use crate::known_truth::{Logging, game, log};
use crate::{OPTIONS, Share, diagnosed, median};

pub(crate) fn sets(logs: u64) {
    println!("\nTallying sets, unit weights (step 8, step 32, linear 16, exponential 32), Bernoulli losses:\n");
    println!("| log | plays | logs | a set | upper end at least m | lower end at most m | median upper end / m |");
    println!("|---|---:|---:|---:|---:|---:|---:|");
    for (label, logging, plays) in [
        ("staying with 0.9", Logging::Stay(0.9), 10_000),
        ("staying with 0.97", Logging::Stay(0.97), 10_000),
        ("staying with 0.5", Logging::Stay(0.5), 10_000),
        ("runs of log-uniform length to 64", Logging::LogUniform(64), 10_000),
        ("blocks of 64", Logging::Blocks(64), 10_000),
        ("staying with 0.9", Logging::Stay(0.9), 100_000),
    ] {
        let (mut some, mut upper, mut lower) = (Share::default(), Share::default(), Share::default());
        let mut ratios = Vec::new();
        let logs = if plays > 10_000 { logs.div_ceil(5) } else { logs };
        for (number, (name, memory)) in (0..).zip([("step8", 8), ("step32", 32), ("linear16", 16), ("exp32", 32)]) {
            let arms = game(name);
            for seed in 0..logs {
                let found =
                    diagnosed(&log(&arms, logging, Noise::Bernoulli, plays, 50_000 + 1000 * number + seed), &OPTIONS);
                some.count(found.tallying.is_some());
                if let Some(tallying) = found.tallying {
                    let (low, high) = tallying.set;
                    upper.count(high.is_none_or(|high| high >= memory));
                    lower.count(low <= memory);
                    ratios.push(high.map_or(f64::INFINITY, f64::from) / f64::from(memory));
                }
            }
        }
        println!(
            "| {label} | {plays} | {} | {} | {} | {} | {} |",
            some.all,
            some.percent(),
            upper.percent(),
            lower.percent(),
            median(ratios)
        );
    }
}
