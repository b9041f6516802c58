//! Errors of the library as Python exceptions. [`Failure::raise`] is the only place that maps errors to exceptions.
//!
//! The exceptions are Python classes in `calibandit/errors.py`. Each derives from `CalibanditError` and from the
//! built-in exception that fits. `calibandit/_wording.py` makes them: it puts messages that were written for files into
//! the terms of Python.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use calibandit::lanes::{LaneError, LaneSettingsError};
use calibandit::{
    AdvisorError, ArmError, AskError, GameError, LossRangeError, OptimumError, PolicyError, ReoError, SnapshotError,
    TellError,
};
use calibandit_experiment::results::CsvError;
use calibandit_experiment::run::ShardError;
use calibandit_experiment::spec::{DiagnosticKind, Diagnostics};
use calibandit_experiment::stats::CompareError;
use calibandit_experiment::{Error, ErrorKind, InstanceError};
use calibandit_report::session::SessionError;
use pyo3::exceptions::PyKeyboardInterrupt;
use pyo3::prelude::*;

use crate::interpreter::still_attached;

/// An error of any function of this crate.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Failure {
    #[error(transparent)]
    Spec(#[from] Diagnostics),
    #[error(transparent)]
    Experiment(#[from] Error),
    #[error(transparent)]
    Game(#[from] GameError),
    #[error(transparent)]
    Policy(#[from] PolicyError),
    #[error(transparent)]
    Shard(#[from] ShardError),
    #[error(transparent)]
    Reo(#[from] ReoError),
    #[error(transparent)]
    Optimum(#[from] OptimumError),
    #[error(transparent)]
    Advisor(#[from] AdvisorError),
    #[error(transparent)]
    Range(#[from] LossRangeError),
    #[error(transparent)]
    Ask(#[from] AskError),
    #[error(transparent)]
    Tell(#[from] TellError),
    #[error(transparent)]
    LaneSettings(#[from] LaneSettingsError),
    #[error(transparent)]
    Lane(#[from] LaneError),
    #[error(transparent)]
    Snapshot(#[from] SnapshotError),
    #[error(transparent)]
    Json(#[from] serde_json::Error),
    #[error(transparent)]
    Csv(#[from] CsvError),
    #[error(transparent)]
    Compare(#[from] CompareError),
    /// Results that are kept in a temporary file.
    #[error(transparent)]
    Results(#[from] io::Error),
    #[error("{}: {error}", path.display())]
    File { path: PathBuf, error: io::Error },
    /// An arm that is not part of a game yet.
    #[error(transparent)]
    Arm(#[from] ArmError),
    /// A value of the wrong type.
    #[error("{0}")]
    Type(String),
    /// An invalid value for which the library has no error type.
    #[error("{0}")]
    Value(String),
    /// Data that are too few for a game.
    #[error("{0}")]
    NoGame(String),
    /// An unknown name.
    #[error("{0}")]
    Unknown(String),
    /// A call of an object that is in the middle of another call.
    #[error("{0}")]
    Busy(&'static str),
    /// The interpreter is about to end.
    #[error("the interpreter is about to end: nothing can be computed any more")]
    Ending,
    /// A panic: a violated invariant of the code.
    #[error("this is a bug of calibandit, please report it: {0}")]
    Panic(String),
    /// An exception raised by Python code that was called.
    #[error(transparent)]
    Raised(#[from] PyErr),
}

impl Failure {
    /// The exception.
    fn raise(self, py: Python<'_>) -> PyErr {
        let message = self.to_string();
        match self {
            Failure::Raised(error) => error,
            Failure::Experiment(error) => match error.into_kind() {
                ErrorKind::Invalid(errors) => Failure::Spec(errors).raise(py),
                ErrorKind::Stopped { .. } => PyKeyboardInterrupt::new_err(message),
                ErrorKind::Instance { source, .. } | ErrorKind::Refused { source, .. } => match source {
                    InstanceError::Game(_) | InstanceError::Optimum(_) => exception(py, "GameError", &message),
                    InstanceError::Policy(_) => exception(py, "PolicyError", &message),
                    _ => exception(py, "SimulationError", &message),
                },
                ErrorKind::UserCode { .. } => exception(py, "SpecError", &message),
                ErrorKind::Io { source, .. } => exception(py, folder_error(&source), &message),
                ErrorKind::NoResults { .. } => exception(py, "MissingFolderError", &message),
                ErrorKind::Occupied { .. } => {
                    let advice = "choose another folder, or replace the results with `force=True`";
                    exception(py, "FolderError", &format!("{message}; {advice}"))
                }
                _ => exception(py, "FolderError", &message),
            },
            Failure::Spec(errors) => {
                let unreadable = errors.errors().iter().find(|error| error.kind == DiagnosticKind::Unreadable);
                let class = match unreadable {
                    Some(error) if !Path::new(&error.file).exists() => "MissingFileError",
                    Some(_) => "UnreadableFileError",
                    None => "SpecError",
                };
                with_findings(py, class, &message, &errors)
            }
            Failure::Shard(_) => exception(py, "SpecError", &message),
            Failure::File { error, .. } => exception(py, folder_error(&error), &message),
            Failure::Csv(_) | Failure::Results(_) => exception(py, "FolderError", &message),
            Failure::Compare(CompareError::UnknownPolicy { .. }) => exception(py, "UnknownNameError", &message),
            Failure::Compare(_) => exception(py, "SpecError", &message),
            Failure::Game(_) | Failure::NoGame(_) | Failure::Arm(_) | Failure::Reo(_) | Failure::Optimum(_) => {
                exception(py, "GameError", &message)
            }
            Failure::Type(_) => exception(py, "ArgumentTypeError", &message),
            Failure::Policy(_) => exception(py, "PolicyError", &message),
            Failure::Ask(AskError::BadRun { .. }) => exception(py, "SimulationError", &message),
            Failure::Ask(AskError::Waiting { outstanding }) => with(
                py,
                exception(py, "WaitingError", &message),
                "outstanding",
                serde_json::to_string(&outstanding).ok(),
            ),
            Failure::Tell(TellError::Unknown { .. }) => exception(py, "UnknownDecisionError", &message),
            Failure::Tell(TellError::AlreadySettled { .. }) => exception(py, "AlreadySettledError", &message),
            Failure::Tell(_) => exception(py, "TellError", &message),
            Failure::LaneSettings(LaneSettingsError::Range { .. }) => exception(py, "SpecError", &message),
            Failure::LaneSettings(_) => exception(py, "PolicyError", &message),
            Failure::Lane(error) => {
                let raised = exception(py, lane_error(&error), &message);
                match error {
                    LaneError::Waiting { outstanding } | LaneError::Busy { open: outstanding, .. } => {
                        with(py, raised, "outstanding", serde_json::to_string(&outstanding).ok())
                    }
                    _ => raised,
                }
            }
            Failure::Snapshot(_) => exception(py, "SnapshotError", &message),
            Failure::Unknown(_) => exception(py, "UnknownNameError", &message),
            Failure::Busy(_) => exception(py, "ReentrantCallError", &message),
            Failure::Ending => exception(py, "SimulationError", &message),
            Failure::Panic(_) => exception(py, "InternalError", &message),
            Failure::Ask(_) | Failure::Advisor(_) | Failure::Range(_) | Failure::Json(_) | Failure::Value(_) => {
                exception(py, "SpecError", &message)
            }
        }
    }
}

/// The exception for a refused command of a lane advisor.
fn lane_error(error: &LaneError) -> &'static str {
    match error {
        LaneError::Busy { .. } => "LaneBusyError",
        LaneError::Waiting { .. } | LaneError::TooManyOpen { .. } => "WaitingError",
        LaneError::BadRun { .. } => "SimulationError",
        LaneError::Unknown { .. } | LaneError::StaleAfter { .. } => "UnknownDecisionError",
        LaneError::AlreadySettled { .. } => "AlreadySettledError",
        LaneError::TooLate { .. } | LaneError::Loss { .. } => "TellError",
        LaneError::Arm { .. } => "UnknownNameError",
        _ => "SpecError",
    }
}

/// The exception for a file of an output folder that could not be read or written.
fn folder_error(error: &io::Error) -> &'static str {
    if error.kind() == io::ErrorKind::NotFound { "MissingFolderError" } else { "FolderError" }
}

/// An exception of `calibandit.errors`.
fn exception(py: Python<'_>, class: &str, message: &str) -> PyErr {
    worded(py, class, message, None)
}

/// The exception for the errors of an experiment.
fn with_findings(py: Python<'_>, class: &str, message: &str, errors: &Diagnostics) -> PyErr {
    worded(py, class, message, serde_json::to_string(errors.errors()).ok())
}

fn worded(py: Python<'_>, class: &str, message: &str, findings: Option<String>) -> PyErr {
    let made = py
        .import("calibandit._wording")
        .and_then(|module| module.getattr("exception")?.call1((class, message, findings)));
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

impl From<Failure> for PyErr {
    fn from(failure: Failure) -> Self {
        still_attached(|py| failure.raise(py))
    }
}

impl From<SessionError> for Failure {
    fn from(error: SessionError) -> Self {
        match error {
            SessionError::Experiment(error) => Failure::Experiment(error),
            error => Failure::Value(error.to_string()),
        }
    }
}

/// The first exception that Python code raised while the library called it: the library cannot pass it on.
#[derive(Clone, Debug, Default)]
pub(crate) struct Raised(Arc<Mutex<Option<PyErr>>>);

impl Raised {
    pub(crate) fn put(&self, error: PyErr) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert(error);
    }

    pub(crate) fn take(&self) -> Option<PyErr> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).take()
    }

    /// The stored exception if there is one, otherwise `outcome`.
    pub(crate) fn or<T, E: Into<Failure>>(&self, outcome: Result<T, E>) -> Result<T, Failure> {
        match self.take() {
            Some(error) => Err(Failure::Raised(error)),
            None => outcome.map_err(Into::into),
        }
    }
}
