//! The noise of the feedback: how observed losses are distributed around expected losses.

use rand::Rng;
use rand_distr::{Beta, Binomial, ChiSquared, Distribution, StandardNormal};

use super::ArmError;
use crate::{Feedback, Stream};

/// How the observed loss of a play is distributed around its expectation.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
#[cfg_attr(
    feature = "serde",
    derive(serde::Serialize, serde::Deserialize),
    serde(rename_all = "kebab-case", deny_unknown_fields)
)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub enum Noise {
    /// 1 with the expected loss as probability, otherwise 0.
    #[default]
    Bernoulli,
    /// Normal around the expected loss. Not clipped, as in the paper's F1 section: observed losses may leave [0, 1].
    Normal {
        /// The standard deviation.
        #[cfg_attr(feature = "schema", schemars(extend("exclusiveMinimum" = 0)))]
        sd: f64,
    },
    /// Beta with the expected loss as its mean; the larger the concentration, the smaller the variance.
    Beta {
        /// The sum of the two shape parameters.
        #[cfg_attr(feature = "schema", schemars(extend("exclusiveMinimum" = 0)))]
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

    /// One observed loss of a play with this expected loss. If that is NaN (the mark of a loss function that left
    /// [0, 1]), so may be the observed loss.
    pub fn draw(&self, mean: f64, stream: &mut Stream) -> f64 {
        match *self {
            Noise::Bernoulli => bernoulli(threshold(mean), stream),
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
    ///
    /// # Panics
    /// If the expected loss lies outside [0, 1], which it cannot for an [`Arm`](super::Arm).
    #[inline]
    pub fn draw_many(&self, mean: f64, plays: u64, stream: &mut Stream) -> Feedback {
        if *self == Noise::Bernoulli && (2..=COUNTED).contains(&plays) {
            let ones = count_ones(plays, mean, stream) as f64;
            return Feedback { plays, sum: ones, sum_sq: ones };
        }
        self.draw_more(mean, plays, stream)
    }

    /// The rest of [`draw_many`](Noise::draw_many), not inlined, so that the most frequent case stays small.
    #[inline(never)]
    fn draw_more(&self, mean: f64, plays: u64, stream: &mut Stream) -> Feedback {
        let n = plays as f64;
        match *self {
            _ if plays == 0 => Feedback::default(),
            _ if plays == 1 => Feedback::one(self.draw(mean, stream)),
            // A loss function left [0, 1]: pass the mark on, so that the simulation can report it.
            _ if mean.is_nan() => Feedback { plays, sum: mean, sum_sq: mean },
            Noise::Bernoulli => {
                let law = Binomial::new(plays, mean).expect("an expected loss lies in [0, 1]");
                let ones = law.sample(stream) as f64;
                Feedback { plays, sum: ones, sum_sq: ones }
            }
            Noise::Normal { sd } => {
                // The mean of n normals and their squared deviations from it are independent.
                let z: f64 = StandardNormal.sample(stream);
                let sum = n * mean + sd * n.sqrt() * z;
                let law = ChiSquared::new(n - 1.0).expect("there are at least two plays here");
                let scatter = sd * sd * law.sample(stream);
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

/// Up to this many plays, ones are counted bit by bit: up to about here that is faster than a draw from the binomial
/// distribution.
const COUNTED: u64 = 320;

/// How many of 2^53 equally likely numbers stand for a one of this probability: the least integer that is not below
/// `mean · 2^53`, so that comparing integers is the same as comparing multiples of 2^-53 with the probability.
#[inline]
pub(crate) fn threshold(mean: f64) -> u64 {
    let exact = mean * (1u64 << 53) as f64;
    let below = exact as u64;
    below + u64::from((below as f64) < exact)
}

/// 1 if a random number of 53 bits is below the threshold, otherwise 0.
#[inline(always)]
pub(crate) fn bernoulli(threshold: u64, stream: &mut Stream) -> f64 {
    // Not computed from a bool, which would become a branch that cannot be predicted.
    let below = (stream.next_u64() >> 11).wrapping_sub(threshold) >> 63;
    below as f64
}

/// The number of ones among `plays` draws: for each of them, a random number of 53 bits is compared with the threshold,
/// from the highest bit on, for 64 plays at once. A play is decided at the first bit that differs, so that about eight
/// words suffice for 64 plays. Which plays a word decides depends only on the words before it, so that every play is
/// decided by independent uniform bits.
#[inline(always)]
fn count_ones(plays: u64, mean: f64, stream: &mut Stream) -> u64 {
    let threshold = threshold(mean);
    if threshold >> 53 == 1 {
        return plays; // certain
    }
    let mut ones = 0;
    let mut left = plays;
    while left > 0 {
        let together = left.min(64);
        left -= together;
        let mut undecided = u64::MAX >> (64 - together);
        let mut below = 0u64;
        // The threshold's highest bit first. A play that is undecided when only zeros follow is not below it.
        let mut bits = threshold << 11;
        while undecided != 0 && bits != 0 {
            let word = stream.next_u64();
            let one = ((bits as i64) >> 63) as u64; // all bits alike: no branch
            below |= undecided & !word & one;
            undecided &= word ^ !one;
            bits <<= 1;
        }
        ones += u64::from(below.count_ones());
    }
    ones
}
