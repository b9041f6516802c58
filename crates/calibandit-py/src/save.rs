//! Snapshots of advisors as files that are whole at any time, and never older than the last save that returned.

use std::fs::File;
use std::io::{self, Write};
use std::path::Path;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};

/// Lets the saves of one advisor write in the order in which they took their snapshots.
#[derive(Default)]
pub(crate) struct SaveQueue {
    turns: Mutex<Turns>,
    changed: Condvar,
}

#[derive(Default)]
struct Turns {
    /// The number of saves that have begun.
    begun: u64,
    /// The number of saves that have ended.
    ended: u64,
}

impl SaveQueue {
    fn turns(&self) -> MutexGuard<'_, Turns> {
        self.turns.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The turn of the save that begins now. Every turn has to be used.
    pub(crate) fn turn(&self) -> u64 {
        let mut turns = self.turns();
        turns.begun += 1;
        turns.begun - 1
    }

    /// Writes `text` to the file when all earlier saves have ended.
    pub(crate) fn write(&self, turn: u64, path: &Path, text: &str) -> io::Result<()> {
        let waiting = self.changed.wait_while(self.turns(), |turns| turns.ended != turn);
        drop(waiting.unwrap_or_else(PoisonError::into_inner));
        let _end = TurnEnd(self);
        replace(path, text.as_bytes())
    }
}

/// Lets the next save write, also after a panic.
struct TurnEnd<'a>(&'a SaveQueue);

impl Drop for TurnEnd<'_> {
    fn drop(&mut self) {
        self.0.turns().ended += 1;
        self.0.changed.notify_all();
    }
}

/// The error without the name of the temporary file, which says nothing to users.
fn without_temporary_name(error: io::Error) -> io::Error {
    error.kind().into()
}

/// Replaces a file by a new one that is complete and on disk: a crash or a power failure leaves the old file or the new
/// one. A symbolic link is replaced, not followed.
fn replace(path: &Path, content: &[u8]) -> io::Result<()> {
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let mut builder = tempfile::Builder::new();
    builder.prefix(".calibandit-").suffix(".new");
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        // As of any new file: the mask of the process applies.
        builder.permissions(std::fs::Permissions::from_mode(0o666));
    }
    let mut file = builder.tempfile_in(folder).map_err(without_temporary_name)?;
    file.write_all(content)?;
    file.as_file().sync_all()?;
    file.persist(path).map_err(|error| error.error)?;
    // Elsewhere, folders cannot be opened as files.
    if cfg!(unix) {
        File::open(folder)?.sync_all()?;
    }
    Ok(())
}
