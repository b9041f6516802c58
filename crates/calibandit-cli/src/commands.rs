//! One module per command or group of commands.

mod check;
mod closing;
mod describe;
mod diagnose;
mod f1;
mod fit;
mod lists;
mod paper;
mod pilot;
mod runs;
#[cfg(feature = "serve")]
mod serve;
mod state;
mod targets;
mod tournament;

pub(crate) use check::check;
pub(crate) use diagnose::diagnose;
pub(crate) use f1::f1;
pub(crate) use fit::fit;
pub(crate) use lists::{completions, games, policies, schema};
pub(crate) use paper::paper;
pub(crate) use pilot::pilot;
pub(crate) use runs::{merge, report, run};
#[cfg(feature = "serve")]
pub(crate) use serve::{backup, serve, token, verify};
pub(crate) use state::state;
pub(crate) use tournament::tournament;
