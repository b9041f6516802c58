//! A drawing as a list of shapes, from which both the SVG and the PNG are made.

// Colours of everything except curves.
pub(super) const INK: &str = "#1a1a1a";
pub(super) const SOFT: &str = "#5a5a5a";
pub(super) const GRID: &str = "#e6e6e6";
pub(super) const FRAME: &str = "#9a9a9a";
pub(super) const PAPER: &str = "#ffffff";

/// A finished drawing. Units are CSS pixels; y points down.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Scene {
    pub(super) width: f64,
    pub(super) height: f64,
    pub(super) items: Vec<Item>,
}

/// One shape.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Item {
    /// An open line.
    Line { points: Vec<(f64, f64)>, stroke: Stroke },
    /// A filled polygon.
    Fill { points: Vec<(f64, f64)>, color: &'static str, opacity: f64, edge: Option<Stroke> },
    /// A line of text; (x, y) is on the baseline.
    Text { x: f64, y: f64, text: String, font: Font, anchor: Anchor, upward: bool },
    /// Shapes clipped to a rectangle.
    Clipped { frame: Rect, items: Vec<Item> },
}

/// How a line is drawn.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Stroke {
    pub(super) color: &'static str,
    pub(super) width: f64,
    pub(super) dash: &'static [f64],
}

/// Size, weight and colour of text.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Font {
    pub(super) size: f64,
    pub(super) bold: bool,
    pub(super) color: &'static str,
}

/// Which part of a text is at its x position.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Anchor {
    Start,
    Middle,
    End,
}

/// A rectangle by its edges.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Rect {
    pub(super) left: f64,
    pub(super) top: f64,
    pub(super) right: f64,
    pub(super) bottom: f64,
}

impl Stroke {
    pub(super) const fn solid(color: &'static str, width: f64) -> Self {
        Stroke { color, width, dash: &[] }
    }
}

impl Rect {
    /// The corners, clockwise from the top left.
    pub(super) fn corners(&self) -> [(f64, f64); 4] {
        [(self.left, self.top), (self.right, self.top), (self.right, self.bottom), (self.left, self.bottom)]
    }
}
