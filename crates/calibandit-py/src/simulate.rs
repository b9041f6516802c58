//! Simulations and experiments, on all cores and without the interpreter lock.

use std::path::PathBuf;
use std::sync::atomic::AtomicBool;
use std::sync::{Arc, Mutex, PoisonError};

use calibandit::{Interrupt, OptimumError};
use calibandit_experiment::output::{OutputDir, OutputNote, Stored};
use calibandit_experiment::preflight::{memory_warnings, preflight_interruptible, to_json};
use calibandit_experiment::run::{RunOptions, Shard, run as run_experiment};
use calibandit_experiment::spec::{live_from_json, policy_from_json};
use calibandit_experiment::{Experiment, GameSource, PolicySource};
use calibandit_paper::figures;
use calibandit_report::session::{self, ReportTexts, Session};
use pyo3::prelude::*;
use serde_json::{Value, json};

use crate::failure::{Failure, Raised};
use crate::game::PyGame;
use crate::interpreter::{called, detached};
use crate::policy::Factory;
use crate::table::{Described, Table};
use crate::watch::{ProgressSender, watched};

/// The default name of a simulation. Its random numbers are derived from the name.
pub(crate) const NAME: &str = "simulation";

/// A policy as Python gives it: its label, its table as JSON, and a factory if it is written in Python.
type PolicyParts = (Option<String>, String, Option<Py<PyAny>>);

/// Simulates policies on instances of a game.
#[pyfunction]
#[allow(clippy::too_many_arguments)] // keyword arguments, all of them
pub(crate) fn simulate(
    py: Python<'_>,
    game: &Bound<'_, PyGame>,
    policies: Vec<PolicyParts>,
    horizon: u64,
    instances: u64,
    seed: u64,
    name: String,
    checkpoints: &str,
    live: Option<&str>,
    jobs: usize,
    progress: Option<Bound<'_, PyAny>>,
    warn: &Bound<'_, PyAny>,
) -> Result<Table, Failure> {
    called(|| {
        let game = game.get();
        let table = game.spec()?;
        let stop = Arc::new(AtomicBool::new(false));
        let raised = Raised::default();
        let source = match &table {
            Some(table) => GameSource::Spec(serde_json::from_str(table)?),
            None => game.source.clone(),
        };
        let mut builder = Experiment::builder(name)
            .source("the simulation")
            .game(source)
            .horizon(horizon)
            .instances(instances)
            .seed(seed)
            .checkpoints(serde_json::from_str(checkpoints)?);
        let live: Option<Value> = live.map(serde_json::from_str).transpose()?;
        if let Some(live) = &live {
            builder = builder.live(live_from_json("the simulation", live)?);
        }
        let mut entries: Vec<Value> = Vec::new();
        for (label, table, factory) in policies {
            let entry: Value = serde_json::from_str(&table)?;
            let policy = match factory {
                Some(factory) => {
                    let (raised, stop) = (raised.clone(), stop.clone());
                    PolicySource::User(Arc::new(Factory { factory, raised, stop }))
                }
                None => policy_from_json("the simulation", &entry)?.policy.into(),
            };
            let label = label.or_else(|| Some(entry.get("label")?.as_str()?.to_owned()));
            builder = match label {
                Some(label) => builder.labelled_policy(label, policy),
                None => builder.policy(policy),
            };
            entries.push(entry);
        }
        let experiment = Arc::new(builder.build()?);
        memory_warnings(&experiment).into_iter().try_for_each(|sentence| warn.call1((sentence,)).map(|_| ()))?;
        let (played, flag) = (experiment.clone(), stop.clone());
        let played = watched(py, progress.as_ref(), &stop, move |report| {
            let options = RunOptions { threads: jobs, shard: Shard::WHOLE, stop: &flag, progress: &report };
            Ok(run_experiment(&played, &options, None)?)
        });
        // An exception in a policy or in a loss function is the cause of any later error.
        let results = game.raised.or(raised.or(played))?;
        if experiment.file().is_some() {
            return Table::new(vec![Described::Spec(Box::new(experiment.as_ref().clone()))], vec![results]);
        }
        for (entry, labelled) in entries.iter_mut().zip(experiment.policies()) {
            entry["label"] = labelled.label.clone().into();
        }
        let mut described = json!({
            "name": experiment.name(),
            "horizon": horizon,
            "instances": instances,
            "seed": seed,
            "checkpoints": serde_json::from_str::<Value>(checkpoints)?,
            "game": match table {
                Some(table) => serde_json::from_str(&table)?,
                None => json!({"kind": "python", "title": game.title()?}),
            },
            "policy": entries,
        });
        if let Some(live) = live {
            described["live"] = live;
        }
        Table::new(vec![Described::Plain(described)], vec![results])
    })
}

/// An experiment from a file, or from JSON.
fn read_spec(path: Option<PathBuf>, json: Option<&str>) -> Result<Experiment, Failure> {
    match (path, json) {
        (Some(path), _) => Ok(Experiment::read(path)?),
        (None, json) => Ok(Experiment::from_json("the experiment", &serde_json::from_str(json.unwrap_or("null"))?)?),
    }
}

/// Runs an experiment, into a folder if one is given. `path` is the file that it was read from; `seed` and `instances`
/// are those that differ from the file. They are shown in the command that repeats the run.
#[pyfunction]
#[allow(clippy::too_many_arguments)]
pub(crate) fn run(
    py: Python<'_>,
    path: Option<PathBuf>,
    json: &str,
    out: Option<PathBuf>,
    force: bool,
    jobs: usize,
    shard: Option<(usize, usize)>,
    seed: Option<u64>,
    instances: Option<u64>,
    progress: Option<Bound<'_, PyAny>>,
) -> Result<Table, Failure> {
    called(|| {
        let spec = Arc::new(read_spec(None, Some(json))?);
        let shard = shard.map_or(Ok(Shard::WHOLE), |(index, of)| Shard::new(index, of))?;
        let stop = Arc::new(AtomicBool::new(false));
        let notes: Arc<Mutex<Vec<String>>> = Arc::default();
        let again = move |spec: &Experiment| match &path {
            None => session::default_command(spec),
            Some(path) => {
                let seed = seed.map_or(String::new(), |seed| format!(" --seed {seed}"));
                let instances = instances.map_or(String::new(), |n| format!(" --instances {n}"));
                format!("calibandit run {}{seed}{instances}", path.display())
            }
        };
        let (played, flag, noted) = (spec.clone(), stop.clone(), notes.clone());
        let results = watched(py, progress.as_ref(), &stop, move |report: ProgressSender| {
            let specs = std::slice::from_ref(played.as_ref());
            let Some(out) = &out else {
                let options = RunOptions { threads: jobs, shard, stop: &flag, progress: &report };
                return Ok(run_experiment(&played, &options, None)?);
            };
            let texts = ReportTexts { title: "", lead: "", caption: &figures::caption, command: &again };
            let note = |note: OutputNote| noted.lock().unwrap_or_else(PoisonError::into_inner).push(note.to_string());
            let (out, stop) = (&OutputDir::new(out), &flag);
            let session = Session { out, force, shard, threads: jobs, stop, note: &note, texts, sections: vec![] };
            let mut all = session.run(specs, |_| report.clone())?;
            all.pop().ok_or_else(|| Failure::Value("nothing was run".into()))
        });
        log_notes(py, std::mem::take(&mut *notes.lock().unwrap_or_else(PoisonError::into_inner)))?;
        let results = results?;
        Table::new(vec![Described::Spec(Box::new(spec.as_ref().clone()))], vec![results])
    })
}

/// Logs what the user should know about an output folder.
fn log_notes(py: Python<'_>, notes: Vec<String>) -> Result<(), Failure> {
    let logger = py.import("logging")?.call_method1("getLogger", ("calibandit",))?;
    notes.into_iter().try_for_each(|note| logger.call_method1("warning", ("%s", note)).map(|_| ()))?;
    Ok(())
}

/// Merges the shards of a run.
#[pyfunction]
pub(crate) fn merge(py: Python<'_>, folders: Vec<PathBuf>, out: PathBuf, force: bool) -> Result<Table, Failure> {
    detached(py, || {
        let texts = ReportTexts { title: "", lead: "", caption: &figures::caption, command: &session::default_command };
        // Merging opens no journal; that a file system has no locks is said when the shards are written.
        let (specs, results) = session::merge(&folders, &OutputDir::new(out), force, &|_| {}, texts)?;
        Table::new(specs.into_iter().map(|spec| Described::Spec(Box::new(spec))).collect(), results)
    })
}

/// The results in a folder.
#[pyfunction]
pub(crate) fn read(py: Python<'_>, folder: PathBuf) -> Result<Table, Failure> {
    detached(py, || {
        let Stored { experiments, results, .. } = OutputDir::new(&folder).read()?;
        Table::new(experiments.into_iter().map(|spec| Described::Spec(Box::new(spec))).collect(), results)
    })
}

/// The static analysis of an experiment, as JSON.
#[pyfunction]
pub(crate) fn check_spec(py: Python<'_>, path: Option<PathBuf>, json: Option<&str>) -> Result<String, Failure> {
    called(|| {
        let spec = read_spec(path, json)?;
        let stop = Arc::<AtomicBool>::default();
        let flag = stop.clone();
        watched(py, None, &stop, move |_| {
            let points = preflight_interruptible(&spec, Interrupt::new(&flag)).map_err(OptimumError::from)?;
            Ok(to_json(&spec, &points).to_string())
        })
    })
}

/// One sentence for each policy of an experiment whose bound on the memory is too small.
#[pyfunction(name = "memory_warnings")]
pub(crate) fn memory_warnings_of(json: &str) -> Result<Vec<String>, Failure> {
    called(|| Ok(memory_warnings(&read_spec(None, Some(json))?)))
}

/// The labels of the points of an experiment.
#[pyfunction]
pub(crate) fn point_labels(json: &str) -> Result<Vec<String>, Failure> {
    called(|| Ok(read_spec(None, Some(json))?.game_labels()))
}

/// An experiment with every default filled in, as JSON.
#[pyfunction]
pub(crate) fn complete_spec(path: Option<PathBuf>, json: Option<&str>) -> Result<String, Failure> {
    called(|| Ok(read_spec(path, json)?.to_json().expect("it was read from a specification").to_string()))
}

/// The table of a policy with every constant default filled in, its label, and its bound on the memory.
#[pyfunction]
pub(crate) fn complete_policy(json: &str) -> Result<(String, String, Option<u64>), Failure> {
    called(|| {
        let entry = policy_from_json("the policy", &serde_json::from_str(json)?)?;
        Ok((serde_json::to_string(&entry.policy)?, entry.label, entry.policy.memory_bound()))
    })
}
