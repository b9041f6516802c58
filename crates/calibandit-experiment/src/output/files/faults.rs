//! Faults for tests: the n-th operation on files fails, or the process crashes there.
//!
//! A power failure is the worst that POSIX allows: bytes that were not synced are lost, and so are renames and removals
//! in folders that were not synced.

use std::collections::BTreeMap;
use std::fs::{self, File, OpenOptions};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::sync::PoisonError;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use super::parent;

/// What happens at the chosen operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FaultKind {
    /// A write writes only half of its bytes, without an error. Other operations are done.
    ShortWrite,
    /// The operation fails because the disk is full; a write has written half of its bytes.
    DiskFull,
    /// The operation fails with an error of the device.
    DeviceError,
    /// The process ends before the operation; a write has written half of its bytes.
    Crash,
    /// The machine loses power: as a crash, and what was not synced is lost.
    PowerFailure,
}

impl FaultKind {
    /// All kinds.
    pub const ALL: [FaultKind; 5] =
        [FaultKind::ShortWrite, FaultKind::DiskFull, FaultKind::DeviceError, FaultKind::Crash, FaultKind::PowerFailure];

    fn is_crash(self) -> bool {
        matches!(self, FaultKind::Crash | FaultKind::PowerFailure)
    }

    fn error(self) -> io::Error {
        match self {
            FaultKind::DiskFull => io::ErrorKind::StorageFull.into(),
            FaultKind::ShortWrite | FaultKind::DeviceError => io::Error::other("injected error of the device"),
            FaultKind::Crash | FaultKind::PowerFailure => io::Error::other("injected crash"),
        }
    }
}

/// Counts operations, and lets one of them fail. After a crash, every further operation fails and changes nothing.
#[derive(Debug)]
pub struct Faults {
    kind: FaultKind,
    /// The number of the operation that fails, from 0.
    at: usize,
    operations: AtomicUsize,
    crashed: AtomicBool,
    unsynced: Mutex<Unsynced>,
}

/// What a power failure would undo.
#[derive(Debug, Default)]
struct Unsynced {
    /// The length of each file when it was last synced.
    lengths: BTreeMap<PathBuf, u64>,
    /// Files that were replaced or removed, in order, with their earlier contents.
    replaced: Vec<(PathBuf, Option<Vec<u8>>)>,
}

impl Faults {
    /// The operation with this number, from 0, has a fault of this kind.
    pub fn new(kind: FaultKind, at: usize) -> Self {
        Self { kind, at, operations: AtomicUsize::new(0), crashed: AtomicBool::new(false), unsynced: Mutex::default() }
    }

    /// No fault: operations are only counted.
    pub fn none() -> Self {
        Self::new(FaultKind::DeviceError, usize::MAX)
    }

    /// The number of operations so far.
    pub fn operations(&self) -> usize {
        self.operations.load(Ordering::Relaxed)
    }

    /// Whether the process counts as ended.
    pub(super) fn has_crashed(&self) -> bool {
        self.crashed.load(Ordering::Relaxed)
    }

    /// Counts an operation that is not a write.
    pub(super) fn proceed(&self) -> io::Result<()> {
        match self.fault()? {
            Some(kind) if kind != FaultKind::ShortWrite => {
                self.end(kind);
                Err(kind.error())
            }
            _ => Ok(()),
        }
    }

    /// Counts a write and does it, in full or in part.
    pub(super) fn write(&self, file: &mut File, path: &Path, bytes: &[u8]) -> io::Result<usize> {
        let fault = self.fault()?;
        if self.kind == FaultKind::PowerFailure {
            let length = file.metadata()?.len();
            self.unsynced().lengths.entry(path.to_path_buf()).or_insert(length);
        }
        let Some(kind) = fault else { return file.write(bytes) };
        let half = &bytes[..bytes.len().div_ceil(2)];
        match kind {
            FaultKind::ShortWrite => file.write(half),
            FaultKind::DeviceError => Err(kind.error()),
            FaultKind::DiskFull | FaultKind::Crash | FaultKind::PowerFailure => {
                file.write_all(half)?;
                self.end(kind);
                Err(kind.error())
            }
        }
    }

    /// Remembers a file that is about to be replaced or removed.
    pub(super) fn before_change(&self, path: &Path) {
        if self.kind == FaultKind::PowerFailure && !self.has_crashed() {
            self.unsynced().replaced.push((path.to_path_buf(), fs::read(path).ok()));
        }
    }

    pub(super) fn renamed(&self, from: &Path, to: &Path) {
        let mut unsynced = self.unsynced();
        if let Some(length) = unsynced.lengths.remove(from) {
            unsynced.lengths.insert(to.to_path_buf(), length);
        }
    }

    pub(super) fn synced(&self, path: &Path) {
        self.unsynced().lengths.remove(path);
    }

    pub(super) fn synced_folder(&self, folder: &Path) {
        self.unsynced().replaced.retain(|(path, _)| parent(path) != folder);
    }

    /// The fault of the next operation, if it has one; an error after a crash.
    fn fault(&self) -> io::Result<Option<FaultKind>> {
        if self.has_crashed() {
            return Err(self.kind.error());
        }
        let number = self.operations.fetch_add(1, Ordering::Relaxed);
        Ok((number == self.at).then_some(self.kind))
    }

    fn end(&self, kind: FaultKind) {
        if !kind.is_crash() {
            return;
        }
        self.crashed.store(true, Ordering::Relaxed);
        let mut unsynced = self.unsynced();
        for (path, &length) in &unsynced.lengths {
            // Only files that are there can lose bytes.
            if let Ok(file) = OpenOptions::new().write(true).open(path) {
                let _ = file.set_len(length);
            }
        }
        for (path, earlier) in unsynced.replaced.drain(..).rev() {
            let _ = match earlier {
                Some(bytes) => fs::write(&path, bytes),
                None => fs::remove_file(&path),
            };
        }
    }

    fn unsynced(&self) -> std::sync::MutexGuard<'_, Unsynced> {
        self.unsynced.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
