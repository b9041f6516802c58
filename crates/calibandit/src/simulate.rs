//! A policy against a game: stepwise, following the definitions word by word, or leaping, in closed form where an arm
//! is calibrated. Both have the same law; leaping costs the same for a run of ten plays and a run of a billion.
//!
//! What is recorded is expected loss, never sampled loss; nothing here keeps anything of the horizon's length.

mod grid;
mod ledger;

pub use grid::{Grid, GridError};
pub use ledger::Checkpoint;

use ledger::Ledger;

use crate::{Feedback, Game, Policy, Run, Stream, Window};

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
    let mut table = Table { game, window: game.empty_window(), ledger: Ledger::new(game, times), noise };
    let mut runs = 0;
    while table.ledger.time() < horizon {
        let run = policy.next_run();
        if run.arm >= game.arms().len() || run.plays() == 0 {
            return Err(SimulateError::BadRun { run, arms: game.arms().len() });
        }
        runs += 1;
        let left = horizon - table.ledger.time();
        let cut = run.plays() > left;
        let burn_in = run.burn_in.min(left);
        let record = run.record.min(left - burn_in);
        let feedback = match engine {
            Engine::Leaping => table.leap(run.arm, burn_in, record),
            Engine::Stepwise => table.step(run.arm, burn_in, record),
        };
        if table.ledger.is_poisoned() {
            return Err(SimulateError::CurveLeftRange { arm: run.arm });
        }
        if !cut {
            policy.observe(run, feedback);
        }
    }
    Ok(table.ledger.finish(runs))
}

/// A game being played.
struct Table<'a> {
    game: &'a Game,
    window: Window,
    ledger: Ledger,
    noise: &'a mut Stream,
}

impl Table<'_> {
    /// The definitions, word by word: every play is made, its loss drawn, and ignored or recorded.
    fn step(&mut self, arm: usize, burn_in: u64, record: u64) -> Feedback {
        let mut feedback = Feedback::default();
        for play in 0..burn_in + record {
            let loss = self.game.play(arm, &mut self.window);
            let observed = self.game.arms()[arm].noise().draw(loss, self.noise);
            self.ledger.one(arm, loss);
            if play >= burn_in {
                feedback += Feedback::one(observed);
            }
        }
        feedback
    }

    /// The same in law: plays before the arm is calibrated one by one, drawing only what is recorded; all others at
    /// once.
    fn leap(&mut self, arm: usize, burn_in: u64, record: u64) -> Feedback {
        let mut feedback = Feedback::default();
        let noise = self.game.arms()[arm].noise();
        let memory = self.game.arms()[arm].memory();
        let plays = burn_in + record;
        let mut played = 0;
        while played < plays {
            let streak = if self.window.newest() == Some(arm) { self.window.streak() } else { 0 };
            if streak + 1 >= memory {
                break;
            }
            let loss = self.game.play(arm, &mut self.window);
            self.ledger.one(arm, loss);
            if played >= burn_in {
                feedback += Feedback::one(noise.draw(loss, self.noise));
            }
            played += 1;
        }
        let calibrated = plays - played;
        if calibrated > 0 {
            let recorded = calibrated.min(record);
            feedback += noise.draw_many(self.game.arms()[arm].eventual_loss(), recorded, self.noise);
            self.window.push_many(arm, calibrated);
            self.ledger.calibrated(arm, calibrated);
        }
        feedback
    }
}
