//! Two arms, one of which falls from good to bad once: Figure 1 of Seznec et al. 2019.

use super::{GameConfig, check};
use crate::game::{Game, GameError, LossCurve, RewardRange};
use crate::rng::Stream;

/// A rotting arm that is good for its first plays and bad afterwards, and an arm in the middle between both.
///
/// Rewards of the first arm are `gap / 2`, then `-gap / 2`; those of the second are 0. Here they are losses: a reward r
/// is the loss 1/2 - r / gap, so that the first arm has the losses 0 and 1, the second 1/2, and the noise has the
/// standard deviation `sd / gap`. A regret times `gap` is one of rewards. The defaults are one panel of the figure
/// (`gap` = 0.02 · 1.25^11, T = 10,000). The order of the arms is that of the source.
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(default, deny_unknown_fields))]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct RottingTwo {
    /// The difference of the two rewards of the rotting arm, L.
    #[cfg_attr(feature = "schema", schemars(extend("exclusiveMinimum" = 0)))]
    pub gap: f64,
    /// The number of good plays: T / 4 + 1 in the source, which tests `plays before <= T / 4`.
    #[cfg_attr(feature = "schema", schemars(range(min = 1)))]
    pub plays: u64,
    /// The standard deviation of rewards; 0 for none.
    #[cfg_attr(feature = "schema", schemars(range(min = 0.0)))]
    pub sd: f64,
}

impl Default for RottingTwo {
    fn default() -> Self {
        Self { gap: 0.233, plays: 2501, sd: 1.0 }
    }
}

impl GameConfig for RottingTwo {
    const NAME: &'static str = "rotting-two";
    const CITATION: &'static str = "Seznec, Locatelli, Carpentier, Lazaric, Valko (AISTATS 2019), Figure 1";

    fn example() -> Self {
        Self::default()
    }

    fn size(&self) -> String {
        format!("L = {}", self.gap)
    }

    fn rewards(&self) -> Option<RewardRange> {
        RewardRange::new(-self.gap / 2.0, self.gap / 2.0).ok()
    }
}

impl RottingTwo {
    /// The game: the same for every stream.
    pub fn draw(&self, _stream: &mut Stream) -> Result<Game, GameError> {
        check::positive("gap", self.gap)?;
        let noise = check::scaled_noise("sd", self.sd, self.gap)?;
        let last = check::plays("plays", self.plays)?;
        let curves = [LossCurve::steps([(1, 0.0), (last + 1, 1.0)]), LossCurve::constant(0.5)];
        check::rested(curves, noise)
    }
}
