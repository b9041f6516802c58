//! Every operation of this crate that changes files: creating, writing, syncing, renaming, removing.
//!
//! All writers go through [`Files`], so that one test can let each operation of each writer fail (see [`Faults`]).
//! Files are written to a temporary file with a new name in the same folder, synced, and renamed. So a file is complete
//! or absent, and a symbolic link is replaced and never written through.

mod faults;
mod listing;

pub use faults::{FaultKind, Faults};
pub use listing::contents;

use std::fs::{self, File, OpenOptions};
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use tempfile::TempPath;

use super::hex;
use crate::error::{Error, ErrorKind};

/// How the names of temporary files begin and end. What a killed process has left is recognised by them.
const TEMPORARY: (&str, &str) = (".calibandit-", ".tmp");

/// The bytes that are collected before they are written.
const BUFFER: usize = 1 << 16;

/// The operations on files; those of a test may fail on purpose.
#[derive(Clone, Debug, Default)]
pub struct Files {
    faults: Option<Arc<Faults>>,
}

/// The size and the SHA-256 digest of a file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct FileDigest {
    /// The number of bytes.
    pub bytes: u64,
    /// The digest in hexadecimal digits.
    pub sha256: String,
}

impl Files {
    /// Operations of which some fail.
    pub fn with_faults(faults: Arc<Faults>) -> Self {
        Self { faults: Some(faults) }
    }

    /// Creates a folder and those that it is in; each is synced.
    pub(super) fn create_folder(&self, folder: &Path) -> Result<(), Error> {
        if folder.is_dir() {
            return Ok(());
        }
        check_no_file(folder)?;
        let parent = parent(folder);
        if parent != folder {
            self.create_folder(parent)?;
        }
        match self.proceed().and_then(|()| fs::create_dir(folder)) {
            Ok(()) => self.sync_folder(parent),
            Err(_) if folder.is_dir() => Ok(()),
            Err(error) => Err(Error::io(folder, error)),
        }
    }

    /// Creates a folder in the output folder. A symbolic link in its place is refused.
    pub(super) fn create_subfolder(&self, folder: &Path) -> Result<(), Error> {
        if folder.is_symlink() {
            let why = "it is a symbolic link, and files are not written through links; remove it".to_owned();
            return Err(ErrorKind::Unusable { path: folder.to_path_buf(), why }.into());
        }
        self.create_folder(folder)
    }

    /// Writes a file that is either complete or absent, and synced. The folder is not synced.
    pub(super) fn replace(
        &self,
        path: &Path,
        content: impl FnOnce(&mut BufWriter<FileWriter<'_>>) -> Result<(), Error>,
    ) -> Result<FileDigest, Error> {
        let (digest, _) = self.replace_and_keep(path, content)?;
        Ok(digest)
    }

    /// The same; also returns the open file, at its end.
    fn replace_and_keep(
        &self,
        path: &Path,
        content: impl FnOnce(&mut BufWriter<FileWriter<'_>>) -> Result<(), Error>,
    ) -> Result<(FileDigest, File), Error> {
        let failed = |source| Error::io(path, source);
        let (file, mut temporary) = self.temporary(parent(path)).map_err(failed)?;
        let writer =
            FileWriter { files: self, path: temporary.path().to_path_buf(), file, bytes: 0, hasher: Sha256::new() };
        let mut writer = BufWriter::with_capacity(BUFFER, writer);
        content(&mut writer)?;
        let FileWriter { file, bytes, hasher, .. } = writer.into_inner().map_err(|error| failed(error.into_error()))?;
        self.sync(&file, temporary.path()).map_err(failed)?;
        self.rename(&mut temporary, path).map_err(failed)?;
        Ok((FileDigest { bytes, sha256: hex(&hasher.finalize()) }, file))
    }

    /// Writes a file and returns it for appending.
    pub(super) fn replace_and_append(
        &self,
        path: &Path,
        content: impl FnOnce(&mut BufWriter<FileWriter<'_>>) -> Result<(), Error>,
    ) -> Result<Appender, Error> {
        let (_, file) = self.replace_and_keep(path, content)?;
        Ok(Appender { files: self.clone(), path: path.to_path_buf(), file })
    }

    /// Opens an existing file for appending.
    pub(super) fn append(&self, path: &Path) -> Result<Appender, Error> {
        let opened = self.proceed().and_then(|()| OpenOptions::new().append(true).open(path));
        let file = opened.map_err(|source| Error::io(path, source))?;
        Ok(Appender { files: self.clone(), path: path.to_path_buf(), file })
    }

    /// Removes a file, if it is there.
    pub(super) fn remove(&self, path: &Path) -> Result<(), Error> {
        if let Some(faults) = &self.faults {
            faults.before_change(path);
        }
        match self.proceed().and_then(|()| fs::remove_file(path)) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => Err(Error::io(path, error)),
            _ => Ok(()),
        }
    }

    /// Makes sure that what was created, renamed and removed in a folder survives a power failure.
    pub(super) fn sync_folder(&self, folder: &Path) -> Result<(), Error> {
        self.proceed().map_err(|source| Error::io(folder, source))?;
        if let Some(faults) = &self.faults {
            faults.synced_folder(folder);
            return Ok(());
        }
        #[cfg(unix)]
        match File::open(folder).and_then(|folder| folder.sync_all()) {
            // Some network file systems cannot sync folders.
            Err(error) if matches!(error.kind(), io::ErrorKind::InvalidInput | io::ErrorKind::Unsupported) => {}
            synced => synced.map_err(|source| Error::io(folder, source))?,
        }
        Ok(())
    }

    /// Creates a file that does not exist; a symbolic link counts as existing.
    pub(super) fn create_new(&self, path: &Path) -> io::Result<File> {
        self.proceed()?;
        OpenOptions::new().read(true).write(true).create_new(true).open(path)
    }

    /// Overwrites an open file with these bytes.
    pub(super) fn overwrite(&self, file: &mut File, bytes: &[u8]) -> io::Result<()> {
        self.proceed()?;
        file.set_len(0)?;
        file.write_all(bytes)
    }

    /// Removes the temporary files that a killed process has left in a folder.
    pub(super) fn remove_temporary(&self, folder: &Path) -> Result<(), Error> {
        let (begin, end) = TEMPORARY;
        for file in fs::read_dir(folder).into_iter().flatten().flatten() {
            let name = file.file_name();
            let name = name.to_string_lossy();
            if name.starts_with(begin) && name.ends_with(end) {
                self.remove(&file.path())?;
            }
        }
        Ok(())
    }

    fn temporary(&self, folder: &Path) -> io::Result<(File, Temporary<'_>)> {
        self.proceed()?;
        let mut builder = tempfile::Builder::new();
        builder.prefix(TEMPORARY.0).suffix(TEMPORARY.1).append(true);
        // Temporary files are private to their owner by default; these are as the umask of the user has them.
        #[cfg(unix)]
        {
            use std::os::unix::fs::PermissionsExt;
            builder.permissions(fs::Permissions::from_mode(0o666));
        }
        let (file, path) = builder.tempfile_in(folder)?.into_parts();
        Ok((file, Temporary { files: self, path: Some(path) }))
    }

    fn sync(&self, file: &File, path: &Path) -> io::Result<()> {
        self.proceed()?;
        // Power failures of tests are simulated, and there are many of them.
        if let Some(faults) = &self.faults {
            faults.synced(path);
            return Ok(());
        }
        file.sync_all()
    }

    fn rename(&self, temporary: &mut Temporary<'_>, to: &Path) -> io::Result<()> {
        if let Some(faults) = &self.faults {
            faults.before_change(to);
        }
        self.proceed()?;
        let from = temporary.path().to_path_buf();
        if let Some(path) = temporary.path.take() {
            path.persist(to).map_err(|error| {
                temporary.path = Some(error.path);
                error.error
            })?;
        }
        if let Some(faults) = &self.faults {
            faults.renamed(&from, to);
        }
        Ok(())
    }

    fn write(&self, file: &mut File, path: &Path, bytes: &[u8]) -> io::Result<usize> {
        match &self.faults {
            Some(faults) => faults.write(file, path, bytes),
            None => file.write(bytes),
        }
    }

    /// Whether the next operation may be done.
    fn proceed(&self) -> io::Result<()> {
        self.faults.as_ref().map_or(Ok(()), |faults| faults.proceed())
    }

    fn has_crashed(&self) -> bool {
        self.faults.as_ref().is_some_and(|faults| faults.has_crashed())
    }
}

/// Writes a file of its own, outside an output folder: it is complete and on disk afterwards, or as it was before. A
/// symbolic link is replaced, not followed.
///
/// # Errors
/// [`ErrorKind::Io`] if it cannot be written.
pub fn replace_file(path: &Path, content: &[u8]) -> Result<(), Error> {
    let files = Files::default();
    files.replace(path, |writer| writer.write_all(content).map_err(|source| Error::io(path, source)))?;
    files.sync_folder(parent(path))
}

/// Refuses an output folder whose name is that of a file.
pub(super) fn check_no_file(folder: &Path) -> Result<(), Error> {
    if folder.is_file() {
        let why = "it is a file, but a folder is needed; give another name".to_owned();
        return Err(ErrorKind::Unusable { path: folder.to_path_buf(), why }.into());
    }
    Ok(())
}

/// The folder that a path is in.
pub(super) fn parent(path: &Path) -> &Path {
    path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."))
}

/// A temporary file that is removed, unless it was renamed.
struct Temporary<'a> {
    files: &'a Files,
    /// `None` once it was renamed.
    path: Option<TempPath>,
}

impl Temporary<'_> {
    fn path(&self) -> &Path {
        self.path.as_ref().expect("it was not renamed yet")
    }
}

impl Drop for Temporary<'_> {
    fn drop(&mut self) {
        // A process that has crashed removes nothing.
        if let Some(path) = self.path.as_mut().filter(|_| self.files.has_crashed()) {
            path.disable_cleanup(true);
        }
    }
}

/// Writes a file and computes its digest.
pub(crate) struct FileWriter<'a> {
    files: &'a Files,
    path: PathBuf,
    file: File,
    bytes: u64,
    hasher: Sha256,
}

impl Write for FileWriter<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let written = self.files.write(&mut self.file, &self.path, bytes)?;
        self.bytes += written as u64;
        self.hasher.update(&bytes[..written]);
        Ok(written)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// A file that is appended to.
#[derive(Debug)]
pub(super) struct Appender {
    files: Files,
    path: PathBuf,
    file: File,
}

impl Appender {
    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    /// Appends all bytes; after an error some of them may have been written.
    pub(super) fn add(&mut self, bytes: &[u8]) -> Result<(), Error> {
        let mut rest = bytes;
        while !rest.is_empty() {
            match self.files.write(&mut self.file, &self.path, rest) {
                Ok(0) => return Err(Error::io(&self.path, io::ErrorKind::WriteZero.into())),
                Ok(written) => rest = &rest[written..],
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(Error::io(&self.path, error)),
            }
        }
        Ok(())
    }

    /// Removes the file, if it is still there.
    pub(super) fn remove(self) -> Result<(), Error> {
        self.files.remove(&self.path)
    }
}
