//! `calibandit f1`: fits lap-time models to the public tables and lists pairs of drivers.

mod stints;

use std::io::{self, Write};
use std::path::Path;

use calibandit::rng::StreamKey;
use calibandit::{GameSpec, reo};
use calibandit_experiment::format::thousands;
use calibandit_experiment::stats::quantile;
use calibandit_fit::WarmUp;
use calibandit_paper::f1::{self, DriverPair, Study};
use serde_json::{Value, json};

use super::lists::print_json;
use super::targets::{check_target, write_file};
use crate::args::f1::{F1Command, F1FitArgs, F1PairsArgs};
use crate::error::CliError;
use crate::progress::Display;
use crate::text::visible;

pub(crate) fn f1(command: &F1Command) -> Result<(), CliError> {
    match command {
        F1Command::Fit(arguments) => fit(arguments),
        F1Command::Pairs(arguments) => pairs(arguments),
        F1Command::Stints(arguments) => stints::stints(arguments),
    }
}

/// Reads the tables and fits all models, with a progress display on standard error.
pub(super) fn study(data: &Path, options: &f1::StintOptions, jobs: usize) -> Result<Study, CliError> {
    Ok(f1::study(data, options, jobs, &Display::new("f1 fit"))?)
}

fn fit(arguments: &F1FitArgs) -> Result<(), CliError> {
    if let Some(path) = &arguments.out {
        check_target(path)?;
    }
    let study = study(&arguments.data, &arguments.stints.options(), arguments.threads.jobs)?;
    let model = arguments.model;
    if let Some(path) = &arguments.out {
        write_file(path, &content(&study, model, path)?)?;
    }
    if arguments.json {
        return print_json(&summary(&study));
    }
    print(&mut io::stdout().lock(), &study, model)?;
    match &arguments.out {
        Some(path) => Ok(writeln!(io::stdout().lock(), "\n{}", visible(&path.display().to_string()))?),
        None => Ok(()),
    }
}

/// The content of the file, by the end of its name.
fn content(study: &Study, model: WarmUp, path: &Path) -> io::Result<Vec<u8>> {
    if path.extension().is_some_and(|extension| extension == "json") {
        return Ok(serde_json::to_vec_pretty(study)?);
    }
    let mut csv = Vec::new();
    study.write_csv(model, &mut csv).map_err(io::Error::other)?;
    Ok(csv)
}

fn summary(study: &Study) -> Value {
    let (pairs, all) = study.literal_pairs();
    json!({
        "options": study.options,
        "reading": study.reading,
        "races": study.races,
        "driver_races": study.drivers.len(),
        "comparison": study.comparison(),
        "literal_pairs": pairs.len(),
        "pairs_of_drivers": all,
    })
}

fn print(out: &mut impl Write, study: &Study, model: WarmUp) -> io::Result<()> {
    let count = |number: usize| thousands(number as u64);
    let reading = study.reading;
    writeln!(out, "{} laps, {} recorded stops", count(reading.rows), count(reading.stops))?;
    if reading.repeated + reading.untimed > 0 {
        writeln!(out, "{} repeated laps, {} laps without a time", count(reading.repeated), count(reading.untimed))?;
    }
    writeln!(
        out,
        "{} drivers of {} races have at least {} laps before the first stop",
        count(study.drivers.len()),
        count(study.races),
        study.options.least_laps
    )?;
    let mut fits: Vec<f64> = study.drivers.iter().map(|driver| driver.fit(model).r_squared).collect();
    fits.sort_unstable_by(f64::total_cmp);
    let [low, median, high] = [0.1, 0.5, 0.9].map(|q| quantile(&fits, q));
    writeln!(out, "R²: {low:.2} (10 %), {median:.2} (median), {high:.2} (90 %)")?;
    let comparison = study.comparison();
    writeln!(out, "\n{:<20}{:>14}{:>14}{:>26}", "model", "AIC", "AICc", "median expected last lap")?;
    for (i, name) in f1::LAP_MODELS.map(WarmUp::name).into_iter().enumerate() {
        let (aic, aicc, last) = (comparison.aic[i], comparison.aicc[i], comparison.terminal_mean[i]);
        writeln!(out, "{name:<20}{aic:>14.0}{aicc:>14.0}{last:>26.4}")?;
    }
    writeln!(out, "{:<20}{:>54.4}", "observed laps", comparison.last_lap)?;
    writeln!(
        out,
        "A level lowers the AIC of {} of {} driver-races.",
        count(comparison.plateau_better),
        count(comparison.driver_races)
    )
}

const RULE: &str = "\
The paper uses ten pairs whose expected last laps are within each other's variance. Thousands of pairs meet this
condition, and the paper does not say how it selected ten of them. This project selects them as follows:
  1. Both curves stay within [0, 1] at every lap: otherwise they are not losses of a game.
  2. The expected last laps differ by at least 10^-4: otherwise the choice of the driver does not matter.
  3. Of each race: the pair with the best fit, by the lower R² of the two drivers.
  4. Of each number of laps m: the race with the best fit; for m = 10 the 2001 German Grand Prix, which the paper names.
  5. Of these: the one with m = 10, and the nine best of the others.
";

fn pairs(arguments: &F1PairsArgs) -> Result<(), CliError> {
    let mut counts = None;
    let pairs = match &arguments.data {
        None => f1::shipped(),
        Some(data) => {
            let study = study(data, &arguments.stints.options(), arguments.threads.jobs)?;
            let (literal, all) = study.literal_pairs();
            counts = Some((literal.len(), all));
            study.selected_pairs()
        }
    };
    if arguments.json {
        let list: Vec<Value> = pairs.iter().map(value).collect();
        let (literal, all) = counts.unzip();
        return print_json(&json!({"literal_pairs": literal, "pairs_of_drivers": all, "pairs": list}));
    }
    let out = &mut io::stdout().lock();
    writeln!(out, "{RULE}")?;
    if let Some((literal, all)) = counts {
        let (literal, all) = (thousands(literal as u64), thousands(all as u64));
        writeln!(out, "{literal} of {all} pairs of drivers meet the paper's condition.\n")?;
    }
    for pair in &pairs {
        print_pair(out, pair)?;
    }
    Ok(())
}

fn print_pair(out: &mut impl Write, pair: &DriverPair) -> io::Result<()> {
    writeln!(out, "{}: {}, m = {}", visible(&pair.name()), visible(&pair.heading()), pair.laps)?;
    for driver in &pair.drivers {
        let model = &driver.model;
        writeln!(
            out,
            "  {}: alpha = {:.4}, beta = {:.4}, gamma = {:.4}, sd = {:.4}; SSE = {:.3e}, R² = {:.3}",
            visible(driver.name()),
            model.alpha,
            model.beta,
            model.gamma,
            model.sd,
            driver.sse,
            driver.r_squared
        )?;
    }
    for reason in pair.reasons() {
        writeln!(out, "  - {}", visible(&reason))?;
    }
    match alpha(pair) {
        Some(0.0) => writeln!(out, "  - alpha = 0: repeated exposure of the better driver is optimal\n"),
        Some(alpha) => writeln!(out, "  - alpha = {alpha}: repeated exposure is not optimal\n"),
        None => writeln!(out, "  - alpha is unknown\n"),
    }
}

/// The alpha of the pair's game, by its definition.
fn alpha(pair: &DriverPair) -> Option<f64> {
    let game = GameSpec::from(pair.game()).draw(&mut StreamKey::new(1, "f1", 0).game()).ok()?;
    reo(&game).ok().map(|reo| reo.alpha)
}

fn value(pair: &DriverPair) -> Value {
    json!({
        "name": pair.name(),
        "year": pair.year,
        "race": pair.race,
        "laps": pair.laps,
        "drivers": pair.drivers,
        "gap": pair.gap(),
        "limit": pair.limit(),
        "reo_alpha": alpha(pair),
        "reasons": pair.reasons(),
    })
}
