//! The plain stochastic bandit.

use super::step::check_losses;
use super::{GameConfig, check, size};
use crate::game::{Game, GameError, LossCurve, Noise};
use crate::rng::Stream;

/// The plain stochastic bandit: the memory is 1, so every play is calibrated.
///
/// In the paper: Section 2, the special case m = 1. Give either `losses`, one per arm in their order, or `arms`. With
/// `arms`, one arm has `best_loss` and all others have `usual_loss`. It satisfies 0-REO.
#[derive(Clone, Debug, Default, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(default, deny_unknown_fields))]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Stochastic {
    /// The expected loss of each arm.
    #[cfg_attr(feature = "serde", serde(skip_serializing_if = "Option::is_none"))]
    #[cfg_attr(feature = "schema", schemars(inner(range(min = 0.0, max = 1.0))))]
    pub losses: Option<Vec<f64>>,
    /// The number of arms, K, if `losses` is not given.
    #[cfg_attr(feature = "serde", serde(skip_serializing_if = "Option::is_none"))]
    #[cfg_attr(feature = "schema", schemars(range(min = 1, max = 1_000_000)))]
    pub arms: Option<usize>,
    /// The loss of every arm except the best; 0.5 if not given.
    #[cfg_attr(feature = "serde", serde(skip_serializing_if = "Option::is_none"))]
    #[cfg_attr(feature = "schema", schemars(range(min = 0.0, max = 1.0)))]
    pub usual_loss: Option<f64>,
    /// The loss of the best arm, at most `usual_loss`; 0.35 if not given.
    #[cfg_attr(feature = "serde", serde(skip_serializing_if = "Option::is_none"))]
    #[cfg_attr(feature = "schema", schemars(range(min = 0.0, max = 1.0)))]
    pub best_loss: Option<f64>,
    /// The index of the best arm, from 0. Drawn uniformly if not given.
    #[cfg_attr(feature = "serde", serde(skip_serializing_if = "Option::is_none"))]
    pub best_arm: Option<usize>,
    /// The noise of the feedback.
    pub feedback: Noise,
}

impl GameConfig for Stochastic {
    const NAME: &'static str = "stochastic";
    const CITATION: &'static str = "Section 2: the special case of memory 1";

    fn example() -> Self {
        Self { arms: Some(5), ..Self::default() }
    }

    fn size(&self) -> String {
        size(self.arms(), 1)
    }
}

impl Stochastic {
    /// One instance of the game.
    pub fn draw(&self, stream: &mut Stream) -> Result<Game, GameError> {
        check::feedback(self.feedback)?;
        let losses = match (&self.losses, self.arms) {
            (Some(losses), None) => {
                self.nothing_beside_losses()?;
                losses.clone()
            }
            (None, Some(arms)) => self.by_arms(arms, stream)?,
            (Some(_), Some(_)) => return Err(GameError::Conflict { one: "losses", other: "arms" }),
            (None, None) => return Err(GameError::Missing { parameters: "`losses` or `arms`" }),
        };
        let weights = check::weights(vec![1.0])?;
        let arms = losses.into_iter().enumerate();
        let arms = arms.map(|(x, loss)| check::arm(x, weights.clone(), LossCurve::constant(loss), self.feedback));
        Game::new(arms.collect::<Result<_, _>>()?)
    }

    /// The number of arms.
    pub fn arms(&self) -> usize {
        self.losses.as_ref().map(Vec::len).or(self.arms).unwrap_or(0)
    }

    fn nothing_beside_losses(&self) -> Result<(), GameError> {
        let beside = [
            ("usual_loss", self.usual_loss.is_some()),
            ("best_loss", self.best_loss.is_some()),
            ("best_arm", self.best_arm.is_some()),
        ];
        match beside.into_iter().find(|&(_, given)| given) {
            Some((other, _)) => Err(GameError::Conflict { one: "losses", other }),
            None => Ok(()),
        }
    }

    fn by_arms(&self, arms: usize, stream: &mut Stream) -> Result<Vec<f64>, GameError> {
        check::arms(arms)?;
        let (usual, best) = (self.usual_loss.unwrap_or(0.5), self.best_loss.unwrap_or(0.35));
        check_losses(usual, best)?;
        let mut losses = vec![usual; arms];
        losses[check::place("best_arm", self.best_arm, arms, stream)?] = best;
        Ok(losses)
    }
}
