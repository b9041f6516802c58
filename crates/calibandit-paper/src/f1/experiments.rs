//! The experiments on pairs of drivers that are not part of the library.

use calibandit_experiment::Experiment;
use calibandit_experiment::spec::Diagnostics;
use serde_json::{Map, Value, json};

use super::pairs::DriverPair;
use crate::experiments::F1_MAIN;

/// One experiment per pair: `f1-main` with the models of the pair, and with M = m for every policy.
///
/// # Errors
/// [`Diagnostics`] if the models of a pair are not a game.
pub fn experiments(pairs: &[DriverPair]) -> Result<Vec<Experiment>, Diagnostics> {
    let template = F1_MAIN.read()?;
    let one = |pair: &DriverPair| {
        let mut file = template.file().expect("it was read from a file").clone();
        let [a, b] = [0, 1].map(|i| pair.drivers[i].name());
        file.name = format!("f1-{}", pair.name());
        file.title = Some(format!("CPR over time, F1 tournament, {}: {a} and {b}", pair.heading()));
        file.game = pair.game().into();
        let bound: Map<String, Value> = [("policy.memory_bound".to_string(), json!(pair.laps))].into_iter().collect();
        file.sweep.points = vec![bound];
        file.validate()
    };
    pairs.iter().map(one).collect()
}
