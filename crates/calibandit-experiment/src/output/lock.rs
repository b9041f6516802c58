//! One writer per output folder.
//!
//! The lock is one of the operating system on the file `.lock`. It ends with the process, however that ends, so a lock
//! that a killed process has left is no obstacle. The file says who holds it, for the message to others; it is removed
//! when the lock is released. Over NFS the locks of Linux hold between machines. On a file system without locks the
//! folder is written all the same, with a [`OutputNote::NoLocks`].

use std::fs::{self, File, OpenOptions, TryLockError};
use std::io;
use std::path::{Path, PathBuf};
use std::time::{SystemTime, UNIX_EPOCH};

use serde::{Deserialize, Serialize};

use super::{FIGURES, OutputDir, OutputNote, PROGRAM};
use crate::error::{Error, ErrorKind};
use crate::format::duration;

const LOCK: &str = ".lock";

/// How often a lock is tried whose file was removed by its last owner at the same moment.
const TRIES: usize = 100;

/// The right to write to an output folder. Everything that changes the folder is a method of it.
#[derive(Debug)]
pub struct OutputLock {
    pub(super) output: OutputDir,
    path: PathBuf,
    /// Open and locked until this is dropped; `None` if the file system has no locks.
    file: Option<File>,
}

/// Who holds a lock, as its file says.
#[derive(Serialize, Deserialize)]
struct LockOwner {
    pid: u32,
    host: String,
    program: String,
    command: String,
    /// In seconds since 1970.
    since: u64,
}

impl OutputDir {
    /// Locks the folder for writing, and creates it if necessary. `command` is what the message to others says.
    ///
    /// What a killed process has left half-written is removed.
    ///
    /// # Errors
    /// [`ErrorKind::InUse`] if another process, or another part of this one, writes to the folder; [`ErrorKind::Io`] if
    /// the folder or the lock cannot be created; [`ErrorKind::Unusable`] if `.lock` is not a file.
    pub fn lock(&self, command: &str, note: &dyn Fn(OutputNote)) -> Result<OutputLock, Error> {
        self.files.create_folder(&self.path)?;
        let path = self.path.join(LOCK);
        let file = self.locked_file(&path)?;
        if file.is_none() {
            note(OutputNote::NoLocks { path: self.path.clone() });
        }
        let mut lock = OutputLock { output: self.clone(), path, file };
        lock.sign(command)?;
        self.files.remove_temporary(&self.path)?;
        self.files.remove_temporary(&self.path.join(FIGURES))?;
        Ok(lock)
    }

    /// The locked file; `None` if the file system has no locks.
    fn locked_file(&self, path: &Path) -> Result<Option<File>, Error> {
        for _ in 0..TRIES {
            let file = self.open_lock(path)?;
            match file.try_lock() {
                Ok(()) if is_at(&file, path) => return Ok(Some(file)),
                // The last owner has removed the file after this process had opened it.
                Ok(()) => {}
                Err(TryLockError::WouldBlock) => break,
                Err(TryLockError::Error(error)) if is_unsupported(&error) => return Ok(None),
                Err(TryLockError::Error(error)) => return Err(Error::io(path, error)),
            }
        }
        Err(ErrorKind::InUse { path: self.path.clone(), owner: owner(path) }.into())
    }

    fn open_lock(&self, path: &Path) -> Result<File, Error> {
        for _ in 0..TRIES {
            match self.files.create_new(path) {
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
                created => return created.map_err(|source| Error::io(path, source)),
            }
            match fs::symlink_metadata(path) {
                Ok(found) if !found.is_file() => {
                    let why = "it is not a file of this program; remove it".to_owned();
                    return Err(ErrorKind::Unusable { path: path.to_path_buf(), why }.into());
                }
                Ok(_) => match OpenOptions::new().read(true).write(true).open(path) {
                    Err(error) if error.kind() == io::ErrorKind::NotFound => {}
                    opened => return opened.map_err(|source| Error::io(path, source)),
                },
                // Removed by its owner in between.
                Err(error) if error.kind() == io::ErrorKind::NotFound => {}
                Err(error) => return Err(Error::io(path, error)),
            }
        }
        Err(ErrorKind::InUse { path: self.path.clone(), owner: owner(path) }.into())
    }

    /// Who writes to the folder at this moment, if somebody does.
    pub(super) fn writer(&self) -> Option<String> {
        let path = self.path.join(LOCK);
        let file = File::open(&path).ok()?;
        matches!(file.try_lock_shared(), Err(TryLockError::WouldBlock)).then(|| owner(&path))
    }
}

impl OutputLock {
    /// The folder.
    pub fn output(&self) -> &OutputDir {
        &self.output
    }

    /// Writes who holds the lock.
    fn sign(&mut self, command: &str) -> Result<(), Error> {
        let owner = LockOwner {
            pid: std::process::id(),
            host: host(),
            program: PROGRAM.to_owned(),
            command: command.to_owned(),
            since: seconds_now(),
        };
        let text = serde_json::to_vec(&owner).expect("an owner is texts and numbers");
        let Some(file) = &mut self.file else { return Ok(()) };
        self.output.files.overwrite(file, &text).map_err(|source| Error::io(&self.path, source))
    }
}

impl Drop for OutputLock {
    fn drop(&mut self) {
        // Removed while it is still locked. What cannot be removed is no obstacle: the lock ends with the file handle.
        if cfg!(unix) && self.file.is_some() {
            let _ = self.output.files.remove(&self.path);
        }
    }
}

/// Whether this open file is the one at the path.
#[cfg(unix)]
fn is_at(file: &File, path: &Path) -> bool {
    use std::os::unix::fs::MetadataExt;
    match (file.metadata(), fs::symlink_metadata(path)) {
        (Ok(open), Ok(there)) => (open.dev(), open.ino()) == (there.dev(), there.ino()),
        _ => false,
    }
}

/// Elsewhere, lock files are not removed, so an open one is always the one at its path.
#[cfg(not(unix))]
fn is_at(_: &File, _: &Path) -> bool {
    true
}

/// Whether the file system has no locks, by the errors that Linux gives (ENOSYS, ENOLCK, EOPNOTSUPP).
fn is_unsupported(error: &io::Error) -> bool {
    error.kind() == io::ErrorKind::Unsupported || matches!(error.raw_os_error(), Some(37 | 38 | 95))
}

/// "process 12 on host (calibandit 0.1.0, run, since 3.0 s)", as far as it is known.
fn owner(lock: &Path) -> String {
    let owner = fs::read(lock).ok().and_then(|text| serde_json::from_slice::<LockOwner>(&text).ok());
    owner.map_or("another process".to_owned(), |LockOwner { pid, host, program, command, since }| {
        let age = duration(seconds_now().saturating_sub(since) as f64);
        format!("process {pid} on {host} ({program}, `{command}`, for {age})")
    })
}

fn host() -> String {
    let named = fs::read_to_string("/proc/sys/kernel/hostname").ok();
    let named = named.or_else(|| std::env::var("HOSTNAME").or_else(|_| std::env::var("COMPUTERNAME")).ok());
    named.map(|name| name.trim().to_owned()).filter(|name| !name.is_empty()).unwrap_or("this machine".to_owned())
}

fn seconds_now() -> u64 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |time| time.as_secs())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lock(output: &OutputDir) -> Result<OutputLock, Error> {
        output.lock("run", &|note| panic!("{note}"))
    }

    #[test]
    fn a_second_writer_is_refused_and_told_about_the_first() {
        let folder = tempfile::tempdir().unwrap();
        let output = OutputDir::new(folder.path().join("a/b"));
        let first = lock(&output).unwrap();
        let refused = lock(&output).unwrap_err().to_string();
        assert!(refused.contains(&format!("process {}", std::process::id())) && refused.contains("`run`"), "{refused}");
        assert!(output.writer().unwrap().contains("`run`"));
        drop(first);
        assert_eq!(output.writer(), None);
        assert_eq!(fs::read_dir(output.path()).unwrap().count(), 0, "the lock file is removed");
        lock(&output).unwrap();
    }

    #[test]
    fn a_lock_file_and_temporary_files_of_a_killed_process_are_no_obstacle() {
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join(LOCK), "{\"pid\":1").unwrap();
        fs::write(folder.path().join(".calibandit-x1.tmp"), "half").unwrap();
        fs::write(folder.path().join("notes.tmp"), "").unwrap();
        drop(lock(&OutputDir::new(folder.path())).unwrap());
        let left: Vec<_> = fs::read_dir(folder.path()).unwrap().map(|file| file.unwrap().file_name()).collect();
        assert_eq!(left, ["notes.tmp"]);
    }

    #[test]
    fn of_many_threads_one_holds_the_lock_at_a_time() {
        let folder = tempfile::tempdir().unwrap();
        let output = OutputDir::new(folder.path());
        let holders = std::sync::atomic::AtomicUsize::new(0);
        std::thread::scope(|scope| {
            for _ in 0..8 {
                scope.spawn(|| {
                    for _ in 0..200 {
                        let Ok(_lock) = lock(&output) else { continue };
                        assert_eq!(holders.fetch_add(1, std::sync::atomic::Ordering::SeqCst), 0);
                        std::thread::yield_now();
                        holders.fetch_sub(1, std::sync::atomic::Ordering::SeqCst);
                    }
                });
            }
        });
    }

    #[cfg(unix)]
    #[test]
    fn a_symbolic_link_in_the_place_of_the_lock_is_refused() {
        let folder = tempfile::tempdir().unwrap();
        let precious = folder.path().join("precious");
        fs::write(&precious, "text").unwrap();
        let out = folder.path().join("out");
        fs::create_dir(&out).unwrap();
        std::os::unix::fs::symlink(&precious, out.join(LOCK)).unwrap();
        let refused = lock(&OutputDir::new(&out)).unwrap_err();
        assert!(matches!(refused.kind(), ErrorKind::Unusable { .. }), "{refused}");
        assert_eq!(fs::read_to_string(precious).unwrap(), "text");
    }
}
