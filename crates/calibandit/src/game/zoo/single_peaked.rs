//! The single-peaked games of Lindner, Heidari and Krause 2021.

use super::{GameConfig, check};
use crate::game::{Formula, Game, GameError, LossCurve, Noise, PeakCurve, RewardRange};
use crate::rng::Stream;

/// Two arms whose rewards rise to a peak and then fall.
///
/// The reward at the n-th play is `a exp(-k1 (n - l)) + (c2 - c1) / (exp(-(k1 + k2) (n - l)) + 1) + c1`, with the
/// constants of `inc_dec_1` to `inc_dec_3` in the code of the source; losses are `1 - reward`. The source has T up to
/// 20,000, no noise, or normal noise with the standard deviations 0.01, 0.05 and 0.1. The first arm of variant 2 only
/// gets worse.
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(default, deny_unknown_fields))]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct SinglePeaked {
    /// Which of the three games. Figure 1 of the source has the third.
    #[cfg_attr(feature = "schema", schemars(range(min = 1, max = 3)))]
    pub variant: u32,
    /// The noise of the feedback.
    pub feedback: Noise,
}

impl Default for SinglePeaked {
    fn default() -> Self {
        Self { variant: 1, feedback: Noise::None }
    }
}

impl GameConfig for SinglePeaked {
    const NAME: &'static str = "single-peaked";
    const CITATION: &'static str =
        "Lindner, Heidari, Krause (IJCAI 2021), the games inc_dec_1 to inc_dec_3 of their code";

    fn example() -> Self {
        Self::default()
    }

    fn size(&self) -> String {
        format!("variant {}", self.variant)
    }

    fn rewards(&self) -> Option<RewardRange> {
        Some(RewardRange::UNIT)
    }
}

impl SinglePeaked {
    /// The game: the same for every stream.
    pub fn draw(&self, _stream: &mut Stream) -> Result<Game, GameError> {
        check::variant(self.variant)?;
        check::feedback(self.feedback)?;
        // k1, k2, c1, c2, l, a.
        let arms = match self.variant {
            1 => [[0.01, 0.001, 1.0, 0.05, 600.0, -0.0015], [0.009, 0.0009, 0.8, 0.1, 500.0, -0.005]],
            2 => [[0.003, 0.001, 1.0, 0.05, 600.0, -0.0015], [0.011, 0.001, 0.8, 0.2, 400.0, -0.008]],
            _ => [[0.01, 0.001, 1.0, 0.5, 600.0, -0.0015], [0.009, 0.0009, 0.8, 0.6, 500.0, -0.005]],
        };
        let curves = arms.map(|[fall, rise, before, after, centre, height]| {
            let (before, after) = (1.0 - before, 1.0 - after);
            LossCurve::formula(Formula::Peak(PeakCurve {
                before,
                after,
                height: -height,
                fall,
                rise,
                centre,
                first: 1,
            }))
        });
        check::rested(curves, self.feedback)
    }
}
