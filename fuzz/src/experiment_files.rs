//! Experiment files, in TOML and in JSON.

use std::sync::atomic::AtomicBool;

use calibandit::{Game, StreamKey};
use calibandit_experiment::Experiment;
use calibandit_experiment::run::{RunOptions, Shard, run};
use calibandit_experiment::schedule::ProgressUpdate;
use calibandit_experiment::spec::Overrides;

/// Larger files only take time.
const MOST_BYTES: usize = 4096;

/// The most that is simulated: points x policies x arms, and the memory of a game.
const MOST_WORK: usize = 64;
const LONGEST_MEMORY: usize = 12;

/// A file is refused with a message that names it, or it is written and read back without a change, and runs.
pub fn experiment_files(data: &[u8]) {
    if data.len() > MOST_BYTES {
        return;
    }
    let experiment = match Experiment::from_bytes("fuzzed.toml", data) {
        Ok(experiment) => experiment,
        Err(errors) => {
            let message = errors.to_string();
            assert!(message.contains("fuzzed.toml"), "the message names the file: {message}");
            let printed = message.chars().all(|c| !c.is_control() || c == '\n');
            assert!(printed, "no control character reaches a terminal: {message:?}");
            return;
        }
    };
    let text = experiment.to_toml().expect("an experiment that was read has a text");
    let again = Experiment::from_toml("fuzzed.toml", &text).unwrap_or_else(|errors| panic!("{errors}\n{text}"));
    assert_eq!(again, experiment, "written and read back without a change");
    let short = Overrides { horizon: Some(40), instances: Some(1), ..Overrides::default() };
    if let Ok(experiment) = experiment.with(short)
        && work(&experiment) <= MOST_WORK
    {
        simulate(&experiment);
    }
}

/// Points x policies x arms; more than [`MOST_WORK`] if a game is large.
fn work(experiment: &Experiment) -> usize {
    let policies = experiment.policies().len();
    let points = experiment.points().iter().map(|point| {
        let mut stream = StreamKey::new(experiment.seed(), experiment.name(), 0).game();
        let game: Game = point.game.draw(&mut stream).expect("validation has drawn the game of the first instance");
        if game.memory() > LONGEST_MEMORY { MOST_WORK + 1 } else { game.arms().len() * policies }
    });
    points.fold(0, usize::saturating_add)
}

fn simulate(experiment: &Experiment) {
    let stop = AtomicBool::new(false);
    let progress = |_: ProgressUpdate| {};
    let options = RunOptions { threads: 1, shard: Shard::WHOLE, stop: &stop, progress: &progress };
    // A game whose exact optimum is out of reach is refused with a typed error.
    let Ok(results) = run(experiment, &options, None) else { return };
    for curve in results.curves() {
        for sample in &curve.expect("few curves are in memory").samples {
            assert!(sample.loss.is_finite(), "losses are numbers");
            assert!(sample.cpr > -1e-9, "nothing is better than the optimum: {sample:?}");
        }
    }
}
