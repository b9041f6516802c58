//! Arms grouped by their number of recorded plays and sorted by their losses, for policies with very many arms.
//!
//! An index policy chooses the arm with the least index. With equal numbers of plays the index rises with the mean, so
//! only the first arms of each group can be chosen, and arms with equal statistics are looked at once. Some indices use
//! the variance too; the variances of a group are therefore about the same. The choice is
//! that of a look at every arm, bit for bit, also in case of ties. The groups follow from the statistics of the arms:
//! they are never part of a saved state.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Bound;

/// With fewer arms than this, a look at every arm is faster.
pub(super) const MANY_ARMS: usize = 2048;

/// The statistics by which an arm is grouped and sorted.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct ArmKey {
    /// The number of recorded plays.
    pub(super) plays: u64,
    /// The sum of their losses.
    pub(super) sum: f64,
    /// The sum of the squares of their losses.
    pub(super) sum_sq: f64,
}

impl ArmKey {
    /// The same number of plays, with losses that do not tell arms apart.
    pub(super) fn without_losses(self) -> Self {
        Self { sum: 0.0, sum_sq: 0.0, ..self }
    }

    fn group(&self) -> ArmGroupKey {
        // The exponent of the floating-point number, and two bits more.
        (self.plays, self.variance().to_bits() >> 50)
    }

    fn variance(&self) -> f64 {
        let (n, mean) = (self.plays as f64, self.sum / self.plays as f64);
        (self.sum_sq / n - mean * mean).max(0.0)
    }
}

/// All arms that have been added, by group.
#[derive(Clone, Debug, Default)]
pub(super) struct GroupedArms {
    groups: BTreeMap<ArmGroupKey, ArmGroup>,
    /// By arm, where it is; `None` if it was not added.
    keys: Vec<Option<ArmKey>>,
    /// The recorded plays of all arms.
    plays: u64,
}

/// The number of recorded plays, and the size of the variance in quarters of powers of two.
type ArmGroupKey = (u64, u64);

/// The arms with one number of recorded plays and about the same variance.
#[derive(Clone, Debug, Default)]
pub(super) struct ArmGroup {
    /// Sum, sum of squares and arm, the numbers as words in the order of the numbers.
    arms: BTreeSet<(u64, u64, u32)>,
    /// No variance of an arm was larger.
    most_variance: f64,
}

/// The arms of a group with equal statistics.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct EqualArms {
    pub(super) key: ArmKey,
    /// The first of them, up to three, in increasing order.
    first: [u32; 3],
    count: usize,
}

impl EqualArms {
    /// The first arms, up to three. Where the choice excludes two arms, the others are represented by the third.
    pub(super) fn arms(&self) -> impl Iterator<Item = usize> + use<> {
        self.first.into_iter().take(self.count).map(|arm| arm as usize)
    }

    pub(super) fn first(&self) -> usize {
        self.first[0] as usize
    }
}

impl GroupedArms {
    /// No arms yet, of this many.
    pub(super) fn new(arms: usize) -> Self {
        Self { groups: BTreeMap::new(), keys: vec![None; arms], plays: 0 }
    }

    /// Adds an arm, or moves it to where its new statistics belong.
    pub(super) fn set(&mut self, arm: usize, key: ArmKey) {
        self.remove(arm);
        let group = self.groups.entry(key.group()).or_default();
        group.arms.insert((word(key.sum), word(key.sum_sq), arm as u32));
        group.most_variance = group.most_variance.max(key.variance());
        self.plays += key.plays;
        self.keys[arm] = Some(key);
    }

    pub(super) fn remove(&mut self, arm: usize) {
        let Some(key) = self.keys[arm].take() else { return };
        let group = self.groups.get_mut(&key.group()).expect("an arm with a key is in its group");
        group.arms.remove(&(word(key.sum), word(key.sum_sq), arm as u32));
        if group.arms.is_empty() {
            self.groups.remove(&key.group());
        }
        self.plays -= key.plays;
    }

    /// The recorded plays of all arms.
    pub(super) fn plays(&self) -> u64 {
        self.plays
    }

    /// The groups with their numbers of plays, which increase.
    pub(super) fn groups(&self) -> impl Iterator<Item = (u64, &ArmGroup)> {
        self.groups.iter().map(|(&(plays, _), group)| (plays, group))
    }
}

impl ArmGroup {
    /// An upper bound of the variances of the arms.
    pub(super) fn most_variance(&self) -> f64 {
        self.most_variance
    }

    /// The arm with the least sum of losses.
    pub(super) fn first(&self) -> Option<usize> {
        self.arms.first().map(|&(_, _, arm)| arm as usize)
    }

    /// The arms by increasing sums of losses, and by sums of squares among equal sums.
    pub(super) fn equal_arms(&self, plays: u64) -> impl Iterator<Item = EqualArms> + '_ {
        let mut rest = self.arms.range::<(u64, u64, u32), _>(..).peekable();
        std::iter::from_fn(move || {
            let &(sum, sum_sq, arm) = rest.next()?;
            let mut found = EqualArms {
                key: ArmKey { plays, sum: number(sum), sum_sq: number(sum_sq) },
                first: [arm; 3],
                count: 1,
            };
            let is_equal = |other: &&(u64, u64, u32)| (other.0, other.1) == (sum, sum_sq);
            while let Some(&(_, _, other)) = rest.next_if(is_equal) {
                if found.count == found.first.len() {
                    // There may be very many: the tree finds the end of them.
                    let after = Bound::Excluded((sum, sum_sq, u32::MAX));
                    rest = self.arms.range((after, Bound::Unbounded)).peekable();
                    break;
                }
                found.first[found.count] = other;
                found.count += 1;
            }
            Some(found)
        })
    }
}

/// A word with the order of the number; both zeros are the same.
pub(super) fn word(number: f64) -> u64 {
    let bits = (number + 0.0).to_bits();
    if bits >> 63 == 1 { !bits } else { bits | 1 << 63 }
}

/// The number of a [`word`].
pub(super) fn number(word: u64) -> f64 {
    f64::from_bits(if word >> 63 == 1 { word & !(1 << 63) } else { !word })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_have_the_order_of_numbers() {
        let numbers = [f64::NEG_INFINITY, -1e300, -1.5, -5e-324, 0.0, 5e-324, 0.3, 1.0, 1e300, f64::INFINITY];
        for pair in numbers.windows(2) {
            assert!(word(pair[0]) < word(pair[1]), "{pair:?}");
        }
        assert!(numbers.iter().all(|&x| number(word(x)) == x));
        assert_eq!(word(-0.0), word(0.0));
    }

    #[test]
    fn arms_are_found_by_plays_then_losses_then_number() {
        let key = |plays, sum| ArmKey { plays, sum, sum_sq: sum };
        let mut arms = GroupedArms::new(10);
        for (arm, plays, sum) in [(7, 4, 1.0), (2, 4, 1.0), (9, 4, 1.0), (0, 4, 1.0), (5, 4, 0.0), (3, 8, 2.0)] {
            arms.set(arm, key(plays, sum));
        }
        arms.set(3, key(9, 2.5));
        let all: Vec<(u64, f64, Vec<usize>)> = arms
            .groups()
            .flat_map(|(plays, group)| group.equal_arms(plays).map(move |equal| (plays, equal)))
            .map(|(plays, equal)| (plays, equal.key.sum, equal.arms().collect()))
            .collect();
        assert_eq!(all, [(4, 0.0, vec![5]), (4, 1.0, vec![0, 2, 7]), (9, 2.5, vec![3])]);
        assert_eq!(arms.plays(), 29);
        arms.remove(5);
        arms.remove(5);
        let first = arms.groups().next().unwrap();
        assert_eq!((first.1.equal_arms(4).next().unwrap().first(), arms.plays()), (0, 25));
    }
}
