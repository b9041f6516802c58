//! The test of probes: do the losses of first visits still change after the M-th play in a row?
//!
//! It is the powerful half of the [monitor](super::monitor) with the probe; the other half, the bets, looks at all runs
//! and at any time. A bet must gain ln 20 nats, which takes more plays than a test that looks at them once. So the
//! probes have a test of their own:
//!
//! - If the memory is at most M, the losses of a calibrated arm are independent with one law, so all orders of those of
//!   one run are equally likely, whatever happened before. The statistic of a run says how much losses fall with the
//!   position; its rank among the statistics of random orders of the same losses, with ties broken at random, is
//!   uniform. So its normal score is a standard normal number, whatever the policy did before.
//! - The sum of the normal scores of a fixed number of runs, divided by the root of that number, is therefore standard
//!   normal too. It is looked at after all arms had their first visit, and, for policies that leave arms out, after 1,
//!   2, 4, … of them. The looks share the probability of a false alarm.
//!
//! Which losses are told must not depend on their values. The orders are drawn with a seed that depends on the losses
//! but not on their order, so a snapshot needs no generator.

use rand::RngExt;

#[cfg(feature = "serde")]
use crate::policy::{StateError, history::ensure};
use crate::{Stream, StreamKey, math};

/// The number of random orders with which the order of a run is compared.
const ORDERS: usize = 499;
/// The probability of a false alarm of all looks.
pub(super) const FALSE_ALARMS: f64 = 0.04;
/// The part of it for the look after all arms; the earlier looks share the rest.
const LAST_LOOK: f64 = 0.8;
/// How strongly the statistic prefers the shape that fits best. Chosen with the training games of the example
/// `advisor_study`, as are the shapes; any value between 0.8 and 2 is as good.
const PREFERENCE: f64 = 1.2;
/// The weight of shapes turned upside down: losses that rise. Repeated exposure lets losses fall.
const RISING: f64 = 0.1;
const SHAPES: usize = 3;

/// The normal scores of the probes so far.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(deny_unknown_fields))]
pub(super) struct ProbeTest {
    /// First visits that are over.
    visits: u64,
    /// Those that were tested.
    tested: u64,
    /// The sum of their normal scores.
    score: f64,
    /// Whether a look has found that losses still change.
    pub(super) alarm: bool,
}

impl ProbeTest {
    /// Takes the losses of a first visit by position, of which the first is that of the M-th play. `scale` is the
    /// number of plays per loss, `arms` the number of arms. `None` if the run cannot be compared.
    pub(super) fn close(&mut self, losses: Option<&[Option<f64>]>, memory_bound: u64, scale: u64, arms: usize) {
        if self.visits >= arms as u64 {
            return;
        }
        self.visits += 1;
        if let Some(losses) = losses {
            self.tested += 1;
            self.score += normal_score(losses, memory_bound as f64 / scale as f64, self.visits);
        }
        self.alarm |= self.tested > 0 && self.score > (self.tested as f64).sqrt() * critical(self.visits, arms as u64);
    }

    /// Whether nothing has been tested: then a snapshot does not have it.
    #[cfg(feature = "serde")]
    pub(super) fn is_empty(&self) -> bool {
        *self == Self::default()
    }

    #[cfg(feature = "serde")]
    pub(super) fn check(&self, decisions: u64) -> Result<(), StateError> {
        let Self { visits, tested, score, .. } = *self;
        let fits = tested <= visits && visits <= decisions && score.abs() <= MOST_SCORE * tested as f64;
        ensure(fits, "the test of probes is out of range")
    }
}

/// The greatest normal score: that of the least probability that is drawn.
#[cfg(feature = "serde")]
const MOST_SCORE: f64 = 8.3;

/// What the mean score must exceed after this many first visits; infinite if there is no look.
fn critical(visits: u64, arms: u64) -> f64 {
    // The looks before the last one are at the powers of two below the number of arms.
    let earlier = if arms > 1 { u64::BITS - (arms - 1).leading_zeros() } else { 0 };
    let probability = match visits == arms {
        true if earlier == 0 => FALSE_ALARMS,
        true => FALSE_ALARMS * LAST_LOOK,
        false if visits.is_power_of_two() => FALSE_ALARMS * (1.0 - LAST_LOOK) / f64::from(earlier),
        false => return f64::INFINITY,
    };
    -normal_quantile(probability)
}

/// The normal score of the order of these losses: large if they fall.
fn normal_score(losses: &[Option<f64>], memory_bound: f64, visit: u64) -> f64 {
    let told = losses.iter().enumerate().filter_map(|(position, loss)| loss.map(|loss| (position, loss)));
    let (positions, mut values): (Vec<usize>, Vec<f64>) = told.unzip();
    let shapes = shapes(&positions, memory_bound);
    let mut stream = stream_of(&values, visit);
    standardise(&mut values);
    let observed = statistic(&shapes, &values);
    let margin = 1e-9 * observed;
    let (mut above, mut ties) = (0.0, 1.0);
    for _ in 0..ORDERS {
        shuffle(&mut values, &mut stream);
        let other = statistic(&shapes, &values);
        above += f64::from(u8::from(other > observed + margin));
        ties += f64::from(u8::from((other - observed).abs() <= margin));
    }
    let rank = (above + ties * stream.random::<f64>()) / (ORDERS + 1) as f64;
    -normal_quantile(rank.clamp(f64::EPSILON, 1.0 - f64::EPSILON))
}

/// A generator that depends on the losses but not on their order. The losses are multiples of 2^-32 in [0, 1] or means
/// of such numbers, so their sum as an integer is the same in any order.
fn stream_of(values: &[f64], visit: u64) -> Stream {
    let sum = values.iter().fold(0u64, |sum, &value| sum.wrapping_add((value * (1u64 << 40) as f64) as u64));
    StreamKey::new(sum, "probe", visit).noise()
}

/// How the loss may fall from the M-th play on: at 2M at once, evenly until 2M, or with the logarithm of the position.
/// Standardised, so that the product with standardised losses is a correlation times the root of their number.
fn shapes(positions: &[usize], memory_bound: f64) -> [Vec<f64>; SHAPES] {
    let by_position = |shape: fn(f64) -> f64| {
        let mut scores: Vec<f64> = positions.iter().map(|&i| shape(i as f64 / memory_bound)).collect();
        standardise(&mut scores);
        let root = (scores.len() as f64 - 1.0).max(1.0).sqrt();
        scores.iter_mut().for_each(|score| *score /= root);
        scores
    };
    [
        by_position(|part| f64::from(u8::from(part < 1.0))),
        by_position(|part| (1.0 - part).max(0.0)),
        by_position(|part| -math::ln(1.0 + part)),
    ]
}

/// Takes off the mean and divides by the standard deviation; all zero if there is none.
fn standardise(values: &mut [f64]) {
    let n = values.len() as f64;
    let mean = values.iter().sum::<f64>() / n;
    values.iter_mut().for_each(|value| *value -= mean);
    let deviation = (values.iter().map(|value| value * value).sum::<f64>() / (n - 1.0)).sqrt();
    // Differences below this are errors of rounding. False for NaN, if there is only one value.
    let real = deviation > 1e-12;
    values.iter_mut().for_each(|value| *value = if real { *value / deviation } else { 0.0 });
}

fn statistic(shapes: &[Vec<f64>; SHAPES], values: &[f64]) -> f64 {
    let fit = |shape: &Vec<f64>| shape.iter().zip(values).map(|(score, value)| score * value).sum::<f64>();
    let weight = |fit: f64| math::exp(PREFERENCE * fit) + RISING * math::exp(-PREFERENCE * fit);
    shapes.iter().map(|shape| weight(fit(shape))).sum()
}

/// All orders are equally likely.
fn shuffle(values: &mut [f64], stream: &mut Stream) {
    for last in (1..values.len()).rev() {
        values.swap(last, stream.random_range(0..=last));
    }
}

/// The quantile of the standard normal distribution, with an error below 10^-6 (Wichura 1988, "Algorithm AS 241: The
/// percentage points of the normal distribution", Applied Statistics 37, PPND7).
fn normal_quantile(probability: f64) -> f64 {
    let q = probability - 0.5;
    if q.abs() <= 0.425 {
        let r = 0.180_625 - q * q;
        let above = ((59.109_374_720 * r + 159.291_132_02) * r + 50.434_271_938) * r + 3.387_132_717_9;
        let below = ((67.187_563_600 * r + 78.757_757_664) * r + 17.895_169_469) * r + 1.0;
        return q * above / below;
    }
    let r = (-math::ln(if q < 0.0 { probability } else { 1.0 - probability })).sqrt();
    let quantile = if r <= 5.0 {
        let r = r - 1.6;
        (((0.170_238_211_03 * r + 1.306_728_481_6) * r + 2.756_815_390_0) * r + 1.423_437_277_7)
            / ((0.120_211_329_75 * r + 0.737_001_642_50) * r + 1.0)
    } else {
        let r = r - 5.0;
        (((0.017_337_203_997 * r + 0.428_682_943_37) * r + 3.081_226_386_0) * r + 6.657_905_115_0)
            / ((0.012_258_202_635 * r + 0.241_978_942_25) * r + 1.0)
    };
    quantile.copysign(q)
}

#[cfg(test)]
mod tests {
    use super::*;
    use statrs::distribution::{ContinuousCDF, Normal};

    #[test]
    fn quantiles_agree_with_an_independent_implementation() {
        let normal = Normal::new(0.0, 1.0).unwrap();
        for probability in [1e-15, 1e-11, 1e-4, 0.01, 0.04, 0.07, 0.08, 0.3, 0.5, 0.9, 0.93, 0.999, 1.0 - 1e-12] {
            let (ours, theirs) = (normal_quantile(probability), normal.inverse_cdf(probability));
            assert!((ours - theirs).abs() < 2e-6, "{probability}: {ours} {theirs}");
        }
        #[cfg(feature = "serde")]
        assert!(normal_quantile(f64::EPSILON).abs() < MOST_SCORE);
    }

    #[test]
    fn looks_share_the_probability_of_a_false_alarm() {
        let normal = Normal::new(0.0, 1.0).unwrap();
        for arms in [1, 2, 3, 4, 5, 64, 100] {
            let spent: f64 = (1..=arms).map(|visits| 1.0 - normal.cdf(critical(visits, arms))).sum();
            assert!((spent - FALSE_ALARMS).abs() < 1e-6, "{arms}: {spent}");
        }
        assert!(critical(3, 5).is_infinite() && critical(4, 5) > critical(5, 5));
    }

    /// Over all orders of the same losses, ranks are uniform: the scores have mean 0 and variance 1, and 4 % are large.
    #[test]
    fn scores_of_random_orders_are_standard_normal() {
        let losses: [&[f64]; 2] = [&[0.0, 0.0, 1.0, 0.0, 1.0, 0.0, 0.0, 1.0], &[0.11, 0.52, 0.13, 0.97, 0.5, 0.31]];
        for losses in losses {
            let mut stream = StreamKey::new(3, "orders", 0).noise();
            let (mut scores, mut order) = (Vec::new(), losses.to_vec());
            for visit in 0..2000 {
                shuffle(&mut order, &mut stream);
                scores.push(normal_score(&order.iter().copied().map(Some).collect::<Vec<_>>(), 2.0, visit));
            }
            let n = scores.len() as f64;
            let mean = scores.iter().sum::<f64>() / n;
            let variance = scores.iter().map(|score| (score - mean).powi(2)).sum::<f64>() / n;
            let large = scores.iter().filter(|&&score| score > -normal_quantile(0.04)).count() as f64 / n;
            // Four standard errors each.
            assert!(mean.abs() < 4.0 / n.sqrt(), "{mean}");
            assert!((variance - 1.0).abs() < 4.0 * (2.0 / n).sqrt(), "{variance}");
            assert!((large - 0.04).abs() < 4.0 * (0.04 * 0.96 / n).sqrt(), "{large}");
        }
    }

    #[test]
    fn falling_losses_have_large_scores_and_constant_ones_have_no_preference() {
        let falling: Vec<_> = (0..12).map(|i| Some(if i < 4 { 0.9 } else { 0.1 })).collect();
        // Of 495 orders one is as good, so about one of 499 random ones: the rank is about 1/500.
        assert!(normal_score(&falling, 4.0, 1) > 2.3);
        let rising: Vec<_> = falling.iter().rev().copied().collect();
        assert!(normal_score(&rising, 4.0, 1) < 1.7, "falling orders are better, and others are about as good");
        let constant = [Some(0.3); 12];
        let scores: Vec<f64> = (0..200).map(|visit| normal_score(&constant, 4.0, visit)).collect();
        assert!(scores.iter().sum::<f64>().abs() / 200.0 < 0.3, "the rank of equal orders is drawn");
        assert!(normal_score(&[None, None], 4.0, 1).is_finite() && normal_score(&[], 4.0, 1).is_finite());
        assert!(normal_score(&[Some(0.4)], 4.0, 1).is_finite());
    }

    #[test]
    fn the_alarm_comes_at_a_look() {
        let falling: Vec<_> = (0..40).map(|i| Some(if i < 10 { 0.9 } else { 0.1 })).collect();
        let mut test = ProbeTest::default();
        test.close(None, 10, 1, 3);
        assert!(!test.alarm && test.tested == 0);
        test.close(Some(&falling), 10, 1, 3);
        test.close(Some(&falling), 10, 1, 3);
        assert!(test.alarm && test.visits == 3 && test.tested == 2);
        test.close(Some(&falling), 10, 1, 3);
        assert_eq!(test.visits, 3, "no arm has a second first visit");
    }
}
