//! Results as figures: which numbers become which curve.
//!
//! A figure has one panel per point of the sweep, with the CPR over time. If the experiment puts a swept key on the
//! horizontal axis, the figure shows the CPR at the horizon against that key instead, with one panel per combination of
//! the other swept keys.
//!
//! Drawing is the concern of [`chart`](crate::chart), the page that of [`report`](crate::report).

mod chosen;

pub use chosen::{ChoiceError, FigureChoice, PlottedColumn, chosen_figure};

use std::io;

use crate::chart::{Axis, AxisScale, CurvePoint, Figure, Panel, Quantiles, Series, StyleKey};
use crate::report::{PolicyRow, ReportSection};
use calibandit::PolicySpec;
use calibandit::policy::{Index, Radius};
use calibandit_experiment::Experiment;
use calibandit_experiment::format::thousands;
use calibandit_experiment::results::{Results, Sample};
use calibandit_experiment::spec::{Point, Scale};
use calibandit_experiment::stats::{Spread, rank_policies};

/// The number of single instances per policy that are drawn as thin lines: more cannot be told apart.
const MOST_LINES: usize = 20;

/// The number of panels of a figure in a report: more are neither compared nor printed.
const MOST_PANELS: usize = 60;

/// The figure of an experiment.
///
/// # Errors
/// If curves in a temporary file cannot be read.
pub fn figure(spec: &Experiment, results: &Results) -> io::Result<Figure> {
    let points = spec.points();
    let mut figure = Figure::new(spec.name(), spec.heading()).caption(spec.description());
    let styles = spec.policies().iter().map(|entry| entry.policy.spec().map(style_key)).collect();
    let drawing = Drawing { spec, results, styles };
    if spec.figure().is_over_time() {
        for point in points {
            figure = figure.panel(drawing.over_time(point.index, &point.id, &point.title)?);
            if let Some(reference) = &spec.figure().excess_over {
                let excess = drawing.excess(point, reference, points.len() > 1)?;
                figure = excess.into_iter().fold(figure, Figure::panel);
            }
        }
    } else {
        for group in groups(points, &spec.figure().x) {
            figure = figure.panel(drawing.over_sweep(&group));
        }
    }
    Ok(figure)
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

/// The figure with its table, its experiment file and the command that reproduces it.
///
/// # Errors
/// If curves in a temporary file cannot be read.
pub fn section(spec: &Experiment, results: &Results, command: &str) -> io::Result<ReportSection> {
    let titles: Vec<&str> = spec.points().iter().map(|point| point.title.as_str()).collect();
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
    for (game, label) in results.games.iter().enumerate() {
        let (x, y) = (Axis::new("plays t", AxisScale::Linear), Axis::new("CPR", AxisScale::Linear));
        let panel = Panel::new(format!("game{game}"), label, x, y);
        figure = figure.panel(over_time(results, styles, game, panel)?);
    }
    let titles: Vec<&str> = results.games.iter().map(String::as_str).collect();
    Ok(summarised(figure, results, &titles, horizon))
}

/// The section of a figure; `titles` has one entry per game.
fn summarised(mut figure: Figure, results: &Results, titles: &[&str], horizon: u64) -> ReportSection {
    let panels = figure.panels.len();
    if panels > MOST_PANELS {
        figure.panels.truncate(MOST_PANELS);
        let shown = format!("The figure shows the first {MOST_PANELS} of {panels} panels; the table has all of them.");
        figure.caption = [figure.caption.trim_end(), &shown].join(" ").trim_start().to_owned();
    }
    let mut section = ReportSection::new(figure);
    let several = results.games.len() > 1;
    for (game, title) in titles.iter().enumerate() {
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
    section.summary_caption = format!("CPR at T = {}", thousands(horizon));
    section
}

/// A panel with the CPR of every policy in one game.
fn over_time(results: &Results, styles: &[Option<StyleKey>], game: usize, mut panel: Panel) -> io::Result<Panel> {
    for policy in 0..results.policies.len() {
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
        over_time(self.results, &self.styles, game, Panel::new(id, title, self.x_axis("plays t"), self.y_axis("CPR")))
    }

    /// The loss of each policy minus that of the reference policy: what the paper plots where it has no optimum.
    fn excess(&self, point: &Point, reference: &str, titled: bool) -> io::Result<Option<Panel>> {
        let Some(of) = self.results.policies.iter().position(|label| label == reference) else { return Ok(None) };
        let what = format!("loss in excess of {reference}");
        let title = if titled { format!("{}: {what}", point.title) } else { what };
        let id = format!("{}-excess", point.id);
        let mut panel = Panel::new(id, title, self.x_axis("plays t"), Axis::new("excess loss", AxisScale::Linear));
        let excess = |own: &Sample, other: Option<&Sample>| other.map_or(f64::NAN, |other| own.cpr - other.cpr);
        for policy in 0..self.results.policies.len() {
            let curve = series(self.results, point.index, policy, Some(of), excess)?;
            panel = panel.series(curve.style(self.styles[policy].clone()));
        }
        Ok(Some(panel))
    }

    fn over_sweep(&self, group: &[&Point]) -> Panel {
        let x = &self.spec.figure().x;
        let settings = group.first().map(|point| &point.settings);
        let symbol = settings.and_then(|all| all.iter().find(|setting| setting.name == *x));
        let symbol = symbol.map_or(x.as_str(), |setting| setting.symbol.as_str());
        let rest: Vec<String> = settings
            .into_iter()
            .flatten()
            .filter(|setting| setting.name != *x)
            .map(|setting| setting.title.clone())
            .collect();
        let id = group.first().map_or("all", |point| point.id.as_str());
        let y = format!("CPR at T = {}", thousands(self.spec.horizon()));
        let mut panel = Panel::new(id, rest.join(", "), self.x_axis(symbol), self.y_axis(&y));
        for (p, label) in self.results.policies.iter().enumerate() {
            let mut points = Vec::new();
            let mut columns: Vec<Vec<f64>> = Vec::new();
            for point in group {
                let Some(at) = point.value(x).and_then(serde_json::Value::as_f64) else { continue };
                let values: Vec<f64> = self.results.ends(point.index, p).map(|end| end.last.cpr).collect();
                if let Some(spread) = Spread::of(values.iter().copied()) {
                    points.push(curve_point(at, spread));
                    columns.push(values);
                }
            }
            let lines = columns.iter().map(Vec::len).min().unwrap_or(0).min(MOST_LINES);
            let instances = (0..lines).map(|i| columns.iter().map(|column| column[i]).collect()).collect();
            let curve = Series::new(label, points).style(self.styles[p].clone());
            panel = panel.series(curve.instances(instances).with_points());
        }
        panel
    }
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

/// The points that differ in nothing but `x`, in order of appearance.
fn groups<'a>(points: &'a [Point], x: &str) -> Vec<Vec<&'a Point>> {
    let rest = |point: &Point| -> Vec<String> {
        let others = point.settings.iter().filter(|setting| setting.name != x);
        others.map(|setting| format!("{}={}", setting.name, setting.text())).collect()
    };
    let mut groups: Vec<(Vec<String>, Vec<&Point>)> = Vec::new();
    for point in points {
        let key = rest(point);
        match groups.iter_mut().find(|(other, _)| *other == key) {
            Some((_, group)) => group.push(point),
            None => groups.push((key, vec![point])),
        }
    }
    groups.into_iter().map(|(_, group)| group).collect()
}
