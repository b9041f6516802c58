//! `calibandit paper`: the figures of the paper, and three more.

use std::io;

use calibandit_experiment::Experiment;
use calibandit_experiment::output::OutputDir;
use calibandit_experiment::run::Shard;
use calibandit_experiment::spec::Overrides;
use calibandit_paper::f1::{self, DriverPair, StintOptions};
use calibandit_paper::figures::{self, FigureSet, PaperFigure};
use calibandit_paper::identification::{IDENTIFICATION_RUNS, identification_figure};
use calibandit_report::report::ReportSection;
use calibandit_report::session::{ExtraSection, ReportTexts};

use super::closing::Closing;
use super::f1::study;
use super::runs::Output;
use crate::args::PaperArgs;
use crate::error::CliError;

pub(crate) fn paper(arguments: &PaperArgs) -> Result<(), CliError> {
    let set = set(arguments);
    let selected = figures::select(set.figures, &arguments.figures)?;
    let is_f1 = |figure: &PaperFigure| matches!(figure, PaperFigure::LapTimeModels | PaperFigure::FittedPairs(_));
    // From raw lap times if a folder is given; otherwise the models that are part of the library.
    let fitted = match &arguments.f1_data {
        Some(folder) if selected.iter().any(is_f1) => {
            Some(study(folder, &StintOptions::default(), arguments.execution.threads.jobs)?.selected_pairs())
        }
        _ => None,
    };
    let mut specs: Vec<Experiment> = Vec::new();
    let mut sections = Vec::new();
    let mut commands: Vec<(String, String)> = Vec::new();
    let mut pairs_added = false;
    for figure in selected {
        match (figure, &fitted) {
            (PaperFigure::LapTimeModels, fitted) => {
                let chart = fitted.as_ref().map_or_else(|| f1::figure(&f1::shipped()), |pairs| f1::figure(pairs));
                let mut section = ReportSection::new(chart);
                section.command = again(arguments, figure.name(), fitted.is_some());
                sections.push(ExtraSection { section, after: specs.len() });
            }
            (PaperFigure::Identification, _) => {
                let runs = arguments.instances.unwrap_or(if arguments.quick { 50 } else { IDENTIFICATION_RUNS });
                let mut section = ReportSection::new(identification_figure(runs));
                section.prose = figures::identification_caption().to_owned();
                section.command = again(arguments, figure.name(), false);
                sections.push(ExtraSection { section, after: specs.len() });
            }
            (PaperFigure::FittedPairs(_), Some(pairs)) => {
                // All figures on fitted pairs are replaced by one experiment per pair.
                if !std::mem::replace(&mut pairs_added, true) {
                    let own = f1::experiments(pairs)?;
                    commands
                        .extend(own.iter().map(|spec| (spec.name().to_string(), again(arguments, spec.name(), true))));
                    specs.extend(own);
                }
            }
            (figure, _) => {
                let experiment = figure.experiment().expect("the other figures are experiments");
                commands.push((experiment.name.to_string(), again(arguments, experiment.name, false)));
                specs.push(experiment.read()?);
            }
        }
    }
    let mut shortened = Vec::new();
    for spec in specs {
        let horizon = arguments.quick.then_some(spec.horizon() / 10);
        let instances = arguments.instances.or(arguments.quick.then_some(5));
        shortened.push(spec.with(Overrides { seed: None, instances, horizon })?);
    }
    let command = |spec: &Experiment| {
        let own = commands.iter().find(|(name, _)| name == spec.name());
        own.map(|(_, command)| command.clone()).expect("every experiment has a command")
    };
    let PaperArgs { execution, .. } = arguments;
    let out = &arguments.out.clone().unwrap_or_else(|| format!("out/{}", set.name).into());
    // Other figures of the paper are results of the same kind.
    let known = experiments_of_the_paper(&fitted.unwrap_or_else(f1::shipped))?;
    let force = arguments.force || OutputDir::new(out).holds_only(&known);
    let run = Output { out, force, shard: Shard::WHOLE, jobs: execution.threads.jobs, sections };
    let FigureSet { title, lead, .. } = set;
    let texts = ReportTexts { title, lead, caption: &figures::caption, command: &command };
    let results = run.run(texts, &shortened)?;
    let mut closing = Closing::new(execution);
    closing.add(out.clone(), &shortened, results);
    closing.print(&mut io::stdout().lock())
}

/// The figures to choose from.
fn set(arguments: &PaperArgs) -> FigureSet {
    match (arguments.neighbours, arguments.lanes) {
        (true, _) => figures::NEIGHBOUR_SET,
        (_, true) => figures::LANE_SET,
        (false, false) => figures::PAPER,
    }
}

/// Every experiment that `paper` can run: the figures, and one for each pair of drivers.
fn experiments_of_the_paper(pairs: &[DriverPair]) -> Result<Vec<Experiment>, CliError> {
    let mut all = f1::experiments(pairs)?;
    for experiment in figures::all().filter_map(PaperFigure::experiment) {
        all.push(experiment.read()?);
    }
    Ok(all)
}

/// The command that makes a figure again; `refitted` if it uses models that were fitted to the user's data.
fn again(arguments: &PaperArgs, name: &str, refitted: bool) -> String {
    let mut command = match &arguments.f1_data {
        Some(folder) if refitted => format!("cargo run --release -- paper --f1-data {}", folder.display()),
        _ if set(arguments) == figures::PAPER => format!("cargo run --release -- paper {name}"),
        _ => format!("cargo run --release -- paper --{} {name}", set(arguments).name),
    };
    if let Some(instances) = arguments.instances {
        command += &format!(" --instances {instances}");
    }
    if arguments.quick {
        command += " --quick";
    }
    command
}
