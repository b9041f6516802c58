//! The zoo: every game of the paper by name, games of neighbouring models, and user-defined games.
//!
//! A [`GameSpec`] says which game it is, as plain data: this is what experiment files hold. An instance, a [`Game`], is
//! drawn from it and a random stream. Where a game has a distinguished arm, the index of that arm is drawn too unless
//! it is given, so that no policy profits from the order of the arms.
//!
//! ```
//! use calibandit::rng::StreamKey;
//! use calibandit::GameSpec;
//! use calibandit::zoo::Step;
//! let spec = GameSpec::from(Step { arms: 5, memory: 3, ..Step::default() });
//! assert_eq!(spec, GameSpec::from_json(r#"{"kind": "step", "arms": 5, "memory": 3}"#)?);
//! let game = spec.draw(&mut StreamKey::new(1, "fig1a", 0).game())?;
//! let best = game.best_arm();
//! assert_eq!(game.losses(&[best; 4])?, [0.5, 0.5, 0.35, 0.35]);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! Each game has its own file: a struct of parameters with a `draw`, described by `GameConfig`. The list at the end
//! of this file needs one line per game.

mod adaptivity;
mod alpha_reo;
mod basketball;
mod check;
mod congestion;
mod custom;
mod darts;
mod decay;
mod fitted;
mod improving;
mod last_switch;
mod learning_curves;
mod memories;
mod needle;
mod plateaus;
mod random_reo;
mod recommender;
mod recovering;
mod rising_fifteen;
mod rising_two;
mod rotting_ten;
mod rotting_two;
mod single_peaked;
mod span;
mod step;
mod stochastic;
mod sweet_spot;

pub use adaptivity::{AdaptivityA, AdaptivityB};
pub use alpha_reo::AlphaReo;
pub use basketball::Basketball;
pub use congestion::{Congestion, CongestionGrowth};
pub use custom::{ArmSpec, Custom};
pub use darts::Darts;
pub use decay::Decay;
pub use fitted::{Fitted, FittedDriver, FittedModel, FittedPair, RacePair};
pub use improving::Improving;
pub use last_switch::LastSwitch;
pub use learning_curves::LearningCurves;
pub use memories::Memories;
pub use needle::Needle;
pub use plateaus::Plateaus;
pub use random_reo::{CurveFamily, RandomReo, WeightFamily};
pub use recommender::Recommender;
pub use recovering::Recovering;
pub use rising_fifteen::RisingFifteen;
pub use rising_two::RisingTwo;
pub use rotting_ten::RottingTen;
pub use rotting_two::RottingTwo;
pub use single_peaked::SinglePeaked;
pub use span::Span;
pub use step::Step;
pub use stochastic::Stochastic;
pub use sweet_spot::SweetSpot;

#[cfg(feature = "schema")]
use std::sync::LazyLock;

use super::{Game, GameError, RewardRange};
#[cfg(feature = "schema")]
use crate::catalogue::CatalogueEntry;
use crate::rng::{Stream, StreamKey};

/// What the catalogue and [`GameSpec`] need of one kind of game besides its parameters and its `draw`.
#[cfg_attr(not(feature = "schema"), allow(dead_code))] // some items are read by the catalogue alone
trait GameConfig: Sized {
    /// The value of `kind` in files.
    const NAME: &'static str;
    /// Former values of `kind` that files may still use.
    const ALIASES: &'static [&'static str] = &[];
    /// Where the paper, or another source, has it.
    const CITATION: &'static str;
    /// A game of this kind that can be drawn: the defaults, with small values where there are none.
    fn example() -> Self;
    /// The part of the title that tells it from others of its kind, such as `K = 5, m = 3`.
    fn size(&self) -> String;
    /// The whole title.
    fn title(&self) -> String {
        format!("{}, {}", Self::NAME, self.size())
    }
    /// Whether instances differ in more than the order of their arms.
    fn is_random(&self) -> bool {
        false
    }
    /// The range of rewards, if the game or its source is stated in rewards.
    fn rewards(&self) -> Option<RewardRange> {
        None
    }
}

/// The size of a game, as titles have it.
fn size(arms: usize, memory: usize) -> String {
    format!("K = {arms}, m = {memory}")
}

macro_rules! games {
    ($($(#[$attribute:meta])* $kind:ident,)*) => {
        /// Which game to play: the `[game]` table of an experiment.
        #[derive(Clone, Debug, PartialEq)]
        #[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
        #[cfg_attr(feature = "serde", serde(tag = "kind", rename_all = "kebab-case"))]
        #[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
        #[non_exhaustive]
        pub enum GameSpec {
            $($(#[$attribute])* $kind($kind),)*
        }

        impl GameSpec {
            /// The names of all kinds, as in files: first the games of the paper in its order, then generators, games
            /// of neighbouring models, and user-defined games.
            pub const KINDS: &[&str] = &[$(<$kind as GameConfig>::NAME,)*];

            /// Every kind of game with its documentation, parameters and an example, in the order of
            /// [`KINDS`](GameSpec::KINDS).
            #[cfg(feature = "schema")]
            pub fn catalogue() -> &'static [CatalogueEntry<Self>] {
                static CATALOGUE: LazyLock<Vec<CatalogueEntry<GameSpec>>> = LazyLock::new(|| vec![$(
                    CatalogueEntry::new::<$kind>(
                        <$kind as GameConfig>::NAME,
                        <$kind as GameConfig>::ALIASES,
                        <$kind as GameConfig>::CITATION,
                        GameSpec::$kind(GameConfig::example()),
                    ),
                )*]);
                &CATALOGUE
            }

            /// The name of this game's kind, as in files.
            pub fn kind(&self) -> &'static str {
                match self {
                    $(Self::$kind(_) => <$kind as GameConfig>::NAME,)*
                }
            }

            /// Draws an instance. Equal streams draw equal games, bit for bit.
            pub fn draw(&self, stream: &mut Stream) -> Result<Game, GameError> {
                let game = match self {
                    $(Self::$kind(game) => game.draw(stream),)*
                }?;
                Ok(match self.rewards() {
                    Some(range) => game.with_rewards(range),
                    None => game,
                })
            }

            /// The range of rewards, if the game or its source is stated in rewards. It is the same in all instances.
            pub fn rewards(&self) -> Option<RewardRange> {
                match self {
                    $(Self::$kind(game) => GameConfig::rewards(game),)*
                }
            }

            /// Whether instances differ in more than the order of their arms.
            pub fn is_random(&self) -> bool {
                match self {
                    $(Self::$kind(game) => GameConfig::is_random(game),)*
                }
            }

            /// A short name with what tells it from others of its kind, for tables and plots.
            pub fn title(&self) -> String {
                match self {
                    $(Self::$kind(game) => GameConfig::title(game),)*
                }
            }
        }

        $(
            impl From<$kind> for GameSpec {
                fn from(game: $kind) -> Self {
                    Self::$kind(game)
                }
            }
        )*
    };
}

games! {
    /// The example of Section 2.
    Basketball,
    /// Proposition 1's needle in a haystack.
    Needle,
    /// The first game of Theorem 2's proof.
    AdaptivityA,
    /// The second game of Theorem 2's proof.
    AdaptivityB,
    /// The unweighted step game.
    Step,
    /// The game with alpha > 0.
    AlphaReo,
    /// The weighted game.
    Decay,
    /// The dart throwing tournament.
    Darts,
    /// Arms with fitted warm-up curves, among them the paper's racing tournament.
    #[cfg_attr(feature = "serde", serde(alias = "race"))]
    #[cfg_attr(feature = "schema", schemars(extend("aliases" = ["race"])))]
    Fitted,
    /// The stochastic bandit without memory.
    Stochastic,
    /// Random games with a chosen alpha.
    RandomReo,
    /// Fatigue after a sweet spot.
    SweetSpot,
    /// Arms that congest.
    Congestion,
    /// Arms that recover, or are blocked, after a play.
    Recovering,
    /// Arms whose loss depends on the last switch.
    LastSwitch,
    /// One arm rots once.
    RottingTwo,
    /// All arms rot once.
    RottingTen,
    /// Arms that rot along plateaus.
    Plateaus,
    /// Two improving arms.
    Improving,
    /// Two arms with a peak.
    SinglePeaked,
    /// Random arms with a peak.
    Recommender,
    /// Two rising arms.
    RisingTwo,
    /// Fifteen rising arms.
    RisingFifteen,
    /// Learners as arms.
    LearningCurves,
    /// A game given arm by arm.
    Custom,
}

impl GameSpec {
    /// Whether the user stated it in rewards, and not only its source: results are then shown as rewards.
    pub fn states_rewards(&self) -> bool {
        matches!(self, Self::Custom(_)) && self.rewards().is_some()
    }

    /// Checks every parameter, by drawing an instance: a specification that draws one instance draws them all.
    pub fn check(&self) -> Result<(), GameError> {
        self.draw(&mut StreamKey::new(0, "check", 0).game()).map(drop)
    }

    /// Reads a specification from JSON and checks it.
    #[cfg(feature = "serde")]
    pub fn from_json(text: &str) -> Result<Self, GameSpecError> {
        let spec: Self =
            serde_json::from_str(text).map_err(|error| GameSpecError::Json { message: error.to_string() })?;
        spec.check()?;
        Ok(spec)
    }
}

/// Why a text is no valid [`GameSpec`].
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum GameSpecError {
    /// The text is not JSON, or has an unknown kind, an unknown key or a value of the wrong type.
    #[error("the game cannot be read: {message}")]
    Json {
        /// What is wrong, and where.
        message: String,
    },
    /// A parameter has a value that the game cannot have.
    #[error(transparent)]
    Game(#[from] GameError),
}
