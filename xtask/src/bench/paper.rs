//! The time of `calibandit paper`: every figure, and the report.

use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Instant;

use super::{store, stored};
use crate::outcome::{StepError, StepOutcome};
use crate::requirements::Machine;
use crate::shell;

/// The cost of one run of the program.
pub(super) struct ProgramCost {
    /// Elapsed time.
    pub(super) seconds: f64,
    /// Seconds of CPU time and peak memory in kilobytes, if GNU time is installed.
    pub(super) cpu_and_memory: Option<(f64, f64)>,
}

/// Times it, and stores a sentence.
pub(crate) fn time_paper(_: &Machine) -> Result<StepOutcome, StepError> {
    let Some(cost) = run(&["paper"], available()) else {
        return store("paper.md", "`calibandit paper` could not be run.\n");
    };
    let cpu = cost.cpu_and_memory.map_or(String::new(), |(cpu, memory)| {
        format!(" ({cpu:.1} s of CPU time, peak memory {:.0} MB)", memory / 1024.0)
    });
    let sentence = format!(
        "`calibandit paper` (every figure with 20 instances and T = 10^6, and the report) takes {:.1} s on {} \
         threads{cpu}.\n",
        cost.seconds,
        available()
    );
    print!("{sentence}");
    store("paper.md", &sentence)
}

pub(super) fn available() -> usize {
    std::thread::available_parallelism().map_or(1, usize::from)
}

/// Runs `calibandit` with these arguments on `threads` threads. `None` if it fails.
pub(super) fn run(arguments: &[&str], threads: usize) -> Option<ProgramCost> {
    let program = shell::root().join("target/release/calibandit");
    let out = stored("out");
    let _ = fs::remove_dir_all(&out); // left by an earlier run
    let gnu_time = Path::new("/usr/bin/time");
    let mut command = Command::new(if gnu_time.exists() { gnu_time } else { program.as_path() });
    if gnu_time.exists() {
        command.args(["-f", "%U %S %M"]).arg(&program);
    }
    command.args(arguments).args(["--jobs", &threads.to_string(), "--out"]).arg(&out).stdout(Stdio::null());
    let start = Instant::now();
    let output = command.output().ok().filter(|output| output.status.success())?;
    let seconds = start.elapsed().as_secs_f64();
    let timing = String::from_utf8_lossy(&output.stderr);
    let numbers: Vec<f64> = timing.lines().last()?.split_whitespace().map_while(|word| word.parse().ok()).collect();
    let cpu_and_memory = match numbers.as_slice() {
        [user, system, memory] => Some((user + system, *memory)),
        _ => None,
    };
    Some(ProgramCost { seconds, cpu_and_memory })
}
