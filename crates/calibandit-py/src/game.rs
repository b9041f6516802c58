//! Games: specifications from which instances are drawn, and games with loss curves that are Python functions.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use calibandit::rng::StreamKey;
use calibandit::{
    Arm, ArmError, Game, GameError, GameSpec, Interrupt, LossCurve, LossCurveSpec, LossFn, Noise, Optima, RewardRange,
    Shape, Trend, Weights, reo_interruptible,
};
use calibandit_experiment::GameSource;
use calibandit_experiment::spec::game_from_json;
use pyo3::prelude::*;
use serde_json::{Value, json};

use crate::column::Column;
use crate::failure::{Failure, Raised};
use crate::interpreter::{attached, called};
use crate::session::PySession;
use crate::watch::watched;

/// An arm as Python gives it.
#[derive(FromPyObject)]
pub(crate) struct ArmParts<'py>(
    /// The name.
    Option<String>,
    /// The weights.
    Option<Vec<f64>>,
    /// The memory as JSON: a number or "all".
    Option<String>,
    /// The loss curve: JSON, or a function.
    Bound<'py, PyAny>,
    /// The loss when calibrated, beside a function.
    Option<f64>,
    /// The loss when alone, beside a function.
    Option<f64>,
    /// The trend of a function.
    Option<String>,
    /// The feedback as JSON.
    String,
    /// Whether the curve and the feedback are those of rewards.
    bool,
);

/// Numbers of arms and of the longest memory (`None` if the game is rested), the best arm, the eventual losses and the
/// names.
type Facts = (usize, Option<usize>, usize, Vec<f64>, Vec<Option<String>>);

/// `alpha`, `best_arm`, `arm`, `window`, `plays`.
type ReoParts = (f64, usize, usize, Vec<bool>, Option<u64>);

/// `loss`, `excess`, `lower`, `exact`, `blocks`, `prefix`, `cycle`, `repeats`, `tail`.
type OptimumParts = (f64, f64, f64, bool, Vec<(usize, u64)>, Vec<usize>, Vec<usize>, u64, Vec<usize>);

/// A game, or a specification from which games are drawn.
#[pyclass(name = "Game", module = "calibandit._core", frozen)]
pub(crate) struct PyGame {
    pub(crate) source: GameSource,
    /// The first exception of its Python functions.
    pub(crate) raised: Raised,
}

#[pymethods]
impl PyGame {
    /// The game of a `[game]` table, given as JSON.
    #[staticmethod]
    fn from_spec(json: &str) -> Result<Self, Failure> {
        called(|| {
            let game = game_from_json("the game", &serde_json::from_str(json)?)?;
            Ok(Self { source: game.into(), raised: Raised::default() })
        })
    }

    /// The game with these arms, some of whose loss curves are Python functions.
    #[staticmethod]
    fn from_arms(arms: Vec<ArmParts<'_>>, title: Option<String>, rewards: Option<(f64, f64)>) -> Result<Self, Failure> {
        called(|| {
            let raised = Raised::default();
            let range = rewards.map(|(low, high)| RewardRange::new(low, high)).transpose()?;
            let mut made = Vec::with_capacity(arms.len());
            for (index, parts) in arms.into_iter().enumerate() {
                if parts.8 && range.is_none() {
                    return Err(GameError::NoRewards { arm: index, name: parts.0 }.into());
                }
                made.push(raised.or(arm(parts, range, &raised))?);
            }
            let game = Game::new(made)?;
            let game = match range {
                Some(range) => game.with_rewards(range),
                None => game,
            };
            let source = match title {
                Some(title) => {
                    Game::check_title(&title)?;
                    GameSource::Titled { title, game }
                }
                None => GameSource::Fixed(game),
            };
            Ok(Self { source, raised })
        })
    }

    /// The game of an instance. Its title says of which game.
    fn draw(&self, seed: u64, experiment: &str, instance: u64) -> Result<Self, Failure> {
        called(|| {
            let game = self.source.draw(&mut StreamKey::new(seed, experiment, instance).game());
            let game = self.raised.or(game)?;
            let source = match &self.source {
                GameSource::Spec(GameSpec::Custom(custom)) => match custom.title.clone() {
                    Some(title) => GameSource::Titled { title, game },
                    None => GameSource::Fixed(game),
                },
                GameSource::Spec(spec) => {
                    GameSource::Titled { title: format!("{}, instance {instance}", spec.title()), game }
                }
                fixed => fixed.clone(),
            };
            Ok(Self { source, raised: self.raised.clone() })
        })
    }

    /// The game of an instance, to be played one play at a time.
    fn session(&self, seed: u64, experiment: &str, instance: u64) -> Result<PySession, Failure> {
        called(|| {
            let game = self.source.draw(&mut StreamKey::new(seed, experiment, instance).game());
            Ok(PySession::new(self.raised.or(game)?, seed, experiment, instance, self.raised.clone()))
        })
    }

    /// The `[game]` table as JSON; `None` if the game has Python functions.
    pub(crate) fn spec(&self) -> Result<Option<String>, Failure> {
        called(|| {
            Ok(match &self.source {
                GameSource::Spec(spec) => Some(serde_json::to_string(spec)?),
                GameSource::Fixed(game) => custom(game, None).map(|spec| spec.to_string()),
                GameSource::Titled { title, game } => custom(game, Some(title)).map(|spec| spec.to_string()),
            })
        })
    }

    /// Its label in tables and figures.
    #[getter]
    pub(crate) fn title(&self) -> Result<String, Failure> {
        called(|| Ok(self.source.title()))
    }

    /// The numbers of arms and of the longest memory, the best arm, the eventual losses and the names.
    fn facts(&self) -> Result<Facts, Failure> {
        called(|| {
            let game = self.game()?;
            let losses = game.arms().iter().map(Arm::eventual_loss).collect();
            let names = game.arms().iter().map(|arm| arm.name().map(str::to_owned)).collect();
            let memory = (!game.is_rested()).then(|| game.memory());
            Ok((game.arms().len(), memory, game.best_arm(), losses, names))
        })
    }

    /// Repeated exposure optimality.
    fn reo(&self, py: Python<'_>) -> Result<ReoParts, Failure> {
        self.computed(py, |game, stop| {
            let found = reo_interruptible(game, Interrupt::new(stop))?;
            Ok((found.alpha, found.best_arm, found.arm, found.window, found.plays))
        })
    }

    /// The optimum, or bounds on it.
    fn optimum(&self, py: Python<'_>, horizon: u64) -> Result<OptimumParts, Failure> {
        self.computed(py, move |game, stop| {
            let mut optima = Optima::new(game).interruptible(Interrupt::new(stop));
            let (loss, excess, lower, exact, sequence) = match optima.at(horizon) {
                Ok(best) => (best.loss, best.excess, best.loss, true, best.sequence),
                Err(error) if error.is_too_large() => {
                    let best = optima.bounds_at(horizon);
                    (best.upper, best.upper_excess, best.lower, best.exact, best.sequence)
                }
                Err(error) => return Err(error.into()),
            };
            let blocks = sequence.blocks.iter().map(|block| (block.arm, block.plays)).collect();
            Ok((loss, excess, lower, exact, blocks, sequence.prefix, sequence.cycle, sequence.repeats, sequence.tail))
        })
    }

    /// The expected losses of a sequence of plays.
    fn play(&self, sequence: Vec<usize>) -> Result<Column, Failure> {
        called(|| {
            let losses = self.game()?.losses(&sequence);
            Ok(Column::floats(self.raised.or(losses)?))
        })
    }
}

impl PyGame {
    /// The game; for a specification, the first instance that `simulate` plays.
    fn game(&self) -> Result<Game, Failure> {
        let game = self.source.draw(&mut StreamKey::new(1, crate::simulate::NAME, 0).game());
        self.raised.or(game)
    }

    /// What is computed of the game on another thread, until the flag is set.
    fn computed<T: Send + 'static>(
        &self,
        py: Python<'_>,
        compute: impl FnOnce(&Game, &AtomicBool) -> Result<T, Failure> + Send + 'static,
    ) -> Result<T, Failure> {
        called(|| {
            let game = self.game()?;
            let stop = Arc::new(AtomicBool::new(false));
            let flag = stop.clone();
            self.raised.or(watched(py, None, &stop, move |_| compute(&game, &flag)))
        })
    }
}

/// Checks an arm before it is part of a game.
#[pyfunction]
pub(crate) fn check_arm(parts: ArmParts<'_>) -> Result<(), Failure> {
    called(|| {
        let raised = Raised::default();
        raised.or(arm(parts, None, &raised)).map(|_| ())
    })
}

fn arm(parts: ArmParts<'_>, rewards: Option<RewardRange>, raised: &Raised) -> Result<Arm, Failure> {
    let ArmParts(name, weights, memory, loss, calibrated, alone, trend, feedback, is_reward) = parts;
    let range = rewards.filter(|_| is_reward);
    let weights = match (weights, memory) {
        (Some(weights), None) => Weights::new(weights),
        (None, Some(memory)) => Weights::of(serde_json::from_str(&memory)?),
        (Some(_), Some(_)) => Err(ArmError::WeightsAndMemory),
        (None, None) => Err(ArmError::NoWeights),
    };
    let noise: Noise = serde_json::from_str(&feedback)?;
    let noise = range.map_or(noise, |range| range.noise(noise));
    let converted = |value: f64| range.map_or(value, |range| range.loss(value));
    let curve = match loss.extract::<String>() {
        Ok(json) => {
            let spec: LossCurveSpec = serde_json::from_str(&json)?;
            LossCurve::try_from(match range {
                Some(range) => spec.of_rewards(range)?,
                None => spec,
            })?
        }
        Err(_) => {
            let trend = match trend.as_deref() {
                None => Trend::Unknown,
                Some("decreasing") => Trend::Decreasing,
                Some("increasing") => Trend::Increasing,
                Some(other) => {
                    return Err(Failure::Value(format!(
                        "`trend` must be 'increasing', 'decreasing' or None, not {other:?}"
                    )));
                }
            };
            let given = function(loss.unbind(), raised);
            let (function, trend): (LossFn, Trend) = match range {
                Some(range) => (Arc::new(move |tally| range.loss(given(tally))), reversed(trend)),
                None => (given, trend),
            };
            let mut curve = LossCurve::new(Shape::Function { function, trend });
            curve = calibrated.map_or(curve.clone(), |value| curve.when_calibrated(converted(value)));
            alone.map_or(curve.clone(), |value| curve.when_alone(converted(value)))
        }
    };
    let arm = Arm::new(weights?, curve, noise)?;
    Ok(match name {
        Some(name) => arm.named(name)?,
        None => arm,
    })
}

/// The trend of losses, if this is the trend of rewards.
fn reversed(trend: Trend) -> Trend {
    match trend {
        Trend::Decreasing => Trend::Increasing,
        Trend::Increasing => Trend::Decreasing,
        other => other,
    }
}

/// A Python function as a loss function. If it raises, the exception is stored and the loss is NaN.
fn function(function: Py<PyAny>, raised: &Raised) -> LossFn {
    let raised = raised.clone();
    Arc::new(move |tally| {
        attached(|py| {
            let loss = function.bind(py).call1((tally,)).and_then(|loss| loss.extract::<f64>());
            loss.unwrap_or_else(|error| {
                raised.put(error);
                f64::NAN
            })
        })
    })
}

/// A game without functions as a `[game]` table: JSON of a game has `arms` where a table has `arm`.
fn custom(game: &Game, title: Option<&str>) -> Option<Value> {
    let mut value = serde_json::to_value(game).ok()?;
    let mut table = json!({"kind": "custom", "arm": value.get_mut("arms")?.take()});
    if let Some(title) = title {
        table["title"] = title.into();
    }
    if let Some(rewards) = value.get_mut("rewards") {
        table["rewards"] = rewards.take();
    }
    Some(table)
}
