//! Arguments about the columns of a log, as `diagnose` and `fit` have them.

use calibandit_fit::diagnose::{LogColumns, Starts};
use clap::Args;

#[derive(Debug, Args)]
pub(crate) struct LogArgs {
    /// The column with the name of the arm: any text.
    #[arg(long, value_name = "COLUMN")]
    pub(crate) arm: String,
    /// The column with the loss: smaller is better. Empty and `NA` in a log are plays whose loss is not known.
    #[arg(long, value_name = "COLUMN")]
    pub(crate) loss: String,
    /// The column with the order of the plays: whole numbers, and a jump ends a run [default: the order of the rows].
    #[arg(long, value_name = "COLUMN")]
    pub(crate) order: Option<String>,
    /// The column with what has a memory of its own: a machine, a user [default: all plays share one memory].
    #[arg(long, value_name = "COLUMN")]
    pub(crate) unit: Option<String>,
    /// Whether every arm is rested when the log or a unit begins.
    #[arg(long, value_enum, default_value_t)]
    pub(crate) starts: Starts,
}

impl LogArgs {
    pub(crate) fn columns(&self) -> LogColumns<'_> {
        let Self { arm, loss, order, unit, .. } = self;
        LogColumns { arm, loss, order: order.as_deref(), unit: unit.as_deref() }
    }
}
