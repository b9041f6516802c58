//! Finished pieces of a run on disk, so that an interrupted run goes on where it stopped.
//!
//! The first line says which experiment the rest belongs to; each further line is one finished curve. A line that was
//! being written when the program ended is dropped, and what belongs to another experiment is never used.

use std::fs::{self, File, OpenOptions};
use std::io::{self, BufRead, BufReader, Write};
use std::path::{Path, PathBuf};

use calibandit::rng::GENERATOR;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use super::Shard;
use crate::Experiment;
use crate::results::Curve;

/// Finished pieces of one run of one experiment.
#[derive(Debug)]
pub struct Journal {
    path: PathBuf,
    file: File,
    curves: Vec<Curve>,
}

/// Why pieces could not be kept.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum JournalError {
    /// The file could not be read or written.
    #[error("{}: {source}", path.display())]
    Io {
        /// The file.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
}

#[derive(PartialEq, Serialize, Deserialize)]
struct Heading {
    journal: u32,
    experiment: String,
    fingerprint: String,
}

impl Journal {
    /// Opens the journal of this experiment and shard at `path`. What is there of the very same run is taken up; what is
    /// there of another one is begun anew.
    pub fn open(path: &Path, spec: &Experiment, shard: Shard) -> Result<Self, JournalError> {
        let heading = Heading { journal: 1, experiment: spec.name().to_owned(), fingerprint: fingerprint(spec, shard) };
        let failed = |source| JournalError::Io { path: path.to_path_buf(), source };
        let curves = match File::open(path) {
            Ok(file) => read(file, &heading).map_err(failed)?,
            Err(error) if error.kind() == io::ErrorKind::NotFound => vec![],
            Err(error) => return Err(failed(error)),
        };
        // Written anew rather than appended to: whatever half line was at the end is gone.
        let fresh = path.with_extension("new");
        let mut text = line(&heading).map_err(failed)?;
        for curve in &curves {
            text.extend(line(curve).map_err(failed)?);
        }
        fs::write(&fresh, text).and_then(|()| fs::rename(&fresh, path)).map_err(failed)?;
        let file = OpenOptions::new().append(true).open(path).map_err(failed)?;
        Ok(Self { path: path.to_path_buf(), file, curves })
    }

    /// What was finished before.
    pub fn curves(&self) -> &[Curve] {
        &self.curves
    }

    /// Keeps a finished curve.
    pub(super) fn add(&mut self, curve: &Curve) -> Result<(), JournalError> {
        let written = line(curve).and_then(|line| self.file.write_all(&line));
        written.map_err(|source| JournalError::Io { path: self.path.clone(), source })
    }

    /// Removes the journal: the results are written.
    pub fn remove(self) -> Result<(), JournalError> {
        fs::remove_file(&self.path).map_err(|source| JournalError::Io { path: self.path, source })
    }
}

fn line(value: &impl Serialize) -> io::Result<Vec<u8>> {
    let mut line = serde_json::to_vec(value)?;
    line.push(b'\n');
    Ok(line)
}

/// The curves of a journal with this heading; none if it has another. Reading ends at the first line that is not whole.
fn read(file: File, heading: &Heading) -> io::Result<Vec<Curve>> {
    let mut lines = BufReader::new(file).split(b'\n');
    let first = lines.next().transpose()?.unwrap_or_default();
    if serde_json::from_slice::<Heading>(&first).ok().as_ref() != Some(heading) {
        return Ok(vec![]);
    }
    let mut curves = Vec::new();
    for line in lines {
        match serde_json::from_slice(&line?) {
            Ok(curve) => curves.push(curve),
            Err(_) => break,
        }
    }
    Ok(curves)
}

/// Everything that the numbers depend on, in a short form.
fn fingerprint(spec: &Experiment, shard: Shard) -> String {
    let text = format!("{}\n{shard}\n{GENERATOR}\n{}", env!("CARGO_PKG_VERSION"), spec.to_json());
    Sha256::digest(text).iter().map(|byte| format!("{byte:02x}")).collect()
}
