//! Reading the history while the service writes: connections of their own, which cannot change anything.

use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use rusqlite::{Connection, OpenFlags, params};

use super::StoreError;
use super::sqlite::{self, COLUMNS};
use crate::record::StoredRecord;

/// At most this many idle connections are kept.
const MOST_IDLE: usize = 4;

/// A page of the history is at most this long.
pub(crate) const LONGEST_PAGE: u64 = 1000;

/// Reads the history of a store.
#[derive(Debug)]
pub(crate) struct HistoryReader {
    path: PathBuf,
    idle: Mutex<Vec<Connection>>,
}

impl HistoryReader {
    pub(crate) fn new(path: &Path) -> Self {
        Self { path: path.to_owned(), idle: Mutex::new(Vec::new()) }
    }

    fn with<T>(&self, read: impl FnOnce(&Connection) -> Result<T, StoreError>) -> Result<T, StoreError> {
        let idle = || self.idle.lock().unwrap_or_else(PoisonError::into_inner);
        let connection = match idle().pop() {
            Some(connection) => connection,
            None => open_read_only(&self.path)?,
        };
        let result = read(&connection)?;
        let mut idle = idle();
        if idle.len() < MOST_IDLE {
            idle.push(connection);
        }
        Ok(result)
    }

    /// The records about a decision.
    pub(crate) fn decision(&self, experiment: i64, decision: u64) -> Result<Vec<StoredRecord>, StoreError> {
        self.with(|connection| sqlite::records_of_decision(connection, experiment, decision))
    }

    /// At most `limit` records from this number on.
    pub(crate) fn records(&self, experiment: i64, from: u64, limit: u64) -> Result<Vec<StoredRecord>, StoreError> {
        let Ok(from) = i64::try_from(from) else { return Ok(Vec::new()) };
        self.with(|connection| {
            let sql = format!("SELECT {COLUMNS} FROM records WHERE experiment = ? AND seq >= ? ORDER BY seq LIMIT ?");
            let mut statement = connection.prepare_cached(&sql)?;
            let rows = statement.query_map(params![experiment, from, limit.min(LONGEST_PAGE)], sqlite::read_row)?;
            Ok(rows.collect::<Result<_, _>>()?)
        })
    }

    /// The records that gave out decisions, from this decision on.
    pub(crate) fn asked(&self, experiment: i64, from: u64, limit: u64) -> Result<Vec<StoredRecord>, StoreError> {
        let Ok(from) = i64::try_from(from) else { return Ok(Vec::new()) };
        self.with(|connection| {
            let sql = format!(
                "SELECT {COLUMNS} FROM records WHERE experiment = ? AND decision >= ? AND kind IN ('ask', 'play') \
                 ORDER BY decision, seq LIMIT ?"
            );
            let mut statement = connection.prepare_cached(&sql)?;
            let rows = statement.query_map(params![experiment, from, limit.min(LONGEST_PAGE)], sqlite::read_row)?;
            Ok(rows.collect::<Result<_, _>>()?)
        })
    }

    /// The size of the database in bytes.
    pub(crate) fn bytes(&self) -> u64 {
        std::fs::metadata(&self.path).map_or(0, |metadata| metadata.len())
    }
}

/// A connection that cannot change the file. A file of another program is refused.
pub(crate) fn open_read_only(path: &Path) -> Result<Connection, StoreError> {
    let connection = Connection::open_with_flags(path, OpenFlags::SQLITE_OPEN_READ_ONLY)?;
    connection.busy_timeout(Duration::from_secs(10))?;
    if sqlite::check_layout(&connection, path)?.is_none() {
        let why = "it is empty: there is nothing to read".to_owned();
        return Err(StoreError::Unusable { path: path.to_owned(), why });
    }
    Ok(connection)
}

/// Copies a store into a new file while a service may write to it. The copy is one state of the store.
pub(crate) fn copy(from: &Path, to: &Path) -> Result<(), StoreError> {
    let source = open_read_only(from)?;
    if to.exists() {
        let why = "it exists already: choose a new file".to_owned();
        return Err(StoreError::Unusable { path: to.to_owned(), why });
    }
    let mut target = Connection::open(to)?;
    {
        let backup = rusqlite::backup::Backup::new(&source, &mut target)?;
        backup.run_to_completion(1000, Duration::from_millis(5), None)?;
    }
    // The copy is one file, without a log beside it, and is on the disk when this returns.
    target.query_row("PRAGMA journal_mode = DELETE", [], |_| Ok(()))?;
    target.close().map_err(|(_, error)| error)?;
    let synced = std::fs::File::open(to).and_then(|file| file.sync_all());
    synced.map_err(|error| StoreError::Lock { path: to.to_owned(), error })
}
