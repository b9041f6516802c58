//! `calibandit paper`: every figure of the paper, and some more.

use calibandit_experiment::Experiment;
use calibandit_experiment::run::Shard;
use calibandit_experiment::spec::Overrides;
use calibandit_paper::f1;
use calibandit_paper::paper as figures;
use calibandit_report::report::ReportSection;
use calibandit_report::session::Texts;

use super::f1::study;
use super::runs::Output;
use crate::args;
use crate::failure::Failure;

pub(crate) fn paper(arguments: &args::Paper) -> Result<(), Failure> {
    let selected = figures::select(&arguments.figures).map_err(Failure::Usage)?;
    let is_race = |name: &str| name.starts_with("f1-");
    let races = selected.iter().any(|name| is_race(name));
    // From raw laps on if there are any; otherwise with the models that come with the library.
    let pairs = match &arguments.f1_data {
        Some(folder) if races => study(folder, &f1::Options::default(), arguments.how.jobs)?.selected_pairs(),
        _ => f1::shipped(),
    };
    let mut specs = Vec::new();
    let mut sections = Vec::new();
    let mut fitted_anew = false;
    for name in selected {
        if name == f1::FIGURE {
            let mut section = ReportSection::new(f1::figure(&pairs));
            section.command = again(arguments, name);
            sections.push(section);
        } else if is_race(name) && arguments.f1_data.is_some() {
            // One experiment a pair, in place of those with the models of the library.
            if !std::mem::replace(&mut fitted_anew, true) {
                specs.extend(f1::experiments(&pairs)?);
            }
        } else if let Some(figure) = figures::find(name) {
            specs.push(figure.spec()?);
        }
    }
    let mut smaller = Vec::new();
    for spec in specs {
        let horizon = arguments.quick.then_some(spec.horizon() / 10);
        let instances = arguments.instances.or(arguments.quick.then_some(5));
        smaller.push(spec.with(Overrides { seed: None, instances, horizon })?);
    }
    let command = |spec: &Experiment| again(arguments, spec.name());
    let out = Output { out: &arguments.out, shard: Shard::WHOLE, how: &arguments.how, sections };
    let texts = Texts { title: figures::TITLE, lead: figures::LEAD, caption: &figures::caption, command: &command };
    out.run(texts, &smaller)
}

/// The command that makes a figure again.
fn again(arguments: &args::Paper, name: &str) -> String {
    let mut command = match &arguments.f1_data {
        Some(folder) if name.starts_with("f1-") => {
            format!("cargo run --release -- paper --f1-data {}", folder.display())
        }
        _ => format!("cargo run --release -- paper {name}"),
    };
    if let Some(instances) = arguments.instances {
        command += &format!(" --instances {instances}");
    }
    if arguments.quick {
        command += " --quick";
    }
    command
}
