//! Errors of the library as Python exceptions. [`Failure::raise`] is the one place where it is decided which becomes which.
//!
//! The exceptions themselves are Python classes, in `calibandit/errors.py`: they have two bases each, a `CalibanditError` and the
//! built-in exception that people expect.

use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};

use calibandit::{
    AdvisorError, AskError, GameError, LossRangeError, OptimumError, PolicyError, ReoError, SnapshotError, TellError,
};
use calibandit_lab::check::CheckError;
use calibandit_lab::folder::FolderError;
use calibandit_lab::job::JobError;
use calibandit_lab::results::CsvError;
use calibandit_lab::run::{PieceErrorKind, RunError, ShardError};
use calibandit_lab::spec::{SpecErrorKind, SpecErrors};
use pyo3::exceptions::PyKeyboardInterrupt;
use pyo3::prelude::*;

/// Whatever can go wrong.
#[derive(Debug)]
pub(crate) enum Failure {
    Spec(SpecErrors),
    Run(RunError),
    Folder(FolderError),
    Check(CheckError),
    Game(GameError),
    Policy(PolicyError),
    Shard(ShardError),
    Reo(ReoError),
    Optimum(OptimumError),
    Advisor(AdvisorError),
    Range(LossRangeError),
    Ask(AskError),
    Tell(TellError),
    Snapshot(SnapshotError),
    Json(serde_json::Error),
    Csv(CsvError),
    File {
        path: PathBuf,
        error: std::io::Error,
    },
    /// Something that the library has no error for.
    Value(String),
    /// A name that nothing has.
    Unknown(String),
    /// Already an exception: raised by Python code that was called on the way.
    Raised(PyErr),
}

impl Failure {
    /// The exception.
    fn raise(self, py: Python<'_>) -> PyErr {
        let message = self.to_string();
        match self {
            Failure::Raised(error) => error,
            Failure::Run(RunError::Spec(errors)) | Failure::Check(CheckError::Spec(errors)) => {
                Failure::Spec(errors).raise(py)
            }
            Failure::Folder(FolderError::Spec(errors)) => Failure::Spec(errors).raise(py),
            Failure::Spec(errors) => {
                let unreadable = errors.errors().iter().any(|error| error.kind == SpecErrorKind::Unreadable);
                let kind = if unreadable { "UnreadableFile" } else { "SpecError" };
                with(py, exception(py, kind, &message), "errors", serde_json::to_string(errors.errors()).ok())
            }
            Failure::Run(RunError::Stopped { .. }) => PyKeyboardInterrupt::new_err(message),
            Failure::Run(RunError::Piece(piece)) => match piece.why {
                PieceErrorKind::Game(_) | PieceErrorKind::Optimum(_) => exception(py, "GameError", &message),
                PieceErrorKind::Policy(_) => exception(py, "PolicyError", &message),
                _ => exception(py, "SimulationError", &message),
            },
            Failure::Run(RunError::Grid(_)) | Failure::Shard(_) => exception(py, "SpecError", &message),
            Failure::Run(_) | Failure::Folder(_) | Failure::File { .. } | Failure::Csv(_) => {
                exception(py, "FolderError", &message)
            }
            Failure::Check(_) | Failure::Game(_) | Failure::Reo(_) | Failure::Optimum(_) => {
                exception(py, "GameError", &message)
            }
            Failure::Policy(_) => exception(py, "PolicyError", &message),
            Failure::Ask(AskError::BadRun { .. }) => exception(py, "SimulationError", &message),
            Failure::Ask(AskError::Waiting { outstanding }) => {
                with(py, exception(py, "Waiting", &message), "outstanding", serde_json::to_string(&outstanding).ok())
            }
            Failure::Tell(TellError::Unknown { .. }) => exception(py, "UnknownDecision", &message),
            Failure::Tell(TellError::AlreadySettled { .. }) => exception(py, "AlreadySettled", &message),
            Failure::Tell(_) => exception(py, "TellError", &message),
            Failure::Snapshot(_) => exception(py, "SnapshotError", &message),
            Failure::Unknown(_) => exception(py, "UnknownName", &message),
            Failure::Ask(_) | Failure::Advisor(_) | Failure::Range(_) | Failure::Json(_) | Failure::Value(_) => {
                exception(py, "SpecError", &message)
            }
        }
    }
}

/// An exception of `calibandit.errors`.
fn exception(py: Python<'_>, class: &str, message: &str) -> PyErr {
    let made = py.import("calibandit.errors").and_then(|module| module.getattr(class)?.call1((message,)));
    made.map_or_else(|error| error, PyErr::from_value)
}

/// The exception with one more attribute, given as JSON.
fn with(py: Python<'_>, error: PyErr, attribute: &str, json: Option<String>) -> PyErr {
    let set = || {
        let value = py.import("json")?.call_method1("loads", (json,))?;
        error.value(py).setattr(attribute, value)
    };
    set().map_or_else(|failed: PyErr| failed, |()| error.clone_ref(py))
}

impl std::fmt::Display for Failure {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Failure::Spec(error) => error.fmt(f),
            Failure::Run(error) => error.fmt(f),
            Failure::Folder(error) => error.fmt(f),
            Failure::Check(error) => error.fmt(f),
            Failure::Game(error) => error.fmt(f),
            Failure::Policy(error) => error.fmt(f),
            Failure::Shard(error) => error.fmt(f),
            Failure::Reo(error) => error.fmt(f),
            Failure::Optimum(error) => error.fmt(f),
            Failure::Advisor(error) => error.fmt(f),
            Failure::Range(error) => error.fmt(f),
            Failure::Ask(error) => error.fmt(f),
            Failure::Tell(error) => error.fmt(f),
            Failure::Snapshot(error) => error.fmt(f),
            Failure::Json(error) => error.fmt(f),
            Failure::Csv(error) => error.fmt(f),
            Failure::File { path, error } => write!(f, "{}: {error}", path.display()),
            Failure::Value(message) | Failure::Unknown(message) => f.write_str(message),
            Failure::Raised(error) => error.fmt(f),
        }
    }
}

impl From<Failure> for PyErr {
    fn from(failure: Failure) -> Self {
        Python::attach(|py| failure.raise(py))
    }
}

macro_rules! from {
    ($($kind:ident($error:ty),)*) => {$(
        impl From<$error> for Failure {
            fn from(error: $error) -> Self {
                Failure::$kind(error)
            }
        }
    )*};
}

from! {
    Spec(SpecErrors),
    Run(RunError),
    Folder(FolderError),
    Check(CheckError),
    Game(GameError),
    Policy(PolicyError),
    Shard(ShardError),
    Reo(ReoError),
    Optimum(OptimumError),
    Advisor(AdvisorError),
    Range(LossRangeError),
    Ask(AskError),
    Tell(TellError),
    Snapshot(SnapshotError),
    Json(serde_json::Error),
    Csv(CsvError),
    Raised(PyErr),
}

impl From<JobError> for Failure {
    fn from(error: JobError) -> Self {
        match error {
            JobError::Run(error) => Failure::Run(error),
            JobError::Folder(error) => Failure::Folder(error),
            error => Failure::Value(error.to_string()),
        }
    }
}

/// The first exception that Python code raised while Rust code called it, which has no way to pass it on.
#[derive(Clone, Debug, Default)]
pub(crate) struct Raised(Arc<Mutex<Option<PyErr>>>);

impl Raised {
    pub(crate) fn put(&self, error: PyErr) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert(error);
    }

    pub(crate) fn take(&self) -> Option<PyErr> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).take()
    }

    /// What came out, unless an exception was raised meanwhile: then that, whatever came out.
    pub(crate) fn or<T, E: Into<Failure>>(&self, outcome: Result<T, E>) -> Result<T, Failure> {
        match self.take() {
            Some(error) => Err(Failure::Raised(error)),
            None => outcome.map_err(Into::into),
        }
    }
}
