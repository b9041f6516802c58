//! The embedded store: one SQLite file in WAL mode.
//!
//! With full durability every commit is synced to the disk before it returns. Relaxed, it survives the end of the
//! process but not that of the machine.

use std::path::{Path, PathBuf};
use std::time::Duration;

use rusqlite::{Connection, ErrorCode, Row, params};

use super::lock::FileClaim;
use super::{RecordLog, RecordStore, StateDigests, StoreChange, StoreError, StoredExperiment, StoredToken};
use crate::config::Durability;
use crate::record::StoredRecord;

/// The layout of the tables. It is stored in the file.
const LAYOUT: i64 = 1;

/// What marks a file as one of this program, in the header that SQLite leaves to applications: "cban".
const APPLICATION: i64 = 0x6362_616e;

const TABLES: &str = "
CREATE TABLE experiments (id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE) STRICT;
CREATE TABLE records (
    experiment INTEGER NOT NULL,
    seq INTEGER NOT NULL,
    at_ms INTEGER NOT NULL,
    version INTEGER NOT NULL,
    kind TEXT NOT NULL,
    decision INTEGER,
    lane TEXT,
    body TEXT NOT NULL,
    checksum BLOB NOT NULL,
    PRIMARY KEY (experiment, seq)
) STRICT, WITHOUT ROWID;
CREATE INDEX records_by_decision ON records (experiment, decision) WHERE decision IS NOT NULL;
CREATE TABLE state_digests (
    experiment INTEGER NOT NULL,
    seq INTEGER NOT NULL,
    sha256 BLOB NOT NULL,
    PRIMARY KEY (experiment, seq)
) STRICT, WITHOUT ROWID;
CREATE TABLE tokens (
    id INTEGER PRIMARY KEY,
    sha256 BLOB NOT NULL UNIQUE,
    role TEXT NOT NULL,
    name TEXT NOT NULL,
    created_ms INTEGER NOT NULL,
    revoked_ms INTEGER
) STRICT;
";

pub(crate) const COLUMNS: &str = "seq, at_ms, version, kind, decision, lane, body, checksum";

/// The store in one file, and the right to write to it.
#[derive(Debug)]
pub(crate) struct SqliteStore {
    connection: Connection,
    _claim: FileClaim,
}

impl SqliteStore {
    /// Opens the file, or creates it.
    pub(crate) fn open(path: &Path, durability: Durability) -> Result<Self, StoreError> {
        let claim = FileClaim::new(path)?;
        let mut connection = Connection::open(path)?;
        connection.busy_timeout(Duration::from_secs(10))?;
        let unusable = |why: &str| StoreError::Unusable { path: path.to_owned(), why: why.to_owned() };
        let layout = check_layout(&connection, path)?;
        connection.pragma_update(None, "synchronous", "FULL")?;
        let mode: String = connection.query_row("PRAGMA journal_mode = WAL", [], |row| row.get(0))?;
        if !mode.eq_ignore_ascii_case("wal") {
            return Err(unusable("its file system does not support the journal mode WAL: use a local disk"));
        }
        if layout.is_none() {
            let transaction = connection.transaction()?;
            transaction.execute_batch(TABLES)?;
            transaction.pragma_update(None, "application_id", APPLICATION)?;
            transaction.pragma_update(None, "user_version", LAYOUT)?;
            transaction.commit()?;
        }
        if durability == Durability::Relaxed {
            connection.pragma_update(None, "synchronous", "NORMAL")?;
        }
        Ok(Self { connection, _claim: claim })
    }
}

/// The layout of the file; `None` if it is new. A file of something else is refused.
pub(super) fn check_layout(connection: &Connection, path: &Path) -> Result<Option<i64>, StoreError> {
    let unusable = |why: String| StoreError::Unusable { path: PathBuf::from(path), why };
    let number = |name: &str| connection.pragma_query_value(None, name, |row| row.get::<_, i64>(0));
    let (application, layout) = match (number("application_id"), number("user_version")) {
        (Ok(application), Ok(layout)) => (application, layout),
        (Err(error), _) | (_, Err(error)) if error.sqlite_error_code() == Some(ErrorCode::NotADatabase) => {
            return Err(unusable("it is not a database of this program: choose another file".to_owned()));
        }
        (Err(error), _) | (_, Err(error)) => return Err(error.into()),
    };
    let tables: i64 = connection.query_row("SELECT count(*) FROM sqlite_schema", [], |row| row.get(0))?;
    match (application, layout) {
        (APPLICATION, LAYOUT) => Ok(Some(LAYOUT)),
        (APPLICATION, other) => Err(unusable(format!(
            "it has layout {other}, and this program knows layout {LAYOUT}: use the program that wrote it"
        ))),
        (0, 0) if tables == 0 => Ok(None),
        _ => Err(unusable("it is a database of another program: choose another file".to_owned())),
    }
}

pub(super) fn read_row(row: &Row<'_>) -> rusqlite::Result<StoredRecord> {
    Ok(StoredRecord {
        seq: row.get(0)?,
        at: row.get(1)?,
        version: row.get(2)?,
        kind: row.get(3)?,
        decision: row.get(4)?,
        lane: row.get(5)?,
        body: row.get(6)?,
        checksum: row.get(7)?,
    })
}

impl RecordStore for SqliteStore {
    fn commit(&mut self, changes: &[StoreChange]) -> Result<(), StoreError> {
        let transaction = self.connection.transaction_with_behavior(rusqlite::TransactionBehavior::Immediate)?;
        for change in changes {
            apply(&transaction, change)?;
        }
        Ok(transaction.commit()?)
    }

    fn log(&mut self) -> &mut dyn RecordLog {
        &mut self.connection
    }
}

impl RecordLog for Connection {
    fn experiments(&mut self) -> Result<Vec<StoredExperiment>, StoreError> {
        let mut statement = self.prepare("SELECT id, name FROM experiments ORDER BY id")?;
        let rows = statement.query_map([], |row| Ok(StoredExperiment { id: row.get(0)?, name: row.get(1)? }))?;
        Ok(rows.collect::<Result<_, _>>()?)
    }

    fn tokens(&mut self) -> Result<Vec<StoredToken>, StoreError> {
        let mut statement =
            self.prepare("SELECT id, sha256, role, name, created_ms, revoked_ms FROM tokens ORDER BY id")?;
        let rows = statement.query_map([], |row| {
            Ok(StoredToken {
                id: row.get(0)?,
                sha256: row.get(1)?,
                role: row.get(2)?,
                name: row.get(3)?,
                created_at: row.get(4)?,
                revoked_at: row.get(5)?,
            })
        })?;
        Ok(rows.collect::<Result<_, _>>()?)
    }

    fn state_digests(&mut self, experiment: i64) -> Result<StateDigests, StoreError> {
        let mut statement = self.prepare("SELECT seq, sha256 FROM state_digests WHERE experiment = ? ORDER BY seq")?;
        let rows = statement.query_map([experiment], |row| Ok((row.get(0)?, row.get(1)?)))?;
        Ok(rows.collect::<Result<_, _>>()?)
    }

    fn read(&mut self, experiment: i64, visit: &mut dyn FnMut(StoredRecord) -> bool) -> Result<(), StoreError> {
        let sql = format!("SELECT {COLUMNS} FROM records WHERE experiment = ? ORDER BY seq");
        let mut statement = self.prepare(&sql)?;
        let mut rows = statement.query([experiment])?;
        while let Some(row) = rows.next()? {
            if !visit(read_row(row)?) {
                break;
            }
        }
        Ok(())
    }

    fn records_of_decision(&mut self, experiment: i64, decision: u64) -> Result<Vec<StoredRecord>, StoreError> {
        records_of_decision(self, experiment, decision)
    }
}

pub(super) fn records_of_decision(
    connection: &Connection,
    experiment: i64,
    decision: u64,
) -> Result<Vec<StoredRecord>, StoreError> {
    // Larger numbers than the file can hold were never given out.
    let Ok(decision) = i64::try_from(decision) else { return Ok(Vec::new()) };
    let sql = format!("SELECT {COLUMNS} FROM records WHERE experiment = ? AND decision = ? ORDER BY seq LIMIT 1000");
    let mut statement = connection.prepare_cached(&sql)?;
    let rows = statement.query_map(params![experiment, decision], read_row)?;
    Ok(rows.collect::<Result<_, _>>()?)
}

fn apply(connection: &Connection, change: &StoreChange) -> Result<(), StoreError> {
    let execute = |sql: &str, values: &[&dyn rusqlite::ToSql]| connection.prepare_cached(sql)?.execute(values);
    match change {
        StoreChange::CreateExperiment { experiment, name } => {
            execute("INSERT INTO experiments (id, name) VALUES (?, ?)", &[experiment, name])?;
        }
        StoreChange::DeleteExperiment { experiment } => {
            for table in ["records", "state_digests"] {
                execute(&format!("DELETE FROM {table} WHERE experiment = ?"), &[experiment])?;
            }
            execute("DELETE FROM experiments WHERE id = ?", &[experiment])?;
        }
        StoreChange::Append(appended) => {
            let sql = format!("INSERT INTO records (experiment, {COLUMNS}) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)");
            let mut statement = connection.prepare_cached(&sql)?;
            for record in &appended.records {
                let StoredRecord { seq, at, version, kind, decision, lane, body, checksum } = record;
                let values = params![appended.experiment, seq, at, version, kind, decision, lane, body, checksum];
                statement.execute(values).map_err(|error| match error.sqlite_error_code() {
                    Some(ErrorCode::ConstraintViolation) => {
                        StoreError::Conflict { experiment: appended.experiment, seq: *seq }
                    }
                    _ => error.into(),
                })?;
            }
        }
        StoreChange::StateDigest { experiment, seq, sha256 } => {
            let sql = "INSERT INTO state_digests (experiment, seq, sha256) VALUES (?, ?, ?)";
            execute(sql, &[experiment, seq, sha256])?;
        }
        StoreChange::AddToken(token) => {
            let sql = "INSERT INTO tokens (id, sha256, role, name, created_ms) VALUES (?, ?, ?, ?, ?)";
            execute(sql, &[&token.id, &token.sha256, &token.role, &token.name, &token.created_at])?;
        }
        StoreChange::RevokeToken { id, at } => {
            execute("UPDATE tokens SET revoked_ms = ? WHERE id = ? AND revoked_ms IS NULL", &[at, id])?;
        }
    }
    Ok(())
}
