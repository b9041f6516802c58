//! A small finished run, whose files the targets replace.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::LazyLock;
use std::sync::atomic::AtomicBool;

use calibandit_experiment::Experiment;
use calibandit_experiment::output::{Journal, OutputDir, OutputLock};
use calibandit_experiment::results::{Curve, Results};
use calibandit_experiment::run::{RunOptions, Shard, open_journal, run};
use tempfile::TempDir;

/// An experiment of twelve curves.
pub const EXPERIMENT: &str = "name = \"fuzzed\"\nhorizon = 30\ninstances = 3\ncheckpoints = { at = [10, 30] }\n\
    game = { kind = \"step\", arms = 3, memory = 2 }\n\
    policy = [{ kind = \"ucb1\" }, { kind = \"exp3\" }]\nsweep = { \"game.arms\" = [2, 3] }\n";

/// The run.
pub struct Fixture {
    /// The experiment.
    pub experiment: Experiment,
    /// Its results.
    pub results: Results,
    /// The files of the output folder.
    pub files: Vec<(String, Vec<u8>)>,
    /// The name of the journal.
    pub journal: String,
    /// Its contents when all curves are finished.
    pub journal_bytes: Vec<u8>,
}

/// The run, computed once.
pub static FIXTURE: LazyLock<Fixture> = LazyLock::new(Fixture::new);

impl Fixture {
    fn new() -> Self {
        let experiment = Experiment::from_toml("fuzzed.toml", EXPERIMENT).unwrap_or_else(|errors| panic!("{errors}"));
        let folder = folder();
        let lock = lock(&folder);
        let mut journal = open_journal(&lock, &experiment, Shard::WHOLE, &|_| {}).expect("the folder is new");
        let results = finish(&experiment, &mut journal);
        drop(lock);
        let [journal] = files(folder.path()).try_into().expect("the folder has the journal alone");
        let tables = self::folder();
        let lock = self::lock(&tables);
        let (experiments, all) = (std::slice::from_ref(&experiment), std::slice::from_ref(&results));
        let written = lock.write_tables(experiments, all, Shard::WHOLE).expect("the folder is new");
        written.finish().expect("the folder is new");
        drop(lock);
        Self { files: files(tables.path()), journal: journal.0, journal_bytes: journal.1, experiment, results }
    }

    /// A new folder with the files of the run.
    pub(crate) fn copy(&self) -> (TempDir, PathBuf) {
        let folder = folder();
        for (name, bytes) in &self.files {
            fs::write(folder.path().join(name), bytes).expect("the folder is new");
        }
        let path = folder.path().to_path_buf();
        (folder, path)
    }
}

fn lock(folder: &TempDir) -> OutputLock {
    OutputDir::new(folder.path()).lock("fuzz", &|_| {}).expect("nobody else knows the folder")
}

/// Computes the curves that the journal does not have.
pub(crate) fn finish(experiment: &Experiment, journal: &mut Journal<Curve>) -> Results {
    let stop = AtomicBool::new(false);
    let options = RunOptions { threads: 1, shard: Shard::WHOLE, stop: &stop, progress: &() };
    run(experiment, &options, Some(journal)).expect("the experiment runs")
}

/// A new folder, in memory where there is a file system for that.
pub(crate) fn folder() -> TempDir {
    let memory = Path::new("/dev/shm");
    let made = if memory.is_dir() { tempfile::tempdir_in(memory) } else { tempfile::tempdir() };
    made.expect("a temporary folder can be made")
}

fn files(folder: &Path) -> Vec<(String, Vec<u8>)> {
    let mut files: Vec<_> = fs::read_dir(folder)
        .expect("the folder exists")
        .map(|entry| {
            let path = entry.expect("the folder can be read").path();
            let name = path.file_name().expect("a file has a name").to_string_lossy().into_owned();
            (name, fs::read(&path).expect("the file can be read"))
        })
        .collect();
    files.sort();
    files
}
