//! Fits both models to every eligible driver of every race, and compares the models.

use std::io;
use std::path::Path;

use serde::Serialize;

use super::stints::{RaceStints, StintOptions, Stops, stints};
use super::tables::{F1Tables, ReadCounts};
use calibandit_experiment::schedule::{Progress, ScheduleError, Scheduler, Task};
use calibandit_experiment::stats::median;
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

/// The models that the study compares: the paper's, and the one with a level.
pub const LAP_MODELS: [WarmUp; 2] = [WarmUp::ExponentialLinear, WarmUp::Plateau];

impl DriverRace {
    /// The fit of this model.
    ///
    /// # Panics
    /// If the model is not one of [`LAP_MODELS`].
    pub fn fit(&self, model: WarmUp) -> &Fit {
        let fits = [&self.exponential_linear, &self.plateau];
        fits.into_iter().find(|fit| fit.model == model).expect("the study fits the models that it compares")
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
    /// No race of these years has recorded stops.
    #[error(
        "no race from {first_year} to {last_year} has laps and recorded stops; choose other years with `--first-year` \
         and `--last-year`, or check races.csv and pit_stops.csv"
    )]
    NoStops {
        /// The first year.
        first_year: u32,
        /// The last year.
        last_year: u32,
    },
    /// A race has too many drivers.
    #[error("{race} has {drivers} drivers, but at most {most} are possible; check `driverId` in lap_times.csv")]
    Drivers {
        /// The race.
        race: String,
        /// The number of drivers.
        drivers: usize,
        /// The largest number.
        most: usize,
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

/// Reads the tables of a folder and fits every driver-race, on up to `threads` threads (0 for all).
///
/// # Errors
/// [`F1Error`] if a table cannot be read, or an option is out of its range.
pub fn study(folder: &Path, options: &StintOptions, threads: usize, progress: &dyn Progress) -> Result<Study, F1Error> {
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
    progress: &dyn Progress,
) -> Result<Study, F1Error> {
    check(options)?;
    let races = stints(tables, options);
    let stints = races.iter().flat_map(|race| race.drivers.iter().map(move |(driver, laps)| (race, *driver, laps)));
    // The time of a fit hardly depends on the number of laps.
    let tasks = stints.map(|stint| Task::new(stint, 1.0)).collect();
    let fit_stint = |&(race, driver_id, laps): &(&RaceStints, u32, &Vec<f64>)| -> Result<DriverRace, F1Error> {
        let (year, name) = tables.race(race.race);
        let driver = tables.driver(driver_id);
        let seen: Vec<Observation> =
            laps.iter().zip(1..).map(|(&loss, position)| Observation { position, loss }).collect();
        let fitted = |model| {
            fit(model, &seen).map_err(|source| F1Error::Fit { race: name.clone(), driver: driver.clone(), source })
        };
        Ok(DriverRace {
            exponential_linear: fitted(WarmUp::ExponentialLinear)?,
            plateau: fitted(WarmUp::Plateau)?,
            race_id: race.race,
            year,
            race: name.clone(),
            recorded_stops: race.recorded_stops,
            driver_id,
            driver: driver.clone(),
            laps: laps.clone(),
        })
    };
    let mut drivers: Vec<DriverRace> = Vec::new();
    let collect = |_: &_, driver| {
        drivers.push(driver);
        Ok(())
    };
    Scheduler::new(threads).progress(progress).run(tasks, fit_stint, collect).map_err(|error| match error {
        ScheduleError::Task(error) => error,
        ScheduleError::Stopped { .. } => unreachable!("a scheduler without a stop flag does not stop"),
    })?;
    drivers.sort_by_key(|driver| (driver.race_id, driver.driver_id));
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
            terminal_mean: LAP_MODELS
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
