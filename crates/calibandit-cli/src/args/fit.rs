//! Arguments of `fit`.

use std::path::PathBuf;

use calibandit_fit::{LossRange, LossRangeError, ModelChoice};
use clap::{Args, ValueHint};

#[derive(Debug, Args)]
pub(crate) struct FitArgs {
    /// A CSV file with a header and one row per observed loss.
    #[arg(value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub(crate) file: PathBuf,
    /// The column with the name of the arm: any text.
    #[arg(long, value_name = "COLUMN")]
    pub(crate) arm: String,
    /// The column with the position in the run: 1, 2, 3, ...
    #[arg(long, value_name = "COLUMN")]
    pub(crate) position: String,
    /// The column with the loss: smaller is better.
    #[arg(long, value_name = "COLUMN")]
    pub(crate) loss: String,
    /// The model of the curves. `auto` takes the one with the least AIC for each arm.
    #[arg(long, value_enum, default_value_t)]
    pub(crate) model: ModelChoice,
    /// The losses that become 0 and 1 [default: 0 1, losses are not scaled].
    #[arg(long, num_args = 2, value_names = ["LOW", "HIGH"], allow_negative_numbers = true)]
    pub(crate) range: Option<Vec<f64>>,
    /// Write the game to this file, as the `[game]` table of an experiment file, and print a table of the arms.
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub(crate) out: Option<PathBuf>,
    /// Print the fitted arms as JSON.
    #[arg(long)]
    pub(crate) json: bool,
}

impl FitArgs {
    pub(crate) fn range(&self) -> Result<LossRange, LossRangeError> {
        match self.range.as_deref() {
            None => Ok(LossRange::default()),
            Some(&[low, high]) => LossRange::new(low, high),
            Some(other) => unreachable!("clap requires two values for --range, not {}", other.len()),
        }
    }
}
