//! A policy against a game: stepwise, following the definitions word by word, or leaping, in closed form where an arm
//! is calibrated. Both have the same law; leaping costs the same for a run of ten plays and a run of a billion.
//!
//! What is recorded is expected loss, never sampled loss; nothing here keeps anything of the horizon's length.

mod by_level;
mod definition;
mod grid;
mod history;
mod lanes;
mod ledger;
mod levels;
mod policies;
mod rounds;
mod together;
mod vector;
mod windows;

pub use grid::{Grid, GridError};
pub use ledger::Checkpoint;
pub use together::{Seat, simulate_together};

use by_level::ByLevel;
use definition::Table;
use history::{LongTracks, Tracks};
use ledger::Ledger;
use levels::Levels;

use crate::{Feedback, Game, Policy, Run, Stream};

/// How to play.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Engine {
    /// In closed form where the arm is calibrated: the cost of a run does not grow with its length.
    #[default]
    Leaping,
    /// One play after the other, each with its own draw, as the paper defines the game.
    Stepwise,
}

/// What happened when a policy played a game.
#[derive(Clone, Debug, PartialEq)]
pub struct Trajectory {
    /// The state at each checkpoint; the last one is the horizon.
    pub checkpoints: Vec<Checkpoint>,
    /// How often each arm was played.
    pub plays: Vec<u64>,
    /// How many runs were started.
    pub runs: u64,
}

impl Trajectory {
    /// The state at the horizon.
    pub fn last(&self) -> Checkpoint {
        self.checkpoints.last().copied().unwrap_or_default()
    }
}

/// Why a simulation could not be carried out.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum SimulateError {
    /// The horizon or the checkpoints are not valid.
    #[error(transparent)]
    Grid(#[from] GridError),
    /// The policy asked for something that cannot be played.
    #[error("the policy asked for {run:?}, but {}", if *.arms > run.arm { "a run needs at least one play".to_string() } else { format!("the arms are 0 to {}", .arms - 1) })]
    BadRun {
        /// What it asked for.
        run: Run,
        /// How many arms there are.
        arms: usize,
    },
    /// A loss function returned something outside [0, 1] while it was played.
    #[error("the loss function of arm {arm} left [0, 1] while it was played; expected losses must lie in [0, 1]")]
    CurveLeftRange {
        /// The arm.
        arm: usize,
    },
}

/// Plays `policy` against `game` up to the horizon of `grid`. The last run is cut there, and not reported to the policy.
///
/// The draws come from `noise`: one stream, one trajectory, bit for bit.
pub fn simulate<P: Policy + ?Sized>(
    game: &Game,
    policy: &mut P,
    grid: &Grid,
    engine: Engine,
    noise: &mut Stream,
) -> Result<Trajectory, SimulateError> {
    let times = grid.times()?;
    let horizon = grid.horizon();
    let levels = match engine {
        Engine::Leaping => Levels::new(game),
        Engine::Stepwise => None,
    };
    match levels {
        None => play(policy, horizon, Table::new(game, engine, times, noise)),
        Some(levels) if levels.are_short() => {
            play(policy, horizon, ByLevel::new(game, &levels, Tracks::new(game.arms().len()), times, noise))
        }
        Some(levels) => play(policy, horizon, ByLevel::new(game, &levels, LongTracks::new(&levels), times, noise)),
    }
}

/// A game being played, one run after the other.
trait Play {
    /// Plays `burn_in` and then `record` plays of an arm.
    fn run(&mut self, arm: usize, burn_in: u64, record: u64) -> Feedback;
    /// Plays a run again and again, up to `most` times, as long as the policy asks for nothing else, and reports it;
    /// returns how often. 0 if there is no faster way than playing it once.
    fn repeat<P: Policy + ?Sized>(&mut self, _policy: &mut P, _run: Run, _most: u64) -> u64 {
        0
    }
    fn arms(&self) -> usize;
    fn ledger(&self) -> &Ledger;
    fn finish(self, runs: u64) -> Trajectory;
}

fn play<P: Policy + ?Sized>(policy: &mut P, horizon: u64, mut game: impl Play) -> Result<Trajectory, SimulateError> {
    let arms = game.arms();
    let mut runs = 0;
    let mut left = horizon;
    while left > 0 {
        let run = policy.next_run();
        if run.arm >= arms || run.plays() == 0 {
            return Err(SimulateError::BadRun { run, arms });
        }
        let repeated = game.repeat(policy, run, left / run.plays());
        if repeated > 0 {
            runs += repeated;
            left -= repeated * run.plays();
            continue;
        }
        runs += 1;
        let cut = run.plays() > left;
        let burn_in = run.burn_in.min(left);
        let record = run.record.min(left - burn_in);
        left -= burn_in + record;
        let feedback = game.run(run.arm, burn_in, record);
        if game.ledger().is_poisoned() {
            return Err(SimulateError::CurveLeftRange { arm: run.arm });
        }
        if !cut {
            policy.observe(run, feedback);
        }
    }
    Ok(game.finish(runs))
}
