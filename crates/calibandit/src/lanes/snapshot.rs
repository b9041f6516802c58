//! The state of lane advisors as JSON, to compare a state with that of a replay. Commands are what is stored: replaying
//! them gives the state back.

use serde::Serialize;

use super::{LaneAdvisor, LaneBooks};

#[derive(Serialize)]
struct WrittenLanes<'a, P> {
    calibandit_lanes: u64,
    policy: &'a P,
    state: &'a LaneBooks,
}

impl<P: Serialize> LaneAdvisor<P> {
    /// The whole state as JSON, generators included. Two advisors with the same text continue bit for bit alike.
    pub fn to_json(&self) -> Result<String, serde_json::Error> {
        serde_json::to_string(&WrittenLanes { calibandit_lanes: 1, policy: &self.policy, state: &self.books })
    }
}

/// Maps with numbers as keys, as lists of pairs: JSON has no numbers as keys.
pub(super) mod pairs {
    use std::collections::BTreeMap;

    use serde::{Serialize, Serializer};

    pub(in super::super) fn serialize<V: Serialize, S: Serializer>(
        map: &BTreeMap<u64, V>,
        serializer: S,
    ) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(map)
    }
}
