//! The game that satisfies repeated exposure optimality only up to an alpha.

use super::{GameConfig, check, size};
use crate::game::{Game, GameError, LossCurve, Noise};
use crate::rng::Stream;

/// Losses fall with the number of plays; the best arm drops by 0.15 more when calibrated, and one play of a decoy
/// after a rest is better than all else. Weights 1/(4m).
///
/// In the paper: Appendix, "Unweighted Tallying Bandit", the game of its last figure; the defaults are that figure's.
///
/// With k plays of an arm in the window its loss is 1 - k/(4m); the calibrated best arm x* has 0.6; the decoy x**,
/// when the play is its only one in the window, has 1 - 1/(4m) - (m-1)/(2m) - 0.2 = 0.3 + 1/(4m). All of these lie in
/// [0, 1] for every m. By the definition of REO, for m of at least 2,
///
/// `alpha = max{0, 0.6 - (0.3 + 1/(4m))} = max{0, -0.2 + (2m-1)/(4m)}`,
///
/// which is 0.2375 for m = 4. The paper prints (2m-3)/(4m) in place of (2m-1)/(4m), and so 0.1125: that is not what its
/// own definition gives.
///
/// Memory 1 is refused: there the decoy's only play is also a calibrated one, so that the decoy would be the best arm.
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
