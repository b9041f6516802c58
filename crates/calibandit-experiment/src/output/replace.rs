//! Replaces the results of an output folder, so that a stop at any point leaves the old results, the new ones, or a
//! folder that says that it is incomplete.
//!
//! The order: a note of what will be written (`.incomplete.json`); the old manifest, report and figures are removed;
//! the new tables, figures and report are written; the manifest; the note is removed. Each step is synced before the
//! next. A manifest is therefore only ever beside the tables that it describes.

use std::io::{BufWriter, Write};
use std::path::Path;
use std::{fs, io};

use serde_json::{Map, Value};

use super::files::FileWriter;
use super::seal::seal;
use super::{FIGURES, OutputLock, REPORT};
use crate::error::Error;

/// The manifest: a folder that has one is complete.
pub(super) const MANIFEST: &str = "manifest.json";

/// What is being written to the folder: the manifest without digests.
pub(super) const INCOMPLETE: &str = ".incomplete.json";

/// Results that are being written. Dropped before [`finish`](Self::finish), they leave the folder incomplete.
#[derive(Debug)]
#[must_use = "without `finish` the folder stays incomplete"]
pub struct Replacement<'a> {
    lock: &'a OutputLock,
    manifest: Map<String, Value>,
    tables: Map<String, Value>,
}

impl OutputLock {
    /// Begins to replace the results of the folder. The manifest is that of the new results, without their digests.
    ///
    /// # Errors
    /// [`ErrorKind::Io`](crate::ErrorKind::Io) if a file cannot be written or removed.
    pub fn replace(&self, manifest: Map<String, Value>) -> Result<Replacement<'_>, Error> {
        let folder = self.output.path();
        self.write(INCOMPLETE, seal(&manifest.clone().into()).as_bytes())?;
        self.output.files.sync_folder(folder)?;
        self.output.files.remove(&folder.join(MANIFEST))?;
        self.output.files.sync_folder(folder)?;
        self.remove_figures(|_| false)?;
        self.output.files.remove(&folder.join(REPORT))?;
        self.output.files.sync_folder(folder)?;
        Ok(Replacement { lock: self, manifest, tables: Map::new() })
    }

    /// Writes a file of the folder that is not a table; `name` is relative to it and may be in a subfolder.
    ///
    /// # Errors
    /// [`ErrorKind::Io`](crate::ErrorKind::Io) if the file cannot be written.
    pub fn write(&self, name: impl AsRef<Path>, bytes: &[u8]) -> Result<(), Error> {
        let path = self.output.path().join(name);
        self.create_subfolder_of(&path)?;
        self.output.files.replace(&path, |file| file.write_all(bytes).map_err(|source| Error::io(&path, source)))?;
        Ok(())
    }

    /// Removes a file of the folder, if it is there.
    ///
    /// # Errors
    /// [`ErrorKind::Io`](crate::ErrorKind::Io) if the file cannot be removed.
    pub fn remove(&self, name: impl AsRef<Path>) -> Result<(), Error> {
        self.output.files.remove(&self.output.path().join(name))
    }

    /// Makes sure that the files that were written survive a power failure.
    ///
    /// # Errors
    /// [`ErrorKind::Io`](crate::ErrorKind::Io) if a folder cannot be synced.
    pub fn sync(&self) -> Result<(), Error> {
        let figures = self.output.path().join(FIGURES);
        if figures.is_dir() {
            self.output.files.sync_folder(&figures)?;
        }
        self.output.files.sync_folder(self.output.path())
    }

    /// Removes the figures whose file names (without extension) `is_kept` does not accept.
    ///
    /// # Errors
    /// [`ErrorKind::Io`](crate::ErrorKind::Io) if a file cannot be removed.
    pub fn remove_figures(&self, is_kept: impl Fn(&str) -> bool) -> Result<(), Error> {
        let folder = self.output.path().join(FIGURES);
        if folder.is_symlink() {
            return Ok(());
        }
        let files = match fs::read_dir(&folder) {
            Ok(files) => files,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
            Err(error) => return Err(Error::io(&folder, error)),
        };
        for file in files {
            let path = file.map_err(|error| Error::io(&folder, error))?.path();
            let name = path.file_stem().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
            if is_figure(&path) && !is_kept(&name) {
                self.output.files.remove(&path)?;
            }
        }
        Ok(())
    }

    fn create_subfolder_of(&self, path: &Path) -> Result<(), Error> {
        match path.parent() {
            Some(folder) if folder != self.output.path() => self.output.files.create_subfolder(folder),
            _ => Ok(()),
        }
    }
}

/// Whether a file of the folder `figures` is one that a report has.
pub(super) fn is_figure(path: &Path) -> bool {
    path.extension().is_some_and(|extension| extension == "svg" || extension == "png")
}

impl Replacement<'_> {
    /// Writes a table, whose digest the manifest will have.
    ///
    /// # Errors
    /// Those of `content`; [`ErrorKind::Io`](crate::ErrorKind::Io) if the file cannot be written.
    pub(crate) fn table_with(
        &mut self,
        name: &str,
        content: impl FnOnce(&Path, &mut BufWriter<FileWriter<'_>>) -> Result<(), Error>,
    ) -> Result<(), Error> {
        let path = self.lock.output.path().join(name);
        let digest = self.lock.output.files.replace(&path, |file| content(&path, file))?;
        self.tables.insert(name.to_owned(), serde_json::to_value(digest).expect("a digest is a number and a text"));
        Ok(())
    }

    /// Writes a table, whose digest the manifest will have.
    ///
    /// # Errors
    /// [`ErrorKind::Io`](crate::ErrorKind::Io) if the file cannot be written.
    pub fn table(&mut self, name: &str, bytes: &[u8]) -> Result<(), Error> {
        self.table_with(name, |path, file| file.write_all(bytes).map_err(|source| Error::io(path, source)))
    }

    /// Writes the manifest, once everything else is on disk. Then the results are complete.
    ///
    /// # Errors
    /// [`ErrorKind::Io`](crate::ErrorKind::Io) if a file cannot be written.
    pub fn finish(mut self) -> Result<(), Error> {
        self.lock.sync()?;
        self.manifest.insert("tables".to_owned(), self.tables.into());
        self.lock.write(MANIFEST, seal(&self.manifest.into()).as_bytes())?;
        self.lock.sync()?;
        self.lock.output.files.remove(&self.lock.output.path().join(INCOMPLETE))
    }
}
