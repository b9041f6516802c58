//! The recommender game of Lindner, Heidari and Krause 2021.

use rand::RngExt;

use super::{GameConfig, check};
use crate::game::{Game, GameError, LossCurve, Noise, RewardRange};
use crate::rng::Stream;

/// Items whose novelty raises a user's interest at first and wears off: random single-peaked arms.
///
/// An arm's reward follows `v_(i+1) = v_i + novelty · decay^i - pull · (v_i - value)`. Drawn for each arm are `value`
/// (0 with probability 0.2, otherwise uniform up to 0.5), `novelty` (uniform up to 0.5), `decay` (uniform between 0.9
/// and 1) and `pull` (uniform up to 0.2). The source rescales rewards into [0, 1], with K = 4 and T = 3000. What it
/// does not say is ours: v_0 is `value`, the first play has v_1, all arms are divided by the largest reward of any of
/// them, and the reward stays what it is after `plays` plays.
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(default, deny_unknown_fields))]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Recommender {
    /// The number of arms, K.
    #[cfg_attr(feature = "schema", schemars(range(min = 1, max = 1_000)))]
    pub arms: usize,
    /// The number of plays after which the reward of an arm no longer changes.
    #[cfg_attr(feature = "schema", schemars(range(min = 1, max = 100_000)))]
    pub plays: u64,
    /// The noise of the feedback.
    pub feedback: Noise,
}

impl Default for Recommender {
    fn default() -> Self {
        Self { arms: 4, plays: 3000, feedback: Noise::None }
    }
}

impl GameConfig for Recommender {
    const NAME: &'static str = "recommender";
    const CITATION: &'static str = "Lindner, Heidari, Krause (IJCAI 2021), the recommender experiment of their code";

    fn example() -> Self {
        Self::default()
    }

    fn size(&self) -> String {
        format!("K = {}", self.arms)
    }

    fn is_random(&self) -> bool {
        true
    }

    fn rewards(&self) -> Option<RewardRange> {
        Some(RewardRange::UNIT)
    }
}

impl Recommender {
    /// One instance of the game.
    pub fn draw(&self, stream: &mut Stream) -> Result<Game, GameError> {
        check::between("arms", self.arms as f64, 1.0, 1000.0, "a whole number from 1 to 1000")?;
        check::between("plays", self.plays as f64, 1.0, 100_000.0, "a whole number from 1 to 100000")?;
        check::feedback(self.feedback)?;
        let mut rewards: Vec<Vec<f64>> = Vec::with_capacity(self.arms);
        for _ in 0..self.arms {
            let valued = stream.random::<f64>() >= 0.2;
            let value = if valued { check::between_ends(0.0, 0.5, stream) } else { 0.0 };
            let novelty = check::between_ends(0.0, 0.5, stream);
            let decay = check::between_ends(0.9, 1.0, stream);
            let pull = check::between_ends(0.0, 0.2, stream);
            let (mut now, mut added) = (value, novelty);
            let next = || {
                now += added - pull * (now - value);
                added *= decay;
                now
            };
            rewards.push(std::iter::repeat_with(next).take(self.plays as usize).collect());
        }
        let largest = rewards.iter().flatten().copied().fold(f64::MIN_POSITIVE, f64::max);
        let losses = |rewards: Vec<f64>| {
            LossCurve::table(rewards.into_iter().map(|r| (1.0 - r / largest).clamp(0.0, 1.0)).collect::<Vec<f64>>())
        };
        check::rested(rewards.into_iter().map(losses), self.feedback)
    }
}
