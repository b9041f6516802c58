//! The dart throwing tournament.

use super::{GameConfig, Span, check, size};
use crate::game::{Game, GameError, LossCurve, Noise};
use crate::rng::Stream;

/// A first toss misses more often than the tosses right after it. The two losses of every player are drawn at random.
///
/// In the paper: Numerical Results, "Simulated Dart Throwing Tournament", Figure 2b. The memory is 2. The
/// game satisfies 0-REO if no first toss can be better than every calibrated one, as with the default ranges.
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(default, deny_unknown_fields))]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Darts {
    /// The number of players, K.
    #[cfg_attr(feature = "schema", schemars(range(min = 1, max = 1_000_000)))]
    pub arms: usize,
    /// The range from which the loss of each player on a first toss is drawn uniformly: a pair [low, high], or one
    /// number.
    pub first_toss: Span<f64>,
    /// The range from which the loss of each player on the tosses right after it is drawn uniformly: a pair
    /// [low, high], or one number.
    pub calibrated: Span<f64>,
    /// The noise of the feedback.
    pub feedback: Noise,
}

impl Default for Darts {
    fn default() -> Self {
        Self {
            arms: 20,
            first_toss: Span::Between([0.68, 0.72]),
            calibrated: Span::Between([0.58, 0.62]),
            feedback: Noise::Bernoulli,
        }
    }
}

impl GameConfig for Darts {
    const NAME: &'static str = "darts";
    const CITATION: &'static str = "Numerical Results, Simulated Dart Throwing Tournament; Figure 2b";

    fn example() -> Self {
        Self::default()
    }

    fn size(&self) -> String {
        size(self.arms, 2)
    }

    fn is_random(&self) -> bool {
        self.first_toss.is_random() || self.calibrated.is_random()
    }
}

impl Darts {
    /// One instance of the tournament.
    pub fn draw(&self, stream: &mut Stream) -> Result<Game, GameError> {
        check::arms(self.arms)?;
        self.first_toss.check("first_toss")?;
        self.calibrated.check("calibrated")?;
        check::feedback(self.feedback)?;
        let weights = check::weights(vec![1.0; 2])?;
        let arms = (0..self.arms).map(|x| {
            let curve = LossCurve::by_plays([self.first_toss.draw(stream), self.calibrated.draw(stream)]);
            check::arm(x, weights.clone(), curve, self.feedback)
        });
        Game::new(arms.collect::<Result<_, _>>()?)
    }
}
