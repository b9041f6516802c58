//! The steps from a table of losses to fitted arms, and from fitted arms to a game.

use std::collections::HashMap;
use std::path::Path;

use calibandit::game::zoo::{ArmSpec, Custom, Fitted, FittedModel};
use calibandit::{GameSpec, LossCurveSpec, LossRange, Noise};
use serde::Serialize;

use crate::curve::{Fit, FitError, Observation, WarmUp, fit};
use crate::table::{TableError, read, rows};

/// The names of the columns of a table of losses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LossColumns<'a> {
    /// The arm: any text.
    pub arm: &'a str,
    /// The position in the run: whole numbers from 1.
    pub position: &'a str,
    /// The loss.
    pub loss: &'a str,
}

/// The losses of one arm.
#[derive(Clone, Debug, PartialEq)]
pub struct ArmLosses {
    /// The arm's name.
    pub name: String,
    /// Its observations, in the order of the table.
    pub observations: Vec<Observation>,
}

/// One arm with its curve.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct FittedArm {
    /// The arm's name.
    pub name: String,
    /// Its curve.
    #[serde(flatten)]
    pub fit: Fit,
}

/// Why arms could not be fitted, or could not be made a game.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ArmsError {
    /// The curve of an arm could not be fitted.
    #[error("arm `{arm}`: {source}")]
    Fit {
        /// The arm.
        arm: String,
        /// The reason.
        source: FitError,
    },
    /// There is no arm.
    #[error("a game needs at least one fitted arm, but none was given")]
    NoArms,
    /// A curve leaves [0, 1].
    #[error(
        "arm `{arm}`: the curve is {mean} at position {position}, but expected losses of a game lie in [0, 1]; \
         choose a wider range (`--range LOW HIGH`), or the model `plateau`"
    )]
    OutsideUnitInterval {
        /// The arm.
        arm: String,
        /// The position.
        position: u32,
        /// The expected loss there.
        mean: f64,
    },
    /// The game could not be written as TOML.
    #[error("the game cannot be written as TOML: {0}")]
    Toml(#[from] toml::ser::Error),
}

/// Reads a CSV file and groups its losses by arm, in order of first appearance. Rows without a loss (empty, `\N`, `NA`)
/// are skipped. A position may occur several times, once per run.
///
/// # Errors
/// [`TableError`] with the file and the line.
pub fn read_losses(path: &Path, columns: LossColumns<'_>) -> Result<Vec<ArmLosses>, TableError> {
    let bytes = read(path, "give the path of a CSV file with a header")?;
    parse_losses(&path.display().to_string(), &bytes, columns)
}

/// [`read_losses`] for the contents of a file; `file` is its name in errors.
///
/// # Errors
/// [`TableError`] with the file and the line.
pub fn parse_losses(file: &str, bytes: &[u8], columns: LossColumns<'_>) -> Result<Vec<ArmLosses>, TableError> {
    let mut arms: Vec<ArmLosses> = Vec::new();
    let mut places: HashMap<String, usize> = HashMap::new();
    rows(file, bytes, [columns.arm, columns.position, columns.loss], |row| {
        let position = row.whole(1)?;
        if row.is_missing(2) {
            return Ok(());
        }
        let loss = row.number(2)?;
        let name = row.text(0);
        let place = places.get(name).copied().unwrap_or_else(|| {
            places.insert(name.to_string(), arms.len());
            arms.push(ArmLosses { name: name.to_string(), observations: Vec::new() });
            arms.len() - 1
        });
        arms[place].observations.push(Observation { position, loss });
        Ok(())
    })?;
    if arms.is_empty() {
        return Err(TableError::Empty { file: file.to_string() });
    }
    Ok(arms)
}

/// Fits a curve to every arm. Losses are mapped linearly: the lower end of `range` becomes 0, the upper end 1.
///
/// # Errors
/// [`ArmsError::Fit`] if an arm has too few positions.
pub fn fit_arms(model: WarmUp, range: LossRange, arms: &[ArmLosses]) -> Result<Vec<FittedArm>, ArmsError> {
    let (low, high) = (range.low(), range.high());
    let fitted = arms.iter().map(|arm| {
        let scaled: Vec<Observation> = arm
            .observations
            .iter()
            .map(|seen| Observation { loss: (seen.loss - low) / (high - low), ..*seen })
            .collect();
        let fit = fit(model, &scaled).map_err(|source| ArmsError::Fit { arm: arm.name.clone(), source })?;
        Ok(FittedArm { name: arm.name.clone(), fit })
    });
    fitted.collect()
}

/// The game of these arms: a `fitted` game if all curves have the paper's form, otherwise a `custom` game with the
/// losses listed by position. Its memory is the largest position up to which every arm was observed.
///
/// # Errors
/// [`ArmsError::OutsideUnitInterval`] if a curve leaves [0, 1] up to that position; [`ArmsError::NoArms`] without arms.
pub fn game(arms: &[FittedArm]) -> Result<GameSpec, ArmsError> {
    let memory = arms.iter().map(|arm| arm.fit.last).min().ok_or(ArmsError::NoArms)?;
    for arm in arms {
        let outside = (1..=memory).find(|&k| !(0.0..=1.0).contains(&arm.fit.mean(k)));
        if let Some(position) = outside {
            let (arm, mean) = (arm.name.clone(), arm.fit.mean(position));
            return Err(ArmsError::OutsideUnitInterval { arm, position, mean });
        }
    }
    // Games of kind `fitted` have normal noise; a curve through every observation has none.
    if arms.iter().all(|arm| arm.fit.model == WarmUp::ExponentialLinear && arm.fit.sd > 0.0) {
        let models = arms.iter().map(|FittedArm { name, fit }| {
            let Fit { alpha, beta, gamma, sd, .. } = *fit;
            FittedModel { name: Some(name.clone()), alpha, beta, gamma, sd }
        });
        return Ok(Fitted::of(models.collect(), memory as usize).into());
    }
    let arms = arms.iter().map(|FittedArm { name, fit }| ArmSpec {
        name: Some(name.clone()),
        weights: None,
        memory: Some(memory as usize),
        loss: LossCurveSpec { by_plays: Some((1..=memory).map(|k| fit.mean(k)).collect()), ..LossCurveSpec::default() },
        feedback: if fit.sd > 0.0 { Noise::Normal { sd: fit.sd } } else { Noise::None },
    });
    Ok(Custom { arm: arms.collect() }.into())
}

/// The game as the `[game]` table of an experiment file, after comments on the fitted arms.
///
/// # Errors
/// As [`game`].
pub fn game_toml(arms: &[FittedArm], range: LossRange) -> Result<String, ArmsError> {
    #[derive(Serialize)]
    struct GameFile {
        game: GameSpec,
    }
    let game = game(arms)?;
    let mut text = String::new();
    for (index, FittedArm { name, fit }) in arms.iter().enumerate() {
        let one_line: String = name.chars().map(|c| if c.is_control() { ' ' } else { c }).collect();
        text += &format!(
            "# arm {index}: {one_line}, {} observations up to position {}, R² = {:.3}, sd = {:.4}\n",
            fit.observations, fit.last, fit.r_squared, fit.sd
        );
    }
    if range != LossRange::default() {
        text += &format!("# a loss of 0 is {}, a loss of 1 is {}\n", range.low(), range.high());
    }
    text += &toml::to_string(&GameFile { game })?;
    Ok(text)
}
