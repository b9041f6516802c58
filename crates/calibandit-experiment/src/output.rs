//! The output folder of a run: tables and manifest. Figures and the report in the same folder are written by the crate
//! `calibandit-report`.
//!
//! | file | contents |
//! |---|---|
//! | `results.csv`, `results.parquet` | every policy, instance and checkpoint |
//! | `summary.csv` | the CPR over the instances |
//! | `manifest.json` | what was run: experiments with every default, seed, program; digests of tables and of itself |
//! | `figures/NAME.svg`, `figures/NAME.png` | the figures |
//! | `report.html` | the report |
//! | `.unfinished-NAME-FINGERPRINT.jsonl` | the journal of an unfinished run |
//! | `.incomplete.json` | what is being written; a folder with it and without a manifest is incomplete |
//! | `.lock` | who writes to the folder |
//!
//! Results replace those of the same experiments only: see [`OutputDir::check_replaceable`].
//!
//! Nothing that is read back is believed unchecked: [`OutputDir::read`] compares digests, curves, checkpoints and
//! numbers with the manifest. Writing needs the lock of the folder ([`OutputDir::lock`]); a stop at any point leaves
//! the old results, the new ones, or a folder that is recognised as incomplete. The contents do not depend on the time,
//! the machine or the number of threads.
//!
//! Journals of other seeds, parameters and versions are kept, with a note. A journal that is not needed any more can be
//! removed with `rm`, like the whole folder; nothing else refers to it.

#[doc(hidden)]
pub mod files;
mod journal;
mod lock;
mod manifest;
mod occupied;
mod read;
mod replace;
mod seal;
mod verify;

pub use files::FileDigest;
pub use journal::{Fingerprint, Journal, JournalRecord};
pub use lock::OutputLock;
pub use manifest::{Build, LAYOUT, Manifest, ManifestExperiment, PROGRAM};
pub use replace::Replacement;
pub(crate) use seal::hex;
pub(crate) use verify::{KeyOfCurve, contradiction};

use std::fmt;
use std::path::{Path, PathBuf};

use serde_json::Value;

use crate::Experiment;
use crate::error::{Error, ErrorKind};
use crate::results::{Results, write_csv, write_parquet};
use crate::run::Shard;
use crate::stats::write_summary;
use files::Files;

const RESULTS: &str = "results.csv";
const PARQUET: &str = "results.parquet";
const SUMMARY: &str = "summary.csv";
/// The tables of a run, whose digests are in the manifest.
const TABLES: [&str; 3] = [RESULTS, PARQUET, SUMMARY];
const REPORT: &str = "report.html";
const FIGURES: &str = "figures";

/// An output folder.
#[derive(Clone, Debug)]
pub struct OutputDir {
    path: PathBuf,
    files: Files,
}

/// The contents of an output folder.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Stored {
    /// The manifest.
    pub manifest: Manifest,
    /// The experiments of the manifest.
    pub experiments: Vec<Experiment>,
    /// Their results, in the same order.
    pub results: Vec<Results>,
}

/// Something about an output folder that the user should know and that is not an error.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum OutputNote {
    /// Records of a journal were damaged or cut off; their tasks are done again.
    DamagedRecords {
        /// The journal.
        path: PathBuf,
        /// How many.
        records: usize,
    },
    /// The folder has the journal of another run of an experiment with the same name, which stays.
    OtherJournal {
        /// The journal.
        path: PathBuf,
    },
    /// The file system has no locks, so that a second writer would not be noticed.
    NoLocks {
        /// The folder.
        path: PathBuf,
    },
}

impl fmt::Display for OutputNote {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            OutputNote::DamagedRecords { path, records: 1 } => {
                write!(f, "1 record of {} was damaged or cut off; its task is done again", path.display())
            }
            OutputNote::DamagedRecords { path, records } => {
                write!(f, "{records} records of {} were damaged or cut off; their tasks are done again", path.display())
            }
            OutputNote::OtherJournal { path } => write!(
                f,
                "keeping the unfinished work of another run (with another seed, other parameters or another version): \
                 {}; remove it if you do not want to continue that run",
                path.display()
            ),
            OutputNote::NoLocks { path } => write!(
                f,
                "the file system of {} has no locks: make sure that no other process writes to this folder",
                path.display()
            ),
        }
    }
}

impl OutputDir {
    /// The output folder at this path, which need not exist to be written to.
    pub fn new(path: impl Into<PathBuf>) -> Self {
        Self { path: path.into(), files: Files::default() }
    }

    /// The output folder with operations on files that may fail on purpose, for tests.
    #[doc(hidden)]
    pub fn with_files(path: impl Into<PathBuf>, files: Files) -> Self {
        Self { path: path.into(), files }
    }

    /// The path.
    pub fn path(&self) -> &Path {
        &self.path
    }
}

impl OutputLock {
    /// Begins to replace the results by those of a run, or of one shard of it: writes the tables. The report comes
    /// next, and then [`Replacement::finish`].
    ///
    /// # Errors
    /// [`ErrorKind::Io`], [`ErrorKind::Csv`] or [`ErrorKind::Parquet`] if a file cannot be written;
    /// [`ErrorKind::UserCode`] if an experiment has a game or a policy that no manifest can hold.
    pub fn write_tables(
        &self,
        experiments: &[Experiment],
        results: &[Results],
        shard: Shard,
    ) -> Result<Replacement<'_>, Error> {
        let manifest = serde_json::to_value(Manifest::new(experiments, shard)?);
        let Ok(Value::Object(manifest)) = manifest else { unreachable!("a manifest is an object with text keys") };
        let mut new = self.replace(manifest)?;
        let csv = |path: &Path, source| ErrorKind::Csv { path: path.to_path_buf(), source }.into();
        new.table_with(RESULTS, |path, file| write_csv(results, file).map_err(|error| csv(path, error)))?;
        new.table_with(PARQUET, |path, file| {
            write_parquet(results, file)
                .map_err(|source| ErrorKind::Parquet { path: path.to_path_buf(), source }.into())
        })?;
        new.table_with(SUMMARY, |path, file| write_summary(results, file).map_err(|error| csv(path, error)))?;
        Ok(new)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    fn lock(output: &OutputDir) -> OutputLock {
        output.lock("test", &|note| panic!("{note}")).unwrap()
    }

    #[test]
    fn files_replace_older_ones_and_leave_nothing_else() {
        let folder = tempfile::tempdir().unwrap();
        let output = OutputDir::new(folder.path().join("a/b"));
        lock(&output).write("figures/x.svg", b"one").unwrap();
        lock(&output).write("figures/x.svg", b"two").unwrap();
        let figures = output.path().join("figures");
        assert_eq!(fs::read(figures.join("x.svg")).unwrap(), b"two");
        assert_eq!(fs::read_dir(&figures).unwrap().count(), 1);
        assert_eq!(fs::read_dir(output.path()).unwrap().count(), 1);
    }

    #[test]
    fn a_failed_write_keeps_the_older_file() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("table.csv");
        fs::write(&path, "old").unwrap();
        let refused = Files::default().replace(&path, |file| {
            std::io::Write::write_all(file, b"half").unwrap();
            Err(ErrorKind::NothingToMerge.into())
        });
        assert!(refused.is_err());
        assert_eq!(fs::read(&path).unwrap(), b"old");
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
    }

    #[test]
    fn figures_of_earlier_results_are_removed_and_other_files_stay() {
        let folder = tempfile::tempdir().unwrap();
        let output = OutputDir::new(folder.path());
        let lock = lock(&output);
        for name in ["figures/old.svg", "figures/old.png", "figures/new.svg", "figures/notes.txt", "report.html"] {
            lock.write(name, b"").unwrap();
        }
        lock.remove_figures(|name| name == "new").unwrap();
        let exists = |name: &str| folder.path().join(name).exists();
        assert!(!exists("figures/old.svg") && !exists("figures/old.png"));
        assert!(exists("figures/new.svg") && exists("figures/notes.txt") && exists("report.html"));
        let replacement = lock.replace(serde_json::Map::from_iter([("manifest".to_owned(), 2.into())])).unwrap();
        assert!(!exists("figures/new.svg") && !exists("report.html") && exists("figures/notes.txt"));
        assert!(exists(".incomplete.json") && !exists("manifest.json"));
        replacement.finish().unwrap();
        assert!(!exists(".incomplete.json") && exists("manifest.json"));
    }

    #[cfg(unix)]
    #[test]
    fn files_have_the_permissions_of_ordinary_files() {
        use std::os::unix::fs::PermissionsExt;
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join("plain"), "").unwrap();
        lock(&OutputDir::new(folder.path())).write("ours", b"").unwrap();
        let mode = |name| fs::metadata(folder.path().join(name)).unwrap().permissions().mode();
        assert_eq!(mode("ours"), mode("plain"));
    }

    #[cfg(unix)]
    #[test]
    fn symbolic_links_are_replaced_and_never_written_through() {
        use std::os::unix::fs::symlink;
        let folder = tempfile::tempdir().unwrap();
        let elsewhere = folder.path().join("elsewhere");
        fs::create_dir(&elsewhere).unwrap();
        fs::write(elsewhere.join("precious"), "text").unwrap();
        let output = OutputDir::new(folder.path().join("out"));
        let lock = lock(&output);
        symlink(elsewhere.join("precious"), output.path().join("report.html")).unwrap();
        lock.write("report.html", b"page").unwrap();
        assert!(!output.path().join("report.html").is_symlink());
        symlink(&elsewhere, output.path().join("figures")).unwrap();
        let refused = lock.write("figures/precious", b"").unwrap_err();
        assert!(refused.to_string().contains("symbolic link"), "{refused}");
        assert_eq!(fs::read_to_string(elsewhere.join("precious")).unwrap(), "text");
        // The folder itself may be a link of the user.
        symlink(&elsewhere, folder.path().join("link")).unwrap();
        let linked = OutputDir::new(folder.path().join("link"));
        linked.lock("test", &|_| {}).unwrap().write("new", b"").unwrap();
        assert!(elsewhere.join("new").exists());
    }
}
