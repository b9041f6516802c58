//! The price of a switch: what the burn-in costs in loss, and what an arm has to bring to be worth it.
//!
//! Burn-in losses never enter the means of the arms. They are used for two decisions of the index `empirical-bayes`:
//!
//! - an arm that is not ruled out is not left before its recorded plays of the visit cost about as much as the burn-in
//!   that they needed. With the difference d to the leader and its standard error s, n plays cost about `n·(d + s)`.
//!   So all burn-in together costs about as much as all exploration, whatever the price;
//! - an arm is not visited if what it can be expected to bring in the plays that are left is less than the burn-in of a
//!   switch to it and back.
//!
//! How long a visit is may depend on past burn-in losses: they are independent of the losses that are recorded later,
//! which remain i.i.d. with the mean of the calibrated arm.

use super::sample_stats::SampleStats;
use crate::Feedback;
use crate::math;
use crate::policy::history::{StateError, ensure};

/// The burn-in losses that were seen, of all arms.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(deny_unknown_fields))]
pub(super) struct BurnInLosses {
    plays: u64,
    sum: f64,
}

impl BurnInLosses {
    pub(super) fn add(&mut self, losses: Feedback) {
        self.plays = self.plays.saturating_add(losses.plays);
        self.sum += losses.sum;
    }

    /// What a burn-in of this length costs in excess of plays with the loss `best`; 0 if no burn-in loss was seen.
    pub(super) fn price(&self, burn_in: f64, best: f64) -> f64 {
        if self.plays == 0 { 0.0 } else { burn_in * (self.sum / self.plays as f64 - best).max(0.0) }
    }

    pub(super) fn check_restored(&self) -> Result<(), StateError> {
        ensure(self.sum.is_finite(), "the sum of the burn-in losses is out of range")
    }
}

/// The difference of the mean of an arm from that of the leader, and its standard error.
#[derive(Clone, Copy, Debug)]
pub(super) struct MeanDifference {
    difference: f64,
    error: f64,
}

impl MeanDifference {
    pub(super) fn new(arm: &SampleStats, leader: &SampleStats, bounded: bool) -> Self {
        let error = arm.squared_error(bounded) + leader.squared_error(bounded);
        Self { difference: (arm.mean() - leader.mean()).max(0.0), error: error.sqrt() + 1e-12 }
    }

    /// About what this many plays of the arm cost.
    pub(super) fn cost(&self, plays: f64) -> f64 {
        plays * (self.difference + self.error)
    }

    /// What the arm can be expected to bring in this many plays, if its loss is less than that of the leader.
    pub(super) fn gain(&self, plays: f64) -> f64 {
        plays * self.error * expected_shortfall(self.difference / self.error)
    }
}

/// By how much a normal variable is expected to be below a number that is `z >= 0` standard deviations below its mean,
/// in standard deviations, counting 0 if it is not below. The tail is approximated by Sampford's bound for Mills' ratio
/// (1953), with an error of at most 4 %.
pub(super) fn expected_shortfall(z: f64) -> f64 {
    let density = math::exp(-0.5 * z * z) / std::f64::consts::TAU.sqrt();
    let root = (z * z + 8.0).sqrt();
    density * (root - z) / (3.0 * z + root)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_expected_shortfall_is_that_of_a_normal_variable() {
        for z in [0.0, 0.3, 1.0, 2.5, 4.0] {
            // The integral of (x - z)·density(x) from z on, by the midpoint rule.
            let at = |i: u32| z + (f64::from(i) + 0.5) * 1e-4;
            let part = |x: f64| (x - z) * (-0.5 * x * x).exp() / (2.0 * std::f64::consts::PI).sqrt() * 1e-4;
            let exact: f64 = (0..100_000).map(|i| part(at(i))).sum();
            assert!((expected_shortfall(z) / exact - 1.0).abs() < 0.04, "z {z}: {} {exact}", expected_shortfall(z));
        }
    }

    #[test]
    fn the_price_is_the_excess_of_the_burn_in_and_zero_if_it_was_not_seen() {
        let mut losses = BurnInLosses::default();
        assert_eq!(losses.price(10.0, 0.2), 0.0);
        losses.add(Feedback { plays: 4, sum: 2.0, sum_sq: 2.0 });
        losses.add(Feedback { plays: 4, sum: 4.0, sum_sq: 4.0 });
        assert!((losses.price(10.0, 0.25) - 5.0).abs() < 1e-12);
        assert_eq!(losses.price(10.0, 0.9), 0.0, "a warm-up that is better than the leader");
    }

    /// Normal losses with the deviation 1: with 50 plays each, the standard error of the difference is 1/5.
    #[test]
    fn costs_and_gains_by_hand() {
        let stats = |mean: f64| {
            let mut stats = SampleStats::default();
            stats.add(Feedback { plays: 50, sum: 50.0 * mean, sum_sq: 49.0 + 50.0 * mean * mean });
            stats
        };
        let difference = MeanDifference::new(&stats(2.3), &stats(2.0), false);
        assert!((difference.cost(7.0) - 7.0 * 0.5).abs() < 1e-9);
        // The density at 1.5 is 0.129518, the tail beyond it 0.066807.
        let exact = 100.0 * 0.2 * (0.129_518 - 1.5 * 0.066_807);
        assert!((difference.gain(100.0) / exact - 1.0).abs() < 0.04);
    }
}
