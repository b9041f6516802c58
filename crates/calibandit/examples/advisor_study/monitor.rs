//! The study of the monitor: its alarms, beside what the best possible test could find.

use calibandit::policy::Calibrated;
use calibandit::{Advisor, Stream, StreamKey};

use crate::simulation::{Law, MonitoredGame, WarmUp};

/// The number of plays of a run.
const PLAYS: u64 = 5_000;
/// Differences of losses that do not matter: from m(eps) on, losses are this close to the eventual ones.
const TOLERANCE: f64 = 0.1;
/// The number of draws for a limit.
const DRAWS: u64 = 10_000;
/// False alarms of the probe are near their limit, so they are counted in this many times as many runs.
const FALSE_ALARM_RUNS: u64 = 4;
/// The probability of a false alarm.
const FALSE_ALARMS: f64 = 0.05;

/// The games with which the constants of the monitor were chosen: those of the bets with the first seven, the shapes
/// and the preference of the test of probes with the others.
pub(crate) fn training_games() -> Vec<MonitoredGame> {
    let game = |name, warm_up, memory, drop, law| MonitoredGame { name, warm_up, memory, drop, law };
    vec![
        game("step 8, 0/1", WarmUp::Step, 8, 0.4, Law::Bernoulli),
        game("step 32, 0/1", WarmUp::Step, 32, 0.4, Law::Bernoulli),
        game("linear 32, 0/1", WarmUp::Linear, 32, 0.6, Law::Bernoulli),
        game("exponential 32, 0/1", WarmUp::Exponential, 32, 0.6, Law::Bernoulli),
        game("linear 8, small noise", WarmUp::Linear, 8, 0.4, Law::Narrow),
        game("linear 32, small noise", WarmUp::Linear, 32, 0.4, Law::Narrow),
        game("exponential 32, small noise", WarmUp::Exponential, 32, 0.4, Law::Narrow),
        game("step 6, 0/1", WarmUp::Step, 6, 0.3, Law::Bernoulli),
        game("step 12, 0/1", WarmUp::Step, 12, 0.4, Law::Bernoulli),
        game("step 20, 0/1", WarmUp::Step, 20, 0.25, Law::Bernoulli),
        game("step 48, 0/1", WarmUp::Step, 48, 0.3, Law::Bernoulli),
        game("linear 12, 0/1", WarmUp::Linear, 12, 0.6, Law::Bernoulli),
        game("linear 24, 0/1", WarmUp::Linear, 24, 0.6, Law::Bernoulli),
        game("linear 48, 0/1", WarmUp::Linear, 48, 0.5, Law::Bernoulli),
        game("exponential 24, 0/1", WarmUp::Exponential, 24, 0.6, Law::Bernoulli),
        game("exponential 48, 0/1", WarmUp::Exponential, 48, 0.6, Law::Bernoulli),
    ]
}

/// One table: the share of runs with an alarm, and the limits for the two bounds that count.
pub(crate) fn table(games: &[MonitoredGame], runs: u64) -> Result<(), Box<dyn std::error::Error>> {
    println!("| game | M = m | M = m, probe | M = m/2 | M = m(0.1)/2, probe | limit | M = m/2, probe | limit |");
    println!("|---|---:|---:|---:|---:|---:|---:|---:|");
    for game in games {
        let counted = |bound: u64, probe: bool, runs: u64| -> Result<String, Box<dyn std::error::Error>> {
            let mut alarms = 0u64;
            for run in 0..runs {
                alarms += u64::from(game.play(bound, probe, PLAYS, run)?.monitor().alarm);
            }
            Ok(percent(alarms, runs))
        };
        let alarms = |bound: u64, probe: bool| counted(bound, probe, runs);
        let (memory, half, settled) = (game.memory, game.memory / 2, game.settled(TOLERANCE) / 2);
        println!(
            "| {} | {} | {} | {} | **{}** | {} | {} | {} |",
            game.name,
            alarms(memory, false)?,
            counted(memory, true, FALSE_ALARM_RUNS * runs)?,
            alarms(half, false)?,
            alarms(settled, true)?,
            limit(game, settled)?,
            alarms(half, true)?,
            limit(game, half)?,
        );
    }
    Ok(())
}

fn percent(part: u64, all: u64) -> String {
    format!("{:.1} %", 100.0 * part as f64 / all as f64)
}

/// How often the best possible test finds this bound too small with the plays of the probes, recorded ones included.
///
/// It knows the game. By Neyman and Pearson, no test with as few false alarms in the game whose losses are constant,
/// with the same mean for each arm, is more powerful than the likelihood ratio of the two games; a test that has few
/// false alarms in every game with constant losses has few in that one.
fn limit(game: &MonitoredGame, bound: u64) -> Result<String, Box<dyn std::error::Error>> {
    let builder = Advisor::builder(Calibrated::builder(bound), MonitoredGame::ARMS).probe(true).horizon(PLAYS);
    let mut advisor = builder.build()?;
    advisor.ask()?;
    let recorded = advisor.current_run().map_or(0, |run| run.record);
    let positions = bound..4 * bound + recorded;
    let arms: Vec<Vec<f64>> = (0..MonitoredGame::ARMS)
        .map(|arm| positions.clone().map(|position| game.mean(arm, position.min(game.memory))).collect())
        .collect();
    let mut stream = StreamKey::new(1, game.name, bound).noise();
    let mut ratios = |warming| -> Vec<f64> {
        (0..DRAWS).map(|_| arms.iter().map(|means| ratio(game.law, means, warming, &mut stream)).sum()).collect()
    };
    let mut constant = ratios(false);
    constant.sort_by(f64::total_cmp);
    let critical = constant[((1.0 - FALSE_ALARMS) * DRAWS as f64) as usize];
    let found = ratios(true).into_iter().filter(|&ratio| ratio > critical).count();
    Ok(percent(found as u64, DRAWS))
}

/// The logarithm of the likelihood ratio of the losses of one arm, drawn while it warms up or from their common mean.
fn ratio(law: Law, means: &[f64], warming: bool, stream: &mut Stream) -> f64 {
    let common = means.iter().sum::<f64>() / means.len() as f64;
    let one = |&mean: &f64| {
        let loss = law.draw(if warming { mean } else { common }, stream);
        log_likelihood(law, loss, mean) - log_likelihood(law, loss, common)
    };
    means.iter().map(one).sum()
}

/// The logarithm of the density of a loss, up to a constant. Impossible losses have a finite one, so that ratios are
/// numbers.
fn log_likelihood(law: Law, loss: f64, mean: f64) -> f64 {
    const IMPOSSIBLE: f64 = -1e6;
    match law {
        Law::Bernoulli if loss > 0.5 => mean.ln(),
        Law::Bernoulli => (1.0 - mean).ln(),
        Law::Narrow if (loss - mean).abs() <= 0.05 + 1e-12 => 0.0,
        Law::Narrow | Law::Skewed => IMPOSSIBLE,
        Law::Normal => -0.5 * (loss - mean) * (loss - mean),
    }
}
