//! The fifteen rising arms of Metelli et al. 2022.

use super::{GameConfig, check};
use crate::game::{ExponentialApproach, Formula, Game, GameError, LossCurve, Noise, RationalApproach, RewardRange};
use crate::math;
use crate::rng::Stream;

/// Fifteen rising arms with different levels and speeds.
///
/// Rewards after x plays of the arm (0 at the first one) are `c (1 - b / (x + b^(1/rho))^rho)` for the first ten arms
/// and `c (1 - exp(-a x / b))` for the other five, with the constants of the source's code; losses are `1 - reward`.
/// The arm with c = 1.08 exceeds 1 after about 6,400 plays: its reward is cut at 1 here. The source has T = 50,000.
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(default, deny_unknown_fields))]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct RisingFifteen {
    /// The noise of the feedback.
    pub feedback: Noise,
}

impl Default for RisingFifteen {
    fn default() -> Self {
        Self { feedback: Noise::Normal { sd: 0.1 } }
    }
}

/// c, b, b inside the power, rho.
const RATIONAL: [[f64; 4]; 10] = [
    [1.0, 177.0, 177.0, 0.8],
    [0.91, 571.0, 571.0, 0.9],
    [0.48, 144.0, 144.0, 1.0],
    [0.43, 195.0, 199.0, 0.9],
    [0.79, 695.0, 695.0, 0.9],
    [0.37, 290.0, 290.0, 1.0],
    [0.17, 223.0, 223.0, 1.0],
    [1.08, 85.0, 85.0, 0.8],
    [0.84, 219.0, 219.0, 1.0],
    [0.26, 124.0, 124.0, 0.9],
];

/// c, a, b.
const EXPONENTIAL: [[f64; 3]; 5] =
    [[0.73, 3.0, 162.0], [0.16, 3.0, 949.0], [0.62, 1.0, 271.0], [0.23, 1.0, 849.0], [0.39, 5.0, 457.0]];

impl GameConfig for RisingFifteen {
    const NAME: &'static str = "rising-fifteen";
    const CITATION: &'static str = "Metelli, Trovo, Pirola, Restelli (ICML 2022), the experiment with 15 arms";

    fn example() -> Self {
        Self::default()
    }

    fn size(&self) -> String {
        "K = 15".to_owned()
    }

    fn rewards(&self) -> Option<RewardRange> {
        Some(RewardRange::UNIT)
    }
}

impl RisingFifteen {
    /// The game: the same for every stream.
    pub fn draw(&self, _stream: &mut Stream) -> Result<Game, GameError> {
        check::feedback(self.feedback)?;
        let rational = RATIONAL.iter().map(|&[c, b, inside, rho]| {
            let end = 1.0 - c;
            // b / (x + s)^rho = (b / inside) (s / (x + s))^rho with s = inside^(1/rho).
            let scale = math::powf(inside, 1.0 / rho);
            let start = end + c * (b / inside);
            Formula::Rational(RationalApproach { start, end, scale, exponent: rho, clipped: c > 1.0, first: 0 })
        });
        let exponential = EXPONENTIAL.iter().map(|&[c, a, b]| {
            Formula::Exponential(ExponentialApproach { start: 1.0, end: 1.0 - c, rate: a / b, first: 0 })
        });
        check::rested(rational.chain(exponential).map(LossCurve::formula), self.feedback)
    }
}
