//! How sure an advisor is: intervals of the mean losses of all arms that hold at every time at once.

use super::Advisor;
use crate::confidence::{LossAssumption, LossScale, LossSequence, MeanInterval};
use crate::{Certificate, Policy};

/// The probability of error unless another is asked for.
pub(super) const DELTA: f64 = 0.05;

/// Intervals that contain the mean losses of all arms at every time at once, except with probability `delta`.
///
/// They are always-valid confidence sequences ([`confidence`](crate::confidence)), each with an error probability of
/// `delta` divided by the number of arms. They hold however the policy chooses and whenever somebody looks or stops.
/// The mean is that of the recorded losses, which is the eventual loss of an arm if the policy has a burn-in and its
/// bound on the memory is long enough.
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[non_exhaustive]
pub struct Confidence {
    /// The probability that any interval is wrong at any time.
    pub delta: f64,
    /// The interval of each arm.
    pub intervals: Vec<MeanInterval>,
    /// What the intervals assume about the losses.
    pub assumption: LossAssumption,
    /// The arm that the policy recommends.
    pub recommended: usize,
    /// The most by which the mean loss of the recommended arm exceeds that of the best arm; infinite if nothing is
    /// known.
    pub gap: f64,
}

/// A probability of error that is not between 0 and 1.
#[derive(Clone, Copy, Debug, PartialEq, thiserror::Error)]
#[error("delta must be a probability of error between 0 and 1, for example 0.05, but is {delta}")]
pub struct ConfidenceError {
    /// The value given.
    pub delta: f64,
}

impl Confidence {
    /// The intervals of these losses, for a valid probability.
    pub(crate) fn of(losses: &[LossSequence], scale: &LossScale, delta: f64, recommended: usize) -> Self {
        let each = delta / losses.len() as f64;
        let intervals: Vec<_> = losses.iter().map(|losses| losses.interval(each, scale)).collect();
        let recommended = recommended.min(intervals.len() - 1);
        let gap = excess(&intervals, recommended);
        Self { delta, intervals, assumption: scale.assumption(), recommended, gap }
    }

    /// The arms that are not ruled out, with the most by which any of them exceeds the best; `None` if that is not
    /// finite.
    pub fn certificate(&self) -> Option<Certificate> {
        let least = self.intervals.iter().map(|interval| interval.high).fold(f64::INFINITY, f64::min);
        let arms: Vec<usize> = (0..self.intervals.len()).filter(|&arm| self.intervals[arm].low <= least).collect();
        let gap = arms.iter().map(|&arm| excess(&self.intervals, arm)).fold(0.0, f64::max);
        gap.is_finite().then(|| Certificate::new(arms, gap, self.delta))
    }
}

impl std::fmt::Display for Confidence {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let percent = 100.0 * (1.0 - self.delta);
        if self.gap.is_finite() {
            write!(f, "with {percent} %, arm {} is within {:.3} of the best", self.recommended, self.gap)
        } else {
            write!(f, "with {percent} %, nothing can be said yet about arm {}", self.recommended)
        }
    }
}

/// The most by which the mean of an arm exceeds that of the best arm, given the intervals.
fn excess(intervals: &[MeanInterval], arm: usize) -> f64 {
    let others = intervals.iter().enumerate().filter(|&(other, _)| other != arm);
    let least = others.map(|(_, interval)| interval.low).fold(f64::INFINITY, f64::min);
    if least == f64::INFINITY { 0.0 } else { (intervals[arm].high - least).max(0.0) }
}

impl<P: Policy> Advisor<P> {
    /// How sure the advisor is: an interval per arm, and how far the recommended arm can be from the best.
    ///
    /// ```
    /// use calibandit::Advisor;
    /// use calibandit::policy::Calibrated;
    ///
    /// let mut advisor = Advisor::builder(Calibrated::builder(3), 2).build()?;
    /// for _ in 0..2000 {
    ///     let decision = advisor.ask()?;
    ///     advisor.tell(decision.id, if decision.arm == 1 { 0.2 } else { 0.6 })?;
    /// }
    /// let sure = advisor.confidence(0.05)?;
    /// assert_eq!(sure.recommended, 1);
    /// assert!(sure.intervals[1].contains(0.2) && sure.intervals[1].width() < 0.03);
    /// assert_eq!(sure.gap, 0.0); // arm 1 is the best, with 95 %
    /// assert_eq!(sure.to_string(), "with 95 %, arm 1 is within 0.000 of the best");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn confidence(&self, delta: f64) -> Result<Confidence, ConfidenceError> {
        if delta > 0.0 && delta < 1.0 { Ok(self.confidence_at(delta)) } else { Err(ConfidenceError { delta }) }
    }

    /// The interval of the mean loss of one arm that holds at every time at once, together with those of all other
    /// arms, except with probability `delta`: that of [`confidence`](Self::confidence). An arm that does not exist has
    /// an infinite one.
    pub fn interval(&self, arm: usize, delta: f64) -> Result<MeanInterval, ConfidenceError> {
        if !(delta > 0.0 && delta < 1.0) {
            return Err(ConfidenceError { delta });
        }
        let unknown = MeanInterval::new(f64::NEG_INFINITY, f64::INFINITY);
        let losses = self.tracker.losses.get(arm);
        let each = delta / self.tracker.losses.len() as f64;
        Ok(losses.map_or(unknown, |losses| losses.interval(each, &self.tracker.range.scale())))
    }

    /// [`confidence`](Self::confidence) for a valid probability.
    pub(super) fn confidence_at(&self, delta: f64) -> Confidence {
        Confidence::of(&self.tracker.losses, &self.tracker.range.scale(), delta, self.policy.recommend())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn confidence(ends: &[(f64, f64)], recommended: usize) -> Confidence {
        let intervals: Vec<_> = ends.iter().map(|&(low, high)| MeanInterval::new(low, high)).collect();
        let gap = excess(&intervals, recommended);
        Confidence { delta: 0.05, intervals, assumption: LossAssumption::Bounded, recommended, gap }
    }

    #[test]
    fn gaps_and_certificates_by_hand() {
        let three = confidence(&[(0.1, 0.3), (0.2, 0.5), (0.4, 0.9)], 0);
        assert!((three.gap - 0.1).abs() < 1e-12, "0.3 - 0.2");
        let certificate = three.certificate().unwrap();
        assert_eq!(certificate.arms, [0, 1], "the last arm begins above 0.3");
        assert!((certificate.gap - 0.4).abs() < 1e-12, "0.5 - 0.1");
        let decided = confidence(&[(0.1, 0.3), (0.4, 0.5)], 0);
        assert_eq!((decided.gap, decided.certificate().unwrap().arms), (0.0, vec![0]));
        let wrong = confidence(&[(0.1, 0.3), (0.4, 0.5)], 1);
        assert!((wrong.gap - 0.4).abs() < 1e-12);
        assert_eq!(confidence(&[(0.1, 0.3)], 0).gap, 0.0, "a single arm is the best");
        let unknown = confidence(&[(f64::NEG_INFINITY, f64::INFINITY), (0.0, 1.0)], 1);
        assert_eq!((unknown.gap, unknown.certificate()), (f64::INFINITY, None));
    }
}
