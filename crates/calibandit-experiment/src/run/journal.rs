//! The journal of a run: finished curves on disk, from which an interrupted run is resumed.
//!
//! The first line identifies the run; each further line is one finished curve. A line that was incomplete when the
//! program ended is dropped. A journal of another run is never used, but begun anew.

use std::fs::{self, File, OpenOptions};
use std::io::{self, BufRead, BufReader, Write};
use std::path::{Path, PathBuf};

use calibandit::rng::GENERATOR;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use super::Shard;
use crate::Experiment;
use crate::error::{Error, ErrorKind};
use crate::output::write_atomically;
use crate::results::Curve;

/// The finished curves of one run of one experiment.
#[derive(Debug)]
pub struct Journal {
    path: PathBuf,
    file: File,
    curves: Vec<Curve>,
}

/// The first line.
#[derive(PartialEq, Serialize, Deserialize)]
struct Heading {
    journal: u32,
    experiment: String,
    fingerprint: String,
}

impl Journal {
    /// Opens the journal of this experiment and shard at `path`. Curves of the same run are kept; a journal of another
    /// run is begun anew.
    ///
    /// # Errors
    /// [`ErrorKind::Io`] if the file cannot be read or written; [`ErrorKind::UserCode`] if the experiment has a game or
    /// a policy of the user, which cannot be recognised.
    pub fn open(path: &Path, experiment: &Experiment, shard: Shard) -> Result<Self, Error> {
        let heading = Heading {
            journal: 1,
            experiment: experiment.name().to_owned(),
            fingerprint: fingerprint(experiment, shard)?,
        };
        let failed = |source| Error::io(path, source);
        let curves = match File::open(path) {
            Ok(file) => read(file, &heading).map_err(failed)?,
            Err(error) if error.kind() == io::ErrorKind::NotFound => vec![],
            Err(error) => return Err(failed(error)),
        };
        // Written anew and not appended to, so that an incomplete last line is gone.
        write_atomically(path, |_, file| {
            let mut write = || -> io::Result<()> {
                file.write_all(&line(&heading)?)?;
                curves.iter().try_for_each(|curve| file.write_all(&line(curve)?))
            };
            write().map_err(failed)
        })?;
        let file = OpenOptions::new().append(true).open(path).map_err(failed)?;
        Ok(Self { path: path.to_path_buf(), file, curves })
    }

    /// The curves that were finished before the journal was opened, which are handed over.
    pub(super) fn take_curves(&mut self) -> Vec<Curve> {
        std::mem::take(&mut self.curves)
    }

    /// The folder of the journal.
    pub(super) fn folder(&self) -> Option<&Path> {
        self.path.parent()
    }

    /// Appends a finished curve.
    pub(super) fn add(&mut self, curve: &Curve) -> Result<(), Error> {
        let written = line(curve).and_then(|line| self.file.write_all(&line));
        written.map_err(|source| Error::io(&self.path, source))
    }

    /// Removes the journal, once the results are written.
    ///
    /// # Errors
    /// [`ErrorKind::Io`] if the file cannot be removed.
    pub fn remove(self) -> Result<(), Error> {
        fs::remove_file(&self.path).map_err(|source| Error::io(&self.path, source))
    }
}

fn line(value: &impl Serialize) -> io::Result<Vec<u8>> {
    let mut line = serde_json::to_vec(value)?;
    line.push(b'\n');
    Ok(line)
}

/// The curves of a journal with this heading; none if it has another. Reading ends at the first incomplete line.
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

/// A hash of everything that the results depend on.
fn fingerprint(experiment: &Experiment, shard: Shard) -> Result<String, Error> {
    let file = experiment.to_json().ok_or_else(|| ErrorKind::UserCode { experiment: experiment.name().to_owned() })?;
    let text = format!("{}\n{shard}\n{GENERATOR}\n{file}", env!("CARGO_PKG_VERSION"));
    Ok(Sha256::digest(text).iter().map(|byte| format!("{byte:02x}")).collect())
}
