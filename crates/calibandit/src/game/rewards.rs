//! Rewards: a game may be stated in rewards instead of losses, and its results shown as rewards.
//!
//! Everything in this library minimises losses in [0, 1]. A game that is stated in rewards names their range; each
//! reward is converted where the game is drawn, and the game keeps the range, so that results can be converted back.
//! Nothing is converted that was not stated to be a reward.

use super::{ArmError, GameError, LossCurveSpec, Noise};

/// The range of the rewards of a game. The reward `high` is the loss 0, the reward `low` is the loss 1.
///
/// ```
/// use calibandit::RewardRange;
/// let range = RewardRange::new(-10.0, 10.0)?;
/// assert_eq!(range.loss(5.0), 0.25);
/// assert_eq!(range.total_reward(100.0, 25.0), 500.0); // 100 plays with a loss of 25 in all
/// assert_eq!(range.regret(3.0), 60.0);
/// # Ok::<(), calibandit::GameError>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(try_from = "[f64; 2]", into = "[f64; 2]"))]
pub struct RewardRange {
    low: f64,
    high: f64,
}

impl RewardRange {
    /// The rewards from `low` to `high`.
    ///
    /// # Errors
    /// [`GameError::Rewards`] unless both are numbers and `low` is less than `high`.
    pub fn new(low: f64, high: f64) -> Result<Self, GameError> {
        let valid = low < high && low.is_finite() && (high - low).is_finite();
        if valid { Ok(Self { low, high }) } else { Err(GameError::Rewards { low, high }) }
    }

    /// The rewards from 0 to 1.
    pub(crate) const UNIT: Self = Self { low: 0.0, high: 1.0 };

    /// The least reward.
    pub fn low(&self) -> f64 {
        self.low
    }

    /// The largest reward.
    pub fn high(&self) -> f64 {
        self.high
    }

    /// The difference of the two: what a loss of 1 is in rewards.
    pub fn width(&self) -> f64 {
        self.high - self.low
    }

    /// The loss of a reward. The ends of the range are exactly 1 and 0.
    pub fn loss(&self, reward: f64) -> f64 {
        (self.high - reward) / self.width()
    }

    /// The sum of the rewards of this many plays whose losses have this sum.
    pub fn total_reward(&self, plays: f64, loss: f64) -> f64 {
        self.high * plays - self.width() * loss
    }

    /// A regret in rewards.
    pub fn regret(&self, regret: f64) -> f64 {
        self.width() * regret
    }

    /// What a difference of rewards is in losses.
    fn difference(&self, difference: f64) -> f64 {
        -difference / self.width()
    }

    /// The noise of losses, if this is the noise of rewards.
    pub fn noise(&self, noise: Noise) -> Noise {
        match noise {
            Noise::Normal { sd } => Noise::Normal { sd: sd / self.width() },
            // A reward that is `low` or `high` is the loss 1 or 0; beta noise has no unit.
            Noise::Bernoulli | Noise::Beta { .. } | Noise::None => noise,
        }
    }
}

impl TryFrom<[f64; 2]> for RewardRange {
    type Error = GameError;

    fn try_from([low, high]: [f64; 2]) -> Result<Self, GameError> {
        Self::new(low, high)
    }
}

impl From<RewardRange> for [f64; 2] {
    fn from(range: RewardRange) -> Self {
        [range.low, range.high]
    }
}

impl LossCurveSpec {
    /// The curve of losses, if this one is of rewards. Every formula is affine in its values, so that it stays what it
    /// is; `needle` and `exponential_linear` are made for losses.
    ///
    /// # Errors
    /// [`ArmError::NotOfRewards`] for these two, [`ArmError::StepKey`] if a step has a loss.
    pub fn of_rewards(mut self, range: RewardRange) -> Result<Self, ArmError> {
        if let Some(shape) =
            [("needle", self.needle.is_some()), ("exponential_linear", self.exponential_linear.is_some())]
                .into_iter()
                .find_map(|(shape, given)| given.then_some(shape))
        {
            return Err(ArmError::NotOfRewards { shape });
        }
        let convert = |value: &mut f64| *value = range.loss(*value);
        let change = |value: &mut f64| *value = range.difference(*value);
        for value in [&mut self.constant, &mut self.calibrated, &mut self.alone].into_iter().flatten() {
            convert(value);
        }
        for list in [&mut self.by_plays, &mut self.table, &mut self.by_gap, &mut self.by_streak].into_iter().flatten() {
            list.iter_mut().for_each(convert);
        }
        for step in self.steps.iter_mut().flatten() {
            match (step.loss, step.reward.take()) {
                (None, Some(reward)) => step.loss = Some(range.loss(reward)),
                _ => return Err(ArmError::StepKey { key: "reward", other: "loss" }),
            }
        }
        if let Some(line) = &mut self.linear {
            convert(&mut line.intercept);
            change(&mut line.slope);
        }
        if let Some(power) = &mut self.power {
            convert(&mut power.limit);
            change(&mut power.scale);
        }
        if let Some(ramp) = &mut self.ramp {
            [&mut ramp.start, &mut ramp.end].into_iter().for_each(convert);
        }
        if let Some(curve) = &mut self.exponential {
            [&mut curve.start, &mut curve.end].into_iter().for_each(convert);
        }
        if let Some(curve) = &mut self.rational {
            [&mut curve.start, &mut curve.end].into_iter().for_each(convert);
        }
        if let Some(peak) = &mut self.peak {
            [&mut peak.before, &mut peak.after].into_iter().for_each(convert);
            change(&mut peak.height);
        }
        Ok(self)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::game::{Exposure, LossCurve};

    #[test]
    fn ranges_are_ordered_numbers() {
        for (low, high) in [(1.0, 1.0), (1.0, 0.0), (f64::NAN, 1.0), (0.0, f64::INFINITY), (-f64::MAX, f64::MAX)] {
            let message = RewardRange::new(low, high).unwrap_err().to_string();
            assert!(message.contains("`rewards`"), "{message}");
        }
        let range = RewardRange::new(-0.1, 0.2).unwrap();
        assert_eq!((range.loss(-0.1), range.loss(0.2)), (1.0, 0.0));
        assert_eq!(serde_json::to_string(&range).unwrap(), "[-0.1,0.2]");
        assert!(serde_json::from_str::<RewardRange>("[2, 1]").is_err());
    }

    /// Each curve, read as one of rewards, has at every play the reward that the same curve has as a value.
    #[test]
    fn every_curve_of_rewards_is_the_converted_curve() {
        let range = RewardRange::new(-4.0, 16.0).unwrap();
        // A range so wide that every value below is also valid as a plain loss curve once it is converted by hand.
        let curves = [
            r#"{"constant": 3.0}"#,
            r#"{"by_plays": [1.0, -2.0, 16.0, -4.0], "calibrated": 2.0, "alone": 5.0}"#,
            r#"{"linear": {"intercept": -1.0, "slope": 2.5}}"#,
            r#"{"power": {"limit": 8.0, "scale": -6.0, "exponent": 0.5}}"#,
            r#"{"ramp": {"start": -3.0, "end": 12.0, "plays": 3}}"#,
            r#"{"exponential": {"start": -3.0, "end": 12.0, "rate": 0.4, "first": 0}}"#,
            r#"{"rational": {"start": 0.0, "end": 12.0, "scale": 2.0}}"#,
            r#"{"peak": {"before": 15.0, "after": 1.0, "height": -2.0, "fall": 0.3, "rise": 0.1, "centre": 2.0}}"#,
            r#"{"table": [1.0, 7.0]}"#,
            r#"{"by_gap": [1.0, 2.0, 3.0, 4.0]}"#,
            r#"{"by_streak": [1.0, 2.0, 3.0, 4.0]}"#,
        ];
        for text in curves {
            let spec: LossCurveSpec = serde_json::from_str(text).unwrap();
            let plain = LossCurve::try_from(spec.clone()).unwrap();
            let converted = LossCurve::try_from(spec.of_rewards(range).unwrap()).unwrap();
            for plays in 1..=4 {
                let tally = 2.0 - 0.5f64.powi(plays as i32 - 1);
                let exposure = Exposure { tally, plays, memory: 4 };
                let expected = (16.0 - plain.at(exposure)) / 20.0;
                assert!((converted.at(exposure) - expected).abs() < 1e-12, "{text} at {plays}");
            }
        }
    }

    #[test]
    fn steps_and_shapes_of_losses_are_refused() {
        let range = RewardRange::UNIT;
        let refused = |text: &str| {
            let spec: LossCurveSpec = serde_json::from_str(text).unwrap();
            spec.of_rewards(range).unwrap_err().to_string()
        };
        assert!(refused(r#"{"steps": [{"from": 1, "loss": 0.5}]}"#).contains("`reward`"));
        assert!(refused(r#"{"needle": {"tally": 1.0, "loss": 0.0, "otherwise": 1.0}}"#).contains("`needle`"));
        let mixed = r#"{"steps": [{"from": 1, "loss": 0.5, "reward": 0.5}]}"#;
        assert!(refused(mixed).contains("`loss`"));
        let as_losses: LossCurveSpec = serde_json::from_str(r#"{"steps": [{"from": 1, "reward": 0.5}]}"#).unwrap();
        assert!(LossCurve::try_from(as_losses).unwrap_err().to_string().contains("`loss`"));
    }
}
