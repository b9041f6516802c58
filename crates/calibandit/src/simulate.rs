//! Simulation of a policy on a game.
//!
//! Two engines have the same law. The stepwise engine follows the paper's definitions play by play. The leaping engine
//! uses closed forms where an arm is calibrated: a run of a billion plays costs as much as a run of ten. In a rested
//! game it does so wherever the curve is flat.
//!
//! Recorded are expected losses, never sampled losses. Nothing here needs memory in proportion to the horizon.
//!
//! [`Simulation`] is the convenient entry: several policies, many instances, regret. [`simulate()`] plays one instance,
//! [`simulate_batch`] several at once.

mod batch;
mod count_stepper;
mod grid;
mod live;
mod loss_accumulator;
mod loss_table;
mod outcome;
mod play_history;
mod simulation;
mod table_stepper;
mod window_stepper;

pub use batch::{BatchItem, batch_size, simulate_batch, simulate_batch_interruptible};
pub use grid::{Grid, GridError};
pub use live::{DelayLaw, LiveError, LiveSpec, LiveTrajectory, SessionLaw, simulate_live, simulate_live_policy};
pub use loss_accumulator::Checkpoint;
pub use outcome::{PolicyOutcome, SimulationOutcome};
pub use simulation::{Simulation, SimulationError, SimulationGame};

use count_stepper::CountStepper;
use loss_accumulator::LossAccumulator;
use loss_table::LossTable;
use play_history::{RingHistory, WordHistory};
use table_stepper::TableStepper;
use window_stepper::WindowStepper;

use crate::game::arm_title;
use crate::interrupt::PlayMeter;
use crate::{Feedback, Game, Interrupt, Interrupted, Policy, Run, Stream};

/// How a simulation computes plays.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Engine {
    /// In closed form where the arm is calibrated, or where the curve of a rested arm is flat: the cost of a run does
    /// not grow with its length.
    #[default]
    Leaping,
    /// One play after the other, each with its own draw, as the paper defines the game.
    Stepwise,
}

/// The record of one policy on one game.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Trajectory {
    /// The state at each checkpoint; the last checkpoint is the horizon.
    pub checkpoints: Vec<Checkpoint>,
    /// The number of plays per arm.
    pub plays: Vec<u64>,
    /// The number of runs that were started.
    pub runs: u64,
}

impl Trajectory {
    /// The state at the horizon.
    pub fn last(&self) -> Checkpoint {
        *self.checkpoints.last().expect("the horizon is a checkpoint of every grid")
    }
}

/// Why a simulation failed.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum SimulateError {
    /// The policy asked for a run that cannot be played.
    #[error(
        "the policy asked for {run:?}, but {}",
        match run.arm < *arms {
            true => "a run needs at least one play".to_owned(),
            false => format!("the arms are 0 to {}", arms - 1),
        }
    )]
    BadRun {
        /// The run.
        run: Run,
        /// The number of arms of the game.
        arms: usize,
    },
    /// A loss function returned a value outside [0, 1] during play.
    #[error(
        "the loss function of {} returned a value outside [0, 1]; expected losses must lie in [0, 1]",
        arm_title(*arm, name)
    )]
    CurveLeftRange {
        /// The arm.
        arm: usize,
        /// Its name, if it has one.
        name: Option<String>,
    },
    /// The simulation was stopped by its [`Interrupt`].
    #[error(transparent)]
    Interrupted(#[from] Interrupted),
}

/// Simulates `policy` on `game` up to the horizon of `grid`. A run that exceeds the horizon is cut there and not
/// reported to the policy.
///
/// All draws come from `noise`: the same stream gives the same trajectory, bit for bit.
pub fn simulate<P: Policy + ?Sized>(
    game: &Game,
    policy: &mut P,
    grid: &Grid,
    engine: Engine,
    noise: &mut Stream,
) -> Result<Trajectory, SimulateError> {
    simulate_interruptible(game, policy, grid, engine, noise, Interrupt::never())
}

/// [`simulate()`] with a stop flag, which is read before every run and during long ones, and a counter of plays. The
/// trajectory does not depend on them. After an interruption, policy and stream are in the middle of a game.
pub fn simulate_interruptible<P: Policy + ?Sized>(
    game: &Game,
    policy: &mut P,
    grid: &Grid,
    engine: Engine,
    noise: &mut Stream,
    interrupt: Interrupt<'_>,
) -> Result<Trajectory, SimulateError> {
    let times = grid.times().to_vec();
    let horizon = grid.horizon();
    let table = match engine {
        Engine::Leaping => LossTable::new(game),
        Engine::Stepwise => None,
    };
    match table {
        None if engine == Engine::Leaping && game.is_rested() => {
            play(game, policy, horizon, CountStepper::new(game, times, noise, interrupt), interrupt)
        }
        None => {
            let stepper = WindowStepper::new(game, engine, times, noise, interrupt);
            play(game, policy, horizon, stepper, interrupt)
        }
        Some(table) if table.windows_fit_into_words() => {
            let history = WordHistory::new(game.arms().len());
            play(game, policy, horizon, TableStepper::new(game, &table, history, times, noise), interrupt)
        }
        Some(table) => {
            let history = RingHistory::new(&table);
            play(game, policy, horizon, TableStepper::new(game, &table, history, times, noise), interrupt)
        }
    }
}

/// About how many bytes a simulation takes beside the game, the state of a policy included.
pub(crate) fn memory_estimate(game: &Game) -> u64 {
    // A row has its loss, its excess, its threshold and its number of plays; the window has a number per play.
    const PER_ROW: usize = 40;
    const PER_ARM: usize = 160;
    let rows = LossTable::rows_at_most(game);
    (rows * PER_ROW + game.arms().len() * PER_ARM + game.window_length() * size_of::<u32>()) as u64
}

/// A game in progress.
trait GameStepper {
    /// Plays `burn_in` and then `record` plays of an arm; fewer, and without meaning, once the stop flag is set.
    fn run(&mut self, arm: usize, burn_in: u64, record: u64) -> Feedback;
    /// Plays and reports a run repeatedly, up to `most` times, as long as the policy asks for the same run; returns how
    /// often. 0 if that is not faster than playing it once.
    fn repeat<P: Policy + ?Sized>(&mut self, _policy: &mut P, _run: Run, _most: u64) -> u64 {
        0
    }
    fn losses(&self) -> &LossAccumulator;
    fn finish(self, runs: u64) -> Trajectory;
}

/// A run is repeated at most this often between two looks at the stop flag.
const MOST_REPEATED: u64 = 1 << 20;

fn play<P: Policy + ?Sized>(
    game: &Game,
    policy: &mut P,
    horizon: u64,
    mut stepper: impl GameStepper,
    interrupt: Interrupt<'_>,
) -> Result<Trajectory, SimulateError> {
    let arms = game.arms().len();
    let mut meter = PlayMeter::new(interrupt);
    meter.add(0)?;
    let mut runs = 0;
    let mut left = horizon;
    let watched = policy.wants_burn_in();
    while left > 0 {
        let run = policy.next_run();
        if run.arm >= arms || run.plays() == 0 {
            return Err(SimulateError::BadRun { run, arms });
        }
        let watches = watched && run.burn_in > 0;
        let most = if watches { 0 } else { (left / run.plays()).min(MOST_REPEATED) };
        let repeated = stepper.repeat(policy, run, most);
        if repeated > 0 {
            runs += repeated;
            left -= repeated * run.plays();
            meter.add(repeated * run.plays())?;
            continue;
        }
        runs += 1;
        let cut = run.plays() > left;
        let burn_in = run.burn_in.min(left);
        let record = run.record.min(left - burn_in);
        left -= burn_in + record;
        // A burn-in that is watched is played as if it were recorded.
        let burnt = if watches { stepper.run(run.arm, 0, burn_in) } else { Feedback::default() };
        let feedback = stepper.run(run.arm, if watches { 0 } else { burn_in }, record);
        meter.add(burn_in + record)?;
        if stepper.losses().has_nan() {
            return Err(SimulateError::CurveLeftRange {
                arm: run.arm,
                name: game.arm_name(run.arm).map(str::to_owned),
            });
        }
        if !cut {
            if watches {
                policy.observe_burn_in(run, burnt);
            }
            policy.observe(run, feedback);
        }
    }
    Ok(stepper.finish(runs))
}
