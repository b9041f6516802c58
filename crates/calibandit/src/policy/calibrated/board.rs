//! What the parts of the policy look at: the records of all arms, and how much of the game is left.

use super::evidence::Record;

/// A view of everything that a choice may depend on.
pub(super) struct Board<'a> {
    /// By arm.
    pub(super) records: &'a [Record],
    /// The arms in play: those that were tried and not ruled out, in order of their index.
    pub(super) arms: &'a [usize],
    /// Whether all losses seen so far can have come from [0, 1].
    pub(super) bounded: bool,
    /// Plays left if the horizon is known, otherwise plays made.
    pub(super) plays: f64,
    /// Whether the horizon is known.
    pub(super) horizon_known: bool,
    /// The length of a burn-in, M - 1.
    pub(super) burn_in: f64,
    /// The arm played last.
    pub(super) current: Option<usize>,
}

impl Board<'_> {
    /// The arm with the least mean, the first of them if there are several.
    pub(super) fn leader(&self) -> usize {
        self.least_by(|record| record.mean())
    }

    /// The arm whose record has the least `value`, the first of them if there are several.
    pub(super) fn least_by(&self, value: impl Fn(&Record) -> f64) -> usize {
        let mut least = (self.arms[0], f64::INFINITY);
        for &arm in self.arms {
            let value = value(&self.records[arm]);
            if value < least.1 {
                least = (arm, value);
            }
        }
        least.0
    }

    /// How many plays each arm could still have, in units of those it has had: what exploration is worth. An arm that would
    /// have to be burned in first has that much less.
    pub(super) fn prospect(&self, arm: usize) -> f64 {
        let extra = if self.current == Some(arm) { 0.0 } else { self.burn_in };
        self.plays / (self.records.len() as f64 * (self.records[arm].n + extra))
    }
}
