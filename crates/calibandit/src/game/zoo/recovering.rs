//! Arms that recover with the time since their last play.

use super::{GameConfig, check};
use crate::game::{Game, GameError, LossCurve, Noise};
use crate::rng::Stream;

/// Arms that are tired after a play and recover while others are played.
///
/// The loss of an arm depends on the number of plays since its last one: right after it (gap 1) it is `tired_loss`, and
/// it falls along a line to the arm's recovered loss at a gap of `memory` or more, or at the first play. With
/// `blocked = true` it stays at `tired_loss` until then: the blocking bandits of Basu, Sen, Sanghavi and Shakkottai
/// 2019, with a loss instead of a prohibition. The recovered losses are evenly spaced over `recovered`, in a random
/// order. The setting is that of recovering bandits (Pike-Burke and Grunewalder 2019); lines and defaults are ours.
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(default, deny_unknown_fields))]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Recovering {
    /// The number of arms, K.
    #[cfg_attr(feature = "schema", schemars(range(min = 1, max = 1_000_000)))]
    pub arms: usize,
    /// The gap after which an arm has recovered, m.
    #[cfg_attr(feature = "schema", schemars(range(min = 1, max = 53)))]
    pub memory: usize,
    /// The loss right after a play of the arm.
    #[cfg_attr(feature = "schema", schemars(range(min = 0.0, max = 1.0)))]
    pub tired_loss: f64,
    /// The losses of the best and the worst arm when they have recovered.
    pub recovered: [f64; 2],
    /// Whether an arm is at `tired_loss` until it has recovered completely.
    pub blocked: bool,
    /// The noise of the feedback.
    pub feedback: Noise,
}

impl Default for Recovering {
    fn default() -> Self {
        let recovered = [0.1, 0.4];
        Self { arms: 3, memory: 4, tired_loss: 0.9, recovered, blocked: false, feedback: Noise::Bernoulli }
    }
}

impl GameConfig for Recovering {
    const NAME: &'static str = "recovering";
    const CITATION: &'static str = "Pike-Burke, Grunewalder (NeurIPS 2019), Basu et al. (NeurIPS 2019), the settings";

    fn example() -> Self {
        Self::default()
    }

    fn size(&self) -> String {
        super::size(self.arms, self.memory)
    }
}

impl Recovering {
    /// One instance of the game.
    pub fn draw(&self, stream: &mut Stream) -> Result<Game, GameError> {
        check::arms(self.arms)?;
        check::between("memory", self.memory as f64, 1.0, 53.0, "a whole number from 1 to 53")?;
        check::loss("tired_loss", self.tired_loss)?;
        let [best, worst] = self.recovered;
        check::loss("recovered", best)?;
        check::between("recovered", worst, best, 1.0, "two numbers from 0 to 1, the smaller one first")?;
        check::feedback(self.feedback)?;
        let order = check::shuffled(self.arms, stream);
        let weights = check::weights(vec![1.0; self.memory])?;
        let arms = order.into_iter().enumerate().map(|(x, rank): (usize, usize)| {
            let part = if self.arms == 1 { 0.0 } else { rank as f64 / (self.arms - 1) as f64 };
            let recovered = best + (worst - best) * part;
            let loss = |gap: usize| match self.blocked {
                _ if gap == self.memory => recovered,
                true => self.tired_loss,
                false => self.tired_loss + (recovered - self.tired_loss) * (gap - 1) as f64 / (self.memory - 1) as f64,
            };
            let losses: Vec<f64> = (1..=self.memory).map(loss).collect();
            check::arm(x, weights.clone(), LossCurve::by_gap(losses), self.feedback)
        });
        Game::new(arms.collect::<Result<_, _>>()?)
    }
}
