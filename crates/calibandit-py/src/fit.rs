//! Warm-up curves fitted to observed losses, and the game that they make.

use std::path::PathBuf;
use std::sync::Arc;

use calibandit_fit::{
    ArmsError, Fit, GameFit, LeftOutArm, LeftOutReason, LossColumns, LossRange, LossRow, ModelChoice, TableError,
    fit_game, fit_rows as fit_in_memory, read_losses,
};
use pyo3::prelude::*;
use serde_json::{Value, json};

use crate::failure::Failure;
use crate::interpreter::called;
use crate::watch::watched;

/// Fits the arms of a table in memory, given by its columns. Returns arms, left out arms, memory and game as JSON.
#[pyfunction]
pub(crate) fn fit_rows(
    py: Python<'_>,
    arms: Vec<String>,
    positions: Vec<u32>,
    losses: Vec<f64>,
    model: &str,
    loss_range: (f64, f64),
) -> Result<String, Failure> {
    called(|| {
        let (model, range) = options(model, loss_range)?;
        let rows = arms.into_iter().zip(positions).zip(losses);
        let rows = rows.map(|((arm, position), loss)| LossRow { arm, position, loss });
        let fit = move |_| described(&fit_in_memory(rows, model, range).map_err(refused)?);
        watched(py, None, &Arc::default(), fit)
    })
}

/// Fits the arms of a CSV file, and returns the same.
#[pyfunction]
pub(crate) fn fit_file(
    py: Python<'_>,
    path: PathBuf,
    arm: String,
    position: String,
    loss: String,
    model: &str,
    loss_range: (f64, f64),
) -> Result<String, Failure> {
    called(|| {
        let (model, range) = options(model, loss_range)?;
        let fit = move |_| {
            let columns = LossColumns { arm: &arm, position: &position, loss: &loss };
            let losses = read_losses(&path, columns).map_err(|error| match error {
                TableError::Column { .. } => Failure::Unknown(error.to_string()),
                error => Failure::Value(error.to_string()),
            })?;
            described(&fit_game(&losses, model, range).map_err(refused)?)
        };
        watched(py, None, &Arc::default(), fit)
    })
}

fn options(model: &str, (low, high): (f64, f64)) -> Result<(ModelChoice, LossRange), Failure> {
    Ok((serde_json::from_value(json!(model))?, LossRange::new(low, high)?))
}

fn described(fitted: &GameFit) -> Result<String, Failure> {
    let arms: Vec<Value> = fitted.arms().iter().map(|arm| curve(&arm.name, &arm.fit)).collect();
    let left_out: Vec<Value> =
        fitted.left_out().iter().map(|arm| json!({"name": arm.name, "reason": reason(arm)})).collect();
    let game = serde_json::to_value(fitted.game())?;
    Ok(json!({"arms": arms, "left_out": left_out, "memory": fitted.memory(), "game": game}).to_string())
}

fn curve(name: &str, fit: &Fit) -> Value {
    json!({
        "name": name,
        "model": fit.model.name(),
        "losses": fit.observations,
        "alpha": fit.alpha,
        "beta": fit.beta,
        "gamma": fit.gamma,
        "level": fit.level,
        "sd": fit.sd,
        "r_squared": fit.r_squared,
        // Minus infinity, which JSON does not have, becomes null.
        "aic": fit.aic(),
        "last_position": fit.last,
        "last_loss": fit.terminal_mean(),
    })
}

/// Why an arm is left out, with the arguments of Python instead of the options of the program.
fn reason(arm: &LeftOutArm) -> String {
    match &arm.reason {
        LeftOutReason::OutsideUnitInterval { position, mean } => format!(
            "the curve is {mean:.4} at position {position}, but expected losses of a game lie in [0, 1]: give a wider \
             `loss_range` or another `model`"
        ),
        reason => reason.to_string(),
    }
}

fn refused(error: ArmsError) -> Failure {
    Failure::Value(match &error {
        ArmsError::NoneLeft { left_out } => {
            let reasons: Vec<String> = left_out.iter().map(|arm| format!("{}: {}", arm.name, reason(arm))).collect();
            format!("no arm can be part of a game: {}", reasons.join("; "))
        }
        error => error.to_string(),
    })
}
