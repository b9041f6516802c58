//! `calibandit fit`: fits warm-up curves to the losses of a table, and writes the game of the fitted arms.

use std::io::{self, Write};

use calibandit_experiment::format::significant;
use calibandit_fit::{Fit, FittedArm, GameFit, LossColumns, fit_game, read_losses};
use serde_json::{Value, json};

use super::lists::print_json;
use crate::args::fit::FitArgs;
use crate::error::CliError;
use crate::progress::notice;
use crate::text::{aligned, paragraph, terminal_width, visible};

pub(crate) fn fit(arguments: &FitArgs) -> Result<(), CliError> {
    let columns = LossColumns { arm: &arguments.arm, position: &arguments.position, loss: &arguments.loss };
    let losses = read_losses(&arguments.file, columns)?;
    let fitted = fit_game(&losses, arguments.model, arguments.range()?)?;
    let game = fitted.to_toml()?;
    if let Some(path) = &arguments.out {
        std::fs::write(path, &game).map_err(|source| CliError::File { path: path.clone(), source })?;
    }
    for arm in fitted.left_out() {
        notice(&format!("warning: {} is left out of the game", visible(&arm.to_string())));
    }
    if let Some(arm) = fitted.arms().iter().find(|arm| is_time(&arm.fit)) {
        notice(&format!(
            "warning: {} has {} losses and positions up to {}; is `{}` a time? A position counts the plays of a run: 1 \
             for the first play after another arm",
            visible(&arm.name),
            arm.fit.observations,
            arm.fit.last,
            visible(&arguments.position)
        ));
    }
    if arguments.json {
        return print_json(&value(&fitted));
    }
    let out = &mut io::stdout().lock();
    match &arguments.out {
        None => write!(out, "{game}")?,
        Some(path) => {
            print(out, &fitted)?;
            writeln!(out, "\n{}", visible(&path.display().to_string()))?;
        }
    }
    Ok(())
}

/// Whether positions are probably times: runs from 1 on have about one loss per position or more.
fn is_time(fit: &Fit) -> bool {
    2 * fit.last as usize > 3 * fit.observations
}

/// All arms in one list; those that are left out say why.
fn value(fitted: &GameFit) -> Value {
    let arms = fitted.arms().iter().map(|arm| json!(arm));
    let left_out = fitted.left_out().iter().map(|arm| {
        let mut value = arm.fit.as_ref().map_or_else(|| json!({}), |fit| json!(fit));
        value["name"] = json!(arm.name);
        value["left_out"] = json!(arm.reason.to_string());
        value
    });
    arms.chain(left_out).collect()
}

fn print(out: &mut impl Write, fitted: &GameFit) -> io::Result<()> {
    let header = ["arm", "model", "losses", "alpha", "beta", "gamma", "level", "sd", "R²", "AIC", "last"];
    let row = |name: &str, fit: &Fit| {
        let number = |value: f64| significant(value, 3);
        let share = format!("{:.2}", fit.r_squared);
        let mut cells = vec![visible(name), fit.model.name().to_owned(), fit.observations.to_string()];
        cells.extend([fit.alpha, fit.beta, fit.gamma, fit.level, fit.sd].map(number));
        cells.extend([share, format!("{:.1}", fit.aic()), number(fit.terminal_mean())]);
        cells
    };
    let rows: Vec<Vec<String>> = fitted.arms().iter().map(|FittedArm { name, fit }| row(name, fit)).collect();
    // The first two columns are texts.
    write!(out, "{}", aligned(&header, &rows, 2))?;
    let memory = fitted.memory();
    let note = format!(
        "The memory of the game is {memory}, the last position that all of its arms were observed at. It is not an \
         estimate of the number of plays after which losses stop changing."
    );
    write!(out, "\n{}", paragraph(&note, "", terminal_width()))
}
