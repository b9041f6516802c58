//! Choices among very many arms without a look at each: what is kept for them, and how it follows the feedback.

use super::ruling_out::SortedIntervals;
use super::stats_groups::StatsGroups;
use super::{Calibrated, DELTA, Index, index};
use crate::math;
use crate::policy::grouped_arms::MANY_ARMS;
use crate::policy::least_draw::LeastDraw;

/// What finds arms among very many without a look at each. It follows from the rest of the state.
#[derive(Clone, Debug)]
pub(super) struct ArmLookup {
    /// With fewer arms in play, a look at every arm is faster.
    pub(super) many: usize,
    pub(super) groups: Option<Box<StatsGroups>>,
    /// The arm with the least mean of those that have been measured, while others have not.
    pub(super) front: Option<usize>,
    /// For elimination.
    pub(super) intervals: Option<Box<SortedIntervals>>,
    /// For Thompson sampling: the posteriors of the arms in play, in their order.
    pub(super) race: Option<Box<LeastDraw>>,
}

impl Default for ArmLookup {
    fn default() -> Self {
        Self { many: MANY_ARMS, groups: None, front: None, intervals: None, race: None }
    }
}

impl PartialEq for ArmLookup {
    fn eq(&self, _: &Self) -> bool {
        true
    }
}

impl Calibrated {
    /// The evidence at which elimination rules an arm out: the union bound of Algorithm 1 over arms and doublings, with
    /// delta 0.05. Without a horizon the number of doublings is not limited; its square makes the sum of errors finite.
    pub(super) fn elimination_level(&self) -> f64 {
        let doublings = math::log2(self.horizon.unwrap_or(self.time).max(2) as f64);
        let looks = if self.horizon.is_some() { doublings } else { doublings * doublings };
        math::ln(2.0 * self.records.len() as f64 * looks / DELTA)
    }

    /// Rules out every arm whose confidence interval is above that of another, after feedback of this arm.
    pub(super) fn eliminate(&mut self, newest: usize) {
        let level = self.elimination_level();
        // There are groups only if the horizon is known, and then the level is constant.
        let Some(groups) = &mut self.lookup.groups else {
            index::rule_out(&mut self.arms, &self.records, level);
            return;
        };
        let mut intervals = match self.lookup.intervals.take() {
            Some(mut intervals) if intervals.are_at(level) => {
                intervals.set(newest, &self.records[newest]);
                intervals
            }
            _ => Box::new(SortedIntervals::new(&self.arms, &self.records, level)),
        };
        for arm in intervals.rule_out() {
            groups.remove(arm);
            if let Ok(place) = self.arms.binary_search(&arm) {
                self.arms.remove(place);
            }
        }
        self.lookup.intervals = Some(intervals);
    }

    /// Brings the lookup up to date with the last feedback, which was of this arm. It is made when every arm has been
    /// measured, and again after the policy was restored.
    pub(super) fn look_up(&mut self, newest: Option<usize>) {
        // With an unknown horizon, elimination computes all intervals again and again in any case.
        let all_intervals = self.index == Index::Elimination && self.horizon.is_none();
        if self.opened < self.arms.len() || all_intervals {
            return;
        }
        if self.index == Index::Thompson {
            return self.look_up_posteriors(newest);
        }
        match (&mut self.lookup.groups, newest) {
            (Some(groups), Some(arm)) => groups.set(arm, &self.records[arm]),
            (Some(_), None) => {}
            (None, _) if self.arms.len() < self.lookup.many => {}
            (None, _) => {
                let by_loss = self.index != Index::Elimination;
                self.lookup.groups = Some(Box::new(StatsGroups::new(&self.arms, &self.records, by_loss)));
            }
        }
    }

    fn look_up_posteriors(&mut self, newest: Option<usize>) {
        let law = |arm: usize| index::posterior(&self.records[arm], self.bounded);
        match (&mut self.lookup.race, newest) {
            (Some(race), Some(arm)) => {
                let place = self.arms.binary_search(&arm).expect("the arms in play are in order");
                race.update(place, law(arm), self.cut);
            }
            (Some(_), None) => {}
            (None, _) if self.arms.len() < self.lookup.many => {}
            (None, _) => {
                let posteriors = self.arms.iter().map(|&arm| law(arm)).collect();
                self.lookup.race = Some(Box::new(LeastDraw::new(posteriors, self.cut)));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use rand::RngExt;

    use super::*;
    use crate::{Feedback, Policy, Problem, Stream, StreamKey};

    const INDICES: [Index; 8] = [
        Index::Challenge,
        Index::EmpiricalBayes,
        Index::Cautious,
        Index::KlUcb,
        Index::Moss,
        Index::Bernstein,
        Index::Imed,
        Index::Elimination,
    ];

    /// The losses of a run, of one of several kinds: few values, so that there are many ties, or all different.
    fn losses(kind: u64, arm: usize, plays: u64, draws: &mut Stream) -> Feedback {
        let mean = 0.3 + 0.4 * (arm * 7 % 11) as f64 / 11.0;
        let mut feedback = Feedback::default();
        for _ in 0..plays {
            let uniform: f64 = draws.random();
            feedback += Feedback::one(match kind {
                0 => f64::from(uniform < mean),
                1 => f64::from(uniform < 0.5),
                2 => (4.0 * uniform).floor() / 4.0 * mean,
                3 => mean * uniform,
                4 => mean,
                5 => 3.0 * (uniform - mean),
                _ => 0.0,
            });
        }
        feedback
    }

    /// The choices with the lookup are those of a look at every arm.
    #[test]
    fn very_many_arms_are_chosen_as_few_are() {
        let mut chosen = std::collections::HashSet::new();
        for (case, &index) in INDICES.iter().enumerate() {
            for kind in 0..7 {
                for (arms, horizon) in [(3, Some(5_000)), (40, Some(20_000)), (40, None), (200, Some(8_000))] {
                    let key = StreamKey::new(kind, "lookup", (case * 1000 + arms) as u64);
                    let mut draws = key.noise();
                    let spec = Calibrated::builder(1 + draws.random_range(0..4u64)).index(index).first(4);
                    let make = |many| {
                        let mut policy = spec.build(&Problem { arms, horizon }, key.policy()).unwrap();
                        policy.lookup.many = many;
                        policy
                    };
                    let (mut grouped, mut plain) = (make(1), make(usize::MAX));
                    for run in 0..1500 {
                        let next = grouped.next_run();
                        let what = || format!("{index:?}, losses {kind}, {arms} arms, {horizon:?}, run {run}");
                        assert_eq!(next, plain.next_run(), "{}", what());
                        if next.record > 1_000_000 {
                            break;
                        }
                        let feedback = losses(kind, next.arm, next.record, &mut draws);
                        grouped.observe(next, feedback);
                        plain.observe(next, feedback);
                        assert!(grouped == plain, "{}", what());
                        chosen.insert((case, next.arm));
                        if run == 700 {
                            // As after a restart.
                            grouped.lookup = ArmLookup { many: 1, ..ArmLookup::default() };
                        }
                    }
                    assert!(plain.lookup.groups.is_none());
                }
            }
        }
        assert!(chosen.len() > 1000);
    }
}
