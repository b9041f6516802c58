//! The two games in the proof of Theorem 2, which says that no policy adapts to an unknown memory.
//!
//! As long as x_2 is not played `memory_bound` times in a row, the two games have the same losses. Games that are drawn
//! from equal streams have x_1 at the same index.

use super::{GameConfig, check, size};
use crate::game::{Game, GameError, LossCurve, Noise};
use crate::rng::Stream;

/// The memory is 1. One arm always has the loss 1/2, and all others have the loss 1.
///
/// In the paper: the game tb_A in the proof of Theorem 2. It satisfies 0-REO.
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(default, deny_unknown_fields))]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct AdaptivityA {
    /// The number of arms, K; at least 2.
    #[cfg_attr(feature = "schema", schemars(range(min = 2, max = 1_000_000)))]
    pub arms: usize,
    /// The index of x_1, the arm with the loss 1/2, from 0. Drawn uniformly if not given.
    #[cfg_attr(feature = "serde", serde(skip_serializing_if = "Option::is_none"))]
    pub best_arm: Option<usize>,
    /// The noise of the feedback. The game in the paper has no noise.
    pub feedback: Noise,
}

impl Default for AdaptivityA {
    fn default() -> Self {
        Self { arms: 2, best_arm: None, feedback: Noise::None }
    }
}

impl GameConfig for AdaptivityA {
    const NAME: &'static str = "adaptivity-a";
    const CITATION: &'static str = "Proof of Theorem 2, the game tb_A";

    fn example() -> Self {
        Self::default()
    }

    fn size(&self) -> String {
        size(self.arms, 1)
    }
}

impl AdaptivityA {
    /// One instance of the game.
    pub fn draw(&self, stream: &mut Stream) -> Result<Game, GameError> {
        check::two_arms(self.arms)?;
        check::feedback(self.feedback)?;
        let best = check::place("best_arm", self.best_arm, self.arms, stream)?;
        let weights = check::weights(vec![1.0])?;
        let arms = (0..self.arms).map(|x| {
            let curve = LossCurve::constant(if x == best { 0.5 } else { 1.0 });
            check::arm(x, weights.clone(), curve, self.feedback)
        });
        Game::new(arms.collect::<Result<_, _>>()?)
    }
}

/// One arm always has the loss 1/2, and all others have the loss 1, except that one of them has the loss 0 when it is
/// calibrated. The memory is the memory bound.
///
/// In the paper: the game tb_B in the proof of Theorem 2. The weights are 1. It satisfies 0-REO.
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(default, deny_unknown_fields))]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct AdaptivityB {
    /// The number of arms, K; at least 2.
    #[cfg_attr(feature = "schema", schemars(range(min = 2, max = 1_000_000)))]
    pub arms: usize,
    /// The memory of this game, which is also the memory bound that policies are told, M. The paper does not fix it.
    #[cfg_attr(feature = "schema", schemars(range(min = 1)))]
    pub memory_bound: usize,
    /// The index of x_2, the arm with the loss 0 when calibrated, from 0. Drawn uniformly among the other arms if not
    /// given.
    #[cfg_attr(feature = "serde", serde(skip_serializing_if = "Option::is_none"))]
    pub best_arm: Option<usize>,
    /// The index of x_1, the arm with the loss 1/2, from 0. Drawn uniformly if not given.
    #[cfg_attr(feature = "serde", serde(skip_serializing_if = "Option::is_none"))]
    pub safe_arm: Option<usize>,
    /// The noise of the feedback. The game in the paper has no noise.
    pub feedback: Noise,
}

impl Default for AdaptivityB {
    fn default() -> Self {
        Self { arms: 2, memory_bound: 100, best_arm: None, safe_arm: None, feedback: Noise::None }
    }
}

impl GameConfig for AdaptivityB {
    const NAME: &'static str = "adaptivity-b";
    const CITATION: &'static str = "Proof of Theorem 2, the game tb_B";

    fn example() -> Self {
        Self::default()
    }

    fn size(&self) -> String {
        size(self.arms, self.memory_bound)
    }
}

impl AdaptivityB {
    /// One instance of the game.
    pub fn draw(&self, stream: &mut Stream) -> Result<Game, GameError> {
        check::two_arms(self.arms)?;
        check::memory("memory_bound", self.memory_bound, self.arms)?;
        check::feedback(self.feedback)?;
        let given = [self.safe_arm, self.best_arm];
        let [safe, best] = check::place_two(["safe_arm", "best_arm"], given, self.arms, stream)?;
        let weights = check::weights(vec![1.0; self.memory_bound])?;
        let arms = (0..self.arms).map(|x| {
            let curve = match x {
                x if x == safe => LossCurve::constant(0.5),
                x if x == best => LossCurve::constant(1.0).when_calibrated(0.0),
                _ => LossCurve::constant(1.0),
            };
            check::arm(x, weights.clone(), curve, self.feedback)
        });
        Game::new(arms.collect::<Result<_, _>>()?)
    }
}
