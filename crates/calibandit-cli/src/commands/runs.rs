//! Commands that run experiments from files or work on their output folders: run, merge, report.

use std::io::{self, Write};
use std::path::Path;

use calibandit_experiment::output::{OutputDir, Stored};
use calibandit_experiment::preflight::memory_warnings;
use calibandit_experiment::run::Shard;
use calibandit_experiment::spec::Overrides;
use calibandit_experiment::{ErrorKind, Experiment};
use calibandit_paper::figures;
use calibandit_report::session::{self, ExtraSection, ReportTexts, Session, SessionError};
use serde_json::Value;

use super::lists::print_json;
use crate::args;
use crate::error::CliError;
use crate::progress::{Display, stop_on_ctrl_c};
use crate::table;

pub(crate) fn run(arguments: &args::RunArgs) -> Result<(), CliError> {
    let mut specs: Vec<Experiment> = Vec::new();
    let overrides = Overrides { seed: arguments.seed, instances: arguments.instances, horizon: None };
    for file in &arguments.files {
        let spec = Experiment::read(file)?.with(overrides)?;
        if specs.iter().any(|other| other.name() == spec.name()) {
            return Err(CliError::Usage(format!(
                "{}: another file also has the experiment `{}`; give each its own `name`",
                file.display(),
                spec.name()
            )));
        }
        specs.push(spec);
    }
    for warning in specs.iter().flat_map(|spec| warnings(spec, specs.len() > 1)) {
        eprintln!("warning: {warning}");
    }
    let command = |spec: &Experiment| {
        let file = specs.iter().position(|other| other.name() == spec.name()).map(|i| arguments.files[i].display());
        let seed = arguments.seed.map_or(String::new(), |seed| format!(" --seed {seed}"));
        let instances = arguments.instances.map_or(String::new(), |n| format!(" --instances {n}"));
        file.map_or(String::new(), |file| format!("calibandit run {file}{seed}{instances}"))
    };
    let out = Output { out: &arguments.out, shard: arguments.shard, execution: &arguments.execution, sections: vec![] };
    let title = if let [spec] = specs.as_slice() { spec.heading() } else { "Experiments" };
    out.run(texts(title, &command), &specs)
}

/// Probable mistakes that can be seen before the run, with the name of the experiment if there are several.
fn warnings(spec: &Experiment, named: bool) -> Vec<String> {
    let place = if named { format!("{}: ", spec.name()) } else { String::new() };
    memory_warnings(spec).into_iter().map(|warning| format!("{place}{warning}")).collect()
}

pub(crate) fn merge(arguments: &args::MergeArgs) -> Result<(), CliError> {
    let (specs, results) =
        session::merge(&arguments.folders, &arguments.out, true, texts("Experiments", &session::default_command))?;
    for (spec, results) in specs.iter().zip(&results) {
        table::print(&mut io::stdout().lock(), spec, results)?;
    }
    print_path(&arguments.out)
}

pub(crate) fn report(arguments: &args::ReportArgs) -> Result<(), CliError> {
    let Stored { experiments: specs, results, .. } = OutputDir::new(&arguments.folder).read()?;
    let title = if let [spec] = specs.as_slice() { spec.heading().to_string() } else { "Experiments".to_string() };
    let report = session::report(texts(&title, &session::default_command), &specs, &results);
    session::write_report(&arguments.folder, &report)?;
    print_path(&arguments.folder)
}

/// The texts of a report on experiments from files. An experiment of the paper has its caption.
fn texts<'a>(title: &'a str, command: &'a dyn Fn(&Experiment) -> String) -> ReportTexts<'a> {
    ReportTexts { title, lead: "", caption: &figures::caption, command }
}

/// The output folder and the options of a run.
pub(super) struct Output<'a> {
    pub(super) out: &'a Path,
    pub(super) shard: Shard,
    pub(super) execution: &'a args::ExecutionArgs,
    /// Sections of the report that do not come from an experiment.
    pub(super) sections: Vec<ExtraSection>,
}

impl Output<'_> {
    pub(super) fn run(self, texts: ReportTexts<'_>, specs: &[Experiment]) -> Result<(), CliError> {
        let session = Session {
            out: self.out,
            force: true,
            shard: self.shard,
            threads: self.execution.jobs,
            stop: stop_on_ctrl_c(),
            texts,
            sections: self.sections,
        };
        let all = session.run(specs, |spec| Display::new(spec.name())).map_err(|error| match &error {
            SessionError::Experiment(failure) => match *failure.kind() {
                ErrorKind::Stopped { done, total: tasks } => {
                    CliError::Interrupted { out: self.out.to_path_buf(), done, tasks }
                }
                _ => error.into(),
            },
            _ => error.into(),
        })?;
        if self.execution.json {
            let tables: Vec<Value> = specs.iter().zip(&all).map(|(spec, results)| table::json(spec, results)).collect();
            return print_json(&tables);
        }
        if self.shard == Shard::WHOLE {
            for (spec, results) in specs.iter().zip(&all) {
                table::print(&mut io::stdout().lock(), spec, results)?;
            }
        }
        print_path(self.out)
    }
}

fn print_path(out: &Path) -> Result<(), CliError> {
    let report = out.join("report.html");
    let shown = if report.exists() { report } else { out.to_path_buf() };
    Ok(writeln!(io::stdout().lock(), "\n{}", shown.display())?)
}
