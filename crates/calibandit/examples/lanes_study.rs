//! Measurements of docs/lanes.md: regret with lanes and late losses, memory per idle lane, time per ask.
//!
//! ```text
//! cargo run --release -p calibandit --example lanes_study -- delay        # regret against delays
//! cargo run --release -p calibandit --example lanes_study -- lanes 2 40   # against lanes: seed and instances
//! cargo run --release -p calibandit --example lanes_study -- explorers    # against the number of explorers
//! cargo run --release -p calibandit --example lanes_study -- speed     # time per ask, bytes per idle lane
//! ```

use std::error::Error;
use std::time::Instant;

use calibandit::lanes::{ExpiryRule, LaneAdvisor, LaneFiller, LaneSettings};
use calibandit::policy::Calibrated;
use calibandit::simulate::{DelayLaw, LiveSpec, simulate_live};
use calibandit::{GameSpec, Grid, Interrupt, PolicySpec, StreamKey};

fn main() -> Result<(), Box<dyn Error>> {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let study = Study {
        seed: args.get(1).map_or(Ok(JUDGED_SEED), |seed| seed.parse())?,
        instances: args.get(2).map_or(Ok(INSTANCES), |count| count.parse())?,
    };
    match args.first().map(String::as_str) {
        Some("delay") => study.delay(),
        Some("lanes") => study.lanes(&[10, 100, 1000]),
        Some("explorers") => study.explorers(),
        Some("speed") => speed(),
        _ => Err("give `delay`, `lanes` or `explorers`, with a seed and a number of instances if you like, or `speed`"
            .into()),
    }
}

/// The constants of the plan were chosen with seed 1.
const JUDGED_SEED: u64 = 2;
const INSTANCES: u64 = 40;
const PLAYS: u64 = 200_000;

/// A name, the memory and the specification.
type NamedGame = (&'static str, u64, GameSpec);

/// Games of docs/calibrated.md, on which constants were chosen; then games that had no part in that.
const GAMES: [(&str, u64, &str); 8] = [
    ("step, 3, 5", 3, r#"{"kind": "step", "arms": 5, "memory": 3}"#),
    ("step, 10, 20", 10, r#"{"kind": "step", "arms": 20, "memory": 10}"#),
    ("alpha-reo, 4, 5", 4, r#"{"kind": "alpha-reo", "arms": 5, "memory": 4}"#),
    ("decay, 4, 5", 4, r#"{"kind": "decay", "arms": 5, "memory": 4}"#),
    ("step, 5, 10", 5, r#"{"kind": "step", "arms": 10, "memory": 5}"#),
    ("decay, 8, 12", 8, r#"{"kind": "decay", "arms": 12, "memory": 8}"#),
    ("random-reo, 6, 8", 6, r#"{"kind": "random-reo", "arms": 8, "memory": 6}"#),
    ("darts, 2", 2, r#"{"kind": "darts"}"#),
];
/// The number of games on which constants were chosen.
const TUNED: usize = 4;

fn games() -> Result<Vec<NamedGame>, Box<dyn Error>> {
    GAMES.iter().map(|&(name, memory, text)| Ok((name, memory, serde_json::from_str(text)?))).collect()
}

/// Means over instances.
struct LiveMeans {
    regret: f64,
    /// The standard error of the regret.
    error: f64,
    /// The part of the regret that is burn-in.
    burn_in: f64,
    /// The sum of the gaps.
    gaps: f64,
}

/// The streams of the measurements.
struct Study {
    seed: u64,
    instances: u64,
}

impl Study {
    fn mean(&self, game: &GameSpec, memory: u64, live: &LiveSpec) -> Result<LiveMeans, Box<dyn Error>> {
        let policy = PolicySpec::from(Calibrated::builder(memory));
        let (mut regrets, mut gaps, mut burn_in) = (Vec::new(), 0.0, 0.0);
        for instance in 0..self.instances {
            let key = StreamKey::new(self.seed, "lanes study", instance);
            let game = game.draw(&mut key.game())?;
            let played = simulate_live(&game, &policy, &Grid::end(PLAYS)?, live, key, Interrupt::never())?;
            regrets.push(played.regret());
            burn_in += played.burn_in_cost();
            gaps += game.arms().iter().map(|arm| arm.eventual_loss() - game.best_loss()).sum::<f64>();
        }
        let n = regrets.len() as f64;
        let regret = regrets.iter().sum::<f64>() / n;
        let variance = regrets.iter().map(|other| (other - regret).powi(2)).sum::<f64>() / (n - 1.0);
        Ok(LiveMeans { regret, error: (variance / n).sqrt(), burn_in: burn_in / n, gaps: gaps / n })
    }

    fn title(&self) {
        let Self { seed, instances } = self;
        println!("T = {PLAYS} plays in all, {instances} instances, M = m, seed {seed}; mean regret (standard error)\n");
    }

    fn delay(&self) -> Result<(), Box<dyn Error>> {
        self.title();
        println!("| game | delay | regret | without delay + d x sum of gaps |\n|---|---|---|---|");
        for (name, memory, game) in games()? {
            let base = self.mean(&game, memory, &LiveSpec::default())?;
            for delay in [0.0, 10.0, 100.0] {
                for filler in [LaneFiller::Stay, LaneFiller::Leader] {
                    let live = LiveSpec::default().delay(delay, DelayLaw::Constant).filler(filler);
                    let LiveMeans { regret, error, .. } = self.mean(&game, memory, &live)?;
                    let bound = base.regret + delay * base.gaps;
                    println!("| {name} | {delay} {filler:?} | {regret:.1} ({error:.1}) | {bound:.1} |");
                }
            }
        }
        Ok(())
    }

    fn lanes(&self, counts: &[u64]) -> Result<(), Box<dyn Error>> {
        self.title();
        println!("| game | lanes | regret | of it burn-in | ratio to one lane | ratio without further burn-in |");
        println!("|---|---|---|---|---|---|");
        for (place, (name, memory, game)) in games()?.into_iter().enumerate() {
            let one = self.mean(&game, memory, &LiveSpec::default())?;
            let name = if place < TUNED { name.to_string() } else { format!("{name} (not tuned)") };
            println!("| {name} | 1 | {:.1} ({:.1}) | {:.1} | 1.00 | 1.00 |", one.regret, one.error, one.burn_in);
            for &lanes in counts {
                let many = self.mean(&game, memory, &LiveSpec::default().lanes(lanes))?;
                let LiveMeans { regret, error, burn_in, .. } = many;
                let (ratio, net) = (regret / one.regret, (regret - (burn_in - one.burn_in)) / one.regret);
                println!("| {name} | {lanes} | {regret:.1} ({error:.1}) | {burn_in:.1} | {ratio:.2} | {net:.2} |");
            }
        }
        Ok(())
    }

    fn explorers(&self) -> Result<(), Box<dyn Error>> {
        self.title();
        println!("| game | lanes | explorers | regret |\n|---|---|---|---|");
        for (name, memory, game) in games()? {
            for explorers in [1, 2, 5, 10, 30, 100] {
                let live = LiveSpec::default().lanes(100).explorers(explorers);
                let LiveMeans { regret, error, .. } = self.mean(&game, memory, &live)?;
                println!("| {name} | 100 | {explorers} | {regret:.1} ({error:.1}) |");
            }
        }
        Ok(())
    }
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
