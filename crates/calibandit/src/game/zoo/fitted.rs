//! Arms whose warm-up curves were fitted to data, among them the drivers of the paper's racing tournament.

mod pair;

pub use pair::{FittedDriver, FittedPair, RacePair};

use super::{GameConfig, check, size};
use crate::game::{ExponentialLinear, Game, GameError, LossCurve, Noise};
use crate::rng::Stream;

/// Arms with warm-up curves fitted to data: an exponential plus a linear decrease per play in a row, with normal noise.
///
/// In the paper: Numerical Results and Appendix, "Simulated F1 Tournament", where the arms are drivers and a play is a
/// lap.
///
/// Give either `pair`, one of the ten pairs of drivers that come with the library, or `model` and `memory`.
///
/// The weights are 1. The expected loss is `beta·exp(-alpha·k) - |gamma|·k` at k plays in the window, which must lie in
/// [0, 1] for k from 1 to the memory. The noise is not clipped, so observed losses may lie outside [0, 1]. The arms
/// have the order of the models. The game need not satisfy repeated exposure optimality.
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
#[derive(Clone, Debug, Default, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(default, deny_unknown_fields))]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Fitted {
    /// A pair of drivers that comes with the library, by its race.
    #[cfg_attr(feature = "serde", serde(skip_serializing_if = "Option::is_none"))]
    pub pair: Option<RacePair>,
    /// The models, one per arm. In TOML, each is a `[[game.model]]` table.
    #[cfg_attr(feature = "serde", serde(skip_serializing_if = "Option::is_none"))]
    pub model: Option<Vec<FittedModel>>,
    /// The number of plays in a row that calibrate an arm, m. A `pair` has its own.
    #[cfg_attr(feature = "serde", serde(skip_serializing_if = "Option::is_none"))]
    #[cfg_attr(feature = "schema", schemars(range(min = 1)))]
    pub memory: Option<usize>,
}

/// The losses of one arm: normal around `beta·exp(-alpha·k) - |gamma|·k` at the k-th play in a row.
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(deny_unknown_fields))]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct FittedModel {
    /// The name of the arm, for tables and figures: 1 to 100 characters, different from the names of the other arms.
    #[cfg_attr(feature = "serde", serde(default, skip_serializing_if = "Option::is_none"))]
    #[cfg_attr(feature = "schema", schemars(length(min = 1, max = 100)))]
    pub name: Option<String>,
    /// The rate of the exponential decrease.
    pub alpha: f64,
    /// The height of the exponential part.
    pub beta: f64,
    /// The linear decrease per play; its sign does not matter.
    pub gamma: f64,
    /// The standard deviation of an observed loss.
    #[cfg_attr(feature = "schema", schemars(extend("exclusiveMinimum" = 0)))]
    pub sd: f64,
}

impl FittedModel {
    /// The expected loss of the `k`-th play in a row, from 1 on.
    pub fn mean(&self, k: usize) -> f64 {
        ExponentialLinear { alpha: self.alpha, beta: self.beta, gamma: self.gamma }.at(k)
    }
}

impl From<RacePair> for Fitted {
    fn from(pair: RacePair) -> Self {
        Self { pair: Some(pair), ..Self::default() }
    }
}

impl GameConfig for Fitted {
    const NAME: &'static str = "fitted";
    const ALIASES: &'static [&'static str] = &["race"];
    const CITATION: &'static str = "Numerical Results and Appendix, Simulated F1 Tournament";

    fn example() -> Self {
        RacePair::German2001.into()
    }

    fn size(&self) -> String {
        let models = self.model.as_deref().unwrap_or_default();
        size(models.len(), self.memory.unwrap_or(0))
    }

    /// The race of a shipped pair, or the names of the models where all have one.
    fn title(&self) -> String {
        if let Some(pair) = self.pair {
            let FittedPair { year, race, laps, drivers: [one, other], .. } = pair.fitted();
            return format!("race, {year} {race}, {} against {}, m = {laps}", one.name, other.name);
        }
        let names: Option<Vec<&str>> = self.model.iter().flatten().map(|model| model.name.as_deref()).collect();
        match (names, self.memory) {
            (Some(names), Some(memory)) if !names.is_empty() => {
                format!("{}, {}, m = {memory}", Self::NAME, names.join(" against "))
            }
            _ => format!("{}, {}", Self::NAME, self.size()),
        }
    }
}

impl Fitted {
    /// The game of these models, one arm each.
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
            check::named_arm(x, model.name.as_deref(), weights.clone(), curve, Noise::Normal { sd: model.sd })
        });
        Game::new(arms.collect::<Result<_, _>>()?)
    }
}

impl RacePair {
    fn models(self) -> Vec<FittedModel> {
        self.fitted().drivers.iter().map(FittedDriver::model).collect()
    }
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
