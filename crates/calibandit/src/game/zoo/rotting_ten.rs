//! Arms that fall once, each by an amount of its own: Figure 2 of Seznec et al. 2019.

use super::{GameConfig, check};
use crate::game::{Game, GameError, LossCurve, RewardRange};
use crate::math;
use crate::rng::Stream;

/// Rotting arms that are good for their first plays and bad afterwards, by amounts from small to large.
///
/// The first arm has the reward 0. Each other one has mu, then -mu; mu is `drop` for the last arm and smaller by a
/// factor of sqrt(10) for each arm before it. With ten arms and `drop` = 10 these are the 0.001 · 10^(i/2), i from 0 to
/// 8, of the source, which has T = 25,000. Here rewards are losses: a reward r is the loss 1/2 - r / (2 drop), and the
/// noise has the standard deviation `sd / (2 drop)`. A regret times 2 `drop` is one of rewards.
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(default, deny_unknown_fields))]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct RottingTen {
    /// The number of arms, K.
    #[cfg_attr(feature = "schema", schemars(range(min = 1, max = 1_000_000)))]
    pub arms: usize,
    /// The largest mu: the reward of good plays of the last arm; that of its bad plays is the negative.
    #[cfg_attr(feature = "schema", schemars(extend("exclusiveMinimum" = 0)))]
    pub drop: f64,
    /// The number of good plays of each arm.
    #[cfg_attr(feature = "schema", schemars(range(min = 1)))]
    pub plays: u64,
    /// The standard deviation of rewards; 0 for none.
    #[cfg_attr(feature = "schema", schemars(range(min = 0.0)))]
    pub sd: f64,
}

impl Default for RottingTen {
    fn default() -> Self {
        Self { arms: 10, drop: 10.0, plays: 1000, sd: 1.0 }
    }
}

impl GameConfig for RottingTen {
    const NAME: &'static str = "rotting-ten";
    const CITATION: &'static str = "Seznec, Locatelli, Carpentier, Lazaric, Valko (AISTATS 2019), Figure 2";

    fn example() -> Self {
        Self::default()
    }

    fn size(&self) -> String {
        format!("K = {}, mu up to {}", self.arms, self.drop)
    }

    fn rewards(&self) -> Option<RewardRange> {
        RewardRange::new(-self.drop, self.drop).ok()
    }
}

impl RottingTen {
    /// The game: the same for every stream.
    pub fn draw(&self, _stream: &mut Stream) -> Result<Game, GameError> {
        check::arms(self.arms)?;
        check::positive("drop", self.drop)?;
        let noise = check::scaled_noise("sd", self.sd, 2.0 * self.drop)?;
        let last = check::plays("plays", self.plays)?;
        let falling = (1..self.arms).map(|x| {
            // mu / (2 drop), at most 1/2.
            let half = 0.5 * math::powf(10.0, -0.5 * (self.arms - 1 - x) as f64);
            LossCurve::steps([(1, 0.5 - half), (last + 1, 0.5 + half)])
        });
        check::rested(std::iter::once(LossCurve::constant(0.5)).chain(falling), noise)
    }
}
