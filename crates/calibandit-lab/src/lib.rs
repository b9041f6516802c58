//! Experiments with [`calibandit`]: files that say what to run, and what comes of running them.
//!
//! [`spec`] reads experiment files, [`run`](mod@run) runs them, [`results`] and [`summary`] are what comes of it, and [`folder`] keeps
//! it on disk, with [`figure`]s and a [`report`]; [`job`] does all of it in a row. [`paper`] has the paper's figures as experiments, and [`check`](mod@check) says what can
//! be known beforehand. [`mod@fit`] fits warm-up curves to losses that were observed, and [`f1`] is the way from lap times to the
//! paper's racing tournament. [`tournament`] has every policy play everything.

pub mod check;
pub mod f1;
pub mod figure;
pub mod fit;
pub mod folder;
pub mod job;
pub mod paper;
pub mod parallel;
pub mod picture;
pub mod report;
pub mod results;
pub mod run;
pub mod spec;
pub mod summary;
pub mod tournament;
