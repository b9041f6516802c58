//! The two rising arms of Metelli et al. 2022.

use super::{GameConfig, check};
use crate::game::{Formula, Game, GameError, LossCurve, Noise, Ramp, RationalApproach, RewardRange};
use crate::rng::Stream;

/// Two rising arms: one that is soon as good as it gets, and a late bloomer.
///
/// Rewards after x plays of the arm (0 at the first one) are `0.4 x / (x + 500)` and `min(1, x / 25000)`; losses are
/// `1 - reward`. The source has T = 50,000, where the second arm is best.
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(default, deny_unknown_fields))]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct RisingTwo {
    /// The noise of the feedback.
    pub feedback: Noise,
}

impl Default for RisingTwo {
    fn default() -> Self {
        Self { feedback: Noise::Normal { sd: 0.1 } }
    }
}

impl GameConfig for RisingTwo {
    const NAME: &'static str = "rising-two";
    const CITATION: &'static str = "Metelli, Trovo, Pirola, Restelli (ICML 2022), the experiment with 2 arms";

    fn example() -> Self {
        Self::default()
    }

    fn size(&self) -> String {
        "K = 2".to_owned()
    }

    fn rewards(&self) -> Option<RewardRange> {
        Some(RewardRange::UNIT)
    }
}

impl RisingTwo {
    /// The game: the same for every stream.
    pub fn draw(&self, _stream: &mut Stream) -> Result<Game, GameError> {
        check::feedback(self.feedback)?;
        let soon = RationalApproach { start: 1.0, end: 0.6, scale: 500.0, exponent: 1.0, clipped: false, first: 0 };
        let late = Ramp { start: 1.0, end: 0.0, plays: 25_000.0, exponent: 1.0, first: 0 };
        let curves = [Formula::Rational(soon), Formula::Ramp(late)];
        check::rested(curves.map(LossCurve::formula), self.feedback)
    }
}
