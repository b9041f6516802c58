//! The points of an experiment's sweep, each with its game and its policies.
//!
//! The values of a sweep are put into the tables of the file and checked there, so that an error points at the value in
//! the sweep.

use std::collections::{HashMap, HashSet};
use std::rc::Rc;

use calibandit::Problem;
use calibandit::rng::StreamKey;
use calibandit::simulate::LiveSpec;
use serde::Serialize;
use serde_json::Value;

use super::check::check_part;
use super::diagnostic::{DiagnosticKind, Finding, MOST_FINDINGS};
use super::live::SpannedLive;
use super::parts::{read_game, read_policy, resolve_policy};
use super::shape::{game_shape, live_shape, policy_shape};
use super::sweep::{SpannedSweep, TITLE};
use super::target::{SweepTarget, SweptTables};
use super::value::{SourceSpan, SpannedValue};
use super::wording::KeyPath;
use crate::cost;
use crate::experiment::{GameSource, LabelledPolicy, RunSize};

/// One point of a sweep: a game and the policies that play it. An experiment without a sweep has one point.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Point {
    /// The position in the sweep, from 0.
    pub index: usize,
    /// A name for files, unique in the experiment: `m4-K10`.
    pub id: String,
    /// A name for tables, which stays the same if titles change: `m=4, K=10`. Without a sweep, the title of the game.
    pub label: String,
    /// A name for figures and reports, to be read as text: `m = 4, K = 10`, or the title that the file gives.
    pub title: String,
    /// The values that the sweep sets here, axis by axis.
    pub settings: Vec<SweptValue>,
    /// The game.
    pub game: GameSource,
    /// The policies with every default filled in, including those that depend on the horizon and the number of arms.
    pub policies: Vec<LabelledPolicy>,
    /// Live use; `None` if plays are made one after the other in one place.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub live: Option<LiveSpec>,
}

/// A value of an axis of a sweep.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct SweptValue {
    /// The axis: a key such as `game.memory`, or the name that the file gives to the axis.
    pub name: String,
    /// The symbol in labels: `m` for the memory.
    pub symbol: String,
    /// The value as a text that can be read on its own: `m = 4`, or the title that the file gives to the value.
    pub title: String,
    /// The value.
    pub value: Value,
}

impl Point {
    /// The value of an axis at this point.
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
            other => ["game.", "policy.", "live."].iter().find_map(|table| other.strip_prefix(table)).unwrap_or(other),
        };
        let mut swept = Self { name: name.to_owned(), symbol: symbol.to_owned(), title: String::new(), value };
        swept.title = match symbol.rsplit_once('.') {
            // A key of one policy: `policy.SE.delta`.
            Some((label, key)) if name.starts_with("policy.") => format!("{label}: {} = {}", spaced(key), swept.text()),
            _ => format!("{} = {}", spaced(symbol), swept.text()),
        };
        swept
    }

    /// The value as text, without quotes.
    pub fn text(&self) -> String {
        match &self.value {
            Value::String(text) => text.clone(),
            Value::Number(number) if number.is_f64() => number.as_f64().unwrap_or(f64::NAN).to_string(),
            other => other.to_string(),
        }
    }
}

/// The words of a key.
fn spaced(key: &str) -> String {
    key.replace('_', " ")
}

/// Upper limit on the number of points: catches typing errors such as a step of 1 instead of 1000.
const MOST_POINTS: usize = 10_000;

/// What all points have in common.
pub(crate) struct Frame<'a> {
    pub(crate) name: &'a str,
    pub(crate) seed: u64,
    pub(crate) horizon: u64,
    pub(crate) horizon_span: SourceSpan,
    pub(crate) instances: u64,
    pub(crate) instances_span: SourceSpan,
    pub(crate) checkpoints: usize,
}

/// One value of an axis, with everything that it sets.
struct AxisValue<'a> {
    name: &'a str,
    targets: Rc<[(SweepTarget, SourceSpan)]>,
    value: &'a SpannedValue,
    /// The title that the file gives to the value.
    title: Option<&'a str>,
}

/// A sweep whose keys are resolved.
struct ResolvedSweep<'a> {
    /// The points that are written out, each with its values.
    rows: Vec<Vec<AxisValue<'a>>>,
    /// The titles of these points.
    row_titles: Vec<Option<&'a str>>,
    /// The axes of the grid, each with its values.
    axes: Vec<Vec<AxisValue<'a>>>,
}

/// The points of a sweep over these tables, or everything that is wrong with any of them.
pub(crate) fn points(
    frame: &Frame<'_>,
    tables: &SweptTables,
    sweep: &SpannedSweep,
) -> Result<Vec<Point>, Vec<Finding>> {
    let (sweep, count) = match (targets(sweep, tables), check_size(sweep)) {
        (Ok(sweep), Ok(count)) => (sweep, count),
        (sweep, count) => return Err(sweep.err().into_iter().chain(count.err()).flatten().collect()),
    };
    check_run_size(frame, tables, count).map_err(|finding| vec![*finding])?;
    let mut points = build_points(frame, tables, &sweep, count)?;
    dedup(&mut points, &sweep)?;
    Ok(points)
}

/// Resolves what the keys of a sweep set.
fn targets<'a>(sweep: &'a SpannedSweep, tables: &SweptTables) -> Result<ResolvedSweep<'a>, Vec<Finding>> {
    let mut findings = Vec::new();
    // Written-out points repeat the same few keys.
    let mut found: HashMap<String, SweepTarget> = HashMap::new();
    let mut find = |key: &str, span: &SourceSpan| {
        if let Some(target) = found.get(key) {
            return Some((target.clone(), span.clone()));
        }
        match SweepTarget::find(key, span, tables) {
            Ok(target) => {
                found.insert(key.to_owned(), target.clone());
                Some((target, span.clone()))
            }
            Err(finding) => {
                findings.push(*finding);
                None
            }
        }
    };
    let mut axes = Vec::new();
    for axis in &sweep.axes {
        let targets: Rc<[_]> = axis.keys.iter().filter_map(|(key, span)| find(key, span)).collect();
        let value = |(i, value)| {
            let title = axis.titles.get(i).and_then(SpannedValue::text);
            AxisValue { name: &axis.name, targets: targets.clone(), value, title }
        };
        axes.push(axis.values.iter().enumerate().map(value).collect());
    }
    let (mut rows, mut row_titles) = (Vec::new(), Vec::new());
    for row in &sweep.points {
        let values = row.iter().filter(|entry| entry.key != TITLE).map(|entry| AxisValue {
            name: &entry.key,
            targets: find(&entry.key, &entry.key_span).into_iter().collect(),
            value: &entry.value,
            title: None,
        });
        rows.push(values.collect());
        row_titles.push(row.iter().find(|entry| entry.key == TITLE).and_then(|entry| entry.value.text()));
    }
    findings.extend(check_titles(sweep));
    // The schema has checked lists with quoted keys; those without quotes are nested tables to it.
    for axis in sweep.axes.iter().filter(|axis| axis.values.is_empty()) {
        let span = axis.keys.first().and_then(|(_, span)| span.clone());
        let message = format!("`{}` must be a list with at least 1 value", axis.name);
        findings.push(Finding::new(span, format!("sweep.{}", axis.name), DiagnosticKind::WrongType, message));
    }
    if findings.is_empty() { Ok(ResolvedSweep { rows, row_titles, axes }) } else { Err(findings) }
}

/// Titles are texts, and there is one for each value.
fn check_titles(sweep: &SpannedSweep) -> Vec<Finding> {
    let mut findings = Vec::new();
    for axis in sweep.axes.iter().filter(|axis| !axis.titles.is_empty() && axis.titles.len() != axis.values.len()) {
        let (titles, values) = (axis.titles.len(), axis.values.len());
        let message = format!("`titles` must have one title per value: there are {titles} titles and {values} values");
        let at = format!("sweep.{}.titles", axis.name);
        findings.push(Finding::new(axis.titles[0].span.clone(), at, DiagnosticKind::ImpossibleValue, message));
    }
    for entry in sweep.points.iter().flatten().filter(|entry| entry.key == TITLE && entry.value.text().is_none()) {
        let message = format!("`title` must be a text, but is {}", entry.value.name());
        findings.push(Finding::new(entry.value.span.clone(), "sweep.point", DiagnosticKind::WrongType, message));
    }
    findings
}

/// The number of points, unless there are too many.
fn check_size(sweep: &SpannedSweep) -> Result<usize, Vec<Finding>> {
    let count = sweep.axes.iter().try_fold(sweep.points.len().max(1), |n, axis| n.checked_mul(axis.values.len()));
    count.filter(|count| *count <= MOST_POINTS).ok_or_else(|| {
        let span = sweep.axes.first().and_then(|axis| axis.keys.first()).and_then(|(_, span)| span.clone());
        let message = format!("the sweep has more than {MOST_POINTS} points");
        let help = "the grid has every combination of all lists; write single points as `point = [{ ... }, ...]`";
        vec![Finding::new(span, "sweep", DiagnosticKind::ImpossibleValue, message).help(help)]
    })
}

/// Refuses an experiment that needs too much memory or too large files, before its points take memory. The time is
/// estimated from the first point.
fn check_run_size(frame: &Frame<'_>, tables: &SweptTables, points: usize) -> Result<(), Box<Finding>> {
    let size = RunSize::new(points, tables.policies.len(), frame.instances, frame.checkpoints);
    if size.refusal(None).is_none() {
        return Ok(());
    }
    let seconds = || -> Option<f64> {
        let game = read_game(&tables.game, &StreamKey::new(frame.seed, frame.name, 0)).ok()?.0;
        let drawn = game.draw(&mut StreamKey::new(frame.seed, frame.name, 0).game()).ok()?;
        let (arms, noise) = (drawn.arms().len(), drawn.arms()[0].noise());
        let live = tables.live.as_ref().map(SpannedLive::read).transpose().ok()?.map(|live| live.live);
        let cost = |table| {
            let policy = read_policy(table, "").ok()?;
            Some(cost::of_spec(&policy, live.as_ref(), arms, frame.horizon, noise))
        };
        let of_point: f64 = tables.policies.iter().map(cost).sum::<Option<f64>>()?;
        Some(1e-9 * of_point * points as f64 * frame.instances as f64)
    };
    let message = size.refusal(seconds()).unwrap_or_default();
    let finding = Finding::new(frame.instances_span.clone(), "instances", DiagnosticKind::ImpossibleValue, message);
    Err(Box::new(finding.help("use fewer `instances`, points of the sweep or checkpoints")))
}

impl ResolvedSweep<'_> {
    /// The values at one point: of the points that are written out first, then of the axes, the last one running
    /// fastest.
    fn values(&self, index: usize) -> Vec<&AxisValue<'_>> {
        let mut rest = index;
        let mut values = Vec::new();
        for axis in self.axes.iter().rev() {
            values.push(&axis[rest % axis.len()]);
            rest /= axis.len();
        }
        values.extend(self.rows.get(rest).into_iter().flatten().rev());
        values.reverse();
        values
    }

    /// The title that the file gives to the written-out point of this point, and the number of its values.
    fn row_title(&self, index: usize) -> Option<(&str, usize)> {
        let row = index / self.axes.iter().map(Vec::len).product::<usize>();
        Some(((*self.row_titles.get(row)?)?, self.rows[row].len()))
    }
}

/// Every point of the sweep, or the findings of all points. The same finding is reported once.
fn build_points(
    frame: &Frame<'_>,
    tables: &SweptTables,
    sweep: &ResolvedSweep<'_>,
    count: usize,
) -> Result<Vec<Point>, Vec<Finding>> {
    let mut points = Vec::new();
    let mut findings: Vec<Finding> = Vec::new();
    for index in 0..count {
        match build_point(index, sweep, frame, tables) {
            Ok(point) => points.push(point),
            Err(more) => {
                for finding in more {
                    if !findings.iter().any(|other| other.span == finding.span && other.message == finding.message) {
                        findings.push(finding);
                    }
                }
            }
        }
        if findings.len() >= MOST_FINDINGS {
            break;
        }
    }
    if findings.is_empty() { Ok(points) } else { Err(findings) }
}

fn build_point(
    index: usize,
    sweep: &ResolvedSweep<'_>,
    frame: &Frame<'_>,
    tables: &SweptTables,
) -> Result<Point, Vec<Finding>> {
    let values = sweep.values(index);
    let mut tables = tables.clone();
    for value in &values {
        for (target, span) in value.targets.iter() {
            target.set(&mut tables, span, value.value);
        }
    }
    check_tables(&tables)?;

    let mut settings: Vec<SweptValue> = Vec::new();
    for set in &values {
        let mut setting = SweptValue::new(set.name, set.value.to_json());
        setting.title = set.title.map_or(setting.title, str::to_owned);
        settings.push(setting);
    }
    let label = settings.iter().map(|set| format!("{}={}", set.symbol, set.text())).collect::<Vec<_>>().join(", ");
    // An error that is not at a value of the sweep says at which point it occurs.
    let is_swept = |span: &SourceSpan| span.is_some() && values.iter().any(|set| set.value.span == *span);
    let at_point = |finding: Finding| match &finding.help {
        None if !label.is_empty() && !is_swept(&finding.span) => {
            finding.help(format!("this is so at the point {label} of the sweep"))
        }
        _ => finding,
    };
    let key = StreamKey::new(frame.seed, frame.name, 0);
    let (game, arms) = read_game(&tables.game, &key).map_err(|finding| vec![at_point(*finding)])?;
    let told = Problem { arms, horizon: Some(frame.horizon) };
    let (mut policies, mut findings) = (Vec::new(), Vec::new());
    let live = tables.live.as_ref().map(SpannedLive::read).transpose().map_err(|finding| vec![at_point(*finding)])?;
    findings.extend(live.and_then(|live| live.check_game(&game, &tables.game, &key)).map(at_point));
    for (i, (table, label)) in tables.policies.iter().zip(&tables.labels).enumerate() {
        let at = format!("policy[{i}]");
        let policy =
            read_policy(table, &at).and_then(|policy| resolve_policy(&policy, table, &at, &told, &frame.horizon_span));
        let policy = policy.and_then(|policy| match live {
            Some(live) => live.check_policy(&policy, table, &at).map(|()| policy),
            None => Ok(policy),
        });
        match policy {
            Ok(policy) => policies.push(LabelledPolicy::new(label.clone(), policy)),
            Err(finding) => findings.push(at_point(*finding)),
        }
    }
    if !findings.is_empty() {
        return Err(findings);
    }
    let (id, label, title) = match settings.is_empty() {
        true => {
            let kind = tables.game.get("kind").and_then(SpannedValue::text);
            (kind.unwrap_or("game").to_owned(), game.title(), game.title())
        }
        false => (id(&settings), label, title(&settings, sweep.row_title(index))),
    };
    let live = live.map(|live| live.live);
    Ok(Point { index, id, label, title, settings, game: game.into(), policies, live })
}

/// The titles of the settings. The title of a written-out point stands for its values, which are the first ones.
fn title(settings: &[SweptValue], row: Option<(&str, usize)>) -> String {
    let (first, values) = row.unwrap_or_default();
    let first = Some(first).filter(|title| !title.is_empty());
    let others = settings.iter().skip(values).map(|setting| setting.title.as_str());
    first.into_iter().chain(others).collect::<Vec<_>>().join(", ")
}

/// Checks the structure of a game and its policies.
fn check_tables(tables: &SweptTables) -> Result<(), Vec<Finding>> {
    let top = KeyPath::top();
    let mut findings = check_part(&tables.game, game_shape(), &top.key("game"));
    for (i, policy) in tables.policies.iter().enumerate() {
        findings.extend(check_part(policy, policy_shape(), &top.key("policy").item(i)));
    }
    if let Some(live) = &tables.live {
        findings.extend(check_part(live, live_shape(), &top.key("live")));
    }
    if findings.is_empty() { Ok(()) } else { Err(findings) }
}

/// Refuses points with the same values, and makes ids unique: values that differ can have the same id.
fn dedup(points: &mut [Point], sweep: &ResolvedSweep<'_>) -> Result<(), Vec<Finding>> {
    let mut ids = HashSet::new();
    let mut seen: HashMap<String, usize> = HashMap::new();
    let mut findings = Vec::new();
    for i in 0..points.len() {
        let values: Vec<_> = points[i].settings.iter().map(|set| (&set.name, &set.value)).collect();
        let values = format!("{values:?}");
        if let Some(first) = seen.get(&values) {
            let span = sweep.values(points[i].index).last().and_then(|set| set.value.span.clone());
            let message = format!("the sweep has the point {} twice", points[*first].label);
            findings.push(Finding::new(span, "sweep", DiagnosticKind::ImpossibleValue, message));
        }
        seen.entry(values).or_insert(i);
        if !ids.insert(points[i].id.clone()) {
            points[i].id = format!("{}-{}", points[i].id, points[i].index + 1);
            ids.insert(points[i].id.clone());
        }
    }
    findings.truncate(MOST_FINDINGS);
    if findings.is_empty() { Ok(()) } else { Err(findings) }
}

/// `m4-K10`: only characters that are safe in file names and in web addresses.
fn id(settings: &[SweptValue]) -> String {
    let safe = |c: char| if c.is_ascii_alphanumeric() || c == '.' { c } else { '_' };
    let part =
        |setting: &SweptValue| format!("{}{}", setting.symbol, setting.text()).chars().map(safe).take(60).collect();
    settings.iter().map(part).collect::<Vec<String>>().join("-")
}
