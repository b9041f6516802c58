//! Results as figures: which numbers become which curve.
//!
//! A figure has one panel per point of the sweep, with the CPR over time. If the experiment puts a swept key on the
//! horizontal axis, the figure shows the CPR at the horizon against that key instead, with one panel per combination of
//! the other swept keys. So does the figure of a sweep with too many points for a panel each.
//!
//! Drawing is the concern of [`chart`](crate::chart), the page that of [`report`](crate::report).

mod chosen;

pub use chosen::{ChoiceError, FigureChoice, PlottedColumn, chosen_figure};

use std::collections::HashMap;
use std::io;

use crate::chart::{Axis, AxisScale, CurvePoint, Figure, Panel, Quantiles, Series, StyleKey};
use crate::report::{PolicyRow, ReportSection};
use calibandit::PolicySpec;
use calibandit::policy::{Index, Radius};
use calibandit_experiment::Experiment;
use calibandit_experiment::format::thousands;
use calibandit_experiment::results::{Results, Sample};
use calibandit_experiment::spec::{Point, RegretReference, Scale};
use calibandit_experiment::stats::{Spread, rank_policies};
use serde_json::Value;

/// The number of single instances per policy that are drawn as thin lines: more cannot be told apart.
const MOST_LINES: usize = 20;

/// The number of panels of a figure: more are neither compared nor printed.
const MOST_PANELS: usize = 60;

/// The number of policies of a figure: more curves cannot be told apart.
const MOST_POLICIES: usize = 40;

/// With more swept values than this, a curve has no marker at each of them.
const MOST_MARKS: usize = 50;

/// The number of values of the thin lines of a curve over a sweep.
const MOST_LINE_VALUES: usize = 20_000;

/// The number of rows of the table under a figure: browsers are slow with more. `summary.csv` has all of them.
const MOST_ROWS: usize = 5000;

/// The figure of an experiment.
///
/// A sweep of more than 60 points is shown at the horizon, against the swept key with the most values. Figures have at
/// most 60 panels and 40 policies; the caption says what is left out.
///
/// # Errors
/// If curves in a temporary file cannot be read.
pub fn figure(spec: &Experiment, results: &Results) -> io::Result<Figure> {
    let points = spec.points();
    let styles = spec.policies().iter().map(|entry| entry.policy.spec().map(style_key)).collect();
    let drawing = Drawing { spec, results, styles };
    let mut figure = Figure::new(spec.name(), spec.heading()).caption(spec.description());
    let chosen = spec.figure();
    let crowded = if chosen.is_over_time() && points.len() > MOST_PANELS { longest_axis(points) } else { None };
    let axis = match (&crowded, chosen.is_over_time()) {
        (Some((x, scale)), _) => Some((x.as_str(), *scale)),
        (None, true) => None,
        (None, false) => Some((chosen.x.as_str(), scale(chosen.x_scale))),
    };
    let panels = if let Some((x, scale)) = axis {
        let groups = groups(points, x);
        for group in groups.iter().take(MOST_PANELS) {
            figure = figure.panel(drawing.over_sweep(group, x, scale));
        }
        groups.len()
    } else {
        for point in points {
            if figure.panels.len() >= MOST_PANELS {
                break;
            }
            figure = figure.panel(drawing.over_time(point.index, &point.id, &point.title)?);
            if let Some(reference) = &chosen.excess_over {
                let excess = drawing.excess(point, reference, points.len() > 1)?;
                figure = excess.into_iter().fold(figure, Figure::panel);
            }
        }
        points.len() * if chosen.excess_over.is_some() { 2 } else { 1 }
    };
    if crowded.is_some() {
        let count = thousands(points.len() as u64);
        say(&mut figure, &format!("The sweep has {count} points, so the figure shows the CPR at the horizon."));
    }
    if axis.is_none() && spec.reference() == RegretReference::Horizon {
        let sentence = "Before T, losses are compared with the beginning of the sequence that is best for T, so that \
                        the regret may be negative there.";
        say(&mut figure, sentence);
    }
    say_what_is_left_out(&mut figure, panels, results.policies.len());
    Ok(figure)
}

/// The name of the regret over time.
fn regret_label(spec: &Experiment, results: &Results) -> String {
    results.regret_name(match spec.reference() {
        RegretReference::Time => "CPR",
        RegretReference::Horizon => "regret against the plan for T",
    })
}

/// Adds a sentence to the caption.
fn say(figure: &mut Figure, sentence: &str) {
    figure.caption = [figure.caption.trim_end(), sentence].join(" ").trim_start().to_owned();
}

/// Says how many panels and policies there are, if the figure does not have all of them.
fn say_what_is_left_out(figure: &mut Figure, panels: usize, policies: usize) {
    let shown = figure.panels.len();
    if panels > shown {
        let panels = thousands(panels as u64);
        say(figure, &format!("The figure shows the first {shown} of {panels} panels."));
    }
    if policies > MOST_POLICIES {
        let policies = thousands(policies as u64);
        say(figure, &format!("The figure shows the first {MOST_POLICIES} of {policies} policies."));
    }
}

/// The swept key with the most values, if its values are numbers at all points; with a logarithmic axis if they span
/// three decades.
fn longest_axis(points: &[Point]) -> Option<(String, AxisScale)> {
    let mut axes: Vec<(&str, Vec<f64>)> = Vec::new();
    for name in points.first()?.settings.iter().map(|setting| setting.name.as_str()) {
        let values: Option<Vec<f64>> = points.iter().map(|point| point.value(name)?.as_f64()).collect();
        if let Some(mut values) = values {
            values.sort_by(f64::total_cmp);
            values.dedup();
            axes.push((name, values));
        }
    }
    let (name, values) = axes.into_iter().rev().max_by_key(|(_, values)| values.len())?;
    let (least, most) = (*values.first()?, *values.last()?);
    let scale = if least > 0.0 && most / least >= 1000.0 { AxisScale::Log } else { AxisScale::Linear };
    Some((name.to_owned(), scale))
}

/// The style key of a policy: its kind, and the variant where variants of a kind are told apart.
///
/// Successive elimination with a radius sharper than the paper's has a style of its own. A `calibrated` policy with
/// another index than the default is a variant, so that the default keeps its style wherever both are shown.
pub fn style_key(policy: &PolicySpec) -> StyleKey {
    let key = StyleKey::new(policy.kind());
    match policy {
        PolicySpec::SuccessiveElimination(spec) if matches!(spec.radius, Radius::Hoeffding | Radius::Difference) => {
            key.variant("sharp")
        }
        PolicySpec::Calibrated(spec) if spec.index != Index::default() => key.variant("other-index"),
        _ => key,
    }
}

/// The figure with its table, in losses or rewards as the experiment says, its experiment file and the command that
/// reproduces it.
///
/// # Errors
/// If curves in a temporary file cannot be read.
pub fn section(spec: &Experiment, results: &Results, command: &str) -> io::Result<ReportSection> {
    let titles: Vec<&str> = spec.points().iter().map(|point| point.title.as_str()).collect();
    let results = &results.shown_by(spec);
    let mut section = summarised(figure(spec, results)?, results, &titles, spec.horizon());
    section.spec = spec.to_toml().unwrap_or_default();
    section.command = command.to_string();
    Ok(section)
}

/// The figure and the table of results that no experiment file describes: one panel per game, with linear axes.
///
/// `styles` has one entry per policy of `results`; `None` for a policy without a style of its own.
///
/// # Errors
/// If curves in a temporary file cannot be read.
pub fn plain_section(
    title: &str,
    results: &Results,
    horizon: u64,
    styles: &[Option<StyleKey>],
) -> io::Result<ReportSection> {
    let mut figure = Figure::new(&results.experiment, title);
    for (game, label) in results.games.iter().enumerate().take(MOST_PANELS) {
        let y = Axis::new(results.regret_name("CPR"), AxisScale::Linear);
        let x = Axis::new("plays t", AxisScale::Linear);
        let panel = Panel::new(format!("game{game}"), label, x, y);
        figure = figure.panel(over_time(results, styles, game, panel)?);
    }
    say_what_is_left_out(&mut figure, results.games.len(), results.policies.len());
    let titles: Vec<&str> = results.games.iter().map(String::as_str).collect();
    Ok(summarised(figure, results, &titles, horizon))
}

/// The section of a figure; `titles` has one entry per game.
fn summarised(figure: Figure, results: &Results, titles: &[&str], horizon: u64) -> ReportSection {
    let mut section = ReportSection::new(figure);
    let games = (MOST_ROWS / results.policies.len().max(1)).max(1);
    let several = results.games.len() > 1;
    for (game, title) in titles.iter().enumerate().take(games) {
        section.summary.extend(rank_policies(results, game).into_iter().map(|standing| PolicyRow {
            panel: if several { (*title).to_owned() } else { String::new() },
            policy: standing.policy,
            instances: standing.cpr.instances as u64,
            mean: standing.cpr.mean,
            stderr: standing.cpr.stderr,
            median: standing.cpr.median,
            p90: standing.cpr.p90,
            p99: standing.cpr.p99,
            max: standing.cpr.max,
            better_than: standing.better_than,
        }));
    }
    section.summary_caption = results.regret_name(&format!("CPR at T = {}", thousands(horizon)));
    if games < titles.len() {
        let (shown, all) = (thousands(games as u64), thousands(titles.len() as u64));
        section.summary_caption += &format!(", first {shown} of {all} games; summary.csv has all of them");
    }
    section
}

/// A panel with the CPR of every policy in one game.
fn over_time(results: &Results, styles: &[Option<StyleKey>], game: usize, mut panel: Panel) -> io::Result<Panel> {
    for policy in 0..results.policies.len().min(MOST_POLICIES) {
        let curve = series(results, game, policy, None, |sample, _| sample.cpr)?;
        panel = panel.series(curve.style(styles.get(policy).cloned().flatten()));
    }
    Ok(panel)
}

struct Drawing<'a> {
    spec: &'a Experiment,
    results: &'a Results,
    /// One per policy.
    styles: Vec<Option<StyleKey>>,
}

impl Drawing<'_> {
    fn x_axis(&self, label: &str) -> Axis {
        Axis::new(label, scale(self.spec.figure().x_scale))
    }

    fn y_axis(&self, label: &str) -> Axis {
        let mut axis = Axis::new(label, scale(self.spec.figure().y_scale));
        axis.min = self.spec.figure().y_min;
        axis
    }

    fn over_time(&self, game: usize, id: &str, title: &str) -> io::Result<Panel> {
        over_time(
            self.results,
            &self.styles,
            game,
            Panel::new(id, title, self.x_axis("plays t"), self.y_axis(&regret_label(self.spec, self.results))),
        )
    }

    /// The loss of each policy minus that of the reference policy: what the paper plots where it has no optimum.
    fn excess(&self, point: &Point, reference: &str, titled: bool) -> io::Result<Option<Panel>> {
        let Some(of) = self.results.policies.iter().position(|label| label == reference) else { return Ok(None) };
        let what = match self.results.are_in_rewards() {
            false => format!("loss in excess of {reference}"),
            true => format!("reward that {reference} has more"),
        };
        let title = if titled { format!("{}: {what}", point.title) } else { what };
        let unit = if self.results.are_in_rewards() { "lost reward" } else { "excess loss" };
        let id = format!("{}-excess", point.id);
        let mut panel = Panel::new(id, title, self.x_axis("plays t"), Axis::new(unit, AxisScale::Linear));
        let excess = |own: &Sample, other: Option<&Sample>| other.map_or(f64::NAN, |other| own.cpr - other.cpr);
        for policy in 0..self.results.policies.len().min(MOST_POLICIES) {
            let curve = series(self.results, point.index, policy, Some(of), excess)?;
            panel = panel.series(curve.style(self.styles[policy].clone()));
        }
        Ok(Some(panel))
    }

    /// The CPR at the horizon against a swept key, at points that differ in nothing else.
    fn over_sweep(&self, group: &[&Point], x: &str, scale: AxisScale) -> Panel {
        let settings = group.first().map(|point| &point.settings);
        let symbol = settings.and_then(|all| all.iter().find(|setting| setting.name == x));
        let symbol = symbol.map_or(x, |setting| setting.symbol.as_str());
        let rest: Vec<String> = settings
            .into_iter()
            .flatten()
            .filter(|setting| setting.name != x && !follows(self.spec.points(), &setting.name, x))
            .map(|setting| setting.title.clone())
            .collect();
        let id = group.first().map_or("all", |point| point.id.as_str());
        let y = self.results.regret_name(&format!("CPR at T = {}", thousands(self.spec.horizon())));
        let mut panel = Panel::new(id, rest.join(", "), Axis::new(symbol, scale), self.y_axis(&y));
        let place = |point: &&Point| Some((point.value(x)?.as_f64()?, point.index));
        let mut games: Vec<(f64, usize)> = group.iter().filter_map(place).collect();
        games.sort_by(|one, other| one.0.total_cmp(&other.0));
        for policy in 0..self.results.policies.len().min(MOST_POLICIES) {
            let curve = over_games(self.results, &games, policy, |sample| sample.cpr);
            panel = panel.series(curve.style(self.styles[policy].clone()));
        }
        panel
    }
}

/// The curve of a policy at the horizon, over games with their positions on the horizontal axis.
fn over_games(results: &Results, games: &[(f64, usize)], policy: usize, value: impl Fn(&Sample) -> f64) -> Series {
    let most_lines = MOST_LINES.min(MOST_LINE_VALUES / games.len().max(1));
    let (mut points, mut columns) = (Vec::new(), Vec::new());
    for &(at, game) in games {
        let values: Vec<f64> = results.ends(game, policy).map(|end| value(&end.last)).collect();
        let column: Vec<f64> = values.iter().copied().take(most_lines).collect();
        if let Some(spread) = Spread::of(values) {
            points.push(curve_point(at, spread));
            columns.push(column);
        }
    }
    let lines = columns.iter().map(Vec::len).min().unwrap_or(0);
    let lines = (0..lines).map(|i| columns.iter().map(|column| column[i]).collect()).collect();
    let curve = Series::new(&results.policies[policy], points).instances(lines);
    if games.len() > MOST_MARKS { curve } else { curve.with_points() }
}

/// The curve of one policy in one game. `value` gets a sample, and the sample of the reference policy if there is one.
fn series(
    results: &Results,
    game: usize,
    policy: usize,
    reference: Option<usize>,
    value: impl Fn(&Sample, Option<&Sample>) -> f64,
) -> io::Result<Series> {
    let mut points = Vec::new();
    let mut lines = vec![Vec::new(); results.ends(game, policy).len().min(MOST_LINES)];
    results.at_checkpoints(game, policy, reference, value, |t, values| {
        for (line, &value) in lines.iter_mut().zip(&values) {
            line.push(value);
        }
        points.extend(Spread::of(values).map(|spread| curve_point(t as f64, spread)));
        Ok::<_, io::Error>(())
    })?;
    Ok(Series::new(&results.policies[policy], points).instances(lines))
}

fn curve_point(x: f64, spread: Spread) -> CurvePoint {
    let Spread { mean, stderr, min, p10, median, p90, max, .. } = spread;
    CurvePoint { quantiles: Some(Quantiles { min, p10, median, p90, max }), ..CurvePoint::new(x, mean, stderr) }
}

fn scale(scale: Scale) -> AxisScale {
    match scale {
        Scale::Linear => AxisScale::Linear,
        Scale::Log => AxisScale::Log,
    }
}

/// Whether a swept key only follows another one: it has several values, but one for each value of the other.
fn follows(points: &[Point], name: &str, x: &str) -> bool {
    let mut by_x: HashMap<String, &Value> = HashMap::new();
    let mut several = false;
    for point in points {
        let (Some(at), Some(value)) = (point.value(x), point.value(name)) else { return false };
        several |= by_x.values().next().is_some_and(|known| *known != value);
        if *by_x.entry(at.to_string()).or_insert(value) != value {
            return false;
        }
    }
    several
}

/// The points that differ in nothing but `x` and the keys that follow it, in order of appearance.
fn groups<'a>(points: &'a [Point], x: &str) -> Vec<Vec<&'a Point>> {
    let names = points.first().into_iter().flat_map(|point| &point.settings).map(|setting| setting.name.as_str());
    let apart: Vec<&str> = names.filter(|name| *name != x && !follows(points, name, x)).collect();
    let rest = |point: &Point| -> Vec<String> {
        let others = point.settings.iter().filter(|setting| apart.contains(&setting.name.as_str()));
        others.map(|setting| format!("{}={}", setting.name, setting.text())).collect()
    };
    let mut places: HashMap<Vec<String>, usize> = HashMap::new();
    let mut groups: Vec<Vec<&Point>> = Vec::new();
    for point in points {
        let group = *places.entry(rest(point)).or_insert(groups.len());
        if group == groups.len() {
            groups.push(Vec::new());
        }
        groups[group].push(point);
    }
    groups
}
