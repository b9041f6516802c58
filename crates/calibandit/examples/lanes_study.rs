//! Measurements of docs/lanes.md: regret with lanes and late losses, memory per idle lane, time per ask.
//!
//! ```text
//! cargo run --release -p calibandit --example lanes_study -- regret    # delay, lanes, explorers; about a minute
//! cargo run --release -p calibandit --example lanes_study -- speed     # time per ask, bytes per idle lane
//! ```

use std::error::Error;
use std::time::Instant;

use calibandit::lanes::{ExpiryRule, LaneAdvisor, LaneFiller, LaneSettings};
use calibandit::policy::Calibrated;
use calibandit::simulate::{DelayLaw, LiveSpec, simulate_live};
use calibandit::{GameSpec, Grid, Interrupt, PolicySpec, StreamKey};

fn main() -> Result<(), Box<dyn Error>> {
    match std::env::args().nth(1).as_deref() {
        Some("regret") => regret(),
        Some("speed") => speed(),
        _ => Err("give `regret` or `speed`".into()),
    }
}

const INSTANCES: u64 = 40;
const PLAYS: u64 = 200_000;

/// A name, the memory and the specification.
type NamedGame = (&'static str, u64, GameSpec);

/// Games of docs/calibrated.md.
fn games() -> Result<Vec<NamedGame>, Box<dyn Error>> {
    let of = |name, memory, text: &str| Ok::<_, Box<dyn Error>>((name, memory, serde_json::from_str(text)?));
    Ok(vec![
        of("step, 3, 5", 3, r#"{"kind": "step", "arms": 5, "memory": 3}"#)?,
        of("step, 10, 20", 10, r#"{"kind": "step", "arms": 20, "memory": 10}"#)?,
        of("alpha-reo, 4, 5", 4, r#"{"kind": "alpha-reo", "arms": 5, "memory": 4}"#)?,
        of("decay, 4, 5", 4, r#"{"kind": "decay", "arms": 5, "memory": 4}"#)?,
    ])
}

/// The mean regret and its standard error, the mean sum of the gaps, and the mean number of switches.
fn mean(game: &GameSpec, memory: u64, live: &LiveSpec) -> Result<(f64, f64, f64), Box<dyn Error>> {
    let policy = PolicySpec::from(Calibrated::builder(memory));
    let (mut regrets, mut gaps) = (Vec::new(), 0.0);
    for instance in 0..INSTANCES {
        let key = StreamKey::new(1, "lanes study", instance);
        let game = game.draw(&mut key.game())?;
        let played = simulate_live(&game, &policy, &Grid::end(PLAYS)?, live, key, Interrupt::never())?;
        regrets.push(played.regret());
        gaps += game.arms().iter().map(|arm| arm.eventual_loss() - game.best_loss()).sum::<f64>();
    }
    let n = regrets.len() as f64;
    let mean = regrets.iter().sum::<f64>() / n;
    let variance = regrets.iter().map(|regret| (regret - mean).powi(2)).sum::<f64>() / (n - 1.0);
    Ok((mean, (variance / n).sqrt(), gaps / n))
}

fn regret() -> Result<(), Box<dyn Error>> {
    println!("T = {PLAYS} plays in all, {INSTANCES} instances, M = m; mean regret (standard error)\n");
    println!("| game | delay | regret | without delay + d x sum of gaps |\n|---|---|---|---|");
    for (name, memory, game) in games()? {
        let (base, _, gaps) = mean(&game, memory, &LiveSpec::default())?;
        for delay in [0.0, 10.0, 100.0] {
            for filler in [LaneFiller::Stay, LaneFiller::Leader] {
                let live = LiveSpec::default().delay(delay, DelayLaw::Constant).filler(filler);
                let (mean, error, _) = mean(&game, memory, &live)?;
                println!("| {name} | {delay} {filler:?} | {mean:.1} ({error:.1}) | {:.1} |", base + delay * gaps);
            }
        }
    }
    println!("\n| game | lanes | regret | 1.5 x one lane + burn-in of explorers |\n|---|---|---|---|");
    for (name, memory, game) in games()? {
        let (base, _, _) = mean(&game, memory, &LiveSpec::default())?;
        for lanes in [1, 10, 100, 1000] {
            let (mean, error, _) = mean(&game, memory, &LiveSpec::default().lanes(lanes))?;
            println!("| {name} | {lanes} | {mean:.1} ({error:.1}) | {:.1} |", 1.5 * base);
        }
    }
    println!("\n| game | lanes | explorers | regret |\n|---|---|---|---|");
    for (name, memory, game) in games()? {
        for explorers in [1, 2, 5, 10, 30, 100] {
            let (mean, error, _) = mean(&game, memory, &LiveSpec::default().lanes(100).explorers(explorers))?;
            println!("| {name} | 100 | {explorers} | {mean:.1} ({error:.1}) |");
        }
    }
    Ok(())
}

/// The resident memory in bytes, where the system tells it.
fn resident() -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find(|line| line.starts_with("VmRSS:"))?;
    Some(1024 * line.split_whitespace().nth(1)?.parse::<u64>().ok()?)
}

/// The CPU time of this process in seconds, where the system tells it: other processes do not change it much.
fn cpu_seconds() -> Option<f64> {
    let stat = std::fs::read_to_string("/proc/self/stat").ok()?;
    let fields: Vec<&str> = stat.rsplit_once(')')?.1.split_whitespace().collect();
    let ticks = |field: usize| fields.get(field)?.parse::<f64>().ok();
    // User and system time, in ticks of 1/100 s.
    Some((ticks(11)? + ticks(12)?) / 100.0)
}

fn speed() -> Result<(), Box<dyn Error>> {
    let settings = LaneSettings::new(ExpiryRule::Never).many();
    let mut advisor = LaneAdvisor::builder(Calibrated::builder(8), 10, settings).build()?;
    let lanes = 100_000;
    let mut play = |lane: u64, now: u64| -> Result<(), Box<dyn Error>> {
        let decision = advisor.ask(lane, now)?;
        let loss = if (decision.id * 7919 + decision.arm as u64) % 10 < decision.arm as u64 + 1 { 1.0 } else { 0.0 };
        advisor.tell(decision.id, loss, now)?;
        Ok(())
    };
    for lane in 0..lanes {
        play(lane, 0)?;
    }
    let (start, cpu) = (Instant::now(), cpu_seconds());
    let rounds = 20;
    for round in 1..=rounds {
        // Not in the order of their numbers.
        for lane in 0..lanes {
            play(lane * 7919 % lanes, round)?;
        }
    }
    let per_play = |seconds: f64| 1e9 * seconds / (rounds * lanes) as f64;
    println!("{lanes} active lanes: {:.0} ns per ask and tell (elapsed)", per_play(start.elapsed().as_secs_f64()));
    if let Some((before, after)) = cpu.zip(cpu_seconds()) {
        println!("{lanes} active lanes: {:.0} ns per ask and tell (CPU time)", per_play(after - before));
    }
    let before = resident();
    let mut advisor = LaneAdvisor::builder(Calibrated::builder(8), 10, settings).build()?;
    let idle = 1_000_000;
    for lane in 0..idle {
        let decision = advisor.ask(lane, 0)?;
        advisor.tell(decision.id, 0.5, 0)?;
    }
    match (before, resident()) {
        (Some(before), Some(after)) => println!("{idle} idle lanes: {} bytes per lane", (after - before) / idle),
        _ => println!("this system does not tell the memory of a process"),
    }
    Ok(())
}
