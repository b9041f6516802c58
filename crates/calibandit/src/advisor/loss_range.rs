//! The range of losses that an advisor accepts.

use crate::confidence::{LossAssumption, LossScale};

/// The range of possible losses, both ends included. A loss outside is refused, because it is probably a mistake: a
/// reward, a percentage, or a missing value coded as -1.
///
/// ```
/// use calibandit::LossRange;
/// assert!(LossRange::default().contains(1.0));
/// assert!(!LossRange::default().contains(f64::NAN));
/// assert!(LossRange::new(60.0, 120.0)?.contains(93.5));
/// assert!(LossRange::new(1.0, 0.0).is_err());
/// # Ok::<(), calibandit::LossRangeError>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(
    feature = "serde",
    derive(serde::Serialize, serde::Deserialize),
    serde(try_from = "RangeEnds", into = "RangeEnds")
)]
pub struct LossRange {
    low: f64,
    high: f64,
}

#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(deny_unknown_fields))]
struct RangeEnds {
    low: f64,
    high: f64,
}

impl LossRange {
    /// The largest absolute value of a loss. It keeps the sum of the squares of any number of losses finite.
    pub const LARGEST: f64 = 1e100;

    /// From `low` to `high`.
    pub fn new(low: f64, high: f64) -> Result<Self, LossRangeError> {
        let valid = low < high && low >= -Self::LARGEST && high <= Self::LARGEST;
        if valid { Ok(Self { low, high }) } else { Err(LossRangeError { low, high }) }
    }

    /// Any finite loss up to [`LARGEST`](Self::LARGEST), for example normally distributed losses.
    pub fn unbounded() -> Self {
        Self { low: -Self::LARGEST, high: Self::LARGEST }
    }

    /// How losses become numbers in [0, 1], if they have a range.
    pub(crate) fn scale(&self) -> LossScale {
        let assumption = if self.is_unbounded() { LossAssumption::Normal } else { LossAssumption::Bounded };
        LossScale::new(self.low(), self.high(), assumption)
    }

    /// Whether it is that of [`unbounded`](Self::unbounded).
    pub fn is_unbounded(&self) -> bool {
        *self == Self::unbounded()
    }

    /// Whether this loss is possible. NaN is not.
    pub fn contains(&self, loss: f64) -> bool {
        (self.low..=self.high).contains(&loss)
    }

    /// The least possible loss.
    pub fn low(&self) -> f64 {
        self.low
    }

    /// The largest possible loss.
    pub fn high(&self) -> f64 {
        self.high
    }
}

/// [0, 1].
impl Default for LossRange {
    fn default() -> Self {
        Self { low: 0.0, high: 1.0 }
    }
}

impl TryFrom<RangeEnds> for LossRange {
    type Error = LossRangeError;
    fn try_from(ends: RangeEnds) -> Result<Self, LossRangeError> {
        Self::new(ends.low, ends.high)
    }
}

impl From<LossRange> for RangeEnds {
    fn from(range: LossRange) -> Self {
        Self { low: range.low, high: range.high }
    }
}

/// An invalid loss range: `low` must be less than `high`, and both finite.
#[derive(Clone, Copy, Debug, PartialEq, thiserror::Error)]
#[error(
    "invalid loss range: low = {low} must be less than high = {high}, and neither may exceed {:e} in absolute value",
    LossRange::LARGEST
)]
pub struct LossRangeError {
    /// The lower end given.
    pub low: f64,
    /// The upper end given.
    pub high: f64,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn invalid_ranges_are_refused() {
        for (low, high) in
            [(0.0, 0.0), (1.0, 0.0), (f64::NAN, 1.0), (0.0, f64::NAN), (0.0, f64::INFINITY), (-1e101, 0.0)]
        {
            assert!(LossRange::new(low, high).is_err(), "{low} to {high}");
        }
        assert!(serde_json::from_str::<LossRange>(r#"{"low": 2, "high": 1}"#).is_err());
    }

    #[test]
    fn unbounded_accepts_every_finite_loss_that_cannot_overflow() {
        let any = LossRange::unbounded();
        assert!(any.contains(-12.5) && any.contains(1e100) && !any.contains(1e101));
        assert!([f64::NAN, f64::INFINITY, f64::NEG_INFINITY].iter().all(|&loss| !any.contains(loss)));
        assert!((u64::MAX as f64 * LossRange::LARGEST * LossRange::LARGEST).is_finite());
        assert_eq!(serde_json::from_str::<LossRange>(&serde_json::to_string(&any).unwrap()).unwrap(), any);
    }
}
