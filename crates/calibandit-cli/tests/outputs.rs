//! Standard output and standard error that cannot be written: results are written all the same.

#![cfg(target_os = "linux")] // /dev/full
#![allow(clippy::unwrap_used)] // a test may panic

use std::fs::{self, File};
use std::process::{Command, Stdio};

const EXPERIMENT: &str = "name = \"small\"\nhorizon = 100\ninstances = 2\n\
    game = { kind = \"step\", arms = 3, memory = 2 }\n\
    policy = [{ kind = \"calibrated\", memory_bound = 1 }]\n";

fn full() -> Stdio {
    File::options().write(true).open("/dev/full").unwrap().into()
}

/// Runs the experiment, whose memory bound causes a warning, with these outputs. Returns the exit code.
fn run(stdout: Stdio, stderr: Stdio) -> Option<i32> {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("small.toml"), EXPERIMENT).unwrap();
    let mut program = Command::new(env!("CARGO_BIN_EXE_calibandit"));
    program.current_dir(folder.path()).args(["run", "small.toml", "--out", "out"]).stdout(stdout).stderr(stderr);
    let code = program.status().unwrap().code();
    for file in ["results.csv", "manifest.json", "report.html"] {
        assert!(folder.path().join("out").join(file).is_file(), "{file} is missing");
    }
    code
}

#[test]
fn results_are_written_if_standard_error_is_full() {
    assert_eq!(run(Stdio::null(), full()), Some(0));
}

#[test]
fn results_are_written_if_the_reader_of_standard_error_has_gone() {
    let (reader, writer) = std::io::pipe().unwrap();
    drop(reader);
    assert_eq!(run(Stdio::null(), writer.into()), Some(0));
}

#[test]
fn results_are_written_if_standard_output_is_full_and_the_failure_is_reported() {
    assert_eq!(run(full(), Stdio::null()), Some(1));
}

#[test]
fn results_are_written_if_nothing_can_be_printed() {
    assert_eq!(run(full(), full()), Some(1));
}
