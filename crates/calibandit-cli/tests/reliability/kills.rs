//! The program is killed at random moments and started again until it ends.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use calibandit_experiment::ErrorKind;
use calibandit_experiment::output::OutputDir;
use calibandit_experiment::output::files::contents;

use super::{folder, number, program, random, run};

/// What kills have shown.
#[derive(Default)]
struct Kills {
    kills: u64,
    /// Commands that were killed at least once and then ended.
    ended: u64,
    /// Kills after which the results were complete, absent, or reported as incomplete.
    complete: u64,
    absent: u64,
}

/// Whether a file is one that users see, and not a journal, a lock or a temporary file.
fn is_visible(name: &Path) -> bool {
    name.components().all(|part| !part.as_os_str().to_string_lossy().starts_with('.'))
}

impl Kills {
    /// Starts a command and kills it at random moments, until it ends by itself. Every file of `out` is then as in
    /// `expected`; after each kill, every file that is there is complete: as in `expected` or as `before`.
    fn kill_until_done(&mut self, at: &Path, arguments: &[&str], out: &Path, expected: &BTreeMap<PathBuf, Vec<u8>>) {
        let before = contents(out);
        let start = Instant::now();
        let mut killed = false;
        // The time of an undisturbed run is not known in advance; kills are spread over ever longer times.
        let mut span = 0.02;
        loop {
            let mut child = program(at, arguments).spawn().unwrap();
            let moment = Duration::from_secs_f64(span * random(self.kills));
            let started = Instant::now();
            let status = loop {
                match child.try_wait().unwrap() {
                    Some(status) => break Some(status),
                    None if started.elapsed() >= moment => break None,
                    None => std::thread::sleep(Duration::from_micros(200)),
                }
            };
            if let Some(status) = status {
                let output = child.wait_with_output().unwrap();
                assert!(status.success(), "{arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
                break;
            }
            child.kill().unwrap();
            child.wait().unwrap();
            killed = true;
            self.kills += 1;
            span *= 1.3;
            for (name, bytes) in contents(out).into_iter().filter(|(name, _)| is_visible(name)) {
                let is_complete = [expected, &before].iter().any(|all| all.get(&name) == Some(&bytes));
                assert!(is_complete, "{arguments:?}, kill {}: {} is torn", self.kills, name.display());
            }
            match OutputDir::new(out).read().map_err(calibandit_experiment::Error::into_kind) {
                Ok(_) => self.complete += 1,
                Err(ErrorKind::Incomplete { .. } | ErrorKind::NoResults { .. }) => self.absent += 1,
                Err(error) => panic!("{arguments:?}, kill {}: {error:?}", self.kills),
            }
            assert!(start.elapsed() < Duration::from_secs(600), "the command makes no progress");
        }
        self.ended += u64::from(killed);
        let files = contents(out);
        let names = |all: &BTreeMap<PathBuf, Vec<u8>>| all.keys().cloned().collect::<Vec<_>>();
        assert_eq!(names(&files), names(expected), "{arguments:?}");
        assert!(files == *expected, "{arguments:?}: other bytes");
    }
}

const PAPER: [&str; 7] = ["paper", "fig2b", "--quick", "--instances", "2", "--out", "paper"];

#[test]
fn killed_runs_shards_merges_and_reports_end_with_the_same_files() {
    let reference = folder();
    let at = reference.path();
    run(at, &["run", "small.toml", "--out", "run"]);
    run(at, &["run", "small.toml", "--out", "run", "--seed", "6"]);
    let over = contents(&at.join("run"));
    run(at, &["run", "small.toml", "--out", "first"]);
    let first = contents(&at.join("first"));
    for index in ["1", "2"] {
        run(at, &["run", "small.toml", "--out", index, "--shard", &format!("{index}/2")]);
    }
    run(at, &["merge", "1", "2", "--out", "merged"]);
    run(at, &PAPER);
    let wanted = number("CALIBANDIT_KILLS", 10);
    let mut kills = Kills::default();
    while kills.kills < wanted {
        let folder = folder();
        let at = folder.path();
        let out = |name: &str| at.join(name);
        kills.kill_until_done(at, &["run", "small.toml", "--out", "run"], &out("run"), &first);
        if kills.kills >= wanted {
            break;
        }
        kills.kill_until_done(at, &["run", "small.toml", "--out", "run", "--seed", "6"], &out("run"), &over);
        for index in ["1", "2"] {
            let expected = contents(&reference.path().join(index));
            let shard = format!("{index}/2");
            kills.kill_until_done(
                at,
                &["run", "small.toml", "--out", index, "--shard", &shard],
                &out(index),
                &expected,
            );
        }
        let merged = contents(&reference.path().join("merged"));
        kills.kill_until_done(at, &["merge", "1", "2", "--out", "merged"], &out("merged"), &merged);
        kills.kill_until_done(at, &["report", "merged"], &out("merged"), &contents(&out("merged")));
        kills.kill_until_done(at, &PAPER, &out("paper"), &contents(&reference.path().join("paper")));
    }
    let Kills { kills, ended, complete, absent } = kills;
    println!(
        "kills: {kills}, commands resumed: {ended}, torn files: 0, wrong results: 0; after a kill, {complete} folders \
         were complete and {absent} incomplete or empty"
    );
}

#[test]
#[ignore = "slow: several tournaments"]
fn killed_tournaments_end_with_the_same_files() {
    let arguments = ["tournament", "--quick", "--instances", "1", "--random-games", "2", "--out", "out"];
    let reference = folder();
    run(reference.path(), &arguments);
    let expected = contents(&reference.path().join("out"));
    let wanted = number("CALIBANDIT_KILLS", 10);
    let mut kills = Kills::default();
    while kills.kills < wanted {
        let folder = folder();
        kills.kill_until_done(folder.path(), &arguments, &folder.path().join("out"), &expected);
    }
    println!("kills of tournaments: {}, resumed: {}, torn files: 0, wrong results: 0", kills.kills, kills.ended);
}
