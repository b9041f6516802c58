//! The models of warm-up curves, and their fit by maximum likelihood.
//!
//! The paper's lap-time model is that the loss at position `k` of a run is normal around
//! `beta·exp(-alpha·k) - gamma·k`, with alpha and gamma not negative. For normal noise, the maximum-likelihood curve is
//! the one with the least sum of squares, and the maximum-likelihood variance is this sum divided by the number of
//! observations. Given alpha, beta and gamma follow by linear least squares. So alpha alone is searched for, over its
//! whole range, and the result is the global optimum. A local search over all parameters at once (Levenberg–Marquardt,
//! as in the paper) stalls here: the parameters are badly conditioned, and the optimum is often on the border.

use serde::{Deserialize, Serialize};

use crate::profile::{Profile, search};

/// One observed loss.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Observation {
    /// The position in its run; the first play has position 1.
    pub position: u32,
    /// The loss.
    pub loss: f64,
}

/// The model of a warm-up curve: the expected loss by position `k` in a run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "clap", derive(clap::ValueEnum))]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum WarmUp {
    /// The paper's model: beta·exp(-alpha·k) - gamma·k.
    #[default]
    #[serde(alias = "lap")]
    #[cfg_attr(feature = "clap", value(alias = "lap"))]
    ExponentialLinear,
    /// The same plus a constant level: level + beta·exp(-alpha·k) - gamma·k.
    Plateau,
    /// A curve that settles at a level: level + beta·exp(-alpha·k). Not offered by the Formula One study, which
    /// compares the paper's model with the one above.
    #[cfg_attr(feature = "clap", value(skip))]
    Settling,
}

impl WarmUp {
    /// All models, the paper's first.
    pub const ALL: [WarmUp; 3] = [WarmUp::ExponentialLinear, WarmUp::Settling, WarmUp::Plateau];

    /// The name in files and on the command line.
    pub fn name(self) -> &'static str {
        match self {
            WarmUp::ExponentialLinear => "exponential-linear",
            WarmUp::Plateau => "plateau",
            WarmUp::Settling => "settling",
        }
    }

    /// The number of parameters, including the standard deviation of the noise.
    pub fn parameters(self) -> usize {
        match self {
            WarmUp::ExponentialLinear | WarmUp::Settling => 4,
            WarmUp::Plateau => 5,
        }
    }

    /// Whether the curve has a constant level.
    pub(crate) fn has_level(self) -> bool {
        self != WarmUp::ExponentialLinear
    }

    /// Whether the curve has a linear decrease.
    pub(crate) fn has_linear_part(self) -> bool {
        self != WarmUp::Settling
    }
}

/// The maximum-likelihood curve of a set of observations.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Fit {
    /// The model.
    pub model: WarmUp,
    /// The rate of the exponential decrease, at least 0.
    pub alpha: f64,
    /// The height of the exponential part at position 0.
    pub beta: f64,
    /// The linear decrease per position, at least 0; 0 for [`WarmUp::Settling`], which has none.
    pub gamma: f64,
    /// The constant level; 0 for [`WarmUp::ExponentialLinear`], which has none.
    pub level: f64,
    /// The standard deviation of an observation: the square root of `sse / observations`.
    pub sd: f64,
    /// The number of observations.
    pub observations: usize,
    /// The largest observed position.
    pub last: u32,
    /// The sum of squared residuals.
    pub sse: f64,
    /// The share of the variance that the curve explains; 0 is no better than the mean of the observations.
    pub r_squared: f64,
    /// The standard errors of the parameters.
    pub standard_errors: StandardErrors,
}

/// Standard errors of the parameters, from the curvature of the likelihood at its maximum.
///
/// A standard error is `None` if the parameter is on the border of its range, if the model does not have it, or if
/// there are not more observations than parameters. The parameters of short warm-up curves are strongly correlated, so
/// compare curves by their values rather than by their parameters.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
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
    /// The expected loss at position `k`, counted from 1.
    pub fn mean(&self, k: u32) -> f64 {
        let k = f64::from(k);
        self.level + self.beta * (-self.alpha * k).exp() - self.gamma * k
    }

    /// The expected loss at the largest observed position.
    pub fn terminal_mean(&self) -> f64 {
        self.mean(self.last)
    }

    /// Akaike's information criterion, up to a constant that all models share. Smaller is better; minus infinity for a
    /// curve through all observations.
    pub fn aic(&self) -> f64 {
        let n = self.observations as f64;
        n * (self.sse / n).ln() + 2.0 * self.model.parameters() as f64
    }

    /// [`aic`](Fit::aic) with the usual correction for small samples; `None` if there are too few observations for it.
    pub fn aicc(&self) -> Option<f64> {
        let (n, p) = (self.observations as f64, self.model.parameters() as f64);
        (n > p + 1.0).then(|| self.aic() + 2.0 * p * (p + 1.0) / (n - p - 1.0))
    }
}

/// Why a curve could not be fitted.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum FitError {
    /// There are fewer different positions than parameters of the curve.
    #[error("{given} different positions are too few: the curve has {needed} parameters besides the noise")]
    TooFew {
        /// The number of different positions.
        given: usize,
        /// The number of different positions that are needed.
        needed: usize,
    },
    /// A loss is not a finite number.
    #[error("the loss at position {position} is {loss}: it must be finite")]
    NotFinite {
        /// The position of the loss.
        position: u32,
        /// The loss.
        loss: f64,
    },
    /// A position is 0.
    #[error("a position is 0: positions count from 1")]
    PositionZero,
}

/// Fits a curve of this model.
///
/// Observations may come in any order. A position may have several: the observations of several runs are fitted
/// together.
///
/// ```
/// use calibandit_fit::{Observation, WarmUp, fit};
///
/// let losses = [0.81, 0.52, 0.34, 0.27, 0.22, 0.21];
/// let observations: Vec<Observation> =
///     losses.iter().zip(1..).map(|(&loss, position)| Observation { position, loss }).collect();
/// let without_level = fit(WarmUp::ExponentialLinear, &observations)?;
/// let with_level = fit(WarmUp::Plateau, &observations)?;
/// assert!(without_level.r_squared > 0.95 && with_level.sse < without_level.sse);
/// assert!((with_level.mean(6) - 0.21).abs() < 0.01);
/// # Ok::<(), calibandit_fit::FitError>(())
/// ```
///
/// # Errors
/// [`FitError`] if there are fewer different positions than parameters of the curve, if a position is 0, or if a loss
/// is not finite.
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
    let total = profile.total_sum_of_squares();
    let r_squared = match (best.sse, total) {
        (sse, total) if total > 0.0 => 1.0 - sse / total,
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
        last: observations.iter().map(|seen| seen.position).max().expect("there are at least `needed` positions"),
        sse: best.sse,
        r_squared,
        standard_errors,
    })
}
