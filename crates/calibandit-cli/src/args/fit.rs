//! Arguments of `fit`.

use std::path::PathBuf;

use calibandit_fit::{GameFitOptions, LossRange, LossRangeError, ModelChoice};
use clap::{Args, ValueHint};

use super::log::LogArgs;
use super::number::{real, whole};

#[derive(Debug, Args)]
pub(crate) struct FitArgs {
    /// A table with one row per observed loss (a CSV file with a header), or a log with one row per play (also a
    /// Parquet file).
    #[arg(value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub(crate) file: PathBuf,
    #[command(flatten)]
    pub(crate) log: LogArgs,
    /// The column with the position in the run: 1, 2, 3, ... Without it the file is a log: positions are counted in the
    /// runs that begin after a rest.
    #[arg(long, value_name = "COLUMN", conflicts_with_all = ["order", "unit", "starts"])]
    pub(crate) position: Option<String>,
    /// The model of the curves. `auto` takes, for each arm, the one with a level that has the least AIC.
    #[arg(long, value_enum, default_value_t)]
    pub(crate) model: ModelChoice,
    /// The losses that become 0 and 1 [default: 0 1, losses are not scaled].
    #[arg(long, num_args = 2, value_names = ["LOW", "HIGH"], value_parser = real("0"), allow_negative_numbers = true)]
    pub(crate) range: Option<Vec<f64>>,
    /// The memory of the game [default: where the fitted curves settle].
    #[arg(long, value_name = "PLAYS", value_parser = whole::<u32>(1..=1_000_000), allow_negative_numbers = true)]
    pub(crate) memory: Option<u32>,
    /// The largest difference of losses that does not matter: a curve has settled if it changes by less [default: 5 %
    /// of the range of the middle 98 % of losses].
    #[arg(long, value_name = "LOSS", value_parser = real("0.05"), allow_negative_numbers = true)]
    pub(crate) tolerance: Option<f64>,
    /// Write the game to this file, as the `[game]` table of an experiment file, and print a table of the arms.
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub(crate) out: Option<PathBuf>,
    /// Print the fitted arms as JSON.
    #[arg(long)]
    pub(crate) json: bool,
}

impl FitArgs {
    pub(crate) fn options(&self) -> Result<GameFitOptions, LossRangeError> {
        let Self { model, memory, tolerance, .. } = *self;
        Ok(GameFitOptions { model, range: self.range()?, memory, tolerance })
    }

    fn range(&self) -> Result<LossRange, LossRangeError> {
        match self.range.as_deref() {
            None => Ok(LossRange::default()),
            Some(&[low, high]) => LossRange::new(low, high),
            Some(other) => unreachable!("clap requires two values for --range, not {}", other.len()),
        }
    }
}
