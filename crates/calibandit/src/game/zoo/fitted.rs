//! The racing tournament: drivers with fitted lap-time models.

mod pair;
mod shipped;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

pub use pair::{FittedDriver, FittedPair, RacePair};

use super::check;
use crate::game::{ExponentialLinear, Game, GameError, LossCurve, Noise};
use crate::rng::Stream;

/// Drivers get faster lap by lap and start anew after a break; each has a lap-time model with normal noise.
///
/// In the paper: Numerical Results and Appendix, "Simulated F1 Tournament".
///
/// Give either `pair`, one of the ten that come with the library, or `model` and `memory`.
///
/// The tally is the lap: unit weights, expected loss `beta·exp(-alpha·k) - |gamma|·k` at k plays in the window, which
/// must lie in [0, 1] for k from 1 to the memory. The noise is not clipped, so observed losses may leave [0, 1]. Arms
/// are in the order of the models. Repeated exposure optimality is not assumed of the models.
///
/// ```
/// use calibandit::{GameSpec, reo};
/// use calibandit::rng::StreamKey;
/// let spec: GameSpec = serde_json::from_str(r#"{"kind": "fitted", "pair": "2001-german"}"#)?;
/// let game = spec.draw(&mut StreamKey::new(1, "f1", 0).game())?;
/// assert_eq!((game.arms().len(), game.memory()), (2, 10));
/// assert_eq!(reo(&game)?.alpha, 0.0); // computed: no window of these two is better than the best calibrated one
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Fitted {
    /// A pair of drivers that comes with the library, by its race.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pair: Option<RacePair>,
    /// The drivers, one arm each; the paper races pairs. In TOML one `[[game.model]]` table each.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub model: Option<Vec<FittedModel>>,
    /// The number of laps after which a driver's lap times are calibrated, m. A `pair` has its own.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub memory: Option<usize>,
}

/// The lap times of one driver: normal around `beta·exp(-alpha·k) - |gamma|·k` at lap `k`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct FittedModel {
    /// The driver's name, for tables and plots.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// The rate of the exponential decrease.
    pub alpha: f64,
    /// The height of the exponential part.
    pub beta: f64,
    /// The linear decrease per lap; its sign does not matter.
    pub gamma: f64,
    /// The standard deviation of a lap.
    pub sd: f64,
}

impl FittedModel {
    /// The expected loss of lap `k`, from 1 on.
    pub fn mean(&self, k: usize) -> f64 {
        ExponentialLinear { alpha: self.alpha, beta: self.beta, gamma: self.gamma }.at(k)
    }
}

impl From<RacePair> for Fitted {
    fn from(pair: RacePair) -> Self {
        Self { pair: Some(pair), ..Self::default() }
    }
}

impl Fitted {
    /// The race of these drivers.
    pub fn of(model: Vec<FittedModel>, memory: usize) -> Self {
        Self { pair: None, model: Some(model), memory: Some(memory) }
    }

    /// The game: the same for every stream.
    pub fn draw(&self, _stream: &mut Stream) -> Result<Game, GameError> {
        let (models, memory) = match (self.pair, &self.model, self.memory) {
            (Some(_), Some(_), _) => return Err(GameError::Conflict { one: "pair", other: "model" }),
            (Some(_), None, Some(_)) => return Err(GameError::Conflict { one: "pair", other: "memory" }),
            (None, None, _) => return Err(GameError::Missing { parameters: "`pair` or `model`" }),
            (None, Some(_), None) => return Err(GameError::Missing { parameters: "`memory`" }),
            (Some(pair), None, None) => (pair.models(), pair.fitted().laps),
            (None, Some(models), Some(memory)) => (models.clone(), memory),
        };
        check::memory("memory", memory, models.len())?;
        let weights = check::weights(vec![1.0; memory])?;
        let arms = models.iter().enumerate().map(|(x, model)| {
            let curve = LossCurve::exponential_linear(model.alpha, model.beta, model.gamma);
            check::arm(x, weights.clone(), curve, Noise::Normal { sd: model.sd })
        });
        Game::new(arms.collect::<Result<_, _>>()?)
    }

    /// What tells it from other games of its kind: the race of the shipped pair, or the models' names, and the memory.
    pub(super) fn title(&self) -> String {
        if let Some(pair) = self.pair {
            let FittedPair { year, race, laps, .. } = pair.fitted();
            return format!("race, {year} {race}, {}, m = {laps}", names(&pair.models()).unwrap_or_default());
        }
        let models = self.model.as_deref().unwrap_or_default();
        let memory = self.memory.unwrap_or(0);
        match names(models) {
            Some(names) => format!("fitted, {names}, m = {memory}"),
            None => format!("fitted, K = {}, m = {memory}", models.len()),
        }
    }
}

impl RacePair {
    fn models(self) -> Vec<FittedModel> {
        self.fitted().drivers.iter().map(FittedDriver::model).collect()
    }
}

/// As in "A against B", if all have a name.
fn names(models: &[FittedModel]) -> Option<String> {
    let names: Option<Vec<&str>> = models.iter().map(|model| model.name.as_deref()).collect();
    names.filter(|names| !names.is_empty()).map(|names| names.join(" against "))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::game::{optimum, reo};
    use crate::rng::StreamKey;

    fn game(pair: RacePair) -> Game {
        Fitted::from(pair).draw(&mut StreamKey::new(1, "race", 0).game()).unwrap()
    }

    #[test]
    fn the_shipped_pairs_are_games_of_two_with_the_memory_of_their_laps() {
        for pair in RacePair::ALL {
            let fitted = pair.fitted();
            let game = game(pair);
            assert_eq!((game.arms().len(), game.memory()), (2, fitted.laps), "{}", fitted.name);
            // The noise is that of the fit, by the definition of maximum likelihood.
            for driver in &fitted.drivers {
                let sd = (driver.sse / fitted.laps as f64).sqrt();
                assert!((driver.sd / sd - 1.0).abs() < 1e-12, "{}", driver.name);
            }
            let text = serde_json::to_value(pair).unwrap();
            assert_eq!(text, fitted.name);
        }
        assert_eq!(game(RacePair::German2001).memory(), 10);
    }

    /// Not assumed: alpha by the definition, over all windows.
    #[test]
    fn repeated_exposure_is_optimal_in_all_ten_and_the_optimum_is_known() {
        for pair in RacePair::ALL {
            let game = game(pair);
            let name = pair.fitted().name;
            assert_eq!(reo(&game).unwrap().alpha, 0.0, "{name}");
            // By definition: no number of laps in the window of either driver is better than the best calibrated one.
            let best = game.arms().iter().map(|arm| arm.eventual_loss()).fold(f64::INFINITY, f64::min);
            for driver in &pair.fitted().drivers {
                assert!((1..=pair.fitted().laps).all(|k| driver.model().mean(k) >= best), "{name}");
            }
            let found = optimum(&game, 1_000_000).unwrap();
            assert!(found.excess >= 0.0 && found.loss >= 1e6 * best, "{name}");
        }
    }

    /// The paper's condition, on the shipped numbers.
    #[test]
    fn each_expected_last_lap_is_within_the_variance_of_the_other() {
        for pair in RacePair::ALL {
            let FittedPair { name, laps, drivers: [one, other], .. } = *pair.fitted();
            let gap = (one.model().mean(laps) - other.model().mean(laps)).abs();
            assert!(gap <= one.sd.powi(2) && gap <= other.sd.powi(2), "{name}");
            assert!(gap >= 1e-4, "{name}");
        }
    }

    #[test]
    fn a_pair_excludes_models_and_memory_and_one_of_them_is_needed() {
        let draw = |race: Fitted| race.draw(&mut StreamKey::new(1, "race", 0).game()).unwrap_err();
        let pair = Fitted::from(RacePair::German2001);
        let model = Some(RacePair::German2001.models());
        let conflict = |other| GameError::Conflict { one: "pair", other };
        assert_eq!(draw(Fitted { model: model.clone(), ..pair.clone() }), conflict("model"));
        assert_eq!(draw(Fitted { memory: Some(3), ..pair }), conflict("memory"));
        assert_eq!(draw(Fitted::default()), GameError::Missing { parameters: "`pair` or `model`" });
        assert_eq!(draw(Fitted { model, ..Fitted::default() }), GameError::Missing { parameters: "`memory`" });
    }
}
