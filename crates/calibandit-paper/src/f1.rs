//! The paper's Formula One study: from raw lap times to pairs of drivers and their experiments.
//!
//! Users supply the public tables of lap times. The tables are for non-commercial use, so they are not part of this
//! project. [`study`] reads them, cuts the laps of every driver at the first pit stop, normalises them per race and
//! fits the lap-time models. [`Study::literal_pairs`] applies the paper's condition, [`Study::selected_pairs`] a rule
//! that selects ten pairs. These ten pairs are part of the library as [`RacePair`](calibandit::game::zoo::RacePair), so
//! experiments on them need no data.

mod experiments;
mod figure;
mod pairs;
mod stints;
mod study;
mod tables;

pub use experiments::experiments;
pub use figure::{FIGURE, figure};
pub use pairs::{DriverPair, LEAST_GAP, PAIRS, PairDriver, shipped};
pub use stints::{Normalise, RaceStints, StintOptions, Stops, stints};
pub use study::{Comparison, DriverRace, F1Error, LAP_MODELS, Study, study, study_tables};
pub use tables::{F1Files, F1Tables, ReadCounts};
