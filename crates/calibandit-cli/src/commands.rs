//! What each command does.

mod check;
mod lists;
mod runs;

pub(crate) use check::check;
pub(crate) use lists::{completions, games, policies, schema};
pub(crate) use runs::{merge, paper, report, run};
