//! Experiment files: the game, the policies, the horizon and the number of instances, written in TOML.
//!
//! [`ExperimentFile`] has the contents of a file. Validation returns an [`Experiment`](crate::Experiment), or
//! [`Diagnostics`]: all errors of the file, each with its line, its column and a suggestion. [`schema`] is the JSON
//! schema of the files for editors; it is generated from the same types. Games and policies can also be read on their
//! own, for example with [`game_from_toml`] and [`policy_from_json`].
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
//! This module does not run experiments.
//!
//! A file passes these steps: `value` parses it, `check` compares it with the `shape` of the schema, `validate` checks
//! what concerns several keys, and `expand` lists the points of the sweep with the games and policies of `parts`.

mod check;
mod diagnostic;
mod expand;
mod experiment;
mod json;
mod live;
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

pub(crate) use diagnostic::Finding;
pub use diagnostic::{Diagnostic, DiagnosticKind, Diagnostics};
pub use expand::{Point, SweptValue};
pub use experiment::{
    Checkpoints, ExperimentFile, FigureSpec, Overrides, PolicyEntry, RegretReference, Scale, ShownUnit,
};
pub(crate) use experiment::{LONGEST_LABEL, LONGEST_TITLE, MOST_CHECKPOINTS, to_toml};
pub use experiment::{MOST_INSTANCES, MOST_PLAYS};
pub use live::live_from_json;
pub use parts::{game_from_json, game_from_toml, policy_from_json, policy_from_toml};
pub(crate) use read::Document;
pub use schema::schema;
pub use source::Position;
pub(crate) use source::Source;
pub use sweep::{Sweep, SweepAxis};
pub(crate) use validate::{TakenLabels, check_name};
