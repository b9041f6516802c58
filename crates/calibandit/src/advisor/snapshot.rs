//! Advisors as JSON. A snapshot contains the whole state, the policy's generator included: 25 plays, a snapshot and 25
//! more plays are the same as 50 plays.

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use super::Advisor;
use super::run_tracker::RunTracker;

/// Increased when an older program could misread what a newer one writes.
const VERSION: u64 = 1;

#[derive(Serialize)]
struct WrittenSnapshot<'a, P> {
    calibandit_advisor: u64,
    policy: &'a P,
    state: &'a RunTracker,
}

/// Read first, so that a snapshot of another version is recognised whatever else it contains.
#[derive(Deserialize)]
struct SnapshotHeader {
    calibandit_advisor: Option<serde_json::Value>,
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
    /// The advisor as JSON. It works for every serialisable policy, also for your own.
    pub fn to_json(&self) -> Result<String, SnapshotError> {
        let snapshot = WrittenSnapshot { calibandit_advisor: VERSION, policy: &self.policy, state: &self.tracker };
        Ok(serde_json::to_string(&snapshot)?)
    }
}

impl<P: DeserializeOwned> Advisor<P> {
    /// The advisor that [`to_json`](Self::to_json) wrote. It continues exactly as the original would have.
    pub fn from_json(json: &str) -> Result<Self, SnapshotError> {
        let found = serde_json::from_str::<SnapshotHeader>(json)?.calibandit_advisor;
        if found.as_ref().and_then(serde_json::Value::as_u64) != Some(VERSION) {
            return Err(SnapshotError::Version { found: found.map(|found| found.to_string()), supported: VERSION });
        }
        let ReadSnapshot { policy, state: tracker, .. } = serde_json::from_str(json)?;
        tracker.check().map_err(|problem| SnapshotError::Inconsistent { problem })?;
        Ok(Self { policy, tracker })
    }
}

/// Why a snapshot cannot be written or read.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SnapshotError {
    /// The text is not the expected JSON, or the policy cannot be serialised.
    #[error("the snapshot of an advisor: {0}")]
    Json(#[from] serde_json::Error),
    /// The text is not a snapshot of an advisor, or has another version.
    #[error(
        "the snapshot has {} for `calibandit_advisor`, but this version reads {supported}",
        found.as_deref().unwrap_or("nothing")
    )]
    Version {
        /// The version in the text.
        found: Option<String>,
        /// The version that can be read.
        supported: u64,
    },
    /// The parts of the snapshot contradict each other: it was changed after it was written.
    #[error("the snapshot contradicts itself: {problem}")]
    Inconsistent {
        /// The contradiction.
        problem: &'static str,
    },
}
