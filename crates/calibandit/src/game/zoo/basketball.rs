//! The basketball example.

use super::{GameConfig, check, size};
use crate::game::{Game, GameError, Linear, LossCurve, Noise};
use crate::rng::Stream;

/// Two players shoot free throws. Each shot improves the next shots of the same player; older shots count less.
///
/// In the paper: Section 2, "Weighted Tallying Bandit". The paper gives the weights [1, 1/2, 1/4] and the loss 1 - z/3
/// of one player at tally z. The other player is added here, with the loss 0.65 - z/10: better on a first shot (0.55
/// against 0.667) and worse when both are calibrated (0.475 against 0.417), so that a policy without burn-in chooses
/// the wrong player. It satisfies 0-REO.
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(default, deny_unknown_fields))]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Basketball {
    /// How much a shot counts, newest first, each in (0, 1]; their number is the memory.
    pub weights: Vec<f64>,
    /// The loss of the paper's player as a function of the tally.
    pub first: Linear,
    /// The loss of the other player as a function of the tally.
    pub second: Linear,
    /// The index, 0 or 1, of the player with the smaller eventual loss (the first if they are equal). Drawn uniformly
    /// if not given.
    #[cfg_attr(feature = "serde", serde(skip_serializing_if = "Option::is_none"))]
    #[cfg_attr(feature = "schema", schemars(range(max = 1)))]
    pub best_arm: Option<usize>,
    /// The noise of the feedback. By default a loss is 0 (a hit) or 1 (a miss).
    pub feedback: Noise,
}

impl Default for Basketball {
    fn default() -> Self {
        Self {
            weights: vec![1.0, 0.5, 0.25],
            first: Linear { intercept: 1.0, slope: -1.0 / 3.0 },
            second: Linear { intercept: 0.65, slope: -0.1 },
            best_arm: None,
            feedback: Noise::Bernoulli,
        }
    }
}

impl GameConfig for Basketball {
    const NAME: &'static str = "basketball";
    const CITATION: &'static str = "Section 2, Weighted Tallying Bandit";

    fn example() -> Self {
        Self::default()
    }

    fn size(&self) -> String {
        size(2, self.weights.len())
    }
}

impl Basketball {
    /// One instance, with the players in a drawn order.
    pub fn draw(&self, stream: &mut Stream) -> Result<Game, GameError> {
        check::memory("weights", self.weights.len(), 2)?;
        check::feedback(self.feedback)?;
        let best = check::place("best_arm", self.best_arm, 2, stream)?;
        let weights = check::weights(self.weights.clone())?;
        let player = |x, line: Linear| {
            check::arm(x, weights.clone(), LossCurve::linear(line.intercept, line.slope), self.feedback)
        };
        let mut arms = vec![player(0, self.first)?, player(1, self.second)?];
        let better = usize::from(arms[1].eventual_loss() < arms[0].eventual_loss());
        if better != best {
            arms.swap(0, 1);
        }
        Game::new(arms)
    }
}
