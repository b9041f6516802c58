//! `manifest.json`: what was run, by which program, and the digests of the tables.

use std::collections::BTreeMap;

use calibandit::rng::GENERATOR;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::FileDigest;
use super::verify::number_of_curves;
use crate::Experiment;
use crate::error::{Error, ErrorKind};
use crate::run::Shard;

/// The version of the layout of output folders. Version 1 had no digests.
pub const LAYOUT: u32 = 2;

/// What was run, in full.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Manifest {
    /// The version of the layout of the folder.
    pub manifest: u32,
    /// The program that made the results.
    #[serde(flatten)]
    pub build: Build,
    /// The part of the work that the results are of.
    pub shard: Shard,
    /// The experiments.
    pub experiments: Vec<ManifestExperiment>,
    /// The tables, with their digests; empty while they are being written.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub tables: BTreeMap<String, FileDigest>,
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
    /// The number of curves in the tables: of this shard, one per point, policy and instance.
    #[serde(default)]
    pub curves: u64,
    /// The number of checkpoints of each curve.
    #[serde(default)]
    pub checkpoints: u64,
}

/// The program's name and version, as written into manifests and reports.
pub const PROGRAM: &str = concat!("calibandit ", env!("CARGO_PKG_VERSION"));

/// The exact program. The default is this one.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Build {
    /// The program and its version.
    pub program: String,
    /// A digest of the sources that decide what is computed.
    #[serde(default)]
    pub sources: String,
    /// The commit of the sources, if they were compiled unchanged from a known one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub commit: Option<String>,
    /// The random generator and how its seeds are derived.
    pub generator: String,
}

impl Default for Build {
    fn default() -> Self {
        Self {
            program: PROGRAM.into(),
            sources: env!("CALIBANDIT_SOURCES").into(),
            commit: option_env!("CALIBANDIT_COMMIT").map(Into::into),
            generator: GENERATOR.into(),
        }
    }
}

impl Build {
    /// Whether two programs compute the same: the commit does not matter if the sources are the same.
    fn computes_as(&self, other: &Self) -> bool {
        (&self.program, &self.sources, &self.generator) == (&other.program, &other.sources, &other.generator)
    }
}

impl Manifest {
    /// The manifest of these experiments, without tables.
    ///
    /// # Errors
    /// [`ErrorKind::UserCode`] if an experiment has a game or a policy that no file can hold.
    pub fn new(experiments: &[Experiment], shard: Shard) -> Result<Self, Error> {
        let one = |experiment: &Experiment| -> Result<ManifestExperiment, Error> {
            let user_code = || ErrorKind::UserCode { experiment: experiment.name().to_owned() };
            let spec = experiment.to_json().ok_or_else(user_code)?;
            let points = experiment.points().iter().map(serde_json::to_value);
            let points = points.collect::<Result<_, _>>().map_err(|_| user_code())?;
            let curves = shard.count(number_of_curves(experiment));
            Ok(ManifestExperiment { spec, points, curves, checkpoints: experiment.grid().times().len() as u64 })
        };
        let experiments = experiments.iter().map(one).collect::<Result<_, _>>()?;
        Ok(Self { manifest: LAYOUT, build: Build::default(), shard, experiments, tables: BTreeMap::new() })
    }

    /// Why this manifest is not of a shard of the same run as another; `None` if it is.
    pub(super) fn mismatch(&self, other: &Self) -> Option<&'static str> {
        let specs = |manifest: &Self| -> Vec<Value> {
            manifest.experiments.iter().map(|experiment| experiment.spec.clone()).collect()
        };
        if self.shard.of() != other.shard.of() {
            Some("they were split into different numbers of shards")
        } else if specs(self) != specs(other) {
            Some("they have different experiments, seeds or numbers of instances")
        } else if !self.build.computes_as(&other.build) {
            Some("they were made by different versions of the program")
        } else {
            None
        }
    }
}
