//! The figures of a diagnosis: warm-up, forgetting, what is still to change, the price of a memory bound.

use calibandit_experiment::format::thousands;
use calibandit_fit::diagnose::{ArmDiagnosis, CurveCell, Diagnosis, Estimate, Price, PriceRow};

use crate::chart::{Axis, AxisScale, CurvePoint, Figure, Panel, Rule, Series, StyleKey};

/// The number of arms that a figure shows: more curves cannot be told apart.
const MOST_ARMS: usize = 8;

/// The label of the band of differences that do not matter.
const TOLERANCE: &str = "within the tolerance";

/// The loss by play in a row after a rest, with the memory bound; no panel if no arm has a curve.
pub fn warm_up_figure(found: &Diagnosis) -> Figure {
    let figure = Figure::new("warm-up", "Warm-up: the loss by play in a row");
    let arms = shown(found, |arm| !arm.curve.is_empty());
    if arms.is_empty() {
        return figure;
    }
    let mut panel = Panel::new("warm-up", "", positions(), Axis::new("loss", AxisScale::Linear));
    for arm in &arms {
        panel = panel.series(Series::new(&arm.name, loss_points(&arm.curve)).with_points());
    }
    figure.panel(annotated(panel, found, arms.len()))
}

/// The loss of the first play after a pause, by length of the pause; no panel if no arm has pauses of several lengths
/// after long runs.
pub fn forgetting_figure(found: &Diagnosis) -> Figure {
    let figure = Figure::new("forgetting", "Forgetting: the loss of the first play after a pause");
    let arms = shown(found, |arm| arm.forgetting.len() > 1);
    if arms.is_empty() {
        return figure;
    }
    let x = Axis::new("plays of other arms in between", AxisScale::Log);
    let mut panel = Panel::new("forgetting", "", x, Axis::new("loss", AxisScale::Linear));
    for arm in &arms {
        panel = panel.series(Series::new(&arm.name, loss_points(&arm.forgetting)).with_points());
    }
    figure.panel(cut(panel, found, arms.len()))
}

/// The difference to the eventual loss with the bounds of the test, against the tolerance; no panel if nothing could be
/// compared.
pub fn difference_figure(found: &Diagnosis) -> Figure {
    let figure = Figure::new("still-to-change", "What is still to change: the difference to the eventual loss");
    let compared = |arm: &ArmDiagnosis| arm.curve.iter().any(|cell| cell.difference.is_some());
    let arms = shown(found, compared);
    if arms.is_empty() {
        return figure;
    }
    let all = || arms.iter().flat_map(|arm| &arm.curve).filter(|cell| cell.difference.is_some());
    let (least, most) = all().fold((f64::INFINITY, 1.0_f64), |(low, high), cell| {
        (low.min(f64::from(cell.first)), high.max(f64::from(cell.last)))
    });
    let band = |x: f64| point(x, Estimate { mean: 0.0, low: -found.tolerance, high: found.tolerance });
    let y = Axis::new("difference to the eventual loss", AxisScale::Linear);
    let mut panel = Panel::new("difference", "", positions(), y);
    panel = panel.series(Series::new(TOLERANCE, vec![band(least), band(most.max(least + 1.0))]));
    for arm in &arms {
        let cells = arm.curve.iter().filter_map(|cell| Some(point(middle(cell), cell.difference?)));
        panel = panel.series(Series::new(&arm.name, cells.collect()).with_points());
    }
    figure.panel(annotated(panel, found, arms.len()))
}

/// The predicted regret of `calibrated` by memory bound, with plain bandits as horizontal lines.
pub fn price_figure(price: &Price) -> Figure {
    let figure = Figure::new("price", "The price of M: predicted regret by memory bound");
    let bounded: Vec<&PriceRow> = price.rows.iter().filter(|row| row.memory_bound.is_some()).collect();
    let bounds = || bounded.iter().filter_map(|row| row.memory_bound).map(f64::from);
    let (Some(least), Some(most)) = (bounds().reduce(f64::min), bounds().reduce(f64::max)) else { return figure };
    let scale = if price.rows.iter().all(|row| row.regret > 0.0) { AxisScale::Log } else { AxisScale::Linear };
    let x = Axis::new("memory bound M", AxisScale::Log);
    let y = Axis::new(format!("predicted regret over {} plays", thousands(price.horizon)), scale);
    let mut panel =
        Panel::new("price", "", x, y).rule(Rule::at(f64::from(price.memory_bound), bound_label(price.memory_bound)));
    let mut labels: Vec<&str> = Vec::new();
    for row in &price.rows {
        if !labels.contains(&row.policy.as_str()) {
            labels.push(&row.policy);
        }
    }
    for label in labels {
        let rows = price.rows.iter().filter(|row| row.policy == label);
        let points = rows.flat_map(|row| {
            let at = |x: f64| CurvePoint::new(x, row.regret, row.stderr);
            match row.memory_bound {
                Some(bound) => vec![at(f64::from(bound))],
                None => vec![at(least), at(most)],
            }
        });
        let series = Series::new(label, points.collect()).style(StyleKey::new(label.to_lowercase()));
        panel = panel.series(series.with_points());
    }
    figure.panel(panel)
}

fn positions() -> Axis {
    // A little room before the first play, and not so much that an axis has a tick there.
    Axis { min: Some(0.93), ..Axis::new("play in a row after a rest", AxisScale::Log) }
}

fn bound_label(bound: u32) -> String {
    format!("M = {bound}")
}

/// The panel with the memory bound, and with a remark if arms are left out.
fn annotated(panel: Panel, found: &Diagnosis, arms: usize) -> Panel {
    let panel = match (found.memory_bound, found.conditional_bound) {
        (Some(bound), _) => panel.rule(Rule::at(f64::from(bound), bound_label(bound))),
        (None, Some(bound)) => panel.rule(Rule::at(
            f64::from(bound),
            format!("{}, if no arm remembers more than {}", bound_label(bound), found.reach),
        )),
        (None, None) => panel,
    };
    cut(panel, found, arms)
}

fn cut(panel: Panel, found: &Diagnosis, arms: usize) -> Panel {
    if arms < found.arms.len().min(MOST_ARMS + 1) || found.arms.len() > MOST_ARMS {
        panel.note(format!("{arms} of {} arms are shown; curves.csv has all.", found.arms.len()))
    } else {
        panel
    }
}

/// The arms that decide the answer, in the order of the log: those that are not settled, and those that settle last.
fn shown(found: &Diagnosis, has_data: impl Fn(&ArmDiagnosis) -> bool) -> Vec<&ArmDiagnosis> {
    let mut arms: Vec<(usize, &ArmDiagnosis)> =
        found.arms.iter().enumerate().filter(|(_, arm)| has_data(arm)).collect();
    arms.sort_by_key(|(_, arm)| std::cmp::Reverse(arm.settled.upper.unwrap_or(u32::MAX)));
    arms.truncate(MOST_ARMS);
    arms.sort_by_key(|(nth, _)| *nth);
    arms.into_iter().map(|(_, arm)| arm).collect()
}

/// The middle of a range of positions, on a logarithmic scale.
fn middle(cell: &CurveCell) -> f64 {
    (f64::from(cell.first) * f64::from(cell.last.max(cell.first))).sqrt().round()
}

fn point(x: f64, estimate: Estimate) -> CurvePoint {
    CurvePoint::new(x, estimate.mean, 0.0).interval(estimate.low, estimate.high)
}

fn loss_points(cells: &[CurveCell]) -> Vec<CurvePoint> {
    cells.iter().map(|cell| point(middle(cell), cell.loss)).collect()
}
