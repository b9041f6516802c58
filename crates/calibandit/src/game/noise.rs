//! The noise of the feedback: what is observed when an arm is played, given its expected loss.

use rand::RngExt;
use rand_distr::{Beta, Binomial, ChiSquared, Distribution, StandardNormal};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::ArmError;
use crate::{Feedback, Stream};

/// How the observed loss of a play is distributed around its expectation.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub enum Noise {
    /// 1 with the expected loss as probability, otherwise 0.
    #[default]
    Bernoulli,
    /// Normal around the expected loss. Not clipped, as in the paper's F1 section: observed losses may leave [0, 1].
    Normal {
        /// The standard deviation.
        sd: f64,
    },
    /// Beta with the expected loss as its mean; the larger the concentration, the smaller the variance.
    Beta {
        /// The sum of the two shape parameters.
        concentration: f64,
    },
    /// The expected loss itself.
    None,
}

impl Noise {
    pub(super) fn check(&self) -> Result<(), ArmError> {
        let (parameter, value) = match *self {
            Noise::Normal { sd } => ("the standard deviation of normal feedback", sd),
            Noise::Beta { concentration } => ("the concentration of beta feedback", concentration),
            Noise::Bernoulli | Noise::None => return Ok(()),
        };
        if value > 0.0 && value.is_finite() { Ok(()) } else { Err(ArmError::Noise { parameter, value }) }
    }

    /// Whether every observed loss lies in [0, 1].
    pub fn is_bounded(&self) -> bool {
        !matches!(self, Noise::Normal { .. })
    }

    /// One observed loss of a play with this expected loss.
    pub fn draw(&self, mean: f64, stream: &mut Stream) -> f64 {
        match *self {
            Noise::Bernoulli => f64::from(stream.random::<f64>() < mean),
            Noise::Normal { sd } => {
                let z: f64 = StandardNormal.sample(stream);
                mean + sd * z
            }
            Noise::Beta { concentration } => match Beta::new(mean * concentration, (1.0 - mean) * concentration) {
                Ok(beta) => beta.sample(stream),
                // A mean of 0 or 1 (or so near that a shape parameter vanishes) leaves no room for noise.
                Err(_) => mean,
            },
            Noise::None => mean,
        }
    }

    /// The feedback of `plays` plays that all have this expected loss: distributed exactly as that many
    /// [`draw`](Noise::draw)s added up, but at a cost that does not grow with their number (except for Beta).
    pub fn draw_many(&self, mean: f64, plays: u64, stream: &mut Stream) -> Feedback {
        let n = plays as f64;
        match *self {
            _ if plays == 0 => Feedback::default(),
            _ if plays == 1 => Feedback::one(self.draw(mean, stream)),
            Noise::Bernoulli => {
                let ones = match Binomial::new(plays, mean) {
                    Ok(binomial) => binomial.sample(stream) as f64,
                    Err(_) => n * mean, // cannot happen: a mean lies in [0, 1]
                };
                Feedback { plays, sum: ones, sum_sq: ones }
            }
            Noise::Normal { sd } => {
                // The mean of n normals and their squared deviations from it are independent.
                let z: f64 = StandardNormal.sample(stream);
                let sum = n * mean + sd * n.sqrt() * z;
                let scatter = match ChiSquared::new(n - 1.0) {
                    Ok(chi) => sd * sd * chi.sample(stream),
                    Err(_) => 0.0, // cannot happen: n is at least 2
                };
                Feedback { plays, sum, sum_sq: sum * sum / n + scatter }
            }
            Noise::Beta { .. } => {
                let mut feedback = Feedback::default();
                for _ in 0..plays {
                    feedback += Feedback::one(self.draw(mean, stream));
                }
                feedback
            }
            Noise::None => Feedback { plays, sum: n * mean, sum_sq: n * mean * mean },
        }
    }
}
