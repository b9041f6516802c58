//! From an experiment file to results.
//!
//! [`spec`] reads experiment files and validates them into an [`Experiment`]; [`preflight`] analyses an experiment without running it; [`run`](mod@run) runs it on
//! all cores, in shards and with a journal; [`results`] and [`summary`] hold what came out; [`output`] stores it in a
//! folder. Figures and reports are in the crate `calibandit-report`.

mod experiment;
pub mod output;
pub mod parallel;
pub mod preflight;
pub mod results;
pub mod run;
pub mod spec;
pub mod summary;

pub use experiment::Experiment;
