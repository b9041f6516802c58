//! Figures as plain data, and their drawings as SVG and PNG.
//!
//! A [`Figure`] holds numbers and labels, and no pixel positions. The same value becomes a static drawing
//! ([`Figure::to_svg`], and `Figure::to_png` with the cargo feature `png`) and an interactive drawing in the
//! [report](crate::report). All drawings take their styles from one [`Palette`], so that a policy has the same colour,
//! dash pattern and marker everywhere. Colour is never the only difference between two curves, because print and
//! colour-blind readers cannot rely on it.
//!
//! This module computes no statistics: means, standard errors and quantiles come from the caller. It does not depend on
//! experiments, and it does not read any file.
//!
//! ```
//! use calibandit_report::chart::{Axis, AxisScale, CurvePoint, Figure, Palette, Panel, Series, StyleKey};
//!
//! let points = (1..=10).map(|i| CurvePoint::new(f64::from(i) * 1e5, f64::from(i).sqrt() * 100.0, 12.0)).collect();
//! let figure = Figure::new("fig1a", "CPR over time").panel(
//!     Panel::new("step", "K = 5, m = M = 3", Axis::new("t", AxisScale::Linear), Axis::new("CPR", AxisScale::Log))
//!         .series(Series::new("UCB (epochs)", points).style(StyleKey::new("epoch-ucb"))),
//! );
//! let palette = Palette::for_figures([&figure]);
//! assert!(figure.to_svg(&palette).starts_with("<svg"));
//! ```

mod font;
mod layout;
mod marker;
mod panel;
pub mod plotly;
#[cfg(feature = "png")]
mod png;
mod scale;
mod scene;
mod style;
mod svg;

pub use marker::Marker;
#[cfg(feature = "png")]
pub use png::PngError;
pub use style::{Palette, Style, StyleKey};

use std::collections::HashSet;

use serde::{Deserialize, Serialize};

/// One figure: a title and one or more panels with a common legend.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Figure {
    /// Short name for files and links, such as `fig1a`.
    pub id: String,
    /// What the figure shows, in a few words.
    pub title: String,
    /// What a reader needs to know to read the figure; plain text.
    #[serde(default)]
    pub caption: String,
    /// The panels, in reading order. Several panels are drawn as a grid.
    pub panels: Vec<Panel>,
}

/// One pair of axes with its curves.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Panel {
    /// Short name, unique within the figure.
    pub id: String,
    /// What distinguishes this panel from the others, such as `m = 3, K = 5, M = 10`.
    pub title: String,
    /// The horizontal axis.
    pub x: Axis,
    /// The vertical axis.
    pub y: Axis,
    /// The curves, in the order of the legend.
    pub series: Vec<Series>,
    /// Remarks printed with the panel.
    #[serde(default)]
    pub notes: Vec<String>,
    /// Marked values of the horizontal axis.
    #[serde(default)]
    pub rules: Vec<Rule>,
}

/// A marked value of the horizontal axis: a vertical line over the whole panel, with a text at its top.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Rule {
    /// The value.
    pub at: f64,
    /// What it is, in a few words.
    pub label: String,
}

/// One axis. Limits that are not given are computed from the data.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Axis {
    /// The quantity, with its unit.
    pub label: String,
    /// Linear or logarithmic.
    pub scale: AxisScale,
    /// The lower limit.
    #[serde(default)]
    pub min: Option<f64>,
    /// The upper limit.
    #[serde(default)]
    pub max: Option<f64>,
}

/// How an axis maps values to positions.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum AxisScale {
    /// Equal differences have equal distances.
    Linear,
    /// Equal ratios have equal distances. Values that are not positive are not drawn.
    Log,
}

/// One curve, usually of one policy.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Series {
    /// The name in the legend, usually a policy's label. Curves with the same label have the same style.
    pub label: String,
    /// Selects the style. Without it the curve gets a style that no key reserves.
    #[serde(default)]
    pub style: Option<StyleKey>,
    /// The curve, by increasing x.
    pub points: Vec<CurvePoint>,
    /// One row per instance (or per instance of a sample), with one value per element of `points`. May be empty.
    #[serde(default)]
    pub instances: Vec<Vec<f64>>,
    /// Single observations as (x, y), drawn as dots: the data to which a curve was fitted. May be empty.
    #[serde(default)]
    pub observations: Vec<(f64, f64)>,
    /// Where the curve has markers.
    #[serde(default)]
    pub mark: Mark,
}

/// Where a curve has markers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Mark {
    /// A few markers at equal distances along the line. For curves over time.
    #[default]
    Line,
    /// A marker at every point. For sweeps, where only the points were measured.
    LineAndPoints,
}

/// One point of a curve.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct CurvePoint {
    /// The position on the horizontal axis.
    pub x: f64,
    /// Mean over instances, or the value of a fitted curve.
    pub mean: f64,
    /// Standard error of the mean; the band is ± 1 standard error. Zero if there is none.
    pub stderr: f64,
    /// Standard deviation of single observations. If given, the band is ± 2 standard deviations instead.
    #[serde(default)]
    pub sigma: Option<f64>,
    /// A confidence interval of the mean. If given, and no sigma, the band is this interval.
    #[serde(default)]
    pub interval: Option<(f64, f64)>,
    /// The quantiles over instances, if known.
    #[serde(default)]
    pub quantiles: Option<Quantiles>,
}

/// Quantiles over instances.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Quantiles {
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
    /// A figure without panels.
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
    pub fn labels(&self) -> Vec<&str> {
        let mut known: HashSet<&str> = HashSet::new();
        let labels = self.panels.iter().flat_map(|panel| &panel.series).map(|series| series.label.as_str());
        labels.filter(|label| known.insert(label)).collect()
    }

    /// The figure as an SVG document. The same figure and palette give the same bytes.
    pub fn to_svg(&self, palette: &Palette) -> String {
        svg::write(&layout::lay_out(self, palette), &self.title, &self.caption)
    }

    /// The figure as a PNG image with `scale` pixels per unit of the SVG; 2 is suitable for print and for screens with
    /// a high resolution.
    ///
    /// Text is drawn with an embedded font, so the bytes do not depend on the fonts that are installed.
    ///
    /// ```
    /// use calibandit_report::chart::{Figure, Palette};
    ///
    /// let png = Figure::new("empty", "A figure without panels").to_png(&Palette::default(), 1.0)?;
    /// assert!(png.starts_with(b"\x89PNG"));
    /// # Ok::<(), calibandit_report::chart::PngError>(())
    /// ```
    ///
    /// # Errors
    /// [`PngError`] if `scale` is not a positive number or makes the image too large.
    #[cfg(feature = "png")]
    pub fn to_png(&self, palette: &Palette, scale: f64) -> Result<Vec<u8>, PngError> {
        png::draw(&layout::lay_out(self, palette), scale)
    }

    /// The scale nearest to `wanted` that does not make the image too large for [`to_png`](Self::to_png).
    #[cfg(feature = "png")]
    pub fn png_scale(&self, palette: &Palette, wanted: f64) -> f64 {
        png::fitting_scale(&layout::lay_out(self, palette), wanted)
    }
}

impl Panel {
    /// A panel without curves.
    pub fn new(id: impl Into<String>, title: impl Into<String>, x: Axis, y: Axis) -> Self {
        Panel { id: id.into(), title: title.into(), x, y, series: Vec::new(), notes: Vec::new(), rules: Vec::new() }
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

    /// Marks a value of the horizontal axis.
    #[must_use]
    pub fn rule(mut self, rule: Rule) -> Self {
        self.rules.push(rule);
        self
    }
}

impl Rule {
    /// A line at this value.
    pub fn at(value: f64, label: impl Into<String>) -> Self {
        Rule { at: value, label: label.into() }
    }
}

impl Axis {
    /// An axis whose limits are computed from the data.
    pub fn new(label: impl Into<String>, scale: AxisScale) -> Self {
        Axis { label: label.into(), scale, min: None, max: None }
    }

    /// Sets both limits.
    #[must_use]
    pub fn limits(mut self, min: f64, max: f64) -> Self {
        (self.min, self.max) = (Some(min), Some(max));
        self
    }
}

impl Series {
    /// A curve without a style key, instances and observations.
    pub fn new(label: impl Into<String>, points: Vec<CurvePoint>) -> Self {
        Series {
            label: label.into(),
            style: None,
            points,
            instances: Vec::new(),
            observations: Vec::new(),
            mark: Mark::Line,
        }
    }

    /// Sets the style key.
    #[must_use]
    pub fn style(mut self, key: impl Into<Option<StyleKey>>) -> Self {
        self.style = key.into();
        self
    }

    /// Sets the curves of single instances.
    #[must_use]
    pub fn instances(mut self, instances: Vec<Vec<f64>>) -> Self {
        self.instances = instances;
        self
    }

    /// Sets the observations.
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

impl CurvePoint {
    /// A point with a standard error, without sigma, interval and quantiles.
    pub fn new(x: f64, mean: f64, stderr: f64) -> Self {
        CurvePoint { x, mean, stderr, sigma: None, interval: None, quantiles: None }
    }

    /// Sets the confidence interval.
    #[must_use]
    pub fn interval(mut self, low: f64, high: f64) -> Self {
        self.interval = Some((low, high));
        self
    }

    /// The band around the mean: ± 2 sigma if sigma is given, otherwise the interval, otherwise ± 1 standard error.
    pub(crate) fn band(&self) -> (f64, f64) {
        let half = self.sigma.map_or(self.stderr, |sigma| 2.0 * sigma);
        self.interval.filter(|_| self.sigma.is_none()).unwrap_or((self.mean - half, self.mean + half))
    }
}
