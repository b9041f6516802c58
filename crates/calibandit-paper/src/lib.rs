//! The reproduction of the paper "Weighted Tallying Bandits" (Malik, Igoe, Li and Singh, ICML 2023), and a tournament
//! of all policies.
//!
//! | module | content |
//! |---|---|
//! | [`experiments`] | the experiment files behind the paper's figures, embedded in this crate |
//! | [`f1`] | the Formula One study: lap times → lap-time models → pairs of drivers → experiments |
//! | [`figures`] | the list of figures, and their captions |
//! | [`tournament`] | every policy on every game |
//!
//! This is the only crate that knows the paper. The crates below it run experiments and draw figures in general.
//!
//! ```
//! use calibandit_paper::figures::{FIGURES, PaperFigure, select};
//!
//! let [figure] = select(FIGURES, &["fig2b".into()])?[..] else { panic!("one name selects one figure") };
//! let PaperFigure::Experiment(experiment) = figure else { panic!("fig2b is an experiment") };
//! assert_eq!(experiment.read()?.horizon(), 1_000_000);
//! assert_eq!(select(FIGURES, &[])?.len(), FIGURES.len());
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

pub mod experiments;
pub mod f1;
pub mod figures;
pub mod identification;
pub mod tournament;

mod captions;
