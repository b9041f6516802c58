//! Playing by the game's own window: step by step as the definitions say, and leaping where losses have no levels.

use super::ledger::Ledger;
use super::{Engine, Play, Trajectory};
use crate::{Feedback, Game, Stream, Window};

/// A game being played, with its window.
pub(super) struct Table<'a> {
    game: &'a Game,
    engine: Engine,
    window: Window,
    ledger: Ledger,
    noise: &'a mut Stream,
}

impl<'a> Table<'a> {
    pub(super) fn new(game: &'a Game, engine: Engine, times: Vec<u64>, noise: &'a mut Stream) -> Self {
        Self { game, engine, window: game.empty_window(), ledger: Ledger::new(game, None, times), noise }
    }

    /// How many of so many plays of an arm are made one by one: as the definitions say, all; when leaping, those before it
    /// is calibrated.
    fn singly(&self, arm: usize, plays: u64) -> u64 {
        if self.engine == Engine::Stepwise {
            return plays;
        }
        let streak = if self.window.newest() == Some(arm) { self.window.streak() } else { 0 };
        plays.min((self.game.arms()[arm].memory() - 1).saturating_sub(streak) as u64)
    }
}

impl Play for Table<'_> {
    fn run(&mut self, arm: usize, burn_in: u64, record: u64) -> Feedback {
        let plays = burn_in + record;
        let singly = self.singly(arm, plays);
        let Table { game, engine, window, ledger, noise: stream } = self;
        let noise = game.arms()[arm].noise();
        let mut feedback = Feedback::default();
        for play in 0..singly {
            let loss = game.play(arm, window);
            ledger.one(arm, loss);
            let recorded = play >= burn_in;
            // By the definitions, what is ignored is drawn as well; leaping has no need to.
            if recorded || *engine == Engine::Stepwise {
                let observed = Feedback::one(noise.draw(loss, stream));
                feedback += if recorded { observed } else { Feedback::default() };
            }
        }
        let calibrated = plays - singly;
        if calibrated > 0 {
            let recorded = calibrated.min(record);
            feedback += noise.draw_many(game.arms()[arm].eventual_loss(), recorded, stream);
            window.push_many(arm, calibrated);
            ledger.count(arm, arm, calibrated);
        }
        feedback
    }

    fn arms(&self) -> usize {
        self.game.arms().len()
    }

    fn ledger(&self) -> &Ledger {
        &self.ledger
    }

    fn finish(self, runs: u64) -> Trajectory {
        self.ledger.finish(runs)
    }
}
