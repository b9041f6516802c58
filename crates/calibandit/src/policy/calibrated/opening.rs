//! The start: arms are measured once.
//!
//! The index `empirical-bayes` measures in parts, and leaves an arm as soon as it is ruled out by the best of those
//! that were measured before. If measuring every arm would take a large part of the horizon, it stops when one more arm
//! costs more than it can be expected to bring. The other indices measure each arm in one run.

use super::arms_view::ArmsView;
use super::{Calibrated, Index, challenge};
use crate::math;

/// Recorded plays between two looks at an arm that is measured for the first time.
const OPENING_PART: f64 = 4.0;
/// The start may end before every arm is measured only if measuring all would take more than one part in this many of
/// the horizon. Otherwise stopping saves little, and a start of all arms in their order is easier to follow.
const LONG_START: f64 = 16.0;
/// With many measured arms, the decision to stop is looked at only when their number has grown by one part in this
/// many.
const STOP_LOOKS: usize = 16;

/// Whether measuring this many arms takes a large part of the horizon.
pub(super) fn is_long(arms: usize, horizon: Option<u64>, burn_in: u64, first: f64) -> bool {
    horizon.is_some_and(|horizon| arms as f64 * (burn_in as f64 + first) * LONG_START > horizon as f64)
}

/// By how much a normal variable is expected to be below a number that is `z >= 0` standard deviations below its mean,
/// in standard deviations, counting 0 if it is not below. The tail is approximated by Sampford's bound for Mills' ratio
/// (1953), with an error of at most 4 %.
fn expected_shortfall(z: f64) -> f64 {
    let density = math::exp(-0.5 * z * z) / std::f64::consts::TAU.sqrt();
    let root = (z * z + 8.0).sqrt();
    density * (root - z) / (3.0 * z + root)
}

impl Calibrated {
    /// Whether arms are measured in parts at the start, because they may be ruled out before the end.
    pub(super) fn measures_in_parts(&self) -> bool {
        self.index == Index::EmpiricalBayes
    }

    /// The number of plays to record next of an arm whose first measurement is not complete.
    pub(super) fn opening(&self, arm: usize) -> f64 {
        let (n, first) = (self.records[arm].n, self.schedule.first());
        match self.measures_in_parts() {
            true if n > 0.0 => OPENING_PART.min(first - n),
            true => self.schedule.least().min(first),
            false => first,
        }
    }

    /// Whether the first measurement of this arm is complete: it has its recorded plays, or is ruled out.
    pub(super) fn is_measured(&mut self, arm: usize) -> bool {
        if !self.measures_in_parts() {
            return true;
        }
        let view = ArmsView { stats: &self.records, arms: &self.arms, now: self.situation(), groups: None };
        let front = self.lookup.front.filter(|_| self.opened > 0);
        let front =
            front.or_else(|| (self.opened > 0).then(|| ArmsView { arms: &self.arms[..self.opened], ..view }.leader()));
        let done = self.records[arm].n >= self.schedule.first()
            || front.is_some_and(|front| challenge::is_ruled_out(&view, arm, front, self.tuning));
        if done {
            let better = front.is_none_or(|front| self.records[arm].mean() < self.records[front].mean());
            self.lookup.front = if better { Some(arm) } else { front };
        }
        done
    }

    /// Whether to measure no further arm: what another arm can be expected to bring in the plays that are left is less
    /// than what its measurement costs.
    ///
    /// The eventual losses are taken as normal, with the centre and the spread of those measured so far. By Laplace's
    /// rule of succession the next of j + 1 arms is of an unknown kind with probability 1/(j + 1); then its loss is
    /// uniform from 0 to 1, or, for losses that are not in [0, 1], as far below the best as the best is below the
    /// centre.
    pub(super) fn has_enough_arms(&self) -> bool {
        let count = self.opened;
        let Some(horizon) = self.horizon.filter(|_| self.measures_in_parts() && count >= 2 && count < self.arms.len())
        else {
            return false;
        };
        let (burn_in, first) = (self.memory_bound - 1, self.schedule.first());
        let is_look = count.is_multiple_of(1 + count / STOP_LOOKS);
        if !is_look || !is_long(self.records.len(), self.horizon, burn_in, first) {
            return false;
        }
        let n = count as f64;
        let (mut sum, mut square, mut noise, mut best) = (0.0, 0.0, 0.0, (f64::INFINITY, 0.0));
        for &arm in &self.arms[..count] {
            let (mean, error) = (self.records[arm].mean(), self.records[arm].squared_error(self.bounded));
            sum += mean;
            square += mean * mean;
            noise += error;
            if mean < best.0 {
                best = (mean, error);
            }
        }
        let centre = sum / n;
        let between = (square / n - centre * centre - noise / n).max(0.0);
        // The least of many means is less by chance: it is shrunk to the centre.
        let ahead = (centre - best.0) * between / (between + best.1 + 1e-12);
        let deviation = between.sqrt() + 1e-12;
        let best = (centre - ahead).max(0.0);
        let unknown = if self.bounded { 0.5 * best * best } else { ahead };
        let gain = deviation * expected_shortfall(ahead / deviation) + unknown / (n + 1.0);
        // In any order of the arms the last is the best with probability 1/(n + 1), and no loss is below 0.
        let gain = if self.bounded { gain.min(best / (n + 1.0)) } else { gain };
        let plays = burn_in as f64 + first;
        let left = horizon.saturating_sub(self.time) as f64 - plays;
        left * gain < plays * ahead
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Feedback, Policy, Problem, StreamKey};

    /// The recorded plays of each arm at the start, if its losses are always the same.
    fn measured(index: Index, losses: &[f64]) -> Vec<f64> {
        let problem = Problem { arms: losses.len(), horizon: Some(1_000_000) };
        let spec = Calibrated::builder(5).index(index);
        let mut policy = spec.build(&problem, StreamKey::new(1, "opening", 0).policy()).unwrap();
        while policy.opened < losses.len() {
            let run = policy.next_run();
            let sum = losses[run.arm] * run.record as f64;
            policy.observe(run, Feedback { plays: run.record, sum, sum_sq: losses[run.arm] * sum });
        }
        policy.records.iter().map(|stats| stats.n).collect()
    }

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

    /// The number of measured arms of 500 with losses that are drawn evenly from an interval.
    fn opened(horizon: u64, least: f64, most: f64) -> usize {
        let problem = Problem { arms: 500, horizon: Some(horizon) };
        let key = StreamKey::new(3, "opening", 0);
        let mut policy = Calibrated::builder(20).index(Index::EmpiricalBayes).build(&problem, key.policy()).unwrap();
        while policy.opened < policy.arms.len() {
            let run = policy.next_run();
            let loss = least + (most - least) * ((run.arm * 197 % 500) as f64 + 0.5) / 500.0;
            let sum = loss * run.record as f64;
            policy.observe(run, Feedback { plays: run.record, sum, sum_sq: loss * sum });
        }
        assert!(policy.arms.is_sorted());
        policy.opened
    }

    /// The best of j arms is about 1/j of the range above the least. Another one, which costs about 30 plays at half
    /// the range, brings that in every later play with probability 1/(j + 1): with 10^5 plays the optimum is near 80
    /// arms. With losses near 1 an arm has less to lose, and the best more to gain.
    #[test]
    fn the_start_stops_when_another_arm_costs_more_than_it_brings() {
        for horizon in [20_000, 100_000] {
            let count = opened(horizon, 0.0, 1.0);
            assert!((10..200).contains(&count), "{count}");
            assert!(opened(horizon, 0.9, 1.0) > 2 * count);
        }
        assert_eq!(opened(100_000_000, 0.0, 1.0), 500, "the start is short compared with the horizon");
    }

    #[test]
    fn an_arm_that_is_ruled_out_is_left_before_the_end_of_its_measurement() {
        let losses = [0.9, 0.2, 0.9, 0.25, 0.1];
        assert_eq!(measured(Index::Cautious, &losses), [32.0; 5]);
        let plays = measured(Index::EmpiricalBayes, &losses);
        assert_eq!((plays[0], plays[1], plays[4]), (32.0, 32.0, 32.0), "each is the best so far");
        assert!(plays[2] >= 8.0 && plays[2] <= 16.0, "{plays:?}");
        assert!(plays[2] < plays[3], "{plays:?}");
    }
}
