//! The errors of the commands and their exit codes.

use std::io;
use std::path::PathBuf;

use calibandit::{PilotPlanError, SnapshotError};
use calibandit_experiment::ErrorKind;
use calibandit_experiment::spec::Diagnostics;
use calibandit_fit::diagnose::{DiagnoseError, LogFileError};
use calibandit_fit::{ArmsError, LossRangeError, TableError};
use calibandit_paper::f1::F1Error;
use calibandit_paper::figures::UnknownFigure;
use calibandit_paper::tournament::TournamentError;
use calibandit_report::session::SessionError;

use crate::text::visible_lines;

/// Why a command failed.
#[derive(Debug, thiserror::Error)]
pub(crate) enum CliError {
    #[error("the reader closed the output")]
    ClosedPipe,
    #[error("the output could not be written: {0}")]
    Output(io::Error),
    /// An experiment file is wrong. The text has several lines, with the place of each mistake.
    #[error(transparent)]
    Spec(#[from] Diagnostics),
    /// The command line asks for something that does not exist or is not allowed.
    #[error("{0}")]
    Usage(String),
    #[error(transparent)]
    Figure(#[from] UnknownFigure),
    #[error(
        "interrupted after {done} of {tasks} tasks; they are saved in {}, and the same command continues from there",
        .out.display()
    )]
    Interrupted { out: PathBuf, done: usize, tasks: usize },
    #[error(transparent)]
    Session(#[from] SessionError),
    #[error(transparent)]
    Experiment(#[from] calibandit_experiment::Error),
    #[error("{}: {}", .path.display(), file_error(.source))]
    File { path: PathBuf, source: io::Error },
    #[error(transparent)]
    F1(#[from] F1Error),
    #[error(transparent)]
    Table(#[from] TableError),
    #[error(transparent)]
    Log(#[from] LogFileError),
    #[error(transparent)]
    Diagnose(#[from] DiagnoseError),
    #[error(transparent)]
    LossRange(#[from] LossRangeError),
    #[error(transparent)]
    Pilot(#[from] PilotPlanError),
    #[error(transparent)]
    Arms(#[from] ArmsError),
    /// A snapshot that cannot be read.
    #[error("{}: {}", .path.display(), snapshot_error(.error))]
    Snapshot { path: PathBuf, error: SnapshotError },
    #[error(transparent)]
    Tournament(#[from] TournamentError),
    #[cfg(feature = "serve")]
    #[error(transparent)]
    Serve(#[from] calibandit_serve::ServeError),
    #[cfg(feature = "serve")]
    #[error(transparent)]
    ServeStore(#[from] calibandit_serve::StoreError),
    #[cfg(feature = "serve")]
    #[error(transparent)]
    ServeLoad(#[from] calibandit_serve::LoadError),
}

impl CliError {
    /// 0 for a closed pipe, 2 for wrong input (command line or file), 130 after Ctrl-C, otherwise 1.
    pub(crate) fn exit_code(&self) -> u8 {
        match self {
            CliError::ClosedPipe => 0,
            CliError::Spec(_) | CliError::Usage(_) | CliError::Figure(_) => 2,
            CliError::F1(_) | CliError::Snapshot { .. } => 2,
            CliError::Table(_) | CliError::LossRange(_) | CliError::Arms(_) => 2,
            CliError::Log(_) | CliError::Diagnose(_) | CliError::Pilot(_) => 2,
            CliError::Interrupted { .. } => 130,
            CliError::Session(SessionError::Experiment(error)) if matches!(error.kind(), ErrorKind::Refused { .. }) => {
                2
            }
            CliError::Output(_) | CliError::Session(_) | CliError::Experiment(_) => 1,
            // A file that was named and is not there, or is a folder.
            CliError::File { source, .. }
                if matches!(source.kind(), io::ErrorKind::NotFound | io::ErrorKind::IsADirectory) =>
            {
                2
            }
            CliError::File { .. } | CliError::Tournament(_) => 1,
            #[cfg(feature = "serve")]
            CliError::Serve(_) | CliError::ServeStore(_) | CliError::ServeLoad(_) => 1,
        }
    }

    /// Whether the output folder has something that the results would replace.
    fn is_occupied(&self) -> bool {
        match self {
            CliError::Experiment(error)
            | CliError::Session(SessionError::Experiment(error))
            | CliError::Tournament(TournamentError::Output(error)) => {
                matches!(error.kind(), ErrorKind::Occupied { .. })
            }
            _ => false,
        }
    }

    /// The option, its value and the expected values, if an option is out of its range.
    fn option(&self) -> Option<(&'static str, f64, &'static str)> {
        match *self {
            CliError::Diagnose(DiagnoseError::Option { option, value, expected })
            | CliError::Arms(ArmsError::Option { option, value, expected })
            | CliError::F1(F1Error::Option { option, value, expected })
            | CliError::Pilot(PilotPlanError::Parameter { parameter: option, value, expected }) => {
                Some((option, value, expected))
            }
            _ => None,
        }
    }

    /// The text for standard error. Names from files are in it, so control characters are escaped.
    pub(crate) fn message(&self) -> String {
        match self {
            // These begin with the place in the file.
            CliError::Spec(errors) => errors.to_string(),
            error if error.is_occupied() => visible_lines(&format!(
                "calibandit: {error}; choose another folder with `--out`, or replace what it holds with `--force`"
            )),
            error => match error.option() {
                Some((option, value, expected)) => {
                    format!("calibandit: `--{option}` is {value}, but must be {expected}")
                }
                None => visible_lines(&format!("calibandit: {error}")),
            },
        }
    }
}

fn file_error(error: &io::Error) -> String {
    match error.kind() {
        io::ErrorKind::NotFound => "there is no such file".to_owned(),
        io::ErrorKind::IsADirectory => "it is a folder; give a file".to_owned(),
        _ => error.to_string(),
    }
}

fn snapshot_error(error: &SnapshotError) -> String {
    match error {
        SnapshotError::Checksum => "the snapshot does not match its checksum: it was damaged, or edited; `--edited` \
                                    reads a snapshot that was edited on purpose"
            .to_owned(),
        other => other.to_string(),
    }
}

impl From<io::Error> for CliError {
    fn from(error: io::Error) -> Self {
        if error.kind() == io::ErrorKind::BrokenPipe { CliError::ClosedPipe } else { CliError::Output(error) }
    }
}
