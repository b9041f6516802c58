//! The arms in play, grouped and sorted by their statistics, for choices among very many arms.
//!
//! Each rule of choice is written for a look at every arm. With very many arms it gets only the *contenders*: a few
//! arms among which the chosen one certainly is. Arms with equal statistics are represented by the first of them, and
//! an arm is left out only if a lower bound shows that another is preferred by more than rounding errors.

use std::collections::BTreeSet;

use super::sample_stats::{EvidenceCut, SampleStats};
use crate::math;
use crate::policy::grouped_arms::{ArmGroup, GroupedArms, number, word};

/// The arms in play by number of recorded plays, and by mean.
#[derive(Clone, Debug)]
pub(super) struct StatsGroups {
    groups: GroupedArms,
    /// Mean and arm.
    by_mean: BTreeSet<(u64, u32)>,
    /// By arm, its mean in that set.
    means: Vec<Option<u64>>,
    /// Whether the arms of a group are sorted by their losses; otherwise by their numbers alone.
    by_loss: bool,
}

impl StatsGroups {
    /// The groups of these arms.
    pub(super) fn new(arms: &[usize], stats: &[SampleStats], by_loss: bool) -> Self {
        let groups = GroupedArms::new(stats.len());
        let mut this = Self { groups, by_mean: BTreeSet::new(), means: vec![None; stats.len()], by_loss };
        arms.iter().for_each(|&arm| this.set(arm, &stats[arm]));
        this
    }

    /// Adds an arm, or moves it to where its new statistics belong.
    pub(super) fn set(&mut self, arm: usize, stats: &SampleStats) {
        let key = stats.key();
        self.groups.set(arm, if self.by_loss { key } else { key.without_losses() });
        let mean = word(stats.mean());
        if let Some(old) = self.means[arm].replace(mean) {
            self.by_mean.remove(&(old, arm as u32));
        }
        self.by_mean.insert((mean, arm as u32));
    }

    /// Takes an arm out of play.
    pub(super) fn remove(&mut self, arm: usize) {
        self.groups.remove(arm);
        if let Some(old) = self.means[arm].take() {
            self.by_mean.remove(&(old, arm as u32));
        }
    }

    pub(super) fn is_in_play(&self, arm: usize) -> bool {
        self.means[arm].is_some()
    }

    /// The arm with the least mean; in case of a tie, the first. `None` if no mean is below infinity.
    pub(super) fn leader(&self) -> Option<usize> {
        let &(mean, arm) = self.by_mean.first()?;
        (number(mean) < f64::INFINITY).then_some(arm as usize)
    }

    /// The recorded plays of all arms in play.
    pub(super) fn plays(&self) -> f64 {
        self.groups.plays() as f64
    }

    /// The groups, by increasing numbers of plays.
    pub(super) fn groups(&self) -> impl Iterator<Item = (u64, &ArmGroup)> {
        self.groups.groups()
    }

    /// The first arm with the least sum of its evidence against being as good as an arm of the mean `best`, and the
    /// logarithm of its plays. Most arms are excluded without computing their evidence.
    pub(super) fn least_evidence(&self, stats: &[SampleStats], best: f64, bounded: bool) -> Option<usize> {
        let mut least: Option<(f64, usize)> = None;
        for (plays, group) in self.groups() {
            let n = plays as f64;
            if let (Some((least, _)), Some(first)) = (least, group.first()) {
                // The integer part of the binary logarithm is a lower bound that costs nothing.
                let log = f64::from(plays.ilog2()) * std::f64::consts::LN_2;
                let evidence = stats[first].against_roughly_at_least(best, bounded, group.most_variance());
                if evidence + log > with_slack(least) {
                    continue;
                }
            }
            let log = math::ln(n);
            let cut_at = |value: f64| EvidenceCut::new(with_slack(value) - log, n);
            let mut cut = least.map(|(value, _)| cut_at(value));
            for equal in group.equal_arms(plays) {
                let arm = equal.first();
                let excludes = |variance| cut.is_some_and(|cut| cut.excludes(&stats[arm], best, bounded, variance));
                if excludes(group.most_variance()) {
                    break;
                }
                if excludes(stats[arm].variance()) {
                    continue;
                }
                let value = stats[arm].against(best, bounded) + log;
                if least.is_none_or(|(least, first)| value < least || value == least && arm < first) {
                    (least, cut) = (Some((value, arm)), Some(cut_at(value)));
                }
            }
        }
        least.map(|(_, arm)| arm)
    }

    /// Arms among which is the one with the least value, in increasing order. `judge` gives the value of an arm and a
    /// lower bound of the values of all arms with as many plays and at least its mean; it is also given the largest
    /// variance among them.
    pub(super) fn contenders(
        &self,
        stats: &[SampleStats],
        judge: impl Fn(&SampleStats, f64) -> (f64, f64),
    ) -> Vec<usize> {
        let mut found: Vec<(f64, usize)> = Vec::new();
        let mut least = f64::INFINITY;
        for (plays, group) in self.groups() {
            for equal in group.equal_arms(plays) {
                let (value, bound) = judge(&stats[equal.first()], group.most_variance());
                if value <= with_slack(least) {
                    found.push((value, equal.first()));
                    least = least.min(value);
                }
                if bound > with_slack(least) {
                    break;
                }
            }
        }
        let limit = with_slack(least);
        let mut arms: Vec<usize> = found.iter().filter(|(value, _)| *value <= limit).map(|&(_, arm)| arm).collect();
        arms.sort_unstable();
        arms
    }
}

/// A number that is larger by more than the rounding errors of any index.
pub(super) fn with_slack(value: f64) -> f64 {
    value + 1e-9 * (1.0 + value.abs())
}
