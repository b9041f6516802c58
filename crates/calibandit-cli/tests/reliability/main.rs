//! The real program, killed at random moments, and two of them at once in one folder.
//!
//! The quick versions run always. `CALIBANDIT_KILLS` and `CALIBANDIT_WRITERS` set other numbers of kills and of pairs
//! of processes.

#![allow(clippy::unwrap_used)] // a test may panic

mod kills;
mod writers;

use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};

use tempfile::TempDir;

/// An experiment of some tenths of a second.
const EXPERIMENT: &str = r#"
name = "small"
horizon = 20_000
instances = 6
seed = 5
checkpoints = { points = 20 }
game = { kind = "darts", arms = 4 }
policy = [{ kind = "ucb1" }, { kind = "exp3" }, { kind = "epoch-ucb", memory_bound = 2 }]
sweep = { "policy.memory_bound" = [2, 5] }
"#;

fn folder() -> TempDir {
    let folder = TempDir::new().unwrap();
    fs::write(folder.path().join("small.toml"), EXPERIMENT).unwrap();
    fs::write(folder.path().join("other.toml"), EXPERIMENT.replace("\"small\"", "\"other\"")).unwrap();
    folder
}

fn program(folder: &Path, arguments: &[&str]) -> Command {
    let mut program = Command::new(env!("CARGO_BIN_EXE_calibandit"));
    program.current_dir(folder).args(arguments).stdout(Stdio::null()).stderr(Stdio::piped());
    program
}

/// Runs a command that must succeed.
fn run(folder: &Path, arguments: &[&str]) {
    let output = program(folder, arguments).output().unwrap();
    assert!(output.status.success(), "{arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
}

/// A number that can be set for longer tests.
fn number(variable: &str, default: u64) -> u64 {
    std::env::var(variable).ok().and_then(|text| text.parse().ok()).unwrap_or(default)
}

/// Numbers that look random, from 0 to 1 (the multiples of the golden ratio).
fn random(i: u64) -> f64 {
    (i as f64 * 0.618_033_988_749_894_9).fract()
}
