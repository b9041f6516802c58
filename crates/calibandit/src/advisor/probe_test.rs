//! The test of probes: do the losses of first visits still change after the M-th play in a row?
//!
//! It is the powerful half of the [monitor](super::monitor) with the probe; the other half, the bets, looks at all runs
//! and at any time. A bet must gain ln 20 nats, which takes more plays than a test that looks at them once. So the
//! probes have a test of their own:
//!
//! - If the memory is at most M, the losses of a calibrated arm are independent with one law, so all orders of those of
//!   one run are equally likely, whatever happened before. The statistic of a run says how much losses fall with the
//!   position: a weighted sum of them. Its rank among the statistics of random orders of the same losses, with ties
//!   broken at random, is uniform. So its normal score is a standard normal number, whatever the policy did before.
//! - The sum of the normal scores of a fixed number of runs, divided by the root of that number, is therefore standard
//!   normal too. It is looked at after all arms had their first visit, and, for policies that leave arms out, after 1,
//!   2, 4, … of them. The looks share the probability of a false alarm.
//! - The weights are the same for all runs. A statistic that chooses between weights run by run finds less: one run
//!   alone hardly shows a small change, and then the choice is noise.
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
const LAST_LOOK: f64 = 0.9;
/// The part of the probability of each look that is for losses that rise. Repeated exposure lets losses fall.
const RISING: f64 = 0.1;
/// How much more the plays before 2M count, because a memory of 2M may show only there. Chosen with the training games
/// of the example `advisor_study`, as is the exponential function; any value between 0.2 and 0.7 is as good.
const STEP: f64 = 0.3;
/// Changes are said to be detectable if they are found with the probability that has this quantile: 80 %.
const POWER: f64 = 0.841_621_2;

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
    /// By how many standard deviations of a loss the sum of the scores grows if the losses before 2M are larger than
    /// the later ones by one of them.
    #[cfg_attr(feature = "serde", serde(default))]
    gain: f64,
    /// The number of losses compared, and their squared deviations from the means of their runs.
    #[cfg_attr(feature = "serde", serde(default))]
    noise: (f64, f64),
    /// Whether a look has found that losses still change.
    pub(super) alarm: bool,
}

impl ProbeTest {
    /// Takes the losses of a first visit, one of `arms`. `None` if the run cannot be compared.
    pub(super) fn close(&mut self, run: Option<&ProbedRun>, arms: usize) {
        if self.visits >= arms as u64 {
            return;
        }
        self.visits += 1;
        if let Some(run) = run {
            self.tested += 1;
            self.score += run.normal_score(self.visits);
            let (gain, plays, squares) = run.sensitivity();
            self.gain += gain;
            self.noise = (self.noise.0 + plays, self.noise.1 + squares);
        }
        let mean_score = self.score / (self.tested as f64).sqrt();
        let [falling, rising] = critical(self.visits, arms as u64);
        self.alarm |= self.tested > 0 && (mean_score > falling || mean_score < -rising);
    }

    /// The least difference between the losses from the M-th to the 2M-th play in a row and the later ones that the
    /// look after all arms finds in 80 % of the cases, if there are no more arms; `None` before anything was tested, or
    /// without noise.
    pub(super) fn detectable(&self) -> Option<f64> {
        let (plays, squares) = self.noise;
        let freedom = plays - self.tested as f64;
        let [falling, _] = critical(self.visits, self.visits);
        let scores = (falling + POWER) * (self.tested as f64).sqrt();
        (self.gain > 0.0 && squares > 0.0 && freedom > 0.0).then(|| scores / self.gain * (squares / freedom).sqrt())
    }

    /// Whether nothing has been tested: then a snapshot does not have it.
    #[cfg(feature = "serde")]
    pub(super) fn is_empty(&self) -> bool {
        *self == Self::default()
    }

    #[cfg(feature = "serde")]
    pub(super) fn check(&self, decisions: u64) -> Result<(), StateError> {
        let Self { visits, tested, score, gain, noise: (plays, squares), .. } = *self;
        let fits = tested <= visits && visits <= decisions && score.abs() <= MOST_SCORE * tested as f64;
        ensure(fits, "the test of probes is out of range")?;
        let plays = plays >= 0.0 && plays <= decisions as f64 && gain >= 0.0 && gain <= decisions as f64;
        ensure(plays && (0.0..=1e250).contains(&squares), "the noise of the probes is out of range")
    }
}

/// The greatest normal score: that of the least probability that is drawn.
#[cfg(feature = "serde")]
const MOST_SCORE: f64 = 8.3;

/// What the mean score must exceed after this many first visits, and what its negative must; infinite if there is no
/// look.
fn critical(visits: u64, arms: u64) -> [f64; 2] {
    // The looks before the last one are at the powers of two below the number of arms.
    let earlier = if arms > 1 { u64::BITS - (arms - 1).leading_zeros() } else { 0 };
    let probability = match visits == arms {
        true if earlier == 0 => FALSE_ALARMS,
        true => FALSE_ALARMS * LAST_LOOK,
        false if visits.is_power_of_two() => FALSE_ALARMS * (1.0 - LAST_LOOK) / f64::from(earlier),
        false => return [f64::INFINITY; 2],
    };
    [1.0 - RISING, RISING].map(|part| -normal_quantile(part * probability))
}

/// The losses of a first visit, from the M-th play in a row on.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct ProbedRun {
    /// The losses by position, of which the first is that of the M-th play; `None` where a loss was not told.
    pub(super) losses: Vec<Option<f64>>,
    /// M, in positions. A position may be several plays.
    pub(super) memory_bound: f64,
    /// The difference between a loss of 1 and a loss of 0 here.
    pub(super) span: f64,
}

impl ProbedRun {
    /// The positions and the losses that were told.
    fn told(&self) -> (Vec<usize>, Vec<f64>) {
        self.losses.iter().enumerate().filter_map(|(position, loss)| loss.map(|loss| (position, loss))).unzip()
    }

    /// The normal score of the order of the losses: large if they fall.
    fn normal_score(&self, visit: u64) -> f64 {
        let (positions, mut values) = self.told();
        let weights = weights(&positions, self.memory_bound);
        let mut stream = stream_of(&values, visit);
        centre(&mut values);
        let observed = statistic(&weights, &values);
        // Differences below this are errors of rounding.
        let margin = 1e-9 * values.iter().fold(0.0, |most: f64, value| most.max(value.abs()));
        let (mut above, mut ties) = (0.0, 1.0);
        for _ in 0..ORDERS {
            shuffle(&mut values, &mut stream);
            let other = statistic(&weights, &values);
            above += f64::from(u8::from(other > observed + margin));
            ties += f64::from(u8::from((other - observed).abs() <= margin));
        }
        let rank = (above + ties * stream.random::<f64>()) / (ORDERS + 1) as f64;
        -normal_quantile(rank.clamp(f64::EPSILON, 1.0 - f64::EPSILON))
    }

    /// By how much the score grows, about, if the losses before 2M are larger by one standard deviation of a loss; the
    /// number of losses, and the sum of their squared deviations.
    fn sensitivity(&self) -> (f64, f64, f64) {
        let (positions, mut values) = self.told();
        let weights = weights(&positions, self.memory_bound);
        let early = positions.iter().zip(&weights).filter(|(position, _)| (**position as f64) < self.memory_bound);
        let gain: f64 = early.map(|(_, weight)| weight).sum();
        centre(&mut values);
        let squares: f64 = values.iter().map(|value| value * value).sum();
        (gain.max(0.0), values.len() as f64, squares * self.span * self.span)
    }
}

/// A generator that depends on the losses but not on their order. The losses are multiples of 2^-32 in [0, 1] or means
/// of such numbers, so their sum as an integer is the same in any order.
fn stream_of(values: &[f64], visit: u64) -> Stream {
    let sum = values.iter().fold(0u64, |sum, &value| sum.wrapping_add((value * (1u64 << 40) as f64) as u64));
    StreamKey::new(sum, "probe", visit).noise()
}

/// How much the loss of each position counts: falling with the position, by half in 0.7M plays, with a step at 2M. They
/// have the sum 0 and the sum of squares 1, so that the statistic of a random order has the variance of a loss.
fn weights(positions: &[usize], memory_bound: f64) -> Vec<f64> {
    let weight = |&position: &usize| {
        let part = position as f64 / memory_bound;
        STEP * f64::from(u8::from(part < 1.0)) + math::exp(-part)
    };
    let mut weights: Vec<f64> = positions.iter().map(weight).collect();
    centre(&mut weights);
    let length = statistic(&weights, &weights).sqrt();
    // One position has no weight.
    weights.iter_mut().for_each(|weight| *weight /= length.max(f64::MIN_POSITIVE));
    weights
}

/// Takes off the mean.
fn centre(values: &mut [f64]) {
    let mean = values.iter().sum::<f64>() / values.len() as f64;
    values.iter_mut().for_each(|value| *value -= mean);
}

fn statistic(weights: &[f64], values: &[f64]) -> f64 {
    weights.iter().zip(values).map(|(weight, value)| weight * value).sum()
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
            let spent: f64 = (1..=arms).flat_map(|visits| critical(visits, arms)).map(|at| 1.0 - normal.cdf(at)).sum();
            assert!((spent - FALSE_ALARMS).abs() < 1e-6, "{arms}: {spent}");
        }
        assert!(critical(3, 5)[0].is_infinite() && critical(4, 5)[0] > critical(5, 5)[0]);
        assert!(critical(5, 5)[1] > critical(5, 5)[0], "rising losses have a smaller part");
    }

    fn probed(losses: &[Option<f64>], memory_bound: f64) -> ProbedRun {
        ProbedRun { losses: losses.to_vec(), memory_bound, span: 1.0 }
    }

    fn normal_score(losses: &[Option<f64>], memory_bound: f64, visit: u64) -> f64 {
        probed(losses, memory_bound).normal_score(visit)
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
        assert!(normal_score(&rising, 4.0, 1) < -2.0, "hardly any order rises as much");
        let constant = [Some(0.3); 12];
        let scores: Vec<f64> = (0..200).map(|visit| normal_score(&constant, 4.0, visit)).collect();
        assert!(scores.iter().sum::<f64>().abs() / 200.0 < 0.3, "the rank of equal orders is drawn");
        assert!(normal_score(&[None, None], 4.0, 1).is_finite() && normal_score(&[], 4.0, 1).is_finite());
        assert!(normal_score(&[Some(0.4)], 4.0, 1).is_finite());
    }

    #[test]
    fn the_alarm_comes_at_a_look() {
        let falling: Vec<_> = (0..40).map(|i| Some(if i < 10 { 0.9 } else { 0.1 })).collect();
        let falling = probed(&falling, 10.0);
        let mut test = ProbeTest::default();
        test.close(None, 3);
        assert!(!test.alarm && test.tested == 0 && test.detectable().is_none());
        test.close(Some(&falling), 3);
        test.close(Some(&falling), 3);
        assert!(test.alarm && test.visits == 3 && test.tested == 2);
        test.close(Some(&falling), 3);
        assert_eq!(test.visits, 3, "no arm has a second first visit");
        let mut rising = ProbeTest::default();
        let upwards = ProbedRun { losses: falling.losses.iter().rev().copied().collect(), ..falling };
        (0..3).for_each(|_| rising.close(Some(&upwards), 3));
        assert!(rising.alarm && rising.score < 0.0);
    }

    /// A step as large as the test says it can detect is found in 80 % of the cases.
    #[test]
    fn the_detectable_difference_is_found_in_eighty_percent() {
        const ARMS: usize = 4;
        let mut stream = StreamKey::new(5, "detectable", 0).noise();
        let mut uniform = |width: f64| width * (stream.random::<f64>() - 0.5);
        let mut probes = |step: f64| {
            let mut test = ProbeTest::default();
            for _ in 0..ARMS {
                let loss = |position: usize, noise: f64| 0.5 + noise + if position < 10 { step } else { 0.0 };
                let losses: Vec<_> = (0..40).map(|position| Some(loss(position, uniform(0.8)))).collect();
                test.close(Some(&ProbedRun { losses, memory_bound: 10.0, span: 3.0 }), ARMS);
            }
            test
        };
        // In losses that are three times as large.
        let detectable = probes(0.0).detectable().unwrap();
        // By hand: the standard deviation is 3·0.8/√12 = 0.69. The best weights, 10 plays of 40 in four runs, have the
        // gain √(10·30/40)·4 = 10.95, and these weights about 5 % less.
        let best = 0.693 * (-normal_quantile(FALSE_ALARMS * LAST_LOOK * (1.0 - RISING)) + POWER) * 2.0 / 10.95;
        assert!(detectable > 0.93 * best && detectable < 1.2 * best, "{detectable} {best}");
        let found = (0..1000).filter(|_| probes(detectable / 3.0).alarm).count();
        // Four standard errors; the noise of the first probes is known within 4 %, which is worth about 4 points.
        assert!((710..=890).contains(&found), "{found}");
    }
}
