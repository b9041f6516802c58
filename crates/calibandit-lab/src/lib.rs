//! Experiments with [`calibandit`]: files that say what to run, and what comes of running them.

pub mod figure;
pub mod report;
pub mod results;
pub mod spec;
pub mod summary;
