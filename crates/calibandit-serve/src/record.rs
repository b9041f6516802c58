//! The records of the log: what was commanded, when, and what was answered.
//!
//! A record is one line of JSON with a version, so that old logs stay readable. Its checksum covers the one before it:
//! a record that was changed, removed or moved is found when the log is read.

use calibandit::lanes::{AskAfter, CountedAs, LanePhase, PlayOutcome};
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use crate::spec::LiveExperimentSpec;

/// The version of the records that this program writes.
pub(crate) const RECORD_VERSION: u32 = 1;

/// One command that changed an experiment. Refused commands are recorded only if they changed something.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct RecordBody {
    pub(crate) command: LoggedCommand,
    pub(crate) answer: LoggedAnswer,
    /// The decisions that had expired when the command came.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) expired: Vec<u64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) key: Option<RequestKey>,
}

/// A command, with arms by number and lanes by name.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "kebab-case", deny_unknown_fields)]
pub(crate) enum LoggedCommand {
    Create {
        spec: Box<LiveExperimentSpec>,
    },
    Ask {
        lane: String,
        #[serde(default, skip_serializing_if = "is_unstated")]
        after: AskAfter,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        available: Option<Vec<usize>>,
    },
    Settle {
        decision: u64,
        outcome: PlayOutcome,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        played_at: Option<u64>,
    },
    Play {
        lane: String,
        arm: usize,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        loss: Option<f64>,
    },
    Reset {
        #[serde(default, skip_serializing_if = "Option::is_none")]
        lane: Option<String>,
    },
    Tick,
    Status {
        status: LiveStatus,
    },
}

fn is_unstated(after: &AskAfter) -> bool {
    *after == AskAfter::Unstated
}

impl LoggedCommand {
    /// The name of the kind, for the column of the store.
    pub(crate) fn kind(&self) -> &'static str {
        match self {
            Self::Create { .. } => "create",
            Self::Ask { .. } => "ask",
            Self::Settle { .. } => "settle",
            Self::Play { .. } => "play",
            Self::Reset { .. } => "reset",
            Self::Tick => "tick",
            Self::Status { .. } => "status",
        }
    }

    /// The lane that it is about.
    pub(crate) fn lane(&self) -> Option<&str> {
        match self {
            Self::Ask { lane, .. } | Self::Play { lane, .. } => Some(lane),
            Self::Reset { lane } => lane.as_deref(),
            _ => None,
        }
    }
}

/// Whether an experiment learns.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum LiveStatus {
    /// It does.
    #[default]
    Running,
    /// It does not: every ask is answered with the recommended arm.
    Paused,
    /// It never will again.
    Finished,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "kebab-case", deny_unknown_fields)]
pub(crate) enum LoggedAnswer {
    Decision(GivenDecision),
    Recorded { decision: u64, counted: CountedName },
    Expired { decision: u64 },
    Noted,
    Refused { message: String },
}

impl LoggedAnswer {
    /// The decision that it is about.
    pub(crate) fn decision(&self) -> Option<u64> {
        match *self {
            Self::Decision(GivenDecision { id, .. }) => Some(id),
            Self::Recorded { decision, .. } | Self::Expired { decision } => Some(decision),
            Self::Noted | Self::Refused { .. } => None,
        }
    }
}

/// A decision as it was given out. Its lane and its time are those of the record.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct GivenDecision {
    pub(crate) id: u64,
    pub(crate) arm: usize,
    pub(crate) phase: PhaseName,
    pub(crate) run: u64,
    pub(crate) position: u64,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) expires_at: Option<u64>,
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub(crate) beyond_horizon: bool,
}

/// How the loss of a play is used.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum PhaseName {
    /// Not at all: the arm warms up.
    WarmUp,
    /// The policy has asked for it.
    Measured,
    /// Nobody has asked for it. If the arm is calibrated, its loss is kept for later.
    Filler,
}

impl From<LanePhase> for PhaseName {
    fn from(phase: LanePhase) -> Self {
        match phase {
            LanePhase::WarmUp => Self::WarmUp,
            LanePhase::Measured => Self::Measured,
            _ => Self::Filler,
        }
    }
}

/// How an outcome counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum CountedName {
    /// As a loss of the policy's open run.
    Run,
    /// As a calibrated loss for a later run.
    Bank,
    /// As a play of the warm-up.
    WarmUp,
    /// Not at all.
    Not,
}

impl From<CountedAs> for CountedName {
    fn from(counted: CountedAs) -> Self {
        match counted {
            CountedAs::Run => Self::Run,
            CountedAs::Bank => Self::Bank,
            CountedAs::WarmUp => Self::WarmUp,
            _ => Self::Not,
        }
    }
}

/// The idempotency key of a request, and a digest of the request.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct RequestKey {
    pub(crate) key: String,
    pub(crate) request: String,
}

/// The checksum of a record and of all before it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct ChainHash([u8; 16]);

impl ChainHash {
    pub(crate) fn bytes(&self) -> &[u8] {
        &self.0
    }

    fn next(&self, record: &StoredRecord) -> Self {
        let mut hash = Sha256::new();
        hash.update(self.0);
        hash.update(record.seq.to_le_bytes());
        hash.update(record.at.to_le_bytes());
        hash.update(record.version.to_le_bytes());
        hash.update(record.body.as_bytes());
        let mut first = [0; 16];
        first.copy_from_slice(&hash.finalize()[..16]);
        Self(first)
    }
}

/// A record as the store has it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct StoredRecord {
    pub(crate) seq: u64,
    /// In milliseconds since 1970. Times of an experiment never go back.
    pub(crate) at: u64,
    pub(crate) version: u32,
    pub(crate) kind: String,
    pub(crate) decision: Option<u64>,
    pub(crate) lane: Option<String>,
    pub(crate) body: String,
    pub(crate) checksum: Vec<u8>,
}

/// Why a record cannot be read.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum RecordError {
    #[error("there is a gap: record {expected} is missing")]
    Gap { expected: u64 },
    #[error("it has version {0}, which this program does not know: use the program that wrote it, or a newer one")]
    Version(u32),
    #[error("its checksum does not match: it, or one before it, was changed")]
    Checksum,
    #[error("it cannot be read: {0}")]
    Unreadable(String),
    #[error("its columns `kind`, `decision` and `lane` do not agree with its body")]
    Columns,
}

impl StoredRecord {
    /// The record that follows the one with the checksum `before`; its own checksum comes with it.
    pub(crate) fn encode(before: &ChainHash, seq: u64, at: u64, body: &RecordBody) -> (Self, ChainHash) {
        let text = serde_json::to_string(body).expect("a record has only names and finite numbers");
        let mut record = Self {
            seq,
            at,
            version: RECORD_VERSION,
            kind: body.command.kind().to_owned(),
            decision: body.answer.decision(),
            lane: body.command.lane().map(str::to_owned),
            body: text,
            checksum: Vec::new(),
        };
        let chain = before.next(&record);
        record.checksum = chain.bytes().to_vec();
        (record, chain)
    }

    /// What the record says, after all checks that need only the one before it.
    pub(crate) fn decode(&self, before: &ChainHash, expected: u64) -> Result<(RecordBody, ChainHash), RecordError> {
        if self.seq != expected {
            return Err(RecordError::Gap { expected });
        }
        if self.version != RECORD_VERSION {
            return Err(RecordError::Version(self.version));
        }
        let chain = before.next(self);
        if chain.bytes() != self.checksum {
            return Err(RecordError::Checksum);
        }
        let body = self.read()?;
        let columns = (body.command.kind(), body.answer.decision(), body.command.lane());
        if columns != (self.kind.as_str(), self.decision, self.lane.as_deref()) {
            return Err(RecordError::Columns);
        }
        Ok((body, chain))
    }

    /// What the record says, without checks of its place in the log.
    pub(crate) fn read(&self) -> Result<RecordBody, RecordError> {
        serde_json::from_str(&self.body).map_err(|error| RecordError::Unreadable(error.to_string()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bodies() -> Vec<RecordBody> {
        let body = |command, answer| RecordBody { command, answer, expired: Vec::new(), key: None };
        let given = GivenDecision {
            id: 3,
            arm: 1,
            phase: PhaseName::Measured,
            run: 2,
            position: 9,
            expires_at: Some(5),
            beyond_horizon: false,
        };
        let ask = LoggedCommand::Ask { lane: "u".into(), after: AskAfter::Decision(2), available: Some(vec![0, 1]) };
        let settle = |outcome| LoggedCommand::Settle { decision: 3, outcome, played_at: None };
        let counted = LoggedAnswer::Recorded { decision: 3, counted: CountedName::Run };
        vec![
            body(ask, LoggedAnswer::Decision(given)),
            body(settle(PlayOutcome::Loss(0.1 + 0.2)), counted.clone()),
            body(settle(PlayOutcome::Overridden { arm: 2, loss: None }), counted),
            RecordBody {
                expired: vec![1, 2],
                key: Some(RequestKey { key: "k".into(), request: "d".into() }),
                ..body(LoggedCommand::Tick, LoggedAnswer::Noted)
            },
        ]
    }

    #[test]
    fn records_are_read_back_as_they_were() {
        let mut before = ChainHash::default();
        for (seq, body) in bodies().into_iter().enumerate() {
            let (stored, chain) = StoredRecord::encode(&before, seq as u64, 7, &body);
            assert_eq!(stored.decode(&before, seq as u64), Ok((body, chain)));
            before = chain;
        }
    }

    #[test]
    fn every_change_of_a_record_is_found() {
        let before = ChainHash::default();
        let (good, chain) = StoredRecord::encode(&before, 0, 7, &bodies()[0]);
        let changes: [&dyn Fn(&mut StoredRecord); 6] = [
            &|record| record.at += 1,
            &|record| record.version = 2,
            &|record| record.body = record.body.replace("\"arm\":1", "\"arm\":0"),
            &|record| record.checksum[3] ^= 1,
            &|record| record.decision = None,
            &|record| record.seq = 1,
        ];
        for (number, change) in changes.iter().enumerate() {
            let mut record = good.clone();
            change(&mut record);
            assert!(record.decode(&before, 0).is_err(), "change {number}");
        }
        let (second, _) = StoredRecord::encode(&chain, 1, 8, &bodies()[1]);
        assert_eq!(second.decode(&before, 1), Err(RecordError::Checksum), "another record came before it");
        assert_eq!(second.decode(&chain, 0), Err(RecordError::Gap { expected: 0 }));
    }
}
