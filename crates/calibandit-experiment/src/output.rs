//! The output folder of a run: tables and manifest; and the folders of all shards merged into one. The figures and the
//! report in the same folder are written by the crate `calibandit-report`.
//!
//! | file | what |
//! |---|---|
//! | `results.csv`, `results.parquet` | every policy, instance and checkpoint |
//! | `summary.csv` | the CPR over the instances |
//! | `manifest.json` | what was run: specifications with every default filled in, seed, generator, versions |
//! | `figures/NAME.svg`, `figures/NAME.png` | the figures |
//! | `report.html` | all of it to look at |
//!
//! Files appear whole or not at all, and nothing in them depends on when, where or by how many threads they were made.

use std::fs::{self, File};
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

use calibandit::rng::GENERATOR;
use serde::{Deserialize, Serialize};

use crate::Experiment;
use crate::results::{CsvError, ParquetError, Results, read_csv, write_csv, write_parquet};
use crate::run::Shard;
use crate::spec::Diagnostics;
use crate::stats::write_summary;

/// What was run, in full.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Manifest {
    /// The version of this file's layout.
    pub manifest: u32,
    /// The program and its version.
    pub program: String,
    /// The random generator and how its seeds are derived.
    pub generator: String,
    /// The part of the work that the results are of.
    pub shard: Shard,
    /// The experiments.
    pub experiments: Vec<ManifestExperiment>,
}

/// One experiment of a manifest.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ManifestExperiment {
    /// The experiment with the keys of a file, every default written out.
    pub spec: serde_json::Value,
    /// The games and policies of each point of the sweep, with the defaults that depend on the horizon and the number
    /// of arms filled in.
    pub points: Vec<serde_json::Value>,
}

/// The program's name and version, as written into manifests and reports.
pub const PROGRAM: &str = concat!("calibandit ", env!("CARGO_PKG_VERSION"));

impl Manifest {
    /// The manifest of these experiments.
    pub fn new(experiments: &[Experiment], shard: Shard) -> Result<Self, FolderError> {
        let one = |experiment: &Experiment| -> Result<_, FolderError> {
            let points: Result<_, _> = experiment.points().iter().map(serde_json::to_value).collect();
            Ok(ManifestExperiment { spec: experiment.to_json(), points: points.map_err(FolderError::Json)? })
        };
        let experiments = experiments.iter().map(one).collect::<Result<_, _>>()?;
        Ok(Self { manifest: 1, program: PROGRAM.into(), generator: GENERATOR.into(), shard, experiments })
    }
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

/// Why a folder could not be written or read.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum FolderError {
    /// A file could not be read or written.
    #[error("{}: {source}", path.display())]
    Io {
        /// The file.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// A table.
    #[error("{}: {source}", path.display())]
    Csv {
        /// The file.
        path: PathBuf,
        /// Why.
        source: CsvError,
    },
    /// The Parquet file.
    #[error(transparent)]
    Parquet(#[from] ParquetError),
    /// The manifest has an invalid experiment.
    #[error(transparent)]
    Spec(#[from] Diagnostics),
    /// Something that cannot be written as JSON.
    #[error("the manifest could not be written: {0}")]
    Json(serde_json::Error),
    /// A manifest that is none.
    #[error("{}: not a manifest of this program: {source}", path.display())]
    Manifest {
        /// The file.
        path: PathBuf,
        /// Why.
        source: serde_json::Error,
    },
    /// Folders that do not belong together.
    #[error("{} and {} do not belong together: {why}", one.display(), other.display())]
    Mismatch {
        /// A folder.
        one: PathBuf,
        /// Another.
        other: PathBuf,
        /// What differs.
        why: &'static str,
    },
    /// Not all shards are there.
    #[error("shard {missing} is missing: merge all {} of them", missing.of())]
    MissingShard {
        /// Which.
        missing: Shard,
    },
    /// Nothing to merge.
    #[error("no folder was given to merge")]
    Nothing,
}

/// Writes the tables and the manifest of a run, or of one shard of it.
pub fn write_tables(folder: &Path, specs: &[Experiment], results: &[Results], shard: Shard) -> Result<(), FolderError> {
    create(folder)?;
    write_with(&folder.join("results.csv"), |path, file| {
        write_csv(results, file).map_err(|source| FolderError::Csv { path: path.to_path_buf(), source })
    })?;
    write_with(&folder.join("results.parquet"), |_, file| Ok(write_parquet(results, file)?))?;
    write_with(&folder.join("summary.csv"), |path, file| {
        write_summary(results, file).map_err(|source| FolderError::Csv { path: path.to_path_buf(), source })
    })?;
    let manifest = Manifest::new(specs, shard)?;
    let mut text = serde_json::to_string_pretty(&manifest).map_err(FolderError::Json)?;
    text.push('\n');
    write(&folder.join("manifest.json"), text.as_bytes())
}

/// What [`write_tables`] wrote.
pub fn read(folder: &Path) -> Result<Stored, FolderError> {
    let path = folder.join("manifest.json");
    let text = fs::read(&path).map_err(|source| FolderError::Io { path: path.clone(), source })?;
    let name = path.display().to_string();
    let manifest: Manifest = serde_json::from_slice(&text).map_err(|source| FolderError::Manifest { path, source })?;
    let experiments = manifest.experiments.iter().map(|experiment| Experiment::from_json(&name, &experiment.spec));
    let experiments = experiments.collect::<Result<Vec<_>, _>>()?;
    let path = folder.join("results.csv");
    let file = File::open(&path).map_err(|source| FolderError::Io { path: path.clone(), source })?;
    let read = read_csv(io::BufReader::new(file)).map_err(|source| FolderError::Csv { path, source })?;
    let results = in_order(&experiments, read);
    Ok(Stored { manifest, experiments, results })
}

/// Merges the folders of all shards of one run.
pub fn merge(folders: &[PathBuf]) -> Result<(Vec<Experiment>, Vec<Results>), FolderError> {
    let parts: Vec<Stored> = folders.iter().map(|folder| read(folder)).collect::<Result<_, _>>()?;
    let experiments = parts.first().ok_or(FolderError::Nothing)?.experiments.clone();
    let first = &parts[0].manifest;
    let mut whose: Vec<Option<&PathBuf>> = vec![None; first.shard.of()];
    for (Stored { manifest, .. }, folder) in parts.iter().zip(folders) {
        let mismatch = |other: &PathBuf, why| FolderError::Mismatch { one: other.clone(), other: folder.clone(), why };
        if manifest.shard.of() != first.shard.of() {
            return Err(mismatch(&folders[0], "they were split into different numbers of shards"));
        }
        if manifest.experiments != first.experiments {
            return Err(mismatch(&folders[0], "they have different experiments, seeds or numbers of instances"));
        }
        if (&manifest.program, &manifest.generator) != (&first.program, &first.generator) {
            return Err(mismatch(&folders[0], "they were made by different versions of the program"));
        }
        if let Some(other) = whose[manifest.shard.index() - 1].replace(folder) {
            return Err(mismatch(other, "they are the same shard"));
        }
    }
    if let Some(index) = whose.iter().position(Option::is_none)
        && let Ok(missing) = Shard::new(index + 1, first.shard.of())
    {
        return Err(FolderError::MissingShard { missing });
    }
    let results = in_order(&experiments, parts.into_iter().flat_map(|part| part.results).collect());
    Ok((experiments, results))
}

/// The results with experiments, games and policies in the order of their experiments; several results of one
/// experiment become one.
fn in_order(specs: &[Experiment], read: Vec<Results>) -> Vec<Results> {
    let mut all = Vec::new();
    for spec in specs {
        let (games, policies) = (spec.game_labels(), spec.policy_labels());
        let mut curves = Vec::new();
        for results in read.iter().filter(|results| results.experiment == spec.name()) {
            for curve in results.curves() {
                let game = games.iter().position(|label| *label == results.games[curve.game]);
                let policy = policies.iter().position(|label| *label == results.policies[curve.policy]);
                if let (Some(game), Some(policy)) = (game, policy) {
                    let mut curve = curve.clone();
                    (curve.game, curve.policy) = (game, policy);
                    curves.push(curve);
                }
            }
        }
        all.push(Results::new(spec.name().to_owned(), games, policies, curves));
    }
    all
}

/// Creates a folder and the folders above it.
pub fn create(folder: &Path) -> Result<(), FolderError> {
    fs::create_dir_all(folder).map_err(|source| FolderError::Io { path: folder.to_path_buf(), source })
}

/// Writes a file whole or not at all.
pub fn write(path: &Path, bytes: &[u8]) -> Result<(), FolderError> {
    write_with(path, |path, file| {
        file.write_all(bytes).map_err(|source| FolderError::Io { path: path.to_path_buf(), source })
    })
}

fn write_with(
    path: &Path,
    content: impl FnOnce(&Path, &mut BufWriter<File>) -> Result<(), FolderError>,
) -> Result<(), FolderError> {
    let failed = |source| FolderError::Io { path: path.to_path_buf(), source };
    let mut name = path.as_os_str().to_owned();
    name.push(".new");
    let fresh = PathBuf::from(name);
    let mut file = BufWriter::new(File::create(&fresh).map_err(failed)?);
    content(path, &mut file)?;
    file.flush().map_err(failed)?;
    drop(file);
    fs::rename(&fresh, path).map_err(failed)
}
