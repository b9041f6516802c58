//! The compiled module of the Python package `calibandit`: games, policies, simulations, results and advisors as a few
//! simple classes. The public interface, with names, defaults, documentation and types, is Python code in
//! `python/calibandit`.
//!
//! Specifications are passed as JSON and numbers as Arrow arrays. This crate computes no results of its own.

mod advisor;
mod batch;
mod column;
mod diagnose;
mod failure;
mod fit;
mod frame;
mod game;
mod interpreter;
mod lanes;
mod pilot;
mod plot;
mod policy;
mod save;
mod session;
mod simulate;
mod table;
mod watch;

use std::ffi::OsString;

use calibandit::{GameSpec, PolicySpec};
use pyo3::prelude::*;

use failure::Failure;
use interpreter::{called, detached};

/// Every kind of game, as JSON.
#[pyfunction]
fn game_kinds() -> Result<String, Failure> {
    called(|| Ok(serde_json::to_string(GameSpec::catalogue())?))
}

/// Every kind of policy, as JSON.
#[pyfunction]
fn policy_kinds() -> Result<String, Failure> {
    called(|| Ok(serde_json::to_string(PolicySpec::catalogue())?))
}

/// Runs the command line and returns its exit code.
#[pyfunction]
fn command_line(py: Python<'_>, arguments: Vec<OsString>) -> Result<u8, Failure> {
    detached(py, || Ok(calibandit_cli::run(arguments)))
}

/// The name of the test behind summaries and comparisons.
#[pyfunction]
fn test_name() -> &'static str {
    calibandit_experiment::stats::TEST
}

// On free-threaded builds, importing the module turns the interpreter lock on.
#[pymodule(gil_used = true)]
mod _core {
    #[pymodule_export]
    use super::advisor::{PyAdvisor, parts_checksum};
    #[pymodule_export]
    use super::column::Column;
    #[pymodule_export]
    use super::diagnose::{PyDiagnosis, PyPrice, diagnose_columns, diagnose_file};
    #[pymodule_export]
    use super::fit::{fit_file, fit_log, fit_positions};
    #[pymodule_export]
    use super::frame::PyFrame;
    #[pymodule_export]
    use super::game::{PyGame, check_arm};
    #[pymodule_export]
    use super::interpreter::{close, panic_for_tests};
    #[pymodule_export]
    use super::lanes::PyLaneAdvisor;
    #[pymodule_export]
    use super::pilot::pilot_plan;
    #[pymodule_export]
    use super::policy::{PyFeedback, PyRun};
    #[pymodule_export]
    use super::session::PySession;
    #[pymodule_export]
    use super::simulate::{
        check_spec, complete_policy, complete_spec, memory_warnings_of, merge, point_labels, read, run, simulate,
    };
    #[pymodule_export]
    use super::table::Table;
    #[pymodule_export]
    use super::{command_line, game_kinds, policy_kinds, test_name};

    #[pymodule_export]
    const VERSION: &str = env!("CARGO_PKG_VERSION");
}
