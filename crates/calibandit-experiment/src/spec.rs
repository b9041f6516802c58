//! Experiments as files: what to play, against what, how long and how often.
//!
//! An experiment is a TOML file; [`ExperimentFile`] is what it says. Validating one gives an
//! [`Experiment`](crate::Experiment), or [`Diagnostics`]: everything that is wrong, each with its line, its column and what
//! was probably meant. [`schema`] is the JSON schema of the files, made from the same types, so that editors complete and
//! check them.
//!
//! ```
//! use calibandit_experiment::Experiment;
//! let text = r#"
//! name = "first"
//! horizon = 10_000
//!
//! [game]
//! kind = "step"
//! arms = 5
//! memory = 3
//!
//! [[policy]]
//! kind = "epoch-ucb"
//! memory_bund = 3
//! "#;
//! let errors = Experiment::from_toml("first.toml", text).unwrap_err();
//! assert_eq!(errors.errors()[0].suggestion.as_deref(), Some("memory_bound"));
//! ```
//!
//! This module runs nothing and knows no results.

mod check;
mod diagnostic;
mod expand;
mod experiment;
mod parts;
mod read;
mod schema;
mod shape;
mod source;
mod suggest;
mod sweep;
mod target;
mod validate;
mod value;
mod wording;

pub use diagnostic::{Diagnostic, DiagnosticKind, Diagnostics};
pub use expand::{Point, SweptValue};
pub(crate) use experiment::to_toml;
pub use experiment::{Checkpoints, ExperimentFile, FigureSpec, Overrides, PolicyEntry, Scale};
pub use parts::{game_from_json, game_from_toml, policy_from_json, policy_from_toml};
pub(crate) use read::Document;
pub use schema::schema;
pub use source::Position;
pub use sweep::{Sweep, SweepAxis};
