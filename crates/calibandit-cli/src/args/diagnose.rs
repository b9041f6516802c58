//! Arguments of `diagnose`.

use std::path::PathBuf;

use calibandit_fit::diagnose::{DiagnoseOptions, LogColumns, Starts};
use clap::{Args, ValueHint};

#[derive(Debug, Args)]
pub(crate) struct DiagnoseArgs {
    /// A log of plays: a CSV file with a header, or a Parquet file, with one row per play.
    #[arg(value_name = "LOG", value_hint = ValueHint::FilePath)]
    pub(crate) file: PathBuf,
    /// The column with the name of the arm: any text.
    #[arg(long, value_name = "COLUMN")]
    pub(crate) arm: String,
    /// The column with the loss: smaller is better. Empty and `NA` are plays whose loss is not known.
    #[arg(long, value_name = "COLUMN")]
    pub(crate) loss: String,
    /// The column with the order of the plays: whole numbers, and a jump ends a run [default: the order of the rows].
    #[arg(long, value_name = "COLUMN")]
    pub(crate) order: Option<String>,
    /// The column with what has a memory of its own: a machine, a user [default: all plays share one memory].
    #[arg(long, value_name = "COLUMN")]
    pub(crate) unit: Option<String>,
    /// The longest memory that you think possible, in plays. Without it no M is recommended, only "if at most REACH".
    #[arg(long, value_name = "N", allow_negative_numbers = true)]
    pub(crate) longest: Option<u32>,
    /// Differences of losses that do not matter [default: 5 % of the range of the middle 98 % of the losses].
    #[arg(long, value_name = "X", allow_negative_numbers = true)]
    pub(crate) tolerance: Option<f64>,
    /// The confidence of every statement.
    #[arg(long, value_name = "P", default_value_t = 0.95, allow_negative_numbers = true)]
    pub(crate) confidence: f64,
    /// Whether every arm is rested when the log or a unit begins.
    #[arg(long, value_enum, default_value_t)]
    pub(crate) starts: Starts,
    /// Remove changes of the losses with time that all arms share.
    #[arg(long)]
    pub(crate) drifting: bool,
    /// The number of plays over which the price of a wrong M is predicted.
    #[arg(long, value_name = "N", default_value_t = 100_000, allow_negative_numbers = true)]
    pub(crate) horizon: u64,
    /// Write `diagnosis.json`, `curves.csv`, `game.toml` and `report.html` to this folder.
    #[arg(long, value_name = "DIR", value_hint = ValueHint::DirPath)]
    pub(crate) out: Option<PathBuf>,
    /// Replace what the folder holds, if it is not a diagnosis.
    #[arg(long, requires = "out")]
    pub(crate) force: bool,
    /// Print the diagnosis as JSON.
    #[arg(long)]
    pub(crate) json: bool,
}

impl DiagnoseArgs {
    pub(crate) fn columns(&self) -> LogColumns<'_> {
        let Self { arm, loss, order, unit, .. } = self;
        LogColumns { arm, loss, order: order.as_deref(), unit: unit.as_deref() }
    }

    pub(crate) fn options(&self) -> DiagnoseOptions {
        DiagnoseOptions {
            longest: self.longest,
            tolerance: self.tolerance,
            confidence: self.confidence,
            starts: self.starts,
            drifting: self.drifting,
        }
    }
}
