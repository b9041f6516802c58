//! From a table of losses to fitted arms, and from those to a game.

use std::collections::HashMap;
use std::path::Path;

use calibandit::game::zoo::{ArmSpec, Custom, Fitted, FittedModel};
use calibandit::{GameSpec, LossCurveSpec, Noise};
use serde::Serialize;

use super::table::{TableError, read, rows};
use super::{Fit, FitError, Observation, WarmUp, fit};

/// Which columns of a table say what.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Columns<'a> {
    /// The arm: any text.
    pub arm: &'a str,
    /// The position in the run: whole numbers from 1.
    pub position: &'a str,
    /// The loss.
    pub loss: &'a str,
}

/// What is 0 and what is 1: losses are mapped linearly.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Range {
    /// Becomes 0.
    pub low: f64,
    /// Becomes 1.
    pub high: f64,
}

impl Default for Range {
    /// Losses as they are.
    fn default() -> Self {
        Self { low: 0.0, high: 1.0 }
    }
}

/// The losses of one arm.
#[derive(Clone, Debug, PartialEq)]
pub struct ArmLosses {
    /// The arm's name.
    pub name: String,
    /// What was observed, in the order of the table.
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

/// Why there are no fitted arms, or no game of them.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ArmsError {
    /// The table cannot be read.
    #[error(transparent)]
    Table(#[from] TableError),
    /// The range is none.
    #[error("the range from {low} to {high} is none: it needs two numbers, the smaller one first")]
    Range {
        /// The lower end.
        low: f64,
        /// The upper end.
        high: f64,
    },
    /// An arm cannot be fitted.
    #[error("arm `{arm}`: {source}")]
    Fit {
        /// The arm.
        arm: String,
        /// Why.
        source: FitError,
    },
    /// A curve that leaves [0, 1].
    #[error(
        "arm `{arm}`: the curve is {mean} at position {position}, but expected losses of a game lie in [0, 1]; \
         choose a range (`--range LOW HIGH`) with room on both sides, or the model `plateau`"
    )]
    NoLoss {
        /// The arm.
        arm: String,
        /// The position.
        position: u32,
        /// The expected loss there.
        mean: f64,
    },
    /// The game cannot be written.
    #[error("the game cannot be written as TOML: {0}")]
    Toml(#[from] toml::ser::Error),
}

/// Reads the losses of a CSV file by arm, arms in order of appearance. Rows without a loss (empty, `\N`, `NA`) are
/// left out. A position may come any number of times: once for each run.
///
/// # Errors
/// [`TableError`] with the file and the line.
pub fn read_losses(path: &Path, columns: Columns<'_>) -> Result<Vec<ArmLosses>, TableError> {
    let bytes = read(path, "give the path of a CSV file with a header")?;
    parse_losses(&path.display().to_string(), &bytes, columns)
}

/// The same for a file that is already read; `file` is its name in errors.
///
/// # Errors
/// [`TableError`] with the file and the line.
pub fn parse_losses(file: &str, bytes: &[u8], columns: Columns<'_>) -> Result<Vec<ArmLosses>, TableError> {
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

/// Fits every arm.
///
/// # Errors
/// [`ArmsError`] if the range is none or an arm has too few positions.
pub fn fit_arms(model: WarmUp, range: Range, arms: &[ArmLosses]) -> Result<Vec<FittedArm>, ArmsError> {
    let Range { low, high } = range;
    if !(low < high && low.is_finite() && high.is_finite()) {
        return Err(ArmsError::Range { low, high });
    }
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

/// The game of these arms: a `race` of lap models, or a `custom` game with the curves written out. Its memory is the
/// last position that all arms were observed up to.
///
/// # Errors
/// [`ArmsError::NoLoss`] if a curve leaves [0, 1] on the way there.
pub fn game(arms: &[FittedArm]) -> Result<GameSpec, ArmsError> {
    let memory = arms.iter().map(|arm| arm.fit.last).min().unwrap_or(0);
    for arm in arms {
        let outside = (1..=memory).find(|&k| !(0.0..=1.0).contains(&arm.fit.mean(k)));
        if let Some(position) = outside {
            return Err(ArmsError::NoLoss { arm: arm.name.clone(), position, mean: arm.fit.mean(position) });
        }
    }
    // A race has normal noise; a curve through every observation has none.
    let is_race = arms.iter().all(|arm| arm.fit.model == WarmUp::Lap && arm.fit.sd > 0.0);
    if is_race {
        let models = arms.iter().map(|FittedArm { name, fit }| {
            let Fit { alpha, beta, gamma, sd, .. } = *fit;
            FittedModel { name: Some(name.clone()), alpha, beta, gamma, sd }
        });
        return Ok(Fitted::of(models.collect(), memory as usize).into());
    }
    let arms = arms.iter().map(|FittedArm { fit, .. }| ArmSpec {
        weights: None,
        memory: Some(memory as usize),
        loss: LossCurveSpec { by_plays: Some((1..=memory).map(|k| fit.mean(k)).collect()), ..LossCurveSpec::default() },
        feedback: if fit.sd > 0.0 { Noise::Normal { sd: fit.sd } } else { Noise::None },
    });
    Ok(Custom { arm: arms.collect() }.into())
}

/// The game as the `[game]` table of an experiment file, headed by what was fitted.
///
/// # Errors
/// As [`game`].
pub fn game_toml(arms: &[FittedArm], range: Range) -> Result<String, ArmsError> {
    #[derive(Serialize)]
    struct File {
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
    if range != Range::default() {
        text += &format!("# a loss of 0 is {}, a loss of 1 is {}\n", range.low, range.high);
    }
    text += &toml::to_string(&File { game })?;
    Ok(text)
}
