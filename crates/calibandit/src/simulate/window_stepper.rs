//! Playing with the game's own [`Window`]: play by play as the paper defines it, and leaping for games that have no
//! loss table.

use super::loss_accumulator::LossAccumulator;
use super::{Engine, GameStepper, Trajectory};
use crate::{Feedback, Game, Interrupt, Stream, Window};

/// A game in progress, with its window.
pub(super) struct WindowStepper<'a> {
    game: &'a Game,
    engine: Engine,
    window: Window,
    losses: LossAccumulator,
    noise: &'a mut Stream,
    interrupt: Interrupt<'a>,
}

impl<'a> WindowStepper<'a> {
    pub(super) fn new(
        game: &'a Game,
        engine: Engine,
        times: Vec<u64>,
        noise: &'a mut Stream,
        interrupt: Interrupt<'a>,
    ) -> Self {
        let losses = LossAccumulator::new(game, None, times);
        Self { game, engine, window: game.empty_window(), losses, noise, interrupt }
    }

    /// How many of `plays` plays of an arm are made one by one: all of them when stepwise; when leaping, those before
    /// the arm is calibrated.
    fn single_plays(&self, arm: usize, plays: u64) -> u64 {
        if self.engine == Engine::Stepwise {
            return plays;
        }
        let streak = if self.window.newest() == Some(arm) { self.window.streak() } else { 0 };
        plays.min((self.game.arms()[arm].memory() - 1).saturating_sub(streak) as u64)
    }
}

impl GameStepper for WindowStepper<'_> {
    fn run(&mut self, arm: usize, burn_in: u64, record: u64) -> Feedback {
        let plays = burn_in + record;
        let single_plays = self.single_plays(arm, plays);
        let WindowStepper { game, engine, window, losses, noise: stream, interrupt } = self;
        let noise = game.arms()[arm].noise();
        let mut feedback = Feedback::default();
        for play in 0..single_plays {
            if interrupt.is_stopped() {
                return Feedback::default();
            }
            let loss = game.play(arm, window);
            losses.add_one(arm, loss);
            let recorded = play >= burn_in;
            // The definition draws the ignored losses too; leaping does not need them.
            if recorded || *engine == Engine::Stepwise {
                let observed = Feedback::one(noise.draw(loss, stream));
                feedback += if recorded { observed } else { Feedback::default() };
            }
        }
        let calibrated = plays - single_plays;
        if calibrated > 0 {
            let recorded = calibrated.min(record);
            feedback += noise.draw_many(game.arms()[arm].eventual_loss(), recorded, stream);
            window.push_many(arm, calibrated);
            losses.count(arm, arm, calibrated);
        }
        feedback
    }

    fn losses(&self) -> &LossAccumulator {
        &self.losses
    }

    fn finish(self, runs: u64) -> Trajectory {
        self.losses.finish(runs)
    }
}
