//! What can go wrong, and the exit code it ends with.

use std::fmt;
use std::io;
use std::path::PathBuf;

use calibandit_experiment::output::FolderError;
use calibandit_experiment::preflight::CheckError;
use calibandit_experiment::run::RunError;
use calibandit_experiment::spec::SpecErrors;
use calibandit_fit::{ArmsError, TableError};
use calibandit_paper::f1::F1Error;
use calibandit_paper::tournament::TournamentError;
use calibandit_report::session::JobError;

/// Why a command did not end well.
#[derive(Debug)]
pub(crate) enum Failure {
    /// Nobody reads the output any more.
    ClosedPipe,
    /// The output could not be written.
    Output(io::Error),
    /// A file is wrong.
    Spec(SpecErrors),
    /// The command line asks for something that is not there.
    Usage(String),
    /// A run failed.
    Run(RunError),
    /// A run was interrupted; what is finished is in the folder.
    Interrupted { out: PathBuf, done: usize, pieces: usize },
    /// A folder could not be written or read.
    Folder(FolderError),
    /// An experiment could not be checked.
    Check(CheckError),
    /// A file that was asked for could not be written.
    File { path: PathBuf, source: io::Error },
    /// The public tables cannot be used.
    F1(F1Error),
    /// A table of losses cannot be used.
    Arms(ArmsError),
    /// A tournament could not be held.
    Tournament(TournamentError),
}

impl Failure {
    pub(crate) fn exit_code(&self) -> u8 {
        match self {
            Failure::ClosedPipe => 0,
            Failure::Spec(_) | Failure::Usage(_) | Failure::F1(_) | Failure::Arms(_) => 2,
            Failure::Interrupted { .. } | Failure::Tournament(TournamentError::Stopped { .. }) => 130,
            _ => 1,
        }
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Failure::ClosedPipe => Ok(()),
            Failure::Output(error) => write!(f, "calibandit: the output could not be written: {error}"),
            // These say themselves what, where and what to do, over several lines.
            Failure::Spec(errors) => write!(f, "{errors}"),
            Failure::Usage(message) => write!(f, "calibandit: {message}"),
            Failure::Run(error) => write!(f, "calibandit: {error}"),
            Failure::Interrupted { out, done, pieces } => write!(
                f,
                "calibandit: interrupted after {done} of {pieces} pieces; they are kept in {}, and the same command goes on from there",
                out.display()
            ),
            Failure::Folder(error) => write!(f, "calibandit: {error}"),
            Failure::Check(error) => write!(f, "calibandit: {error}"),
            Failure::File { path, source } => write!(f, "calibandit: {}: {source}", path.display()),
            Failure::F1(error) => write!(f, "calibandit: {error}"),
            Failure::Arms(error) => write!(f, "calibandit: {error}"),
            Failure::Tournament(error) => write!(f, "calibandit: {error}"),
        }
    }
}

impl From<io::Error> for Failure {
    fn from(error: io::Error) -> Self {
        if error.kind() == io::ErrorKind::BrokenPipe { Failure::ClosedPipe } else { Failure::Output(error) }
    }
}

impl From<SpecErrors> for Failure {
    fn from(errors: SpecErrors) -> Self {
        Failure::Spec(errors)
    }
}

impl From<FolderError> for Failure {
    fn from(error: FolderError) -> Self {
        Failure::Folder(error)
    }
}

impl From<CheckError> for Failure {
    fn from(error: CheckError) -> Self {
        Failure::Check(error)
    }
}

impl From<F1Error> for Failure {
    fn from(error: F1Error) -> Self {
        Failure::F1(error)
    }
}

impl From<ArmsError> for Failure {
    fn from(error: ArmsError) -> Self {
        Failure::Arms(error)
    }
}

impl From<TableError> for Failure {
    fn from(error: TableError) -> Self {
        Failure::Arms(error.into())
    }
}

impl From<TournamentError> for Failure {
    fn from(error: TournamentError) -> Self {
        Failure::Tournament(error)
    }
}

impl From<JobError> for Failure {
    fn from(error: JobError) -> Self {
        match error {
            JobError::Run(error) => Failure::Run(error),
            JobError::Folder(error) => Failure::Folder(error),
            error => Failure::Output(io::Error::other(error)),
        }
    }
}
