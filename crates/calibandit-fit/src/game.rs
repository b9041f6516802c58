//! The steps from losses of arms to fitted arms, and to a game.

use calibandit::game::zoo::{ArmSpec, Custom, Fitted, FittedModel};
use calibandit::{Arm, ArmError, GameSpec, LossCurveSpec, LossRange, Noise};
use serde::Serialize;

use crate::choice::{ModelChoice, fit_choice, leaves_range};
use crate::curve::{Fit, FitError, Observation, WarmUp};
use crate::losses::{ArmLosses, LossRow, far_position, group_rows, middle_range};

/// The default tolerance, as a part of the range of the middle 98 % of losses.
const DEFAULT_TOLERANCE: f64 = 0.05;

/// A game lists the losses of an arm by position, up to its memory.
const LONGEST_MEMORY: u32 = 1_000_000;

/// One arm with its curve.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct FittedArm {
    /// The arm's name.
    pub name: String,
    /// Its curve.
    #[serde(flatten)]
    pub fit: Fit,
    /// Its memory in the game: the given one, or the first position from which on the curve stays within the tolerance
    /// of its value at the last observed position.
    pub memory: u32,
}

impl FittedArm {
    /// The expected loss of the arm in the game at position `k`: that of the curve before the memory, and from there on
    /// that of the last observed position, so that the tolerance does not change the eventual loss.
    pub fn loss(&self, k: u32) -> f64 {
        if k >= self.memory { self.fit.terminal_mean() } else { self.fit.mean(k.min(self.fit.last)) }
    }

    /// Whether the curve still changes, by more than the tolerance, in the second half of the observed positions. Then
    /// the memory may be longer than what was observed.
    pub fn still_changes(&self) -> bool {
        self.memory > self.fit.last.div_ceil(2)
    }
}

/// How a game is fitted.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct GameFitOptions {
    /// The model of the curves.
    pub model: ModelChoice,
    /// The losses that become 0 and 1 in the game.
    pub range: LossRange,
    /// The memory of all arms. `None`: where the curve of each arm settles.
    pub memory: Option<u32>,
    /// The largest difference of losses that does not matter, in the unit of the losses. `None`: 5 % of the range of
    /// the middle 98 % of losses.
    pub tolerance: Option<f64>,
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
    /// An option has an invalid value.
    #[error("`{option}` is {value}, but must be {expected}")]
    Option {
        /// The option.
        option: &'static str,
        /// Its value.
        value: f64,
        /// The valid values.
        expected: &'static str,
    },
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
    range: LossRange,
    tolerance: f64,
    given_memory: bool,
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

    /// The memory of the game: the longest one of its arms. Unless it was given, it follows from the form of the curves
    /// and from the tolerance. It is an estimate, not a bound: [`diagnose()`](crate::diagnose::diagnose()) gives one.
    pub fn memory(&self) -> u32 {
        self.arms.iter().map(|arm| arm.memory).max().unwrap_or(1)
    }

    /// The difference of losses that does not matter, in the unit of the losses.
    pub fn tolerance(&self) -> f64 {
        self.tolerance
    }

    /// The losses that became 0 and 1.
    pub fn range(&self) -> LossRange {
        self.range
    }

    /// The game: a `fitted` game if all curves have the paper's form and change up to the last position, otherwise a
    /// `custom` game with the losses listed by position.
    pub fn game(&self) -> GameSpec {
        let memory = self.memory();
        // Games of kind `fitted` have one memory and normal noise, which a curve through every observation has not.
        let is_paper =
            |arm: &FittedArm| arm.fit.model == WarmUp::ExponentialLinear && arm.fit.sd > 0.0 && arm.fit.last == memory;
        if self.arms.iter().all(is_paper) {
            let models = self.arms.iter().map(|FittedArm { name, fit, .. }| {
                let Fit { alpha, beta, gamma, sd, .. } = *fit;
                FittedModel { name: Some(name.clone()), alpha, beta, gamma, sd }
            });
            return Fitted::of(models.collect(), memory as usize).into();
        }
        let arms = self.arms.iter().map(|arm| {
            let by_plays = Some((1..=arm.memory).map(|k| arm.loss(k)).collect());
            ArmSpec {
                name: Some(arm.name.clone()),
                memory: Some((arm.memory as usize).into()),
                loss: Some(LossCurveSpec { by_plays, ..LossCurveSpec::default() }),
                feedback: if arm.fit.sd > 0.0 { Noise::Normal { sd: arm.fit.sd } } else { Noise::None },
                ..ArmSpec::default()
            }
        });
        Custom { arm: arms.collect(), ..Custom::default() }.into()
    }

    /// Where the memory comes from, in a sentence.
    pub fn memory_text(&self) -> String {
        let memory = self.memory();
        if self.given_memory {
            return format!("The memory of the game is {memory}, as given.");
        }
        let tolerance = self.tolerance;
        format!(
            "The memory of the game is {memory}: from that play in a row on, every curve stays within {tolerance:.3} \
             of its last value, which is the loss of the game there. It is an estimate from the form of the curves, \
             not a bound on the memory."
        )
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
        for (index, FittedArm { name, fit, memory }) in self.arms.iter().enumerate() {
            text += &format!(
                "# arm {index}: {name}, model {}, {} losses up to position {}, R² = {:.3}, sd = {:.4}, \
                 memory {memory}\n",
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
        text += &format!("# {}\n", self.memory_text());
        text += &toml::to_string(&GameFile { game: self.game() })?;
        Ok(text)
    }
}

/// Fits a curve to every arm of a table in memory and makes a game of them: [`group_rows`], then [`fit_game`].
///
/// # Errors
/// As [`fit_game`].
pub fn fit_rows(rows: impl IntoIterator<Item = LossRow>, options: &GameFitOptions) -> Result<GameFit, ArmsError> {
    fit_game(&group_rows(rows), options)
}

/// Fits a curve to every arm and makes a game of them. Losses are mapped linearly: the lower end of the range becomes
/// 0, the upper end 1. An arm with too few positions, or whose curve leaves [0, 1] within its memory, is left out of
/// the game.
///
/// # Errors
/// [`ArmsError`] if no arm is left, or if a name, a position or an option is invalid.
pub fn fit_game(losses: &[ArmLosses], options: &GameFitOptions) -> Result<GameFit, ArmsError> {
    let GameFitOptions { model, range, memory: given, .. } = *options;
    if losses.is_empty() {
        return Err(ArmsError::NoArms);
    }
    let tolerance = tolerance(losses, options)?;
    let (mut arms, mut left_out) = (Vec::new(), Vec::new());
    for arm in losses {
        let name = arm.name.clone();
        Arm::check_name(&name)?;
        if let Some((index, before)) = far_position(&arm.observations) {
            return Err(ArmsError::FarPosition { arm: name, position: arm.observations[index].position, before });
        }
        let fit = match fit_choice(model, &scaled(&arm.observations, range)) {
            Ok(fit) => fit,
            Err(error) => {
                left_out.push(LeftOutArm { name, fit: None, reason: error.into() });
                continue;
            }
        };
        let memory = given.unwrap_or_else(|| settles(&fit, tolerance / (range.high() - range.low())));
        // The loss of the game from its memory on is that of the last observed position.
        let last = (!(0.0..=1.0).contains(&fit.terminal_mean())).then_some(fit.last);
        match leaves_range(&fit, memory.min(fit.last)).or(last) {
            None => arms.push(FittedArm { name, fit, memory }),
            Some(position) => {
                let reason = LeftOutReason::OutsideUnitInterval { position, mean: fit.mean(position) };
                left_out.push(LeftOutArm { name, fit: Some(fit), reason });
            }
        }
    }
    if arms.is_empty() {
        return Err(ArmsError::NoneLeft { left_out });
    }
    Ok(GameFit { arms, left_out, range, tolerance, given_memory: given.is_some() })
}

/// The first position from which on the curve stays within the tolerance of its value at the last observed position.
fn settles(fit: &Fit, tolerance: f64) -> u32 {
    let end = fit.terminal_mean();
    // Losses lie in [0, 1] or near it: what differs by less than this is equal up to rounding.
    let settled = |k: &u32| (fit.mean(*k) - end).abs() <= tolerance.max(1e-12);
    (1..=fit.last).rev().take_while(settled).last().unwrap_or(fit.last)
}

/// The tolerance, if the options are valid.
fn tolerance(losses: &[ArmLosses], options: &GameFitOptions) -> Result<f64, ArmsError> {
    let invalid = |option, value, expected| Err(ArmsError::Option { option, value, expected });
    match (options.memory, options.tolerance) {
        (Some(memory), _) if !(1..=LONGEST_MEMORY).contains(&memory) => {
            invalid("memory", f64::from(memory), "from 1 to 1000000")
        }
        (_, Some(tolerance)) if !(tolerance > 0.0 && tolerance.is_finite()) => {
            invalid("tolerance", tolerance, "a positive number")
        }
        (_, Some(tolerance)) => Ok(tolerance),
        (_, None) => {
            let all = losses.iter().flat_map(|arm| &arm.observations).map(|seen| seen.loss);
            Ok(DEFAULT_TOLERANCE * middle_range(all.filter(|loss| loss.is_finite()).collect()))
        }
    }
}

fn scaled(observations: &[Observation], range: LossRange) -> Vec<Observation> {
    let (low, high) = (range.low(), range.high());
    observations.iter().map(|seen| Observation { loss: (seen.loss - low) / (high - low), ..*seen }).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Losses on the curve 0.2 + 0.6·exp(-0.5·k), without noise, up to a position.
    fn arm(name: &str, last: u32) -> ArmLosses {
        let seen = |position| Observation { position, loss: 0.2 + 0.6 * (-0.5 * f64::from(position)).exp() };
        ArmLosses { name: name.to_string(), observations: (1..=last).map(seen).collect() }
    }

    fn fitted(arms: &[ArmLosses], memory: Option<u32>) -> GameFit {
        fit_game(arms, &GameFitOptions { memory, tolerance: Some(0.01), ..GameFitOptions::default() }).unwrap()
    }

    #[test]
    fn the_memory_is_where_the_curve_settles_however_long_the_runs_are() {
        // 0.6·exp(-0.5·k) is at most 0.01 from k = 2·ln 60 = 8.19 on.
        for last in [40, 200, 2000] {
            let found = fitted(&[arm("a", last)], None);
            assert_eq!((found.memory(), found.arms()[0].still_changes()), (9, false));
            let GameSpec::Custom(game) = found.game() else { panic!("a model with a level is a custom game") };
            let losses = game.arm[0].loss.as_ref().unwrap().by_plays.clone().unwrap();
            assert_eq!((losses.len(), game.arm[0].memory), (9, Some(9.into())));
            assert!((losses[7] - 0.2 - 0.6 * (-4.0_f64).exp()).abs() < 1e-6);
            assert!((losses[8] - 0.2 - 0.6 * (-0.5 * f64::from(last)).exp()).abs() < 1e-6, "the eventual loss");
        }
        assert!(fitted(&[arm("a", 10)], None).arms()[0].still_changes());
    }

    #[test]
    fn a_given_memory_is_taken_and_nothing_is_said_about_positions_that_were_not_seen() {
        let found = fitted(&[arm("short", 5), arm("long", 30)], Some(12));
        assert_eq!((found.memory(), found.arms()[0].memory), (12, 12));
        let short = &found.arms()[0];
        assert_eq!((short.loss(7), short.loss(12)), (short.fit.mean(5), short.fit.mean(5)));
        let cut = fitted(&[arm("long", 30)], Some(3));
        assert_eq!(cut.arms()[0].loss(3), cut.arms()[0].fit.mean(30));
        assert_eq!(fitted(&[arm("short", 5), arm("long", 30)], None).memory(), 9, "one arm seen shortly cuts no other");
        let refused = |options| fit_game(&[arm("a", 9)], &options).unwrap_err().to_string();
        let zero = GameFitOptions { memory: Some(0), ..GameFitOptions::default() };
        assert_eq!(refused(zero), "`memory` is 0, but must be from 1 to 1000000");
        let negative = GameFitOptions { tolerance: Some(-1.0), ..GameFitOptions::default() };
        assert_eq!(refused(negative), "`tolerance` is -1, but must be a positive number");
    }

    #[test]
    fn equal_losses_need_no_memory() {
        let seen = (1..=9).map(|position| Observation { position, loss: 0.5 }).collect();
        let found = fit_game(&[ArmLosses { name: "a".to_string(), observations: seen }], &GameFitOptions::default());
        assert_eq!(found.unwrap().memory(), 1);
    }

    #[test]
    fn the_model_of_the_paper_gives_a_fitted_game() {
        let options = GameFitOptions { model: ModelChoice::ExponentialLinear, ..GameFitOptions::default() };
        let found = fit_game(&[arm("a", 12), arm("b", 20)], &options).unwrap();
        assert!(found.arms().iter().all(|arm| arm.fit.model == WarmUp::ExponentialLinear));
        assert!(!matches!(found.game(), GameSpec::Fitted(_)), "the memories differ");
        let same = fit_game(&[arm("a", 12), arm("b", 12)], &GameFitOptions { memory: Some(12), ..options }).unwrap();
        assert!(matches!(same.game(), GameSpec::Fitted(_)));
    }
}
