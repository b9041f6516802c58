//! Warm-up curves fitted to observed losses, and the game that they make.

use std::path::PathBuf;
use std::sync::Arc;

use calibandit_fit::diagnose::{Log, LogColumns, Starts, read_log};
use calibandit_fit::{
    ArmLosses, ArmsError, FittedArm, GameFit, GameFitOptions, LeftOutArm, LeftOutReason, LossColumns, LossRange,
    LossRow, TableError, fit_game, fit_rows as fit_in_memory, read_losses,
};
use pyo3::prelude::*;
use serde_json::{Value, json};

use crate::diagnose::{Codes, in_rows, log_arrays, numbers, unreadable};
use crate::failure::Failure;
use crate::interpreter::called;
use crate::watch::watched;

/// Model, loss range, memory, tolerance.
type FitArguments = (String, (f64, f64), Option<u32>, Option<f64>);

/// Fits the arms of a table in memory, given by its columns: names with codes, positions and losses. Returns arms, left
/// out arms and game as JSON.
#[pyfunction]
pub(crate) fn fit_positions(
    py: Python<'_>,
    arms: Codes<'_>,
    positions: &[u8],
    losses: &[u8],
    options: FitArguments,
) -> Result<String, Failure> {
    called(|| {
        let options = checked(options)?;
        let (names, codes) = arms;
        let codes: Vec<u32> = numbers(codes, u32::from_ne_bytes);
        let positions: Vec<u32> = numbers(positions, u32::from_ne_bytes);
        let losses: Vec<f64> = numbers(losses, f64::from_ne_bytes);
        let rows = codes.into_iter().zip(positions).zip(losses);
        let row = move |((code, position), loss): ((u32, u32), f64)| {
            let arm = names.get(code as usize).cloned().unwrap_or_default();
            LossRow { arm, position, loss }
        };
        let fit = move |_| described(&fit_in_memory(rows.map(row), &options).map_err(refused)?);
        watched(py, None, &Arc::default(), fit)
    })
}

/// Fits the arms of a log in memory, and returns the same.
#[pyfunction]
pub(crate) fn fit_log(
    py: Python<'_>,
    arms: Codes<'_>,
    losses: &[u8],
    orders: Option<&[u8]>,
    units: Option<Codes<'_>>,
    starts: &str,
    options: FitArguments,
) -> Result<String, Failure> {
    called(|| {
        let options = checked(options)?;
        let starts: Starts = serde_json::from_value(json!(starts))?;
        let columns = log_arrays(arms, losses, orders, units);
        watched(py, None, &Arc::default(), move |_| {
            let log = Log::from_arrays(columns).map_err(|error| Failure::Value(in_rows(&error)))?;
            of_arms(&log.losses_by_position(starts, options.memory), &options)
        })
    })
}

/// Fits the arms of a file: of a table with positions, or of a log. Returns the same.
#[pyfunction]
#[allow(clippy::too_many_arguments)] // columns by name
pub(crate) fn fit_file(
    py: Python<'_>,
    path: PathBuf,
    arm: String,
    loss: String,
    position: Option<String>,
    order: Option<String>,
    unit: Option<String>,
    starts: &str,
    options: FitArguments,
) -> Result<String, Failure> {
    called(|| {
        let options = checked(options)?;
        let starts: Starts = serde_json::from_value(json!(starts))?;
        watched(py, None, &Arc::default(), move |_| {
            if let Some(position) = position {
                let columns = LossColumns { arm: &arm, position: &position, loss: &loss };
                let losses = read_losses(&path, columns).map_err(|error| match error {
                    TableError::Column { .. } => Failure::Unknown(error.to_string()),
                    error => Failure::Value(error.to_string()),
                })?;
                return of_arms(&losses, &options);
            }
            let columns = LogColumns { arm: &arm, loss: &loss, order: order.as_deref(), unit: unit.as_deref() };
            let log = read_log(&path, columns).map_err(unreadable)?;
            of_arms(&log.losses_by_position(starts, options.memory), &options)
        })
    })
}

fn checked((model, (low, high), memory, tolerance): FitArguments) -> Result<GameFitOptions, Failure> {
    let model = serde_json::from_value(json!(model))?;
    Ok(GameFitOptions { model, range: LossRange::new(low, high)?, memory, tolerance })
}

fn of_arms(losses: &[ArmLosses], options: &GameFitOptions) -> Result<String, Failure> {
    described(&fit_game(losses, options).map_err(refused)?)
}

fn described(fitted: &GameFit) -> Result<String, Failure> {
    let arms: Vec<Value> = fitted.arms().iter().map(curve).collect();
    let left_out: Vec<Value> =
        fitted.left_out().iter().map(|arm| json!({"name": arm.name, "reason": reason(arm)})).collect();
    let game = serde_json::to_value(fitted.game())?;
    Ok(json!({"arms": arms, "left_out": left_out, "game": game, "tolerance": fitted.tolerance()}).to_string())
}

fn curve(arm: &FittedArm) -> Value {
    let FittedArm { name, fit, memory } = arm;
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
        "memory": memory,
        "still_changes": arm.still_changes(),
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
