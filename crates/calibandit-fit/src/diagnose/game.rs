//! Games fitted to a log: the likeliest one, and draws of its uncertainty.

use calibandit::game::zoo::{ArmSpec, Custom};
use calibandit::tallying::{LossSum, monotone_means};
use calibandit::{Game, GameError, GameSpec, LossCurveSpec, LossRange, Noise, StreamKey};
use rand_distr::{Distribution, StandardNormal};
use serde::{Deserialize, Serialize};

use super::diagnosis::{ArmDiagnosis, CurveCell, Diagnosis};

/// Why a diagnosis has no game.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum FittedGameError {
    /// The curve of an arm is not known.
    #[error("the log has too few plays of arm `{arm}`, in a row or calibrated, for a curve: no game can be fitted")]
    NoCurve {
        /// The arm.
        arm: String,
    },
    /// The game is invalid.
    #[error(transparent)]
    Game(#[from] GameError),
}

/// The losses of a log in short.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct LossSummary {
    /// The least loss.
    pub least: f64,
    /// The largest loss.
    pub largest: f64,
    /// Whether all losses are 0 or 1.
    pub binary: bool,
}

impl LossSummary {
    pub(super) fn of(losses: impl Iterator<Item = f64>) -> Self {
        let start = Self { least: f64::INFINITY, largest: f64::NEG_INFINITY, binary: true };
        losses.fold(start, |all, loss| Self {
            least: all.least.min(loss),
            largest: all.largest.max(loss),
            binary: all.binary && (loss == 0.0 || loss == 1.0),
        })
    }

    /// The losses that become 0 and 1 in a game.
    fn range(&self) -> LossRange {
        let (low, high) = if self.binary { (0.0, 1.0) } else { (self.least, self.largest) };
        LossRange::new(low, high).or_else(|_| LossRange::new(low, low + 1.0)).unwrap_or_default()
    }
}

/// The expected loss of an arm by number of plays in a row, with standard errors.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct ArmCurve {
    /// The loss of the first play after a rest, and so on; the last value is the eventual loss.
    pub(super) losses: Vec<f64>,
    /// The standard error of each value. Neighbours with the same value share it.
    pub(super) errors: Vec<f64>,
}

impl ArmCurve {
    /// The curve through the positions after a rest, up to where the arm has settled.
    pub(super) fn of_positions(arm: &ArmDiagnosis, confidence: f64) -> Option<Self> {
        let eventual = arm.eventual?;
        // Nothing was compared: a flat curve would say that the arm does not warm up, and that a plain bandit is fine.
        if arm.settled.upper.is_none() && arm.reach <= 1 {
            return None;
        }
        // Half a two-sided interval is about this many standard errors, if there are many clusters.
        let width = normal_quantile(1.0 - (1.0 - confidence) / 2.0);
        let error = |low: f64, high: f64| (high - low) / (2.0 * width);
        let end = arm.settled.upper.unwrap_or(arm.reach).max(1);
        let before: Vec<&CurveCell> = arm.curve.iter().filter(|point| point.first < end).collect();
        if before.first().map_or(1, |point| point.first) != 1 {
            return None;
        }
        let means: Vec<Option<f64>> = if arm.fatigue.is_some() {
            before.iter().map(|point| Some(point.loss.mean)).collect()
        } else {
            let sum = |point: &CurveCell| {
                let plays = point.plays as f64;
                LossSum { plays, sum: plays * point.loss.mean }
            };
            monotone_means(&before.iter().map(|point| sum(point)).collect::<Vec<_>>())
        };
        let mut curve = Self { losses: Vec::new(), errors: Vec::new() };
        for (point, mean) in before.iter().zip(means) {
            let spread = error(point.loss.low, point.loss.high);
            let value = mean.unwrap_or(point.loss.mean);
            // What cannot be told from the eventual loss is noise.
            let settled = (value - eventual.mean).abs() <= spread;
            let (value, spread) =
                if settled { (eventual.mean, error(eventual.low, eventual.high)) } else { (value, spread) };
            for _ in point.first..=point.last.min(end - 1) {
                curve.losses.push(value);
                curve.errors.push(spread);
            }
        }
        curve.losses.push(eventual.mean);
        curve.errors.push(error(eventual.low, eventual.high));
        Some(curve)
    }

    /// The curve up to the play from which on it is taken to be settled: that of a bound, or the one from which on it
    /// is within the tolerance itself, whichever is later. The play there has the eventual loss.
    pub(super) fn settled_from(mut self, bound: u32, tolerance: f64) -> Self {
        let Some(&eventual) = self.losses.last() else { return self };
        let outside = |loss: &f64| (loss - eventual).abs() > tolerance;
        let own = self.losses.iter().rposition(outside).map_or(1, |last| last + 2);
        let plays = own.max(bound as usize).max(1);
        if plays < self.losses.len() {
            for values in [&mut self.losses, &mut self.errors] {
                values.drain(plays - 1..values.len() - 1);
            }
        }
        self
    }

    /// A curve from the distribution of its errors; the same draw for neighbours with the same value.
    fn draw(&self, stream: &mut calibandit::Stream) -> Vec<f64> {
        let mut drawn: Vec<f64> = Vec::with_capacity(self.losses.len());
        for (k, (&loss, &error)) in self.losses.iter().zip(&self.errors).enumerate() {
            let value = match drawn.last() {
                Some(&last) if self.losses[k - 1] == loss => last,
                _ => {
                    let z: f64 = StandardNormal.sample(stream);
                    loss + error * z
                }
            };
            drawn.push(value);
        }
        drawn
    }
}

fn normal_quantile(probability: f64) -> f64 {
    super::cluster::student_quantile(1e9, probability)
}

impl Diagnosis {
    /// The likeliest game: the expected losses by plays in a row after a rest, with unit weights. Losses are mapped to
    /// [0, 1] by [`range`](Self::range).
    ///
    /// If there is a memory bound, or a conditional one, then no arm of the game has a longer memory, unless its fitted
    /// curve is outside the tolerance there: changes that do not matter are left out.
    ///
    /// # Errors
    /// [`FittedGameError::NoCurve`] if an arm was not seen often enough.
    pub fn game(&self) -> Result<GameSpec, FittedGameError> {
        let curves = self.all_curves()?;
        Ok(self.spec(curves.iter().map(|curve| curve.losses.clone())))
    }

    /// Games from the distribution of the errors of the fitted one: `count` draws.
    ///
    /// # Errors
    /// As [`game`](Self::game).
    pub fn games(&self, count: u64, seed: u64) -> Result<Vec<GameSpec>, FittedGameError> {
        let curves = self.all_curves()?;
        let draw = |number: u64| {
            let mut stream = StreamKey::new(seed, "fitted games", number).game();
            self.spec(curves.iter().map(|curve| curve.draw(&mut stream)).collect::<Vec<_>>())
        };
        Ok((0..count).map(draw).collect())
    }

    /// The losses of the log that are 0 and 1 in the fitted games.
    pub fn range(&self) -> LossRange {
        self.losses.range()
    }

    fn all_curves(&self) -> Result<Vec<&ArmCurve>, FittedGameError> {
        let known = |(arm, curve): (&ArmDiagnosis, &'_ Option<ArmCurve>)| match curve {
            Some(_) => Ok(()),
            None => Err(FittedGameError::NoCurve { arm: arm.name.clone() }),
        };
        self.arms.iter().zip(&self.curves).try_for_each(known)?;
        Ok(self.curves.iter().flatten().collect())
    }

    fn spec(&self, curves: impl IntoIterator<Item = Vec<f64>>) -> GameSpec {
        let range = self.range();
        let (low, span) = (range.low(), range.high() - range.low());
        let arms = self.arms.iter().zip(curves).map(|(arm, losses)| {
            let by_plays: Vec<f64> = losses.iter().map(|loss| ((loss - low) / span).clamp(0.0, 1.0)).collect();
            let sd = arm.sd / span;
            let feedback = match sd {
                _ if self.losses.binary => Noise::Bernoulli,
                sd if sd > 0.0 => Noise::Normal { sd },
                _ => Noise::None,
            };
            ArmSpec {
                name: Some(arm.name.clone()),
                memory: Some(by_plays.len().into()),
                loss: Some(LossCurveSpec { by_plays: Some(by_plays), ..LossCurveSpec::default() }),
                feedback,
                ..ArmSpec::default()
            }
        });
        Custom { title: Some("fitted to a log".to_string()), arm: arms.collect(), ..Custom::default() }.into()
    }

    /// The fitted game as the `[game]` table of an experiment file.
    ///
    /// # Errors
    /// As [`game`](Self::game).
    pub fn game_toml(&self) -> Result<String, FittedGameError> {
        #[derive(Serialize)]
        struct GameTable {
            game: GameSpec,
        }
        let range = self.range();
        let mut text = format!("# Fitted to a log of {} plays.\n", self.plays);
        text += &format!("# A loss of 0 is {}, a loss of 1 is {}.\n", range.low(), range.high());
        let table = toml::to_string(&GameTable { game: self.game()? });
        Ok(text + &table.expect("a game of names and numbers can be written as TOML"))
    }
}

/// The game of a specification without randomness.
pub(super) fn drawn(spec: &GameSpec) -> Result<Game, GameError> {
    spec.draw(&mut StreamKey::new(0, "fitted games", 0).game())
}
