//! Online learners as arms: learning curves that saturate.

use super::{GameConfig, check};
use crate::game::{ExponentialApproach, Formula, Game, GameError, LossCurve, Memory, Noise, RewardRange, Weights};
use crate::math;
use crate::rng::Stream;

/// Online learners that get better with every example: the better one learns more slowly.
///
/// The accuracy of a learner after x plays is `start + (level - start) (1 - exp(-x / pace))`, the form that Fiandri,
/// Metelli and Trovo fit to learning curves on IMDB; losses are `1 - accuracy`. The levels reach from 0.62 to 0.85, as
/// the curves of Metelli et al. do. The rest is ours: levels are evenly spaced, and paces grow by a constant factor
/// from the worst learner to the best one. No data are needed or used.
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(default, deny_unknown_fields))]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct LearningCurves {
    /// The number of learners, K.
    #[cfg_attr(feature = "schema", schemars(range(min = 1, max = 1_000_000)))]
    pub arms: usize,
    /// The accuracy before the first example.
    #[cfg_attr(feature = "schema", schemars(range(min = 0.0, max = 1.0)))]
    pub start: f64,
    /// The final accuracies of the worst and the best learner.
    pub levels: [f64; 2],
    /// The number of plays in which the worst and the best learner make 63 % of their progress.
    pub paces: [f64; 2],
    /// How far back examples matter: `"all"`, or a number for learners that forget older ones.
    pub memory: Memory,
    /// The noise of the feedback.
    pub feedback: Noise,
}

impl Default for LearningCurves {
    fn default() -> Self {
        let (levels, paces) = ([0.62, 0.85], [200.0, 5000.0]);
        Self { arms: 7, start: 0.5, levels, paces, memory: Memory::All, feedback: Noise::Bernoulli }
    }
}

impl GameConfig for LearningCurves {
    const NAME: &'static str = "learning-curves";
    const CITATION: &'static str =
        "ours, after the learning curves of Metelli et al. (ICML 2022) and Fiandri, Metelli, Trovo (2025)";

    fn example() -> Self {
        Self::default()
    }

    fn size(&self) -> String {
        match self.memory {
            Memory::All => format!("K = {}", self.arms),
            Memory::Plays(memory) => super::size(self.arms, memory),
        }
    }

    fn rewards(&self) -> Option<RewardRange> {
        Some(RewardRange::UNIT)
    }
}

impl LearningCurves {
    /// The game: the same for every stream.
    pub fn draw(&self, _stream: &mut Stream) -> Result<Game, GameError> {
        check::arms(self.arms)?;
        check::loss("start", self.start)?;
        let [worst, best] = self.levels;
        check::loss("levels", worst)?;
        check::between("levels", best, worst, 1.0, "two numbers from 0 to 1, the smaller one first")?;
        check::feedback(self.feedback)?;
        let [fast, slow] = self.paces;
        check::positive("paces", fast)?;
        check::positive("paces", slow)?;
        let curves = (0..self.arms).map(|x| {
            let part = if self.arms == 1 { 1.0 } else { x as f64 / (self.arms - 1) as f64 };
            let level = worst + (best - worst) * part;
            let pace = fast * math::powf(slow / fast, part);
            let (start, end) = (1.0 - self.start, 1.0 - level);
            LossCurve::formula(Formula::Exponential(ExponentialApproach { start, end, rate: 1.0 / pace, first: 0 }))
        });
        if let Memory::Plays(memory) = self.memory {
            check::memory("memory", memory, self.arms)?;
        }
        let arm = |(x, curve)| match Weights::of(self.memory) {
            Ok(weights) => check::arm(x, weights, curve, self.feedback),
            Err(source) => Err(GameError::Arm { arm: x, name: None, source }),
        };
        Game::new(curves.enumerate().map(arm).collect::<Result<_, _>>()?)
    }
}
