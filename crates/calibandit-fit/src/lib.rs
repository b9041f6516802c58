//! Fits warm-up curves to observed losses and writes them as games of the [`calibandit`] library.
//!
//! The data flow is: a table of losses by arm and position ([`read_losses`]) → one curve per arm ([`fit_arms`]) → a
//! [`GameSpec`](calibandit::GameSpec) ([`game`]) or the text of an experiment file's `[game]` table ([`game_toml`]).
//! [`fit()`] fits a single curve.
//!
//! ```
//! use calibandit_fit::{LossColumns, LossRange, WarmUp, fit_arms, game, parse_losses};
//!
//! let table = "worker,task,minutes\n\
//!     Ada,1,9.2\nAda,2,7.1\nAda,3,6.8\nAda,4,6.6\nAda,5,6.5\n\
//!     Bo,1,12.1\nBo,2,9.0\nBo,3,7.4\nBo,4,6.4\nBo,5,5.9\n";
//! let columns = LossColumns { arm: "worker", position: "task", loss: "minutes" };
//! let losses = parse_losses("tasks.csv", table.as_bytes(), columns)?;
//! // 0 minutes become a loss of 0, 20 minutes a loss of 1.
//! let arms = fit_arms(WarmUp::Plateau, LossRange::new(0.0, 20.0)?, &losses)?;
//! assert!(arms.iter().all(|arm| arm.fit.r_squared > 0.99));
//! let game = game(&arms)?;
//! assert_eq!(game.title(), "custom, K = 2");
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! This crate knows nothing about the sources of the data: any losses by position in a run will do. It depends on the
//! library alone, not on the crates that run experiments.

mod curve;
mod game;
mod least_squares;
mod profile;
pub mod table;

pub use calibandit::{LossRange, LossRangeError};
pub use curve::{Fit, FitError, Observation, StandardErrors, WarmUp, fit};
pub use game::{ArmLosses, ArmsError, FittedArm, LossColumns, fit_arms, game, game_toml, parse_losses, read_losses};
pub use table::TableError;
