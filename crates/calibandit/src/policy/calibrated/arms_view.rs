//! What a choice of the next arm may depend on: the statistics of all arms and the state of the game.

use super::sample_stats::SampleStats;

/// A read-only view of the policy's state.
pub(super) struct ArmsView<'a> {
    /// By arm.
    pub(super) stats: &'a [SampleStats],
    /// The arms in play: those that were tried and not ruled out, in increasing order.
    pub(super) arms: &'a [usize],
    /// Everything else.
    pub(super) now: Situation,
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
    /// The arm played last.
    pub(super) current: Option<usize>,
}

impl ArmsView<'_> {
    /// The arm with the least mean; in case of a tie, the first.
    pub(super) fn leader(&self) -> usize {
        self.least_by(|stats| stats.mean())
    }

    /// The arm whose statistics have the least `value`; in case of a tie, the first.
    pub(super) fn least_by(&self, value: impl Fn(&SampleStats) -> f64) -> usize {
        let mut least = (self.arms[0], f64::INFINITY);
        for &arm in self.arms {
            let value = value(&self.stats[arm]);
            if value < least.1 {
                least = (arm, value);
            }
        }
        least.0
    }

    /// How many plays each arm could still have, as a multiple of the plays that this arm has: a measure of what
    /// exploring it is worth. The burn-in that a switch to the arm would need counts as plays that it has.
    pub(super) fn prospect(&self, arm: usize) -> f64 {
        let extra = if self.now.current == Some(arm) { 0.0 } else { self.now.burn_in };
        self.now.plays / (self.stats.len() as f64 * (self.stats[arm].n + extra))
    }
}
