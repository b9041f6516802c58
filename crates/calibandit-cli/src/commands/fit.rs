//! `calibandit fit`: fits warm-up curves to the losses of a table, and writes the game of the fitted arms.

use std::io::{self, Write};

use calibandit_experiment::format::significant;
use calibandit_fit::diagnose::read_log;
use calibandit_fit::{ArmLosses, Fit, FittedArm, GameFit, LossColumns, fit_game, read_losses};
use serde_json::{Value, json};

use super::lists::print_json;
use super::targets::{check_target, write_file};
use crate::args::fit::FitArgs;
use crate::error::CliError;
use crate::progress::notice;
use crate::text::{aligned, paragraph, terminal_width, visible};

pub(crate) fn fit(arguments: &FitArgs) -> Result<(), CliError> {
    if let Some(path) = &arguments.out {
        check_target(path)?;
    }
    let fitted = fit_game(&losses(arguments)?, &arguments.options()?)?;
    let game = fitted.to_toml()?;
    if let Some(path) = &arguments.out {
        write_file(path, game.as_bytes())?;
    }
    for arm in fitted.left_out() {
        let (name, reason) = (visible(&arm.name), visible(&arm.reason.to_string()));
        notice(&format!("warning: arm `{name}` is left out of the game: {reason}"));
    }
    if let (Some(column), Some(arm)) = (&arguments.position, fitted.arms().iter().find(|arm| is_time(&arm.fit))) {
        notice(&format!(
            "warning: {} has {} losses and positions up to {}; is `{column}` a time? A position counts the plays of a \
             run: 1 for the first play after another arm. For a table in the order of time, give `--order {column}` \
             instead",
            visible(&arm.name),
            arm.fit.observations,
            arm.fit.last,
            column = visible(column)
        ));
    }
    if arguments.json {
        return print_json(&value(&fitted));
    }
    let out = &mut io::stdout().lock();
    match &arguments.out {
        None => write!(out, "{game}")?,
        Some(path) => {
            print(out, &fitted, arguments)?;
            writeln!(out, "\n{}", visible(&path.display().to_string()))?;
        }
    }
    Ok(())
}

/// The losses by position: as the table has them, or counted in the runs of a log.
fn losses(arguments: &FitArgs) -> Result<Vec<ArmLosses>, CliError> {
    let FitArgs { file, log, .. } = arguments;
    if let Some(position) = &arguments.position {
        return Ok(read_losses(file, LossColumns { arm: &log.arm, position, loss: &log.loss })?);
    }
    Ok(read_log(file, log.columns())?.losses_by_position(log.starts, arguments.memory))
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

fn print(out: &mut impl Write, fitted: &GameFit, arguments: &FitArgs) -> io::Result<()> {
    let header = ["arm", "model", "losses", "alpha", "beta", "gamma", "level", "sd", "R²", "AIC", "last", "settles"];
    let row = |FittedArm { name, fit, memory }: &FittedArm| {
        let number = |value: f64| significant(value, 3);
        let share = format!("{:.2}", fit.r_squared);
        let mut cells = vec![visible(name), fit.model.name().to_owned(), fit.observations.to_string()];
        cells.extend([fit.alpha, fit.beta, fit.gamma, fit.level, fit.sd].map(number));
        cells.extend([share, format!("{:.1}", fit.aic()), number(fit.terminal_mean()), memory.to_string()]);
        cells
    };
    let rows: Vec<Vec<String>> = fitted.arms().iter().map(row).collect();
    // The first two columns are texts.
    write!(out, "{}", aligned(&header, &rows, 2))?;
    let mut note = fitted.memory_text();
    if arguments.memory.is_none() {
        note += " `calibandit diagnose` gives a bound, from a log.";
        let changing: Vec<String> =
            fitted.arms().iter().filter(|arm| arm.still_changes()).map(|arm| visible(&arm.name)).collect();
        if !changing.is_empty() {
            note += &format!(
                " Still changing in the second half of the positions seen: {}. There the memory may be longer.",
                changing.join(", ")
            );
        }
    }
    write!(out, "\n{}", paragraph(&note, "", terminal_width()))
}
