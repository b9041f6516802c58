//! Arms that all fall from good to bad once: Figure 2 of Seznec et al. 2019.

use super::{GameConfig, check};
use crate::game::{Game, GameError, LossCurve};
use crate::rng::Stream;

/// Rotting arms that are all good for their first plays and bad afterwards.
///
/// Rewards are `drop`, then `-drop`. Here they are losses: a reward r is the loss 1/2 - r / (2 drop), so that losses
/// are 0, then 1, and the noise has the standard deviation `sd / (2 drop)`. A regret times 2 `drop` is one of rewards.
/// In the source T = 25,000 and `drop` is 0.001 · 10^(i/2) for i from 0 to 8.
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(default, deny_unknown_fields))]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct RottingTen {
    /// The number of arms, K.
    #[cfg_attr(feature = "schema", schemars(range(min = 1, max = 1_000_000)))]
    pub arms: usize,
    /// The reward of good plays, mu; that of bad plays is its negative.
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
        Self { arms: 10, drop: 1.0, plays: 1000, sd: 1.0 }
    }
}

impl GameConfig for RottingTen {
    const NAME: &'static str = "rotting-ten";
    const CITATION: &'static str = "Seznec, Locatelli, Carpentier, Lazaric, Valko (AISTATS 2019), Figure 2";

    fn example() -> Self {
        Self::default()
    }

    fn size(&self) -> String {
        format!("K = {}, mu = {}", self.arms, self.drop)
    }
}

impl RottingTen {
    /// The game: the same for every stream.
    pub fn draw(&self, _stream: &mut Stream) -> Result<Game, GameError> {
        check::arms(self.arms)?;
        check::positive("drop", self.drop)?;
        let noise = check::scaled_noise("sd", self.sd, 2.0 * self.drop)?;
        let last = check::plays("plays", self.plays)?;
        check::rested((0..self.arms).map(|_| LossCurve::steps([(1, 0.0), (last + 1, 1.0)])), noise)
    }
}
