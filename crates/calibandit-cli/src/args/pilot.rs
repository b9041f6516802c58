//! Arguments of `pilot`.

use calibandit::{PilotDesign, PilotPlan};
use clap::{Args, ValueEnum};

use super::number::{SEEDS, real, whole};

#[derive(Debug, Args)]
#[command(after_help = SIZES)]
pub(crate) struct PilotArgs {
    /// The names of the arms, separated by commas.
    #[arg(long, value_name = "NAMES", value_delimiter = ',', required = true)]
    pub(crate) arms: Vec<String>,
    /// The longest memory that you think possible, in plays.
    #[arg(long, value_name = "N", value_parser = whole::<u32>(1..=PilotPlan::MOST_LONGEST.into()),
          allow_negative_numbers = true)]
    pub(crate) longest: u32,
    /// What you believe about the arms: `tallying` needs fewer plays, `nothing` assumes nothing but `--longest`.
    #[arg(long, value_enum, default_value_t = Belief::Tallying)]
    pub(crate) believe: Belief,
    /// The standard deviation of a single loss. That of losses in [0, 1] is at most 0.5.
    #[arg(long, value_name = "X", value_parser = real("0.5"), default_value_t = PilotPlan::DEFAULT_SD,
          allow_negative_numbers = true)]
    pub(crate) sd: f64,
    /// The smallest warm-up worth finding, in units of the loss; with `--believe nothing`, the difference from the
    /// eventual loss that does not matter.
    #[arg(long, value_name = "Y", visible_alias = "tolerance", value_parser = real("0.1"),
          default_value_t = PilotPlan::DEFAULT_DIFFERENCE, allow_negative_numbers = true)]
    pub(crate) drop: f64,
    /// The seed of the random order.
    #[arg(long, value_name = "S", value_parser = whole::<u64>(SEEDS), default_value_t = 1,
          allow_negative_numbers = true)]
    pub(crate) seed: u64,
    /// Print the plan as JSON, with its size and what it can answer.
    #[arg(long)]
    pub(crate) json: bool,
}

const SIZES: &str = "\
The plan is a CSV table with the columns arm and plays: play each arm that many times in a row, in this order, and log \
every loss. `calibandit diagnose` reads the log. The standard error has a summary of the plan.";

/// What a user believes about the arms.
#[derive(Clone, Copy, Debug, ValueEnum)]
pub(crate) enum Belief {
    /// Losses depend on how many of the last plays were of the same arm, and rise or fall with that number.
    Tallying,
    /// Nothing but the longest memory.
    Nothing,
}

impl Belief {
    pub(crate) fn design(self) -> PilotDesign {
        match self {
            Belief::Tallying => PilotDesign::Tallying,
            Belief::Nothing => PilotDesign::Blocks,
        }
    }
}
