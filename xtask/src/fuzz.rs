//! `cargo xtask fuzz`: the targets of `fuzz/` under libFuzzer, each for a stated number of executions.
//!
//! The stable compiler instruments the code; no nightly toolchain is needed. Inputs that libFuzzer finds are kept in
//! `target/fuzz/corpus`, so that the next run goes on from them.

use std::fs;
use std::time::Instant;

use crate::evidence::{self, EvidenceTable};
use crate::outcome::{StepError, StepOutcome};
use crate::requirements::Machine;
use crate::shell::{self, OutputStream, Program};

/// The targets and the executions of each in a full run: 10^7 in all. Targets that write files or run experiments are
/// slower, so they have fewer.
const TARGETS: [(&str, u64); 10] = [
    ("experiment_files", 400_000),
    ("journals", 200_000),
    ("manifests", 300_000),
    ("results_csv", 4_000_000),
    ("parquet_tables", 100_000),
    ("snapshots", 4_000_000),
    ("lane_snapshots", 500_000),
    ("fit_tables", 300_000),
    ("histories", 100_000),
    ("logs", 100_000),
];

const FOLDER: &str = "target/fuzz";

/// The most memory of a target, in MB. A damaged page of a Parquet file can claim 2 GB, which the Parquet reader
/// takes before it finds the page too short.
const MEMORY: &str = "-rss_limit_mb=3072";

/// The most seconds of one execution, by the clock: other programs may use the machine too.
const TIMEOUT: &str = "-timeout=60";

/// What tells libFuzzer which code an input reaches.
const COVERAGE: &str = "-Cpasses=sancov-module -Cllvm-args=-sanitizer-coverage-level=4 \
    -Cllvm-args=-sanitizer-coverage-inline-8bit-counters -Cllvm-args=-sanitizer-coverage-pc-table \
    -Cllvm-args=-sanitizer-coverage-trace-compares --cfg fuzzing";

/// Compiles all targets. The profile `fuzz` has debug assertions and overflow checks for the crates of the workspace.
pub(crate) fn build(_: &Machine) -> Result<StepOutcome, StepError> {
    let host = host()?;
    // A named target keeps the instrumentation out of build scripts and procedural macros.
    let arguments =
        ["build", "--profile", "fuzz", "--quiet", "--package", "calibandit-fuzz", "--features", "libfuzzer"];
    let folder = ["--bins", "--target-dir", FOLDER, "--target", &host];
    let build = Program::cargo([&arguments[..], &folder[..]].concat()).env("RUSTFLAGS", COVERAGE);
    build.run().map(|()| StepOutcome::default())
}

/// Runs every target. `CALIBANDIT_FUZZ_SHARE` is the part of the executions to make: 0.01 for a short look.
pub(crate) fn run(_: &Machine) -> Result<StepOutcome, StepError> {
    let share = evidence::share("CALIBANDIT_FUZZ_SHARE");
    let host = host()?;
    let mut table = EvidenceTable::new(["target", "executions", "crashes", "seconds"]);
    let mut all = 0;
    for (name, executions) in TARGETS {
        let runs = ((executions as f64 * share) as u64).max(1);
        let (made, seconds) = run_target(name, runs, &host)?;
        all += made;
        table.row([name.to_string(), evidence::grouped(made), "0".to_string(), format!("{seconds:.0}")]);
    }
    table.row(["all".to_string(), evidence::grouped(all), "0".to_string(), String::new()]);
    print!("{table}");
    if share >= 1.0 {
        evidence::write_to_page("fuzz", &table)?;
    }
    Ok(StepOutcome { passed: TARGETS.len() as u64, skipped: Vec::new() })
}

/// Runs one target; an input that makes it fail is kept in `target/fuzz`. Returns the executions and the seconds.
fn run_target(name: &str, runs: u64, host: &str) -> Result<(u64, f64), StepError> {
    let found = format!("{FOLDER}/corpus/{name}");
    let path = shell::root().join(&found);
    fs::create_dir_all(&path).map_err(|error| StepError::File { path, error })?;
    let program = shell::root().join(FOLDER).join(host).join("fuzz").join(name).display().to_string();
    let start = Instant::now();
    let (runs, failing) = (format!("-runs={runs}"), format!("-artifact_prefix={FOLDER}/{name}-"));
    let limits = ["-max_len=4096", TIMEOUT, MEMORY, "-print_final_stats=1", "-verbosity=0"];
    let (seeds, options) = (format!("fuzz/corpus/{name}"), [runs.as_str(), failing.as_str()]);
    let arguments = [&options[..], &limits[..], &[found.as_str(), seeds.as_str()]].concat();
    println!("{name}");
    let output = Program::new(program, arguments).run_echoing(OutputStream::Stderr)?;
    let made = output.lines().find_map(|line| line.strip_prefix("stat::number_of_executed_units:"));
    let made = made.and_then(|count| count.trim().parse().ok()).unwrap_or(0);
    Ok((made, start.elapsed().as_secs_f64()))
}

/// The name of this machine's platform, as `rustc` has it.
fn host() -> Result<String, StepError> {
    let output = Program::new("rustc", ["-vV"]).run_echoing(OutputStream::Stdout)?;
    let host = output.lines().find_map(|line| line.strip_prefix("host: "));
    Ok(host.unwrap_or("x86_64-unknown-linux-gnu").to_string())
}
