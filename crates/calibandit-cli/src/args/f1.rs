//! Arguments of `f1` and `fit`.

use std::path::PathBuf;

use calibandit_fit::{Range, WarmUp};
use calibandit_paper::f1;
use clap::{Args, Subcommand, ValueEnum, ValueHint};

#[derive(Debug, Subcommand)]
pub(crate) enum F1 {
    /// Fit a lap-time model to every driver of every race, and compare the paper's model with one that has a level.
    Fit(F1Fit),
    /// List the ten pairs of drivers that are played, and why each of them qualifies.
    Pairs(F1Pairs),
}

#[derive(Debug, Args)]
pub(crate) struct F1Fit {
    /// The folder with lap_times.csv, pit_stops.csv, races.csv and drivers.csv of the public tables.
    #[arg(long, value_name = "DIR", value_hint = ValueHint::DirPath)]
    pub(crate) data: PathBuf,
    /// Write the models here: as JSON if the name ends in .json, otherwise as CSV.
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub(crate) out: Option<PathBuf>,
    /// Which model to write.
    #[arg(long, value_enum, default_value_t = Model::Lap)]
    pub(crate) model: Model,
    #[command(flatten)]
    pub(crate) preparing: Preparing,
    /// How many threads [default: as many as the machine can run at once].
    #[arg(long, value_name = "N", default_value_t = 0, hide_default_value = true)]
    pub(crate) jobs: usize,
    /// Print JSON.
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct F1Pairs {
    /// Select the pairs anew from these tables, and count those that meet the paper's condition.
    #[arg(long, value_name = "DIR", value_hint = ValueHint::DirPath)]
    pub(crate) data: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) preparing: Preparing,
    /// How many threads [default: as many as the machine can run at once].
    #[arg(long, value_name = "N", default_value_t = 0, hide_default_value = true)]
    pub(crate) jobs: usize,
    /// Print JSON.
    #[arg(long)]
    pub(crate) json: bool,
}

/// What the paper leaves open about the laps.
#[derive(Debug, Args)]
pub(crate) struct Preparing {
    /// Where a driver's first stop is taken from.
    #[arg(long, value_enum, default_value_t = Stops::Recorded)]
    pub(crate) stops: Stops,
    /// Which laps of a race become 0 and 1.
    #[arg(long, value_enum, default_value_t = Normalise::All)]
    pub(crate) normalise: Normalise,
    /// How many laps before the first stop make a driver eligible.
    #[arg(long, value_name = "N", default_value_t = 8)]
    pub(crate) least_laps: usize,
    /// Where stops are inferred: how many times the driver's median a lap out of the pits takes at least.
    #[arg(long, value_name = "FACTOR", default_value_t = 1.07)]
    pub(crate) slow_lap: f64,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
pub(crate) enum Stops {
    /// The records, in races that have any (2011 on); otherwise inferred.
    Recorded,
    /// In every race from the lap times: the first slow lap, and the lap before it, are the stop.
    Infer,
    /// None: whole races.
    WholeRace,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
pub(crate) enum Normalise {
    /// The fastest and the slowest of all laps of the race, as in the paper.
    All,
    /// The fastest and the slowest lap of eligible drivers.
    Eligible,
    /// The fastest and the slowest lap of eligible drivers before their first stops.
    BeforeStop,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
pub(crate) enum Model {
    /// The paper's: beta·exp(-alpha·k) - gamma·k.
    Lap,
    /// With a constant level that losses settle at.
    Plateau,
}

#[derive(Debug, Args)]
pub(crate) struct Fit {
    /// A CSV file with a header and a row for each observed loss.
    #[arg(value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub(crate) file: PathBuf,
    /// The column with the arm: any text.
    #[arg(long, value_name = "COLUMN")]
    pub(crate) arm: String,
    /// The column with the position in the run: 1, 2, 3, ...
    #[arg(long, value_name = "COLUMN")]
    pub(crate) position: String,
    /// The column with the loss: smaller is better.
    #[arg(long, value_name = "COLUMN")]
    pub(crate) loss: String,
    /// The form of the curves.
    #[arg(long, value_enum, default_value_t = Model::Lap)]
    pub(crate) model: Model,
    /// The losses that become 0 and 1 [default: 0 1, losses as they are].
    #[arg(long, num_args = 2, value_names = ["LOW", "HIGH"], allow_negative_numbers = true)]
    pub(crate) range: Option<Vec<f64>>,
    /// Write the game here, as the `[game]` table of an experiment file, and print a table of the arms.
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub(crate) out: Option<PathBuf>,
    /// Print the fitted arms as JSON.
    #[arg(long)]
    pub(crate) json: bool,
}

impl Fit {
    pub(crate) fn range(&self) -> Range {
        match self.range.as_deref() {
            Some(&[low, high]) => Range { low, high },
            _ => Range::default(),
        }
    }
}

impl Preparing {
    pub(crate) fn options(&self) -> f1::Options {
        f1::Options {
            stops: match self.stops {
                Stops::Recorded => f1::Stops::Recorded,
                Stops::Infer => f1::Stops::Infer,
                Stops::WholeRace => f1::Stops::WholeRace,
            },
            normalise: match self.normalise {
                Normalise::All => f1::Normalise::All,
                Normalise::Eligible => f1::Normalise::Eligible,
                Normalise::BeforeStop => f1::Normalise::BeforeStop,
            },
            least_laps: self.least_laps,
            slow_lap: self.slow_lap,
        }
    }
}

impl From<Model> for WarmUp {
    fn from(model: Model) -> Self {
        match model {
            Model::Lap => WarmUp::Lap,
            Model::Plateau => WarmUp::Plateau,
        }
    }
}
