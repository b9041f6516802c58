//! The whole of `calibandit paper`: every figure, the report written.

use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Instant;

use super::{keep, kept};
use crate::shell;
use crate::steps::{Failure, Tally};

/// What a run of the program took.
pub(super) struct Taken {
    /// By the clock.
    pub(super) seconds: f64,
    /// Seconds of CPU time and the most memory in kilobytes, if the program `time` tells.
    pub(super) cpu_and_memory: Option<(f64, f64)>,
}

/// Times it, and keeps a sentence.
pub(crate) fn time() -> Result<Tally, Failure> {
    let Some(taken) = run(&["paper"], available()) else {
        return keep("paper.md", "`calibandit paper` could not be run.\n");
    };
    let cpu = taken.cpu_and_memory.map_or(String::new(), |(cpu, memory)| {
        format!(" ({cpu:.1} s of CPU time, {:.0} MB of memory at most)", memory / 1024.0)
    });
    let sentence = format!(
        "`calibandit paper`, every figure with 20 instances and T = 10^6 and the report written: {:.1} s by the clock on {} \
         threads{cpu}.\n",
        taken.seconds,
        available()
    );
    print!("{sentence}");
    keep("paper.md", &sentence)
}

pub(super) fn available() -> usize {
    std::thread::available_parallelism().map_or(1, usize::from)
}

/// Runs `calibandit` with these arguments on so many threads. `None` if it fails.
pub(super) fn run(arguments: &[&str], threads: usize) -> Option<Taken> {
    let program = shell::root().join("target/release/calibandit");
    let out = kept("out");
    let _ = fs::remove_dir_all(&out); // from a run before
    let gnu_time = Path::new("/usr/bin/time");
    let mut command = Command::new(if gnu_time.exists() { gnu_time } else { program.as_path() });
    if gnu_time.exists() {
        command.args(["-f", "%U %S %M"]).arg(&program);
    }
    command.args(arguments).args(["--jobs", &threads.to_string(), "--out"]).arg(&out).stdout(Stdio::null());
    let start = Instant::now();
    let output = command.output().ok().filter(|output| output.status.success())?;
    let seconds = start.elapsed().as_secs_f64();
    let told = String::from_utf8_lossy(&output.stderr);
    let numbers: Vec<f64> = told.lines().last()?.split_whitespace().map_while(|word| word.parse().ok()).collect();
    let cpu_and_memory = match numbers.as_slice() {
        [user, system, memory] => Some((user + system, *memory)),
        _ => None,
    };
    Some(Taken { seconds, cpu_and_memory })
}
