//! Commands that run experiments from files or work on their output folders: run, merge, report.

use std::io::{self, Write};
use std::path::{Path, PathBuf};

use calibandit_experiment::output::OutputDir;
use calibandit_experiment::preflight::memory_warnings;
use calibandit_experiment::results::Results;
use calibandit_experiment::run::{self, RunOptions, Shard};
use calibandit_experiment::spec::Overrides;
use calibandit_experiment::{ErrorKind, Experiment};
use calibandit_paper::figures;
use calibandit_report::session::{self, ExtraSection, ReportTexts, Session, SessionError};

use super::closing::Closing;
use crate::args;
use crate::error::CliError;
use crate::progress::{Display, notice, print_note, stop_on_ctrl_c};
use crate::text::visible;

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
        notice(&format!("warning: {}", visible(&warning)));
    }
    let command = |spec: &Experiment| {
        let file = specs.iter().position(|other| other.name() == spec.name()).map(|i| arguments.files[i].display());
        let seed = arguments.seed.map_or(String::new(), |seed| format!(" --seed {seed}"));
        let instances = arguments.instances.map_or(String::new(), |n| format!(" --instances {n}"));
        file.map_or(String::new(), |file| format!("calibandit run {file}{seed}{instances}"))
    };
    let groups: Vec<(PathBuf, &[Experiment])> = match &arguments.out {
        Some(out) => vec![(out.clone(), &specs)],
        None => specs.chunks(1).map(|spec| (default_folder(&spec[0], arguments.shard), spec)).collect(),
    };
    // All folders are checked before the first run.
    for (out, specs) in groups.iter().filter(|_| !arguments.force) {
        OutputDir::new(out).check_replaceable(specs, arguments.shard)?;
    }
    // So are all experiments; a session checks its own.
    for (out, specs) in groups.iter().skip(1) {
        let options = RunOptions {
            threads: arguments.execution.threads.jobs,
            shard: arguments.shard,
            stop: stop_on_ctrl_c(),
            progress: &(),
        };
        for spec in *specs {
            run::check(spec, &options).map_err(|error| failed(error.into(), out))?;
        }
    }
    let mut closing = Closing::new(&arguments.execution);
    for (out, specs) in groups {
        let run = Output {
            out: &out,
            force: arguments.force,
            shard: arguments.shard,
            jobs: arguments.execution.threads.jobs,
            sections: vec![],
        };
        closing.add(out.clone(), specs, run.run(texts(&command), specs)?);
    }
    closing.print(&mut io::stdout().lock())
}

/// `out/NAME`, or a folder in it for each shard, so that `out/NAME/shard-*` are the folders to merge.
fn default_folder(spec: &Experiment, shard: Shard) -> PathBuf {
    let folder = Path::new("out").join(spec.name());
    if shard == Shard::WHOLE {
        return folder;
    }
    folder.join(format!("shard-{}-of-{}", shard.index(), shard.of()))
}

/// Probable mistakes that can be seen before the run, with the name of the experiment if there are several.
fn warnings(spec: &Experiment, named: bool) -> Vec<String> {
    let place = if named { format!("{}: ", spec.name()) } else { String::new() };
    memory_warnings(spec).into_iter().map(|warning| format!("{place}{warning}")).collect()
}

pub(crate) fn merge(arguments: &args::MergeArgs) -> Result<(), CliError> {
    let args::MergeArgs { folders, out, force, tables } = arguments;
    let (specs, results) =
        session::merge(folders, &OutputDir::new(out), *force, &print_note, texts(&session::default_command))?;
    let mut closing = Closing { tables: *tables, json: false, parts: vec![] };
    closing.add(out.clone(), &specs, results);
    closing.print(&mut io::stdout().lock())
}

pub(crate) fn report(arguments: &args::ReportArgs) -> Result<(), CliError> {
    let folder = OutputDir::new(&arguments.folder);
    session::rewrite_report(&folder, &print_note, texts(&session::default_command))?;
    Ok(writeln!(io::stdout().lock(), "{}", arguments.folder.join("report.html").display())?)
}

/// The texts of a report on experiments from files. An experiment of the paper has its caption.
fn texts(command: &dyn Fn(&Experiment) -> String) -> ReportTexts<'_> {
    ReportTexts { title: "", lead: "", caption: &figures::caption, command }
}

/// The output folder and the options of a run.
pub(super) struct Output<'a> {
    pub(super) out: &'a Path,
    pub(super) force: bool,
    pub(super) shard: Shard,
    pub(super) jobs: usize,
    /// Sections of the report that do not come from an experiment.
    pub(super) sections: Vec<ExtraSection>,
}

impl Output<'_> {
    pub(super) fn run(self, texts: ReportTexts<'_>, specs: &[Experiment]) -> Result<Vec<Results>, CliError> {
        let session = Session {
            out: &OutputDir::new(self.out),
            force: self.force,
            shard: self.shard,
            threads: self.jobs,
            stop: stop_on_ctrl_c(),
            note: &print_note,
            texts,
            sections: self.sections,
        };
        session.run(specs, |spec| Display::new(spec.name())).map_err(|error| failed(error, self.out))
    }
}

/// The error of a run into this folder.
fn failed(error: SessionError, out: &Path) -> CliError {
    if let SessionError::Experiment(failure) = &error
        && let ErrorKind::Stopped { done, total: tasks } = *failure.kind()
    {
        return CliError::Interrupted { out: out.to_path_buf(), done, tasks };
    }
    error.into()
}
