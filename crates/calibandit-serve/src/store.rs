//! Where logs are kept. [`SqliteStore`] is one file; the trait leaves room for stores that several processes share.

mod lock;
mod reader;
mod sqlite;

use std::path::PathBuf;

use crate::record::StoredRecord;
pub(crate) use reader::{HistoryReader, LONGEST_PAGE, copy, open_read_only};
pub(crate) use sqlite::SqliteStore;

/// Records of one experiment that follow each other.
#[derive(Debug)]
pub(crate) struct AppendedRecords {
    /// The number of the experiment in the store.
    pub(crate) experiment: i64,
    pub(crate) records: Vec<StoredRecord>,
}

/// One change of the store.
#[derive(Debug)]
pub(crate) enum StoreChange {
    CreateExperiment {
        experiment: i64,
        name: String,
    },
    DeleteExperiment {
        experiment: i64,
    },
    Append(AppendedRecords),
    /// A digest of the state after so many records, for later comparison.
    StateDigest {
        experiment: i64,
        seq: u64,
        sha256: Vec<u8>,
    },
    AddToken(StoredToken),
    RevokeToken {
        id: i64,
        at: u64,
    },
}

/// A token, without its secret.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct StoredToken {
    pub(crate) id: i64,
    pub(crate) sha256: [u8; 32],
    pub(crate) role: String,
    pub(crate) name: String,
    pub(crate) created_at: u64,
    pub(crate) revoked_at: Option<u64>,
}

/// An experiment of the store.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct StoredExperiment {
    pub(crate) id: i64,
    pub(crate) name: String,
}

/// Digests of states, in the order of the records.
pub(crate) type StateDigests = Vec<(u64, Vec<u8>)>;

/// What can be read of a store.
pub(crate) trait RecordLog {
    fn experiments(&mut self) -> Result<Vec<StoredExperiment>, StoreError>;

    fn tokens(&mut self) -> Result<Vec<StoredToken>, StoreError>;

    fn state_digests(&mut self, experiment: i64) -> Result<StateDigests, StoreError>;

    /// Calls `visit` with every record of an experiment in order, until it returns false.
    fn read(&mut self, experiment: i64, visit: &mut dyn FnMut(StoredRecord) -> bool) -> Result<(), StoreError>;

    /// The records about a decision, in order.
    fn records_of_decision(&mut self, experiment: i64, decision: u64) -> Result<Vec<StoredRecord>, StoreError>;
}

/// A store of logs.
pub(crate) trait RecordStore: Send {
    /// Makes all changes, durably, or none. A record whose number is taken is a [`StoreError::Conflict`]: the number of
    /// a record is what another process compares and swaps.
    fn commit(&mut self, changes: &[StoreChange]) -> Result<(), StoreError>;

    fn log(&mut self) -> &mut dyn RecordLog;
}

/// Why a store cannot do what it is asked for.
#[derive(Debug, thiserror::Error)]
pub enum StoreError {
    /// Another process holds the file.
    #[error("{} is in use by another process{owner}: one process serves one file", path.display())]
    InUse {
        /// The file.
        path: PathBuf,
        /// Who holds it, if that is known.
        owner: String,
    },
    /// The lock cannot be made.
    #[error("{}: {error}", path.display())]
    Lock {
        /// The file of the lock.
        path: PathBuf,
        /// What went wrong.
        error: std::io::Error,
    },
    /// The file is not one of this program.
    #[error("{}: {why}", path.display())]
    Unusable {
        /// The file.
        path: PathBuf,
        /// Why it cannot be used.
        why: String,
    },
    /// Another process has written records with the same numbers.
    #[error("record {seq} of experiment number {experiment} exists already: another process writes to the same store")]
    Conflict {
        /// The number of the experiment.
        experiment: i64,
        /// The number of the record.
        seq: u64,
    },
    /// An error of SQLite.
    #[error("{0}")]
    Sqlite(#[from] rusqlite::Error),
}
