//! Journals of unfinished runs.

use std::fs;

use calibandit_experiment::output::OutputDir;
use calibandit_experiment::run::{Shard, open_journal};

use crate::edits::edited;
use crate::fixture::{FIXTURE, finish, folder};

/// A run that is resumed from any journal has the results of one that was not interrupted.
pub fn journals(data: &[u8]) {
    let fixture = &*FIXTURE;
    let folder = folder();
    let journal = edited(&fixture.journal_bytes, data);
    fs::write(folder.path().join(&fixture.journal), journal).expect("the folder is new");
    let lock = OutputDir::new(folder.path()).lock("fuzz", &|_| {}).expect("nobody else knows the folder");
    let Ok(mut journal) = open_journal(&lock, &fixture.experiment, Shard::WHOLE, &|_| {}) else { return };
    assert_eq!(finish(&fixture.experiment, &mut journal), fixture.results, "the results do not depend on the journal");
}
