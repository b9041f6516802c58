//! The game of Proposition 1: without repeated exposure optimality, learning can take 2^m plays.

use rand::RngExt;

use super::{GameConfig, check, size};
use crate::game::{Game, GameError, LossCurve, Noise};
use crate::rng::Stream;

/// A game with two arms. A play of one of them has the loss 0 after one pattern of plays, which is drawn among
/// 2^(m-1); every other play has the loss 1.
///
/// In the paper: Proposition 1 and its proof.
///
/// The weights are 2^-i, so that no two windows have the same tally. The memory is at most 50, so that tallies are
/// exact. No policy can find the pattern in much less than 2^m plays. The game does not satisfy repeated exposure
/// optimality (alpha = 1), unless the pattern that is drawn is the calibrated window.
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(default, deny_unknown_fields))]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Needle {
    /// The memory m, from 1 to 50. The paper does not fix it.
    #[cfg_attr(feature = "schema", schemars(range(min = 1, max = 50)))]
    pub memory: usize,
    /// The index, 0 or 1, of the arm x_2 that can have the loss 0. Drawn uniformly if not given.
    #[cfg_attr(feature = "serde", serde(skip_serializing_if = "Option::is_none"))]
    #[cfg_attr(feature = "schema", schemars(range(max = 1)))]
    pub best_arm: Option<usize>,
    /// The noise of the feedback. The game in the paper has no noise.
    pub feedback: Noise,
}

impl Default for Needle {
    fn default() -> Self {
        Self { memory: 8, best_arm: None, feedback: Noise::None }
    }
}

impl GameConfig for Needle {
    const NAME: &'static str = "needle";
    const CITATION: &'static str = "Proposition 1 and its proof";

    fn example() -> Self {
        Self::default()
    }

    fn size(&self) -> String {
        size(2, self.memory)
    }

    fn is_random(&self) -> bool {
        self.memory > 1
    }
}

impl Needle {
    /// One instance, with a pattern y* drawn uniformly.
    pub fn draw(&self, stream: &mut Stream) -> Result<Game, GameError> {
        if !(1..=50).contains(&self.memory) {
            let expected = "from 1 to 50, so that tallies are exact";
            return Err(GameError::Parameter { parameter: "memory", value: self.memory as f64, expected });
        }
        check::feedback(self.feedback)?;
        let best = check::place("best_arm", self.best_arm, 2, stream)?;
        let weights = check::weights(check::halving(self.memory))?;
        let pattern: u64 = stream.random();
        let window = (0..self.memory).map(|age| age == 0 || pattern >> (age - 1) & 1 == 1);
        let needle = LossCurve::needle(weights.tally(window), 0.0, 1.0);
        let mut curves = [LossCurve::constant(1.0), LossCurve::constant(1.0)];
        curves[best] = needle;
        let arms =
            curves.into_iter().enumerate().map(|(x, curve)| check::arm(x, weights.clone(), curve, self.feedback));
        Game::new(arms.collect::<Result<_, _>>()?)
    }
}
