//! The traces of a panel: bands and instances below, then observations, then means.

use super::{SpreadMode, Theme, escaped, object};
use crate::chart::{CurvePoint, Mark, Marker, Palette, Panel, Quantiles, Series, Style};
use calibandit_experiment::format::{significant, typographic};
use serde_json::{Map, Value, json};

/// Opacity of a band, and of the outer one of two.
const BAND: f64 = 0.18;
const OUTER_BAND: f64 = 0.09;
/// Number of markers along a curve over time, as in the static drawing.
const MARKERS: usize = 6;

/// What is drawn.
pub(super) struct TraceView {
    pub(super) spread: SpreadMode,
    pub(super) theme: Theme,
    pub(super) alternatives: bool,
}

/// The traces of a panel. On a log axis, edges of bands that are not positive are at `floor`. `named` has the labels
/// that are in the legend already.
pub(super) fn of_panel<'a>(
    panel: &'a Panel,
    nth: usize,
    palette: &Palette,
    view: &TraceView,
    floor: Option<f64>,
    named: &mut Vec<&'a str>,
) -> Vec<Value> {
    let mut traces = Vec::new();
    for series in &panel.series {
        for mode in SpreadMode::ALL.into_iter().filter(|mode| mode.is_known(series)) {
            let visible = mode == view.spread;
            if visible || view.alternatives {
                traces.extend(spread(series, nth, color(palette, series, view.theme), mode, visible, floor));
            }
        }
    }
    for series in panel.series.iter().filter(|series| !series.observations.is_empty()) {
        traces.push(observations(series, nth, color(palette, series, view.theme)));
    }
    for series in &panel.series {
        let first = !named.contains(&series.label.as_str());
        if first {
            named.push(&series.label);
        }
        let style = palette.style(&series.label);
        traces.push(mean(series, nth, style, color(palette, series, view.theme), view, first));
    }
    traces
}

fn color(palette: &Palette, series: &Series, theme: Theme) -> &'static str {
    let style = palette.style(&series.label);
    match theme {
        Theme::Light => style.color,
        Theme::Dark => style.dark,
    }
}

/// What all traces of a curve have in common.
fn base(series: &Series, nth: usize, meta: Value) -> Map<String, Value> {
    let axis = |letter: &str| if nth == 0 { letter.to_owned() } else { format!("{letter}{}", nth + 1) };
    let meta = super::merged(object(json!({"label": series.label, "panel": nth})), object(meta));
    object(json!({
        "type": "scatter",
        "name": escaped(&series.label),
        "legendgroup": series.label,
        "xaxis": axis("x"),
        "yaxis": axis("y"),
        "meta": meta,
    }))
}

fn mean(series: &Series, nth: usize, style: Style, color: &str, view: &TraceView, in_legend: bool) -> Value {
    let mut trace = base(series, nth, json!({"role": "mean"}));
    let every_point = series.mark == Mark::LineAndPoints || series.points.len() == 1;
    let points = &series.points;
    trace.extend(object(json!({
        "mode": "lines+markers",
        "showlegend": in_legend,
        "x": points.iter().map(|point| point.x).collect::<Vec<_>>(),
        "y": points.iter().map(|point| finite(point.mean)).collect::<Vec<_>>(),
        "line": {"color": color, "width": style.width, "dash": dash(style)},
        "marker": {
            "color": color,
            "symbol": symbol(style.marker),
            "size": if style.marker == Marker::Star { 10 } else { 7 },
            "maxdisplayed": if every_point { 0 } else { MARKERS },
        },
    })));
    if view.alternatives {
        let errors = points.iter().map(|point| finite(point.stderr));
        trace.insert("customdata".into(), errors.collect());
        trace.insert("hoverinfo".into(), json!("none"));
    } else {
        let texts = points.iter().map(|point| json!(reading(point, view.spread)));
        trace.insert("customdata".into(), texts.collect());
        trace.insert("hovertemplate".into(), json!("%{customdata}"));
    }
    Value::Object(trace)
}

/// A value with what the spread mode adds to it, as in the tables of the report.
fn reading(point: &CurvePoint, spread: SpreadMode) -> String {
    let number = |value: f64| typographic(&significant(value, 3));
    let mean = number(point.mean);
    let between = |low: fn(&Quantiles) -> f64, high: fn(&Quantiles) -> f64| {
        let quantiles = point.quantiles.as_ref()?;
        Some(format!("{mean} ({}–{})", number(low(quantiles)), number(high(quantiles))))
    };
    let with_spread = match spread {
        SpreadMode::Quantiles => between(|q| q.p10, |q| q.p90),
        SpreadMode::Instances => between(|q| q.min, |q| q.max),
        SpreadMode::Sigma => point.sigma.map(|sigma| format!("{mean} ± {}", number(2.0 * sigma))),
        SpreadMode::Interval => {
            point.interval.map(|(low, high)| format!("{mean} ({} to {})", number(low), number(high)))
        }
        SpreadMode::Stderr | SpreadMode::None => None,
    };
    let stderr = || if point.stderr > 0.0 { format!("{mean} ± {}", number(point.stderr)) } else { mean.clone() };
    with_spread.unwrap_or_else(stderr)
}

fn observations(series: &Series, nth: usize, color: &str) -> Value {
    let mut trace = base(series, nth, json!({"role": "observations"}));
    trace.extend(object(json!({
        "mode": "markers",
        "showlegend": false,
        "hoverinfo": "skip",
        "x": series.observations.iter().map(|(x, _)| finite(*x)).collect::<Vec<_>>(),
        "y": series.observations.iter().map(|(_, y)| finite(*y)).collect::<Vec<_>>(),
        "marker": {"color": color, "symbol": "circle", "size": 4, "opacity": 0.5},
    })));
    Value::Object(trace)
}

/// The traces of a spread mode.
fn spread(series: &Series, nth: usize, color: &str, mode: SpreadMode, visible: bool, floor: Option<f64>) -> Vec<Value> {
    let quantiles = |low: fn(&Quantiles) -> f64, high: fn(&Quantiles) -> f64| {
        let edge = |point: &CurvePoint| point.quantiles.as_ref().map(|q| (low(q), high(q)));
        series.points.iter().map(edge).collect::<Vec<_>>()
    };
    let around = |half: fn(&CurvePoint) -> Option<f64>| {
        let edge = |point: &CurvePoint| half(point).map(|half| (point.mean - half, point.mean + half));
        series.points.iter().map(edge).collect::<Vec<_>>()
    };
    let bands = match mode {
        SpreadMode::None => vec![],
        SpreadMode::Stderr => vec![(around(|point| Some(point.stderr)), BAND)],
        SpreadMode::Sigma => vec![(around(|point| point.sigma.map(|sigma| 2.0 * sigma)), BAND)],
        SpreadMode::Interval => vec![(series.points.iter().map(|point| point.interval).collect(), BAND)],
        SpreadMode::Quantiles => {
            vec![(quantiles(|q| q.min, |q| q.max), OUTER_BAND), (quantiles(|q| q.p10, |q| q.p90), BAND)]
        }
        SpreadMode::Instances => return vec![instances(series, nth, color, visible)],
    };
    let draw = |(edges, opacity)| band(series, nth, color, mode, visible, &outline(series, edges, floor), opacity);
    bands.into_iter().map(draw).collect()
}

/// The outline of a band: forwards along the upper edge, backwards along the lower one; one outline for each part
/// between missing values, with a null between them.
fn outline(series: &Series, edges: Vec<Option<(f64, f64)>>, floor: Option<f64>) -> (Vec<Value>, Vec<Value>) {
    let raised = |value: f64| floor.map_or(value, |floor| value.max(floor));
    let usable = |(low, high): &(f64, f64)| low.is_finite() && high.is_finite();
    let places: Vec<Option<(f64, f64, f64)>> = series
        .points
        .iter()
        .zip(edges)
        .map(|(point, edge)| edge.filter(usable).map(|(low, high)| (point.x, raised(low), raised(high))))
        .collect();
    let (mut xs, mut ys) = (Vec::new(), Vec::new());
    for part in places.split(Option::is_none).filter(|part| part.len() > 1) {
        if !xs.is_empty() {
            xs.push(Value::Null);
            ys.push(Value::Null);
        }
        let part: Vec<(f64, f64, f64)> = part.iter().flatten().copied().collect();
        xs.extend(part.iter().chain(part.iter().rev()).map(|(x, ..)| json!(x)));
        ys.extend(part.iter().map(|(_, _, high)| json!(high)));
        ys.extend(part.iter().rev().map(|(_, low, _)| json!(low)));
    }
    (xs, ys)
}

fn band(
    series: &Series,
    nth: usize,
    color: &str,
    mode: SpreadMode,
    visible: bool,
    (xs, ys): &(Vec<Value>, Vec<Value>),
    opacity: f64,
) -> Value {
    let mut trace = base(series, nth, json!({"role": "band", "spread": mode.name()}));
    trace.extend(object(json!({
        "mode": "lines",
        "showlegend": false,
        "hoverinfo": "skip",
        "visible": visible,
        "x": xs,
        "y": ys,
        "fill": "toself",
        "fillcolor": translucent(color, opacity),
        "line": {"width": 0, "color": color},
    })));
    Value::Object(trace)
}

/// The curves of all instances as one line with gaps.
fn instances(series: &Series, nth: usize, color: &str, visible: bool) -> Value {
    let (mut xs, mut ys) = (Vec::new(), Vec::new());
    for row in &series.instances {
        xs.extend(series.points.iter().map(|point| json!(point.x)));
        ys.extend(row.iter().take(series.points.len()).map(|value| finite(*value)));
        ys.resize(xs.len(), Value::Null);
        xs.push(Value::Null);
        ys.push(Value::Null);
    }
    let mut trace = base(series, nth, json!({"role": "instances", "spread": SpreadMode::Instances.name()}));
    trace.extend(object(json!({
        "mode": "lines",
        "showlegend": false,
        "hoverinfo": "skip",
        "visible": visible,
        "connectgaps": false,
        "x": xs,
        "y": ys,
        "line": {"width": 0.7, "color": translucent(color, 0.45)},
    })));
    Value::Object(trace)
}

/// `#rrggbb` as `rgba(...)`.
pub(super) fn translucent(color: &str, opacity: f64) -> String {
    let part = |at: usize| color.get(at..at + 2).and_then(|hex| u8::from_str_radix(hex, 16).ok()).unwrap_or(0);
    format!("rgba({},{},{},{opacity})", part(1), part(3), part(5))
}

/// The dash pattern in the form of plotly.
pub(super) fn dash(style: Style) -> String {
    if style.dash.is_empty() {
        return "solid".to_owned();
    }
    style.dash.iter().map(|length| format!("{length}px")).collect::<Vec<_>>().join(",")
}

/// The name of a marker in plotly.
pub(super) fn symbol(marker: Marker) -> &'static str {
    match marker {
        Marker::Circle => "circle",
        Marker::Square => "square",
        Marker::Triangle => "triangle-up",
        Marker::TriangleDown => "triangle-down",
        Marker::Diamond => "diamond",
        Marker::Plus => "cross",
        Marker::Cross => "x",
        Marker::Star => "star",
    }
}

fn finite(value: f64) -> Value {
    if value.is_finite() { json!(value) } else { Value::Null }
}
