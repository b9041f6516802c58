//! Games written out arm by arm.

use super::{GameConfig, check};
use crate::game::{ArmError, Game, GameError, LossCurve, LossCurveSpec, Memory, Noise, RewardRange, Weights};
use crate::rng::Stream;

/// Any game, written out arm by arm.
///
/// ```
/// use calibandit::rng::StreamKey;
/// let spec: calibandit::GameSpec = serde_json::from_str(
///     r#"{"kind": "custom", "arm": [
///         {"memory": 2, "loss": {"constant": 0.5, "calibrated": 0.25}},
///         {"weights": [1.0, 0.5], "loss": {"linear": {"intercept": 0.9, "slope": -0.2}}, "feedback": "none"}
///     ]}"#,
/// )?;
/// let game = spec.draw(&mut StreamKey::new(1, "mine", 0).game())?;
/// assert_eq!(game.losses(&[0, 0])?, [0.5, 0.25]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(deny_unknown_fields))]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Custom {
    /// The title of the game in tables and figures: 1 to 100 characters.
    #[cfg_attr(feature = "serde", serde(default, skip_serializing_if = "Option::is_none"))]
    #[cfg_attr(feature = "schema", schemars(length(min = 1, max = 100)))]
    pub title: Option<String>,
    /// The least and the largest reward, if the game is stated in rewards: `reward` of an arm lies between them, and
    /// results are shown as rewards. The reward r is the loss `(high - r) / (high - low)`, which is what policies see.
    #[cfg_attr(feature = "serde", serde(default, skip_serializing_if = "Option::is_none"))]
    pub rewards: Option<[f64; 2]>,
    /// The arms, in order: in TOML one `[[game.arm]]` table each.
    pub arm: Vec<ArmSpec>,
}

/// One arm as it is written in files.
#[derive(Clone, Debug, Default, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(deny_unknown_fields))]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ArmSpec {
    /// The name of the arm, for tables and figures: 1 to 100 characters, different from the names of the other arms.
    #[cfg_attr(feature = "serde", serde(default, skip_serializing_if = "Option::is_none"))]
    #[cfg_attr(feature = "schema", schemars(length(min = 1, max = 100)))]
    pub name: Option<String>,
    /// How much a play counts by its age, newest first, each in (0, 1]. Their number is the arm's memory.
    #[cfg_attr(feature = "serde", serde(default, skip_serializing_if = "Option::is_none"))]
    pub weights: Option<Vec<f64>>,
    /// Instead of `weights`: this many weights of 1, or `"all"` if the loss depends on all plays of the arm since the
    /// beginning.
    #[cfg_attr(feature = "serde", serde(default, skip_serializing_if = "Option::is_none"))]
    pub memory: Option<Memory>,
    /// The expected loss, by the arm's plays in the window. It must lie in [0, 1] in every window.
    #[cfg_attr(feature = "serde", serde(default, skip_serializing_if = "Option::is_none"))]
    pub loss: Option<LossCurveSpec>,
    /// Instead of `loss`: the expected reward, by the arm's plays in the window, within `rewards` of the game. It has
    /// the keys of `loss`, without `needle` and `exponential_linear`.
    #[cfg_attr(feature = "serde", serde(default, skip_serializing_if = "Option::is_none"))]
    pub reward: Option<LossCurveSpec>,
    /// The noise of the feedback. Its standard deviation is one of rewards if the arm has `reward`.
    #[cfg_attr(feature = "serde", serde(default))]
    pub feedback: Noise,
}

impl GameConfig for Custom {
    const NAME: &'static str = "custom";
    const CITATION: &'static str = "Section 2, the definition of the weighted tallying bandit";

    fn example() -> Self {
        let worker = |loss| ArmSpec { memory: Some(3.into()), loss: Some(loss), ..ArmSpec::default() };
        let steady = LossCurveSpec { constant: Some(0.5), ..LossCurveSpec::default() };
        let slow_starter = LossCurveSpec { by_plays: Some(vec![0.9, 0.6, 0.2]), ..LossCurveSpec::default() };
        Self { arm: vec![worker(steady), worker(slow_starter)], ..Self::default() }
    }

    fn size(&self) -> String {
        format!("K = {}", self.arm.len())
    }

    fn title(&self) -> String {
        self.title.clone().unwrap_or_else(|| format!("{}, {}", Self::NAME, self.size()))
    }

    fn rewards(&self) -> Option<RewardRange> {
        self.rewards.and_then(|range| range.try_into().ok())
    }
}

impl Custom {
    /// The game: the same for every stream.
    pub fn draw(&self, _stream: &mut Stream) -> Result<Game, GameError> {
        self.title.as_deref().map_or(Ok(()), Game::check_title)?;
        let range = self.rewards.map(RewardRange::try_from).transpose()?;
        let arms = self.arm.iter().enumerate().map(|(index, arm)| {
            let name = arm.name.as_deref();
            let named = |source| GameError::Arm { arm: index, name: name.and_then(check::own_name), source };
            let weights = match (&arm.weights, arm.memory) {
                (Some(weights), None) => Weights::new(weights.clone()).map_err(named)?,
                (None, Some(Memory::All)) => Weights::all(),
                (None, Some(Memory::Plays(0))) => return Err(named(ArmError::NoMemory)),
                (None, Some(Memory::Plays(memory))) => {
                    check::memory("memory", memory, self.arm.len())?;
                    Weights::unit(memory).map_err(named)?
                }
                (Some(_), Some(_)) => return Err(named(ArmError::WeightsAndMemory)),
                (None, None) => return Err(named(ArmError::NoWeights)),
            };
            let (curve, noise) = match (&arm.loss, &arm.reward, range) {
                (Some(loss), None, _) => (loss.clone(), arm.feedback),
                (None, Some(reward), Some(range)) => {
                    (reward.clone().of_rewards(range).map_err(named)?, range.noise(arm.feedback))
                }
                (None, Some(_), None) => {
                    return Err(GameError::NoRewards { arm: index, name: name.and_then(check::own_name) });
                }
                (Some(_), Some(_), _) => return Err(named(ArmError::LossAndReward)),
                (None, None, _) => return Err(named(ArmError::NoCurve)),
            };
            check::named_arm(index, name, weights, LossCurve::try_from(curve).map_err(named)?, noise)
        });
        Game::new(arms.collect::<Result<_, _>>()?)
    }
}
