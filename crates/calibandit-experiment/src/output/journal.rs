//! The journal of a run or a tournament: finished tasks on disk, from which an interrupted one is resumed.
//!
//! A journal is named after what it is of and its [`Fingerprint`], so journals of other seeds, parameters and versions
//! are never used, and never overwritten either. Each line is a record with its checksum, which covers the fingerprint
//! too. A line that is damaged or was cut off is dropped: its task is done again, and a [`OutputNote`] says so. Nothing
//! is synced while a journal grows; after a power failure some of its last records may be missing.

use std::collections::HashSet;
use std::fs::{self, File};
use std::hash::Hash;
use std::io::{self, BufRead, BufReader, Write};
use std::marker::PhantomData;
use std::path::{Path, PathBuf};

use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};
use sha2::{Digest, Sha256};

use super::files::{Appender, parent};
use super::manifest::Build;
use super::{OutputLock, OutputNote, hex};
use crate::error::Error;

/// The digits of a fingerprint in the name of a journal.
const DIGITS: usize = 12;
const PREFIX: &str = ".unfinished-";
const SUFFIX: &str = ".jsonl";

/// A finished task that a journal can hold.
pub trait JournalRecord: Serialize + DeserializeOwned {
    /// What tells the task from others of the same run.
    type Key: Eq + Hash;

    /// The task.
    fn key(&self) -> Self::Key;
}

/// A digest of everything that finished tasks depend on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fingerprint(String);

impl Fingerprint {
    /// The fingerprint of these parameters and of the program: its version, its sources and its random generator.
    pub fn new(parameters: &Value) -> Self {
        let Build { program, sources, generator, .. } = Build::default();
        let text = json!([program, sources, generator, parameters]).to_string();
        Self(hex(&Sha256::digest(text)))
    }
}

/// The finished tasks of one run.
#[derive(Debug)]
pub struct Journal<R: JournalRecord> {
    appender: Appender,
    fingerprint: Fingerprint,
    known: HashSet<R::Key>,
    records: PhantomData<fn() -> R>,
}

impl<R: JournalRecord> Journal<R> {
    /// Opens the journal with this name and fingerprint in a folder. Records are kept if their checksum is right, if
    /// `is_valid` accepts them, and if they are the first of their task. `note` is told what was dropped, and which
    /// journals of other runs with this name are in the folder.
    ///
    /// # Errors
    /// [`ErrorKind::Io`](crate::ErrorKind::Io) if the journal cannot be read or written.
    pub fn open(
        lock: &OutputLock,
        name: &str,
        fingerprint: Fingerprint,
        is_valid: impl Fn(&R) -> bool,
        note: &dyn Fn(OutputNote),
    ) -> Result<Self, Error> {
        let folder = lock.output().path();
        let path = folder.join(format!("{PREFIX}{name}-{}{SUFFIX}", &fingerprint.0[..DIGITS]));
        for other in others(folder, name, &path) {
            note(OutputNote::OtherJournal { path: other });
        }
        let mut known = HashSet::new();
        let mut good: Vec<u64> = Vec::new();
        let mut damaged = 0;
        let mut has_heading = false;
        if path.exists() {
            for_each_line(&path, |number, line| {
                if number == 0 {
                    has_heading = record::<Value>(line, &fingerprint).is_some();
                    return Ok(());
                }
                match record::<R>(line, &fingerprint).filter(|record| is_valid(record)) {
                    Some(record) if known.insert(record.key()) => good.push(number),
                    _ => damaged += 1,
                }
                Ok(())
            })?;
        }
        if damaged > 0 {
            note(OutputNote::DamagedRecords { path: path.clone(), records: damaged });
        }
        let files = &lock.output().files;
        let appender = if has_heading && damaged == 0 && !path.is_symlink() {
            files.append(&path)?
        } else {
            let heading = json!({"journal": 2, "of": name, "fingerprint": fingerprint.0, "build": Build::default()});
            let appender = files.replace_and_append(&path, |file| {
                let failed = |source| Error::io(&path, source);
                file.write_all(&line(heading.to_string().as_bytes(), &fingerprint)).map_err(failed)?;
                let mut good = good.iter().peekable();
                if good.peek().is_none() {
                    return Ok(());
                }
                for_each_line(&path, |number, line| match good.next_if_eq(&&number) {
                    Some(_) => file.write_all(line).and_then(|()| file.write_all(b"\n")).map_err(failed),
                    None => Ok(()),
                })
            })?;
            files.sync_folder(folder)?;
            appender
        };
        Ok(Self { appender, fingerprint, known, records: PhantomData })
    }

    /// The tasks that were finished before the journal was opened.
    pub fn known(&self) -> &HashSet<R::Key> {
        &self.known
    }

    /// The folder of the journal.
    pub fn folder(&self) -> &Path {
        parent(self.appender.path())
    }

    /// The records that were there when the journal was opened, read again from the file and passed on one by one.
    ///
    /// # Errors
    /// [`ErrorKind::Io`](crate::ErrorKind::Io) if the file cannot be read; the first error of `use_record`.
    pub fn for_each(&self, mut use_record: impl FnMut(R) -> Result<(), Error>) -> Result<(), Error> {
        let mut left = self.known.len();
        for_each_line(self.appender.path(), |number, line| match record(line, &self.fingerprint) {
            Some(record) if number > 0 && left > 0 => {
                left -= 1;
                use_record(record)
            }
            _ => Ok(()),
        })?;
        match left {
            0 => Ok(()),
            _ => Err(Error::io(self.appender.path(), io::Error::other("the journal was changed while it was used"))),
        }
    }

    /// Appends a finished task.
    ///
    /// # Errors
    /// [`ErrorKind::Io`](crate::ErrorKind::Io) if the journal cannot be written.
    pub fn add(&mut self, record: &R) -> Result<(), Error> {
        let text = serde_json::to_vec(record).map_err(|error| Error::io(self.appender.path(), error.into()))?;
        self.appender.add(&line(&text, &self.fingerprint))
    }

    /// Removes the journal, once the results are in place.
    ///
    /// # Errors
    /// [`ErrorKind::Io`](crate::ErrorKind::Io) if the file is there and cannot be removed.
    pub fn remove(self) -> Result<(), Error> {
        self.appender.remove()
    }
}

/// `["checksum",record]` and a newline.
fn line(record: &[u8], fingerprint: &Fingerprint) -> Vec<u8> {
    [b"[\"", checksum(record, fingerprint).as_bytes(), b"\",", record, b"]\n"].concat()
}

/// The record of a line (without its newline), if the checksum is right.
fn record<R: DeserializeOwned>(line: &[u8], fingerprint: &Fingerprint) -> Option<R> {
    let rest = line.strip_prefix(b"[\"")?.strip_suffix(b"]")?;
    let (checksum_of, rest) = rest.split_at_checked(CHECKSUM)?;
    let record = rest.strip_prefix(b"\",")?;
    if checksum(record, fingerprint).as_bytes() != checksum_of {
        return None;
    }
    serde_json::from_slice(record).ok()
}

/// The digits of a checksum.
const CHECKSUM: usize = 16;

fn checksum(record: &[u8], fingerprint: &Fingerprint) -> String {
    let mut hasher = Sha256::new();
    hasher.update(&fingerprint.0);
    hasher.update(record);
    hex(&hasher.finalize()[..CHECKSUM / 2])
}

/// Calls `use_line` with the number and the bytes of each line; line 0 is the heading. A last line without a newline
/// was cut off; it is passed on without its last byte, so that no checksum can be right.
fn for_each_line(path: &Path, mut use_line: impl FnMut(u64, &[u8]) -> Result<(), Error>) -> Result<(), Error> {
    let failed = |source| Error::io(path, source);
    let mut file = BufReader::with_capacity(1 << 16, File::open(path).map_err(failed)?);
    let mut line = Vec::new();
    let mut number = 0;
    while file.read_until(b'\n', &mut line).map_err(failed)? > 0 {
        line.pop();
        use_line(number, &line)?;
        line.clear();
        number += 1;
    }
    Ok(())
}

/// The journals of other runs with this name.
fn others(folder: &Path, name: &str, own: &Path) -> Vec<PathBuf> {
    let mut others: Vec<PathBuf> = Vec::new();
    for path in fs::read_dir(folder).into_iter().flatten().flatten().map(|file| file.path()) {
        let file = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let Some(middle) = file.strip_prefix(PREFIX).and_then(|rest| rest.strip_suffix(SUFFIX)) else { continue };
        // Names may have hyphens; the fingerprint is what follows the last one. Journals of version 1 had none.
        let is_of_name = middle.rsplit_once('-').is_some_and(|(of, _)| of == name) || middle == name;
        if is_of_name && path != own {
            others.push(path);
        }
    }
    others.sort();
    others
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::output::OutputDir;
    use serde::Deserialize;
    use std::cell::RefCell;

    #[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
    struct Square {
        of: u64,
        value: f64,
    }

    impl JournalRecord for Square {
        type Key = u64;
        fn key(&self) -> u64 {
            self.of
        }
    }

    fn square(of: u64) -> Square {
        Square { of, value: (of as f64 / 3.0).powi(2) }
    }

    /// Opens the journal, and returns it with its records and the notes.
    fn open(output: &OutputDir, parameter: u64) -> (Journal<Square>, Vec<Square>, Vec<OutputNote>) {
        let notes = RefCell::new(Vec::new());
        let note = |note| notes.borrow_mut().push(note);
        let lock = output.lock("test", &note).unwrap();
        let is_valid = |record: &Square| record.of < 100;
        let journal = Journal::open(&lock, "a.b", Fingerprint::new(&json!(parameter)), is_valid, &note).unwrap();
        let mut records = Vec::new();
        let collect = |record| {
            records.push(record);
            Ok(())
        };
        journal.for_each(collect).unwrap();
        (journal, records, notes.take())
    }

    fn journals(output: &OutputDir) -> Vec<PathBuf> {
        others(output.path(), "a.b", Path::new(""))
    }

    #[test]
    fn records_are_kept_and_the_journal_of_other_parameters_too() {
        let folder = tempfile::tempdir().unwrap();
        let output = OutputDir::new(folder.path());
        let (mut first, _, notes) = open(&output, 1);
        assert!(notes.is_empty());
        (0..5).for_each(|of| first.add(&square(of)).unwrap());
        let (mut second, records, notes) = open(&output, 2);
        assert!(records.is_empty());
        assert!(matches!(&notes[..], [OutputNote::OtherJournal { .. }]), "{notes:?}");
        second.add(&square(7)).unwrap();
        let (first, records, _) = open(&output, 1);
        assert_eq!(records, (0..5).map(square).collect::<Vec<_>>());
        assert_eq!(first.known().len(), 5);
        first.remove().unwrap();
        assert_eq!(journals(&output).len(), 1);
        assert_eq!(open(&output, 2).1, [square(7)]);
    }

    #[test]
    fn damaged_doubled_cut_off_and_foreign_records_are_dropped_and_counted() {
        let folder = tempfile::tempdir().unwrap();
        let output = OutputDir::new(folder.path());
        let (mut journal, ..) = open(&output, 1);
        (0..6).for_each(|of| journal.add(&square(of)).unwrap());
        journal.add(&square(100)).unwrap(); // refused by `is_valid`
        let path = journal.appender.path().to_path_buf();
        let text = fs::read_to_string(&path).unwrap();
        let mut lines: Vec<String> = text.lines().map(str::to_owned).collect();
        let foreign = line(&serde_json::to_vec(&square(9)).unwrap(), &Fingerprint::new(&json!(2)));
        lines[2] = lines[2].replace("\"value\":0.1", "\"value\":0.2");
        lines.insert(4, lines[3].clone());
        lines.push(String::from_utf8(foreign).unwrap().trim_end().to_owned());
        lines.push(lines[1][..20].to_owned());
        fs::write(&path, lines.join("\n")).unwrap();
        let (_, records, notes) = open(&output, 1);
        assert_eq!(records, [0, 2, 3, 4, 5].map(square));
        let [OutputNote::DamagedRecords { records: 5, .. }] = &notes[..] else { panic!("{notes:?}") };
        let (_, again, notes) = open(&output, 1);
        assert_eq!((again, notes), (records, vec![]), "the journal was repaired");
    }

    #[test]
    fn a_last_line_without_its_newline_does_not_join_the_next_one() {
        let folder = tempfile::tempdir().unwrap();
        let output = OutputDir::new(folder.path());
        let (mut journal, ..) = open(&output, 1);
        journal.add(&square(1)).unwrap();
        let path = journal.appender.path().to_path_buf();
        let text = fs::read_to_string(&path).unwrap();
        fs::write(&path, text.trim_end()).unwrap();
        let (mut journal, records, _) = open(&output, 1);
        assert!(records.is_empty());
        journal.add(&square(2)).unwrap();
        assert_eq!(open(&output, 1).1, [square(2)]);
    }
}
