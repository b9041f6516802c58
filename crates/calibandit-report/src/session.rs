//! Experiments run into a folder: what `calibandit run` does, for every program that does the same.
//!
//! Finished pieces are kept in the folder as they come; the same job goes on from there after an interruption. Tables, figures and
//! the report appear when all is done.

use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;

use calibandit::rng::GENERATOR;
use calibandit_experiment::output::{self as folder, FolderError};

use crate::chart::Palette;
#[cfg(feature = "png")]
use crate::chart::PngError;
use crate::figures;
use crate::report::{Footer, Report, ReportSection};
use calibandit_experiment::Experiment;
use calibandit_experiment::results::Results;
use calibandit_experiment::run::{self, Journal, JournalError, Progress, RunError, RunOptions, Shard};

/// Where results go and what is said about them.
pub struct Job<'a> {
    /// The folder.
    pub out: &'a Path,
    /// Which part of the work to do.
    pub shard: Shard,
    /// How many threads; 0 for as many as the machine can run at once.
    pub threads: usize,
    /// Set from elsewhere to stop.
    pub stop: &'a AtomicBool,
    /// What the report says beside the numbers.
    pub texts: Texts<'a>,
    /// Sections of the report that no experiment made.
    pub sections: Vec<ReportSection>,
}

/// What a report says beside the numbers.
#[derive(Clone, Copy)]
pub struct Texts<'a> {
    /// The title of the report.
    pub title: &'a str,
    /// The paragraphs under the title; may be empty.
    pub lead: &'a str,
    /// The text of an experiment's section, if there is one.
    pub caption: &'a dyn Fn(&Experiment) -> Option<String>,
    /// The command that produces an experiment's section again.
    pub command: &'a dyn Fn(&Experiment) -> String,
}

/// Whoever wants to know how far an experiment has come.
pub trait Watcher: Sync {
    /// Called when a piece is finished, from any thread.
    fn show(&self, progress: Progress);
    /// Called when all pieces are.
    fn finish(&self) {}
}

/// Why a job did not come to its end.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum JobError {
    /// A run failed, or was told to stop.
    #[error(transparent)]
    Run(#[from] RunError),
    /// The folder could not be written.
    #[error(transparent)]
    Folder(#[from] FolderError),
    /// A figure could not be drawn.
    #[cfg(feature = "png")]
    #[error(transparent)]
    Png(#[from] PngError),
}

impl From<JournalError> for JobError {
    fn from(error: JournalError) -> Self {
        JobError::Run(error.into())
    }
}

impl Job<'_> {
    /// Runs the experiments one after the other; `watched_by` gives the watcher of one.
    pub fn run<W: Watcher>(
        mut self,
        specs: &[Experiment],
        watched_by: impl Fn(&Experiment) -> W,
    ) -> Result<Vec<Results>, JobError> {
        folder::create(self.out)?;
        let mut all: Vec<Results> = Vec::new();
        let mut journals = Vec::new();
        for spec in specs {
            let mut journal = Journal::open(&self.journal(spec), spec, self.shard)?;
            let watcher = watched_by(spec);
            let progress = |progress| watcher.show(progress);
            let options = RunOptions { threads: self.threads, shard: self.shard, stop: self.stop, progress: &progress };
            all.push(run::run(spec, &options, Some(&mut journal))?);
            watcher.finish();
            journals.push(journal);
        }
        folder::write_tables(self.out, specs, &all, self.shard)?;
        // A shard alone has only some of the instances: its figures would mislead.
        if self.shard == Shard::WHOLE {
            let mut report = report(self.texts, specs, &all);
            insert(&mut report, std::mem::take(&mut self.sections));
            write_report(self.out, &report)?;
        }
        for journal in journals {
            journal.remove()?;
        }
        Ok(all)
    }

    fn journal(&self, spec: &Experiment) -> PathBuf {
        // Names of experiments may hold anything; file names may not.
        let safe: String = spec.name().chars().map(|c| if c.is_alphanumeric() || c == '-' { c } else { '_' }).collect();
        self.out.join(format!(".unfinished-{safe}.jsonl"))
    }
}

/// Merges the shards of a run, as `calibandit merge` does: tables, figures and the report.
pub fn merge(folders: &[PathBuf], out: &Path, texts: Texts<'_>) -> Result<(Vec<Experiment>, Vec<Results>), JobError> {
    let (specs, results) = folder::merge(folders)?;
    folder::write_tables(out, &specs, &results, Shard::WHOLE)?;
    write_report(out, &report(texts, &specs, &results))?;
    Ok((specs, results))
}

/// The report of these results.
pub fn report(texts: Texts<'_>, specs: &[Experiment], results: &[Results]) -> Report {
    let mut report = Report::new(texts.title);
    report.lead = texts.lead.to_string();
    for (spec, results) in specs.iter().zip(results) {
        let mut section = figures::section(spec, results, &(texts.command)(spec));
        section.prose = (texts.caption)(spec).unwrap_or_default();
        report.sections.push(section);
    }
    let mut seeds: Vec<String> = specs.iter().map(|spec| spec.seed().to_string()).collect();
    seeds.dedup();
    report.footer = Footer {
        versions: vec![("calibandit".into(), env!("CARGO_PKG_VERSION").into())],
        seed: seeds.join(", "),
        generator: GENERATOR.into(),
        command: String::new(),
    };
    report
}

/// Writes the figures of a report as SVG (and as PNG, with the feature `png`), and the report itself.
pub fn write_report(out: &Path, report: &Report) -> Result<(), JobError> {
    let figures = out.join("figures");
    folder::create(&figures)?;
    let palette: Palette = report.palette();
    for section in &report.sections {
        let figure = &section.figure;
        folder::write(&figures.join(format!("{}.svg", figure.id)), figure.to_svg(&palette).as_bytes())?;
        #[cfg(feature = "png")]
        folder::write(&figures.join(format!("{}.png", figure.id)), &figure.to_png(&palette, 2.0)?)?;
    }
    Ok(folder::write(&out.join("report.html"), report.to_html().as_bytes())?)
}

/// The command that makes an experiment again, where nobody knows its file.
pub fn again(spec: &Experiment) -> String {
    format!("calibandit run {}.toml", spec.name())
}

/// Puts each section before those whose name begins as its own does, or at the end.
fn insert(report: &mut Report, sections: Vec<ReportSection>) {
    for section in sections {
        let family = section.figure.id.split('-').next().unwrap_or_default().to_string();
        let place = report.sections.iter().position(|other| other.figure.id.starts_with(&family));
        report.sections.insert(place.unwrap_or(report.sections.len()), section);
    }
}
