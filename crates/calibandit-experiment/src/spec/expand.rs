//! From a specification to what is run: the points of its sweep, each with its game and its policies.
//!
//! Values are put in place on the tree of the file and checked there, so that an error points at the value in the sweep.

use calibandit::rng::StreamKey;
use calibandit::{ArmError, GameError, GameSpec, PolicyError, PolicySpec};
use serde::Serialize;
use serde_json::Value;

use super::check::{At, check};
use super::error::{MOST_PROBLEMS, Problem, SpecErrorKind};
use super::experiment::PolicyEntry;
use super::schema::shared;
use super::sweep::SweepTree;
use super::target::{Tables, Target, schema_of};
use super::tree::{Span, Tree};

/// One point of a sweep: a game and the policies that play it. An experiment without a sweep has one point.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Point {
    /// Its position in the sweep, from 0.
    pub index: usize,
    /// A name for files, different from all others of the experiment: `m4-K10`.
    pub id: String,
    /// A name for people: `m=4, K=10`. Without a sweep, what the game calls itself.
    pub label: String,
    /// What the sweep sets here, axis by axis.
    pub settings: Vec<SweptValue>,
    /// The game.
    pub game: GameSpec,
    /// The policies with every default filled in, those that depend on the horizon and the number of arms included.
    pub policies: Vec<PolicyEntry>,
}

/// A value of an axis of a sweep.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct SweptValue {
    /// The axis: a key such as `game.memory`, or the name that the file gives it.
    pub name: String,
    /// How figures call it: `m` for the memory.
    pub symbol: String,
    /// The value.
    pub value: Value,
}

impl Point {
    /// The value that an axis has here.
    pub fn value(&self, name: &str) -> Option<&Value> {
        self.settings.iter().find(|setting| setting.name == name).map(|setting| &setting.value)
    }
}

impl SweptValue {
    fn new(name: &str, value: Value) -> Self {
        let symbol = match name {
            "game.memory" => "m",
            "game.arms" => "K",
            "policy.memory_bound" | "game.memory_bound" => "M",
            other => other.strip_prefix("game.").or(other.strip_prefix("policy.")).unwrap_or(other),
        };
        Self { name: name.to_owned(), symbol: symbol.to_owned(), value }
    }

    /// The value as people write it.
    pub fn text(&self) -> String {
        match &self.value {
            Value::String(text) => text.clone(),
            Value::Number(number) if number.is_f64() => number.as_f64().unwrap_or(f64::NAN).to_string(),
            other => other.to_string(),
        }
    }
}

/// More points than this are a slip of the finger.
const MOST_POINTS: usize = 10_000;

/// What the points have in common.
pub(crate) struct Frame<'a> {
    pub(crate) name: &'a str,
    pub(crate) seed: u64,
    pub(crate) horizon: u64,
    pub(crate) horizon_span: Span,
}

/// One value of an axis, with everything that it sets.
struct Choice<'a> {
    name: &'a str,
    targets: &'a [(Target, Span)],
    value: &'a Tree,
}

/// The points of a sweep over these tables, or everything that is wrong with any of them.
pub(crate) fn points(frame: &Frame<'_>, tables: &Tables, sweep: &SweepTree) -> Result<Vec<Point>, Vec<Problem>> {
    let root = shared();
    let mut problems = Vec::new();
    let mut find = |key: &str, span: &Span| match Target::find(key, span, tables, root) {
        Ok(target) => vec![(target, span.clone())],
        Err(problem) => {
            problems.push(*problem);
            vec![]
        }
    };
    let axes: Vec<Vec<(Target, Span)>> =
        sweep.axes.iter().map(|axis| axis.keys.iter().flat_map(|(key, span)| find(key, span)).collect()).collect();
    let rows: Vec<Vec<Vec<(Target, Span)>>> =
        sweep.points.iter().map(|row| row.iter().map(|entry| find(&entry.key, &entry.key_span)).collect()).collect();
    // The schema sees to lists that are written with a quoted key.
    for axis in sweep.axes.iter().filter(|axis| axis.values.is_empty()) {
        let span = axis.keys.first().and_then(|(_, span)| span.clone());
        let message = format!("`{}` must be a list with at least 1 value", axis.name);
        problems.push(Problem::new(span, format!("sweep.{}", axis.name), SpecErrorKind::WrongType, message));
    }
    let count = sweep.axes.iter().try_fold(sweep.points.len().max(1), |n, axis| n.checked_mul(axis.values.len()));
    if count.is_none_or(|count| count > MOST_POINTS) {
        let span = sweep.axes.first().and_then(|axis| axis.keys.first()).and_then(|(_, span)| span.clone());
        let message = format!("the sweep has more than {MOST_POINTS} points");
        problems.push(
            Problem::new(span, "sweep", SpecErrorKind::ImpossibleValue, message)
                .help("the grid has every combination of all lists; write single points as `point = [{ ... }, ...]`"),
        );
    }
    if !problems.is_empty() {
        return Err(problems);
    }

    let mut found: Vec<Point> = Vec::new();
    for index in 0..count.unwrap_or(0) {
        let choices = choices(index, sweep, &axes, &rows);
        match point(index, &choices, frame, tables) {
            Ok(mut point) => {
                if let Some(same) = found.iter().position(|other| other.settings == point.settings) {
                    let span = choices.last().and_then(|choice| choice.value.span.clone());
                    let message = format!("the sweep has the point {} twice", found[same].label);
                    problems.push(Problem::new(span, "sweep", SpecErrorKind::ImpossibleValue, message));
                }
                if found.iter().any(|other| other.id == point.id) {
                    point.id = format!("{}-{}", point.id, index + 1);
                }
                found.push(point);
            }
            Err(more) => {
                for problem in more {
                    if !problems.iter().any(|other| other.span == problem.span && other.message == problem.message) {
                        problems.push(problem);
                    }
                }
            }
        }
        if problems.len() >= MOST_PROBLEMS {
            break;
        }
    }
    if problems.is_empty() { Ok(found) } else { Err(problems) }
}

/// The values at one point: of the points written out first, then of the axes, the last one running fastest.
fn choices<'a>(
    index: usize,
    sweep: &'a SweepTree,
    axes: &'a [Vec<(Target, Span)>],
    rows: &'a [Vec<Vec<(Target, Span)>>],
) -> Vec<Choice<'a>> {
    let mut rest = index;
    let mut choices: Vec<Choice<'a>> = Vec::new();
    for (axis, targets) in sweep.axes.iter().zip(axes).rev() {
        choices.push(Choice { name: &axis.name, targets, value: &axis.values[rest % axis.values.len()] });
        rest /= axis.values.len();
    }
    choices.reverse();
    if let (Some(row), Some(targets)) = (sweep.points.get(rest), rows.get(rest)) {
        let of_row =
            row.iter().zip(targets).map(|(entry, targets)| Choice { name: &entry.key, targets, value: &entry.tree });
        choices.splice(0..0, of_row);
    }
    choices
}

fn point(index: usize, choices: &[Choice<'_>], frame: &Frame<'_>, tables: &Tables) -> Result<Point, Vec<Problem>> {
    let root = shared();
    let mut tables = tables.clone();
    for choice in choices {
        for (target, span) in choice.targets {
            target.set(&mut tables, span, choice.value);
        }
    }
    let mut problems = Vec::new();
    if let Some(schema) = schema_of("game", root) {
        problems.extend(check(&tables.game, schema, root, &At::top().key("game")));
    }
    if let Some(schema) = schema_of("policy", root) {
        for (i, policy) in tables.policies.iter().enumerate() {
            problems.extend(check(policy, schema, root, &At::top().key("policy").item(i)));
        }
    }
    if !problems.is_empty() {
        return Err(problems);
    }

    let settings: Vec<SweptValue> =
        choices.iter().map(|choice| SweptValue::new(choice.name, choice.value.to_json())).collect();
    let label = settings.iter().map(|set| format!("{}={}", set.symbol, set.text())).collect::<Vec<_>>().join(", ");
    let is_swept = |span: &Span| span.is_some() && choices.iter().any(|choice| choice.value.span == *span);
    let here = |problem: Problem| match &problem.help {
        None if !label.is_empty() && !is_swept(&problem.span) => {
            problem.help(format!("this is so at the point {label} of the sweep"))
        }
        _ => problem,
    };
    let (game, arms) = game(frame, &tables.game).map_err(|problem| vec![here(*problem)])?;
    let told = calibandit::Problem { arms, horizon: Some(frame.horizon) };
    let mut policies = Vec::new();
    for (i, (tree, label)) in tables.policies.iter().zip(&tables.labels).enumerate() {
        match policy(i, tree, &told, frame) {
            Ok(policy) => policies.push(PolicyEntry { label: label.clone(), policy }),
            Err(problem) => problems.push(here(*problem)),
        }
    }
    if !problems.is_empty() {
        return Err(problems);
    }
    let (id, label) = match settings.is_empty() {
        true => (tables.game.get("kind").and_then(Tree::text).unwrap_or("game").to_owned(), game.title()),
        false => (id(&settings), label),
    };
    Ok(Point { index, id, label, settings, game, policies })
}

/// The game of a table, and how many arms it has.
fn game(frame: &Frame<'_>, tree: &Tree) -> Result<(GameSpec, usize), Box<Problem>> {
    let game: GameSpec = serde_json::from_value(tree.to_json())
        .map_err(|error| Problem::new(tree.span.clone(), "game", SpecErrorKind::ImpossibleValue, error.to_string()))?;
    match game.draw(&mut StreamKey::new(frame.seed, frame.name, 0).game()) {
        Ok(drawn) => Ok((game, drawn.arms().len())),
        Err(error) => {
            let path = match &error {
                GameError::Parameter { parameter, .. } => (*parameter).to_owned(),
                GameError::Arm { arm, source } => format!("arm.{arm}{}", within_arm(source)),
                GameError::NoArms => "arm".to_owned(),
                _ => String::new(),
            };
            let (span, key) = deepest(tree, "game", &path);
            Err(Box::new(Problem::new(span, key, SpecErrorKind::ImpossibleValue, error.to_string())))
        }
    }
}

/// The key of an arm that an error is about, as far as there is one.
fn within_arm(error: &ArmError) -> String {
    match error {
        ArmError::Weight { position, .. } => format!(".weights.{position}"),
        ArmError::SpecialValue { what, .. } => format!(".loss.{what}"),
        ArmError::Table { .. } => ".loss.by_plays".to_owned(),
        ArmError::Curve { .. } | ArmError::NoShape | ArmError::TwoShapes { .. } => ".loss".to_owned(),
        ArmError::Noise { .. } => ".feedback".to_owned(),
        _ => String::new(),
    }
}

/// The policy of a table, with every default filled in.
fn policy(
    index: usize,
    tree: &Tree,
    told: &calibandit::Problem,
    frame: &Frame<'_>,
) -> Result<PolicySpec, Box<Problem>> {
    let at = format!("policy[{index}]");
    let spec: PolicySpec = serde_json::from_value(tree.without("label").to_json())
        .map_err(|error| Problem::new(tree.span.clone(), &at, SpecErrorKind::ImpossibleValue, error.to_string()))?;
    spec.resolve(told).map_err(|error| {
        let (span, key) = match &error {
            PolicyError::Parameter { parameter, .. } => deepest(tree, &at, parameter),
            PolicyError::HorizonTooShort { .. } => (frame.horizon_span.clone(), "horizon".to_owned()),
            _ => (tree.span.clone(), at.clone()),
        };
        Box::new(Problem::new(span, key, SpecErrorKind::ImpossibleValue, error.to_string()))
    })
}

/// The place of a dotted path below a table, as deep as the file has it, and its full key.
fn deepest(tree: &Tree, at: &str, path: &str) -> (Span, String) {
    let (mut tree, mut key) = (tree, at.to_owned());
    for step in path.split('.').filter(|step| !step.is_empty()) {
        let index = step.parse::<usize>().ok();
        if let Some(inner) = tree.get(step) {
            (tree, key) = (inner, format!("{key}.{step}"));
        } else if let Some((inner, index)) = index.and_then(|index| Some((tree.items().get(index)?, index))) {
            (tree, key) = (inner, format!("{key}[{index}]"));
        } else {
            break;
        }
    }
    (tree.span.clone(), key)
}

/// `m4-K10`: nothing that a file system or a web address minds.
fn id(settings: &[SweptValue]) -> String {
    let safe = |c: char| if c.is_ascii_alphanumeric() || c == '.' { c } else { '_' };
    let part =
        |setting: &SweptValue| format!("{}{}", setting.symbol, setting.text()).chars().map(safe).take(60).collect();
    settings.iter().map(part).collect::<Vec<String>>().join("-")
}
