//! The racing tournament: drivers with fitted lap-time models.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::check;
use crate::game::{Game, GameError, LossCurve, Noise};
use crate::rng::Stream;

/// Drivers get faster lap by lap and start anew after a break; each has a lap-time model with normal noise.
///
/// In the paper: Numerical Results and Appendix, "Simulated F1 Tournament".
///
/// The tally is the lap: unit weights, expected loss `beta·exp(-alpha·k) - |gamma|·k` at k plays in the window, which
/// must lie in [0, 1] for k from 1 to the memory. The noise is not clipped, so observed losses may leave [0, 1]. Arms
/// are in the order of the models. Repeated exposure optimality is not assumed of the models.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Race {
    /// The drivers, one arm each; the paper races pairs.
    pub model: Vec<LapModel>,
    /// The number of laps after which a driver's lap times are calibrated, m.
    pub memory: usize,
}

/// The lap times of one driver: normal around `beta·exp(-alpha·k) - |gamma|·k` at lap `k`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct LapModel {
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

impl Race {
    /// The game: the same for every stream.
    pub fn draw(&self, _stream: &mut Stream) -> Result<Game, GameError> {
        check::memory("memory", self.memory, self.model.len())?;
        let weights = check::weights(vec![1.0; self.memory])?;
        let arms = self.model.iter().enumerate().map(|(x, model)| {
            let curve = LossCurve::lap(model.alpha, model.beta, model.gamma);
            check::arm(x, weights.clone(), curve, Noise::Normal { sd: model.sd })
        });
        Game::new(arms.collect::<Result<_, _>>()?)
    }

    /// The drivers' names as in "A against B", if all have one.
    pub(super) fn names(&self) -> Option<String> {
        let names: Option<Vec<&str>> = self.model.iter().map(|model| model.name.as_deref()).collect();
        names.filter(|names| !names.is_empty()).map(|names| names.join(" against "))
    }
}
