//! The unweighted step game.

use super::{GameConfig, check, size};
use crate::game::{Game, GameError, LossCurve, Noise};
use crate::rng::Stream;

/// Every play has the same loss, except that the best arm has a smaller one when it is calibrated. The weights are 1.
///
/// In the paper: Numerical Results, "Synthetic Loss Functions on Unweighted Tallying Bandit", and its appendix. It
/// satisfies 0-REO. The defaults are those of Figure 1a.
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(default, deny_unknown_fields))]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Step {
    /// The number of arms, K.
    #[cfg_attr(feature = "schema", schemars(range(min = 1, max = 1_000_000)))]
    pub arms: usize,
    /// How many plays in a row calibrate an arm, m.
    #[cfg_attr(feature = "schema", schemars(range(min = 1)))]
    pub memory: usize,
    /// The loss of every play except those of the calibrated best arm.
    #[cfg_attr(feature = "schema", schemars(range(min = 0.0, max = 1.0)))]
    pub usual_loss: f64,
    /// The loss of the calibrated best arm, at most `usual_loss`.
    #[cfg_attr(feature = "schema", schemars(range(min = 0.0, max = 1.0)))]
    pub best_loss: f64,
    /// The index of the best arm, from 0. Drawn uniformly if not given.
    #[cfg_attr(feature = "serde", serde(skip_serializing_if = "Option::is_none"))]
    pub best_arm: Option<usize>,
    /// The noise of the feedback.
    pub feedback: Noise,
}

impl Default for Step {
    fn default() -> Self {
        Self { arms: 5, memory: 3, usual_loss: 0.5, best_loss: 0.35, best_arm: None, feedback: Noise::Bernoulli }
    }
}

impl GameConfig for Step {
    const NAME: &'static str = "step";
    const CITATION: &'static str =
        "Numerical Results, Synthetic Loss Functions on Unweighted Tallying Bandit; Figure 1";

    fn example() -> Self {
        Self::default()
    }

    fn size(&self) -> String {
        size(self.arms, self.memory)
    }
}

impl Step {
    /// One instance of the game.
    pub fn draw(&self, stream: &mut Stream) -> Result<Game, GameError> {
        check::arms(self.arms)?;
        check::memory("memory", self.memory, self.arms)?;
        check_losses(self.usual_loss, self.best_loss)?;
        check::feedback(self.feedback)?;
        let best = check::place("best_arm", self.best_arm, self.arms, stream)?;
        let weights = check::weights(vec![1.0; self.memory])?;
        let usual = LossCurve::constant(self.usual_loss);
        let arms = (0..self.arms).map(|x| {
            let curve = if x == best { usual.clone().when_calibrated(self.best_loss) } else { usual.clone() };
            check::arm(x, weights.clone(), curve, self.feedback)
        });
        Game::new(arms.collect::<Result<_, _>>()?)
    }
}

pub(super) fn check_losses(usual: f64, best: f64) -> Result<(), GameError> {
    check::loss("usual_loss", usual)?;
    check::between("best_loss", best, 0.0, usual, "a number from 0 to `usual_loss`")
}
