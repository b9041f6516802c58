//! `calibandit fit`: fits warm-up curves to the losses of a table, and writes the game of the fitted arms.

use std::io::{self, Write};

use calibandit_fit::{FittedArm, LossColumns, fit_arms, game_toml, read_losses};

use super::lists::print_json;
use crate::args::fit::FitArgs;
use crate::error::CliError;

pub(crate) fn fit(arguments: &FitArgs) -> Result<(), CliError> {
    let columns = LossColumns { arm: &arguments.arm, position: &arguments.position, loss: &arguments.loss };
    let losses = read_losses(&arguments.file, columns)?;
    let range = arguments.range()?;
    let arms = fit_arms(arguments.model, range, &losses)?;
    let game = game_toml(&arms, range)?;
    if let Some(path) = &arguments.out {
        std::fs::write(path, &game).map_err(|source| CliError::File { path: path.clone(), source })?;
    }
    if arguments.json {
        return print_json(&arms);
    }
    let out = &mut io::stdout().lock();
    match &arguments.out {
        None => write!(out, "{game}")?,
        Some(path) => {
            print(out, &arms)?;
            writeln!(out, "\n{}", path.display())?;
        }
    }
    Ok(())
}

fn print(out: &mut impl Write, arms: &[FittedArm]) -> io::Result<()> {
    let width = arms.iter().map(|arm| arm.name.chars().count()).max().unwrap_or(0).max("arm".len());
    let columns = ["losses", "alpha", "beta", "gamma", "level", "sd", "R²", "AIC", "last"];
    write!(out, "{:<width$}", "arm")?;
    for column in columns {
        write!(out, "{column:>10}")?;
    }
    writeln!(out)?;
    for FittedArm { name, fit } in arms {
        write!(out, "{name:<width$}{:>10}", fit.observations)?;
        for number in [fit.alpha, fit.beta, fit.gamma, fit.level, fit.sd, fit.r_squared, fit.aic(), fit.terminal_mean()]
        {
            // Beta is huge if the curve reaches its final level after one play.
            let text = if number.abs() < 1e5 { format!("{number:.4}") } else { format!("{number:.2e}") };
            write!(out, "{text:>10}")?;
        }
        writeln!(out)?;
    }
    Ok(())
}
