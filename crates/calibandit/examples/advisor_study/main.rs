//! Measures what an advisor claims, as Markdown tables: `cargo run --release --example advisor_study [-- RUNS]`.
//!
//! With 10,000 runs, the default, it takes about ten minutes on one core. The argument `monitor` measures the monitor
//! only, and `speed` the time of asking and telling.

mod simulation;

use std::time::Instant;

use calibandit::Advisor;
use calibandit::policy::{Calibrated, Thompson};
use simulation::{covers, games, settings};

/// The number of plays of a run of the study of intervals.
const PLAYS: u64 = 400;
/// The number of plays of a run of the study of the monitor.
const MONITORED_PLAYS: u64 = 5_000;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let argument = std::env::args().nth(1);
    match argument.as_deref() {
        Some("speed") => speed(),
        Some("monitor") => monitor(1000),
        given => {
            let runs = given.map_or(Ok(10_000), str::parse)?;
            intervals(runs)?;
            monitor((runs / 10).max(1))
        }
    }
}

fn intervals(runs: u64) -> Result<(), Box<dyn std::error::Error>> {
    println!("Intervals with 95 %, at all of {PLAYS} times at once, over {runs} runs:\n");
    println!("| policy and losses | arms | all times covered | median width at the end |");
    println!("|---|---|---|---|");
    for setting in settings() {
        let (mut covered, mut widths) = (0u64, Vec::new());
        for run in 0..runs {
            let (covers, last) = covers(&setting, run, PLAYS, 0.05)?;
            covered += u64::from(covers);
            widths.push(last);
        }
        widths.sort_by(f64::total_cmp);
        let share = 100.0 * covered as f64 / runs as f64;
        // Infinite in some runs without a range: an arm that was measured once has no interval.
        let width = widths.get(widths.len() / 2).copied().unwrap_or(f64::NAN);
        println!("| {} | {} | {share:.2} % | {width:.3} |", setting.name, setting.means.len());
    }
    Ok(())
}

fn monitor(runs: u64) -> Result<(), Box<dyn std::error::Error>> {
    println!("\nThe monitor of `calibrated` after {MONITORED_PLAYS} plays, over {runs} runs: alarms with bound M\n");
    println!("| game | M = m | M = m, probe | M = m/2 | M = m/2, probe | M = m/4, probe |");
    println!("|---|---|---|---|---|---|");
    for game in games() {
        let mut cells = Vec::new();
        for (divisor, probe) in [(1, false), (1, true), (2, false), (2, true), (4, true)] {
            let mut alarms = 0u64;
            for run in 0..runs {
                let advisor = game.play(game.memory / divisor, probe, MONITORED_PLAYS, run)?;
                alarms += u64::from(advisor.monitor().alarm);
            }
            cells.push(format!("{:.1} %", 100.0 * alarms as f64 / runs as f64));
        }
        println!("| {} | {} |", game.name, cells.join(" | "));
    }
    Ok(())
}

/// The time of one ask and one tell.
fn speed() -> Result<(), Box<dyn std::error::Error>> {
    const PAIRS: u64 = 2_000_000;
    for (name, mut advisor) in [
        ("calibrated, M = 8, 5 arms", Advisor::builder(Calibrated::builder(8), 5).build()?),
        ("Thompson, 5 arms", Advisor::builder(Thompson::builder(), 5).build()?),
    ] {
        let start = Instant::now();
        for _ in 0..PAIRS {
            let decision = advisor.ask()?;
            let loss = (decision.id as f64 * 0.618).fract();
            advisor.tell(decision.id, loss * (0.5 + 0.1 * decision.arm as f64))?;
        }
        println!("{name}: {:.0} ns per ask and tell", start.elapsed().as_nanos() as f64 / PAIRS as f64);
    }
    Ok(())
}
