//! What a log of plays says about memory: which M, whether repeated exposure is optimal, and how sure that is.
//!
//! ```
//! use calibandit_fit::diagnose::{DiagnoseOptions, LogBuilder, ReoVerdict, diagnose};
//!
//! // Two caches, played in blocks of 40 queries in turn. The second one needs five queries to warm up.
//! let mut log = LogBuilder::new();
//! for query in 0..40_000 {
//!     let (cache, position) = ((query / 40) % 2, query % 40);
//!     let slow = if cache == 1 && position < 5 { 0.5 } else { 0.0 };
//!     let noise = f64::from((query * 7919) % 1009) / 1009.0 - 0.5;
//!     let loss = 1.0 - 0.3 * f64::from(cache) + slow + 0.2 * noise;
//!     log.push(["plain", "slim"][cache as usize], Some(loss), None, None)?;
//! }
//! let options = DiagnoseOptions { longest: Some(20), ..DiagnoseOptions::default() };
//! let found = diagnose(&log.build()?, &options)?;
//! assert_eq!(found.memory_bound, Some(6));
//! assert_eq!(found.reo.verdict, ReoVerdict::Holds);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! Two answers are kept apart. The *bound* ([`Settled`]) assumes nothing but a longest memory: it compares losses after
//! few plays in a row with losses after many ([`ArmDiagnosis::curve`] has every comparison). The *tallying set*
//! ([`TallyingDiagnosis`]) assumes a tallying model with monotone curves, and is far sharper where arms are switched at
//! random. Neither can speak of memories beyond the *reach* of the log: no data can (the paper's Theorem 2).

mod bound;
mod cells;
mod cluster;
mod curves_table;
mod diagnosis;
mod drift;
mod game;
mod log;
mod log_arrays;
mod log_file;
mod log_parquet;
mod positions;
mod price;
mod reach;
mod reo;
mod runs;
mod tally_set;
mod verdict;

pub use diagnosis::{
    ArmDiagnosis, Clusters, CurveCell, Diagnosis, Estimate, Fatigue, Note, NoteKind, ReoDiagnosis, ReoVerdict,
    ReoWitness, Settled, Stopped, SuggestedPilot, TallyingDiagnosis, Why,
};
pub use game::{FittedGameError, LossSummary};
pub use log::{Log, LogBuilder, LogError};
pub use log_arrays::{LogArrays, LogCodes};
pub use log_file::{LogColumns, LogFileError, parse_log, read_log, read_log_interruptible};
pub use price::{Price, PriceError, PriceOptions, PriceRow};

use calibandit::{Interrupt, Interrupted};

use bound::{ArmCells, BoundSettings, eventual_loss};
use cluster::ClusteredMean;
use reach::EnoughPlays;
use reo::ReoArm;
use runs::{ArmRun, runs_by_arm};
use serde::{Deserialize, Serialize};
use tally_set::TallyInput;

/// What a diagnosis is told besides the log.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct DiagnoseOptions {
    /// The longest memory that is considered possible, in plays. Without it no memory bound is recommended.
    pub longest: Option<u32>,
    /// Differences of losses that do not matter. Default: 5 % of the range of the middle 98 % of losses.
    pub tolerance: Option<f64>,
    /// The confidence of every statement, in (0.5, 1).
    pub confidence: f64,
    /// What is known about the arms when a unit begins.
    pub starts: Starts,
    /// Whether to remove changes of the losses with time that all arms share.
    pub drifting: bool,
}

impl Default for DiagnoseOptions {
    fn default() -> Self {
        Self { longest: None, tolerance: None, confidence: 0.95, starts: Starts::Cold, drifting: false }
    }
}

/// What is known about the arms at the first play of a unit.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "clap", derive(clap::ValueEnum))]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum Starts {
    /// No arm was played before: every arm is rested.
    #[default]
    Cold,
    /// Plays before the log are unknown.
    Unknown,
}

/// Why a log cannot be diagnosed.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum DiagnoseError {
    /// An option has an invalid value.
    #[error("`{option}` is {value}, but must be {expected}")]
    Option {
        /// The option.
        option: &'static str,
        /// Its value.
        value: f64,
        /// The valid values.
        expected: &'static str,
    },
    /// No play has a loss.
    #[error("no play of the log has a loss")]
    NoLosses,
    /// All losses are equal, so there is no default tolerance.
    #[error("nearly all losses are equal, so differences that matter cannot be guessed: give `--tolerance`")]
    NoSpread,
    /// The tolerance is hardly larger than the errors of rounding of the losses.
    #[error(
        "differences of {tolerance:e} cannot be told in losses as large as {largest:e}: subtract a constant from all \
         losses"
    )]
    TooFine {
        /// The tolerance.
        tolerance: f64,
        /// The largest loss, or the negative of the least one.
        largest: f64,
    },
    /// The stop flag was set.
    #[error(transparent)]
    Interrupted(#[from] Interrupted),
}

/// The least tolerance as a part of the largest loss. A sum of 10^7 losses has errors a thousand times smaller.
const FINEST: f64 = 1e-10;

/// Units are clusters if there are at least this many.
const LEAST_UNITS: usize = 10;

/// The least number of plays in a row after which drift is looked for, if the log does not show that an arm settles.
const LONG_RUN: u32 = 16;

/// Diagnoses a log.
///
/// # Errors
/// [`DiagnoseError`] if an option is invalid, or if there are no losses.
pub fn diagnose(log: &Log, options: &DiagnoseOptions) -> Result<Diagnosis, DiagnoseError> {
    diagnose_interruptible(log, options, Interrupt::never())
}

/// [`diagnose`] with a stop flag.
///
/// # Errors
/// As [`diagnose`], and [`DiagnoseError::Interrupted`] if the flag is set.
pub fn diagnose_interruptible(
    log: &Log,
    options: &DiagnoseOptions,
    interrupt: Interrupt<'_>,
) -> Result<Diagnosis, DiagnoseError> {
    interrupt.check()?;
    let tolerance = check(log, options)?;
    let all_runs = runs_by_arm(log, options.starts);
    let (adjusted, blocks) = match options.drifting {
        true => {
            let (losses, blocks) = drift::without_drift(log, &all_runs.runs);
            (Some(losses), blocks)
        }
        false => (None, 1),
    };
    interrupt.check()?;
    let losses = adjusted.as_deref().unwrap_or(&log.losses);
    let clusters = if log.units >= LEAST_UNITS { Clusters::Units } else { Clusters::Runs };
    let context = Context { log, losses, options, tolerance, clusters, arms: log.names.len() };
    let analyse = |runs: &Vec<ArmRun>| interrupt.check().map(|()| context.arm(runs));
    let arms = all_runs.runs.iter().map(analyse).collect::<Result<Vec<ArmAnalysis>, _>>()?;
    let reo_arms: Vec<ReoArm<'_>> = arms
        .iter()
        .zip(&log.names)
        .map(|(arm, name)| ReoArm {
            name,
            cells: &arm.cells,
            eventual: arm.eventual,
            settled: arm.settled.upper,
            changing: arm.settled.upper.is_none() && arm.settled.stopped == Stopped::Changes,
        })
        .collect();
    let reo = reo::judge(&reo_arms, tolerance, options.confidence, options.longest == Some(1));
    let tallying = tally_set::tallying(&TallyInput {
        log,
        losses,
        runs: &all_runs.runs,
        longest: options.longest,
        starts_rested: options.starts == Starts::Cold,
        tolerance,
        interrupt,
    })?;
    let (tallying, tally_curves) = tallying.map_or((None, None), |(found, curves)| (Some(found), curves));
    let found = verdict::Findings {
        log,
        options,
        tolerance,
        clusters,
        arms: &arms,
        runs: &all_runs,
        blocks,
        tallying,
        tally_curves,
        reo,
    };
    Ok(found.diagnosis())
}

/// The tolerance, if the options are valid.
fn check(log: &Log, options: &DiagnoseOptions) -> Result<f64, DiagnoseError> {
    let invalid = |option, value, expected| Err(DiagnoseError::Option { option, value, expected });
    if !(options.confidence > 0.5 && options.confidence < 1.0) {
        return invalid("confidence", options.confidence, "above 0.5 and below 1");
    }
    if options.longest == Some(0) {
        return invalid("longest", 0.0, "at least 1");
    }
    if log.finite_losses().next().is_none() {
        return Err(DiagnoseError::NoLosses);
    }
    let tolerance = match options.tolerance {
        Some(tolerance) if !(tolerance > 0.0 && tolerance.is_finite()) => {
            return invalid("tolerance", tolerance, "a positive number");
        }
        Some(tolerance) => tolerance,
        None => match 0.05 * log.spread() {
            spread if spread > 0.0 => spread,
            _ => return Err(DiagnoseError::NoSpread),
        },
    };
    let largest = log.finite_losses().fold(0.0, |most: f64, loss| most.max(loss.abs()));
    if tolerance < FINEST * largest { Err(DiagnoseError::TooFine { tolerance, largest }) } else { Ok(tolerance) }
}

/// What the analysis of every arm shares.
struct Context<'a> {
    log: &'a Log,
    losses: &'a [f64],
    options: &'a DiagnoseOptions,
    tolerance: f64,
    clusters: Clusters,
    arms: usize,
}

/// What was found about one arm.
pub(crate) struct ArmAnalysis {
    sd: f64,
    enough: EnoughPlays,
    reach: u32,
    /// The reach with as few plays as a comparison can have, whatever the noise.
    switched: u32,
    cells: ArmCells,
    settled: Settled,
    curve: Vec<CurveCell>,
    forgetting: Vec<CurveCell>,
    eventual: Option<ClusteredMean>,
    fatigue: Option<Fatigue>,
    drift: Option<f64>,
}

impl Context<'_> {
    fn arm(&self, runs: &[ArmRun]) -> ArmAnalysis {
        let DiagnoseOptions { longest, confidence, .. } = *self.options;
        let sd = reach::noise_sd(self.losses, runs);
        let enough = EnoughPlays::new(sd, self.tolerance);
        // A given memory must be within the reach. Without one, the reach is as long as the log can speak of with ease:
        // at its very end there is hardly enough for a comparison.
        let easily = if longest.is_none() { reach::reach(runs, enough.comfortable, None) } else { 0 };
        let reach = if easily > 0 { easily } else { reach::reach(runs, enough.reaching, longest) };
        let switched = reach::reach(runs, reach::LEAST_PLAYS, None);
        // A longest memory that the log reaches is what the user assumes; a longer rest would only cost data.
        let rest = longest.filter(|&longest| longest <= reach).unwrap_or(reach).max(1);
        let settings =
            BoundSettings { reach: rest, tolerance: self.tolerance, confidence, enough, sd, clusters: self.clusters };
        let cells = ArmCells::new(self.losses, runs, self.log.units, settings);
        let (mut settled, curve) = cells.test();
        // With a reach of one play nothing is compared.
        if reach == 0 || (reach == 1 && longest != Some(1)) {
            (settled.upper, settled.stopped) = (None, Stopped::TooFewPlays);
        }
        let first = settled.upper.map_or(rest, |upper| upper.saturating_mul(2).min(rest));
        let eventual = eventual_loss(self.losses, runs, first, self.log.units, self.clusters);
        // Any of the arms may be the one with a chance result.
        let level = (1.0 - confidence) / self.arms as f64;
        let fatigue = reo::fatigue(&cells, self.tolerance, level);
        // Before an arm has settled its losses differ, and logs that switch more often at some times would look as if
        // they drifted: only long runs are compared.
        let calm = if settled.upper.is_some() { first } else { longest.unwrap_or(reach).max(LONG_RUN) };
        let drift = drift::drift(self.log, self.losses, runs, calm, sd, level);
        let drift = drift.filter(|&range| range > 0.5 * self.tolerance);
        let forgetting = bound::forgetting(self.losses, runs, first, confidence);
        ArmAnalysis { sd, enough, reach, switched, cells, settled, curve, forgetting, eventual, fatigue, drift }
    }
}
