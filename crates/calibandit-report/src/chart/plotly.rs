//! A figure as a description for plotly: `{"data": [...], "layout": {...}}`.
//!
//! The [report](crate::report), Python's `plotly` and dashboards draw the same description, so that traces, colours,
//! dash patterns, markers, bands and axes are decided here and nowhere else. The panels of a figure are a grid of
//! subplots with one legend: a click hides a policy in all panels, a double click isolates it.
//!
//! The `meta` of a trace says what it shows: `label` (the name without escaping), `panel` (the position of the panel),
//! `role` (`mean`, `band`, `instances` or `observations`) and, for all but the means and the observations, `spread`.
//!
//! ```
//! use calibandit_report::chart::plotly::{ViewOptions, description};
//! use calibandit_report::chart::{Axis, AxisScale, CurvePoint, Figure, Palette, Panel, Series};
//!
//! let points = (1..=10).map(|i| CurvePoint::new(f64::from(i), f64::from(i * i), 0.5)).collect();
//! let (x, y) = (Axis::new("t", AxisScale::Linear), Axis::new("CPR", AxisScale::Linear));
//! let figure = Figure::new("f", "CPR").panel(Panel::new("p", "", x, y).series(Series::new("EXP3", points)));
//! let plot = description(&figure, &Palette::for_figures([&figure]), &ViewOptions::default());
//! assert_eq!(plot["data"][1]["name"], "EXP3");
//! assert_eq!(plot["data"][1]["y"][2], 9.0);
//! ```

mod axes;
mod grid;
mod traces;

pub use axes::template;

use super::{AxisScale, Figure, Palette, Series};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

/// How a description shows a figure.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct ViewOptions {
    /// What is drawn around the means; if not given, what the static drawing shows: ± 2 sigma where sigma is known,
    /// otherwise confidence intervals where they are known, otherwise ± 1 standard error.
    pub spread: Option<SpreadMode>,
    /// The scale of all horizontal axes; if not given, that of each panel.
    pub x: Option<AxisScale>,
    /// The scale of all vertical axes; if not given, that of each panel.
    pub y: Option<AxisScale>,
    /// Colours for a light or a dark background.
    pub theme: Theme,
    /// Adds what a page needs to change the view without this library: hidden traces of all other spread modes;
    /// standard errors instead of texts in `customdata`; in `layout.meta`, a suitable `width` and for each panel, in
    /// `axes`, both scales of `x` and `y`, the `name` of x, the `floor` of bands on a log axis, and for both scales of
    /// x the marked values and what a log time axis shows before the first checkpoint (`remarks`: `shapes` and
    /// `annotations`).
    pub alternatives: bool,
}

/// What is drawn around the means.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum SpreadMode {
    /// Nothing.
    None,
    /// A band of ± 1 standard error.
    Stderr,
    /// A band of ± 2 standard deviations of single observations.
    Sigma,
    /// The confidence interval of each mean.
    Interval,
    /// Bands from the 10 % to the 90 % quantile, and from the least to the greatest value.
    Quantiles,
    /// The curves of single instances.
    Instances,
}

/// Light or dark background.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Theme {
    /// Dark text on white.
    #[default]
    Light,
    /// Light text on a dark background.
    Dark,
}

impl SpreadMode {
    /// All modes, in the order in which a page offers them.
    pub const ALL: [SpreadMode; 6] = [
        SpreadMode::None,
        SpreadMode::Stderr,
        SpreadMode::Sigma,
        SpreadMode::Interval,
        SpreadMode::Quantiles,
        SpreadMode::Instances,
    ];

    /// The name in JSON and in addresses.
    pub fn name(self) -> &'static str {
        match self {
            SpreadMode::None => "none",
            SpreadMode::Stderr => "stderr",
            SpreadMode::Sigma => "sigma",
            SpreadMode::Interval => "interval",
            SpreadMode::Quantiles => "quantiles",
            SpreadMode::Instances => "instances",
        }
    }

    /// A sentence for captions that says what is drawn around the means.
    pub fn sentence(self) -> &'static str {
        match self {
            SpreadMode::None => "Only means are shown.",
            SpreadMode::Stderr => "Curves are means over instances, with a band of ± 1 standard error.",
            SpreadMode::Sigma => "Curves are fitted means, with a band of ± 2 standard deviations of an observation.",
            SpreadMode::Interval => "Curves are means, with their confidence intervals as bands.",
            SpreadMode::Quantiles => {
                "Curves are means over instances, with bands from the 10 % to the 90 % quantile (darker) and from the \
                 least to the greatest value."
            }
            SpreadMode::Instances => "Curves are means over instances; thin lines are single instances.",
        }
    }

    /// Whether a curve has the numbers that this mode draws.
    pub(crate) fn is_known(self, series: &Series) -> bool {
        match self {
            SpreadMode::None => true,
            SpreadMode::Stderr => series.points.iter().any(|point| point.stderr > 0.0),
            SpreadMode::Sigma => series.points.iter().any(|point| point.sigma.is_some()),
            SpreadMode::Interval => series.points.iter().any(|point| point.interval.is_some()),
            SpreadMode::Quantiles => series.points.iter().any(|point| point.quantiles.is_some()),
            SpreadMode::Instances => !series.instances.is_empty(),
        }
    }

    /// The modes for which a figure has numbers.
    pub(crate) fn of(figure: &Figure) -> Vec<SpreadMode> {
        let known = |mode: &SpreadMode| figure.panels.iter().flat_map(|panel| &panel.series).any(|s| mode.is_known(s));
        SpreadMode::ALL.into_iter().filter(known).collect()
    }

    /// The mode of the static drawing.
    pub(crate) fn of_drawing(figure: &Figure) -> SpreadMode {
        let known = SpreadMode::of(figure);
        let wanted = [SpreadMode::Sigma, SpreadMode::Interval, SpreadMode::Stderr];
        wanted.into_iter().find(|mode| known.contains(mode)).unwrap_or(SpreadMode::None)
    }
}

/// The figure as a plotly figure.
///
/// The height is fixed by the number of rows of panels; the width is left to the page or notebook.
pub fn description(figure: &Figure, palette: &Palette, options: &ViewOptions) -> Value {
    let spread = options.spread.unwrap_or_else(|| SpreadMode::of_drawing(figure));
    let view = traces::TraceView { spread, theme: options.theme, alternatives: options.alternatives };
    let mut data = Vec::new();
    let mut layout = grid::layout(figure, options.theme);
    let mut named: Vec<&str> = Vec::new();
    let (mut shapes, mut annotations, mut alternatives) = (Vec::new(), grid::titles(figure), Vec::new());
    for (nth, panel) in figure.panels.iter().enumerate() {
        let (x, y) = (options.x.unwrap_or(panel.x.scale), options.y.unwrap_or(panel.y.scale));
        data.extend(traces::of_panel(panel, nth, palette, &view, axes::floor(panel, y), &mut named));
        let place = grid::place(figure, nth);
        layout.insert(key("xaxis", nth), merged(axes::horizontal(panel, x), place.x));
        layout.insert(key("yaxis", nth), merged(axes::vertical(panel, y), place.y));
        if options.alternatives {
            alternatives.push(axes::alternatives(panel));
            // The page draws them for the scale that it shows.
            continue;
        }
        for remark in axes::early(panel, x, nth).into_iter().chain(axes::rules(panel, x, nth)) {
            shapes.push(remark.shape);
            annotations.push(remark.annotation);
        }
    }
    layout.insert("shapes".into(), Value::Array(shapes));
    layout.insert("annotations".into(), Value::Array(annotations));
    if options.alternatives {
        layout.insert("meta".into(), json!({"axes": alternatives, "width": grid::width(figure)}));
    }
    json!({"data": data, "layout": layout})
}

/// The style of every label of a figure, in the order of the legend: `label`, `color`, `dark` (the colour on a dark
/// background), `dash` (lengths of dashes and gaps, empty for a solid line), `marker` and `width`, with the names of
/// dash pattern and marker in plotly as `plotly_dash` and `plotly_symbol`.
pub fn styles(figure: &Figure, palette: &Palette) -> Value {
    let style = |label: &str| {
        let style = palette.style(label);
        json!({
            "label": label,
            "color": style.color,
            "dark": style.dark,
            "dash": style.dash,
            "marker": style.marker,
            "width": style.width,
            "plotly_dash": traces::dash(style),
            "plotly_symbol": traces::symbol(style.marker),
        })
    };
    figure.labels().into_iter().map(style).collect()
}

/// The name of an axis in a layout: `xaxis`, `xaxis2`, ...
fn key(axis: &str, nth: usize) -> String {
    if nth == 0 { axis.to_owned() } else { format!("{axis}{}", nth + 1) }
}

/// Plotly reads a subset of HTML in every text.
fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}

fn merged(mut one: Map<String, Value>, other: Map<String, Value>) -> Value {
    one.extend(other);
    Value::Object(one)
}

/// An object literal as a map that can be extended.
fn object(value: Value) -> Map<String, Value> {
    match value {
        Value::Object(map) => map,
        _ => Map::new(),
    }
}

#[cfg(test)]
mod tests;
