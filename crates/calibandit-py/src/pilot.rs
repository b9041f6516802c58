//! Plans of pilots.

use calibandit::{PilotDesign, PilotPlan};
use pyo3::prelude::*;
use serde_json::json;

use crate::failure::Failure;
use crate::interpreter::called;

/// A plan as JSON, with what its log can answer.
#[pyfunction]
pub(crate) fn pilot_plan(
    design: &str,
    arms: usize,
    longest: u32,
    sd: f64,
    drop: f64,
    seed: u64,
) -> Result<String, Failure> {
    called(|| {
        let design: PilotDesign = serde_json::from_value(json!(design))?;
        let plan = PilotPlan::new(design, arms, longest, sd, drop, seed);
        let plan = plan.map_err(|error| Failure::Value(error.to_string()))?;
        let runs: Vec<(usize, u32)> = plan.runs.iter().map(|run| (run.arm, run.plays)).collect();
        Ok(json!({
            "plays_per_arm": plan.plays_per_arm,
            "plays": plan.plays,
            "answers": plan.answers(),
            "runs": runs,
        })
        .to_string())
    })
}
