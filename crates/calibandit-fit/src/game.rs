//! The steps from losses of arms to fitted arms, and to a game.

use calibandit::game::zoo::{ArmSpec, Custom, Fitted, FittedModel};
use calibandit::{Arm, ArmError, GameSpec, LossCurveSpec, LossRange, Noise};
use serde::Serialize;

use crate::choice::{ModelChoice, fit_choice, leaves_range};
use crate::curve::{Fit, FitError, Observation, WarmUp};
use crate::losses::{ArmLosses, LossRow, far_position, group_rows};

/// One arm with its curve.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct FittedArm {
    /// The arm's name.
    pub name: String,
    /// Its curve.
    #[serde(flatten)]
    pub fit: Fit,
}

/// An arm that is not part of the game.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct LeftOutArm {
    /// The arm's name.
    pub name: String,
    /// Its curve, if it could be fitted.
    pub fit: Option<Fit>,
    /// Why it is left out.
    pub reason: LeftOutReason,
}

/// Why an arm is not part of the game.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum LeftOutReason {
    /// The curve could not be fitted.
    #[error(transparent)]
    Fit(#[from] FitError),
    /// The curve leaves [0, 1].
    #[error(
        "the curve is {mean:.4} at position {position}, but expected losses of a game lie in [0, 1]; choose a wider \
         range (`--range LOW HIGH`) or another model (`--model`)"
    )]
    OutsideUnitInterval {
        /// The position.
        position: u32,
        /// The expected loss there.
        mean: f64,
    },
}

/// Why there is no fitted game.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ArmsError {
    /// There are no losses.
    #[error("a game needs at least one fitted arm, but no losses were given")]
    NoArms,
    /// Every arm is left out.
    #[error(
        "no arm can be part of a game: {}",
        left_out.iter().map(LeftOutArm::to_string).collect::<Vec<_>>().join("; ")
    )]
    NoneLeft {
        /// The arms.
        left_out: Vec<LeftOutArm>,
    },
    /// An arm has an invalid name.
    #[error(transparent)]
    Name(#[from] ArmError),
    /// A position is far beyond all others of its arm.
    #[error(
        "arm `{arm}`: a position is {position}, but the next smaller one is {before}; positions count the plays of a \
         run (1, 2, 3, ...): correct or remove this row"
    )]
    FarPosition {
        /// The arm.
        arm: String,
        /// The position.
        position: u32,
        /// The next smaller position.
        before: u32,
    },
    /// The game could not be written as TOML.
    #[error("the game cannot be written as TOML: {0}")]
    Toml(#[from] toml::ser::Error),
}

impl std::fmt::Display for LeftOutArm {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "arm `{}`: {}", self.name, self.reason)
    }
}

/// The fitted arms of a table, and the game that they make.
#[derive(Clone, Debug, PartialEq)]
pub struct GameFit {
    arms: Vec<FittedArm>,
    left_out: Vec<LeftOutArm>,
    memory: u32,
    range: LossRange,
}

impl GameFit {
    /// The arms of the game, in the order of the table.
    pub fn arms(&self) -> &[FittedArm] {
        &self.arms
    }

    /// The arms that are not part of the game, and why.
    pub fn left_out(&self) -> &[LeftOutArm] {
        &self.left_out
    }

    /// The memory of the game: the last position up to which every one of its arms was observed. It is no estimate of
    /// the number of plays after which losses stop changing.
    pub fn memory(&self) -> u32 {
        self.memory
    }

    /// The losses that became 0 and 1.
    pub fn range(&self) -> LossRange {
        self.range
    }

    /// The game: a `fitted` game if all curves have the paper's form, otherwise a `custom` game with the losses listed
    /// by position.
    pub fn game(&self) -> GameSpec {
        let memory = self.memory;
        // Games of kind `fitted` have normal noise; a curve through every observation has none.
        if self.arms.iter().all(|arm| arm.fit.model == WarmUp::ExponentialLinear && arm.fit.sd > 0.0) {
            let models = self.arms.iter().map(|FittedArm { name, fit }| {
                let Fit { alpha, beta, gamma, sd, .. } = *fit;
                FittedModel { name: Some(name.clone()), alpha, beta, gamma, sd }
            });
            return Fitted::of(models.collect(), memory as usize).into();
        }
        let arms = self.arms.iter().map(|FittedArm { name, fit }| {
            let by_plays = Some((1..=memory).map(|k| fit.mean(k)).collect());
            ArmSpec {
                name: Some(name.clone()),
                weights: None,
                memory: Some(memory as usize),
                loss: LossCurveSpec { by_plays, ..LossCurveSpec::default() },
                feedback: if fit.sd > 0.0 { Noise::Normal { sd: fit.sd } } else { Noise::None },
            }
        });
        Custom { title: None, arm: arms.collect() }.into()
    }

    /// The game as the `[game]` table of an experiment file, after comments on the fitted arms.
    ///
    /// # Errors
    /// [`ArmsError::Toml`].
    pub fn to_toml(&self) -> Result<String, ArmsError> {
        #[derive(Serialize)]
        struct GameFile {
            game: GameSpec,
        }
        let mut text = String::new();
        for (index, FittedArm { name, fit }) in self.arms.iter().enumerate() {
            text += &format!(
                "# arm {index}: {name}, model {}, {} losses up to position {}, R² = {:.3}, sd = {:.4}\n",
                fit.model.name(),
                fit.observations,
                fit.last,
                fit.r_squared,
                fit.sd
            );
        }
        for arm in &self.left_out {
            text += &format!("# left out: {arm}\n");
        }
        if self.range != LossRange::default() {
            text += &format!("# a loss of 0 is {}, a loss of 1 is {}\n", self.range.low(), self.range.high());
        }
        text += &format!(
            "# memory = {} is the last position that all arms were observed at, and no estimate of the memory bound \
             M\n",
            self.memory
        );
        text += &toml::to_string(&GameFile { game: self.game() })?;
        Ok(text)
    }
}

/// Fits a curve to every arm of a table in memory and makes a game of them: [`group_rows`], then [`fit_game`].
///
/// # Errors
/// As [`fit_game`].
pub fn fit_rows(
    rows: impl IntoIterator<Item = LossRow>,
    model: ModelChoice,
    range: LossRange,
) -> Result<GameFit, ArmsError> {
    fit_game(&group_rows(rows), model, range)
}

/// Fits a curve to every arm and makes a game of them. Losses are mapped linearly: the lower end of `range` becomes 0,
/// the upper end 1. An arm with too few positions, or whose curve leaves [0, 1], is left out of the game.
///
/// # Errors
/// [`ArmsError`] if no arm is left, or if a name or a position is invalid.
pub fn fit_game(losses: &[ArmLosses], model: ModelChoice, range: LossRange) -> Result<GameFit, ArmsError> {
    if losses.is_empty() {
        return Err(ArmsError::NoArms);
    }
    let (mut arms, mut left_out) = (Vec::new(), Vec::new());
    for arm in losses {
        let name = arm.name.clone();
        Arm::check_name(&name)?;
        if let Some((index, before)) = far_position(&arm.observations) {
            return Err(ArmsError::FarPosition { arm: name, position: arm.observations[index].position, before });
        }
        match fit_choice(model, &scaled(&arm.observations, range)) {
            Ok(fit) => arms.push(FittedArm { name, fit }),
            Err(error) => left_out.push(LeftOutArm { name, fit: None, reason: error.into() }),
        }
    }
    // The memory is that of the arms that are left, so leaving one out can make another one leave [0, 1].
    let memory = loop {
        let Some(memory) = arms.iter().map(|arm| arm.fit.last).min() else {
            return Err(ArmsError::NoneLeft { left_out });
        };
        let before = arms.len();
        arms.retain(|FittedArm { name, fit }| match leaves_range(fit, memory) {
            None => true,
            Some(position) => {
                let reason = LeftOutReason::OutsideUnitInterval { position, mean: fit.mean(position) };
                left_out.push(LeftOutArm { name: name.clone(), fit: Some(fit.clone()), reason });
                false
            }
        });
        if arms.len() == before {
            break memory;
        }
    };
    let place = |arm: &LeftOutArm| losses.iter().position(|other| other.name == arm.name);
    left_out.sort_by_key(place);
    Ok(GameFit { arms, left_out, memory, range })
}

fn scaled(observations: &[Observation], range: LossRange) -> Vec<Observation> {
    let (low, high) = (range.low(), range.high());
    observations.iter().map(|seen| Observation { loss: (seen.loss - low) / (high - low), ..*seen }).collect()
}
