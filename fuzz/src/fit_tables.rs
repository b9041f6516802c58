//! Tables of observed losses, as `calibandit fit` reads them.

use calibandit_experiment::Experiment;
use calibandit_fit::{GameFitOptions, LossColumns, LossRange, fit_game, parse_losses};

/// Larger tables are accepted by the program; here they only take time.
const MOST_BYTES: usize = 4096;

/// A memory up to which the fitted game is checked as part of an experiment.
const LONGEST_MEMORY: u32 = 1000;

/// A table is refused, or every game that is fitted to it is a valid part of an experiment file.
pub fn fit_tables(data: &[u8]) {
    if data.len() > MOST_BYTES {
        return;
    }
    let columns = LossColumns { arm: "arm", position: "position", loss: "loss" };
    let Ok(losses) = parse_losses("table.csv", data, columns) else { return };
    let range = LossRange::new(0.0, 10.0).expect("0 is below 10");
    let Ok(fitted) = fit_game(&losses, &GameFitOptions { range, ..GameFitOptions::default() }) else { return };
    if fitted.memory() > LONGEST_MEMORY {
        return;
    }
    let game = fitted.to_toml().expect("a fitted game has a text");
    let text = format!("name = \"fitted\"\nhorizon = 10\ninstances = 1\npolicy = [{{ kind = \"ucb1\" }}]\n{game}");
    Experiment::from_toml("fitted.toml", &text).unwrap_or_else(|errors| panic!("{errors}\n{text}"));
}
