//! The start: every arm is measured once.
//!
//! The index `empirical-bayes` measures in parts, and leaves an arm as soon as it is ruled out by the best of those
//! that were measured before. The other indices measure each arm in one run.

use super::arms_view::ArmsView;
use super::{Calibrated, Index, challenge};

/// Recorded plays between two looks at an arm that is measured for the first time.
const OPENING_PART: f64 = 4.0;

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
    fn an_arm_that_is_ruled_out_is_left_before_the_end_of_its_measurement() {
        let losses = [0.9, 0.2, 0.9, 0.25, 0.1];
        assert_eq!(measured(Index::Cautious, &losses), [32.0; 5]);
        let plays = measured(Index::EmpiricalBayes, &losses);
        assert_eq!((plays[0], plays[1], plays[4]), (32.0, 32.0, 32.0), "each is the best so far");
        assert!(plays[2] >= 8.0 && plays[2] <= 16.0, "{plays:?}");
        assert!(plays[2] < plays[3], "{plays:?}");
    }
}
