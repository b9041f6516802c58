//! The positions of the parts of a figure: title, legend, grid of panels, notes.

use super::panel::Prepared;
use super::scene::{Anchor, Font, INK, Item, PAPER, Rect, SOFT, Scene, Stroke};
use super::{Figure, Palette, Style, font};

const MARGIN: f64 = 14.0;
const GAP: f64 = 16.0;
const TITLE: Font = Font { size: 15.0, bold: true, color: INK };
const LEGEND: Font = Font { size: 11.5, bold: false, color: INK };
const NOTE: Font = Font { size: 10.0, bold: false, color: SOFT };
const PANEL_TITLE: Font = Font { size: 12.0, bold: true, color: INK };
const AXIS_LABEL: Font = Font { size: 11.5, bold: false, color: INK };
/// Length of the line in a legend entry: long enough to show every dash pattern.
const SAMPLE: f64 = 34.0;
const MARKER_RADIUS: f64 = 3.4;

/// The drawing of a figure.
pub(super) fn lay_out(figure: &Figure, palette: &Palette) -> Scene {
    let columns = columns(figure.panels.len());
    let (panel_width, panel_height) = panel_size(columns);
    let width = 2.0 * MARGIN + columns as f64 * panel_width + (columns - 1) as f64 * GAP;
    let mut items = Vec::new();
    let mut y = MARGIN;
    for line in font::wrap(&figure.title, TITLE.size, TITLE.bold, width - 2.0 * MARGIN) {
        y += TITLE.size;
        items.push(text(MARGIN, y, line, TITLE, Anchor::Start));
        y += 5.0;
    }
    y = legend(figure, palette, width, y + 4.0, &mut items);
    let prepared: Vec<Prepared<'_>> = figure.panels.iter().map(|panel| Prepared::new(panel, panel_height)).collect();
    let tick_width = prepared.iter().map(Prepared::y_label_width).fold(0.0, f64::max);
    let titled = figure.panels.iter().any(|panel| !panel.title.is_empty());
    // If all panels have the same axes, only the left and the lowest panels of the grid name them.
    let same_x = figure.panels.windows(2).all(|pair| pair[0].x.label == pair[1].x.label);
    let same_y = figure.panels.windows(2).all(|pair| pair[0].y.label == pair[1].y.label);
    let mut bottom = y;
    for (i, panel) in prepared.iter().enumerate() {
        let (row, column) = (i / columns, i % columns);
        let (name_x, name_y) = (!same_x || i + columns >= prepared.len(), !same_y || column == 0);
        let top = y + row as f64 * (panel_height + GAP);
        let left = MARGIN + column as f64 * (panel_width + GAP);
        let frame = Rect {
            left: left + tick_width + 8.0 + AXIS_LABEL.size + 6.0,
            top: top + if titled { PANEL_TITLE.size + 9.0 } else { 4.0 },
            right: left + panel_width - 12.0,
            bottom: top + panel_height - 34.0,
        };
        let title = font::fit(&panel.panel.title, PANEL_TITLE.size, true, frame.right - frame.left);
        items.push(text(frame.left, top + PANEL_TITLE.size, title, PANEL_TITLE, Anchor::Start));
        if name_x {
            let middle = (frame.left + frame.right) / 2.0;
            let label = font::fit(&panel.panel.x.label, AXIS_LABEL.size, false, frame.right - frame.left);
            items.push(text(middle, frame.bottom + 32.0, label, AXIS_LABEL, Anchor::Middle));
        }
        if name_y {
            let label = font::fit(&panel.panel.y.label, AXIS_LABEL.size, false, frame.bottom - frame.top);
            let (x, y) = (left + AXIS_LABEL.size - 1.0, (frame.top + frame.bottom) / 2.0);
            items.push(Item::Text { x, y, text: label, font: AXIS_LABEL, anchor: Anchor::Middle, upward: true });
        }
        items.extend(panel.draw(frame, palette));
        bottom = bottom.max(top + panel_height);
    }
    y = bottom + 4.0;
    for line in notes(figure, width - 2.0 * MARGIN) {
        y += NOTE.size + 4.0;
        items.push(text(MARGIN, y, line, NOTE, Anchor::Start));
    }
    let height = (y + MARGIN).ceil();
    let page = Rect { left: 0.0, top: 0.0, right: width, bottom: height };
    items.insert(0, Item::Fill { points: page.corners().to_vec(), color: PAPER, opacity: 1.0, edge: None });
    Scene { width, height, items }
}

/// The number of columns of the grid: panels of one row can be compared, and text stays readable in print.
pub(super) fn columns(panels: usize) -> usize {
    match panels {
        0 | 1 => 1,
        2 | 4 => 2,
        3 | 5 | 6 | 9 => 3,
        _ => 4,
    }
}

pub(super) fn panel_size(columns: usize) -> (f64, f64) {
    match columns {
        1 => (692.0, 400.0),
        2 => (410.0, 300.0),
        3 => (310.0, 240.0),
        _ => (262.0, 214.0),
    }
}

fn text(x: f64, y: f64, text: String, font: Font, anchor: Anchor) -> Item {
    Item::Text { x, y, text, font, anchor, upward: false }
}

/// A marker with a thin white edge, which separates it from lines that cross it.
pub(super) fn marker(x: f64, y: f64, style: Style) -> Item {
    let points =
        style.marker.polygon().iter().map(|(dx, dy)| (x + MARKER_RADIUS * dx, y + MARKER_RADIUS * dy)).collect();
    Item::Fill { points, color: style.color, opacity: 1.0, edge: Some(Stroke::solid(PAPER, 0.8)) }
}

/// Draws the legend in as many rows as it needs and returns its lower edge.
fn legend(figure: &Figure, palette: &Palette, width: f64, top: f64, items: &mut Vec<Item>) -> f64 {
    let room = width - 2.0 * MARGIN - SAMPLE - 7.0;
    let (mut x, mut y) = (MARGIN, top + 9.0);
    let labels = figure.labels();
    for label in &labels {
        let style = palette.style(label);
        let label = font::fit(label, LEGEND.size, false, room);
        let entry = SAMPLE + 7.0 + font::width(&label, LEGEND.size, false);
        if x > MARGIN && x + entry > width - MARGIN {
            (x, y) = (MARGIN, y + 18.0);
        }
        let stroke = Stroke { color: style.color, width: style.width, dash: style.dash };
        items.push(Item::Line { points: vec![(x, y), (x + SAMPLE, y)], stroke });
        items.push(marker(x + SAMPLE / 2.0, y, style));
        items.push(text(x + SAMPLE + 7.0, y + 4.0, label, LEGEND, Anchor::Start));
        x += entry + 20.0;
    }
    if labels.is_empty() { top } else { y + 18.0 }
}

/// The remarks of all panels as lines of text, with the titles of the panels if there are several.
fn notes(figure: &Figure, room: f64) -> Vec<String> {
    let several = figure.panels.len() > 1;
    figure
        .panels
        .iter()
        .flat_map(|panel| panel.notes.iter().map(move |note| (panel, note)))
        .map(|(panel, note)| if several { format!("{}: {note}", panel.title) } else { note.clone() })
        .flat_map(|note| font::wrap(&note, NOTE.size, NOTE.bold, room))
        .collect()
}
