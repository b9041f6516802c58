//! Fatigue after a sweet spot, the limitation that the paper's discussion names.

use super::{GameConfig, Memories, check};
use crate::game::{Game, GameError, LossCurve, Memory, Noise, Weights};
use crate::rng::Stream;

/// Workers who calibrate to a sweet spot and then tire: the loss falls and then rises with the tally.
///
/// In the paper's discussion: after repeatedly performing a task a calibrated individual may experience fatigue, so
/// that performance improves to a sweet spot and then declines. The loss of a worker falls along a line from
/// `first_loss` at the first play to its loss at the sweet spot, after `calibration` plays, and rises along a line to
/// `tired_loss`, after `fatigue` plays more. With a finite memory the plays are those in the window, and a rest makes
/// a worker fresh; with `memory = "all"` fatigue is for ever. The sweet spots of the workers are evenly spaced from
/// `best_loss` to `usual_loss`, in a random order. Lines, spacing and defaults are ours.
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(default, deny_unknown_fields))]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct SweetSpot {
    /// The number of workers, K.
    #[cfg_attr(feature = "schema", schemars(range(min = 1, max = 1_000_000)))]
    pub arms: usize,
    /// How far back plays matter, m: a number, `"all"`, or a list with one of them for each worker.
    pub memory: Memories,
    /// The number of plays after which the sweet spot is reached.
    #[cfg_attr(feature = "schema", schemars(range(min = 1)))]
    pub calibration: u64,
    /// The number of plays from the sweet spot to exhaustion.
    #[cfg_attr(feature = "schema", schemars(range(min = 1)))]
    pub fatigue: u64,
    /// The loss of the first play.
    #[cfg_attr(feature = "schema", schemars(range(min = 0.0, max = 1.0)))]
    pub first_loss: f64,
    /// The loss at the sweet spot of the best worker.
    #[cfg_attr(feature = "schema", schemars(range(min = 0.0, max = 1.0)))]
    pub best_loss: f64,
    /// The loss at the sweet spot of the worst worker, at least `best_loss`.
    #[cfg_attr(feature = "schema", schemars(range(min = 0.0, max = 1.0)))]
    pub usual_loss: f64,
    /// The loss of an exhausted worker.
    #[cfg_attr(feature = "schema", schemars(range(min = 0.0, max = 1.0)))]
    pub tired_loss: f64,
    /// The noise of the feedback.
    pub feedback: Noise,
}

impl Default for SweetSpot {
    fn default() -> Self {
        Self {
            arms: 3,
            memory: Memories::Same(Memory::Plays(6)),
            calibration: 3,
            fatigue: 3,
            first_loss: 0.7,
            best_loss: 0.2,
            usual_loss: 0.4,
            tired_loss: 0.8,
            feedback: Noise::Bernoulli,
        }
    }
}

impl GameConfig for SweetSpot {
    const NAME: &'static str = "sweet-spot";
    const CITATION: &'static str = "ours, after the discussion of limitations (fatigue after the sweet spot)";

    fn example() -> Self {
        Self::default()
    }

    fn size(&self) -> String {
        format!("K = {}, {}", self.arms, self.memory.title())
    }

    fn is_random(&self) -> bool {
        // With one memory for all, only the order of the workers is random.
        matches!(self.memory, Memories::Each(_)) && self.arms > 1
    }
}

impl SweetSpot {
    /// The longest list of losses.
    const MOST_PLAYS: f64 = 1e6;

    /// One instance of the game.
    pub fn draw(&self, stream: &mut Stream) -> Result<Game, GameError> {
        check::arms(self.arms)?;
        self.memory.check(self.arms)?;
        for (name, plays) in [("calibration", self.calibration), ("fatigue", self.fatigue)] {
            check::between(name, plays as f64, 1.0, Self::MOST_PLAYS, "a whole number from 1 to 1000000")?;
        }
        let losses = [("first_loss", self.first_loss), ("best_loss", self.best_loss), ("tired_loss", self.tired_loss)];
        losses.into_iter().try_for_each(|(name, loss)| check::loss(name, loss))?;
        check::between("usual_loss", self.usual_loss, self.best_loss, 1.0, "a number from `best_loss` to 1")?;
        check::feedback(self.feedback)?;
        let order = check::shuffled(self.arms, stream);
        let arms = order.into_iter().enumerate().map(|(x, rank)| {
            let part = if self.arms == 1 { 0.0 } else { rank as f64 / (self.arms - 1) as f64 };
            let sweet = self.best_loss + (self.usual_loss - self.best_loss) * part;
            let named = |source| GameError::Arm { arm: x, name: None, source };
            let weights = Weights::of(self.memory.of(x)).map_err(named)?;
            check::arm(x, weights, LossCurve::table(self.losses(sweet)), self.feedback)
        });
        Game::new(arms.collect::<Result<_, _>>()?)
    }

    /// The losses up to exhaustion.
    fn losses(&self, sweet: f64) -> Vec<f64> {
        let down = (1..self.calibration).map(|n| (n - 1) as f64 / (self.calibration - 1) as f64);
        let up = (0..=self.fatigue).map(|n| n as f64 / self.fatigue as f64);
        let falling = down.map(|part| self.first_loss + (sweet - self.first_loss) * part);
        falling.chain(up.map(|part| sweet + (self.tired_loss - sweet) * part)).collect()
    }
}
