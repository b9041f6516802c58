//! The crowd: what the other arms say about an arm, by a two-groups model.
//!
//! Suppose that the eventual losses of the arms other than the leader are drawn from two groups: a *crowd* with a
//! normal law, and arms of an unknown kind with a flat density. Centre and spread of the crowd are estimated from the
//! arms that are clearly worse than the leader, weighted by the probability that they are. For an arm with the mean h
//! and the leader with the mean r, both on a scale on which standard errors hardly depend on the mean,
//!
//! ```text
//! odds = (f(r) + u) / (g(h) + u),    at most 1,
//! ```
//!
//! is the prior density at the leader's mean divided by the density of what was observed: the factor by which the
//! posterior probability that the arm is as good as the leader changes if the crowd is known, compared with a flat
//! prior. f is the density of the crowd's eventual losses, g that of an observed mean of the crowd, and u that of
//! unknown arms, for each arm of the crowd. An arm that looks like nobody, or like the leader, or has no crowd beside
//! it has odds of 1; one in the middle of a crowd that the leader is certainly not part of has odds of about u/g.
//!
//! By Laplace's rule of succession, an arm beside a crowd of N is of an unknown kind with probability 1/(N + 2). u
//! spreads that probability, times `novelty`, over the distance of the crowd's centre from the leader, the leader's
//! standard error included. With it the odds do not depend on the unit of the losses.

use super::sample_stats::SampleStats;
use super::tuning::Tuning;
use crate::math;
use crate::policy::history::{StateError, ensure};

/// The arms that are clearly worse than the leader, as weighted sums over them.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(deny_unknown_fields))]
pub(super) struct Crowd {
    /// The sum of the weights: the expected number of arms in the crowd.
    size: f64,
    /// The sum of the means.
    mean: f64,
    /// The sum of the squares of the means.
    square: f64,
    /// The sum of the squared standard errors of the means.
    noise: f64,
    /// The number of visits since the crowd was formed.
    age: u32,
}

impl Crowd {
    /// The crowd of these arms, each with the evidence against its being as good as the leader.
    pub(super) fn new<'s>(arms: impl Iterator<Item = (&'s SampleStats, f64)>, bounded: bool) -> Self {
        let mut crowd = Self::default();
        arms.for_each(|(stats, evidence)| crowd.add(stats, evidence, bounded));
        crowd
    }

    /// Adds an arm.
    pub(super) fn add(&mut self, stats: &SampleStats, evidence: f64, bounded: bool) {
        self.change(stats, membership(evidence), bounded);
    }

    /// Removes an arm that was added with this evidence.
    pub(super) fn remove(&mut self, stats: &SampleStats, evidence: f64, bounded: bool) {
        self.change(stats, -membership(evidence), bounded);
    }

    fn change(&mut self, stats: &SampleStats, weight: f64, bounded: bool) {
        let (mean, error) = stats.stabilised(bounded);
        self.size += weight;
        self.mean += weight * mean;
        self.square += weight * mean * mean;
        self.noise += weight * error;
    }

    /// Counts a visit; returns whether the crowd has to be formed anew. With very many arms it is kept for several
    /// visits, since it hardly changes.
    pub(super) fn is_old(&mut self, arms: usize) -> bool {
        self.age = self.age.saturating_add(1);
        self.age as usize >= arms / KEPT_FROM || self.size == 0.0
    }

    /// The factor by which the crowd changes the odds that the arm is as good as the leader, in (0, 1]. The arm must
    /// not be part of the crowd.
    pub(super) fn odds(&self, stats: &SampleStats, leader: &SampleStats, bounded: bool, tuning: &Tuning) -> f64 {
        let n = self.size;
        if n < LEAST_SIZE {
            return 1.0;
        }
        let centre = self.mean / n;
        let noise = (self.noise / n).max(0.0);
        // The variance of the eventual losses that the noise does not explain, and the uncertainty of the centre.
        let unexplained = (self.square / n - centre * centre - noise).max(0.0);
        let density = |(at, error): (f64, f64)| {
            let variance = unexplained + (unexplained + noise) / n + error + 1e-12;
            let square = (at - centre) * (at - centre) / variance;
            // Far away the density is less than any other term.
            if square > 1400.0 { 0.0 } else { math::exp(-0.5 * square) / (std::f64::consts::TAU * variance).sqrt() }
        };
        let (best, arm) = (leader.stabilised(bounded), stats.stabilised(bounded));
        let distance = (centre - best.0).max(0.0) + best.1.sqrt() + 1e-12;
        let unknown = tuning.novelty / ((n + 2.0) * distance);
        ((density(best) + unknown) / (density(arm) + unknown)).min(1.0)
    }

    pub(super) fn check_restored(&self, arms: usize) -> Result<(), StateError> {
        let Self { size, mean, square, noise, .. } = *self;
        let finite = [size, mean, square, noise].iter().all(|sum| sum.is_finite());
        ensure(finite && size <= arms as f64 + 1.0, "the sums over the crowd of worse arms are out of range")
    }
}

/// The weight of an arm in the crowd: about the probability that it is worse than the leader.
fn membership(evidence: f64) -> f64 {
    1.0 - math::exp(-evidence)
}

/// A smaller crowd says nothing.
const LEAST_SIZE: f64 = 0.5;
/// From this number of arms on, the crowd is kept for more than one visit.
const KEPT_FROM: usize = 64;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Feedback;

    fn arm(plays: u64, sum: f64) -> SampleStats {
        let mut stats = SampleStats::default();
        stats.add(Feedback { plays, sum, sum_sq: sum });
        stats
    }

    fn crowd(arms: &[SampleStats]) -> Crowd {
        Crowd::new(arms.iter().map(|stats| (stats, 20.0)), true)
    }

    fn odds(others: &[SampleStats], stats: &SampleStats, leader: &SampleStats) -> f64 {
        crowd(others).odds(stats, leader, true, &Tuning::default())
    }

    #[test]
    fn an_arm_without_a_crowd_or_unlike_it_has_full_odds() {
        let leader = arm(1000, 350.0);
        let bad = [arm(100, 50.0), arm(100, 48.0), arm(100, 52.0), arm(100, 50.0)];
        assert_eq!(odds(&[], &arm(100, 50.0), &leader), 1.0, "two arms");
        assert!(odds(&bad, &arm(200, 72.0), &leader) > 0.7, "a rival");
        assert!(odds(&bad, &arm(100, 50.0), &leader) < 0.25, "one of the crowd");
        assert!(odds(&bad, &arm(100, 50.0), &arm(1000, 495.0)) > 0.5, "the leader is one of the crowd");
        let established = odds(&bad, &arm(100, 50.0), &leader);
        assert!(odds(&bad, &arm(100, 50.0), &arm(20, 7.0)) > 1.5 * established, "the leader has few plays");
    }

    #[test]
    fn odds_rise_with_novelty() {
        let (leader, stats) = (arm(3000, 1050.0), arm(100, 50.0));
        let few = crowd(&[stats; 6]);
        let with = |tuning: Tuning| few.odds(&stats, &leader, true, &tuning);
        let novelty = |novelty: f64| with(Tuning::default().novelty(novelty));
        assert!(novelty(0.1) < novelty(1.0) && novelty(1e12) > 0.999);
    }

    /// Normal losses in another unit have the same odds.
    #[test]
    fn odds_do_not_depend_on_the_unit_of_the_losses() {
        let normal = |plays: u64, mean: f64, deviation: f64, unit: f64| {
            let (n, mut stats) = (plays as f64, SampleStats::default());
            let sum_sq = n * (mean * mean + deviation * deviation) * unit * unit;
            stats.add(Feedback { plays, sum: n * mean * unit, sum_sq });
            stats
        };
        let odds = |unit: f64| {
            let others = [0.5, 0.52, 0.47, 0.51].map(|mean| normal(60, mean, 0.3, unit));
            let crowd = Crowd::new(others.iter().map(|stats| (stats, 20.0)), false);
            crowd.odds(&normal(50, 0.48, 0.3, unit), &normal(900, 0.35, 0.3, unit), false, &Tuning::default())
        };
        assert!(odds(1.0) < 0.5 && odds(1.0) > 1e-3, "{}", odds(1.0));
        assert!((odds(1000.0) / odds(1.0) - 1.0).abs() < 1e-6);
    }

    /// The formula, by hand: four arms with the mean 1/2, so that the centre is pi/2 and the noise 1/100 (the sample
    /// has the largest variance); the arm has that mean too.
    #[test]
    fn odds_by_hand() {
        let (stats, leader) = (arm(100, 50.0), arm(10_000, 2500.0));
        let four = Crowd::new([(&stats, 1e3); 4].into_iter(), true);
        let density = |distance: f64, variance: f64| {
            (-0.5 * distance * distance / variance).exp() / (2.0 * std::f64::consts::PI * variance).sqrt()
        };
        let tuning = Tuning::default().novelty(2.0);
        let known = 0.01 / 4.0;
        // 2·asin(1/2) = pi/3, so the leader is pi/6 away, with an error of 1/100; there are 4 + 2 arms for Laplace.
        let distance = std::f64::consts::PI / 6.0;
        let unknown = 2.0 / (6.0 * (distance + 0.01));
        let expected = (density(distance, known + 1e-4) + unknown) / (density(0.0, known + 0.01) + unknown);
        let found = four.odds(&stats, &leader, true, &tuning);
        assert!((found / expected - 1.0).abs() < 0.02, "{found} {expected}");
    }

    #[test]
    fn removing_an_arm_undoes_adding_it() {
        let mut three = crowd(&[arm(100, 50.0), arm(60, 33.0), arm(40, 17.0)]);
        let two = crowd(&[arm(100, 50.0), arm(40, 17.0)]);
        three.remove(&arm(60, 33.0), 20.0, true);
        for (a, b) in
            [(three.size, two.size), (three.mean, two.mean), (three.square, two.square), (three.noise, two.noise)]
        {
            assert!((a - b).abs() < 1e-12);
        }
    }
}
