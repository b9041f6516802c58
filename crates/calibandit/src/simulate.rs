//! A policy against a game: stepwise, following the definitions word by word, or leaping, in closed form where an arm
//! is calibrated. Both have the same law; leaping costs the same for a run of ten plays and a run of a billion.
//!
//! What is recorded is expected loss, never sampled loss; nothing here keeps anything of the horizon's length.

mod grid;
mod lanes;
mod ledger;
mod levels;
mod together;
mod vector;
mod windows;

pub use grid::{Grid, GridError};
pub use ledger::Checkpoint;
pub use together::{Seat, simulate_together};

use ledger::Ledger;
use levels::{ArmLevels, Levels, Tracks};

use crate::game::{bernoulli, threshold};
use crate::{Arm, Feedback, Game, Noise, Policy, Run, Stream, Window};

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
    let levels = match engine {
        Engine::Leaping => Levels::new(game),
        Engine::Stepwise => None,
    };
    let ledger = Ledger::new(game, levels.as_ref(), times);
    match (engine, levels) {
        (Engine::Leaping, Some(levels)) => play(policy, grid.horizon(), ByLevel::new(game, levels, ledger, noise)),
        (Engine::Leaping, None) => {
            play(policy, grid.horizon(), Leaping(Table { game, window: game.empty_window(), ledger, noise }))
        }
        (Engine::Stepwise, _) => {
            play(policy, grid.horizon(), Stepwise(Table { game, window: game.empty_window(), ledger, noise }))
        }
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

/// The leaping engine on a game whose losses have levels: plays before the arm is calibrated one by one, drawing only what
/// is recorded; all others at once.
struct ByLevel<'a> {
    arms: Vec<(ArmLevels, Noise)>,
    /// Each level's expected loss and, for Bernoulli draws, its threshold.
    losses: Vec<(f64, u64)>,
    tracks: Tracks,
    ledger: Ledger,
    noise: &'a mut Stream,
}

impl<'a> ByLevel<'a> {
    fn new(game: &Game, levels: Levels, ledger: Ledger, noise: &'a mut Stream) -> Self {
        Self {
            arms: levels.arms().iter().copied().zip(game.arms().iter().map(Arm::noise)).collect(),
            losses: levels.losses().iter().map(|&loss| (loss, threshold(loss))).collect(),
            tracks: Tracks::new(game.arms().len()),
            ledger,
            noise,
        }
    }

    /// [`Noise::draw`], with the threshold at hand.
    #[inline(always)]
    fn draw(&mut self, noise: Noise, level: usize) -> f64 {
        let (loss, threshold) = self.losses[level];
        match noise {
            Noise::Bernoulli => bernoulli(threshold, self.noise),
            _ => noise.draw(loss, self.noise),
        }
    }
}

impl Play for ByLevel<'_> {
    #[inline(always)]
    fn run(&mut self, arm: usize, burn_in: u64, record: u64) -> Feedback {
        let (levels, noise) = self.arms[arm];
        let plays = burn_in + record;
        let mut feedback = Feedback::default();
        for played in 0..plays {
            let level = self.tracks.play(arm, &levels);
            if level == levels.calibrated {
                let calibrated = plays - played;
                self.tracks.stay(arm, calibrated - 1);
                self.ledger.count(arm, level, calibrated);
                let recorded = calibrated.min(record);
                feedback += if recorded == 1 {
                    Feedback::one(self.draw(noise, level))
                } else {
                    noise.draw_many(self.losses[level].0, recorded, self.noise)
                };
                break;
            }
            self.ledger.count(arm, level, 1);
            if played >= burn_in {
                feedback += Feedback::one(self.draw(noise, level));
            }
        }
        feedback
    }

    #[inline(always)]
    fn repeat<P: Policy + ?Sized>(&mut self, policy: &mut P, run: Run, most: u64) -> u64 {
        let (levels, noise) = self.arms[run.arm];
        if run.record != 1 || noise != Noise::Bernoulli || most < 2 || !self.tracks.stays_calibrated(run.arm, &levels) {
            return 0;
        }
        let threshold = self.losses[levels.calibrated].1;
        let stream = &mut *self.noise;
        let repeated = policy.observe_repeated(run, most, &mut || Feedback::one(bernoulli(threshold, stream)));
        self.tracks.stay(run.arm, repeated * run.plays());
        self.ledger.count(run.arm, levels.calibrated, repeated * run.plays());
        repeated
    }

    fn arms(&self) -> usize {
        self.arms.len()
    }

    fn ledger(&self) -> &Ledger {
        &self.ledger
    }

    fn finish(self, runs: u64) -> Trajectory {
        self.ledger.finish(runs)
    }
}

/// A game with its window.
struct Table<'a> {
    game: &'a Game,
    window: Window,
    ledger: Ledger,
    noise: &'a mut Stream,
}

/// The definitions, word by word.
struct Stepwise<'a>(Table<'a>);

impl Play for Stepwise<'_> {
    /// Every play is made, its loss drawn, and ignored or recorded.
    fn run(&mut self, arm: usize, burn_in: u64, record: u64) -> Feedback {
        let Table { game, window, ledger, noise } = &mut self.0;
        let mut feedback = Feedback::default();
        for play in 0..burn_in + record {
            let loss = game.play(arm, window);
            let observed = game.arms()[arm].noise().draw(loss, noise);
            ledger.one(arm, loss);
            if play >= burn_in {
                feedback += Feedback::one(observed);
            }
        }
        feedback
    }

    fn arms(&self) -> usize {
        self.0.game.arms().len()
    }

    fn ledger(&self) -> &Ledger {
        &self.0.ledger
    }

    fn finish(self, runs: u64) -> Trajectory {
        self.0.ledger.finish(runs)
    }
}

/// The leaping engine on a game without levels.
struct Leaping<'a>(Table<'a>);

impl Play for Leaping<'_> {
    fn run(&mut self, arm: usize, burn_in: u64, record: u64) -> Feedback {
        let Table { game, window, ledger, noise: stream } = &mut self.0;
        let mut feedback = Feedback::default();
        let noise = game.arms()[arm].noise();
        let memory = game.arms()[arm].memory();
        let plays = burn_in + record;
        let mut played = 0;
        while played < plays {
            let streak = if window.newest() == Some(arm) { window.streak() } else { 0 };
            if streak + 1 >= memory {
                break;
            }
            let loss = game.play(arm, window);
            ledger.one(arm, loss);
            if played >= burn_in {
                feedback += Feedback::one(noise.draw(loss, stream));
            }
            played += 1;
        }
        let calibrated = plays - played;
        if calibrated > 0 {
            let recorded = calibrated.min(record);
            feedback += noise.draw_many(game.arms()[arm].eventual_loss(), recorded, stream);
            window.push_many(arm, calibrated);
            ledger.count(arm, arm, calibrated);
        }
        feedback
    }

    fn arms(&self) -> usize {
        self.0.game.arms().len()
    }

    fn ledger(&self) -> &Ledger {
        &self.0.ledger
    }

    fn finish(self, runs: u64) -> Trajectory {
        self.0.ledger.finish(runs)
    }
}
