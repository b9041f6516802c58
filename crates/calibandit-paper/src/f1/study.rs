//! Fits both models to every eligible driver of every race, and compares the models.

use std::io;
use std::path::Path;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicUsize, Ordering};

use serde::Serialize;

use super::stints::{StintOptions, Stops, stints};
use super::tables::{F1Tables, ReadCounts};
use calibandit_experiment::parallel::for_each;
use calibandit_fit::{Fit, FitError, Observation, TableError, WarmUp, fit};

/// All driver-races of a data set.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Study {
    /// How the laps were selected and normalised.
    pub options: StintOptions,
    /// The numbers of rows that were read.
    pub reading: ReadCounts,
    /// The number of races with an eligible driver.
    pub races: usize,
    /// The eligible drivers, sorted by race and driver.
    pub drivers: Vec<DriverRace>,
}

/// One driver in one race.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct DriverRace {
    /// The race's number in the tables.
    pub race_id: u32,
    /// Its year, if known.
    pub year: Option<u32>,
    /// Its name.
    pub race: String,
    /// Whether the stops of the race are recorded; otherwise they are inferred or ignored.
    pub recorded_stops: bool,
    /// The driver's number in the tables.
    pub driver_id: u32,
    /// The driver's name.
    pub driver: String,
    /// The fitted normalised lap times. They are not written to files, because of the licence of the data.
    #[serde(skip)]
    pub laps: Vec<f64>,
    /// The fit of the paper's model.
    pub exponential_linear: Fit,
    /// The fit of the model with a level.
    pub plateau: Fit,
}

impl DriverRace {
    /// The fit of this model.
    pub fn fit(&self, model: WarmUp) -> &Fit {
        let fits = [&self.exponential_linear, &self.plateau];
        fits.into_iter().find(|fit| fit.model == model).expect("every model is fitted")
    }
}

/// Why the study could not be made.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum F1Error {
    /// A table could not be read.
    #[error(transparent)]
    Table(#[from] TableError),
    /// The laps of a driver could not be fitted.
    #[error("{driver} in {race}: {source}")]
    Fit {
        /// The race.
        race: String,
        /// The driver.
        driver: String,
        /// The reason.
        source: FitError,
    },
    /// An option is out of its range.
    #[error("`{option}` is {value}, but must be {expected}")]
    Option {
        /// The option.
        option: &'static str,
        /// Its value.
        value: f64,
        /// The allowed values.
        expected: &'static str,
    },
}

/// Reads the tables of a folder and fits every driver-race, on up to `threads` threads. `progress` gets the number of
/// finished driver-races and the number of all.
///
/// # Errors
/// [`F1Error`] if a table cannot be read, or an option is out of its range.
pub fn study(
    folder: &Path,
    options: &StintOptions,
    threads: usize,
    progress: &(dyn Fn(usize, usize) + Sync),
) -> Result<Study, F1Error> {
    check(options)?;
    let tables = F1Tables::read(folder, options.stops == Stops::Recorded)?;
    study_tables(&tables, options, threads, progress)
}

/// [`study`] for tables that are already read.
///
/// # Errors
/// As [`study`].
pub fn study_tables(
    tables: &F1Tables,
    options: &StintOptions,
    threads: usize,
    progress: &(dyn Fn(usize, usize) + Sync),
) -> Result<Study, F1Error> {
    check(options)?;
    let races = stints(tables, options);
    let jobs: Vec<_> = races
        .iter()
        .flat_map(|race| race.drivers.iter().map(move |(driver, laps)| (race, *driver, laps, OnceLock::new())))
        .collect();
    let done = AtomicUsize::new(0);
    for_each(threads, &jobs, |(_, _, laps, result)| {
        let seen: Vec<Observation> =
            laps.iter().zip(1..).map(|(&loss, position)| Observation { position, loss }).collect();
        let _ = result
            .set(fit(WarmUp::ExponentialLinear, &seen).and_then(|without| Ok((without, fit(WarmUp::Plateau, &seen)?))));
        progress(done.fetch_add(1, Ordering::Relaxed) + 1, jobs.len());
    });
    let mut drivers = Vec::with_capacity(jobs.len());
    for (race, driver_id, laps, result) in &jobs {
        let (year, name) = tables.race(race.race);
        let driver = tables.driver(*driver_id);
        let result = result.get().expect("every driver-race was fitted");
        let (exponential_linear, plateau) =
            result.clone().map_err(|source| F1Error::Fit { race: name.clone(), driver: driver.clone(), source })?;
        drivers.push(DriverRace {
            race_id: race.race,
            year,
            race: name,
            recorded_stops: race.recorded_stops,
            driver_id: *driver_id,
            driver,
            laps: (*laps).clone(),
            exponential_linear,
            plateau,
        });
    }
    Ok(Study { options: *options, reading: tables.reading, races: races.len(), drivers })
}

fn check(options: &StintOptions) -> Result<(), F1Error> {
    let StintOptions { least_laps, slow_lap, .. } = *options;
    if least_laps < WarmUp::Plateau.parameters() {
        let expected = "at least 5, the number of parameters of the larger model";
        return Err(F1Error::Option { option: "least-laps", value: least_laps as f64, expected });
    }
    if !(slow_lap > 1.0 && slow_lap.is_finite()) {
        return Err(F1Error::Option { option: "slow-lap", value: slow_lap, expected: "more than 1" });
    }
    Ok(())
}

/// A comparison of the two models over all driver-races.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Comparison {
    /// The number of driver-races.
    pub driver_races: usize,
    /// The sum of Akaike's criterion: of the paper's model, and of the one with a level. Smaller is better.
    pub aic: [f64; 2],
    /// The sum of the criterion with the correction for small samples, over the driver-races with enough laps for it.
    pub aicc: [f64; 2],
    /// The number of driver-races for which the level lowers the criterion.
    pub plateau_better: usize,
    /// The median expected loss of the last lap, by model.
    pub terminal_mean: [f64; 2],
    /// The median of the observed last laps.
    pub last_lap: f64,
}

impl Study {
    /// Compares the two models.
    pub fn comparison(&self) -> Comparison {
        let both = |driver: &DriverRace, of: fn(&Fit) -> Option<f64>| {
            Some([of(&driver.exponential_linear)?, of(&driver.plateau)?])
        };
        let sum = |of: fn(&Fit) -> Option<f64>| {
            let all = self.drivers.iter().filter_map(|driver| both(driver, of));
            all.fold([0.0; 2], |sum, next| [sum[0] + next[0], sum[1] + next[1]])
        };
        Comparison {
            driver_races: self.drivers.len(),
            aic: sum(|fit| Some(fit.aic())),
            aicc: sum(Fit::aicc),
            plateau_better: self
                .drivers
                .iter()
                .filter(|driver| driver.plateau.aic() < driver.exponential_linear.aic())
                .count(),
            terminal_mean: WarmUp::ALL
                .map(|model| median(self.drivers.iter().map(|driver| driver.fit(model).terminal_mean()))),
            last_lap: median(self.drivers.iter().filter_map(|driver| driver.laps.last().copied())),
        }
    }

    /// Writes the models as CSV, one row per driver-race.
    ///
    /// # Errors
    /// If the writer fails.
    pub fn write_csv(&self, model: WarmUp, to: impl io::Write) -> Result<(), csv::Error> {
        let mut writer = csv::Writer::from_writer(to);
        writer.write_record([
            "race_id",
            "year",
            "race",
            "driver_id",
            "driver",
            "stops",
            "laps",
            "model",
            "alpha",
            "beta",
            "gamma",
            "level",
            "sd",
            "sse",
            "r_squared",
            "aic",
            "terminal_mean",
        ])?;
        for driver in &self.drivers {
            let fit = driver.fit(model);
            let stops = match (driver.recorded_stops, self.options.stops) {
                (true, _) => "recorded",
                (false, Stops::WholeRace) => "none",
                (false, _) => "inferred",
            };
            let numbers = [
                fit.alpha,
                fit.beta,
                fit.gamma,
                fit.level,
                fit.sd,
                fit.sse,
                fit.r_squared,
                fit.aic(),
                fit.terminal_mean(),
            ];
            let mut row = vec![
                driver.race_id.to_string(),
                driver.year.map_or(String::new(), |year| year.to_string()),
                driver.race.clone(),
                driver.driver_id.to_string(),
                driver.driver.clone(),
                stops.to_string(),
                fit.observations.to_string(),
                model.name().to_string(),
            ];
            row.extend(numbers.iter().map(f64::to_string));
            writer.write_record(&row)?;
        }
        Ok(writer.flush()?)
    }
}

fn median(values: impl Iterator<Item = f64>) -> f64 {
    let mut values: Vec<f64> = values.collect();
    values.sort_unstable_by(f64::total_cmp);
    values.get(values.len() / 2).copied().unwrap_or(f64::NAN)
}
