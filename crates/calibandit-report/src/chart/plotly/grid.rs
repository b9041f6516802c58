//! The grid of subplots: places of the panels, titles, legend, size.

use super::{Theme, axes, escaped, key, object};
use crate::chart::layout::{columns, panel_size};
use crate::chart::{Figure, Panel};
use serde_json::{Map, Value, json};

/// Space between two columns (for the tick labels of the right one) and between two rows (tick labels and a title).
const COLUMN_GAP: f64 = 62.0;
const ROW_GAP: f64 = 72.0;
const TOP: f64 = 92.0;
const BOTTOM: f64 = 56.0;
const SIDES: f64 = 72.0;
const RIGHT: f64 = 24.0;

/// What the place of a panel adds to its axes.
pub(super) struct SubplotPlace {
    pub(super) x: Map<String, Value>,
    pub(super) y: Map<String, Value>,
}

struct SubplotGrid {
    columns: usize,
    rows: usize,
    /// The inner size, in pixels. The width is that for which the gaps are as given.
    width: f64,
    height: f64,
}

impl SubplotGrid {
    fn of(figure: &Figure) -> SubplotGrid {
        let columns = columns(figure.panels.len());
        let rows = figure.panels.len().div_ceil(columns).max(1);
        let (width, height) = panel_size(columns);
        let across = columns as f64 * width - SIDES;
        let down = rows as f64 * (height - ROW_GAP) + (rows - 1) as f64 * ROW_GAP;
        SubplotGrid { columns, rows, width: across, height: down }
    }

    /// The part of the width or height that a cell takes.
    fn span(cells: usize, gap: f64, nth: usize) -> (f64, f64) {
        let size = (1.0 - (cells - 1) as f64 * gap) / cells as f64;
        let from = nth as f64 * (size + gap);
        (from, (from + size).min(1.0))
    }
}

/// The place of a panel. If all panels have the same axes, only the left and the lowest ones name them.
pub(super) fn place(figure: &Figure, nth: usize) -> SubplotPlace {
    let grid = SubplotGrid::of(figure);
    let (row, column) = (nth / grid.columns, nth % grid.columns);
    let (left, right) = SubplotGrid::span(grid.columns, COLUMN_GAP / grid.width, column);
    let (above, below) = SubplotGrid::span(grid.rows, ROW_GAP / grid.height, row);
    let anchor = |letter: &str| key(letter, nth);
    let mut place = SubplotPlace {
        x: object(json!({"domain": [left, right], "anchor": anchor("y")})),
        y: object(json!({"domain": [1.0 - below, 1.0 - above], "anchor": anchor("x")})),
    };
    let same_x = figure.panels.windows(2).all(|pair| pair[0].x.label == pair[1].x.label);
    let same_y = figure.panels.windows(2).all(|pair| pair[0].y.label == pair[1].y.label);
    if same_x && nth + grid.columns < figure.panels.len() {
        place.x.insert("title".into(), json!({"text": ""}));
    }
    if same_y && column > 0 {
        place.y.insert("title".into(), json!({"text": ""}));
    }
    place
}

/// The titles of the panels.
pub(super) fn titles(figure: &Figure) -> Vec<Value> {
    let titled = figure.panels.iter().enumerate().filter(|(_, panel)| !panel.title.is_empty());
    let title = |(nth, panel): (usize, &Panel)| {
        json!({
            "text": format!("<b>{}</b>", escaped(&panel.title)),
            "xref": format!("{} domain", key("x", nth)),
            "yref": format!("{} domain", key("y", nth)),
            "x": 0,
            "y": 1,
            "xanchor": "left",
            "yanchor": "bottom",
            "yshift": 4,
            "showarrow": false,
            "font": {"size": 12},
        })
    };
    titled.map(title).collect()
}

/// A width for which the gaps between columns have the right size.
pub(super) fn width(figure: &Figure) -> f64 {
    SubplotGrid::of(figure).width + SIDES + RIGHT
}

/// Everything but the axes and the annotations.
pub(super) fn layout(figure: &Figure, theme: Theme) -> Map<String, Value> {
    let grid = SubplotGrid::of(figure);
    let above = if figure.panels.iter().any(|panel| !panel.title.is_empty()) { 28.0 } else { 10.0 };
    object(json!({
        "template": axes::template(theme),
        "title": {
            "text": escaped(&figure.title),
            "x": 0,
            "xref": "paper",
            "y": 1,
            "yref": "container",
            "yanchor": "top",
            "pad": {"t": 16},
            "font": {"size": 16},
        },
        "height": grid.height + TOP + BOTTOM,
        "margin": {"t": TOP, "b": BOTTOM, "l": SIDES, "r": RIGHT},
        "hovermode": "x unified",
        "legend": {
            "orientation": "h",
            "x": 0,
            "xanchor": "left",
            "y": 1.0 + above / grid.height,
            "yanchor": "bottom",
            "itemclick": "toggle",
            "itemdoubleclick": "toggleothers",
            "groupclick": "togglegroup",
        },
    }))
}
