//! Measures what an advisor claims, as Markdown tables: `cargo run --release --example advisor_study [-- SHARE]`.
//!
//! SHARE is the part of the full number of runs, 1 by default, which takes about ten minutes on one core. The argument
//! `monitor` measures the monitor only, and `speed` the time of asking and telling.

mod monitor;
mod simulation;

use std::time::Instant;

use calibandit::Advisor;
use calibandit::policy::{Calibrated, Thompson};
use simulation::{covers, judged_games, settings};

/// The number of plays of a run of the study of intervals.
const PLAYS: u64 = 400;
/// The number of runs of a full study: of intervals, of the monitor on judged and on training games.
const RUNS: [u64; 3] = [10_000, 1_000, 400];

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let argument = |place: usize| arguments.get(place).map(String::as_str);
    let share = |place: usize| argument(place).map_or(Ok(1.0), str::parse::<f64>);
    let size = |full: u64, share: f64| ((full as f64 * share).ceil() as u64).max(1);
    match argument(0) {
        Some("speed") => speed(),
        Some("monitor") => {
            let share = share(1)?;
            monitored(RUNS.map(|full| size(full, share)))
        }
        _ => {
            let share = share(0)?;
            intervals(size(RUNS[0], share))?;
            monitored(RUNS.map(|full| size(full, share)))
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

fn monitored([_, judged, training]: [u64; 3]) -> Result<(), Box<dyn std::error::Error>> {
    println!("\nThe monitor of `calibrated` after 5000 plays, over {judged} runs (M = m with the probe: four times as");
    println!("many): alarms with bound M. A limit is the share that the best possible test of the probes finds, which");
    println!("knows the game.\n");
    monitor::table(&judged_games(), judged)?;
    println!("\nThe same on the games with which its constants were chosen, over {training} runs:\n");
    monitor::table(&monitor::training_games(), training)
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
