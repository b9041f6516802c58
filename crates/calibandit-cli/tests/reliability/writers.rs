//! Two processes at once with one output folder.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::time::Duration;

use calibandit_experiment::output::files::contents;

use super::{folder, number, program, random, run};

const FIRST: [&str; 4] = ["run", "small.toml", "--out", "out"];

/// The second process: the same command, another seed, another experiment, another experiment by force.
const SECOND: [&[&str]; 4] = [
    &FIRST,
    &["run", "small.toml", "--out", "out", "--seed", "6"],
    &["run", "other.toml", "--out", "out"],
    &["run", "other.toml", "--out", "out", "--force"],
];

#[test]
fn of_two_writers_one_is_refused_or_waits_its_turn_and_files_are_never_mixed() {
    let reference = folder();
    let result_of = |arguments: &[&str]| -> BTreeMap<PathBuf, Vec<u8>> {
        let _ = std::fs::remove_dir_all(reference.path().join("out"));
        run(reference.path(), arguments);
        contents(&reference.path().join("out"))
    };
    let first = result_of(&FIRST);
    let second: Vec<_> = SECOND.iter().map(|arguments| result_of(arguments)).collect();
    let tries = number("CALIBANDIT_WRITERS", 20);
    let (mut refused, mut both) = (0, 0);
    for i in 0..tries {
        let which = i as usize % SECOND.len();
        let folder = folder();
        let one = program(folder.path(), &FIRST).spawn().unwrap();
        // Both at once, or one while the other computes or writes.
        std::thread::sleep(Duration::from_secs_f64(0.3 * (random(i) - 0.3).max(0.0)));
        let other = program(folder.path(), SECOND[which]).spawn().unwrap();
        let outputs = [one, other].map(|child| child.wait_with_output().unwrap());
        let succeeded = outputs.iter().filter(|output| output.status.success()).count();
        for output in outputs.iter().filter(|output| !output.status.success()) {
            let message = String::from_utf8_lossy(&output.stderr);
            let is_refusal = message.contains("is being written by") || message.contains("holds the results of");
            assert!(is_refusal && output.status.code() == Some(1), "try {i}: {message}");
            refused += 1;
        }
        assert!(succeeded > 0, "try {i}: both were refused");
        both += u64::from(succeeded == 2);
        let files = contents(&folder.path().join("out"));
        assert!(files == first || files == second[which], "try {i}: the folder is of neither: {:?}", files.keys());
    }
    println!("pairs of writers: {tries}, refused: {refused}, one after the other: {both}, mixed folders: 0");
}
