//! `manifest.json`: what was run.

use calibandit::rng::GENERATOR;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::Experiment;
use crate::error::{Error, ErrorKind};
use crate::run::Shard;

/// What was run, in full.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
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
#[non_exhaustive]
pub struct ManifestExperiment {
    /// The experiment with the keys of a file, every default written out.
    pub spec: Value,
    /// The games and policies of each point of the sweep, with the defaults that depend on the horizon and the number
    /// of arms filled in.
    pub points: Vec<Value>,
}

/// The program's name and version, as written into manifests and reports.
pub const PROGRAM: &str = concat!("calibandit ", env!("CARGO_PKG_VERSION"));

impl Manifest {
    /// The manifest of these experiments.
    ///
    /// # Errors
    /// [`ErrorKind::UserCode`] if an experiment has a game or a policy that no file can hold.
    pub fn new(experiments: &[Experiment], shard: Shard) -> Result<Self, Error> {
        let one = |experiment: &Experiment| -> Result<ManifestExperiment, Error> {
            let user_code = || ErrorKind::UserCode { experiment: experiment.name().to_owned() };
            let spec = experiment.to_json().ok_or_else(user_code)?;
            let points = experiment.points().iter().map(serde_json::to_value);
            Ok(ManifestExperiment { spec, points: points.collect::<Result<_, _>>().map_err(|_| user_code())? })
        };
        let experiments = experiments.iter().map(one).collect::<Result<_, _>>()?;
        Ok(Self { manifest: 1, program: PROGRAM.into(), generator: GENERATOR.into(), shard, experiments })
    }

    /// Why this manifest is not of a shard of the same run as another; `None` if it is.
    pub(super) fn mismatch(&self, other: &Self) -> Option<&'static str> {
        if self.shard.of() != other.shard.of() {
            Some("they were split into different numbers of shards")
        } else if self.experiments != other.experiments {
            Some("they have different experiments, seeds or numbers of instances")
        } else if (&self.program, &self.generator) != (&other.program, &other.generator) {
            Some("they were made by different versions of the program")
        } else {
            None
        }
    }
}
