//! The bank: per arm, the calibrated losses that no run has taken, in the order of the decisions.
//!
//! A decision enters when it is given out, so the order does not depend on which loss arrives first. A run takes losses
//! from the front only: an outstanding loss holds up those behind it.

use std::collections::BTreeMap;

/// The calibrated plays of one arm.
#[derive(Clone, Debug, Default, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(deny_unknown_fields))]
pub(super) struct ArmBank {
    #[cfg_attr(feature = "serde", serde(with = "super::snapshot::pairs"))]
    entries: BTreeMap<u64, BankEntry>,
    /// Decisions below this one were taken or left out for good.
    taken: u64,
}

#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(rename_all = "kebab-case"))]
pub(super) enum BankEntry {
    /// The loss is not known.
    Outstanding,
    /// The loss is known, but an earlier play of the lane may turn out not to have been made.
    Held(f64),
    /// The loss can be taken.
    Ready(f64),
}

/// The most entries of an arm. Further plays are not kept, whatever their losses.
const MOST_ENTRIES: usize = 1 << 20;

impl ArmBank {
    /// Keeps a place for the loss of a decision; false if there is no room, or if a later one was taken.
    pub(super) fn insert(&mut self, decision: u64) -> bool {
        let fits = self.entries.len() < MOST_ENTRIES && decision >= self.taken;
        if fits {
            self.entries.insert(decision, BankEntry::Outstanding);
        }
        fits
    }

    /// Puts a loss in its place.
    pub(super) fn tell(&mut self, decision: u64, loss: f64, ready: bool) {
        if let Some(entry) = self.entries.get_mut(&decision) {
            *entry = if ready { BankEntry::Ready(loss) } else { BankEntry::Held(loss) };
        }
    }

    /// The streak before this play is certain.
    pub(super) fn make_ready(&mut self, decision: u64) {
        if let Some(entry) = self.entries.get_mut(&decision)
            && let BankEntry::Held(loss) = *entry
        {
            *entry = BankEntry::Ready(loss);
        }
    }

    #[cfg(feature = "serde")]
    pub(super) fn check_restored(&self, next: u64) -> Result<(), crate::policy::StateError> {
        let in_order = self.entries.keys().all(|&decision| decision >= self.taken && decision < next);
        let fits = self.entries.len() <= MOST_ENTRIES && self.taken <= next && in_order;
        crate::policy::history::ensure(fits, "the bank has losses of decisions that were not made")
    }

    #[cfg(feature = "serde")]
    pub(super) fn entry(&self, decision: u64) -> Option<BankEntry> {
        self.entries.get(&decision).copied()
    }

    #[cfg(feature = "serde")]
    pub(super) fn entries(&self) -> impl Iterator<Item = (u64, BankEntry)> + '_ {
        self.entries.iter().map(|(&decision, &entry)| (decision, entry))
    }

    #[cfg(feature = "serde")]
    pub(super) fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// Gives up all places, and returns their decisions.
    pub(super) fn clear(&mut self) -> Vec<u64> {
        std::mem::take(&mut self.entries).into_keys().collect()
    }

    pub(super) fn remove(&mut self, decision: u64) {
        self.entries.remove(&decision);
    }

    /// Whether the loss of a play that had a place was taken by a run.
    pub(super) fn was_taken(&self, decision: u64) -> bool {
        decision < self.taken && !self.entries.contains_key(&decision)
    }

    /// The number of places, with and without losses.
    pub(super) fn len(&self) -> u64 {
        self.entries.len() as u64
    }

    /// Takes the oldest loss and its decision, if it is ready.
    pub(super) fn take(&mut self) -> Option<(u64, f64)> {
        let first = self.entries.first_entry()?;
        let (decision, BankEntry::Ready(loss)) = (*first.key(), *first.get()) else { return None };
        self.taken = decision + 1;
        first.remove();
        Some((decision, loss))
    }

    /// The decisions whose losses are not known, oldest first.
    pub(super) fn outstanding(&self) -> impl Iterator<Item = u64> + '_ {
        self.entries.iter().filter(|(_, entry)| **entry == BankEntry::Outstanding).map(|(&decision, _)| decision)
    }

    /// The losses that are known.
    pub(super) fn known(&self) -> usize {
        self.entries.values().filter(|entry| **entry != BankEntry::Outstanding).count()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn losses_are_taken_in_the_order_of_decisions() {
        let mut bank = ArmBank::default();
        for decision in [3, 5, 9] {
            assert!(bank.insert(decision));
        }
        bank.tell(9, 0.9, true);
        bank.tell(5, 0.5, true);
        assert_eq!(bank.take(), None, "3 holds the others up");
        bank.tell(3, 0.3, false);
        assert_eq!(bank.take(), None, "the play of 3 is not certain");
        bank.make_ready(3);
        assert_eq!([bank.take(), bank.take()], [Some((3, 0.3)), Some((5, 0.5))]);
        assert!(!bank.insert(4), "5 was taken before it");
        assert!(bank.was_taken(3) && !bank.was_taken(9));
        bank.remove(9);
        assert_eq!((bank.take(), bank.len()), (None, 0));
    }
}
