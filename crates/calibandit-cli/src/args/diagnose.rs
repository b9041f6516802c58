//! Arguments of `diagnose`.

use std::path::PathBuf;

use calibandit_experiment::spec::MOST_PLAYS;
use calibandit_fit::diagnose::DiagnoseOptions;
use clap::{Args, ValueHint};

use super::log::LogArgs;
use super::number::{real, whole};

#[derive(Debug, Args)]
pub(crate) struct DiagnoseArgs {
    /// A log of plays: a CSV file with a header, or a Parquet file, with one row per play.
    #[arg(value_name = "LOG", value_hint = ValueHint::FilePath)]
    pub(crate) file: PathBuf,
    #[command(flatten)]
    pub(crate) log: LogArgs,
    /// The longest memory that you think possible, in plays. Without it no M is recommended, only "if at most REACH".
    #[arg(long, value_name = "N", value_parser = whole::<u32>(1..=u32::MAX.into()), allow_negative_numbers = true)]
    pub(crate) longest: Option<u32>,
    /// Differences of losses that do not matter [default: 5 % of the range of the middle 98 % of the losses].
    #[arg(long, value_name = "X", value_parser = real("0.05"), allow_negative_numbers = true)]
    pub(crate) tolerance: Option<f64>,
    /// The confidence of every statement.
    #[arg(long, value_name = "P", value_parser = real("0.95"), default_value_t = 0.95, allow_negative_numbers = true)]
    pub(crate) confidence: f64,
    /// Remove changes of the losses with time that all arms share.
    #[arg(long)]
    pub(crate) drifting: bool,
    /// The number of plays over which the price of a wrong M is predicted.
    #[arg(long, value_name = "N", value_parser = whole::<u64>(1..=MOST_PLAYS), default_value_t = 100_000,
          allow_negative_numbers = true)]
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
    pub(crate) fn options(&self) -> DiagnoseOptions {
        DiagnoseOptions {
            longest: self.longest,
            tolerance: self.tolerance,
            confidence: self.confidence,
            starts: self.log.starts,
            drifting: self.drifting,
        }
    }
}
