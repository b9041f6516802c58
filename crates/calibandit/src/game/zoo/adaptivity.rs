//! Theorem 2: no policy adapts to an unknown memory. The two games of its proof.
//!
//! As long as x_2 is not played `memory_bound` times in a row, the two games look the same. Drawn from equal streams
//! they have x_1 at the same place.

use super::{GameConfig, check, size};
use crate::game::{Game, GameError, LossCurve, Noise};
use crate::rng::Stream;

/// Memory 1: one arm always costs 1/2 and all others 1.
///
/// In the paper: the game tb_A of Theorem 2's proof. 0-REO.
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(default, deny_unknown_fields))]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct AdaptivityA {
    /// The number of arms, K; at least 2.
    #[cfg_attr(feature = "schema", schemars(range(min = 2, max = 1_000_000)))]
    pub arms: usize,
    /// The index of x_1, the arm that costs 1/2, from 0. Drawn uniformly if not given.
    #[cfg_attr(feature = "serde", serde(skip_serializing_if = "Option::is_none"))]
    pub best_arm: Option<usize>,
    /// The noise of the feedback; the paper's has none.
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

/// One arm always costs 1/2 and all others 1, but one of these is free once it is calibrated, which takes as many plays
/// as the memory bound.
///
/// In the paper: the game tb_B of Theorem 2's proof. Unit weights; 0-REO.
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(default, deny_unknown_fields))]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct AdaptivityB {
    /// The number of arms, K; at least 2.
    #[cfg_attr(feature = "schema", schemars(range(min = 2, max = 1_000_000)))]
    pub arms: usize,
    /// The memory of this game and what policies are told about the memory, M. The paper leaves it open.
    #[cfg_attr(feature = "schema", schemars(range(min = 1)))]
    pub memory_bound: usize,
    /// The index of x_2, the arm that is free once calibrated, from 0. Drawn uniformly among the other arms if not
    /// given.
    #[cfg_attr(feature = "serde", serde(skip_serializing_if = "Option::is_none"))]
    pub best_arm: Option<usize>,
    /// The index of x_1, the arm that costs 1/2, from 0. Drawn uniformly if not given.
    #[cfg_attr(feature = "serde", serde(skip_serializing_if = "Option::is_none"))]
    pub safe_arm: Option<usize>,
    /// The noise of the feedback; the paper's has none.
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
