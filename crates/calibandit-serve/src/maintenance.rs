//! What is done with the file of a service besides serving it: verify, back up, tokens, a probe of the disk.

use std::fs::File;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use crate::config::Durability;
use crate::engine::{LoadError, load};
use crate::server::ServeError;
use crate::store::{self, RecordLog, RecordStore, SqliteStore, StoreChange, StoreError};
use crate::times::machine_time;
use crate::tokens::{Role, TokenTable, TokenView, new_token, view};

/// One experiment that was replayed without a difference.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct VerifiedExperiment {
    /// Its name.
    pub name: String,
    /// The number of its records.
    pub records: u64,
}

/// Replays every record of a file and compares answers, checksums and digests of states with what is stored. A service
/// may run meanwhile.
pub fn verify(path: &Path) -> Result<Vec<VerifiedExperiment>, LoadError> {
    let mut connection = store::open_read_only(path)?;
    // One state of the file for all queries.
    connection.execute_batch("BEGIN").map_err(StoreError::from)?;
    let table = load(&mut connection)?;
    let verified = |(_, experiment): (i64, &crate::experiment::LiveExperiment)| VerifiedExperiment {
        name: experiment.name.clone(),
        records: experiment.seq(),
    };
    Ok(table.iter().map(verified).collect())
}

/// Copies a file while a service may write to it.
pub fn backup(from: &Path, to: &Path) -> Result<(), StoreError> {
    store::copy(from, to)
}

/// Makes a token in a file that no service uses at this moment. It is shown once.
pub fn add_token(path: &Path, role: Role, name: &str) -> Result<TokenView, ServeError> {
    let mut store = SqliteStore::open(path, Durability::Full)?;
    let tokens = TokenTable::new(store.log().tokens()?);
    let made = new_token(tokens.next_id(), role, name, machine_time());
    let (secret, token) = made.map_err(|error| ServeError::System(io::Error::other(error.to_string())))?;
    store.commit(&[StoreChange::AddToken(token.clone())])?;
    Ok(view(&token, Some(secret)))
}

/// The tokens of a file.
pub fn list_tokens(path: &Path) -> Result<Vec<TokenView>, StoreError> {
    let mut connection = store::open_read_only(path)?;
    Ok(TokenTable::new(connection.tokens()?).views())
}

/// Revokes a token in a file that no service uses at this moment; false if it does not exist.
pub fn revoke_token(path: &Path, id: i64) -> Result<bool, StoreError> {
    let mut store = SqliteStore::open(path, Durability::Full)?;
    let tokens = TokenTable::new(store.log().tokens()?);
    let known = tokens.revoke(id, machine_time());
    store.commit(&[StoreChange::RevokeToken { id, at: machine_time() }])?;
    Ok(known)
}

/// How long a sync of the disk takes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct DiskProbe {
    /// The median.
    pub median: Duration,
    /// The time that 99 of 100 syncs do not exceed.
    pub p99: Duration,
}

/// Measures syncs of small writes in the folder of a file.
pub fn probe(path: &Path) -> io::Result<DiskProbe> {
    let mut name = path.file_name().unwrap_or_default().to_owned();
    name.push(".probe");
    let place = PathBuf::from(path).with_file_name(name);
    let measured = measure(&place);
    std::fs::remove_file(&place)?;
    let mut times = measured?;
    times.sort();
    Ok(DiskProbe { median: times[times.len() / 2], p99: times[times.len() * 99 / 100] })
}

fn measure(place: &Path) -> io::Result<Vec<Duration>> {
    let mut file = File::create(place)?;
    (0..200)
        .map(|_| {
            file.write_all(&[7; 4096])?;
            let start = Instant::now();
            file.sync_data()?;
            Ok(start.elapsed())
        })
        .collect()
}
