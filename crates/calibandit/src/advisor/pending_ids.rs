//! The ids of decisions without a loss, stored as ranges: a million consecutive ids take as little memory as one.

use std::collections::BTreeMap;

/// A set of ids, kept as disjoint ranges `start..end` that do not touch.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[cfg_attr(
    feature = "serde",
    derive(serde::Serialize, serde::Deserialize),
    serde(try_from = "Vec<(u64, u64)>", into = "Vec<(u64, u64)>")
)]
pub(super) struct PendingIds {
    /// The end of each range by its start.
    ranges: BTreeMap<u64, u64>,
}

impl PendingIds {
    /// Adds an id that is larger than all ids so far.
    pub(super) fn push(&mut self, id: u64) {
        match self.ranges.last_entry() {
            Some(mut last) if *last.get() == id => *last.get_mut() = id + 1,
            _ => {
                self.ranges.insert(id, id + 1);
            }
        }
    }

    pub(super) fn contains(&self, id: u64) -> bool {
        self.ranges.range(..=id).next_back().is_some_and(|(_, &end)| id < end)
    }

    /// Removes an id; false if it is not in the set.
    pub(super) fn remove(&mut self, id: u64) -> bool {
        let Some((&start, &end)) = self.ranges.range(..=id).next_back() else { return false };
        if id >= end {
            return false;
        }
        self.ranges.remove(&start);
        if start < id {
            self.ranges.insert(start, id);
        }
        if id + 1 < end {
            self.ranges.insert(id + 1, end);
        }
        true
    }

    /// The ranges, cut to the ids from `from` on.
    fn ranges_from(&self, from: u64) -> impl Iterator<Item = (u64, u64)> + '_ {
        let first = self.ranges.range(..from).next_back().map(|(_, &end)| (from, end));
        let others = self.ranges.range(from..).map(|(&start, &end)| (start, end));
        first.into_iter().chain(others).filter(|(start, end)| start < end)
    }

    /// The ids from `from` on, in order.
    pub(super) fn ids_from(&self, from: u64) -> impl Iterator<Item = u64> + '_ {
        self.ranges_from(from).flat_map(|(start, end)| start..end)
    }

    /// The number of ids from `from` on.
    #[cfg(feature = "serde")]
    pub(super) fn count_from(&self, from: u64) -> u64 {
        self.ranges_from(from).map(|(start, end)| end - start).sum()
    }

    /// The number of ranges, which is what the set costs.
    pub(super) fn ranges(&self) -> usize {
        self.ranges.len()
    }

    /// One past the last id of the oldest range.
    pub(super) fn oldest_end(&self) -> Option<u64> {
        self.ranges.first_key_value().map(|(_, &end)| end)
    }

    /// Drops the oldest range.
    pub(super) fn drop_oldest(&mut self) {
        self.ranges.pop_first();
    }

    /// One past the largest id.
    #[cfg(feature = "serde")]
    pub(super) fn end(&self) -> u64 {
        self.ranges.last_key_value().map_or(0, |(_, &end)| end)
    }
}

impl From<PendingIds> for Vec<(u64, u64)> {
    fn from(pending: PendingIds) -> Self {
        pending.ranges.into_iter().collect()
    }
}

impl TryFrom<Vec<(u64, u64)>> for PendingIds {
    type Error = &'static str;
    fn try_from(ranges: Vec<(u64, u64)>) -> Result<Self, Self::Error> {
        let increasing =
            ranges.iter().all(|(start, end)| start < end) && ranges.windows(2).all(|pair| pair[0].1 < pair[1].0);
        if increasing {
            Ok(Self { ranges: ranges.into_iter().collect() })
        } else {
            Err("ranges of ids must be increasing and must not touch")
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use proptest::prelude::*;

    use super::*;

    proptest! {
        /// Compares with a plain set.
        #[test]
        fn behaves_like_a_set(
            gaps in prop::collection::vec(1..3u64, 0..40),
            removals in prop::collection::vec(0..80u64, 0..60),
        ) {
            let (mut pending, mut plain) = (PendingIds::default(), BTreeSet::new());
            let mut id = 0;
            for gap in gaps {
                id += gap;
                pending.push(id);
                plain.insert(id);
            }
            for removal in removals {
                prop_assert_eq!(pending.contains(removal), plain.contains(&removal));
                prop_assert_eq!(pending.remove(removal), plain.remove(&removal));
                prop_assert!(pending.ids_from(0).eq(plain.iter().copied()));
                prop_assert!(pending.ids_from(removal).eq(plain.range(removal..).copied()));
                prop_assert_eq!(pending.count_from(removal), plain.range(removal..).count() as u64);
                prop_assert_eq!(pending.end(), plain.last().map_or(0, |last| last + 1));
            }
            let text = serde_json::to_string(&pending).unwrap();
            prop_assert_eq!(serde_json::from_str::<PendingIds>(&text).unwrap(), pending);
        }
    }

    #[test]
    fn ids_in_a_row_cost_one_range() {
        let mut pending = PendingIds::default();
        (0..1000).for_each(|id| pending.push(id));
        assert_eq!(pending.ranges(), 1);
        assert_eq!(serde_json::to_string(&pending).unwrap(), "[[0,1000]]");
    }

    #[test]
    fn ranges_that_overlap_touch_or_are_empty_are_refused() {
        for text in ["[[0,2],[1,3]]", "[[0,2],[2,3]]", "[[2,2]]", "[[3,1]]", "[[5,6],[0,1]]"] {
            assert!(serde_json::from_str::<PendingIds>(text).is_err(), "{text}");
        }
    }
}
