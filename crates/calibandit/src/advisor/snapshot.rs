//! Advisors as JSON. A snapshot contains the whole state, the policy's generator included: 25 plays, a snapshot and 25
//! more plays are the same as 50 plays.

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use sha2::{Digest, Sha256};

use super::Advisor;
use super::explain::RecentRuns;
use super::run_tracker::RunTracker;
use crate::Policy;
use crate::policy::StateError;
use crate::policy::history::most_count;

/// Increased when an older program could misread what a newer one writes. Version 1 has no checksum and no counts of
/// closed runs, version 2 no confidence sequences; both are still read.
const VERSION: u64 = 3;
/// The first version with confidence sequences.
const WITH_CONFIDENCE: u64 = 3;
/// The oldest version that is read.
const OLDEST: u64 = 1;

#[derive(Serialize)]
struct WrittenSnapshot<'a, P> {
    calibandit_advisor: u64,
    policy: &'a P,
    state: &'a RunTracker,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct ReadSnapshot<P> {
    #[serde(rename = "calibandit_advisor")]
    _version: u64,
    policy: P,
    state: RunTracker,
}

impl<P: Serialize> Advisor<P> {
    /// The advisor as JSON, with a checksum. It works for every serialisable policy, also for your own.
    pub fn to_json(&self) -> Result<String, SnapshotError> {
        let snapshot = WrittenSnapshot { calibandit_advisor: VERSION, policy: &self.policy, state: &self.tracker };
        let mut json = serde_json::to_value(&snapshot)?;
        let checksum = checksum(&json);
        json["checksum"] = checksum.into();
        Ok(json.to_string())
    }
}

impl<P: Policy + DeserializeOwned> Advisor<P> {
    /// The advisor that [`to_json`](Self::to_json) wrote. It continues exactly as the original would have.
    ///
    /// Nothing in the text is believed unchecked. The checksum finds accidental damage; it does not depend on white
    /// space, on the order of keys or on how numbers are written. Then the parts are compared with each other, and
    /// [`Policy::check_restored`] compares the state of the policy with the plays.
    pub fn from_json(json: &str) -> Result<Self, SnapshotError> {
        Self::read(json, true)
    }

    /// As [`from_json`](Self::from_json), for a snapshot that was edited on purpose: the checksum is not compared.
    /// Everything else is checked.
    pub fn from_edited_json(json: &str) -> Result<Self, SnapshotError> {
        Self::read(json, false)
    }

    fn read(json: &str, compare_checksum: bool) -> Result<Self, SnapshotError> {
        let mut value: Value = serde_json::from_str(json)?;
        let found = value.get("calibandit_advisor");
        let version = found.and_then(Value::as_u64).filter(|version| (OLDEST..=VERSION).contains(version));
        let Some(version) = version else {
            return Err(SnapshotError::Version { found: found.map(Value::to_string), supported: VERSION });
        };
        let stored = value.as_object_mut().and_then(|snapshot| snapshot.remove("checksum"));
        let expected = stored.is_some() || version > OLDEST;
        if compare_checksum && expected && stored != Some(checksum(&value).into()) {
            return Err(SnapshotError::Checksum);
        }
        let ReadSnapshot { policy, state: mut tracker, .. } = serde_json::from_value::<ReadSnapshot<P>>(value)?;
        if version < WITH_CONFIDENCE {
            tracker.complete();
        }
        tracker.check(most_count(!compare_checksum))?;
        policy.check_restored(&tracker.history())?;
        Ok(Self { policy, tracker, recent: RecentRuns::default() })
    }
}

/// SHA-256 over the values of a JSON document. It does not depend on white space, on the order of keys or on how a
/// number is written.
pub(crate) fn checksum(json: &Value) -> String {
    let mut hasher = Sha256::new();
    hash(json, &mut hasher);
    hasher.finalize().iter().map(|byte| format!("{byte:02x}")).collect()
}

fn hash(value: &Value, hasher: &mut Sha256) {
    // The kind and the length of each value come before it, so that no two documents are hashed from the same bytes.
    let mut tag = |kind: u8, length: usize| hasher.update([&[kind][..], &(length as u64).to_le_bytes()].concat());
    match value {
        Value::Null => tag(0, 0),
        Value::Bool(flag) => tag(1, usize::from(*flag)),
        Value::Number(number) => {
            let (kind, bits) = match (number.as_u64(), number.as_i64()) {
                (Some(number), _) => (2, number),
                (_, Some(number)) => (3, number.cast_unsigned()),
                _ => (4, number.as_f64().map_or(0, f64::to_bits)),
            };
            tag(kind, 8);
            hasher.update(bits.to_le_bytes());
        }
        Value::String(text) => {
            tag(5, text.len());
            hasher.update(text);
        }
        Value::Array(items) => {
            tag(6, items.len());
            items.iter().for_each(|item| hash(item, hasher));
        }
        Value::Object(fields) => {
            tag(7, fields.len());
            let mut fields: Vec<_> = fields.iter().collect();
            fields.sort_by_key(|(key, _)| *key);
            for (key, field) in fields {
                hash(&Value::String(key.clone()), hasher);
                hash(field, hasher);
            }
        }
    }
}

fn other_version(found: Option<&str>, supported: u64) -> String {
    match found {
        None => "this is not the snapshot of an advisor: it has no `calibandit_advisor`".to_owned(),
        Some(found) => format!(
            "the snapshot has version {found} (`calibandit_advisor`), but this program reads version {supported}: use \
             the version of the program that wrote it"
        ),
    }
}

/// Why a snapshot cannot be written or read.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SnapshotError {
    /// The text is not the expected JSON, or the policy cannot be serialised.
    #[error("this is not the snapshot of an advisor, or it is damaged: {0}")]
    Json(#[from] serde_json::Error),
    /// The text is not a snapshot of an advisor, or has another version.
    #[error("{}", other_version(found.as_deref(), *supported))]
    Version {
        /// The version in the text.
        found: Option<String>,
        /// The version that can be read.
        supported: u64,
    },
    /// The text is not a snapshot of a lane advisor, or has another version.
    #[error(
        "the snapshot has {} for `calibandit_lanes`, but this version reads {supported}",
        found.as_deref().unwrap_or("nothing")
    )]
    LaneVersion {
        /// The version in the text.
        found: Option<String>,
        /// The version that can be read.
        supported: u64,
    },
    /// The values do not have the checksum in the snapshot: it was damaged, or edited on purpose.
    #[error(
        "the snapshot does not match its checksum: it was damaged, or edited; a snapshot that was edited on purpose is \
         read with `from_edited_json`"
    )]
    Checksum,
    /// The parts of the snapshot contradict each other: it was changed after it was written.
    #[error("the snapshot contradicts itself: {0}")]
    Inconsistent(#[from] StateError),
}
