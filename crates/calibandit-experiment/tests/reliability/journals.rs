//! Damaged journals: the run that continues from them has the same results.

use std::cell::RefCell;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};

use calibandit_experiment::Experiment;
use calibandit_experiment::output::{OutputDir, OutputNote};
use calibandit_experiment::results::Results;
use calibandit_experiment::run::{RunOptions, Shard, open_journal, run};
use calibandit_experiment::schedule::ProgressUpdate;
use serde_json::Value;
use tempfile::TempDir;

use super::damage::{Dice, damage, edit};
use super::{damages, experiment, results};

/// Runs with a journal, and stops after this many tasks. Returns the results, and what was said about the journal.
fn run_with_journal(folder: &Path, experiment: &Experiment, stop_after: usize) -> (Option<Results>, Vec<OutputNote>) {
    let notes = RefCell::new(Vec::new());
    let note = |note| notes.borrow_mut().push(note);
    let output = OutputDir::new(folder);
    let lock = output.lock("test", &note).unwrap();
    let mut journal = open_journal(&lock, experiment, Shard::WHOLE, &note).unwrap();
    let stop = AtomicBool::new(false);
    let progress = |update: ProgressUpdate| stop.store(update.done >= stop_after, Ordering::Relaxed);
    let options = RunOptions { threads: 1, shard: Shard::WHOLE, stop: &stop, progress: &progress };
    (run(experiment, &options, Some(&mut journal)).ok(), notes.take())
}

fn journal(folder: &Path) -> PathBuf {
    let mut files = fs::read_dir(folder).unwrap().map(|file| file.unwrap().path());
    files.find(|path| path.extension().is_some_and(|extension| extension == "jsonl")).expect("there is a journal")
}

#[test]
fn damaged_journals_give_the_same_results() {
    let own = experiment("x", 1);
    let expected = results(&own, Shard::WHOLE);
    let [interrupted, other] = [TempDir::new().unwrap(), TempDir::new().unwrap()];
    assert_eq!(run_with_journal(interrupted.path(), &own, 9).0, None);
    assert_eq!(run_with_journal(other.path(), &experiment("x", 2), 9).0, None);
    let good = fs::read(journal(interrupted.path())).unwrap();
    let foreign = fs::read(journal(other.path())).unwrap();
    let name = journal(interrupted.path()).file_name().unwrap().to_owned();
    let (mut damaged, mut reported) = (0, 0);
    for round in 0..damages() {
        let mut dice = Dice(round ^ 0xabcd_ef00);
        let (way, changed) = match dice.below(4) {
            // A record of another seed, or one with another value and the old checksum.
            0 => {
                let mut lines: Vec<&[u8]> = good.split_inclusive(|&byte| byte == b'\n').collect();
                let others: Vec<&[u8]> = foreign.split_inclusive(|&byte| byte == b'\n').collect();
                let (place, from) = (dice.below(lines.len()), dice.below(others.len()));
                lines[place] = others[from];
                ("a record of another run", lines.concat())
            }
            1 => {
                let text = String::from_utf8(good.clone()).unwrap();
                let mut lines: Vec<String> = text.lines().map(str::to_owned).collect();
                let place = 1 + dice.below(lines.len() - 1);
                let mut record: Value = serde_json::from_str(&lines[place]).unwrap();
                edit(&mut record[1], &mut dice);
                lines[place] = record.to_string();
                ("an edited record", (lines.join("\n") + "\n").into_bytes())
            }
            _ => damage(&good, &mut dice),
        };
        let folder = TempDir::new().unwrap();
        fs::write(folder.path().join(&name), &changed).unwrap();
        let (finished, notes) = run_with_journal(folder.path(), &own, usize::MAX);
        assert_eq!(finished.as_ref(), Some(&expected), "round {round}: {way}");
        if changed != good {
            damaged += 1;
            reported += usize::from(!notes.is_empty());
        }
    }
    println!("damages of journals: {damaged}, wrong results: 0, reported: {reported}");
    // Only whole records that are missing or in another order, and the heading, go without a word.
    assert!(reported > damaged / 2, "{reported} of {damaged}");
}

#[test]
fn journals_of_other_seeds_and_names_are_kept_and_mentioned() {
    let folder = TempDir::new().unwrap();
    let [one, two] = [experiment("x", 1), experiment("x", 2)];
    run_with_journal(folder.path(), &one, 5);
    let records = fs::read_to_string(journal(folder.path())).unwrap().lines().count() - 1;
    assert!(records >= 5);
    let (_, notes) = run_with_journal(folder.path(), &two, 3);
    assert!(matches!(&notes[..], [OutputNote::OtherJournal { .. }]), "{notes:?}");
    assert!(notes[0].to_string().contains(".unfinished-x-"), "{}", notes[0]);
    // Names that differ only in the characters between words have journals of their own.
    for name in ["a.b", "a_b", "a-b"] {
        let (_, notes) = run_with_journal(folder.path(), &experiment(name, 1), 2);
        assert!(notes.is_empty(), "{notes:?}");
    }
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 5);
    let mut seen = 0;
    let output = OutputDir::new(folder.path());
    let lock = output.lock("test", &|_| {}).unwrap();
    let count = |_| {
        seen += 1;
        Ok(())
    };
    open_journal(&lock, &one, Shard::WHOLE, &|_| {}).unwrap().for_each(count).unwrap();
    assert_eq!(seen, records, "the journal of the first seed still has its records");
}
