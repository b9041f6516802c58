//! The error of this crate.

use std::io;
use std::path::{Path, PathBuf};

use calibandit::simulate::LiveError;
use calibandit::{GameError, OptimumError, PolicyError, SimulateError};

use crate::output::LAYOUT;
use crate::results::{CsvError, ParquetError};
use crate::run::Shard;
use crate::spec::Diagnostics;

/// Why an experiment could not be run, or its output could not be written or read. [`kind`](Error::kind) says what
/// happened.
#[derive(Debug, thiserror::Error)]
#[error(transparent)]
pub struct Error(Box<ErrorKind>);

impl Error {
    /// What happened.
    pub fn kind(&self) -> &ErrorKind {
        &self.0
    }

    /// What happened, to take apart.
    pub fn into_kind(self) -> ErrorKind {
        *self.0
    }

    pub(crate) fn io(path: &Path, source: io::Error) -> Self {
        ErrorKind::Io { path: path.to_path_buf(), source }.into()
    }
}

impl From<ErrorKind> for Error {
    fn from(kind: ErrorKind) -> Self {
        Self(Box::new(kind))
    }
}

impl From<Diagnostics> for Error {
    fn from(errors: Diagnostics) -> Self {
        ErrorKind::Invalid(errors).into()
    }
}

/// What can happen.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ErrorKind {
    /// An experiment file, or the manifest of an output folder, has an invalid experiment.
    #[error(transparent)]
    Invalid(Diagnostics),
    /// A policy could not play an instance of a game.
    #[error("{experiment}, {point}, policy {policy}: {source}")]
    Instance {
        /// The name of the experiment.
        experiment: String,
        /// The label of the point of the sweep.
        point: String,
        /// The label of the policy.
        policy: String,
        /// Why.
        source: InstanceError,
    },
    /// The regret at a point of the sweep cannot be computed, so that nothing is run.
    #[error("the experiment cannot be run: {experiment}, {point}: {source}")]
    Refused {
        /// The name of the experiment.
        experiment: String,
        /// The label of the point of the sweep.
        point: String,
        /// Why.
        source: InstanceError,
    },
    /// The run was stopped before all tasks were done.
    #[error("stopped after {done} of {total} tasks")]
    Stopped {
        /// The number of tasks done.
        done: usize,
        /// The number of all tasks.
        total: usize,
    },
    /// A file could not be read or written.
    #[error("{}: {source}", path.display())]
    Io {
        /// The file.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// A CSV table could not be read or written.
    #[error("{}: {source}", path.display())]
    Csv {
        /// The file.
        path: PathBuf,
        /// Why.
        source: CsvError,
    },
    /// The Parquet table could not be written.
    #[error("{}: {source}", path.display())]
    Parquet {
        /// The file.
        path: PathBuf,
        /// Why.
        source: ParquetError,
    },
    /// A folder that should have the results of experiments does not have them.
    #[error("{}", no_results(path, holds.as_deref()))]
    NoResults {
        /// The folder.
        path: PathBuf,
        /// What the folder has instead; `None` if there is no such folder.
        holds: Option<String>,
    },
    /// The results in a folder were not written to the end.
    #[error(
        "{} is incomplete: its results were not written to the end; run the same command again, and it continues \
         with what is finished",
        path.display()
    )]
    Incomplete {
        /// The folder.
        path: PathBuf,
    },
    /// A file is not as it was written, or contradicts another one.
    #[error("{} is damaged, or was changed: {why}; restore it, or run again", path.display())]
    Damaged {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        why: String,
    },
    /// A folder that another version of the program wrote.
    #[error("{}", other_layout(path, *layout))]
    Layout {
        /// The folder.
        path: PathBuf,
        /// The version of its layout.
        layout: u64,
    },
    /// Another process writes to the folder.
    #[error("{} is being written by {owner}; wait until it ends, or choose another folder", path.display())]
    InUse {
        /// The folder.
        path: PathBuf,
        /// The process, in words.
        owner: String,
    },
    /// Something in the output folder is in the way.
    #[error("{} cannot be used: {why}", path.display())]
    Unusable {
        /// The file or folder.
        path: PathBuf,
        /// Why, and what to do.
        why: String,
    },
    /// A folder with the results of one shard, where all results are needed.
    #[error("{} holds only shard {shard}: merge all {} shards first", path.display(), shard.of())]
    OneShard {
        /// The folder.
        path: PathBuf,
        /// The shard.
        shard: Shard,
    },
    /// The folder for merged results is one of the folders to merge.
    #[error("{} is one of the folders to merge: choose another folder for the merged results", path.display())]
    OutputIsInput {
        /// The folder.
        path: PathBuf,
    },
    /// The output folder has something that the results would replace.
    #[error("{} holds {holds}", path.display())]
    Occupied {
        /// The folder.
        path: PathBuf,
        /// What it holds.
        holds: String,
    },
    /// Output folders that are not shards of the same run.
    #[error("{} and {} do not belong together: {why}", one.display(), other.display())]
    Mismatch {
        /// A folder.
        one: PathBuf,
        /// Another.
        other: PathBuf,
        /// What differs.
        why: &'static str,
    },
    /// Not all shards were given.
    #[error("shard {missing} is missing: merge all {} shards", missing.of())]
    MissingShard {
        /// Which.
        missing: Shard,
    },
    /// An experiment with a fixed game or a policy of the user, where a file must describe it.
    #[error(
        "{experiment} has a game or a policy of the user, which a file cannot hold: run it without an output folder"
    )]
    UserCode {
        /// The name of the experiment.
        experiment: String,
    },
    /// No output folder was given.
    #[error("no folder was given to merge")]
    NothingToMerge,
}

fn no_results(path: &Path, holds: Option<&str>) -> String {
    let path = path.display();
    match holds {
        None => format!("there is no folder {path}: give the folder that a run has written, such as out/NAME"),
        Some(holds) => format!(
            "{path} is not the output folder of a run: it holds {holds}, but a run writes `manifest.json` and \
             `results.csv`; give the folder that has them, such as out/NAME"
        ),
    }
}

fn other_layout(path: &Path, layout: u64) -> String {
    let path = path.display();
    if layout > u64::from(LAYOUT) {
        return format!("{path} was written by a newer version of the program (layout {layout}): use that version");
    }
    format!("{path} was written by an older version of the program, without checksums: run the experiment again")
}

/// Why a policy could not play an instance of a game.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum InstanceError {
    /// The game could not be drawn.
    #[error(transparent)]
    Game(#[from] GameError),
    /// The optimum is not known.
    #[error("there is no regret without the optimum: {0}")]
    Optimum(#[from] OptimumError),
    /// The policy could not be built.
    #[error(transparent)]
    Policy(#[from] PolicyError),
    /// The policy could not be simulated.
    #[error(transparent)]
    Simulate(#[from] SimulateError),
    /// The policy could not be simulated in live use.
    #[error(transparent)]
    Live(LiveError),
    /// The factory of a user-written policy did not call `play`.
    #[error("the policy could not be built")]
    NoPolicy,
}

impl From<LiveError> for InstanceError {
    fn from(error: LiveError) -> Self {
        match error {
            LiveError::Optimum(error) => error.into(),
            LiveError::Interrupted(interrupted) => SimulateError::from(interrupted).into(),
            other => InstanceError::Live(other),
        }
    }
}
