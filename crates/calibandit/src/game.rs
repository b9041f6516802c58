//! Games: weighted tallying bandits.
//!
//! A [`Game`] is a list of [`Arm`]s. An arm's expected loss depends on the weighted tally of its own plays among the
//! last ones (the [`Window`]); the observed loss is drawn around it with [`Noise`]. The games of the paper are in the
//! [`zoo`].
//!
//! Not here: policies, and playing a policy on a game ([`simulate`](crate::simulate())).

mod arm;
mod least_loss;
mod loss;
mod memory;
mod noise;
mod optimum;
mod repeated_exposure;
mod rewards;
mod weights;
mod window;
pub mod zoo;

pub use arm::{Arm, ArmError};
pub use loss::{
    CurveStep, ExponentialApproach, ExponentialLinear, Formula, Linear, LossCurve, LossCurveSpec, LossFn, LossStep,
    NeedleCurve, PeakCurve, PowerCurve, Ramp, RationalApproach, Shape, SwitchingLoss, Trend,
};
pub use memory::Memory;
pub use noise::Noise;
pub(crate) use noise::{bernoulli, threshold};
pub use optimum::{
    ArmPlays, BestSequence, Limits, Optima, Optimum, OptimumBounds, OptimumError, optimum, optimum_bounds,
};
pub use repeated_exposure::{Reo, ReoError, reo, reo_interruptible};
pub use rewards::RewardRange;
pub use weights::Weights;
pub use window::{Exposure, Window};
pub use zoo::{GameSpec, GameSpecError};

use std::collections::HashMap;

use crate::Problem;

/// A weighted tallying bandit: the paper's (m, w, h)-WTB, in which each arm may have a memory of its own.
///
/// ```
/// use calibandit::{Arm, Game, LossCurve, Noise, Weights};
/// // Two workers; the second is better, but only after three tasks in a row.
/// let game = Game::new(vec![
///     Arm::new(Weights::unit(3)?, LossCurve::constant(0.5), Noise::Bernoulli)?,
///     Arm::new(Weights::unit(3)?, LossCurve::by_plays([0.9, 0.6, 0.2]), Noise::Bernoulli)?,
/// ])?;
/// assert_eq!(game.losses(&[1, 1, 1, 0, 1])?, [0.9, 0.6, 0.2, 0.5, 0.6]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(
    feature = "serde",
    derive(serde::Serialize, serde::Deserialize),
    serde(try_from = "GameData", into = "GameData")
)]
pub struct Game {
    arms: Vec<Arm>,
    /// The longest memory of an arm that is not rested; 1 if all are.
    window: usize,
    rested: bool,
    /// If it was stated in rewards.
    rewards: Option<RewardRange>,
}

#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(deny_unknown_fields))]
struct GameData {
    arms: Vec<Arm>,
    #[cfg_attr(feature = "serde", serde(default, skip_serializing_if = "Option::is_none"))]
    rewards: Option<RewardRange>,
}

impl Game {
    /// A game with these arms. The names of arms that have one must differ.
    pub fn new(arms: Vec<Arm>) -> Result<Self, GameError> {
        if arms.len() > Problem::MOST_ARMS {
            return Err(GameError::TooManyArms { arms: arms.len() });
        }
        if arms.is_empty() {
            return Err(GameError::NoArms);
        }
        let rested = arms.iter().position(Arm::is_rested);
        let windowed = arms.iter().position(|arm| !arm.is_rested() && !arm.curve().is_constant() && arm.memory() > 1);
        if let (Some(rested), Some(windowed)) = (rested, windowed) {
            return Err(GameError::MixedMemories { rested, windowed, memory: arms[windowed].memory() });
        }
        let window = arms.iter().filter(|arm| !arm.is_rested()).map(Arm::memory).max().unwrap_or(1);
        let mut names = HashMap::new();
        for (arm, name) in arms.iter().enumerate().filter_map(|(x, arm)| Some((x, arm.name()?))) {
            if let Some(first) = names.insert(name, arm) {
                return Err(GameError::SameName { name: name.to_owned(), first, arm });
            }
        }
        Ok(Self { arms, window, rested: rested.is_some(), rewards: None })
    }

    /// The same game, with the range of the rewards that its losses stand for. It changes nothing but how results can
    /// be shown.
    #[must_use]
    pub fn with_rewards(mut self, range: RewardRange) -> Self {
        self.rewards = Some(range);
        self
    }

    /// The range of rewards, if the game was stated in rewards.
    pub fn rewards(&self) -> Option<RewardRange> {
        self.rewards
    }

    /// Checks a title of a game for tables and figures: 1 to 100 characters, not all blank and none of them a control
    /// character.
    pub fn check_title(title: &str) -> Result<(), GameError> {
        Arm::check_name(title).map_err(|_| GameError::Title { title: title.to_owned() })
    }

    /// The arms.
    pub fn arms(&self) -> &[Arm] {
        &self.arms
    }

    /// The name of an arm; `None` if it has none, or if there is no such arm.
    pub fn arm_name(&self, arm: usize) -> Option<&str> {
        self.arms.get(arm)?.name()
    }

    /// How tables refer to an arm: by its name, or by its index if it has none.
    pub fn arm_label(&self, arm: usize) -> String {
        self.arm_name(arm).map_or_else(|| arm.to_string(), str::to_owned)
    }

    /// How far back plays matter: the largest memory of any arm, the paper's `m`. `usize::MAX` if an arm is rested;
    /// [`window_length`](Game::window_length) is what has to be kept.
    pub fn memory(&self) -> usize {
        if self.rested { usize::MAX } else { self.window }
    }

    /// Whether an arm is rested (`memory = "all"`). The losses of all other arms are then constant: a game is rested as
    /// a whole or not at all.
    pub fn is_rested(&self) -> bool {
        self.rested
    }

    /// The number of last plays that must be kept in order: the largest memory of any arm that is not rested. A rested
    /// arm needs its number of plays instead.
    pub fn window_length(&self) -> usize {
        self.window
    }

    /// The arm with the least eventual loss, the paper's x*; the first of them if there are several. In a rested game
    /// this is the arm that is best in the long run, which need not be the best one at any given horizon.
    pub fn best_arm(&self) -> usize {
        let mut best = 0;
        for (x, arm) in self.arms.iter().enumerate() {
            if arm.eventual_loss() < self.arms[best].eventual_loss() {
                best = x;
            }
        }
        best
    }

    /// The least eventual loss, mu(x*).
    pub fn best_loss(&self) -> f64 {
        self.arms[self.best_arm()].eventual_loss()
    }

    /// What a policy is told about this game when it is played up to `horizon`.
    pub fn problem(&self, horizon: u64) -> Problem {
        Problem { arms: self.arms.len(), horizon: Some(horizon) }
    }

    /// The window before the first play.
    pub fn empty_window(&self) -> Window {
        Window::counting(self.window, if self.rested { self.arms.len() } else { 0 })
    }

    /// Plays `arm` and returns its expected loss: NaN if a loss function leaves [0, 1] there, see [`LossCurve::at`].
    ///
    /// # Panics
    /// If there is no such arm.
    pub fn play(&self, arm: usize, window: &mut Window) -> f64 {
        window.push(arm);
        self.arms[arm].loss(window.exposure(arm, self.arms[arm].weights()))
    }

    /// The expected losses of a sequence of plays from the empty window on.
    pub fn losses(&self, sequence: &[usize]) -> Result<Vec<f64>, GameError> {
        let mut window = self.empty_window();
        sequence
            .iter()
            .enumerate()
            .map(|(play, &arm)| {
                if arm >= self.arms.len() {
                    return Err(GameError::NoSuchArm { arm, play, arms: self.arms.len() });
                }
                let loss = self.play(arm, &mut window);
                if loss.is_nan() {
                    let tally = window.exposure(arm, self.arms[arm].weights()).tally;
                    return Err(CurveLeftRange::new(self, arm, tally).into());
                }
                Ok(loss)
            })
            .collect()
    }
}

impl TryFrom<GameData> for Game {
    type Error = GameError;
    fn try_from(data: GameData) -> Result<Self, GameError> {
        let game = Self::new(data.arms)?;
        Ok(match data.rewards {
            Some(range) => game.with_rewards(range),
            None => game,
        })
    }
}

impl From<Game> for GameData {
    fn from(game: Game) -> Self {
        Self { arms: game.arms, rewards: game.rewards }
    }
}

/// How messages refer to an arm: `arm 1`, or `arm 1 (bob)` if it has a name.
pub(crate) fn arm_title(arm: usize, name: &Option<String>) -> String {
    match name {
        Some(name) => format!("arm {arm} ({name})"),
        None => format!("arm {arm}"),
    }
}

/// Why a game or a sequence of plays is invalid.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum GameError {
    /// A game needs an arm.
    #[error("a game needs at least one arm, and none was given")]
    NoArms,
    /// More than [`Problem::MOST_ARMS`].
    #[error("{arms} arms are more than a game can have ({})", Problem::MOST_ARMS)]
    TooManyArms {
        /// How many were given.
        arms: usize,
    },
    /// An arm is not valid.
    #[error("{}: {source}", arm_title(*arm, name))]
    Arm {
        /// Its index, from 0.
        arm: usize,
        /// Its name, if it has one.
        name: Option<String>,
        /// What is wrong with it.
        source: ArmError,
    },
    /// Two arms have the same name.
    #[error("arm {arm} has the name `{name}`, which arm {first} has too: give each arm a name of its own")]
    SameName {
        /// The name.
        name: String,
        /// The first arm that has it.
        first: usize,
        /// The other one.
        arm: usize,
    },
    /// A title that is blank, too long, or has control characters.
    #[error(
        "the title of a game must have 1 to 100 characters, not all blank and none of them a control character, but is \
         `{}`",
        arm::excerpt(title)
    )]
    Title {
        /// The title.
        title: String,
    },
    /// Rested arms beside arms with a window.
    #[error(
        "arm {rested} is rested (`memory = \"all\"`), but arm {windowed} has memory {memory}: in one game either every \
         arm whose loss changes is rested, or none is; give all of them `memory = \"all\"`, or a number"
    )]
    MixedMemories {
        /// The first rested arm.
        rested: usize,
        /// The first arm whose loss depends on a window.
        windowed: usize,
        /// Its memory.
        memory: usize,
    },
    /// The range of rewards is none.
    #[error("`rewards` must be two numbers, the lesser one first, but is [{low}, {high}]")]
    Rewards {
        /// The first number.
        low: f64,
        /// The second one.
        high: f64,
    },
    /// An arm with rewards in a game without a range of rewards.
    #[error(
        "{} has `reward`, but the game does not say in which range rewards lie: give `rewards = [low, high]` beside \
         `kind`",
        arm_title(*arm, name)
    )]
    NoRewards {
        /// Its index, from 0.
        arm: usize,
        /// Its name, if it has one.
        name: Option<String>,
    },
    /// A parameter of a game of the zoo is out of its range.
    #[error("`{parameter}` must be {expected}, but is {value}")]
    Parameter {
        /// Its name, as in files.
        parameter: &'static str,
        /// The value given.
        value: f64,
        /// The values that it can have.
        expected: &'static str,
    },
    /// Two parameters of a game of the zoo exclude each other.
    #[error("`{one}` and `{other}` cannot both be given: leave one of them out")]
    Conflict {
        /// The first, as in files.
        one: &'static str,
        /// The second, as in files.
        other: &'static str,
    },
    /// A parameter of a game of the zoo has a value of the wrong kind.
    #[error("`{parameter}` must be {needed}")]
    Needed {
        /// Its name, as in files.
        parameter: &'static str,
        /// What it must be.
        needed: &'static str,
    },
    /// A game of the zoo lacks a parameter that can be given in several ways.
    #[error("{parameters} must be given")]
    Missing {
        /// Which, as in files.
        parameters: &'static str,
    },
    /// A sequence names an arm that does not exist.
    #[error("play {play} names arm {arm}, but the arms are 0 to {}", arms - 1)]
    NoSuchArm {
        /// The arm named.
        arm: usize,
        /// The position in the sequence, from 0.
        play: usize,
        /// How many arms there are.
        arms: usize,
    },
    /// A loss function returned something outside [0, 1].
    #[error(transparent)]
    CurveLeftRange(#[from] CurveLeftRange),
}

/// The loss function of an arm returned something outside [0, 1].
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[error(
    "the loss function of {} leaves [0, 1] at tally {tally}; expected losses must lie in [0, 1]",
    arm_title(*arm, name)
)]
#[non_exhaustive]
pub struct CurveLeftRange {
    /// The arm.
    pub arm: usize,
    /// Its name, if it has one.
    pub name: Option<String>,
    /// The tally at which it did.
    pub tally: f64,
}

impl CurveLeftRange {
    /// The loss function of this arm of a game, at this tally.
    pub fn new(game: &Game, arm: usize, tally: f64) -> Self {
        Self { arm, name: game.arm_name(arm).map(str::to_owned), tally }
    }
}
