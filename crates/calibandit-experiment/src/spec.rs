//! Experiments as files: what to play, against what, how long and how often.
//!
//! An experiment is a TOML file; [`ExperimentSpec`] is what it says. Reading one either gives a specification that can
//! run, or [`SpecErrors`]: everything that is wrong, each with its line, its column and what was probably meant.
//! [`schema`] is the JSON schema of the files, made from the same types, so that editors complete and check them.
//!
//! ```
//! use calibandit_experiment::spec::ExperimentSpec;
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
//! memory_bound = 3
//!
//! [sweep]
//! "policy.memory_bound" = [3, 6, 12]
//! "#;
//! let spec = ExperimentSpec::from_toml("first.toml", text)?;
//! let labels: Vec<_> = spec.expand()?.into_iter().map(|point| point.label).collect();
//! assert_eq!(labels, ["M=3", "M=6", "M=12"]);
//!
//! let errors = ExperimentSpec::from_toml("first.toml", &text.replace("memory_bound = 3", "memory_bund = 3")).unwrap_err();
//! assert_eq!(errors.errors()[0].suggestion.as_deref(), Some("memory_bound"));
//! # Ok::<(), calibandit_experiment::spec::SpecErrors>(())
//! ```
//!
//! This module runs nothing and knows no results.

mod check;
mod error;
mod expand;
mod experiment;
mod read;
mod schema;
mod source;
mod suggest;
mod sweep;
mod target;
mod tree;

pub use error::{SpecError, SpecErrorKind, SpecErrors};
pub use expand::{Point, SweptValue};
pub use experiment::{Checkpoints, ExperimentSpec, FigureSpec, Overrides, PolicyEntry, Scale};
pub use schema::schema;
pub use source::{Excerpt, Position};
pub use sweep::{Axis, Sweep};
