//! Warm-up curves fitted to observed losses, by maximum likelihood.
//!
//! The paper's lap-time model says that the loss at position `k` of a run is normal around
//! `beta·exp(-alpha·k) - gamma·k`, with alpha and gamma not negative. For normal noise the likeliest curve is the one
//! with the least sum of squares, and the likeliest variance is that sum divided by the number of observations. Given
//! alpha, the best beta and gamma are linear least squares; so only alpha is searched for, along its whole range, and
//! what is found is the global optimum. Local searches over all parameters at once (Levenberg–Marquardt, as in the
//! paper) stall here: the parameters are badly conditioned, and often the best ones lie on the border.
//!
//! Nothing here knows about racing: any losses by position in a run will do.
//!
//! ```
//! use calibandit_fit::{Observation, WarmUp, fit};
//!
//! // Somebody gets better over six tries.
//! let losses = [0.81, 0.52, 0.34, 0.27, 0.22, 0.21];
//! let observations: Vec<Observation> =
//!     losses.iter().zip(1..).map(|(&loss, position)| Observation { position, loss }).collect();
//! let lap = fit(WarmUp::Lap, &observations)?;
//! let plateau = fit(WarmUp::Plateau, &observations)?;
//! assert!(lap.r_squared > 0.95 && plateau.sse < lap.sse);
//! assert!((plateau.mean(6) - 0.21).abs() < 0.01);
//! # Ok::<(), calibandit_fit::FitError>(())
//! ```

mod arms;
mod columns;
mod profile;
pub mod table;

pub use arms::{ArmLosses, ArmsError, Columns, FittedArm, Range, fit_arms, game, game_toml, parse_losses, read_losses};
pub use table::TableError;

use serde::{Deserialize, Serialize};

use profile::{Profile, search};

/// One observed loss.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Observation {
    /// The position in its run, from 1.
    pub position: u32,
    /// The loss.
    pub loss: f64,
}

/// The form of the curve.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum WarmUp {
    /// The paper's: `beta·exp(-alpha·k) - gamma·k`.
    #[default]
    Lap,
    /// With a constant level that losses settle at: `level + beta·exp(-alpha·k) - gamma·k`.
    Plateau,
}

impl WarmUp {
    /// The number of parameters, the standard deviation included.
    pub fn parameters(self) -> usize {
        match self {
            WarmUp::Lap => 4,
            WarmUp::Plateau => 5,
        }
    }
}

/// The likeliest curve of some observations.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Fit {
    /// The form of the curve.
    pub model: WarmUp,
    /// The rate of the exponential decrease, at least 0.
    pub alpha: f64,
    /// The height of the exponential part at position 0.
    pub beta: f64,
    /// The linear decrease per position, at least 0.
    pub gamma: f64,
    /// The constant level; 0 for [`WarmUp::Lap`], which has none.
    pub level: f64,
    /// The standard deviation of an observation: the root of `sse / observations`.
    pub sd: f64,
    /// The number of observations.
    pub observations: usize,
    /// The last position that was observed.
    pub last: u32,
    /// The sum of squared residuals.
    pub sse: f64,
    /// The share of the variance that the curve explains; 0 is no better than the mean of the observations.
    pub r_squared: f64,
    /// How exactly the parameters are known.
    pub standard_errors: StandardErrors,
}

/// Standard errors of the parameters, by the curvature of the likelihood at its maximum.
///
/// `None` for a parameter on the border of its range and for one that the model does not have, and for all where there are not more observations than
/// parameters. The parameters of short warm-ups are strongly correlated: judge a curve by its values, not by its
/// parameters.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct StandardErrors {
    /// Of alpha.
    pub alpha: Option<f64>,
    /// Of beta.
    pub beta: Option<f64>,
    /// Of gamma.
    pub gamma: Option<f64>,
    /// Of the level.
    pub level: Option<f64>,
}

impl Fit {
    /// The expected loss at position `k`, from 1.
    pub fn mean(&self, k: u32) -> f64 {
        let k = f64::from(k);
        self.level + self.beta * (-self.alpha * k).exp() - self.gamma * k
    }

    /// The expected loss at the last position that was observed.
    pub fn terminal_mean(&self) -> f64 {
        self.mean(self.last)
    }

    /// Akaike's information criterion, up to a constant that all models share: smaller is better. Minus infinity for
    /// a curve through all observations.
    pub fn aic(&self) -> f64 {
        let n = self.observations as f64;
        n * (self.sse / n).ln() + 2.0 * self.model.parameters() as f64
    }

    /// [`aic`](Fit::aic) with the usual correction for small samples. None where there are too few observations for it.
    pub fn aicc(&self) -> Option<f64> {
        let (n, p) = (self.observations as f64, self.model.parameters() as f64);
        (n > p + 1.0).then(|| self.aic() + 2.0 * p * (p + 1.0) / (n - p - 1.0))
    }
}

/// Why there is no fit.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum FitError {
    /// Too few positions.
    #[error("{given} different positions are too few for a curve with {needed} parameters besides the noise")]
    TooFew {
        /// How many different positions there are.
        given: usize,
        /// How many there have to be.
        needed: usize,
    },
    /// A loss that is no number.
    #[error("the loss at position {position} is {loss}: it must be finite")]
    NotFinite {
        /// Where.
        position: u32,
        /// The loss.
        loss: f64,
    },
    /// A position before the first.
    #[error("positions count from 1, and one is 0")]
    PositionZero,
}

/// The likeliest curve of this form.
///
/// Observations may come in any order, and a position may have any number of them: those of several runs are fitted
/// together.
///
/// # Errors
/// [`FitError`] if there are fewer different positions than parameters of the curve, or a value is none.
pub fn fit(model: WarmUp, observations: &[Observation]) -> Result<Fit, FitError> {
    for &Observation { position, loss } in observations {
        if position == 0 {
            return Err(FitError::PositionZero);
        }
        if !loss.is_finite() {
            return Err(FitError::NotFinite { position, loss });
        }
    }
    let profile = Profile::new(model, observations);
    let (given, needed) = (profile.positions(), model.parameters() - 1);
    if given < needed {
        return Err(FitError::TooFew { given, needed });
    }
    let best = search(&profile);
    let n = observations.len();
    let spread = profile.total_sum_of_squares();
    let r_squared = match (best.sse, spread) {
        (sse, spread) if spread > 0.0 => 1.0 - sse / spread,
        (0.0, _) => 1.0,
        _ => 0.0,
    };
    let standard_errors = profile.standard_errors(&best);
    Ok(Fit {
        model,
        alpha: best.alpha,
        beta: best.beta,
        gamma: best.gamma,
        level: best.level,
        sd: (best.sse / n as f64).sqrt(),
        observations: n,
        last: observations.iter().map(|seen| seen.position).max().unwrap_or(0),
        sse: best.sse,
        r_squared,
        standard_errors,
    })
}
