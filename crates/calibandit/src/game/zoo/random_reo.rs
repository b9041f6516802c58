//! Random games with repeated exposure optimality for a chosen alpha.

use rand::RngExt;

use super::{GameConfig, Span, check};
use crate::game::{Game, GameError, LossCurve, Noise, Weights};
use crate::rng::Stream;

/// Random games for tests and studies. The smallest alpha for which they satisfy alpha-REO is chosen.
///
/// The eventual loss mu of the best arm is drawn first. The eventual loss of every other arm is larger by a drawn gap.
/// Losses of arms that are not calibrated lie between mu - alpha and 1, so arms may also get worse with exposure. If
/// alpha is positive, one arm, drawn uniformly, has exactly the loss mu - alpha in some window. With alpha = 0 the game
/// satisfies 0-REO exactly, also after rounding.
///
/// ```
/// use calibandit::rng::StreamKey;
/// use calibandit::zoo::{RandomReo, Span};
/// let spec = RandomReo { arms: 10, memory: Span::One(8), alpha: 0.05, ..RandomReo::default() };
/// let game = spec.draw(&mut StreamKey::new(1, "study", 0).game())?;
/// assert_eq!((game.arms().len(), game.memory()), (10, 8));
/// # Ok::<(), calibandit::GameError>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(default, deny_unknown_fields))]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct RandomReo {
    /// The number of arms, K.
    #[cfg_attr(feature = "schema", schemars(range(min = 1, max = 1_000_000)))]
    pub arms: usize,
    /// How many plays in a row calibrate an arm: a number, or a pair [low, high] to draw from. At least 2 if alpha is
    /// positive.
    pub memory: Span<usize>,
    /// Whether each arm draws a memory of its own; otherwise one is drawn for all.
    pub own_memory: bool,
    /// The smallest alpha for which the game satisfies alpha-REO.
    #[cfg_attr(feature = "schema", schemars(range(min = 0.0, max = 1.0)))]
    pub alpha: f64,
    /// The difference between the eventual loss of another arm and that of the best arm: a number, or a pair
    /// [low, high] from which each arm draws.
    pub gap: Span<f64>,
    /// The eventual loss of the best arm: a number, or a pair [low, high] to draw from. If not given, it is drawn from
    /// `alpha` to 1 - `gap`.
    #[cfg_attr(feature = "serde", serde(skip_serializing_if = "Option::is_none"))]
    pub best_loss: Option<Span<f64>>,
    /// The index of the best arm, from 0. Drawn uniformly if not given.
    #[cfg_attr(feature = "serde", serde(skip_serializing_if = "Option::is_none"))]
    pub best_arm: Option<usize>,
    /// How plays count by their age.
    pub weights: WeightFamily,
    /// How losses depend on the plays in the window.
    pub curve: CurveFamily,
    /// The noise of the feedback.
    pub feedback: Noise,
}

/// Families of weights to draw from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(rename_all = "kebab-case"))]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub enum WeightFamily {
    /// All ones.
    Unit,
    /// Each weight of each arm is uniform from 0.05 to 1.
    Random,
    /// 2^-i for the i-th newest play.
    Decay,
}

/// Families of loss curves to draw from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(rename_all = "kebab-case"))]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub enum CurveFamily {
    /// One loss until calibrated, then the eventual loss.
    Step,
    /// Linear in the tally, from the loss of the first play to nine tenths of the way to the eventual loss, which is
    /// reached when the arm is calibrated.
    Linear,
    /// The loss falls with every play in the window.
    Falling,
    /// Each number of plays in the window has a loss of its own.
    Rough,
    /// Each arm draws one of the other families uniformly.
    Mixed,
}

impl Default for RandomReo {
    fn default() -> Self {
        Self {
            arms: 5,
            memory: Span::Between([2, 6]),
            own_memory: false,
            alpha: 0.0,
            gap: Span::Between([0.05, 0.3]),
            best_loss: None,
            best_arm: None,
            weights: WeightFamily::Random,
            curve: CurveFamily::Mixed,
            feedback: Noise::Bernoulli,
        }
    }
}

impl GameConfig for RandomReo {
    const NAME: &'static str = "random-reo";
    const CITATION: &'static str = "Section 2, the definition of alpha-REO";

    fn example() -> Self {
        Self::default()
    }

    fn size(&self) -> String {
        let (low, high) = (self.memory.low(), self.memory.high());
        let memory = if low == high { low.to_string() } else { format!("{low} to {high}") };
        format!("K = {}, m = {memory}, alpha = {}", self.arms, self.alpha)
    }

    fn is_random(&self) -> bool {
        true
    }
}

impl RandomReo {
    /// One random game.
    pub fn draw(&self, stream: &mut Stream) -> Result<Game, GameError> {
        let best_loss = self.check()?;
        let best = check::place("best_arm", self.best_arm, self.arms, stream)?;
        let mu = best_loss.draw(stream);
        let floor = (mu - self.alpha).max(0.0);
        let lured = (self.alpha > 0.0).then(|| check::below(self.arms, stream));
        let common = self.memory.draw(stream);
        let arms = (0..self.arms).map(|x| {
            let memory = if self.own_memory { self.memory.draw(stream) } else { common };
            let weights = self.draw_weights(memory, stream)?;
            let eventual = if x == best { mu } else { (mu + self.gap.draw(stream)).min(1.0) };
            let constraints = CurveConstraints { floor, eventual, lured: lured == Some(x) };
            let curve = constraints.draw(self.curve, &weights, stream);
            check::arm(x, weights, curve, self.feedback)
        });
        Game::new(arms.collect::<Result<_, _>>()?)
    }

    /// Checks all parameters and returns the range of the best arm's eventual loss.
    fn check(&self) -> Result<Span<f64>, GameError> {
        check::arms(self.arms)?;
        check::loss("alpha", self.alpha)?;
        self.gap.check("gap")?;
        check::feedback(self.feedback)?;
        let (low, high) = (self.memory.low(), self.memory.high());
        let refused =
            |value: usize, expected| GameError::Parameter { parameter: "memory", value: value as f64, expected };
        check::memory("memory", low, self.arms)?;
        check::memory("memory", high, self.arms)?;
        if high < low {
            return Err(refused(high, "a range from low to high"));
        }
        if low < 2 && self.alpha > 0.0 {
            return Err(refused(low, "at least 2 where `alpha` is positive: with memory 1 every game is 0-REO"));
        }
        if self.weights == WeightFamily::Decay {
            check::halvings(high)?;
        }
        let most = 1.0 - self.gap.high();
        match self.best_loss {
            Some(given) => {
                given.check("best_loss")?;
                check::between(
                    "best_loss",
                    given.low(),
                    self.alpha,
                    1.0,
                    "at least `alpha`, so that losses stay in [0, 1]",
                )?;
                let expected = "at most 1 - `gap`, so that losses stay in [0, 1]";
                check::between("best_loss", given.high(), 0.0, most, expected)?;
                Ok(given)
            }
            None => {
                check::between("alpha", self.alpha, 0.0, most, "at most 1 - `gap`, so that losses stay in [0, 1]")?;
                Ok(Span::Between([self.alpha, most]))
            }
        }
    }

    fn draw_weights(&self, memory: usize, stream: &mut Stream) -> Result<Weights, GameError> {
        check::weights(match self.weights {
            WeightFamily::Unit => vec![1.0; memory],
            WeightFamily::Random => (0..memory).map(|_| 0.05 + 0.95 * stream.random::<f64>()).collect(),
            WeightFamily::Decay => check::halving(memory),
        })
    }
}

/// What is fixed about an arm's losses before its curve is drawn.
struct CurveConstraints {
    /// No loss lies below this: mu(x*) - alpha.
    floor: f64,
    /// The loss when calibrated.
    eventual: f64,
    /// Whether some window must attain the floor.
    lured: bool,
}

impl CurveConstraints {
    fn draw(&self, family: CurveFamily, weights: &Weights, stream: &mut Stream) -> LossCurve {
        let memory = weights.memory();
        if memory == 1 {
            return LossCurve::constant(self.eventual);
        }
        match family {
            CurveFamily::Mixed => {
                let families = [CurveFamily::Step, CurveFamily::Linear, CurveFamily::Falling, CurveFamily::Rough];
                self.draw(families[check::below(families.len(), stream)], weights, stream)
            }
            CurveFamily::Step => {
                let before = self.above(self.floor, stream);
                self.lure(LossCurve::constant(before)).when_calibrated(self.eventual)
            }
            CurveFamily::Linear => {
                let first = self.above(self.floor, stream);
                self.lure(self.line(first, weights)).when_calibrated(self.eventual)
            }
            CurveFamily::Falling => {
                let mut table: Vec<f64> = (1..memory).map(|_| self.above(self.eventual, stream)).collect();
                table.sort_by(|a, b| b.total_cmp(a));
                self.table(table, stream)
            }
            CurveFamily::Rough => {
                let table = (1..memory).map(|_| self.above(self.floor, stream)).collect();
                self.table(table, stream)
            }
        }
    }

    /// Uniform from `low` to 1, also after rounding.
    fn above(&self, low: f64, stream: &mut Stream) -> f64 {
        (low + (1.0 - low) * stream.random::<f64>()).min(1.0)
    }

    fn lure(&self, curve: LossCurve) -> LossCurve {
        if self.lured { curve.when_alone(self.floor) } else { curve }
    }

    fn table(&self, mut table: Vec<f64>, stream: &mut Stream) -> LossCurve {
        if self.lured {
            let position = check::below(table.len(), stream);
            table[position] = self.floor;
        }
        table.push(self.eventual);
        LossCurve::by_plays(table)
    }

    /// A line from `first` at a single play to a tenth short of the eventual loss at the full tally.
    ///
    /// Rounding is monotone, so the line has its extremes at these two tallies also after rounding. If rounding moves
    /// one of them out of the allowed range, the line is replaced by a constant.
    fn line(&self, first: f64, weights: &Weights) -> LossCurve {
        let (least, most) = (weights.as_slice()[0], weights.total());
        let slope = 0.9 * (self.eventual - first) / (most - least);
        let intercept = first - slope * least;
        let allowed = self.floor..=1.0;
        if allowed.contains(&(intercept + slope * least)) && allowed.contains(&(intercept + slope * most)) {
            LossCurve::linear(intercept, slope)
        } else {
            LossCurve::constant(first)
        }
    }
}
