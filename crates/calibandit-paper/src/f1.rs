//! The paper's Formula One study: from raw lap times to pairs of drivers and their experiments.
//!
//! Users supply the public tables of lap times. The tables are for non-commercial use, so they are not part of this
//! project. [`study`] reads them, cuts the laps of every driver at the first pit stop, normalises them per race and
//! fits the lap-time models. [`Study::literal_pairs`] applies the paper's condition, [`Study::selected_pairs`] a rule
//! that selects ten pairs. These ten pairs are part of the library as [`RacePair`](calibandit::game::zoo::RacePair), so
//! experiments on them need no data.
//!
//! [`stint_effects`] asks whether drivers warm up at all: it compares drivers on the same lap of the same race, over
//! all stints.

mod experiments;
mod figure;
mod pairs;
mod stint_effects;
mod stint_figure;
mod stints;
mod study;
mod tables;
mod within;

pub use experiments::experiments;
pub use figure::{FIGURE, figure};
pub use pairs::{DriverPair, LEAST_GAP, PAIRS, PairDriver, shipped};
pub use stint_effects::{
    EffectOptions, LapUse, LossChange, LossTrend, REFERENCE_LAP, StintEffects, StintRow, stint_effects,
    stint_effects_of_tables,
};
pub use stint_figure::{STINT_FIGURE, stint_figure};
pub use stints::{Normalise, RaceStints, StintOptions, Stops, stints};
pub use study::{Comparison, DriverRace, F1Error, LAP_MODELS, Study, study, study_tables};
pub use tables::{F1Files, F1Tables, ReadCounts};
