//! The weighted game, in which older plays count for less.

use super::{GameConfig, check, size};
use crate::game::{Game, GameError, LossCurve, Noise};
use crate::rng::Stream;

/// Losses fall with the tally, in which each play has half the weight of the next one. The loss of the best arm falls
/// by another 0.15 when it is calibrated.
///
/// In the paper: Appendix, "Weighted Tallying Bandit". The defaults are those of Figure 2a.
///
/// With v_i = 2^-i and w = v / (2 ‖v‖₁), the loss is 1 - w·y, and 1 - 1/2 - 0.15 = 0.35 for the calibrated best arm.
/// The game satisfies 0-REO.
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(default, deny_unknown_fields))]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Decay {
    /// The number of arms, K.
    #[cfg_attr(feature = "schema", schemars(range(min = 1, max = 1_000_000)))]
    pub arms: usize,
    /// How many plays in a row calibrate an arm, m; at most 1000.
    #[cfg_attr(feature = "schema", schemars(range(min = 1, max = 1000)))]
    pub memory: usize,
    /// The index of the best arm, from 0. Drawn uniformly if not given.
    #[cfg_attr(feature = "serde", serde(skip_serializing_if = "Option::is_none"))]
    pub best_arm: Option<usize>,
    /// The noise of the feedback.
    pub feedback: Noise,
}

impl Default for Decay {
    fn default() -> Self {
        Self { arms: 5, memory: 4, best_arm: None, feedback: Noise::Bernoulli }
    }
}

impl GameConfig for Decay {
    const NAME: &'static str = "decay";
    const CITATION: &'static str = "Figure 2a; Appendix, Weighted Tallying Bandit";

    fn example() -> Self {
        Self::default()
    }

    fn size(&self) -> String {
        size(self.arms, self.memory)
    }
}

impl Decay {
    /// One instance of the game.
    pub fn draw(&self, stream: &mut Stream) -> Result<Game, GameError> {
        check::arms(self.arms)?;
        check::memory("memory", self.memory, self.arms)?;
        check::halvings(self.memory)?;
        check::feedback(self.feedback)?;
        let best = check::place("best_arm", self.best_arm, self.arms, stream)?;
        let v = check::halving(self.memory);
        let norm: f64 = v.iter().sum();
        let weights = check::weights(v.iter().map(|v| v / (2.0 * norm)).collect())?;
        let usual = LossCurve::linear(1.0, -1.0);
        let arms = (0..self.arms).map(|x| {
            let curve =
                if x == best { usual.clone().when_calibrated(1.0 - weights.total() - 0.15) } else { usual.clone() };
            check::arm(x, weights.clone(), curve, self.feedback)
        });
        Game::new(arms.collect::<Result<_, _>>()?)
    }
}
