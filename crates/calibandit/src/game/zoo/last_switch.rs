//! Arms whose loss depends on the last switch to or from them.

use super::{GameConfig, check};
use crate::game::{Game, GameError, LossCurve, Noise};
use crate::rng::Stream;

/// Arms that satiate while they are played in a row and recover while they are not.
///
/// The loss of an arm in the s-th play of a streak is `fresh + (worn - fresh) (s - 1) / (m - 1)`, up to s = m. The
/// first play of a streak after a gap of g < m is as worn as the play m - g + 1 of a streak, and fresh from g = m on.
/// The fresh losses are evenly spaced over `fresh`, in a random order. The setting is that of last-switch-dependent
/// bandits (Laforgue, Clerici, Cesa-Bianchi, Gilad-Bachrach 2021); lines and defaults are ours.
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(default, deny_unknown_fields))]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct LastSwitch {
    /// The number of arms, K.
    #[cfg_attr(feature = "schema", schemars(range(min = 1, max = 1_000_000)))]
    pub arms: usize,
    /// The streak after which an arm is worn, and the gap after which it is fresh, m.
    #[cfg_attr(feature = "schema", schemars(range(min = 1, max = 53)))]
    pub memory: usize,
    /// The losses of the best and the worst arm when they are fresh.
    pub fresh: [f64; 2],
    /// The loss of a worn arm.
    #[cfg_attr(feature = "schema", schemars(range(min = 0.0, max = 1.0)))]
    pub worn: f64,
    /// The noise of the feedback.
    pub feedback: Noise,
}

impl Default for LastSwitch {
    fn default() -> Self {
        Self { arms: 3, memory: 4, fresh: [0.1, 0.4], worn: 0.9, feedback: Noise::Bernoulli }
    }
}

impl GameConfig for LastSwitch {
    const NAME: &'static str = "last-switch";
    const CITATION: &'static str = "Laforgue, Clerici, Cesa-Bianchi, Gilad-Bachrach (2021), the setting";

    fn example() -> Self {
        Self::default()
    }

    fn size(&self) -> String {
        super::size(self.arms, self.memory)
    }
}

impl LastSwitch {
    /// One instance of the game.
    pub fn draw(&self, stream: &mut Stream) -> Result<Game, GameError> {
        check::arms(self.arms)?;
        check::between("memory", self.memory as f64, 1.0, 53.0, "a whole number from 1 to 53")?;
        check::loss("worn", self.worn)?;
        let [best, worst] = self.fresh;
        check::loss("fresh", best)?;
        check::between("fresh", worst, best, 1.0, "two numbers from 0 to 1, the smaller one first")?;
        check::feedback(self.feedback)?;
        let order = check::shuffled(self.arms, stream);
        let weights = check::weights(vec![1.0; self.memory])?;
        let arms = order.into_iter().enumerate().map(|(x, rank): (usize, usize)| {
            let part = if self.arms == 1 { 0.0 } else { rank as f64 / (self.arms - 1) as f64 };
            let fresh = best + (worst - best) * part;
            let steps = (self.memory - 1).max(1) as f64;
            let streak: Vec<f64> =
                (0..self.memory).map(|before| fresh + (self.worn - fresh) * before as f64 / steps).collect();
            let gap: Vec<f64> = (1..=self.memory).map(|gap| streak[self.memory - gap]).collect();
            check::arm(x, weights.clone(), LossCurve::last_switch(gap, streak), self.feedback)
        });
        Game::new(arms.collect::<Result<_, _>>()?)
    }
}
