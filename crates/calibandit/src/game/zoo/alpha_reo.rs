//! The game that satisfies repeated exposure optimality only up to an alpha.

use super::{GameConfig, check, size};
use crate::game::{Game, GameError, LossCurve, Noise};
use crate::rng::Stream;

/// Losses fall with the number of plays. The loss of the best arm falls by another 0.15 when it is calibrated. A single
/// play of another arm, the decoy, has the least loss of all if the decoy was not played within the memory.
///
/// In the paper: Appendix, "Unweighted Tallying Bandit", the game of its last figure. The defaults are those of that
/// figure.
///
/// The weights are 1/(4m). With k plays in the window, the loss of an arm is 1 - k/(4m). The calibrated best arm x* has
/// the loss 0.6. The decoy x** has the loss 1 - 1/(4m) - (m-1)/(2m) - 0.2 = 0.3 + 1/(4m) if the play is its only one in
/// the window. All of these lie in [0, 1] for every m. By the definition of REO, for m of at least 2,
///
/// `alpha = max{0, 0.6 - (0.3 + 1/(4m))} = max{0, -0.2 + (2m-1)/(4m)}`,
///
/// which is 0.2375 for m = 4. The paper prints (2m-3)/(4m) instead of (2m-1)/(4m), which gives 0.1125; this does not
/// follow from its own definition.
///
/// Memory 1 is refused: the only play of the decoy would also be a calibrated one, and the decoy would be the best arm.
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(default, deny_unknown_fields))]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct AlphaReo {
    /// The number of arms, K; at least 2.
    #[cfg_attr(feature = "schema", schemars(range(min = 2, max = 1_000_000)))]
    pub arms: usize,
    /// How many plays in a row calibrate an arm, m; at least 2.
    #[cfg_attr(feature = "schema", schemars(range(min = 2)))]
    pub memory: usize,
    /// The index of the best arm x*, from 0. Drawn uniformly if not given.
    #[cfg_attr(feature = "serde", serde(skip_serializing_if = "Option::is_none"))]
    pub best_arm: Option<usize>,
    /// The index of the decoy x**, from 0. Drawn uniformly among the other arms if not given.
    #[cfg_attr(feature = "serde", serde(skip_serializing_if = "Option::is_none"))]
    pub decoy_arm: Option<usize>,
    /// The noise of the feedback.
    pub feedback: Noise,
}

impl Default for AlphaReo {
    fn default() -> Self {
        Self { arms: 5, memory: 4, best_arm: None, decoy_arm: None, feedback: Noise::Bernoulli }
    }
}

impl GameConfig for AlphaReo {
    const NAME: &'static str = "alpha-reo";
    const CITATION: &'static str = "Appendix, Unweighted Tallying Bandit";

    fn example() -> Self {
        Self::default()
    }

    fn size(&self) -> String {
        size(self.arms, self.memory)
    }
}

impl AlphaReo {
    /// One instance of the game.
    pub fn draw(&self, stream: &mut Stream) -> Result<Game, GameError> {
        check::two_arms(self.arms)?;
        if self.memory < 2 {
            let expected = "at least 2, or else the decoy's single play is calibrated and the decoy the best arm";
            return Err(GameError::Parameter { parameter: "memory", value: self.memory as f64, expected });
        }
        check::memory("memory", self.memory, self.arms)?;
        check::feedback(self.feedback)?;
        let given = [self.best_arm, self.decoy_arm];
        let [best, decoy] = check::place_two(["best_arm", "decoy_arm"], given, self.arms, stream)?;
        let m = self.memory as f64;
        let weights = check::weights(vec![1.0 / (4.0 * m); self.memory])?;
        let usual = LossCurve::linear(1.0, -1.0);
        let arms = (0..self.arms).map(|x| {
            let mut curve = usual.clone();
            if x == best {
                curve = curve.when_calibrated(1.0 - weights.total() - 0.15);
            }
            if x == decoy {
                curve = curve.when_alone(1.0 - weights.as_slice()[0] - (m - 1.0) / (2.0 * m) - 0.2);
            }
            check::arm(x, weights.clone(), curve, self.feedback)
        });
        Game::new(arms.collect::<Result<_, _>>()?)
    }
}
