//! Fits warm-up curves to observed losses and writes them as games of the [`calibandit`] library.
//!
//! The data flow is: losses by arm and position, from a CSV file ([`read_losses`]), from rows in memory
//! ([`group_rows`]) or from a log of plays ([`losses_by_position`](diagnose::Log::losses_by_position)) → one curve per
//! arm and the game that they make ([`fit_game`], [`GameFit`]) → a [`GameSpec`](calibandit::GameSpec) or the text of an
//! experiment file's `[game]` table. [`fit()`] fits a single curve.
//!
//! ```
//! use calibandit_fit::{GameFitOptions, LossColumns, LossRange, fit_game, parse_losses};
//!
//! let table = "worker,task,minutes\n\
//!     Ada,1,9.2\nAda,2,7.1\nAda,3,6.8\nAda,4,6.6\nAda,5,6.5\n\
//!     Bo,1,12.1\nBo,2,9.0\nBo,3,7.4\nBo,4,6.4\nBo,5,5.9\n\
//!     Cleo,1,7.0\n";
//! let columns = LossColumns { arm: "worker", position: "task", loss: "minutes" };
//! let losses = parse_losses("tasks.csv", table.as_bytes(), columns)?;
//! // 0 minutes become a loss of 0, 20 minutes a loss of 1.
//! let options = GameFitOptions { range: LossRange::new(0.0, 20.0)?, ..GameFitOptions::default() };
//! let fitted = fit_game(&losses, &options)?;
//! assert!(fitted.arms().iter().all(|arm| arm.fit.r_squared > 0.97));
//! assert_eq!(fitted.left_out()[0].name, "Cleo"); // one position is too little for a curve
//! assert_eq!(fitted.game().title(), "custom, K = 2");
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! This crate knows nothing about the sources of the data: any losses by position in a run will do. It depends on the
//! library alone, not on the crates that run experiments.

mod choice;
mod curve;
pub mod diagnose;
mod game;
mod least_squares;
mod losses;
mod profile;
pub mod table;

pub use calibandit::{LossRange, LossRangeError};
pub use choice::{ModelChoice, fit_choice};
pub use curve::{Fit, FitError, Observation, StandardErrors, WarmUp, fit};
pub use game::{ArmsError, FittedArm, GameFit, GameFitOptions, LeftOutArm, LeftOutReason, fit_game, fit_rows};
pub use losses::{ArmLosses, LossColumns, LossRow, group_rows, parse_losses, read_losses};
pub use table::TableError;
