//! One process per file: a lock of the operating system on a file beside it. It ends with the process, so no lock is
//! ever stale. The database itself is not locked this way: SQLite has locks of its own on it.

use std::ffi::OsString;
use std::fs::{self, File, OpenOptions, TryLockError};
use std::io::Write;
use std::path::{Path, PathBuf};

use super::StoreError;

/// The right to write to a file; given back when it is dropped.
#[derive(Debug)]
pub(super) struct FileClaim {
    _locked: File,
}

fn beside(path: &Path) -> PathBuf {
    let mut name = path.file_name().map_or_else(OsString::new, OsString::from);
    name.push(".lock");
    path.with_file_name(name)
}

impl FileClaim {
    pub(super) fn new(path: &Path) -> Result<Self, StoreError> {
        let lock = beside(path);
        let failed = |error| StoreError::Lock { path: lock.clone(), error };
        let mut file =
            OpenOptions::new().read(true).write(true).create(true).truncate(false).open(&lock).map_err(failed)?;
        match file.try_lock() {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => {
                let text = fs::read_to_string(&lock).unwrap_or_default();
                let owner = text.trim().parse::<u32>().map_or(String::new(), |pid| format!(" (process {pid})"));
                return Err(StoreError::InUse { path: path.to_owned(), owner });
            }
            Err(TryLockError::Error(error)) => return Err(failed(error)),
        }
        // The number is only for the message to others.
        let signed = file.set_len(0).and_then(|()| writeln!(file, "{}", std::process::id()));
        signed.map_err(failed)?;
        Ok(Self { _locked: file })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_second_claim_is_refused_until_the_first_ends() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("x.db");
        let first = FileClaim::new(&path).unwrap();
        let text = FileClaim::new(&path).unwrap_err().to_string();
        assert!(text.contains("in use by another process (process ") && text.contains("x.db"), "{text}");
        drop(first);
        FileClaim::new(&path).unwrap();
    }
}
