//! The output folder of a run: tables and manifest. Figures and the report in the same folder are written by the crate
//! `calibandit-report`.
//!
//! | file | contents |
//! |---|---|
//! | `results.csv`, `results.parquet` | every policy, instance and checkpoint |
//! | `summary.csv` | the CPR over the instances |
//! | `manifest.json` | what was run: the experiments with every default filled in, seed, generator, versions |
//! | `figures/NAME.svg`, `figures/NAME.png` | the figures |
//! | `report.html` | the report |
//! | `.unfinished-NAME.jsonl` | the journal of an unfinished run |
//!
//! Results replace those of the same experiments only: see [`OutputDir::check_replaceable`].
//!
//! A file is written to a temporary file and then renamed, so that it is either complete or absent. The contents do not
//! depend on the time, the machine or the number of threads.

mod manifest;
mod occupied;

pub use manifest::{Manifest, ManifestExperiment, PROGRAM};

use std::fs::{self, File};
use std::io::{self, BufReader, BufWriter, Write};
use std::path::{Path, PathBuf};

use tempfile::NamedTempFile;

use crate::Experiment;
use crate::error::{Error, ErrorKind};
use crate::results::{Results, read_csv, write_csv, write_parquet};
use crate::run::{Journal, Shard};
use crate::stats::write_summary;

/// An output folder.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OutputDir {
    path: PathBuf,
}

/// The contents of an output folder.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Stored {
    /// The manifest.
    pub manifest: Manifest,
    /// The experiments of the manifest.
    pub experiments: Vec<Experiment>,
    /// Their results, in the same order.
    pub results: Vec<Results>,
}

impl OutputDir {
    /// The output folder at this path, which need not exist to be written to.
    pub fn new(path: impl Into<PathBuf>) -> Self {
        Self { path: path.into() }
    }

    /// The path.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Opens the journal of an experiment in this folder.
    ///
    /// # Errors
    /// [`ErrorKind::Io`] if the journal cannot be read or written.
    pub fn journal(&self, experiment: &Experiment, shard: Shard) -> Result<Journal, Error> {
        create(&self.path)?;
        // Names of experiments may have a `.`; the extension of the journal must stay what it is.
        let safe = |c: char| if c.is_alphanumeric() || c == '-' { c } else { '_' };
        let name: String = experiment.name().chars().map(safe).collect();
        Journal::open(&self.path.join(format!(".unfinished-{name}.jsonl")), experiment, shard)
    }

    /// Writes the tables and the manifest of a run, or of one shard of it.
    ///
    /// # Errors
    /// [`ErrorKind::Io`], [`ErrorKind::Csv`] or [`ErrorKind::Parquet`] if a file cannot be written;
    /// [`ErrorKind::UserCode`] if an experiment has a game or a policy that no manifest can hold.
    pub fn write_tables(&self, experiments: &[Experiment], results: &[Results], shard: Shard) -> Result<(), Error> {
        let manifest = Manifest::new(experiments, shard)?;
        let csv = |path: &Path, source| ErrorKind::Csv { path: path.to_path_buf(), source }.into();
        self.write_with("results.csv", |path, file| write_csv(results, file).map_err(|error| csv(path, error)))?;
        self.write_with("results.parquet", |path, file| {
            write_parquet(results, file)
                .map_err(|source| ErrorKind::Parquet { path: path.to_path_buf(), source }.into())
        })?;
        self.write_with("summary.csv", |path, file| write_summary(results, file).map_err(|error| csv(path, error)))?;
        self.write_json("manifest.json", &manifest)
    }

    /// Reads the tables and the manifest.
    ///
    /// # Errors
    /// [`ErrorKind::NoResults`] if the folder does not exist or does not have the results of experiments;
    /// [`ErrorKind::Io`], [`ErrorKind::Csv`] or [`ErrorKind::Invalid`] if a file cannot be read.
    pub fn read(&self) -> Result<Stored, Error> {
        let path = self.path.join("manifest.json");
        let text = fs::read(&path).map_err(|source| match source.kind() {
            std::io::ErrorKind::NotFound | std::io::ErrorKind::NotADirectory => {
                let holds = self.path.is_dir().then(|| "no `manifest.json`".to_owned());
                ErrorKind::NoResults { path: self.path.clone(), holds }.into()
            }
            _ => Error::io(&path, source),
        })?;
        let name = path.display().to_string();
        let manifest: Manifest = serde_json::from_slice(&text).map_err(|_| {
            let holds = Some(occupied::other_kind(&text).to_owned());
            ErrorKind::NoResults { path: self.path.clone(), holds }
        })?;
        let experiments = manifest.experiments.iter().map(|stored| Experiment::from_json(&name, &stored.spec));
        let experiments = experiments.collect::<Result<Vec<_>, _>>()?;
        let path = self.path.join("results.csv");
        let file = File::open(&path).map_err(|source| Error::io(&path, source))?;
        let read = read_csv(BufReader::new(file)).map_err(|source| ErrorKind::Csv { path, source })?;
        let results = in_order(&experiments, &read).map_err(|source| Error::io(&self.path, source))?;
        Ok(Stored { manifest, experiments, results })
    }

    /// Reads the folders of all shards of one run and merges their results.
    ///
    /// # Errors
    /// As [`read`](Self::read); [`ErrorKind::Mismatch`] if the folders are not shards of the same run,
    /// [`ErrorKind::MissingShard`] if not all shards are there, [`ErrorKind::NothingToMerge`] if there are no folders.
    pub fn merge(shards: &[OutputDir]) -> Result<(Vec<Experiment>, Vec<Results>), Error> {
        let parts: Vec<Stored> = shards.iter().map(OutputDir::read).collect::<Result<_, _>>()?;
        let Some(Stored { manifest: first, experiments, .. }) = parts.first() else {
            return Err(ErrorKind::NothingToMerge.into());
        };
        let of = first.shard.of();
        let mut folders: Vec<Option<&Path>> = vec![None; of];
        for (Stored { manifest, .. }, OutputDir { path }) in parts.iter().zip(shards) {
            let mismatch =
                |one: &Path, why| ErrorKind::Mismatch { one: one.to_path_buf(), other: path.clone(), why }.into();
            if let Some(why) = manifest.mismatch(first) {
                return Err(mismatch(&shards[0].path, why));
            }
            if let Some(other) = folders[manifest.shard.index() - 1].replace(path) {
                return Err(mismatch(other, "they are the same shard"));
            }
        }
        if let Some(index) = folders.iter().position(Option::is_none) {
            let missing = Shard::new(index + 1, of).expect("the index of a shard is between 1 and their number");
            return Err(ErrorKind::MissingShard { missing }.into());
        }
        let all: Vec<Results> = parts.iter().flat_map(|part| part.results.clone()).collect();
        let merged = in_order(experiments, &all).map_err(|source| Error::io(&shards[0].path, source))?;
        Ok((experiments.clone(), merged))
    }

    /// Writes a file of this folder; `name` is relative to it and may be in a subfolder.
    ///
    /// # Errors
    /// [`ErrorKind::Io`] if the file cannot be written.
    pub fn write(&self, name: impl AsRef<Path>, bytes: &[u8]) -> Result<(), Error> {
        self.write_with(name, |path, file| file.write_all(bytes).map_err(|source| Error::io(path, source)))
    }

    /// Writes a JSON file of this folder, indented and with a newline at the end.
    ///
    /// # Errors
    /// [`ErrorKind::Io`] if the file cannot be written.
    pub fn write_json(&self, name: &str, value: &impl serde::Serialize) -> Result<(), Error> {
        self.write_with(name, |path, file| {
            serde_json::to_writer_pretty(&mut *file, value)
                .map_err(std::io::Error::from)
                .and_then(|()| file.write_all(b"\n"))
                .map_err(|source| Error::io(path, source))
        })
    }

    fn write_with(
        &self,
        name: impl AsRef<Path>,
        content: impl FnOnce(&Path, &mut BufWriter<NamedTempFile>) -> Result<(), Error>,
    ) -> Result<(), Error> {
        let path = self.path.join(name);
        create(path.parent().unwrap_or(&self.path))?;
        write_atomically(&path, content)
    }
}

/// The results of each experiment; several results of one experiment become one.
fn in_order(experiments: &[Experiment], read: &[Results]) -> io::Result<Vec<Results>> {
    experiments.iter().map(|experiment| Results::of_experiment(experiment, read)).collect()
}

fn create(folder: &Path) -> Result<(), Error> {
    fs::create_dir_all(folder).map_err(|source| Error::io(folder, source))
}

/// Writes a file that is either complete or absent: to a temporary file in the same folder, which is then renamed.
pub(crate) fn write_atomically(
    path: &Path,
    content: impl FnOnce(&Path, &mut BufWriter<NamedTempFile>) -> Result<(), Error>,
) -> Result<(), Error> {
    let failed = |source| Error::io(path, source);
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let mut file = BufWriter::new(temporary_file().tempfile_in(folder).map_err(failed)?);
    content(path, &mut file)?;
    let file = file.into_inner().map_err(|error| failed(error.into_error()))?;
    file.persist(path).map_err(|error| failed(error.error))?;
    Ok(())
}

/// Temporary files are private to their owner by default; these become ordinary files, as the user's umask has them.
fn temporary_file() -> tempfile::Builder<'static, 'static> {
    let mut builder = tempfile::Builder::new();
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        builder.permissions(fs::Permissions::from_mode(0o666));
    }
    builder
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_replace_older_ones_and_leave_nothing_else() {
        let folder = tempfile::tempdir().unwrap();
        let output = OutputDir::new(folder.path().join("a/b"));
        output.write("figures/x.svg", b"one").unwrap();
        output.write("figures/x.svg", b"two").unwrap();
        let figures = output.path().join("figures");
        assert_eq!(fs::read(figures.join("x.svg")).unwrap(), b"two");
        assert_eq!(fs::read_dir(&figures).unwrap().count(), 1);
    }

    #[test]
    fn a_failed_write_keeps_the_older_file() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("table.csv");
        fs::write(&path, "old").unwrap();
        let refused = write_atomically(&path, |_, file| {
            file.write_all(b"half").unwrap();
            Err(ErrorKind::NothingToMerge.into())
        });
        assert!(refused.is_err());
        assert_eq!(fs::read(&path).unwrap(), b"old");
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
    }

    #[cfg(unix)]
    #[test]
    fn files_have_the_permissions_of_ordinary_files() {
        use std::os::unix::fs::PermissionsExt;
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join("plain"), "").unwrap();
        OutputDir::new(folder.path()).write("ours", b"").unwrap();
        let mode = |name| fs::metadata(folder.path().join(name)).unwrap().permissions().mode();
        assert_eq!(mode("ours"), mode("plain"));
    }
}
