//! The output folder of a tournament: interruption, damaged journals, faults of the disk, other results in the folder.

#![allow(clippy::unwrap_used)] // a test may panic

use std::cell::RefCell;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use calibandit_experiment::ErrorKind;
use calibandit_experiment::output::files::{FaultKind, Faults, Files, contents};
use calibandit_experiment::output::{OutputDir, OutputNote};
use calibandit_experiment::schedule::ProgressUpdate;
use calibandit_paper::tournament::{Tournament, TournamentError, TournamentOptions, TournamentPart, TournamentSession};
use tempfile::TempDir;

/// A tournament of milliseconds, which means nothing.
fn tiny(seed: u64) -> TournamentOptions {
    TournamentOptions {
        part: TournamentPart::Main,
        seed,
        instances: 1,
        horizon: 300,
        random_games: 2,
        random_instances: 1,
        longest: 10_000,
        named_seconds: 1e-4,
        random_seconds: 1e-4,
        instance_seconds: 1e-4,
    }
}

/// Runs a tournament and stops it after this many instances. Returns also what was said about the folder.
fn run(out: &OutputDir, seed: u64, stop_after: usize) -> (Result<Tournament, TournamentError>, Vec<OutputNote>) {
    run_only(&[], out, seed, stop_after)
}

/// The same with only these kinds of policies.
fn run_only(
    only: &[&str],
    out: &OutputDir,
    seed: u64,
    stop_after: usize,
) -> (Result<Tournament, TournamentError>, Vec<OutputNote>) {
    let stop = AtomicBool::new(false);
    let progress = |update: ProgressUpdate| stop.store(update.done >= stop_after, Ordering::Relaxed);
    let notes = RefCell::new(Vec::new());
    let note = |note| notes.borrow_mut().push(note);
    let session = TournamentSession {
        out,
        force: false,
        only: &only.iter().map(|kind| (*kind).to_owned()).collect::<Vec<_>>(),
        command: "calibandit tournament",
        threads: 1,
        stop: &stop,
        progress: &progress,
        note: &note,
    };
    let played = session.run(&tiny(seed));
    (played, notes.take())
}

fn journal(folder: &Path) -> PathBuf {
    let name = contents(folder).into_keys().find(|name| name.to_string_lossy().starts_with(".unfinished-tournament-"));
    folder.join(name.expect("there is a journal"))
}

#[test]
fn an_interrupted_tournament_continues_and_damaged_records_are_played_again() {
    let whole = TempDir::new().unwrap();
    run(&OutputDir::new(whole.path()), 1, usize::MAX).0.unwrap();
    let expected = contents(whole.path());
    assert!(expected.contains_key(Path::new("manifest.json")) && expected.contains_key(Path::new("report.html")));

    let folder = TempDir::new().unwrap();
    let out = OutputDir::new(folder.path());
    let stopped = run(&out, 1, 9).0.unwrap_err();
    let TournamentError::Stopped { done: 9, total } = stopped else { panic!("{stopped}") };
    assert!(!folder.path().join("games.csv").exists());
    let path = journal(folder.path());
    let text = fs::read_to_string(&path).unwrap();
    // One record damaged, one twice, one cut off.
    let mut lines: Vec<&str> = text.lines().collect();
    let damaged = lines[2].replacen("\"switches\":", "\"switches\":1", 1);
    let cut = &lines[4][..lines[4].len() - 7];
    (lines[2], lines[3], lines[4]) = (&damaged, lines[1], cut);
    fs::write(&path, lines.join("\n") + "\n").unwrap();
    let (played, notes) = run(&out, 1, usize::MAX);
    assert_eq!(played.unwrap().games.iter().map(|game| game.lower_bounds.len()).sum::<usize>(), total);
    assert!(matches!(&notes[..], [OutputNote::DamagedRecords { records: 3, .. }]), "{notes:?}");
    assert!(contents(folder.path()) == expected);

    // The results stay while another seed is played, and so does the journal of an unfinished tournament.
    run(&out, 2, 3).0.unwrap_err();
    let (_, notes) = run(&out, 1, 1);
    assert!(matches!(&notes[..], [OutputNote::OtherJournal { .. }]), "{notes:?}");
    (0..2).for_each(|_| fs::remove_file(journal(folder.path())).unwrap());
    assert!(contents(folder.path()) == expected);
}

#[test]
fn results_of_other_policies_are_taken_over_if_they_are_whole_and_of_the_same_tournament() {
    let folder = TempDir::new().unwrap();
    let out = OutputDir::new(folder.path());
    let only = |seed, stop_after| run_only(&["calibrated", "exp3"], &out, seed, stop_after).0;
    let refused = only(1, usize::MAX).unwrap_err().to_string();
    assert!(refused.contains("manifest.json"), "{refused}");
    run(&out, 1, usize::MAX).0.unwrap();
    fs::remove_file(journal(folder.path())).unwrap(); // of the refused one
    let expected = contents(folder.path());
    assert!(matches!(only(1, 5).unwrap_err(), TournamentError::Stopped { done: 5, .. }));
    only(1, usize::MAX).unwrap();
    assert!(contents(folder.path()) == expected);
    assert!(matches!(only(2, usize::MAX).unwrap_err(), TournamentError::OtherTournament { what: "options", .. }));
    let table = folder.path().join("instances.csv");
    let text = fs::read_to_string(&table).unwrap();
    fs::write(&table, text.replacen(",0.", ",1.", 1)).unwrap();
    let refused = only(1, usize::MAX).unwrap_err();
    assert!(refused.to_string().contains("instances.csv"), "{refused}");
    let TournamentError::Output(refused) = refused else { panic!("{refused}") };
    assert!(matches!(refused.kind(), ErrorKind::Damaged { .. }), "{refused}");
}

#[test]
fn other_results_in_the_folder_are_refused() {
    let folder = TempDir::new().unwrap();
    fs::write(folder.path().join("manifest.json"), "{\"name\": \"an extension\"}").unwrap();
    let refused = run(&OutputDir::new(folder.path()), 1, usize::MAX).0.unwrap_err();
    let TournamentError::Output(refused) = refused else { panic!("{refused}") };
    assert!(matches!(refused.kind(), ErrorKind::Occupied { .. }), "{refused}");
    let _lock = OutputDir::new(folder.path()).lock("test", &|_| {}).unwrap();
    let refused = run(&OutputDir::new(folder.path()), 1, usize::MAX).0.unwrap_err();
    assert!(refused.to_string().contains("is being written by"), "{refused}");
}

/// Lets every `step`-th operation on files fail. Whatever happens, the tournament then ends with the same files.
fn fail_everywhere(step: usize) {
    let whole = TempDir::new().unwrap();
    let counter = Arc::new(Faults::none());
    run(&OutputDir::with_files(whole.path(), Files::with_faults(counter.clone())), 1, usize::MAX).0.unwrap();
    let expected = contents(whole.path());
    let manifest = Path::new("manifest.json");
    let mut faults = 0;
    for kind in FaultKind::ALL {
        for at in (0..counter.operations()).step_by(step) {
            let folder = TempDir::new().unwrap();
            let files = Files::with_faults(Arc::new(Faults::new(kind, at)));
            let played = run(&OutputDir::with_files(folder.path(), files), 1, usize::MAX).0;
            let now = contents(folder.path());
            // A manifest is there only beside complete results.
            let is_complete = expected.iter().all(|(name, bytes)| now.get(name) == Some(bytes));
            assert!(is_complete || !now.contains_key(manifest), "{kind:?} at operation {at}");
            assert!(is_complete || played.is_err(), "{kind:?} at operation {at}: success without results");
            let undisturbed = Files::with_faults(Arc::new(Faults::none()));
            run(&OutputDir::with_files(folder.path(), undisturbed), 1, usize::MAX).0.unwrap();
            assert!(contents(folder.path()) == expected, "{kind:?} at operation {at}");
            faults += 1;
        }
    }
    println!("tournament: {} operations, {faults} faults, 0 wrong folders", counter.operations());
}

/// `CALIBANDIT_FAULT_STEP=1` tries every operation.
#[test]
#[ignore = "slow: many tournaments"]
fn faults_leave_a_tournament_that_the_same_command_completes() {
    let step = std::env::var("CALIBANDIT_FAULT_STEP").ok().and_then(|text| text.parse().ok());
    fail_everywhere(step.unwrap_or(17));
}
