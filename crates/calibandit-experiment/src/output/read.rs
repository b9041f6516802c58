//! Reads output folders. Nothing is believed unchecked: what is damaged, incomplete, foreign or contradicts the
//! manifest is refused, with the file and the reason.

use std::collections::{BTreeMap, HashSet};
use std::fs::{self, File};
use std::io::{self, BufReader, Read};
use std::path::Path;

use serde_json::Value;
use sha2::{Digest, Sha256};

use super::occupied::{is_diagnosis, is_tournament};
use super::replace::{INCOMPLETE, MANIFEST};
use super::seal::is_sealed;
use super::verify::{Unverified, number_of_curves, verified};
use super::{FileDigest, LAYOUT, Manifest, OutputDir, OutputLock, RESULTS, Stored, TABLES, hex};
use crate::Experiment;
use crate::error::{Error, ErrorKind};
use crate::results::{Results, read_csv_near};
use crate::run::Shard;

impl OutputDir {
    /// Reads the tables and the manifest.
    ///
    /// # Errors
    /// [`ErrorKind::NoResults`] if the folder does not exist or does not have the results of experiments;
    /// [`ErrorKind::Incomplete`] if the results were not written to the end; [`ErrorKind::Damaged`] if a file is not as
    /// it was written, or contradicts another; [`ErrorKind::Layout`] if another version of the program wrote the
    /// folder; [`ErrorKind::InUse`] if it is being written; [`ErrorKind::Io`] if a file cannot be read.
    pub fn read(&self) -> Result<Stored, Error> {
        self.read_checked().map_err(|error| match (error.kind(), self.writer()) {
            // What is replaced at this moment looks damaged or incomplete.
            (ErrorKind::Damaged { .. } | ErrorKind::Incomplete { .. } | ErrorKind::NoResults { .. }, Some(owner)) => {
                ErrorKind::InUse { path: self.path.clone(), owner }.into()
            }
            _ => error,
        })
    }

    fn read_checked(&self) -> Result<Stored, Error> {
        let manifest = self.read_manifest()?;
        let name = self.path.join(MANIFEST).display().to_string();
        let experiments = manifest.experiments.iter().map(|stored| Experiment::from_json(&name, &stored.spec));
        let experiments = experiments.collect::<Result<Vec<_>, _>>()?;
        let mut names = HashSet::new();
        if let Some(twice) = experiments.iter().map(Experiment::name).find(|&name| !names.insert(name)) {
            return Err(self.damaged(MANIFEST, format!("it has the experiment `{twice}` twice")));
        }
        for (stored, experiment) in manifest.experiments.iter().zip(&experiments) {
            let curves = manifest.shard.count(number_of_curves(experiment));
            let checkpoints = experiment.grid().times().len() as u64;
            if (stored.curves, stored.checkpoints) != (curves, checkpoints) {
                let why = format!("its numbers of curves and checkpoints of `{}` are not right", experiment.name());
                return Err(self.damaged(MANIFEST, why));
            }
        }
        if !manifest.tables.keys().map(String::as_str).eq(TABLES) {
            return Err(self.damaged(MANIFEST, format!("it must list {}", TABLES.join(", "))));
        }
        for (table, digest) in manifest.tables.iter().filter(|(table, _)| *table != RESULTS) {
            self.check_digest(table, digest)?;
        }
        let read = self.read_results(&manifest.tables)?;
        let results = verified(&experiments, manifest.shard, &read).map_err(|error| self.unverified(error))?;
        Ok(Stored { manifest, experiments, results })
    }

    /// Reads the folders of all shards of one run and merges their results.
    ///
    /// # Errors
    /// As [`read`](Self::read); [`ErrorKind::Mismatch`] if the folders are not shards of the same run,
    /// [`ErrorKind::MissingShard`] if not all shards are there, [`ErrorKind::NothingToMerge`] if there are no folders.
    pub fn merge(shards: &[OutputDir]) -> Result<(Vec<Experiment>, Vec<Results>), Error> {
        let mut parts = shards.iter().map(OutputDir::read);
        let Some(first) = parts.next().transpose()? else {
            return Err(ErrorKind::NothingToMerge.into());
        };
        let of = first.manifest.shard.of();
        let mut folders: BTreeMap<usize, &Path> = BTreeMap::from([(first.manifest.shard.index(), shards[0].path())]);
        let mut all = first.results;
        for (part, OutputDir { path, .. }) in parts.zip(&shards[1..]) {
            let Stored { manifest, results, .. } = part?;
            let mismatch =
                |one: &Path, why| ErrorKind::Mismatch { one: one.to_path_buf(), other: path.clone(), why }.into();
            if let Some(why) = manifest.mismatch(&first.manifest) {
                return Err(mismatch(shards[0].path(), why));
            }
            if let Some(other) = folders.insert(manifest.shard.index(), path) {
                return Err(mismatch(other, "they are the same shard"));
            }
            all.extend(results);
        }
        if let Some(index) = (1..=of).find(|index| !folders.contains_key(index)) {
            let missing = Shard::new(index, of).expect("the index of a shard is between 1 and their number");
            return Err(ErrorKind::MissingShard { missing }.into());
        }
        let merged = verified(&first.experiments, Shard::WHOLE, &all).map_err(|error| shards[0].unverified(error))?;
        Ok((first.experiments, merged))
    }

    /// Reads one table of a tournament, and the manifest.
    ///
    /// # Errors
    /// As [`read`](Self::read); [`ErrorKind::NoResults`] if the folder does not have the results of a tournament.
    pub fn read_tournament_table(&self, name: &str) -> Result<(Value, Vec<u8>), Error> {
        let manifest = self.read_sealed()?;
        if !is_tournament(&manifest) {
            return Err(self.no_results("results, but not those of a tournament"));
        }
        let Ok(digest) = serde_json::from_value::<FileDigest>(manifest["tables"][name].clone()) else {
            return Err(self.no_results(&format!("the results of a tournament without `{name}`")));
        };
        let mut file = HashedFile::open(self, name)?;
        let mut table = Vec::new();
        file.read_to_end(&mut table).map_err(|source| Error::io(&self.path.join(name), source))?;
        file.check(self, name, &digest)?;
        Ok((manifest, table))
    }

    fn read_manifest(&self) -> Result<Manifest, Error> {
        let value = self.read_sealed()?;
        if is_tournament(&value) {
            return Err(self.no_results("the results of a tournament"));
        }
        if is_diagnosis(&value) {
            return Err(self.no_results("the diagnosis of a log"));
        }
        serde_json::from_value(value).map_err(|error| self.damaged(MANIFEST, error.to_string()))
    }

    /// The manifest, if it is as it was written.
    fn read_sealed(&self) -> Result<Value, Error> {
        let path = self.path.join(MANIFEST);
        let text = match fs::read(&path) {
            Ok(text) => text,
            Err(error) if matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory) => {
                return Err(self.without_manifest());
            }
            Err(error) => return Err(Error::io(&path, error)),
        };
        let value = serde_json::from_slice::<Value>(&text).unwrap_or_default();
        match value.get("manifest").and_then(Value::as_u64) {
            Some(layout) if layout != u64::from(LAYOUT) => {
                Err(ErrorKind::Layout { path: self.path.clone(), layout }.into())
            }
            _ if is_sealed(&text) => Ok(value),
            None if value.is_object() => Err(self.no_results("a `manifest.json` that this program did not write")),
            _ => Err(self.damaged(MANIFEST, "it does not match its checksum".to_owned())),
        }
    }

    fn no_results(&self, holds: &str) -> Error {
        ErrorKind::NoResults { path: self.path.clone(), holds: Some(holds.to_owned()) }.into()
    }

    /// Why there is no manifest.
    fn without_manifest(&self) -> Error {
        let has = |name: &str| self.path.join(name).exists();
        if has(INCOMPLETE) || TABLES.into_iter().any(has) {
            return ErrorKind::Incomplete { path: self.path.clone() }.into();
        }
        let holds = self.path.is_dir().then(|| "no `manifest.json`".to_owned());
        ErrorKind::NoResults { path: self.path.clone(), holds }.into()
    }

    /// Reads `results.csv`, and compares its digest while it is read.
    fn read_results(&self, tables: &BTreeMap<String, FileDigest>) -> Result<Vec<Results>, Error> {
        let path = self.path.join(RESULTS);
        let mut file = HashedFile::open(self, RESULTS)?;
        let read = read_csv_near(&mut file, Some(&self.path));
        // The digest is compared first: what is wrong with a damaged table does not matter.
        file.check(self, RESULTS, &tables[RESULTS])?;
        read.map_err(|source| ErrorKind::Csv { path, source }.into())
    }

    fn check_digest(&self, table: &str, digest: &FileDigest) -> Result<(), Error> {
        HashedFile::open(self, table)?.check(self, table, digest)
    }

    fn unverified(&self, error: Unverified) -> Error {
        match error {
            Unverified::Contradiction(why) => self.damaged(RESULTS, why),
            Unverified::Io(source) => Error::io(&self.path, source),
        }
    }

    fn damaged(&self, file: &str, why: String) -> Error {
        ErrorKind::Damaged { path: self.path.join(file), why }.into()
    }
}

impl OutputLock {
    /// Reads the tables and the manifest of the locked folder.
    ///
    /// # Errors
    /// As [`OutputDir::read`].
    pub fn read(&self) -> Result<Stored, Error> {
        self.output.read_checked()
    }
}

/// A file whose digest is computed while it is read.
struct HashedFile {
    file: BufReader<File>,
    bytes: u64,
    hasher: Sha256,
}

impl HashedFile {
    fn open(folder: &OutputDir, name: &str) -> Result<Self, Error> {
        let path = folder.path.join(name);
        match File::open(&path) {
            Ok(file) => Ok(Self { file: BufReader::with_capacity(1 << 16, file), bytes: 0, hasher: Sha256::new() }),
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                Err(folder.damaged(name, "it is missing, but `manifest.json` lists it".to_owned()))
            }
            Err(error) => Err(Error::io(&path, error)),
        }
    }

    /// Reads the rest, and compares size and digest.
    fn check(mut self, folder: &OutputDir, name: &str, expected: &FileDigest) -> Result<(), Error> {
        io::copy(&mut self, &mut io::sink()).map_err(|source| Error::io(&folder.path.join(name), source))?;
        if self.bytes != expected.bytes {
            let why = format!("it has {} bytes, but {} were written", self.bytes, expected.bytes);
            return Err(folder.damaged(name, why));
        }
        if hex(&self.hasher.finalize()) != expected.sha256 {
            return Err(folder.damaged(name, "its contents do not match the digest in `manifest.json`".to_owned()));
        }
        Ok(())
    }
}

impl Read for HashedFile {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        let read = self.file.read(into)?;
        self.bytes += read as u64;
        self.hasher.update(&into[..read]);
        Ok(read)
    }
}
