//! The zoo: every game of the paper by name, and games of one's own.
//!
//! A [`GameSpec`] says which game it is, as plain data: what experiment files hold. From it and a stream of
//! randomness an instance is drawn, a [`Game`]. Where a game has a distinguished arm, its index is drawn too unless
//! it is given, so that no policy profits from the order of the arms.
//!
//! ```
//! use calibandit::rng::StreamKey;
//! use calibandit::GameSpec;
//! let spec: GameSpec = serde_json::from_str(r#"{"kind": "step", "arms": 5, "memory": 3}"#)?;
//! let game = spec.draw(&mut StreamKey::new(1, "fig1a", 0).game())?;
//! let best = game.best_arm();
//! assert_eq!(game.losses(&[best; 4])?, [0.5, 0.5, 0.35, 0.35]);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! Each game has a file of its own; a new one is a struct with a `draw`, a variant here and a line in
//! [`GameSpec::kinds`].

mod adaptivity;
mod alpha_reo;
mod basketball;
mod check;
mod custom;
mod darts;
mod decay;
mod fitted;
mod kinds;
mod needle;
mod random_reo;
mod span;
mod step;
mod stochastic;

pub use adaptivity::{AdaptivityA, AdaptivityB};
pub use alpha_reo::AlphaReo;
pub use basketball::Basketball;
pub use custom::{ArmSpec, Custom};
pub use darts::Darts;
pub use decay::Decay;
pub use fitted::{Fitted, FittedDriver, FittedModel, FittedPair, RacePair};
pub use kinds::{GameKind, Parameter};
pub use needle::Needle;
pub use random_reo::{CurveFamily, RandomReo, WeightFamily};
pub use span::Span;
pub use step::Step;
pub use stochastic::Stochastic;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Game, GameError, LossCurveSpec, Noise};
use crate::rng::Stream;

/// Which game to play: the `[game]` table of an experiment.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "kebab-case")]
#[non_exhaustive]
pub enum GameSpec {
    /// The example of Section 2.
    Basketball(Basketball),
    /// Proposition 1's needle in a haystack.
    Needle(Needle),
    /// The first game of Theorem 2's proof.
    AdaptivityA(AdaptivityA),
    /// The second game of Theorem 2's proof.
    AdaptivityB(AdaptivityB),
    /// The unweighted step game.
    Step(Step),
    /// The game with alpha > 0.
    AlphaReo(AlphaReo),
    /// The weighted game.
    Decay(Decay),
    /// The dart throwing tournament.
    Darts(Darts),
    /// Arms with fitted warm-up curves, among them the paper's racing tournament.
    #[serde(alias = "race")]
    #[schemars(extend("aliases" = ["race"]))]
    Fitted(Fitted),
    /// The plain stochastic bandit.
    Stochastic(Stochastic),
    /// Random games with a chosen alpha.
    RandomReo(RandomReo),
    /// A game written out arm by arm.
    Custom(Custom),
}

impl GameSpec {
    /// Draws an instance. Equal streams draw equal games, bit for bit.
    pub fn draw(&self, stream: &mut Stream) -> Result<Game, GameError> {
        match self {
            GameSpec::Basketball(game) => game.draw(stream),
            GameSpec::Needle(game) => game.draw(stream),
            GameSpec::AdaptivityA(game) => game.draw(stream),
            GameSpec::AdaptivityB(game) => game.draw(stream),
            GameSpec::Step(game) => game.draw(stream),
            GameSpec::AlphaReo(game) => game.draw(stream),
            GameSpec::Decay(game) => game.draw(stream),
            GameSpec::Darts(game) => game.draw(stream),
            GameSpec::Fitted(game) => game.draw(stream),
            GameSpec::Stochastic(game) => game.draw(stream),
            GameSpec::RandomReo(game) => game.draw(stream),
            GameSpec::Custom(game) => game.draw(stream),
        }
    }

    /// Whether instances differ in more than the order of their arms.
    pub fn is_random(&self) -> bool {
        match self {
            GameSpec::Darts(darts) => darts.first_toss.is_random() || darts.calibrated.is_random(),
            GameSpec::Needle(needle) => needle.memory > 1,
            GameSpec::RandomReo(_) => true,
            _ => false,
        }
    }

    /// A short name with what tells it from others of its kind, for tables and plots.
    pub fn title(&self) -> String {
        let with = |arms: usize, memory: usize| format!("{}, K = {arms}, m = {memory}", self.kind());
        match self {
            GameSpec::Basketball(game) => with(2, game.weights.len()),
            GameSpec::Needle(game) => with(2, game.memory),
            GameSpec::AdaptivityA(game) => with(game.arms, 1),
            GameSpec::AdaptivityB(game) => with(game.arms, game.memory_bound),
            GameSpec::Step(game) => with(game.arms, game.memory),
            GameSpec::AlphaReo(game) => with(game.arms, game.memory),
            GameSpec::Decay(game) => with(game.arms, game.memory),
            GameSpec::Darts(game) => with(game.arms, 2),
            GameSpec::Fitted(game) => game.title(),
            GameSpec::Stochastic(game) => with(game.arms(), 1),
            GameSpec::RandomReo(game) => {
                let (low, high) = (game.memory.low(), game.memory.high());
                let memory = if low == high { low.to_string() } else { format!("{low} to {high}") };
                format!("random-reo, K = {}, m = {memory}, alpha = {}", game.arms, game.alpha)
            }
            GameSpec::Custom(game) => format!("custom, K = {}", game.arm.len()),
        }
    }
}

macro_rules! into_spec {
    ($($kind:ident),*) => {$(
        impl From<$kind> for GameSpec {
            fn from(game: $kind) -> Self {
                Self::$kind(game)
            }
        }
    )*};
}

into_spec!(
    AdaptivityA,
    AdaptivityB,
    AlphaReo,
    Basketball,
    Custom,
    Darts,
    Decay,
    Needle,
    Fitted,
    RandomReo,
    Step,
    Stochastic
);
