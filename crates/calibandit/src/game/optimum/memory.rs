//! Estimates of memory before it is used.

use super::Optima;
use super::exploration;
use super::search::Search;
use crate::game::Game;

impl Optima<'_> {
    /// About how many bytes the optimum at `horizon` takes at most, beside the game itself. It is far more than what is
    /// really needed for many games, but never far less: an estimate above [`Limits::bytes`](super::Limits::bytes) is
    /// not possible, because computations that need more are refused.
    ///
    /// The cheap part of the work is done for it, and kept: most games in which staying with one arm is best are solved
    /// there, and take next to nothing.
    ///
    /// ```
    /// use calibandit::{Arm, Game, LossCurve, Noise, Optima, Weights};
    /// let arm = |losses: Vec<f64>| Arm::new(Weights::unit(losses.len())?, LossCurve::by_plays(losses), Noise::None);
    /// // Better with every play: solved without a search.
    /// let falling = (0..1000).map(|plays| 0.9 - 0.0005 * f64::from(plays)).collect();
    /// let game = Game::new(vec![arm(falling)?, arm(vec![0.6; 1000])?])?;
    /// assert!(Optima::new(&game).memory_estimate(1_000_000) < 1_000_000);
    /// // Better in doses: the graph has 2^20 states or more.
    /// let dosed = (0..22).map(|plays| if plays == 10 { 0.1 } else { 0.5 }).collect();
    /// let game = Game::new(vec![arm(dosed)?, arm(vec![0.4; 22])?])?;
    /// assert!(Optima::new(&game).memory_estimate(1_000_000) > 100_000_000);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn memory_estimate(&mut self, horizon: u64) -> u64 {
        if let Some(rested) = &self.rested {
            return rested.memory_estimate(horizon);
        }
        let space = &self.space;
        let arms: usize = space.classes.iter().map(|class| space.game().arms()[class[0]].memory() + 1).sum();
        let base = (3 * arms * size_of::<i128>() + space.game().arms().len() * PER_ARM) as u64;
        if self.is_solved_cheaply(horizon) {
            return base;
        }
        let space = &self.space;
        let states = space.states_at_most().min(2 * self.limits.states as u128);
        let graph = exploration::memory_estimate(space, states, space.actions_at_most());
        let nodes = u128::from(self.limits.windows) * space.actions_at_most() as u128;
        let search = nodes * Search::bytes_per_node(space) as u128;
        base + u64::try_from(graph.max(search)).unwrap_or(u64::MAX).min(self.limits.bytes)
    }
}

/// The memory of an arm in the interchangeability classes.
const PER_ARM: usize = 64;

impl Game {
    /// About how many bytes one simulated instance of this game takes: the game itself, the loss table of the engine,
    /// and the state of a policy. Not counted is the optimum, see [`Optima::memory_estimate`].
    ///
    /// ```
    /// use calibandit::{Arm, Game, LossCurve, Noise, Weights};
    /// let arm = Arm::new(Weights::unit(1000)?, LossCurve::constant(0.5).when_calibrated(0.3), Noise::Bernoulli)?;
    /// let game = Game::new(vec![arm; 100])?;
    /// // 100,000 weights of 8 bytes, and as many rows of the table.
    /// assert!((1_000_000..10_000_000).contains(&game.memory_estimate()));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn memory_estimate(&self) -> u64 {
        let arms: u64 = self.arms().iter().map(|arm| arm.memory_estimate()).sum();
        arms + crate::simulate::memory_estimate(self)
    }
}
