//! Elimination among very many arms: which arms the last feedback rules out, without a look at every arm.

use std::collections::BTreeSet;

use super::index::{below, lower, upper};
use super::sample_stats::SampleStats;
use crate::policy::grouped_arms::{number, word};

/// The confidence intervals of all arms in play at one level, sorted by both ends.
#[derive(Clone, Debug)]
pub(super) struct SortedIntervals {
    level: f64,
    by_upper: BTreeSet<(u64, u32)>,
    by_lower: BTreeSet<(u64, u32)>,
    /// By arm, its upper and lower end; `None` if it is not in play.
    ends: Vec<Option<(u64, u64)>>,
}

impl SortedIntervals {
    pub(super) fn new(arms: &[usize], stats: &[SampleStats], level: f64) -> Self {
        let ends = vec![None; stats.len()];
        let mut this = Self { level, by_upper: BTreeSet::new(), by_lower: BTreeSet::new(), ends };
        arms.iter().for_each(|&arm| this.set(arm, &stats[arm]));
        this
    }

    /// Whether these are the intervals at this level.
    pub(super) fn are_at(&self, level: f64) -> bool {
        self.level == level
    }

    /// Takes new statistics of an arm.
    pub(super) fn set(&mut self, arm: usize, stats: &SampleStats) {
        self.remove(arm);
        // An arm is kept while neither its lower end nor the estimate of it is above the least upper end.
        let low = lower(stats, self.level).max(below(stats, self.level));
        let ends = (word(upper(stats, self.level)), word(low));
        self.by_upper.insert((ends.0, arm as u32));
        self.by_lower.insert((ends.1, arm as u32));
        self.ends[arm] = Some(ends);
    }

    fn remove(&mut self, arm: usize) {
        if let Some((high, low)) = self.ends[arm].take() {
            self.by_upper.remove(&(high, arm as u32));
            self.by_lower.remove(&(low, arm as u32));
        }
    }

    /// Removes and returns the arms whose interval is above that of another.
    pub(super) fn rule_out(&mut self) -> Vec<usize> {
        let best = self.by_upper.first().map_or(f64::INFINITY, |&(high, _)| number(high));
        let mut ruled_out = Vec::new();
        while let Some(&(low, arm)) = self.by_lower.last()
            && number(low) > best
        {
            self.remove(arm as usize);
            ruled_out.push(arm as usize);
        }
        ruled_out
    }
}
