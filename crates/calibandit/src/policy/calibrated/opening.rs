//! The start: arms are measured once.
//!
//! The index `empirical-bayes` measures in parts, and leaves an arm as soon as it is ruled out by the best of those
//! that were measured before. If measuring every arm would take a large part of the horizon, it stops when one more arm
//! costs more than it can be expected to bring. The other indices measure each arm in one run.

use super::arms_view::ArmsView;
use super::price::{MeanDifference, expected_shortfall};
use super::{Calibrated, Index, challenge};

/// Recorded plays between two looks at an arm that is measured for the first time.
const OPENING_PART: f64 = 4.0;
/// The start may end before every arm is measured only if measuring all would take more than one part in this many of
/// the horizon. Otherwise stopping saves little, and a start of all arms in their order is easier to follow.
const LONG_START: f64 = 16.0;
/// However dear the burn-in is, the recorded plays of the start take at most one part in this many of the horizon, or
/// the first plays of every arm.
const LONGEST_START: f64 = 8.0;
/// With many measured arms, the decision to stop is looked at only when their number has grown by one part in this
/// many.
const STOP_LOOKS: usize = 16;

/// Whether measuring this many arms takes a large part of the horizon.
pub(super) fn is_long(arms: usize, horizon: Option<u64>, burn_in: u64, first: f64) -> bool {
    horizon.is_some_and(|horizon| arms as f64 * (burn_in as f64 + first) * LONG_START > horizon as f64)
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
            // Beyond the first plays, the price of the burn-in has to be recovered; parts grow with what is known.
            true if n >= first => (n / 8.0).ceil(),
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
        let ruled_out = front.is_some_and(|front| challenge::is_ruled_out(&view, arm, front, self.tuning));
        let done = ruled_out
            || self.records[arm].n >= self.schedule.first()
                && front.is_none_or(|front| self.has_recovered_price(arm, front));
        if done {
            let better = front.is_none_or(|front| self.records[arm].mean() < self.records[front].mean());
            self.lookup.front = if better { Some(arm) } else { front };
        }
        done
    }

    /// Whether the recorded plays of the first visit of this arm cost as much as its burn-in, or it leads, or it has
    /// its share of the horizon.
    fn has_recovered_price(&self, arm: usize, front: usize) -> bool {
        let (stats, best) = (&self.records[arm], &self.records[front]);
        let price = self.burn_in_losses.price((self.memory_bound - 1) as f64, best.mean().min(stats.mean()));
        let most = self.horizon.unwrap_or(self.time) as f64 / (LONGEST_START * self.records.len() as f64);
        let next = stats.n + self.opening(arm);
        // An arm that leads is played later without another burn-in in any case.
        stats.mean() <= best.mean()
            || next > most
            || MeanDifference::new(stats, best, self.bounded).cost(stats.n) >= price
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
