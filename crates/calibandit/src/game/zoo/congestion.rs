//! Congested arms: the more often an arm was played lately, the worse it is.

use super::{GameConfig, Memories, check};
use crate::game::{Game, GameError, LossCurve, Memory, Noise, Weights};
use crate::math;
use crate::rng::Stream;

/// Routes that congest: the loss of an arm rises with the number of its plays in the window.
///
/// The loss of a route at j plays in its window of m is `free + (full - free) ((j - 1) / (m - 1))^p`, where p is 1 for
/// linear and 2 for convex congestion. The free losses of the routes are evenly spaced over `free`, in a random order.
/// The setting is that of Awasthi, Bhatia, Gollapudi and Kollias 2022; the form of the losses and the defaults are
/// ours, because theirs were not found.
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(default, deny_unknown_fields))]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Congestion {
    /// The number of routes, K.
    #[cfg_attr(feature = "schema", schemars(range(min = 1, max = 1_000_000)))]
    pub arms: usize,
    /// The length of the window, m (their Delta): a number, or a list with one for each route.
    pub memory: Memories,
    /// The losses of the best and the worst route when they are free.
    pub free: [f64; 2],
    /// The loss of a route when the whole window is its plays, at least `free`.
    #[cfg_attr(feature = "schema", schemars(range(min = 0.0, max = 1.0)))]
    pub full: f64,
    /// How the loss grows with the plays in the window.
    pub growth: CongestionGrowth,
    /// The noise of the feedback.
    pub feedback: Noise,
}

/// How the loss of a congested arm grows with its plays in the window.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(rename_all = "kebab-case"))]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub enum CongestionGrowth {
    /// Along a line.
    #[default]
    Linear,
    /// With the square: slowly at first.
    Convex,
}

impl Default for Congestion {
    fn default() -> Self {
        Self {
            arms: 3,
            memory: Memories::Same(Memory::Plays(5)),
            free: [0.1, 0.3],
            full: 0.9,
            growth: CongestionGrowth::Linear,
            feedback: Noise::Bernoulli,
        }
    }
}

impl GameConfig for Congestion {
    const NAME: &'static str = "congestion";
    const CITATION: &'static str = "Awasthi, Bhatia, Gollapudi, Kollias (ICML 2022), the setting; losses are ours";

    fn example() -> Self {
        Self::default()
    }

    fn size(&self) -> String {
        format!("K = {}, {}", self.arms, self.memory.title())
    }

    fn is_random(&self) -> bool {
        matches!(self.memory, Memories::Each(_)) && self.arms > 1
    }
}

impl Congestion {
    /// One instance of the game.
    pub fn draw(&self, stream: &mut Stream) -> Result<Game, GameError> {
        check::arms(self.arms)?;
        self.memory.check(self.arms)?;
        let [best, worst] = self.free;
        check::loss("free", best)?;
        check::between("free", worst, best, 1.0, "two numbers from 0 to 1, the smaller one first")?;
        check::between("full", self.full, worst, 1.0, "a number from the larger `free` to 1")?;
        check::feedback(self.feedback)?;
        let order = check::shuffled(self.arms, stream);
        let arms = order.into_iter().enumerate().map(|(x, rank)| {
            let part = if self.arms == 1 { 0.0 } else { rank as f64 / (self.arms - 1) as f64 };
            let free = best + (worst - best) * part;
            let memory = match self.memory.of(x) {
                Memory::Plays(memory) => memory,
                Memory::All => {
                    return Err(GameError::Needed { parameter: "memory", needed: "a number: congestion ends" });
                }
            };
            let named = |source| GameError::Arm { arm: x, name: None, source };
            let losses: Vec<f64> = (0..memory)
                .map(|others| {
                    let load = if memory == 1 { 0.0 } else { others as f64 / (memory - 1) as f64 };
                    let grown = match self.growth {
                        CongestionGrowth::Linear => load,
                        CongestionGrowth::Convex => math::powi(load, 2),
                    };
                    free + (self.full - free) * grown
                })
                .collect();
            check::arm(x, Weights::unit(memory).map_err(named)?, LossCurve::by_plays(losses), self.feedback)
        });
        Game::new(arms.collect::<Result<_, _>>()?)
    }
}
