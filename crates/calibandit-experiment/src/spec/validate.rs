//! Validates a document: from the values of a file to the parts of an experiment.
//!
//! The structure is checked first, against the schema. Then follow the checks that concern several keys: labels, names,
//! checkpoints, the figure, and the points of the sweep. All of these report together.

use std::collections::{HashMap, HashSet};

use calibandit::Grid;

use super::check::check_file;
use super::diagnostic::{DiagnosticKind, Finding};
use super::expand::{Frame, Point, points};
use super::experiment::{ExperimentFile, FigureSpec, Scale, ShownUnit, TIME};
use super::parts::read_policy;
use super::suggest::{nearest, one_of};
use super::sweep::SpannedSweep;
use super::target::SweptTables;
use super::value::{Data, SourceSpan, SpannedValue};

/// Names are part of file names, whose length is limited to 255 bytes on most systems.
const LONGEST_NAME: usize = 100;

/// The file of a document, the points of its sweep and its checkpoints, or everything that is wrong.
pub(crate) fn validate(document: &SpannedValue) -> Result<(ExperimentFile, Vec<Point>, Grid), Vec<Finding>> {
    let findings = check_file(document);
    if !findings.is_empty() {
        return Err(findings);
    }
    let mut document = document.clone();
    label_policies(&mut document)?;
    let file: ExperimentFile = serde_json::from_value(document.to_json())
        .map_err(|error| vec![impossible(&document, &[], error.to_string())])?;

    let mut findings = Vec::new();
    findings.extend(check_name(&file.name, document.get("name").and_then(|name| name.span.clone())));
    findings.extend(check_figure(&file, &document));
    let grid = check_checkpoints(&file, &document).map_err(|finding| findings.push(*finding));
    let checkpoints = grid.as_ref().map_or(1, |grid| grid.times().len());
    let points = expand(&file, &document, checkpoints).map_err(|more| findings.extend(more));
    if let Ok(points) = &points {
        findings.extend(check_show(&file, &document, points));
    }
    match (points, grid) {
        (Ok(points), Ok(grid)) if findings.is_empty() => Ok((file, points, grid)),
        _ => Err(findings),
    }
}

/// Only a game whose rewards have a range can be shown in rewards.
fn check_show(file: &ExperimentFile, document: &SpannedValue, points: &[Point]) -> Option<Finding> {
    if file.show != Some(ShownUnit::Rewards) || points.iter().all(|point| point.game.rewards().is_some()) {
        return None;
    }
    let span = document.get("show").and_then(|show| show.span.clone());
    let message = "`show = \"rewards\"`, but the game is stated in losses and has no range of rewards";
    let finding = Finding::new(span, "show", DiagnosticKind::ImpossibleValue, message.to_owned());
    Some(finding.help("leave out `show`, or state a custom game in rewards: `rewards = [low, high]` and `reward`"))
}

/// Gives every policy without a label the label of its kind, numbered if another policy has it.
fn label_policies(document: &mut SpannedValue) -> Result<(), Vec<Finding>> {
    let Some(SpannedValue { data: Data::List(policies), .. }) = document.get_mut("policy") else { return Ok(()) };
    let mut findings = Vec::new();
    let mut taken = TakenLabels::default();
    for (i, policy) in policies.iter().enumerate() {
        if let Some((label, text)) = policy.get("label").and_then(|label| Some((label, label.text()?)))
            && !taken.add(text)
        {
            let message = format!("two policies have the label {text:?}: results could not be told apart");
            let key = format!("policy[{i}].label");
            findings.push(Finding::new(label.span.clone(), key, DiagnosticKind::ImpossibleValue, message));
        }
    }
    for (i, policy) in policies.iter_mut().enumerate().filter(|(_, policy)| policy.get("label").is_none()) {
        match read_policy(policy, &format!("policy[{i}]")) {
            Ok(spec) => {
                let label = taken.unused(&spec.label());
                let span = policy.span.clone();
                policy.set("label", &span, SpannedValue { span: span.clone(), data: Data::Text(label) });
            }
            Err(finding) => findings.push(*finding),
        }
    }
    if findings.is_empty() { Ok(()) } else { Err(findings) }
}

/// The labels of policies that are in use.
#[derive(Default)]
pub(crate) struct TakenLabels {
    taken: HashSet<String>,
    /// By label: the number from which on numbers have not been tried.
    next: HashMap<String, usize>,
}

impl TakenLabels {
    /// Takes a label; `false` if it is taken already.
    pub(crate) fn add(&mut self, label: &str) -> bool {
        self.taken.insert(label.to_owned())
    }

    /// Takes the label, or the first of "label #2", "label #3", ... that is not taken. All numbers of one label
    /// together are tried once.
    pub(crate) fn unused(&mut self, label: &str) -> String {
        if self.add(label) {
            return label.to_owned();
        }
        let next = self.next.entry(label.to_owned()).or_insert(2);
        loop {
            let numbered = format!("{label} #{next}");
            *next += 1;
            if self.taken.insert(numbered.clone()) {
                return numbered;
            }
        }
    }
}

/// The name must be usable as part of file names on every system.
pub(crate) fn check_name(name: &str, span: SourceSpan) -> Option<Finding> {
    let allowed = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.');
    if name.chars().all(allowed) && !name.starts_with('.') && name.len() <= LONGEST_NAME {
        return None;
    }
    let usable = name.trim_start_matches('.').chars().map(|c| if allowed(c) { c } else { '-' });
    let usable: String = usable.take(LONGEST_NAME).collect();
    if name.chars().all(allowed) && !name.starts_with('.') {
        let message = format!(
            "`name` has {} characters, but at most {LONGEST_NAME} are allowed: it is part of file names",
            name.len()
        );
        let finding = Finding::new(span, "name", DiagnosticKind::ImpossibleValue, message);
        return Some(finding.help("give a short `name`; figures and tables show the `title`, which may be long"));
    }
    let message = format!(
        "`name` is part of file names: it may have up to {LONGEST_NAME} letters, digits, `-`, `_` and `.`, and must \
         not begin with `.`"
    );
    let suggestion = Some(usable.trim_matches('-')).filter(|usable| !usable.is_empty());
    let finding = Finding::new(span, "name", DiagnosticKind::ImpossibleValue, message);
    Some(finding.suggest(suggestion).help("figures and tables show the `title`"))
}

/// The checkpoints are given one by one or by a grid, and are times of the experiment.
fn check_checkpoints(file: &ExperimentFile, document: &SpannedValue) -> Result<Grid, Box<Finding>> {
    let at = ["checkpoints", "at"];
    let is_given = |key: &str| document.get("checkpoints").is_some_and(|table| table.get(key).is_some());
    if is_given("at") && (is_given("scale") || is_given("points")) {
        let message = "checkpoints are given either by `at` or by `scale` and `points`, not by both".to_owned();
        return Err(Box::new(impossible(document, &at, message).help("remove one of the two")));
    }
    file.checkpoints.grid(file.horizon).map_err(|error| Box::new(impossible(document, &at, error.to_string())))
}

/// The figure refers to axes and policies that exist.
fn check_figure(file: &ExperimentFile, document: &SpannedValue) -> Vec<Finding> {
    let FigureSpec { x, y_scale, y_min, excess_over, .. } = &file.figure;
    let mut findings = Vec::new();
    let axes: Vec<&str> = std::iter::once(TIME).chain(file.sweep.names()).collect();
    if !axes.contains(&x.as_str()) {
        let message = format!("`x` must be {TIME:?} or a key of the sweep, but is {x:?}");
        findings.push(
            impossible(document, &["figure", "x"], message)
                .suggest(nearest(x, axes.iter().copied()))
                .help(format!("`x` can be {}", one_of(axes))),
        );
    }
    if let Some(least) = y_min.filter(|least| *y_scale == Scale::Log && *least <= 0.0) {
        let message = format!("a logarithmic axis cannot begin at {least}: `y_min` must be more than 0");
        findings.push(impossible(document, &["figure", "y_min"], message));
    }
    let labels: Vec<&str> = file.policy.iter().map(|entry| entry.label.as_str()).collect();
    if let Some(label) = excess_over.as_deref().filter(|label| !labels.contains(label)) {
        let message = format!("`excess_over` must be the label of a policy, but no policy has the label {label:?}");
        findings.push(
            impossible(document, &["figure", "excess_over"], message)
                .suggest(nearest(label, labels.iter().copied()))
                .help(format!("the labels are {}", one_of(labels))),
        );
    }
    findings
}

/// The points of the sweep.
fn expand(file: &ExperimentFile, document: &SpannedValue, checkpoints: usize) -> Result<Vec<Point>, Vec<Finding>> {
    let tables = SweptTables {
        game: document.get("game").expect("the schema requires a game").clone(),
        policies: document.get("policy").map(SpannedValue::items).unwrap_or_default().to_vec(),
        labels: file.policy.iter().map(|entry| entry.label.clone()).collect(),
        live: document.get("live").cloned(),
    };
    let frame = Frame {
        name: &file.name,
        seed: file.seed,
        horizon: file.horizon,
        horizon_span: document.get("horizon").and_then(|horizon| horizon.span.clone()),
        instances: file.instances,
        instances_span: document.get("instances").and_then(|instances| instances.span.clone()),
        checkpoints,
    };
    let sweep = document.get("sweep").map(SpannedSweep::new).unwrap_or_default();
    points(&frame, &tables, &sweep)
}

/// An impossible value at a path of the document, or as deep on the path as the document has values.
fn impossible(document: &SpannedValue, path: &[&str], message: String) -> Finding {
    let value = path.iter().fold(document, |value, key| value.get(key).unwrap_or(value));
    Finding::new(value.span.clone(), path.join("."), DiagnosticKind::ImpossibleValue, message)
}
