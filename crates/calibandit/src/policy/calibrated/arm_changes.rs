//! Arms that come and go while the policy runs; docs/lanes.md has what is guaranteed then.
//!
//! A new arm starts from nothing: it is measured once, as the arms at the start were, with recorded plays that are its
//! share of the plays left. If its measurement would take more than half of these, it is not tried. A retired arm is
//! not played again. Its losses are kept, but it neither leads nor challenges.

use super::{ArmLookup, Calibrated, Crowd, Index, index};
use crate::policy::ArmChangeError;

/// What has changed since the start.
#[derive(Clone, Debug, Default, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(deny_unknown_fields))]
pub(super) struct ArmChanges {
    /// The number of arms that came later.
    pub(super) added: usize,
    /// The arms that are retired, in increasing order.
    pub(super) retired: Vec<usize>,
}

impl ArmChanges {
    pub(super) fn is_retired(&self, arm: usize) -> bool {
        self.retired.binary_search(&arm).is_ok()
    }

    /// The factor of the probability of an error: the union bound gives each arm its share of the number of arms at the
    /// time when it came.
    pub(super) fn error_factor(&self, arms: usize) -> f64 {
        1.0 + (arms - self.added + 1..=arms).map(|count| 1.0 / count as f64).sum::<f64>()
    }
}

impl Calibrated {
    pub(super) fn add(&mut self) -> Result<usize, ArmChangeError> {
        let arm = self.records.len();
        if arm >= crate::Problem::MOST_ARMS {
            return Err(ArmChangeError::TooMany { arms: arm });
        }
        self.records.push(super::SampleStats::default());
        self.changes.added += 1;
        // After elimination, more arms were measured than are in play.
        self.opened = self.opened.min(self.arms.len());
        let left = self.horizon.map(|horizon| horizon.saturating_sub(self.time));
        if self.schedule.make_room(self.records.len(), left, self.memory_bound - 1) {
            self.arms.push(arm);
        }
        self.forget_lookup();
        Ok(arm)
    }

    pub(super) fn retire(&mut self, arm: usize) -> Result<(), ArmChangeError> {
        let arms = self.records.len();
        if arm >= arms {
            return Err(ArmChangeError::Missing { arm, arms });
        }
        let Err(place) = self.changes.retired.binary_search(&arm) else { return Ok(()) };
        if arms - self.changes.retired.len() == 1 {
            return Err(ArmChangeError::Last { arm });
        }
        self.changes.retired.insert(place, arm);
        let measured = self.opened.min(self.arms.len());
        self.opened = measured - usize::from(self.arms[..measured].contains(&arm));
        self.arms.retain(|&other| other != arm);
        if self.index == Index::Elimination || self.arms.is_empty() {
            self.take_back();
        }
        if self.current == Some(arm) {
            self.current = None;
        }
        self.visit = None;
        self.forget_lookup();
        Ok(())
    }

    /// What was ruled out beside an arm that is retired now may be the best of the others.
    fn take_back(&mut self) {
        let unmeasured = self.arms.split_off(self.opened);
        let is_back = |arm: &usize| !self.changes.is_retired(*arm) && self.records[*arm].n > 0.0;
        self.arms = (0..self.records.len()).filter(is_back).collect();
        let level = self.elimination_level();
        index::rule_out(&mut self.arms, &self.records, level);
        self.opened = self.arms.len();
        self.arms.extend(unmeasured);
        if self.arms.is_empty() {
            // None of the arms that are left was tried.
            self.arms = (0..self.records.len()).find(|&arm| !self.changes.is_retired(arm)).into_iter().collect();
        }
    }

    /// What follows from the rest of the state is made again.
    fn forget_lookup(&mut self) {
        self.lookup = ArmLookup { many: self.lookup.many, ..ArmLookup::default() };
        (self.cut, self.crowd) = (None, Crowd::default());
    }
}

#[cfg(test)]
mod tests {
    use rand::RngExt;

    use super::*;
    use crate::{Feedback, Policy, Problem, Run, Stream, StreamKey};

    const INDICES: [Index; 5] =
        [Index::Challenge, Index::EmpiricalBayes, Index::Cautious, Index::KlUcb, Index::Elimination];

    fn losses(mean: f64, plays: u64, draws: &mut Stream) -> Feedback {
        let mut feedback = Feedback::default();
        (0..plays).for_each(|_| feedback += Feedback::one(f64::from(draws.random::<f64>() < mean)));
        feedback
    }

    /// Plays up to this time.
    fn play(policy: &mut Calibrated, means: &[f64], until: u64, draws: &mut Stream) {
        while policy.time < until {
            let run = policy.next_run();
            assert!(!policy.changes.is_retired(run.arm), "a retired arm is played");
            let record = run.record.min(until);
            policy.observe(Run { record, ..run }, losses(means[run.arm], record, draws));
        }
    }

    #[test]
    fn a_better_arm_that_comes_later_is_found_and_a_retired_one_is_left() {
        let means = [0.5, 0.4, 0.6, 0.1];
        for (case, &index) in INDICES.iter().enumerate() {
            for horizon in [None, Some(40_000)] {
                let key = StreamKey::new(5, "arms come and go", case as u64);
                let mut draws = key.noise();
                let problem = Problem { arms: 3, horizon };
                let mut policy = Calibrated::builder(3).index(index).build(&problem, key.policy()).unwrap();
                play(&mut policy, &means, 10_000, &mut draws);
                assert_eq!(policy.recommend(), 1, "{index:?}");
                assert_eq!(policy.add_arm(), Ok(3));
                assert_eq!(policy.recommend(), 1, "nothing is known of the new arm");
                play(&mut policy, &means, 20_000, &mut draws);
                assert_eq!(policy.recommend(), 3, "{index:?}, {horizon:?}");
                let plays = policy.records[3].n;
                assert!(plays > 5_000.0, "{index:?}, {horizon:?}: {plays}");
                policy.retire_arm(3).unwrap();
                policy.retire_arm(3).unwrap();
                assert_eq!(policy.recommend(), 1);
                play(&mut policy, &means, 40_000, &mut draws);
                assert_eq!((policy.recommend(), policy.records[3].n), (1, plays), "{index:?}, {horizon:?}");
                policy.retire_arm(1).unwrap();
                play(&mut policy, &means, 60_000, &mut draws);
                assert_eq!(policy.recommend(), 0, "what was ruled out before is back: {index:?}, {horizon:?}");
                policy.retire_arm(0).unwrap();
                assert_eq!(policy.next_run().arm, 2);
                assert_eq!(policy.retire_arm(2), Err(ArmChangeError::Last { arm: 2 }));
                assert_eq!(policy.retire_arm(4), Err(ArmChangeError::Missing { arm: 4, arms: 4 }));
            }
        }
    }

    /// The run that was asked for before stays valid, and does not count as the measurement of the new arm.
    #[test]
    fn arms_change_between_a_run_and_its_feedback() {
        let key = StreamKey::new(6, "arms come and go", 0);
        let mut policy =
            Calibrated::builder(3).build(&Problem { arms: 2, horizon: Some(10_000) }, key.policy()).unwrap();
        let mut draws = key.noise();
        play(&mut policy, &[0.2, 0.6], 500, &mut draws);
        let run = policy.next_run();
        policy.add_arm().unwrap();
        policy.observe(run, losses(0.2, run.record, &mut draws));
        let opening = policy.next_run();
        assert_eq!((opening.arm, opening.burn_in), (2, 2), "the new arm is measured next");
        policy.retire_arm(2).unwrap();
        assert!(policy.next_run().arm < 2, "the run is abandoned");
    }

    /// With 100 plays left, a new arm of three is measured 100/(4·3) - 2 times at most; with 6 plays left, not at all.
    #[test]
    fn a_new_arm_gets_its_share_of_the_plays_left() {
        for (time, first) in [(1_000_000 - 100, Some(6)), (1_000_000 - 6, None), (0, Some(32))] {
            let problem = Problem { arms: 2, horizon: Some(1_000_000) };
            let mut policy = Calibrated::builder(3).build(&problem, StreamKey::new(6, "share", 0).policy()).unwrap();
            for arm in 0..2 {
                let run = policy.next_run();
                policy.observe(run, Feedback { plays: run.record, sum: arm as f64, sum_sq: arm as f64 });
            }
            policy.time = time;
            policy.add_arm().unwrap();
            let next = policy.next_run();
            assert_eq!((next.arm == 2).then_some(next.record), first, "{next:?}");
        }
    }
}
