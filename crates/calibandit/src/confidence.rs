//! Confidence sequences: intervals for the mean loss of an arm that hold at every time at once.
//!
//! An interval of a fixed sample size is wrong for a bandit: how many losses of an arm there are depends on the losses,
//! and people look at any time. A confidence sequence holds, except with probability `delta`, after every number of
//! losses, so it may be looked at always and be used to stop.
//!
//! **Losses in a range.** They are scaled to [0, 1]. For each possible mean m, a bet against m gives an *e-process*: a
//! wealth that starts at 1, is never negative, and does not grow on average if the mean is m (Waudby-Smith and Ramdas
//! 2024, "Estimating means of bounded random variables by betting", JRSS B 86(1)). By Ville's inequality it reaches
//! 1/delta with probability at most delta, so the interval is the set of all m at which it is below 1/delta. The wealth
//! here is a mixture of three (`confidence/mixture.rs`):
//!
//! - one half: the Beta(1/2, 1/2) mixture of likelihood ratios, which is sharp for losses of 0 and 1 (Robbins 1970);
//! - one quarter each: the empirical Bernstein process for means above and below m, mixed over its parameter (Howard,
//!   Ramdas, McAuliffe and Sekhon 2021, "Time-uniform, nonparametric, nonasymptotic confidence sequences", Annals of
//!   Statistics 49(2), Theorem 4), which is sharp for losses of small variance.
//!
//! All that is assumed is that each loss, given all that happened before, has the same mean. Both need a few sums only,
//! so the memory per arm is constant, and no logarithm is computed before an interval is asked for.
//!
//! **Losses without a range.** Nothing can be said without an assumption; here it is that losses are independent and
//! normal, with unknown variance. The interval is that of the scale-invariant mixture of t-statistics (Lai 1976; Wang
//! and Ramdas 2025, "Anytime-valid t-tests and confidence sequences for Gaussian means with unknown variance",
//! Sequential Analysis 44(1)).
//!
//! This module knows neither arms nor policies; [`Advisor`](crate::Advisor) has one sequence per arm.

mod mixture;

use crate::Feedback;
use crate::math;
#[cfg(feature = "serde")]
use crate::policy::{StateError, history::ensure};

/// What a confidence interval assumes about the losses of an arm.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(rename_all = "kebab-case"))]
#[non_exhaustive]
pub enum LossAssumption {
    /// Losses lie in the declared range, and have the same mean.
    Bounded,
    /// Losses are independent and normal, with the same mean and variance.
    Normal,
}

/// An interval of mean losses, both ends included. Its ends are infinite if nothing is known.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[non_exhaustive]
pub struct MeanInterval {
    /// The least mean that is not refuted.
    pub low: f64,
    /// The greatest mean that is not refuted.
    pub high: f64,
}

impl MeanInterval {
    /// From `low` to `high`.
    pub fn new(low: f64, high: f64) -> Self {
        Self { low, high }
    }

    /// Its length.
    pub fn width(&self) -> f64 {
        self.high - self.low
    }

    /// Whether this mean is not refuted.
    pub fn contains(&self, mean: f64) -> bool {
        (self.low..=self.high).contains(&mean)
    }
}

/// The losses of one arm, as far as its confidence sequence depends on them.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(deny_unknown_fields))]
pub(crate) struct LossSequence {
    n: u64,
    /// The mean; of bounded losses, of the losses scaled to [0, 1].
    mean: f64,
    /// The sum of the squared differences from the mean.
    squares: f64,
    /// The sum of the squared differences from the mean of the losses before; at first from 1/2. Bounded losses only.
    surprise: f64,
}

/// The ends of the range of losses: how losses become numbers in [0, 1].
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct LossScale {
    low: f64,
    width: f64,
    assumption: LossAssumption,
}

/// The precision of the prior of the effect size in the mixture of t-statistics. Intervals are shortest, compared with
/// those of other values, for about 20 to 200 losses.
const PRECISION: f64 = 4.0;

impl LossScale {
    pub(crate) fn new(low: f64, high: f64, assumption: LossAssumption) -> Self {
        Self { low, width: high - low, assumption }
    }

    pub(crate) fn assumption(&self) -> LossAssumption {
        self.assumption
    }

    /// The least and the greatest possible loss.
    pub(crate) fn ends(&self) -> (f64, f64) {
        (self.low, self.low + self.width)
    }

    /// The loss in [0, 1], or as it is if the losses have no range.
    pub(crate) fn scaled(&self, loss: f64) -> f64 {
        match self.assumption {
            LossAssumption::Bounded => ((loss - self.low) / self.width).clamp(0.0, 1.0),
            LossAssumption::Normal => loss,
        }
    }

    fn unscaled(&self, mean: f64) -> f64 {
        match self.assumption {
            LossAssumption::Bounded => self.low + self.width * mean,
            LossAssumption::Normal => mean,
        }
    }
}

impl LossSequence {
    /// Takes the next loss.
    #[inline]
    pub(crate) fn push(&mut self, loss: f64, scale: &LossScale) {
        let loss = scale.scaled(loss);
        let before = if self.n == 0 && scale.assumption == LossAssumption::Bounded { 0.5 } else { self.mean };
        self.n += 1;
        let step = loss - self.mean;
        self.mean += step / self.n as f64;
        self.squares += step * (loss - self.mean);
        self.surprise += (loss - before) * (loss - before);
    }

    /// The sequence after these losses, whose order is not known. They are the first ones of the arm.
    pub(crate) fn after(past: &Feedback, scale: &LossScale) -> Self {
        if past.plays == 0 {
            return Self::default();
        }
        let n = past.plays as f64;
        let raw = past.sum / n;
        let squares = (past.sum_sq - n * raw * raw).max(0.0);
        let (mean, squares) = match scale.assumption {
            LossAssumption::Bounded => (scale.scaled(raw), squares / (scale.width * scale.width)),
            LossAssumption::Normal => (raw, squares),
        };
        // The i-th loss adds i/(i - 1) times to `surprise` what it adds to `squares`, which is at most (i - 1)/i. So in
        // any order, `surprise` exceeds `squares` by at most the first term, 1/4, and the lesser of `squares` and the
        // sum of 1/i. An upper bound of it keeps the interval valid.
        let excess = squares.min(math::ln(n));
        Self { n: past.plays, mean, squares, surprise: squares + excess + 0.25 }
    }

    /// The number of losses.
    pub(crate) fn len(&self) -> u64 {
        self.n
    }

    /// The mean of the losses; `None` if there are none.
    pub(crate) fn mean(&self, scale: &LossScale) -> Option<f64> {
        (self.n > 0).then(|| scale.unscaled(self.mean))
    }

    /// The interval that contains the mean at every time at once, except with probability `delta`.
    pub(crate) fn interval(&self, delta: f64, scale: &LossScale) -> MeanInterval {
        match scale.assumption {
            LossAssumption::Bounded => {
                let level = -math::ln(delta);
                let (low, high) = mixture::interval(self.n as f64, self.mean, self.surprise, level);
                MeanInterval { low: scale.unscaled(low), high: scale.unscaled(high) }
            }
            LossAssumption::Normal => {
                let radius = self.normal_radius(delta);
                MeanInterval { low: self.mean - radius, high: self.mean + radius }
            }
        }
    }

    /// Half the length of the interval of normal losses. With S the sum of the losses minus m and V that of their
    /// squares, the wealth is sqrt(c / (n + c)) · ((n + c) V / ((n + c) V - S²))^(n/2), solved for m.
    fn normal_radius(&self, delta: f64) -> f64 {
        let n = self.n as f64;
        if self.n < 2 {
            return f64::INFINITY;
        }
        let level = -math::ln(delta) + 0.5 * math::ln_1p(n / PRECISION);
        let part = -math::exp_m1(-2.0 * level / n);
        let rest = n - (n + PRECISION) * part;
        if rest > 0.0 { ((n + PRECISION) * part * self.squares / (n * rest)).sqrt() } else { f64::INFINITY }
    }

    /// Whether this code can have produced the numbers.
    #[cfg(feature = "serde")]
    pub(crate) fn check(&self, losses: u64, scale: &LossScale) -> Result<(), StateError> {
        ensure(self.n == losses, "the confidence sequence of an arm has another number of losses")?;
        let n = self.n as f64;
        let (low, high, width) = match scale.assumption {
            LossAssumption::Bounded => (0.0, 1.0, 1.0),
            LossAssumption::Normal => (scale.low, scale.low + scale.width, scale.width),
        };
        let mean = self.mean >= low && self.mean <= high && (self.n > 0 || self.mean == 0.0);
        ensure(mean, "the mean of a confidence sequence is out of range")?;
        let most = n * width * width * (1.0 + 1e-6);
        let sums = [self.squares, self.surprise].iter().all(|&sum| sum >= 0.0 && sum <= 2.0 * most + 1.0);
        ensure(sums, "the sums of a confidence sequence are out of range")
    }
}

#[cfg(test)]
mod tests {
    use rand::RngExt;

    use super::*;
    use crate::rng::StreamKey;

    const UNIT: LossScale = LossScale { low: 0.0, width: 1.0, assumption: LossAssumption::Bounded };
    const NORMAL: LossScale = LossScale { low: -1e100, width: 2e100, assumption: LossAssumption::Normal };

    fn sequence(losses: &[f64], scale: &LossScale) -> LossSequence {
        let mut sequence = LossSequence::default();
        losses.iter().for_each(|&loss| sequence.push(loss, scale));
        sequence
    }

    #[test]
    fn nothing_is_known_without_losses() {
        let nothing = LossSequence::default();
        assert_eq!(nothing.interval(0.05, &UNIT), MeanInterval { low: 0.0, high: 1.0 });
        assert_eq!(nothing.mean(&UNIT), None);
        let interval = nothing.interval(0.05, &NORMAL);
        assert!(interval.low == f64::NEG_INFINITY && interval.high == f64::INFINITY);
    }

    #[test]
    fn intervals_follow_the_scale_of_the_losses() {
        let unit = sequence(&[0.25, 0.5, 0.75, 0.5, 0.0, 0.25], &UNIT);
        let wide = LossScale::new(10.0, 30.0, LossAssumption::Bounded);
        let scaled = sequence(&[15.0, 20.0, 25.0, 20.0, 10.0, 15.0], &wide);
        let (a, b) = (unit.interval(0.1, &UNIT), scaled.interval(0.1, &wide));
        assert!((10.0 + 20.0 * a.low - b.low).abs() < 1e-9 && (10.0 + 20.0 * a.high - b.high).abs() < 1e-9);
        assert!((scaled.mean(&wide).unwrap() - 17.5).abs() < 1e-12);
    }

    /// Compared with sums over all losses.
    #[test]
    fn sums_are_those_of_the_definition() {
        let mut stream = StreamKey::new(3, "confidence", 0).noise();
        let losses: Vec<f64> = (0..500).map(|_| stream.random::<f64>().powi(2)).collect();
        let found = sequence(&losses, &UNIT);
        let mean = losses.iter().sum::<f64>() / 500.0;
        let squares: f64 = losses.iter().map(|loss| (loss - mean).powi(2)).sum();
        let mut surprise = (losses[0] - 0.5).powi(2);
        for i in 1..500 {
            let before = losses[..i].iter().sum::<f64>() / i as f64;
            surprise += (losses[i] - before).powi(2);
        }
        assert!((found.mean - mean).abs() < 1e-12 && (found.squares - squares).abs() < 1e-9);
        assert!((found.surprise - surprise).abs() < 1e-9);
    }

    /// Past losses in an unknown order never give a shorter interval than the same losses in order.
    #[test]
    fn past_losses_give_a_valid_and_hardly_longer_interval() {
        let mut stream = StreamKey::new(4, "confidence", 0).noise();
        for (n, spread) in [(1, 1.0), (2, 1.0), (30, 0.1), (30, 1.0), (1000, 0.2), (1000, 1.0)] {
            let losses: Vec<f64> = (0..n).map(|_| 0.3 + spread * (stream.random::<f64>() - 0.3)).collect();
            let mut past = Feedback::default();
            losses.iter().for_each(|&loss| past += Feedback::one(loss));
            let (told, given) = (sequence(&losses, &UNIT), LossSequence::after(&past, &UNIT));
            assert!(given.surprise >= told.surprise, "n {n}");
            let (told, given) = (told.interval(0.05, &UNIT), given.interval(0.05, &UNIT));
            assert!(given.low <= told.low + 1e-9 && given.high >= told.high - 1e-9, "n {n}");
            // The sum of squares is at most doubled, and hardly changed if it is large.
            let longer = given.width() / told.width();
            assert!(longer < if n == 1000 && spread == 1.0 { 1.1 } else { 2.0 }, "n {n}: {given:?} {told:?}");
        }
    }

    /// The ends are where the wealth is 1/delta.
    #[test]
    fn the_radius_of_normal_losses_solves_its_equation() {
        let losses = [3.0, 5.0, 4.0, 8.0, 6.5, 5.5, 2.0, 5.0, 7.0, 4.5];
        let found = sequence(&losses, &NORMAL).interval(0.05, &NORMAL);
        let n = losses.len() as f64;
        for m in [found.low, found.high] {
            let s: f64 = losses.iter().map(|loss| loss - m).sum();
            let v: f64 = losses.iter().map(|loss| (loss - m).powi(2)).sum();
            let total = (n + PRECISION) * v;
            let wealth = (PRECISION / (n + PRECISION)).sqrt() * (total / (total - s * s)).powf(n / 2.0);
            assert!((wealth - 20.0).abs() < 1e-6, "{wealth}");
        }
    }
}
