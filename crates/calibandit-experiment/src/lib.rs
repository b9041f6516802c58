//! From an experiment file to results.
//!
//! [`spec`] reads experiment files and validates them into an [`Experiment`]; [`preflight`] analyses an experiment
//! without running it; [`run`](mod@run) runs it on all cores, in shards and with a journal; [`results`] and [`stats`]
//! hold and summarise what came out; [`output`] stores it in a folder. [`schedule`] and [`cost`] distribute work over
//! threads, [`mod@format`] writes numbers for people. Figures and reports are in the crate `calibandit-report`.

pub mod cost;
mod error;
mod experiment;
pub mod format;
pub mod output;
pub mod preflight;
pub mod results;
pub mod run;
pub mod schedule;
pub mod spec;
pub mod stats;

pub use error::{Error, ErrorKind, InstanceError};
pub use experiment::{
    Experiment, ExperimentBuilder, GameSource, LabelledPolicy, PolicySource, RunSize, UserPolicyFactory,
};
