//! Snapshots: the state of a lane advisor as text, whole or with lanes as rows of their own.
//!
//! A server that stores commands can replay them instead; a snapshot makes the replay short. The state is written in
//! full, generators included: a restored advisor continues bit for bit as the original would have.

use std::collections::BTreeMap;

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::lane::Lane;
use super::{LaneAdvisor, LaneBooks, PolicyFork};
use crate::Policy;
use crate::advisor::{SnapshotError, checksum};
use crate::policy::history::{ensure, most_count};

/// Increased when an older program could misread what a newer one writes.
const VERSION: u64 = 2;
/// The key of the version.
const KEY: &str = "calibandit_lanes";

#[derive(Serialize)]
struct WrittenLanes<'a, P> {
    calibandit_lanes: u64,
    policy: &'a P,
    looks_ahead: bool,
    state: &'a LaneBooks,
    /// The number of lanes, which are beside this if they are not in it.
    lane_count: usize,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct ReadLanes<P> {
    #[serde(rename = "calibandit_lanes")]
    _version: u64,
    policy: P,
    looks_ahead: bool,
    state: LaneBooks,
    lane_count: usize,
    #[serde(default)]
    lanes: Option<Vec<(u64, Lane)>>,
}

/// A snapshot in parts: the lanes, and all the rest.
#[derive(Clone, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[non_exhaustive]
pub struct LaneParts {
    /// All but the lanes, with a checksum.
    pub core: String,
    /// The number of each lane and its state.
    pub lanes: Vec<(u64, String)>,
}

impl LaneParts {
    /// A snapshot of these parts.
    pub fn new(core: String, lanes: Vec<(u64, String)>) -> Self {
        Self { core, lanes }
    }
}

impl<P: Serialize> LaneAdvisor<P> {
    /// The whole state as JSON, with a checksum. Two advisors with the same text continue bit for bit alike.
    pub fn to_json(&self) -> Result<String, SnapshotError> {
        let mut json = self.core()?;
        json["lanes"] = serde_json::to_value(self.books.lanes.iter().collect::<Vec<_>>())?;
        Ok(with_checksum(json))
    }

    /// The state with each lane by itself, for a store that keeps lanes as rows.
    pub fn to_parts(&self) -> Result<LaneParts, SnapshotError> {
        let row = |(&number, lane): (&u64, &Lane)| Ok((number, serde_json::to_string(lane)?));
        let lanes = self.books.lanes.iter().map(row).collect::<Result<_, SnapshotError>>()?;
        Ok(LaneParts { core: with_checksum(self.core()?), lanes })
    }

    /// The state of one lane, as in [`to_parts`](Self::to_parts); `None` if it was never asked.
    pub fn lane_json(&self, lane: u64) -> Result<Option<String>, SnapshotError> {
        Ok(self.books.lanes.get(&lane).map(serde_json::to_string).transpose()?)
    }

    fn core(&self) -> Result<Value, SnapshotError> {
        Ok(serde_json::to_value(WrittenLanes {
            calibandit_lanes: VERSION,
            policy: &self.policy,
            looks_ahead: self.fork.0.is_some(),
            state: &self.books,
            lane_count: self.books.lanes.len(),
        })?)
    }
}

impl<P: Policy + Clone + DeserializeOwned> LaneAdvisor<P> {
    /// The advisor that [`to_json`](Self::to_json) wrote. It continues exactly as the original would have.
    ///
    /// Nothing in the text is believed unchecked. The checksum finds accidental damage. Then the parts are compared
    /// with each other, and [`Policy::check_restored`] compares the state of the policy with its runs.
    pub fn from_json(json: &str) -> Result<Self, SnapshotError> {
        Self::read(serde_json::from_str(json)?, None, true)
    }

    /// As [`from_json`](Self::from_json), for a snapshot that was edited on purpose: the checksum is not compared.
    /// Everything else is checked.
    pub fn from_edited_json(json: &str) -> Result<Self, SnapshotError> {
        Self::read(serde_json::from_str(json)?, None, false)
    }

    /// The advisor of which [`to_parts`](Self::to_parts) made these. All lanes must be of the same moment.
    pub fn from_parts(parts: &LaneParts) -> Result<Self, SnapshotError> {
        let row = |(number, json): &(u64, String)| Ok((*number, serde_json::from_str(json)?));
        let lanes = parts.lanes.iter().map(row).collect::<Result<_, SnapshotError>>()?;
        Self::read(serde_json::from_str(&parts.core)?, Some(lanes), true)
    }

    fn read(mut value: Value, rows: Option<Vec<(u64, Lane)>>, compare: bool) -> Result<Self, SnapshotError> {
        let found = value.get(KEY);
        if found.and_then(Value::as_u64) != Some(VERSION) {
            return Err(SnapshotError::LaneVersion { found: found.map(Value::to_string), supported: VERSION });
        }
        let stored = value.as_object_mut().and_then(|snapshot| snapshot.remove("checksum"));
        if compare && stored != Some(checksum(&value).into()) {
            return Err(SnapshotError::Checksum);
        }
        let ReadLanes { policy, looks_ahead, state: mut books, lane_count, lanes, .. } =
            serde_json::from_value::<ReadLanes<P>>(value)?;
        ensure(lanes.is_some() != rows.is_some(), "the lanes are missing, or there twice")?;
        let rows = lanes.or(rows).unwrap_or_default();
        ensure(rows.len() == lane_count, "the number of lanes differs")?;
        books.lanes = rows.into_iter().collect::<BTreeMap<u64, Lane>>();
        ensure(books.lanes.len() == lane_count, "a lane is there twice")?;
        books.check_restored(&policy, most_count(!compare))?;
        let fork = PolicyFork(looks_ahead.then_some(P::clone as fn(&P) -> P));
        Ok(Self { policy, fork, reasons: super::LaneReasons::default(), books })
    }
}

fn with_checksum(mut json: Value) -> String {
    let checksum = checksum(&json);
    json["checksum"] = checksum.into();
    json.to_string()
}

/// Maps with numbers as keys, as lists of pairs: JSON has no numbers as keys.
pub(super) mod pairs {
    use std::collections::BTreeMap;

    use serde::{Deserialize, Deserializer, Serialize, Serializer};

    pub(in super::super) fn serialize<V: Serialize, S: Serializer>(
        map: &BTreeMap<u64, V>,
        serializer: S,
    ) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(map)
    }

    pub(in super::super) fn deserialize<'a, V: Deserialize<'a>, D: Deserializer<'a>>(
        deserializer: D,
    ) -> Result<BTreeMap<u64, V>, D::Error> {
        let pairs = Vec::<(u64, V)>::deserialize(deserializer)?;
        let count = pairs.len();
        let map: BTreeMap<u64, V> = pairs.into_iter().collect();
        match map.len() == count {
            true => Ok(map),
            false => Err(serde::de::Error::custom("a number is there twice")),
        }
    }
}
