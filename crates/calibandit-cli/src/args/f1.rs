//! Arguments of `f1`.

use std::ops::RangeInclusive;
use std::path::PathBuf;

use calibandit_fit::WarmUp;
use calibandit_paper::f1::{EffectOptions, Normalise, StintOptions, Stops};
use clap::{Args, Subcommand, ValueHint};

use super::ThreadArgs;
use super::number::{SEEDS, real, whole};

/// The years that a table can have.
const YEARS: RangeInclusive<u64> = 1900..=2999;

#[derive(Debug, Subcommand)]
pub(crate) enum F1Command {
    /// Fit a lap-time model to every driver of every race, and compare the paper's model with one that has a level.
    Fit(F1FitArgs),
    /// List the ten pairs of drivers of the experiments, and why each of them was selected.
    Pairs(F1PairsArgs),
    /// Compare drivers on the same lap of the same race: how the loss changes with the lap of the stint.
    Stints(F1StintsArgs),
}

#[derive(Debug, Args)]
pub(crate) struct F1FitArgs {
    /// The folder with lap_times.csv, pit_stops.csv, races.csv and drivers.csv of the public tables.
    #[arg(long, value_name = "DIR", value_hint = ValueHint::DirPath)]
    pub(crate) data: PathBuf,
    /// Write the models to this file: as JSON if the name ends in .json, otherwise as CSV.
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub(crate) out: Option<PathBuf>,
    /// The model to write.
    #[arg(long, value_enum, default_value_t)]
    pub(crate) model: WarmUp,
    #[command(flatten)]
    pub(crate) stints: StintArgs,
    #[command(flatten)]
    pub(crate) threads: ThreadArgs,
    /// Print JSON.
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct F1PairsArgs {
    /// Select the pairs again from these tables, and count the pairs that meet the paper's condition.
    #[arg(long, value_name = "DIR", value_hint = ValueHint::DirPath)]
    pub(crate) data: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) stints: StintArgs,
    #[command(flatten)]
    pub(crate) threads: ThreadArgs,
    /// Print JSON.
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct F1StintsArgs {
    /// The folder with lap_times.csv, pit_stops.csv, races.csv and drivers.csv of the public tables.
    #[arg(value_name = "DIR", value_hint = ValueHint::DirPath, default_value = ".")]
    pub(crate) folder: PathBuf,
    /// The folder as an option, as in the other commands of `f1`.
    #[arg(long, value_name = "DIR", value_hint = ValueHint::DirPath, conflicts_with = "folder")]
    pub(crate) data: Option<PathBuf>,
    /// Write a file: the figure if the name ends in .svg or .png, JSON if it ends in .json, otherwise CSV. May be given
    /// more than once.
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub(crate) out: Vec<PathBuf>,
    /// The first year; stops are recorded from 2011 on.
    #[arg(long, value_name = "YEAR", value_parser = whole::<u32>(YEARS),
          default_value_t = EffectOptions::default().first_year, allow_negative_numbers = true)]
    pub(crate) first_year: u32,
    /// The last year.
    #[arg(long, value_name = "YEAR", value_parser = whole::<u32>(YEARS),
          default_value_t = EffectOptions::default().last_year, allow_negative_numbers = true)]
    pub(crate) last_year: u32,
    /// Leave out laps after this lap of a stint.
    #[arg(long, value_name = "N", value_parser = whole::<u32>(4..=200),
          default_value_t = EffectOptions::default().longest, allow_negative_numbers = true)]
    pub(crate) longest: u32,
    /// Leave out laps slower than this multiple of the driver's median lap of the race; `inf` keeps all laps.
    #[arg(long, value_name = "FACTOR", value_parser = real("1.07, or inf"),
          default_value_t = EffectOptions::default().slow_lap, allow_negative_numbers = true)]
    pub(crate) slow_lap: f64,
    /// The number of resamples of the bootstrap over races.
    #[arg(long, value_name = "N", value_parser = whole::<usize>(20..=1_000_000),
          default_value_t = EffectOptions::default().resamples, allow_negative_numbers = true)]
    pub(crate) resamples: usize,
    /// The seed of the bootstrap.
    #[arg(long, value_name = "N", value_parser = whole::<u64>(SEEDS),
          default_value_t = EffectOptions::default().seed, allow_negative_numbers = true)]
    pub(crate) seed: u64,
    /// Print JSON.
    #[arg(long)]
    pub(crate) json: bool,
}

impl F1StintsArgs {
    pub(crate) fn options(&self) -> EffectOptions {
        let Self { first_year, last_year, longest, slow_lap, resamples, seed, .. } = *self;
        EffectOptions { first_year, last_year, longest, slow_lap, resamples, seed }
    }
}

/// The choices about lap times that the paper leaves open.
#[derive(Debug, Args)]
pub(crate) struct StintArgs {
    /// How a driver's first pit stop is found.
    #[arg(long, value_enum, default_value_t)]
    pub(crate) stops: Stops,
    /// The laps of a race whose fastest becomes 0 and whose slowest becomes 1.
    #[arg(long, value_enum, default_value_t)]
    pub(crate) normalise: Normalise,
    /// The number of laps before the first stop that makes a driver eligible.
    #[arg(long, value_name = "N", value_parser = whole::<usize>(5..=10_000),
          default_value_t = StintOptions::default().least_laps, allow_negative_numbers = true)]
    pub(crate) least_laps: usize,
    /// If stops are inferred: a lap slower than this multiple of the driver's median lap is the lap out of the pits.
    #[arg(long, value_name = "FACTOR", value_parser = real("1.25"),
          default_value_t = StintOptions::default().slow_lap, allow_negative_numbers = true)]
    pub(crate) slow_lap: f64,
}

impl StintArgs {
    pub(crate) fn options(&self) -> StintOptions {
        let Self { stops, normalise, least_laps, slow_lap } = *self;
        StintOptions { stops, normalise, least_laps, slow_lap }
    }
}
