//! What a choice of the next arm may depend on: the statistics of all arms and the state of the game.

use std::borrow::Cow;

use super::price::BurnInLosses;
use super::sample_stats::SampleStats;
use super::stats_groups::StatsGroups;

/// A read-only view of the policy's state.
#[derive(Clone, Copy)]
pub(super) struct ArmsView<'a> {
    /// By arm.
    pub(super) stats: &'a [SampleStats],
    /// The arms in play: those that were tried and not ruled out, in increasing order.
    pub(super) arms: &'a [usize],
    /// Everything else.
    pub(super) now: Situation,
    /// The arms in play by their statistics, if there are very many.
    pub(super) groups: Option<&'a StatsGroups>,
}

/// The state of the game, as far as a choice depends on it.
#[derive(Clone, Copy)]
pub(super) struct Situation {
    /// Whether all losses observed so far can have come from [0, 1].
    pub(super) bounded: bool,
    /// The number of plays left if the horizon is known, otherwise the number of plays made.
    pub(super) plays: f64,
    /// Whether the horizon is known.
    pub(super) horizon_known: bool,
    /// The length of a burn-in, M - 1.
    pub(super) burn_in: f64,
    /// The burn-in losses that were seen.
    pub(super) burn_in_losses: BurnInLosses,
    /// The arm played last.
    pub(super) current: Option<usize>,
}

impl<'a> ArmsView<'a> {
    /// The arm with the least mean; in case of a tie, the first.
    pub(super) fn leader(&self) -> usize {
        match self.groups {
            Some(groups) => groups.leader().unwrap_or(self.arms[0]),
            None => self.least_by(|stats| stats.mean(), |_, _| f64::NEG_INFINITY),
        }
    }

    /// Arms among which is the one with the least `value`, in increasing order. `bound` gives a lower bound of the
    /// values of all arms with as many plays and at least this mean and at most this variance.
    pub(super) fn contenders(
        &self,
        value: impl Fn(&SampleStats) -> f64,
        bound: impl Fn(&SampleStats, f64) -> f64,
    ) -> Cow<'a, [usize]> {
        match self.groups {
            Some(groups) => {
                let judge = |stats: &SampleStats, variance| (value(stats), bound(stats, variance));
                Cow::Owned(groups.contenders(self.stats, judge))
            }
            None => Cow::Borrowed(self.arms),
        }
    }

    /// The arm whose statistics have the least `value`; in case of a tie, the first. `bound` is that of
    /// [`contenders`](Self::contenders).
    pub(super) fn least_by(
        &self,
        value: impl Fn(&SampleStats) -> f64,
        bound: impl Fn(&SampleStats, f64) -> f64,
    ) -> usize {
        let mut least = (self.arms[0], f64::INFINITY);
        for &arm in &*self.contenders(&value, bound) {
            let value = value(&self.stats[arm]);
            if value < least.1 {
                least = (arm, value);
            }
        }
        least.0
    }

    /// How many plays each arm could still have, as a multiple of the plays that an arm has: a measure of what
    /// exploring it is worth. The burn-in that a switch to the arm would need counts as plays that it has.
    pub(super) fn prospect(&self, n: f64, is_current: bool) -> f64 {
        let extra = if is_current { 0.0 } else { self.now.burn_in };
        self.now.plays / (self.stats.len() as f64 * (n + extra))
    }
}
