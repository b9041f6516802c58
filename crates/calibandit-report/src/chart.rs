//! Figures as plain data, and their drawings as SVG and PNG.
//!
//! A [`Figure`] holds numbers and labels, nothing about pixels: the same value becomes a static drawing
//! ([`Figure::to_svg`], [`Figure::to_png`]) and an interactive one in the [report](crate::report). Both use one
//! [`Palette`], so that a policy looks the same wherever it appears: colour, dash and marker together, because print
//! and colour-blind eyes cannot rely on colour.
//!
//! This module computes no statistics. Means, standard errors and quantiles come from the caller.
//!
//! ```
//! use calibandit_report::chart::{Axis, Figure, Palette, Panel, Point, Scale, Series};
//!
//! let points = (1..=10).map(|i| Point::new(f64::from(i) * 1e5, f64::from(i).sqrt() * 100.0, 12.0)).collect();
//! let figure = Figure::new("fig1a", "CPR over time").panel(
//!     Panel::new("step", "K = 5, m = M = 3", Axis::new("t", Scale::Linear), Axis::new("CPR", Scale::Log))
//!         .series(Series::new("epoch UCB", points)),
//! );
//! let palette = Palette::for_figures([&figure]);
//! assert!(figure.to_svg(&palette).starts_with("<svg"));
//! assert!(figure.to_png(&palette, 1.0)?.starts_with(b"\x89PNG"));
//! # Ok::<(), calibandit_report::chart::PngError>(())
//! ```

mod font;
mod layout;
mod marker;
mod panel;
mod png;
mod scale;
mod scene;
mod style;
pub(crate) mod svg;

pub use marker::Marker;
pub use png::PngError;
pub use style::{Palette, Style};

use serde::{Deserialize, Serialize};

/// One figure: a title and one or more panels that share a legend.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Figure {
    /// Short name for files and links, such as `fig1a`.
    pub id: String,
    /// What the figure shows, in a few words.
    pub title: String,
    /// What a reader needs to know to read it; plain text.
    #[serde(default)]
    pub caption: String,
    /// The panels, in reading order. More than one makes a grid of small multiples.
    pub panels: Vec<Panel>,
}

/// One pair of axes with its curves.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Panel {
    /// Short name, unique within the figure.
    pub id: String,
    /// What distinguishes this panel from its neighbours, such as `m = 3, K = 5, M = 10`.
    pub title: String,
    /// The horizontal axis.
    pub x: Axis,
    /// The vertical axis.
    pub y: Axis,
    /// The curves, in legend order.
    pub series: Vec<Series>,
    /// Remarks printed with the panel.
    #[serde(default)]
    pub notes: Vec<String>,
}

/// One axis. Limits that are not given are taken from the data.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Axis {
    /// What is measured, with its unit.
    pub label: String,
    /// How values are placed.
    pub scale: Scale,
    /// Least value shown.
    #[serde(default)]
    pub min: Option<f64>,
    /// Greatest value shown.
    #[serde(default)]
    pub max: Option<f64>,
}

/// How an axis places its values.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Scale {
    /// Equal differences are equally far apart.
    Linear,
    /// Equal ratios are equally far apart. Values that are not positive are left out.
    Log,
}

/// One curve, usually one policy.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Series {
    /// The policy's label. It decides the curve's look through the [`Palette`].
    pub policy: String,
    /// The curve, by increasing x.
    pub points: Vec<Point>,
    /// One row for each instance (or for a sample of them), one value for each of `points`. May be empty.
    #[serde(default)]
    pub instances: Vec<Vec<f64>>,
    /// Single observations as (x, y), drawn as dots: what a fitted curve was fitted to. May be empty.
    #[serde(default)]
    pub observations: Vec<(f64, f64)>,
    /// How the points are drawn.
    #[serde(default)]
    pub mark: Mark,
}

/// How the points of a curve are drawn.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Mark {
    /// A line; a few markers along it tell it from others. For curves over time.
    #[default]
    Line,
    /// A line with a marker at every point. For sweeps, where only the points were measured.
    LineAndPoints,
}

/// One place of a curve.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Point {
    /// Where.
    pub x: f64,
    /// Mean over instances, or the value of a model curve.
    pub mean: f64,
    /// Standard error of the mean; the band is ± 1 of it. Zero where it means nothing.
    pub stderr: f64,
    /// Standard deviation of single observations. If given, the band is ± 2 of it, in place of the standard error's.
    #[serde(default)]
    pub sigma: Option<f64>,
    /// The spread over instances, if known.
    #[serde(default)]
    pub spread: Option<Spread>,
}

/// Quantiles over instances.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Spread {
    /// Least value.
    pub min: f64,
    /// 10 % quantile.
    pub p10: f64,
    /// Median.
    pub median: f64,
    /// 90 % quantile.
    pub p90: f64,
    /// Greatest value.
    pub max: f64,
}

impl Figure {
    /// A figure without panels yet.
    pub fn new(id: impl Into<String>, title: impl Into<String>) -> Self {
        Figure { id: id.into(), title: title.into(), caption: String::new(), panels: Vec::new() }
    }

    /// Sets the caption.
    #[must_use]
    pub fn caption(mut self, caption: impl Into<String>) -> Self {
        self.caption = caption.into();
        self
    }

    /// Adds a panel.
    #[must_use]
    pub fn panel(mut self, panel: Panel) -> Self {
        self.panels.push(panel);
        self
    }

    /// The labels of all curves, each once, in order of appearance.
    pub fn policies(&self) -> Vec<&str> {
        let mut labels: Vec<&str> = Vec::new();
        for series in self.panels.iter().flat_map(|panel| &panel.series) {
            if !labels.contains(&series.policy.as_str()) {
                labels.push(&series.policy);
            }
        }
        labels
    }

    /// The figure as an SVG document. The same figure and palette give the same bytes.
    pub fn to_svg(&self, palette: &Palette) -> String {
        svg::write(&layout::lay_out(self, palette), &self.title, &self.caption)
    }

    /// The figure as a PNG picture, `scale` pixels to a unit of the SVG (2 suits print and fine screens).
    ///
    /// Drawn with fonts of its own, so that the bytes do not depend on what is installed.
    ///
    /// # Errors
    /// [`PngError`] if `scale` is not a positive number or makes the picture too large.
    pub fn to_png(&self, palette: &Palette, scale: f64) -> Result<Vec<u8>, PngError> {
        png::draw(&layout::lay_out(self, palette), scale)
    }
}

impl Panel {
    /// A panel without curves yet.
    pub fn new(id: impl Into<String>, title: impl Into<String>, x: Axis, y: Axis) -> Self {
        Panel { id: id.into(), title: title.into(), x, y, series: Vec::new(), notes: Vec::new() }
    }

    /// Adds a curve.
    #[must_use]
    pub fn series(mut self, series: Series) -> Self {
        self.series.push(series);
        self
    }

    /// Adds a remark.
    #[must_use]
    pub fn note(mut self, note: impl Into<String>) -> Self {
        self.notes.push(note.into());
        self
    }
}

impl Axis {
    /// An axis whose limits come from the data.
    pub fn new(label: impl Into<String>, scale: Scale) -> Self {
        Axis { label: label.into(), scale, min: None, max: None }
    }

    /// Fixes the limits.
    #[must_use]
    pub fn limits(mut self, min: f64, max: f64) -> Self {
        (self.min, self.max) = (Some(min), Some(max));
        self
    }
}

impl Series {
    /// A curve with neither instances nor observations.
    pub fn new(policy: impl Into<String>, points: Vec<Point>) -> Self {
        Series { policy: policy.into(), points, instances: Vec::new(), observations: Vec::new(), mark: Mark::Line }
    }

    /// Sets the curves of single instances.
    #[must_use]
    pub fn instances(mut self, instances: Vec<Vec<f64>>) -> Self {
        self.instances = instances;
        self
    }

    /// Sets the dots.
    #[must_use]
    pub fn observations(mut self, observations: Vec<(f64, f64)>) -> Self {
        self.observations = observations;
        self
    }

    /// Draws a marker at every point.
    #[must_use]
    pub fn with_points(mut self) -> Self {
        self.mark = Mark::LineAndPoints;
        self
    }
}

impl Point {
    /// A point with its standard error and nothing else.
    pub fn new(x: f64, mean: f64, stderr: f64) -> Self {
        Point { x, mean, stderr, sigma: None, spread: None }
    }

    /// The band around the mean: ± 2 sigma if sigma is given, otherwise ± 1 standard error.
    pub(crate) fn band(&self) -> (f64, f64) {
        let half = self.sigma.map_or(self.stderr, |sigma| 2.0 * sigma);
        (self.mean - half, self.mean + half)
    }
}
