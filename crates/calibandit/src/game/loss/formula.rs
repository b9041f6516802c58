//! Loss curves by formula: an arm's expected loss as a function of the number of its plays.
//!
//! They are made for rested arms, where no table could have a value for every number of plays, and work with a finite
//! memory too: then the number of plays is that in the window. All are stated as losses. The papers about rested arms
//! state rewards; a reward `r` in [0, 1] is the loss `1 - r`.
//!
//! Each formula knows its eventual loss, where it turns and where it is flat, so that ranges are checked, optima
//! computed and simulations accelerated without a loop over the plays.

mod course;
mod parameters;

pub(crate) use course::{Course, CurveDirection};
pub use parameters::{CurveStep, ExponentialApproach, LossStep, PeakCurve, PowerCurve, Ramp, RationalApproach};

use crate::game::ArmError;
use crate::math;

/// An expected loss by the number of plays, given by a formula.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum Formula {
    /// Constant between some plays.
    Steps(Vec<LossStep>),
    /// A power of the number of plays.
    Power(PowerCurve),
    /// From one loss to another within some plays, along a line or a power.
    Ramp(Ramp),
    /// From one loss towards another, exponentially.
    Exponential(ExponentialApproach),
    /// From one loss towards another, like a power of `1 / (x + scale)`.
    Rational(RationalApproach),
    /// A fall of the loss followed by a rise.
    Peak(PeakCurve),
    /// A value for each number of plays, the last one repeated for ever.
    Table(Vec<f64>),
}

impl Formula {
    /// The expected loss at this number of plays, the present one included: from 1 on.
    ///
    /// # Panics
    /// If there are no steps or values, or if `plays` is 0, which an [`Arm`](crate::Arm) excludes.
    pub fn at(&self, plays: u64) -> f64 {
        match self {
            Self::Steps(steps) => steps[steps.partition_point(|step| step.from <= plays).saturating_sub(1)].loss,
            Self::Power(curve) => curve.at(plays),
            Self::Ramp(curve) => curve.at(plays),
            Self::Exponential(curve) => curve.at(plays),
            Self::Rational(curve) => curve.at(plays),
            Self::Peak(curve) => curve.at(plays),
            Self::Table(losses) => {
                let place = usize::try_from(plays - 1).unwrap_or(usize::MAX);
                losses[place.min(losses.len() - 1)]
            }
        }
    }

    /// The limit of the loss as the number of plays grows.
    pub fn eventual_loss(&self) -> f64 {
        match self {
            Self::Steps(steps) => steps[steps.len() - 1].loss,
            Self::Power(curve) => curve.limit,
            Self::Ramp(curve) => curve.end,
            Self::Exponential(curve) => curve.end,
            Self::Rational(curve) if curve.clipped => curve.end.clamp(0.0, 1.0),
            Self::Rational(curve) => curve.end,
            Self::Peak(curve) => curve.after,
            Self::Table(losses) => losses[losses.len() - 1],
        }
    }

    /// Checks the parameters. Whether the losses lie in [0, 1] is checked by the arm.
    pub(crate) fn check(&self) -> Result<(), ArmError> {
        let positive = |parameter: &'static str, value: f64| match value > 0.0 && value.is_finite() {
            true => Ok(()),
            false => Err(ArmError::Formula { parameter, value, expected: "a positive number" }),
        };
        let first = |parameter: &'static str, value: u32| match value {
            0 | 1 => Ok(()),
            _ => Err(ArmError::Formula { parameter, value: value.into(), expected: "0 or 1" }),
        };
        match self {
            Self::Steps(steps) => {
                if steps.first().is_none_or(|step| step.from != 1) {
                    return Err(ArmError::FirstStep { from: steps.first().map(|step| step.from) });
                }
                match steps.windows(2).find(|pair| pair[0].from >= pair[1].from) {
                    Some(pair) => Err(ArmError::StepOrder { before: pair[0].from, from: pair[1].from }),
                    None => Ok(()),
                }
            }
            Self::Table(losses) if losses.is_empty() => Err(ArmError::NoValues),
            Self::Table(_) => Ok(()),
            Self::Power(curve) => {
                positive("power.exponent", curve.exponent)?;
                positive("power.every", curve.every as f64)
            }
            Self::Ramp(curve) => {
                positive("ramp.plays", curve.plays)?;
                positive("ramp.exponent", curve.exponent)?;
                first("ramp.first", curve.first)
            }
            Self::Exponential(curve) => {
                positive("exponential.rate", curve.rate)?;
                first("exponential.first", curve.first)
            }
            Self::Rational(curve) => {
                positive("rational.scale", curve.scale)?;
                positive("rational.exponent", curve.exponent)?;
                first("rational.first", curve.first)
            }
            Self::Peak(curve) => {
                positive("peak.fall", curve.fall)?;
                first("peak.first", curve.first)?;
                let rest = [
                    ("peak.rise", curve.rise, 0.0, "a number, at least 0"),
                    ("peak.height", curve.height, 0.0, "a number, at least 0"),
                    ("peak.after", curve.after, curve.before, "a number, at least `before`"),
                    ("peak.centre", curve.centre, f64::MIN, "a number"),
                ];
                match rest.into_iter().find(|&(_, value, low, _)| !(value >= low && value.is_finite())) {
                    Some((parameter, value, _, expected)) => Err(ArmError::Formula { parameter, value, expected }),
                    None => Ok(()),
                }
            }
        }
    }

    /// The key of this formula in files.
    pub fn name(&self) -> &'static str {
        match self {
            Self::Steps(_) => "steps",
            Self::Power(_) => "power",
            Self::Ramp(_) => "ramp",
            Self::Exponential(_) => "exponential",
            Self::Rational(_) => "rational",
            Self::Peak(_) => "peak",
            Self::Table(_) => "table",
        }
    }

    /// About how many bytes it takes beside its own size.
    pub(crate) fn memory_estimate(&self) -> usize {
        match self {
            Self::Steps(steps) => size_of_val(steps.as_slice()),
            Self::Table(losses) => size_of_val(losses.as_slice()),
            _ => 0,
        }
    }
}

impl PowerCurve {
    fn at(&self, plays: u64) -> f64 {
        let x = ((plays - 1) / self.every.max(1) + 1) as f64;
        self.limit + self.scale * math::powf(x, -self.exponent)
    }
}

/// The argument of a formula at a number of plays.
fn argument(plays: u64, first: u32) -> f64 {
    (plays - 1) as f64 + f64::from(first)
}

impl Ramp {
    fn at(&self, plays: u64) -> f64 {
        let part = argument(plays, self.first) / self.plays;
        if part >= 1.0 {
            return self.end;
        }
        let part = if self.exponent == 1.0 { part } else { math::powf(part, self.exponent) };
        self.start + (self.end - self.start) * part
    }
}

impl ExponentialApproach {
    fn at(&self, plays: u64) -> f64 {
        self.end + (self.start - self.end) * math::exp(-self.rate * argument(plays, self.first))
    }
}

impl RationalApproach {
    fn at(&self, plays: u64) -> f64 {
        let part = self.scale / (argument(plays, self.first) + self.scale);
        let loss = self.end + (self.start - self.end) * math::powf(part, self.exponent);
        if self.clipped { loss.clamp(0.0, 1.0) } else { loss }
    }
}

impl PeakCurve {
    fn at(&self, plays: u64) -> f64 {
        let u = argument(plays, self.first) - self.centre;
        let risen = 1.0 / (math::exp(-(self.fall + self.rise) * u) + 1.0);
        self.before + (self.after - self.before) * risen + self.height * math::exp(-self.fall * u)
    }

    /// The sign of the derivative by the number of plays: positive if the loss rises.
    fn rises(&self, x: f64) -> bool {
        let (u, rate) = (x - self.centre, self.fall + self.rise);
        // σ(1 - σ) written so that nothing overflows.
        let tail = math::exp(-rate * u.abs());
        let slope = (self.after - self.before) * rate * tail / ((1.0 + tail) * (1.0 + tail));
        slope > self.height * self.fall * math::exp(-self.fall * u)
    }
}
