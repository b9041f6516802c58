//! Output folders and journals that were damaged after they were written: nothing damaged is ever taken for results.

#![allow(clippy::unwrap_used)] // a test may panic

mod damage;
mod folders;
mod journals;

use std::fs;
use std::path::Path;
use std::sync::atomic::AtomicBool;

use calibandit_experiment::Experiment;
use calibandit_experiment::output::{OutputDir, OutputLock};
use calibandit_experiment::results::Results;
use calibandit_experiment::run::{RunOptions, Shard, run};

/// Two points, two policies, three instances, four checkpoints.
fn experiment(name: &str, seed: u64) -> Experiment {
    let text = format!(
        "name = \"{name}\"\nhorizon = 200\ninstances = 3\nseed = {seed}\ncheckpoints = {{ points = 4 }}\n\
         game = {{ kind = \"darts\", arms = 3 }}\n\
         policy = [{{ kind = \"exp3\" }}, {{ kind = \"epoch-ucb\", memory_bound = 2 }}]\n\
         sweep = {{ \"policy.memory_bound\" = [2, 5] }}\n"
    );
    Experiment::from_toml("x.toml", &text).unwrap_or_else(|errors| panic!("{errors}"))
}

fn results(experiment: &Experiment, shard: Shard) -> Results {
    let stop = AtomicBool::new(false);
    run(experiment, &RunOptions { threads: 1, shard, stop: &stop, progress: &() }, None).unwrap()
}

fn lock(output: &OutputDir) -> OutputLock {
    output.lock("test", &|note| panic!("{note}")).unwrap()
}

/// Writes the tables and the manifest of a run or a shard.
fn write(folder: &Path, experiment: &Experiment, shard: Shard) {
    let output = OutputDir::new(folder);
    let all = [results(experiment, shard)];
    lock(&output).write_tables(std::slice::from_ref(experiment), &all, shard).unwrap().finish().unwrap();
}

fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to).unwrap();
    for file in fs::read_dir(from).unwrap().map(Result::unwrap) {
        fs::copy(file.path(), to.join(file.file_name())).unwrap();
    }
}

/// The number of damages: `CALIBANDIT_DAMAGES`, for longer searches.
fn damages() -> u64 {
    std::env::var("CALIBANDIT_DAMAGES").ok().and_then(|text| text.parse().ok()).unwrap_or(300)
}
