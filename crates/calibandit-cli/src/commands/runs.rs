//! Commands that run experiments from files or work on what runs have left: run, merge, report.

use std::io::{self, Write};
use std::path::{Path, PathBuf};

use calibandit_lab::folder;
use calibandit_lab::report::{Report, ReportSection};
use calibandit_lab::results::Results;
use calibandit_lab::run::{self, Journal, RunError, RunOptions, Shard};
use calibandit_lab::spec::{ExperimentSpec, Overrides};
use serde_json::Value;

use super::lists::print_json;
use crate::args;
use crate::failure::Failure;
use crate::progress::{Display, stop_on_ctrl_c};
use crate::table;

pub(crate) fn run(arguments: &args::Run) -> Result<(), Failure> {
    let mut specs: Vec<ExperimentSpec> = Vec::new();
    let overrides = Overrides { seed: arguments.seed, instances: arguments.instances, horizon: None };
    for file in &arguments.files {
        let spec = ExperimentSpec::read(file)?.with(overrides)?;
        if specs.iter().any(|other| other.name == spec.name) {
            return Err(Failure::Usage(format!(
                "{}: another file also has the experiment `{}`; give each its own `name`",
                file.display(),
                spec.name
            )));
        }
        specs.push(spec);
    }
    let command = |spec: &ExperimentSpec| {
        let file = specs.iter().position(|other| other.name == spec.name).map(|i| arguments.files[i].display());
        let seed = arguments.seed.map_or(String::new(), |seed| format!(" --seed {seed}"));
        let instances = arguments.instances.map_or(String::new(), |n| format!(" --instances {n}"));
        file.map_or(String::new(), |file| format!("calibandit run {file}{seed}{instances}"))
    };
    let job = Job { out: &arguments.out, shard: arguments.shard, how: &arguments.how, sections: vec![] };
    let title = if let [spec] = specs.as_slice() { spec.heading() } else { "Experiments" };
    job.run(title, &specs, command)
}

pub(crate) fn merge(arguments: &args::Merge) -> Result<(), Failure> {
    let (specs, results) = folder::merge(&arguments.folders)?;
    folder::write_tables(&arguments.out, &specs, &results, Shard::WHOLE)?;
    write_report(&arguments.out, "Experiments", &specs, &results, |spec| format!("calibandit run {}.toml", spec.name))?;
    for (spec, results) in specs.iter().zip(&results) {
        table::print(&mut io::stdout().lock(), spec, results)?;
    }
    tell_where(&arguments.out)
}

pub(crate) fn report(arguments: &args::Report) -> Result<(), Failure> {
    let (manifest, results) = folder::read(&arguments.folder)?;
    let specs = manifest.specs();
    let title = if let [spec] = specs.as_slice() { spec.heading().to_string() } else { "Experiments".to_string() };
    write_report(&arguments.folder, &title, &specs, &results, |spec| format!("calibandit run {}.toml", spec.name))?;
    tell_where(&arguments.folder)
}

/// Where results go and how they are made.
pub(super) struct Job<'a> {
    pub(super) out: &'a Path,
    pub(super) shard: Shard,
    pub(super) how: &'a args::How,
    /// Sections of the report that no experiment made.
    pub(super) sections: Vec<ReportSection>,
}

impl Job<'_> {
    pub(super) fn run(
        mut self,
        title: &str,
        specs: &[ExperimentSpec],
        command: impl Fn(&ExperimentSpec) -> String,
    ) -> Result<(), Failure> {
        std::fs::create_dir_all(self.out)
            .map_err(|source| folder::FolderError::Io { path: self.out.to_path_buf(), source })?;
        let stop = stop_on_ctrl_c();
        let mut all: Vec<Results> = Vec::new();
        let mut journals = Vec::new();
        for spec in specs {
            let mut journal = Journal::open(&self.journal(spec), spec, self.shard)?;
            let display = Display::new(&spec.name);
            let options = RunOptions {
                threads: self.how.jobs,
                shard: self.shard,
                stop,
                progress: &|progress| display.show(progress),
            };
            let results = run::run(spec, &options, Some(&mut journal)).map_err(|error| match error {
                RunError::Stopped { done, pieces } => {
                    Failure::Interrupted { out: self.out.to_path_buf(), done, pieces }
                }
                error => Failure::Run(error),
            })?;
            display.finish();
            all.push(results);
            journals.push(journal);
        }
        folder::write_tables(self.out, specs, &all, self.shard)?;
        // A shard alone has only some of the instances: its figures would mislead.
        if self.shard == Shard::WHOLE {
            let mut report = folder::report(title, specs, &all, command)?;
            insert(&mut report, std::mem::take(&mut self.sections));
            folder::write_report(self.out, &report)?;
        }
        for journal in journals {
            journal.remove()?;
        }
        if self.how.json {
            let tables: Vec<Value> = specs.iter().zip(&all).map(|(spec, results)| table::json(spec, results)).collect();
            return print_json(&tables);
        }
        if self.shard == Shard::WHOLE {
            for (spec, results) in specs.iter().zip(&all) {
                table::print(&mut io::stdout().lock(), spec, results)?;
            }
        }
        tell_where(self.out)
    }

    fn journal(&self, spec: &ExperimentSpec) -> PathBuf {
        // Names of experiments may hold anything; file names may not.
        let safe: String = spec.name.chars().map(|c| if c.is_alphanumeric() || c == '-' { c } else { '_' }).collect();
        self.out.join(format!(".unfinished-{safe}.jsonl"))
    }
}

/// Puts each section before those whose name begins as its own does, or at the end.
fn insert(report: &mut Report, sections: Vec<ReportSection>) {
    for section in sections {
        let family = section.figure.id.split('-').next().unwrap_or_default().to_string();
        let place = report.sections.iter().position(|other| other.figure.id.starts_with(&family));
        report.sections.insert(place.unwrap_or(report.sections.len()), section);
    }
}

fn write_report(
    out: &Path,
    title: &str,
    specs: &[ExperimentSpec],
    results: &[Results],
    command: impl Fn(&ExperimentSpec) -> String,
) -> Result<(), Failure> {
    let report = folder::report(title, specs, results, command)?;
    Ok(folder::write_report(out, &report)?)
}

fn tell_where(out: &Path) -> Result<(), Failure> {
    let report = out.join("report.html");
    let shown = if report.exists() { report } else { out.to_path_buf() };
    Ok(writeln!(io::stdout().lock(), "\n{}", shown.display())?)
}
