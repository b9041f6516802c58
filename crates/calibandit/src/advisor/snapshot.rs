//! Advisors as JSON: everything, the policy's own generator included, so that 25 plays, a night in a file and 25 plays
//! are the same as 50.

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use super::meter::Meter;
use super::{Advisor, SnapshotError};

/// Raised when an older program could misread what a newer one writes.
const VERSION: u64 = 1;

#[derive(Serialize)]
struct Written<'a, P> {
    calibandit_advisor: u64,
    policy: &'a P,
    state: &'a Meter,
}

/// Read first, so that a snapshot of another version is named as such, whatever else is in it.
#[derive(Deserialize)]
struct Header {
    calibandit_advisor: Option<serde_json::Value>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Read<P> {
    #[serde(rename = "calibandit_advisor")]
    _version: u64,
    policy: P,
    state: Meter,
}

impl<P: Serialize> Advisor<P> {
    /// The advisor as JSON.
    pub fn to_json(&self) -> Result<String, SnapshotError> {
        let written = Written { calibandit_advisor: VERSION, policy: &self.policy, state: &self.meter };
        Ok(serde_json::to_string(&written)?)
    }
}

impl<P: DeserializeOwned> Advisor<P> {
    /// The advisor that [`to_json`](Self::to_json) wrote. It goes on exactly as the original would have.
    pub fn from_json(json: &str) -> Result<Self, SnapshotError> {
        let found = serde_json::from_str::<Header>(json)?.calibandit_advisor;
        if found.as_ref().and_then(serde_json::Value::as_u64) != Some(VERSION) {
            return Err(SnapshotError::Version { found: found.map(|found| found.to_string()), supported: VERSION });
        }
        let Read { policy, state: meter, .. } = serde_json::from_str(json)?;
        meter.check().map_err(|problem| SnapshotError::Inconsistent { problem })?;
        Ok(Self { policy, meter })
    }
}
