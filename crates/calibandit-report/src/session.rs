//! Runs experiments into an output folder: what `calibandit run` does, for every program that does the same.
//!
//! Finished tasks are stored in the folder while the session runs; after an interruption, the same session continues
//! from there. Tables, figures and the report are written when all tasks are done, and the manifest last. The folder is
//! locked meanwhile.

use std::io;
use std::path::PathBuf;
use std::sync::atomic::AtomicBool;

use calibandit_experiment::output::{OutputDir, OutputLock, OutputNote, Stored};
use calibandit_experiment::results::Results;
use calibandit_experiment::run::{self, RunOptions, Shard};
use calibandit_experiment::schedule::Progress;
use calibandit_experiment::{ErrorKind, Experiment};

use crate::chart::Palette;
#[cfg(feature = "png")]
use crate::chart::PngError;
use crate::figures;
use crate::report::{Footer, Report, ReportSection};

/// How experiments are run, and where the results go.
pub struct Session<'a> {
    /// The output folder.
    pub out: &'a OutputDir,
    /// Whether results of other experiments in the folder are replaced. If not, they are refused:
    /// [`ErrorKind::Occupied`].
    pub force: bool,
    /// The part of the tasks to run.
    pub shard: Shard,
    /// The number of threads; 0 for as many as the machine can run at once.
    pub threads: usize,
    /// Stops the session when it is set, from any thread.
    pub stop: &'a AtomicBool,
    /// Is told what the user should know about the folder, such as damaged records of a journal.
    pub note: &'a dyn Fn(OutputNote),
    /// The texts of the report.
    pub texts: ReportTexts<'a>,
    /// Sections of the report that do not come from an experiment.
    pub sections: Vec<ExtraSection>,
}

/// A section of a report that does not come from an experiment, with its place.
#[derive(Clone, Debug, PartialEq)]
pub struct ExtraSection {
    /// The section.
    pub section: ReportSection,
    /// The number of experiments whose sections precede it. Extra sections with the same number keep their order.
    pub after: usize,
}

/// The texts of a report.
#[derive(Clone, Copy)]
pub struct ReportTexts<'a> {
    /// The title. If it is empty, the title is the heading of the experiment, or names the experiments.
    pub title: &'a str,
    /// The paragraphs under the title; may be empty.
    pub lead: &'a str,
    /// The description of an experiment's figure, if there is one.
    pub caption: &'a dyn Fn(&Experiment) -> Option<String>,
    /// The command that reproduces the section of an experiment.
    pub command: &'a dyn Fn(&Experiment) -> String,
}

/// Why a session was not completed.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SessionError {
    /// A run failed or was stopped, or the output folder could not be read or written.
    #[error(transparent)]
    Experiment(#[from] calibandit_experiment::Error),
    /// Results could not be read back from their temporary file.
    #[error(transparent)]
    Results(io::Error),
    /// A figure could not be drawn.
    #[cfg(feature = "png")]
    #[error(transparent)]
    Png(#[from] PngError),
}

impl Session<'_> {
    /// Runs the experiments one after the other. `progress_of` gives the receiver of the progress of an experiment.
    ///
    /// A shard writes only its tables: figures of some of the instances would be misleading.
    ///
    /// # Errors
    /// [`SessionError`] if a run fails or is stopped, if another process writes to the folder, or if a file cannot be
    /// written. Finished tasks stay in the folder.
    pub fn run<P: Progress>(
        self,
        experiments: &[Experiment],
        progress_of: impl Fn(&Experiment) -> P,
    ) -> Result<Vec<Results>, SessionError> {
        let lock = self.out.lock("run", self.note)?;
        if !self.force {
            self.out.check_replaceable(experiments, self.shard)?;
        }
        let open = |experiment| run::open_journal(&lock, experiment, self.shard, self.note);
        let mut journals = experiments.iter().map(open).collect::<Result<Vec<_>, _>>()?;
        let options = RunOptions { threads: self.threads, shard: self.shard, stop: self.stop, progress: &() };
        // The first one is checked by its own run.
        for (experiment, journal) in experiments.iter().zip(&journals).skip(1) {
            if journal.known().is_empty() {
                run::check(experiment, &options)?;
            }
        }
        let mut all: Vec<Results> = Vec::new();
        for (experiment, journal) in experiments.iter().zip(&mut journals) {
            let progress = progress_of(experiment);
            all.push(run::run(experiment, &RunOptions { progress: &progress, ..options }, Some(journal))?);
        }
        let new = lock.write_tables(experiments, &all, self.shard)?;
        if self.shard == Shard::WHOLE {
            let mut report = report(self.texts, experiments, &all)?;
            insert(&mut report.sections, self.sections);
            write_report(&lock, &report)?;
        }
        new.finish()?;
        for journal in journals {
            journal.remove()?;
        }
        Ok(all)
    }
}

/// Merges the shards of a run, as `calibandit merge` does, and writes tables, figures and the report. Results of other
/// experiments in `out` are replaced only with `force`.
///
/// # Errors
/// [`SessionError`] if the folders are not all shards of one run, if `out` is one of them, or if a file cannot be read
/// or written.
pub fn merge(
    folders: &[PathBuf],
    out: &OutputDir,
    force: bool,
    note: &dyn Fn(OutputNote),
    texts: ReportTexts<'_>,
) -> Result<(Vec<Experiment>, Vec<Results>), SessionError> {
    let place = out.path().canonicalize().ok();
    if place.is_some() && folders.iter().any(|folder| folder.canonicalize().ok() == place) {
        return Err(calibandit_experiment::Error::from(ErrorKind::OutputIsInput { path: out.path().into() }).into());
    }
    let shards: Vec<OutputDir> = folders.iter().map(OutputDir::new).collect();
    let (experiments, results) = OutputDir::merge(&shards)?;
    let lock = out.lock("merge", note)?;
    if !force {
        out.check_replaceable(&experiments, Shard::WHOLE)?;
    }
    let new = lock.write_tables(&experiments, &results, Shard::WHOLE)?;
    write_report(&lock, &report(texts, &experiments, &results)?)?;
    new.finish()?;
    Ok((experiments, results))
}

/// Writes the report of a folder again, as `calibandit report` does.
///
/// # Errors
/// [`SessionError`] if the folder does not have the complete results of all shards, or if a file cannot be written.
pub fn rewrite_report(out: &OutputDir, note: &dyn Fn(OutputNote), texts: ReportTexts<'_>) -> Result<(), SessionError> {
    // A lock would create a folder that does not exist.
    if !out.path().is_dir() {
        out.read()?;
    }
    let lock = out.lock("report", note)?;
    let Stored { manifest, experiments, results, .. } = lock.read()?;
    if manifest.shard != Shard::WHOLE {
        let kind = ErrorKind::OneShard { path: out.path().into(), shard: manifest.shard };
        return Err(calibandit_experiment::Error::from(kind).into());
    }
    write_report(&lock, &report(texts, &experiments, &results)?)?;
    Ok(lock.sync()?)
}

/// The report of the results of these experiments, with one section per experiment.
///
/// # Errors
/// [`SessionError::Results`] if curves in a temporary file cannot be read.
pub fn report(texts: ReportTexts<'_>, experiments: &[Experiment], results: &[Results]) -> Result<Report, SessionError> {
    let title = if texts.title.is_empty() { title(experiments) } else { texts.title.to_owned() };
    let mut report = Report::new(title);
    report.lead = texts.lead.to_string();
    for (experiment, results) in experiments.iter().zip(results) {
        let mut section =
            figures::section(experiment, results, &(texts.command)(experiment)).map_err(SessionError::Results)?;
        section.prose = (texts.caption)(experiment).unwrap_or_default();
        report.sections.push(section);
    }
    report.footer = Footer::for_seeds(experiments.iter().map(Experiment::seed));
    Ok(report)
}

/// The number of experiments whose headings a title has.
const MOST_HEADINGS: usize = 3;

/// A title that names the experiments: "a", "a, b and c", "a, b, c and 2 more".
fn title(experiments: &[Experiment]) -> String {
    let headings: Vec<&str> = experiments.iter().take(MOST_HEADINGS).map(Experiment::heading).collect();
    match (experiments.len() - headings.len(), headings.as_slice()) {
        (0, []) => "No experiments".to_owned(),
        (0, [only]) => (*only).to_owned(),
        (0, [first @ .., last]) => format!("{} and {last}", first.join(", ")),
        (more, _) => format!("{} and {more} more", headings.join(", ")),
    }
}

/// Writes the report and its figures, as SVG and (with the feature `png`) as PNG. Figures of earlier reports in the
/// same folder are removed.
///
/// # Errors
/// [`SessionError`] if a figure cannot be drawn or a file cannot be written.
pub fn write_report(folder: &OutputLock, report: &Report) -> Result<(), SessionError> {
    let palette: Palette = report.palette();
    for section in report.sections.iter().filter(|section| !section.figure.panels.is_empty()) {
        let figure = &section.figure;
        folder.write(format!("figures/{}.svg", figure.id), figure.to_svg(&palette).as_bytes())?;
        #[cfg(feature = "png")]
        folder
            .write(format!("figures/{}.png", figure.id), &figure.to_png(&palette, figure.png_scale(&palette, 2.0))?)?;
    }
    folder.remove_figures(|name| report.sections.iter().any(|section| section.figure.id == name))?;
    Ok(folder.write("report.html", report.to_html_beside_results().as_bytes())?)
}

/// The command that reproduces an experiment if the name of its file is not known.
pub fn default_command(experiment: &Experiment) -> String {
    format!("calibandit run {}.toml", experiment.name())
}

/// Inserts extra sections among those of the experiments.
fn insert(sections: &mut Vec<ReportSection>, mut extra: Vec<ExtraSection>) {
    extra.sort_by_key(|extra| extra.after);
    // From the last to the first, so that an insertion does not move the places that are still to come.
    for ExtraSection { section, after } in extra.into_iter().rev() {
        sections.insert(after.min(sections.len()), section);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::chart::Figure;

    fn section(id: &str) -> ReportSection {
        ReportSection::new(Figure::new(id, id))
    }

    #[test]
    fn titles_name_the_experiments() {
        let experiment = |name: &str| {
            let text = format!(
                "name = \"{name}\"\nhorizon = 100\ngame = {{ kind = \"step\" }}\npolicy = [{{ kind = \"ucb1\" }}]\n"
            );
            Experiment::from_toml("x.toml", &text).unwrap_or_else(|errors| panic!("{errors}"))
        };
        let all = ["a", "b", "c", "d", "e"].map(experiment);
        assert_eq!(title(&all[..1]), all[0].heading());
        assert_eq!(title(&all[..2]), "a and b");
        assert_eq!(title(&all[..3]), "a, b and c");
        assert_eq!(title(&all), "a, b, c and 2 more");
        let texts = ReportTexts { title: "", lead: "", caption: &|_| None, command: &default_command };
        assert_eq!(report(texts, &[], &[]).unwrap().title, "No experiments");
        assert_eq!(report(ReportTexts { title: "Given", ..texts }, &[], &[]).unwrap().title, "Given");
    }

    #[test]
    fn extra_sections_are_placed_after_the_given_number_of_experiments() {
        let mut sections = vec![section("a"), section("b")];
        let extra = [("last", 9), ("y", 1), ("z", 1), ("first", 0)];
        insert(&mut sections, extra.map(|(id, after)| ExtraSection { section: section(id), after }).into());
        let ids: Vec<&str> = sections.iter().map(|section| section.figure.id.as_str()).collect();
        assert_eq!(ids, ["first", "a", "y", "z", "b", "last"]);
    }
}
