//! Axes: limits, ticks, titles, and the colours of the two themes.

use super::{Theme, escaped, key, object};
use crate::chart::scale::{Tick, limits, sweep_ticks, ticks};
use crate::chart::{Axis, AxisScale, Mark, Panel};
use calibandit_experiment::format::thousands;
use serde_json::{Map, Value, json};

/// The greatest number of swept values that are ticks themselves, as in the static drawing.
const SWEEP_TICKS: usize = 12;

/// What a theme decides, as a plotly template: `{"layout": {...}}`.
pub fn template(theme: Theme) -> Value {
    let (paper, ink, soft, grid, line) = match theme {
        Theme::Light => ("#ffffff", "#1b1e22", "#5b626b", "#e8eaed", "#9aa1a9"),
        Theme::Dark => ("#14171b", "#e8eaed", "#a3abb5", "#2a2f36", "#6b737d"),
    };
    let axis = json!({
        "gridcolor": grid,
        "linecolor": line,
        "tickcolor": line,
        "zerolinecolor": soft,
        "tickfont": {"color": soft, "size": 11},
        "title": {"font": {"color": ink, "size": 12}},
        "spikecolor": soft,
    });
    json!({"layout": {
        "paper_bgcolor": paper,
        "plot_bgcolor": paper,
        "font": {"color": ink, "family": "system-ui, -apple-system, 'Segoe UI', Inter, Arial, sans-serif", "size": 12},
        "hoverlabel": {"bgcolor": paper, "bordercolor": line, "font": {"color": ink}},
        "legend": {"bgcolor": "rgba(0,0,0,0)"},
        "modebar": {"bgcolor": "rgba(0,0,0,0)", "color": soft, "activecolor": ink},
        "xaxis": axis,
        "yaxis": axis,
    }})
}

fn sweep(panel: &Panel) -> bool {
    panel.series.iter().any(|series| series.mark == Mark::LineAndPoints)
}

fn xs(panel: &Panel) -> impl Iterator<Item = f64> {
    let observed = panel.series.iter().flat_map(|series| &series.observations).map(|(x, _)| *x);
    panel.series.iter().flat_map(|series| &series.points).map(|point| point.x).chain(observed)
}

fn common(axis: &Axis, scale: AxisScale) -> Map<String, Value> {
    object(json!({
        "title": {"text": escaped(&axis.label), "standoff": 8},
        "type": if scale == AxisScale::Log { "log" } else { "linear" },
        "showline": true,
        "ticks": "outside",
        "ticklen": 4,
        "exponentformat": "SI",
        "automargin": true,
    }))
}

/// What a page needs to change the scales of a panel.
pub(super) fn alternatives(panel: &Panel) -> Value {
    let remarks = |scale: AxisScale| {
        let all: Vec<Remark> = early(panel, scale, 0).into_iter().chain(rules(panel, scale, 0)).collect();
        let (shapes, annotations): (Vec<Value>, Vec<Value>) =
            all.into_iter().map(|remark| (remark.shape, remark.annotation)).unzip();
        json!({"shapes": shapes, "annotations": annotations})
    };
    json!({
        "name": panel.x.label,
        "x": {"linear": horizontal(panel, AxisScale::Linear), "log": horizontal(panel, AxisScale::Log)},
        "y": {"linear": vertical(panel, AxisScale::Linear), "log": vertical(panel, AxisScale::Log)},
        "floor": floor(panel, AxisScale::Log),
        "remarks": {"linear": remarks(AxisScale::Linear), "log": remarks(AxisScale::Log)},
    })
}

/// The horizontal axis. Its range is fixed by the data of all curves, hidden or not.
pub(super) fn horizontal(panel: &Panel, scale: AxisScale) -> Map<String, Value> {
    let mut axis = common(&panel.x, scale);
    let sweep = sweep(panel);
    let (mut low, high) = limits(scale, (panel.x.min, panel.x.max), xs(panel), sweep, !sweep);
    if let Some(begin) = first_checkpoint(panel).filter(|begin| scale == AxisScale::Log && *begin <= low * 1.000_001) {
        low = before(begin);
    }
    let at = |value: f64| if scale == AxisScale::Log { value.log10() } else { value };
    axis.insert("range".into(), json!([at(low), at(high)]));
    axis.insert("zeroline".into(), json!(false));
    let mut values: Vec<f64> = xs(panel).filter(|value| (low..=high).contains(value)).collect();
    values.sort_by(f64::total_cmp);
    values.dedup();
    let array = |ticks: Vec<Tick>| {
        let (values, texts): (Vec<f64>, Vec<String>) = ticks.into_iter().map(|tick| (tick.at, tick.label)).unzip();
        object(json!({"tickmode": "array", "tickvals": values, "ticktext": texts}))
    };
    if sweep && values.len() <= SWEEP_TICKS {
        axis.extend(array(sweep_ticks(&values)));
    } else if sweep && scale == AxisScale::Log {
        axis.extend(array(ticks(scale, low, high, 8)));
    } else {
        axis.insert("nticks".into(), json!(8));
    }
    axis
}

/// The vertical axis. Its range follows the visible traces.
pub(super) fn vertical(panel: &Panel, scale: AxisScale) -> Map<String, Value> {
    let mut axis = common(&panel.y, scale);
    let usable = |value: &f64| value.is_finite() && (scale == AxisScale::Linear || *value > 0.0);
    let (min, max) = (panel.y.min.filter(usable), panel.y.max.filter(usable));
    let at = |value: f64| if scale == AxisScale::Log { value.log10() } else { value };
    // What is not fixed follows the visible traces. The units of `minallowed` and `maxallowed` are those of `range`,
    // and those of `clipmin` are those of the data.
    let mut options = Map::new();
    match (min, max) {
        (Some(min), Some(max)) => {
            axis.insert("range".into(), json!([at(min), at(max)]));
        }
        (Some(min), None) => {
            options.insert("minallowed".into(), json!(at(min)));
        }
        (None, Some(max)) => {
            options.insert("maxallowed".into(), json!(at(max)));
        }
        (None, None) => {}
    }
    match floor(panel, scale) {
        // The lower edge of a band may be arbitrarily low; only the means must be visible.
        Some(floor) if min.is_none() => {
            options.insert("clipmin".into(), json!(10.0 * floor));
        }
        Some(_) => {}
        None => {
            let (low, high) = limits(scale, (None, None), means(panel), false, true);
            axis.insert("rangemode".into(), json!(if low == 0.0 && high > 0.0 { "tozero" } else { "normal" }));
        }
    }
    if !options.is_empty() {
        axis.insert("autorangeoptions".into(), Value::Object(options));
    }
    axis.insert("zeroline".into(), json!(scale == AxisScale::Linear));
    axis.insert("nticks".into(), json!(7));
    axis
}

fn means(panel: &Panel) -> impl Iterator<Item = f64> {
    panel.series.iter().flat_map(|series| &series.points).map(|point| point.mean)
}

/// A value far below the visible part of a log axis, where the edges of bands are that have no position; `None` for a
/// linear axis.
pub(super) fn floor(panel: &Panel, scale: AxisScale) -> Option<f64> {
    let lowest = limits(AxisScale::Log, (None, None), means(panel), true, true).0;
    (scale == AxisScale::Log).then_some(lowest / 10.0)
}

/// Where the data of a panel over time begin; `None` for sweeps and for data that begin with the first plays.
pub(super) fn first_checkpoint(panel: &Panel) -> Option<f64> {
    if sweep(panel) {
        return None;
    }
    xs(panel).filter(|x| x.is_finite()).reduce(f64::min).filter(|first| *first > 10.0)
}

/// Where a log time axis begins: far enough before the first checkpoint to show that there is a part without data.
fn before(checkpoint: f64) -> f64 {
    checkpoint / 2.0
}

/// What is drawn into a panel besides its curves: a shape and its text.
pub(super) struct Remark {
    pub(super) shape: Value,
    pub(super) annotation: Value,
}

/// The marked values of the `nth` panel, with their texts at the top: to the left of a line in the right half.
pub(super) fn rules(panel: &Panel, scale: AxisScale, nth: usize) -> impl Iterator<Item = Remark> {
    let (x, y) = (key("x", nth), format!("{} domain", key("y", nth)));
    let at = move |value: f64| if scale == AxisScale::Log { value.log10() } else { value };
    let sweep = sweep(panel);
    let (low, high) = limits(scale, (panel.x.min, panel.x.max), xs(panel), sweep, !sweep);
    let usable = move |value: f64| value.is_finite() && (scale == AxisScale::Linear || value > 0.0);
    panel.rules.iter().filter(move |rule| usable(rule.at)).map(move |rule| {
        let on_the_right = at(rule.at) > (at(low) + at(high)) / 2.0;
        Remark {
            shape: json!({
                "type": "line",
                "xref": x,
                "yref": y,
                "x0": rule.at,
                "x1": rule.at,
                "y0": 0,
                "y1": 1,
                "line": {"width": 1.5, "dash": "dash", "color": "#808890"},
            }),
            annotation: json!({
                "text": escaped(&rule.label),
                "xref": x,
                "yref": y,
                "x": at(rule.at),
                "y": 1,
                "xanchor": if on_the_right { "right" } else { "left" },
                "xshift": if on_the_right { -4 } else { 4 },
                "yanchor": "top",
                // Below the buttons of the plot.
                "yshift": -14,
                "showarrow": false,
                "font": {"size": 11, "color": "#808890"},
            }),
        }
    })
}

/// The part of a log time axis before the data of the `nth` panel, where the curves have no values: a shaded area and a
/// text. `None` if there is none.
pub(super) fn early(panel: &Panel, scale: AxisScale, nth: usize) -> Option<Remark> {
    let begin = first_checkpoint(panel).filter(|_| scale == AxisScale::Log)?;
    let (x, y) = (key("x", nth), format!("{} domain", key("y", nth)));
    let text = format!("first checkpoint: {}", thousands(begin.round() as u64));
    Some(Remark {
        shape: json!({
            "type": "rect",
            "layer": "below",
            "xref": x,
            "yref": y,
            "x0": begin / 1e3,
            "x1": begin,
            "y0": 0,
            "y1": 1,
            "line": {"width": 0},
            "fillcolor": "rgba(128,136,144,0.10)",
        }),
        annotation: json!({
            "text": text,
            "textangle": -90,
            "xref": x,
            "yref": y,
            "x": begin.log10(),
            "y": 0.5,
            "xanchor": "right",
            "yanchor": "middle",
            "showarrow": false,
            "font": {"size": 10, "color": "#808890"},
        }),
    })
}
