//! From a file to a validated experiment.

use std::fs::File;
use std::io::Read;
use std::path::Path;

use calibandit::{Grid, PolicySpec};

use super::check::{At, check};
use super::error::{MOST_PROBLEMS, Problem, SpecErrorKind, SpecErrors};
use super::expand::{Frame, Point, points};
use super::experiment::{ExperimentFile, Overrides, Scale, TIME};
use super::schema::shared;
use super::source::Source;
use super::suggest::{nearest, one_of};
use super::sweep::SweepTree;
use super::target::Tables;
use super::tree::{Data, Tree};
use crate::Experiment;

/// A larger file is not an experiment.
const MOST_BYTES: u64 = 4 << 20;
/// A name is part of file names, and those have limits.
const LONGEST_NAME: usize = 100;

impl Experiment {
    /// Reads an experiment file.
    pub fn read(path: impl AsRef<Path>) -> Result<Self, SpecErrors> {
        let path = path.as_ref();
        let name = path.display().to_string();
        let unreadable = |message: String| {
            let problem = Problem::new(None, "", SpecErrorKind::Unreadable, message);
            SpecErrors::from(Source { name: &name, text: "" }.locate(problem))
        };
        let mut bytes = Vec::new();
        File::open(path)
            .and_then(|file| file.take(MOST_BYTES + 1).read_to_end(&mut bytes))
            .map_err(|error| unreadable(format!("the file cannot be read: {error}")))?;
        if bytes.len() as u64 > MOST_BYTES {
            return Err(unreadable(format!(
                "the file has more than {MOST_BYTES} bytes: that is not an experiment file"
            )));
        }
        Self::from_bytes(&name, &bytes)
    }

    /// Reads an experiment from the bytes of a file; `name` stands for it in errors.
    pub fn from_bytes(name: &str, bytes: &[u8]) -> Result<Self, SpecErrors> {
        let source = Source::from_bytes(name, bytes)?;
        Self::from_toml(name, source.text)
    }

    /// Reads an experiment from the text of a file; `name` stands for it in errors.
    pub fn from_toml(name: &str, text: &str) -> Result<Self, SpecErrors> {
        let tree = Tree::parse(text).map_err(|problems| located(&Source { name, text }, problems))?;
        Document { name: name.to_owned(), text: text.to_owned(), tree }.validate()
    }

    /// Reads an experiment from a value with the keys of a file; `name` stands for it in errors.
    pub fn from_json(name: &str, value: &serde_json::Value) -> Result<Self, SpecErrors> {
        Document { name: name.to_owned(), text: String::new(), tree: Tree::from_json(value) }.validate()
    }
}

impl ExperimentFile {
    /// Validates an experiment that was put together in code; its name stands for it in errors.
    pub fn validate(&self) -> Result<Experiment, SpecErrors> {
        Experiment::from_json(&self.name, &self.to_json())
    }
}

/// A document that an experiment is read from: its tree, and the text that errors quote.
#[derive(Clone, Debug)]
pub(crate) struct Document {
    name: String,
    /// Empty if the tree was not read from a text.
    text: String,
    tree: Tree,
}

impl Document {
    /// Validates the document: the only place where an [`Experiment`] is made of one.
    pub(crate) fn validate(self) -> Result<Experiment, SpecErrors> {
        match resolve(&self.tree) {
            Ok((file, points, grid)) => Ok(Experiment::new(file, points, grid, self)),
            Err(problems) => Err(located(&Source { name: &self.name, text: &self.text }, problems)),
        }
    }

    /// The document with other numbers. Checkpoints given one by one are kept up to the horizon.
    pub(crate) fn with(mut self, overrides: Overrides) -> Self {
        let Overrides { seed, instances, horizon } = overrides;
        for (key, value) in [("seed", seed), ("instances", instances), ("horizon", horizon)] {
            if let Some(value) = value {
                self.tree.set(key, &None, Tree { span: None, data: Data::Integer(value.into()) });
            }
        }
        if let Some(horizon) = horizon
            && let Some(checkpoints) = self.tree.get("checkpoints").cloned()
            && let Some(Tree { span, data: Data::List(times) }) = checkpoints.get("at").cloned()
        {
            let within = |time: &Tree| !matches!(time.data, Data::Integer(time) if time > i128::from(horizon));
            let mut kept: Vec<Tree> = times.into_iter().filter(within).collect();
            if kept.is_empty() {
                kept.push(Tree { span: None, data: Data::Integer(horizon.into()) });
            }
            let mut checkpoints = checkpoints;
            checkpoints.set("at", &span, Tree { span: span.clone(), data: Data::List(kept) });
            self.tree.set("checkpoints", &None, checkpoints);
        }
        self
    }
}

fn located(source: &Source<'_>, problems: Vec<Problem>) -> SpecErrors {
    SpecErrors::new(problems.into_iter().take(MOST_PROBLEMS).map(|problem| source.locate(problem)).collect())
}

/// The file of a document, the points of its sweep and its checkpoints, or everything that is wrong.
fn resolve(tree: &Tree) -> Result<(ExperimentFile, Vec<Point>, Grid), Vec<Problem>> {
    let problems = check(tree, shared(), shared(), &At::top());
    if !problems.is_empty() {
        return Err(problems);
    }
    let mut tree = tree.clone();
    label_policies(&mut tree)?;
    let spec: ExperimentFile = serde_json::from_value(tree.to_json()).map_err(|error| {
        vec![Problem::new(tree.span.clone(), "", SpecErrorKind::ImpossibleValue, error.to_string())]
    })?;

    let mut problems = check_meaning(&spec, &tree);
    let grid = spec.checkpoints.grid(spec.horizon);
    if let Err(error) = &grid {
        let at = tree.get("checkpoints").map(|checkpoints| checkpoints.get("at").unwrap_or(checkpoints));
        let span = at.unwrap_or(&tree).span.clone();
        problems.push(Problem::new(span, "checkpoints.at", SpecErrorKind::ImpossibleValue, error.to_string()));
    }
    let policies = tree.get("policy").map(Tree::items).unwrap_or_default();
    let tables = Tables {
        game: tree.get("game").cloned().unwrap_or(Tree { span: None, data: Data::Table(Vec::new()) }),
        policies: policies.to_vec(),
        labels: spec.policy.iter().map(|entry| entry.label.clone()).collect(),
    };
    let frame = Frame {
        name: &spec.name,
        seed: spec.seed,
        horizon: spec.horizon,
        horizon_span: tree.get("horizon").and_then(|horizon| horizon.span.clone()),
    };
    let sweep = tree.get("sweep").map(SweepTree::new).unwrap_or_default();
    match (points(&frame, &tables, &sweep), grid) {
        (Ok(points), Ok(grid)) if problems.is_empty() => Ok((spec, points, grid)),
        (points, _) => {
            problems.extend(points.err().into_iter().flatten());
            Err(problems)
        }
    }
}

/// Gives every policy without a label the one its kind makes, numbered where it is taken.
fn label_policies(tree: &mut Tree) -> Result<(), Vec<Problem>> {
    let Data::Table(entries) = &mut tree.data else { return Ok(()) };
    let policies = entries.iter_mut().find(|entry| entry.key == "policy").map(|entry| &mut entry.tree.data);
    let Some(Data::List(policies)) = policies else { return Ok(()) };
    let mut taken: Vec<String> = Vec::new();
    let mut problems = Vec::new();
    for (i, policy) in policies.iter().enumerate() {
        if let Some((label, text)) = policy.get("label").and_then(|label| Some((label, label.text()?))) {
            if taken.iter().any(|other| other == text) {
                let message = format!("two policies have the label {text:?}: results could not be told apart");
                let key = format!("policy[{i}].label");
                problems.push(Problem::new(label.span.clone(), key, SpecErrorKind::ImpossibleValue, message));
            }
            taken.push(text.to_owned());
        }
    }
    for (i, policy) in policies.iter_mut().enumerate() {
        if policy.get("label").is_some() {
            continue;
        }
        let spec: PolicySpec = match serde_json::from_value(policy.to_json()) {
            Ok(spec) => spec,
            Err(error) => {
                let key = format!("policy[{i}]");
                problems.push(Problem::new(
                    policy.span.clone(),
                    key,
                    SpecErrorKind::ImpossibleValue,
                    error.to_string(),
                ));
                continue;
            }
        };
        let plain = spec.label();
        let numbered = (2..).map(|n| format!("{plain} #{n}"));
        let free = std::iter::once(plain.clone()).chain(numbered).find(|label| !taken.contains(label));
        let label = free.unwrap_or(plain);
        taken.push(label.clone());
        let span = policy.span.clone();
        policy.set("label", &span, Tree { span: span.clone(), data: Data::Text(label) });
    }
    if problems.is_empty() { Ok(()) } else { Err(problems) }
}

/// What neither the schema nor the games and policies know.
fn check_meaning(spec: &ExperimentFile, tree: &Tree) -> Vec<Problem> {
    let mut problems = Vec::new();
    let mut report = |path: &[&str], message: String, meant: Option<&str>, help: Option<String>| {
        let mut place = tree;
        for key in path {
            place = place.get(key).unwrap_or(place);
        }
        let mut problem = Problem::new(place.span.clone(), path.join("."), SpecErrorKind::ImpossibleValue, message);
        problem.help = help;
        problems.push(problem.suggest(meant));
    };

    let fine = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.');
    let name = &spec.name;
    if !name.chars().all(fine) || name.starts_with('.') || name.len() > LONGEST_NAME {
        let slug: String =
            name.trim_start_matches('.').chars().map(|c| if fine(c) { c } else { '-' }).take(LONGEST_NAME).collect();
        let message =
            "`name` becomes part of file names: it may have letters, digits, `-`, `_` and `.`, and no `.` in front";
        let help = "what people read is the `title`".to_owned();
        report(&["name"], message.to_owned(), Some(slug.trim_matches('-')).filter(|slug| !slug.is_empty()), Some(help));
    }

    let checkpoints = tree.get("checkpoints");
    let given = |key: &str| checkpoints.is_some_and(|table| table.get(key).is_some());
    // What was not read from a text has all its defaults written out.
    let from_text = tree.span.is_some();
    if from_text && given("at") && (given("scale") || given("points")) {
        let message = "checkpoints are either `at` given times or on a grid of a `scale` with so many `points`";
        report(&["checkpoints", "at"], message.to_owned(), None, Some("leave out one of the two".to_owned()));
    }

    let figure = &spec.figure;
    let names: Vec<&str> = std::iter::once(TIME).chain(spec.sweep.names()).collect();
    if !names.contains(&figure.x.as_str()) {
        let message = format!("`x` must be {TIME:?} or a key of the sweep, but is {:?}", figure.x);
        report(
            &["figure", "x"],
            message,
            nearest(&figure.x, names.iter().copied()),
            Some(format!("there is {}", one_of(names))),
        );
    }
    if let Some(least) = figure.y_min.filter(|least| figure.y_scale == Scale::Log && *least <= 0.0) {
        report(
            &["figure", "y_min"],
            format!("a logarithmic axis cannot begin at {least}: `y_min` must be more than 0"),
            None,
            None,
        );
    }
    let labels: Vec<&str> = spec.policy.iter().map(|entry| entry.label.as_str()).collect();
    if let Some(label) = figure.excess_over.as_deref().filter(|label| !labels.contains(label)) {
        let message =
            format!("`excess_over` must be the label of a policy, but there is none with the label {label:?}");
        let help = format!("the labels are {}", one_of(labels.iter().copied()));
        report(&["figure", "excess_over"], message, nearest(label, labels.iter().copied()), Some(help));
    }
    problems
}
