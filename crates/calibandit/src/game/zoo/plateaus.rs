//! Arms that rot along plateaus: the parametric experiment of Levine, Crammer and Mannor 2017.

use super::{GameConfig, check};
use crate::game::{Formula, Game, GameError, LossCurve, Noise, PowerCurve, RewardRange};
use crate::rng::Stream;

/// Rotting arms whose rewards fall like a power of the number of plays, in plateaus.
///
/// The reward of an arm at its n-th play is `(floor((n - 1) / every) + 1)^(-theta)`, with theta drawn for each arm from
/// 0.10, 0.15, ..., 0.40. With `vanishing = false`, a constant is added, drawn uniformly from [0, 0.5]. Losses are
/// `1 - reward`, or `1 - reward / 1.5` with the constants, which keeps them in [0, 1]. The source has T = 30,000. That
/// plateaus count the plays before the present one, and the factor 1.5, are ours.
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(default, deny_unknown_fields))]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Plateaus {
    /// The number of arms, K.
    #[cfg_attr(feature = "schema", schemars(range(min = 1, max = 1_000_000)))]
    pub arms: usize,
    /// The number of plays on each plateau.
    #[cfg_attr(feature = "schema", schemars(range(min = 1)))]
    pub every: u64,
    /// Whether rewards fall to 0; otherwise to a constant of each arm.
    pub vanishing: bool,
    /// The standard deviation of rewards; 0 for none. The source has the variance 0.2.
    #[cfg_attr(feature = "schema", schemars(range(min = 0.0)))]
    pub sd: f64,
}

impl Default for Plateaus {
    fn default() -> Self {
        Self { arms: 10, every: 100, vanishing: true, sd: 0.447_213_595_499_958 }
    }
}

impl GameConfig for Plateaus {
    const NAME: &'static str = "plateaus";
    const CITATION: &'static str = "Levine, Crammer, Mannor (NIPS 2017), the parametric experiments";

    fn example() -> Self {
        Self::default()
    }

    fn size(&self) -> String {
        format!("K = {}{}", self.arms, if self.vanishing { "" } else { ", not vanishing" })
    }

    fn is_random(&self) -> bool {
        true
    }

    fn rewards(&self) -> Option<RewardRange> {
        RewardRange::new(0.0, self.largest()).ok()
    }
}

impl Plateaus {
    /// The number of values that theta can have, 0.05 apart.
    const THETAS: usize = 7;
    /// The largest constant.
    const MOST: f64 = 0.5;

    /// The largest possible reward.
    fn largest(&self) -> f64 {
        if self.vanishing { 1.0 } else { 1.0 + Self::MOST }
    }

    /// One instance of the game.
    pub fn draw(&self, stream: &mut Stream) -> Result<Game, GameError> {
        check::arms(self.arms)?;
        let every = check::plays("every", self.every)?;
        let range = self.largest();
        let noise: Noise = check::scaled_noise("sd", self.sd, range)?;
        let curves: Vec<LossCurve> = (0..self.arms)
            .map(|_| {
                let exponent = 0.1 + 0.05 * check::below(Self::THETAS, stream) as f64;
                let constant = if self.vanishing { 0.0 } else { check::between_ends(0.0, Self::MOST, stream) };
                let limit = 1.0 - constant / range;
                LossCurve::formula(Formula::Power(PowerCurve { limit, scale: -1.0 / range, exponent, every }))
            })
            .collect();
        check::rested(curves, noise)
    }
}
