//! The improving games of Heidari, Kearns and Roth 2016.

use super::{GameConfig, check};
use crate::game::{Formula, Game, GameError, LossCurve, Noise, PowerCurve, Ramp, RewardRange};
use crate::rng::Stream;

/// Two improving arms: one that is better in the end, and one that may be better for long.
///
/// Rewards at the n-th play (losses are `1 - reward`), with a for `exponent`:
///
/// - variant 1: `1 - n^-0.5` and `0.5 - 0.5 n^-a`;
/// - variant 2: `min(1, n / 1000)` and `min(0.5, 0.5 (n / 1000)^a)`;
/// - variant 3: `1 - n^-0.1` and `0.5 - 0.5 n^-a`.
///
/// They are the games `inc_1` to `inc_3` in the code of Lindner et al. 2021, with T = 10,000 and without noise. Which
/// arm is best depends on the horizon: at T = 1000 it is the second one of variant 3 if a is at least 0.5.
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(default, deny_unknown_fields))]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Improving {
    /// Which of the three games.
    #[cfg_attr(feature = "schema", schemars(range(min = 1, max = 3)))]
    pub variant: u32,
    /// The exponent of the second arm. The source has 0.1, 0.5, 1 and 5, and 0.03, 0.1, 0.4 and 1 for variant 2.
    #[cfg_attr(feature = "schema", schemars(extend("exclusiveMinimum" = 0)))]
    pub exponent: f64,
    /// The noise of the feedback.
    pub feedback: Noise,
}

impl Default for Improving {
    fn default() -> Self {
        Self { variant: 1, exponent: 0.5, feedback: Noise::None }
    }
}

impl GameConfig for Improving {
    const NAME: &'static str = "improving";
    const CITATION: &'static str =
        "Heidari, Kearns, Roth (IJCAI 2016), as coded by Lindner, Heidari, Krause (IJCAI 2021)";

    fn example() -> Self {
        Self::default()
    }

    fn size(&self) -> String {
        format!("variant {}, a = {}", self.variant, self.exponent)
    }

    fn rewards(&self) -> Option<RewardRange> {
        Some(RewardRange::UNIT)
    }
}

impl Improving {
    /// The game: the same for every stream.
    pub fn draw(&self, _stream: &mut Stream) -> Result<Game, GameError> {
        check::variant(self.variant)?;
        check::positive("exponent", self.exponent)?;
        check::feedback(self.feedback)?;
        let power = |limit, scale, exponent| {
            LossCurve::formula(Formula::Power(PowerCurve { limit, scale, exponent, every: 1 }))
        };
        let ramp = |end, exponent| {
            LossCurve::formula(Formula::Ramp(Ramp { start: 1.0, end, plays: 1000.0, exponent, first: 1 }))
        };
        let slow = power(0.5, 0.5, self.exponent);
        let curves = match self.variant {
            1 => [power(0.0, 1.0, 0.5), slow],
            2 => [ramp(0.0, 1.0), ramp(0.5, self.exponent)],
            _ => [power(0.0, 1.0, 0.1), slow],
        };
        check::rested(curves, self.feedback)
    }
}
