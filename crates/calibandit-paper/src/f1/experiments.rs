//! The tournament of pairs that do not come with the library, as experiments.

use serde_json::{Map, Value, json};

use super::pairs::Pair;
use crate::paper;
use calibandit_experiment::Experiment;
use calibandit_experiment::spec::SpecErrors;

/// The paper's experiment for each of these pairs: as `f1-main`, but with the pair's models and every policy told M = m.
///
/// # Errors
/// [`SpecErrors`] if a pair is no game.
pub fn experiments(pairs: &[Pair]) -> Result<Vec<Experiment>, SpecErrors> {
    let Some(main) = paper::FIGURES.iter().find(|figure| figure.name == "f1-main") else { return Ok(Vec::new()) };
    let template = main.spec()?;
    let one = |pair: &Pair| {
        let mut spec = template.file().clone();
        let [a, b] = [0, 1].map(|i| pair.drivers[i].name());
        spec.name = format!("f1-{}", pair.name());
        spec.title = Some(format!("CPR over time, F1 tournament, {}: {a} and {b}", pair.heading()));
        spec.game = pair.game().into();
        let told: Map<String, Value> = [("policy.memory_bound".to_string(), json!(pair.laps))].into_iter().collect();
        spec.sweep.points = vec![told];
        spec.validate()
    };
    pairs.iter().map(one).collect()
}
