//! The paper's F1 tournament, from raw laps to pairs of drivers.
//!
//! Users bring the public tables of lap times (they are for non-commercial use, so they do not come with this
//! project). [`study`] reads them, cuts every driver's laps at the first stop, normalises them by race and fits the lap-time
//! models; [`Study::literal_pairs`] applies the paper's condition, [`Study::selected_pairs`] a rule that leaves ten.
//! Those ten come with the library as [`RacePair`](calibandit::game::zoo::RacePair): playing them needs no data.

mod experiments;
mod figure;
mod pairs;
mod stints;
mod study;
mod tables;

pub use experiments::experiments;
pub use figure::{FIGURE, figure};
pub use pairs::{LEAST_GAP, PAIRS, Pair, PairDriver, shipped};
pub use stints::{Normalise, Options, RaceStints, Stops, stints};
pub use study::{Comparison, DriverRace, F1Error, Study, study, study_tables};
pub use tables::{Contents, Reading, Tables};
