//! Simulations and experiments, on all cores, while the interpreter does other things.

use std::path::PathBuf;
use std::sync::atomic::AtomicBool;

use calibandit::PolicySpec;
use calibandit_experiment::Experiment;
use calibandit_experiment::output as folder;
use calibandit_experiment::preflight as check;
use calibandit_experiment::run::{
    Contest, Contestant, Entrant, Progress, RunOptions, Shard, run as run_spec, run_contest,
};
use calibandit_experiment::spec::{Overrides, policy_from_json};
use calibandit_paper::figures;
use calibandit_report::session::{self, ReportTexts, Session, Watcher};
use pyo3::prelude::*;
use serde_json::{Value, json};

use crate::failure::{Failure, Raised};
use crate::game::PyGame;
use crate::policy::Factory;
use crate::table::{Described, Table};
use crate::watch::{Report, watched};

/// The name of a simulation that was given none. Part of what its random numbers are derived from.
pub(crate) const NAME: &str = "simulation";

/// A policy as Python gives it: its label, its table as JSON, and a factory if it is written in Python.
type PolicyParts = (Option<String>, String, Option<Py<PyAny>>);

/// Policies play instances of a game.
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
    jobs: usize,
    progress: Option<Bound<'_, PyAny>>,
) -> Result<Table, Failure> {
    let game = game.get();
    let checkpoints: Value = serde_json::from_str(checkpoints)?;
    let mut entries: Vec<Value> = Vec::new();
    for (label, table, _) in &policies {
        let mut entry: Value = serde_json::from_str(table)?;
        if let (Some(label), Value::Object(entry)) = (label, &mut entry) {
            entry.insert("label".into(), label.clone().into());
        }
        entries.push(entry);
    }
    let stop = AtomicBool::new(false);
    let frame = json!({
        "name": name, "horizon": horizon, "instances": instances, "seed": seed, "checkpoints": checkpoints,
    });
    let table = game.spec()?;
    if let (Some(table), true) = (&table, policies.iter().all(|(.., factory)| factory.is_none())) {
        let mut value = frame;
        value["game"] = serde_json::from_str(table)?;
        value["policy"] = entries.into();
        let spec = Experiment::from_json("the simulation", &value)?;
        let results = watched(py, progress.as_ref(), &stop, |report| {
            Ok(run_spec(&spec, &options(jobs, &stop, &|progress| report.show(progress)), None)?)
        })?;
        return Table::new(vec![(Described::Spec(Box::new(spec)), results)]);
    }

    // The numbers are checked as those of a file are; the game and the policies were when they were made.
    let mut stand_in = frame.clone();
    stand_in["game"] = json!({"kind": "stochastic", "losses": [0.5]});
    stand_in["policy"] = json!([{"kind": "ucb1"}]);
    let checked = Experiment::from_json("the simulation", &stand_in)?;
    let raised = Raised::default();
    let factories: Vec<Option<Factory<'_>>> = policies
        .into_iter()
        .map(|(.., factory)| factory.map(|factory| Factory { factory, raised: raised.clone(), stop: &stop }))
        .collect();
    let mut entrants: Vec<Entrant<'_>> = Vec::new();
    for (entry, factory) in entries.iter_mut().zip(&factories) {
        let given = entry.get("label").and_then(Value::as_str).map(str::to_string);
        let policy = match factory {
            Some(factory) => Contestant::Own(factory),
            None => Contestant::Spec(serde_json::from_value(without_label(entry))?),
        };
        let plain = match (&given, &policy) {
            (Some(label), _) => label.clone(),
            (None, Contestant::Spec(spec)) => PolicySpec::label(spec),
            (None, Contestant::Own(_)) => "own".to_string(),
        };
        let taken = |label: &String| entrants.iter().any(|other| other.label == *label);
        if given.is_some() && taken(&plain) {
            return Err(Failure::Value(format!(
                "two policies have the label {plain:?}: results could not be told apart"
            )));
        }
        let numbered = (2..).map(|n| format!("{plain} #{n}"));
        let free = std::iter::once(plain.clone()).chain(numbered).find(|label| !taken(label));
        let label = free.unwrap_or(plain);
        entry["label"] = label.clone().into();
        entrants.push(Entrant { label, policy });
    }
    let contest = Contest {
        name: checked.name().to_owned(),
        seed,
        instances,
        grid: checked.grid().clone(),
        game_label: game.title(),
        game: game.source.clone(),
        entrants,
    };
    let played = watched(py, progress.as_ref(), &stop, |report| {
        Ok(run_contest(&contest, &options(jobs, &stop, &|progress| report.show(progress)))?)
    });
    // What was raised in a policy or in a loss function is why the simulation failed.
    let results = game.raised.or(raised.or(played))?;
    let mut value = frame;
    value["game"] = match table {
        Some(table) => serde_json::from_str(&table)?,
        None => json!({"kind": "python", "title": game.title()}),
    };
    value["policy"] = entries.into();
    Table::new(vec![(Described::Plain(value), results)])
}

fn without_label(entry: &Value) -> Value {
    let mut entry = entry.clone();
    if let Value::Object(table) = &mut entry {
        table.remove("label");
    }
    entry
}

fn options<'a>(threads: usize, stop: &'a AtomicBool, progress: &'a (dyn Fn(Progress) + Sync)) -> RunOptions<'a> {
    RunOptions { threads, shard: Shard::WHOLE, stop, progress }
}

/// An experiment from a file, or from JSON.
fn read_spec(path: Option<PathBuf>, json: Option<&str>) -> Result<Experiment, Failure> {
    match (path, json) {
        (Some(path), _) => Ok(Experiment::read(path)?),
        (None, json) => Ok(Experiment::from_json("the experiment", &serde_json::from_str(json.unwrap_or("null"))?)?),
    }
}

/// Runs an experiment, into a folder if one is given.
#[pyfunction]
#[allow(clippy::too_many_arguments)]
pub(crate) fn run(
    py: Python<'_>,
    path: Option<PathBuf>,
    json: Option<&str>,
    out: Option<PathBuf>,
    jobs: usize,
    shard: Option<(usize, usize)>,
    seed: Option<u64>,
    instances: Option<u64>,
    progress: Option<Bound<'_, PyAny>>,
) -> Result<Table, Failure> {
    let spec = read_spec(path.clone(), json)?.with(Overrides { seed, instances, horizon: None })?;
    let shard = shard.map_or(Ok(Shard::WHOLE), |(index, of)| Shard::new(index, of))?;
    let stop = AtomicBool::new(false);
    let again = |spec: &Experiment| match &path {
        None => session::default_command(spec),
        Some(path) => {
            let seed = seed.map_or(String::new(), |seed| format!(" --seed {seed}"));
            let instances = instances.map_or(String::new(), |n| format!(" --instances {n}"));
            format!("calibandit run {}{seed}{instances}", path.display())
        }
    };
    let results = watched(py, progress.as_ref(), &stop, |report: Report| {
        let specs = std::slice::from_ref(&spec);
        let Some(out) = &out else {
            let show = |progress| report.show(progress);
            let options = RunOptions { threads: jobs, shard, stop: &stop, progress: &show };
            return Ok(run_spec(&spec, &options, None)?);
        };
        let title = spec.heading();
        let texts = ReportTexts { title, lead: "", caption: &figures::caption, command: &again };
        let session = Session { out, shard, threads: jobs, stop: &stop, texts, sections: vec![] };
        let mut all = session.run(specs, |_| report.clone())?;
        all.pop().ok_or_else(|| Failure::Value("nothing was run".into()))
    })?;
    Table::new(vec![(Described::Spec(Box::new(spec)), results)])
}

/// Puts the shards of a run together.
#[pyfunction]
pub(crate) fn merge(py: Python<'_>, folders: Vec<PathBuf>, out: PathBuf) -> Result<Table, Failure> {
    let (specs, results) = py.detach(|| {
        let texts = ReportTexts {
            title: "Experiments",
            lead: "",
            caption: &figures::caption,
            command: &session::default_command,
        };
        session::merge(&folders, &out, texts)
    })?;
    Table::new(specs.into_iter().map(|spec| Described::Spec(Box::new(spec))).zip(results).collect())
}

/// The results in a folder.
#[pyfunction]
pub(crate) fn read(py: Python<'_>, folder: PathBuf) -> Result<Table, Failure> {
    let folder::Stored { experiments, results, .. } = py.detach(|| folder::read(&folder))?;
    let specs = experiments.into_iter().map(|spec| Described::Spec(Box::new(spec)));
    Table::new(specs.zip(results).collect())
}

/// What can be known of an experiment before it is run, as JSON.
#[pyfunction]
pub(crate) fn check_spec(py: Python<'_>, path: Option<PathBuf>, json: Option<&str>) -> Result<String, Failure> {
    let spec = read_spec(path, json)?;
    let checks = py.detach(|| check::check(&spec))?;
    Ok(check::to_json(&spec, &checks)?.to_string())
}

/// An experiment with every default filled in, as JSON.
#[pyfunction]
pub(crate) fn complete_spec(path: Option<PathBuf>, json: Option<&str>) -> Result<String, Failure> {
    Ok(read_spec(path, json)?.to_json().to_string())
}

/// A policy's table with every default that is known filled in, its label, and what it is told about the memory.
#[pyfunction]
pub(crate) fn complete_policy(json: &str) -> Result<(String, String, Option<u64>), Failure> {
    let entry = policy_from_json("the policy", &serde_json::from_str(json)?)?;
    Ok((serde_json::to_string(&entry.policy)?, entry.label, entry.policy.memory_bound()))
}
