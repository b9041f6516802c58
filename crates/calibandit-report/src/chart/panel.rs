//! One panel: limits, ticks, bands, lines and markers.

use super::layout::marker;
use super::scale::{Mapping, Tick, limits, sweep_ticks, ticks};
use super::scene::{Anchor, FRAME, Font, GRID, INK, Item, Rect, SOFT, Stroke};
use super::{AxisScale, Mark, Palette, Panel, Series, Style, font};

const TICK: Font = Font { size: 10.5, bold: false, color: SOFT };
const BAND: f64 = 0.18;
/// Number of markers along a curve over time: few enough that the line stays visible.
const MARKERS: usize = 6;

/// The greatest number of swept values that are ticks themselves; with more, the axis has ticks at round values.
const SWEEP_TICKS: usize = 12;

/// A panel with its limits chosen.
pub(super) struct Prepared<'a> {
    pub(super) panel: &'a Panel,
    x: (f64, f64),
    y: (f64, f64),
    y_ticks: Vec<Tick>,
}

impl<'a> Prepared<'a> {
    /// Chooses the limits and the ticks of the vertical axis; the width of their labels determines the frame.
    pub(super) fn new(panel: &'a Panel, height: f64) -> Self {
        let sweep = panel.series.iter().any(|series| series.mark == Mark::LineAndPoints);
        let observed = || panel.series.iter().flat_map(|series| &series.observations);
        let points = || panel.series.iter().flat_map(|series| &series.points);
        let (x_axis, y_axis) = (&panel.x, &panel.y);
        let xs = points().map(|point| point.x).chain(observed().map(|(x, _)| *x));
        let x = limits(x_axis.scale, (x_axis.min, x_axis.max), xs, sweep, !sweep);
        let shown = |at: f64| at >= x.0 && at <= x.1;
        // On a log axis the lower edge of a band may be arbitrarily low; only the mean must be visible.
        let lowest = |low: f64, mean: f64| if y_axis.scale == AxisScale::Log { mean } else { low };
        let ys = points()
            .filter(|point| shown(point.x))
            .flat_map(|point| {
                let (low, high) = point.band();
                [lowest(low, point.mean), point.mean, high]
            })
            .chain(observed().filter(|(x, _)| shown(*x)).map(|(_, y)| *y));
        let y = limits(y_axis.scale, (y_axis.min, y_axis.max), ys, true, true);
        let y_ticks = ticks(y_axis.scale, y.0, y.1, (height / 55.0) as usize);
        Prepared { panel, x, y, y_ticks }
    }

    /// The greatest width of the labels of the vertical axis.
    pub(super) fn y_label_width(&self) -> f64 {
        self.y_ticks.iter().map(|tick| font::width(&tick.label, TICK.size, false)).fold(0.0, f64::max)
    }

    /// Draws axes and curves into `frame`.
    pub(super) fn draw(&self, frame: Rect, palette: &Palette) -> Vec<Item> {
        let x = Mapping { scale: self.panel.x.scale, low: self.x.0, high: self.x.1, from: frame.left, to: frame.right };
        let y = Mapping { scale: self.panel.y.scale, low: self.y.0, high: self.y.1, from: frame.bottom, to: frame.top };
        let mut items = Vec::new();
        self.axes(frame, x, y, &mut items);
        let mut curves = Vec::new();
        let styled: Vec<(&Series, Style)> =
            self.panel.series.iter().map(|series| (series, palette.style(&series.label))).collect();
        for (series, style) in &styled {
            bands(series, *style, x, y, &mut curves);
        }
        for (series, style) in &styled {
            dots(series, *style, x, y, &mut curves);
        }
        for (series, style) in &styled {
            lines(series, *style, x, y, &mut curves);
        }
        for (nth, (series, style)) in styled.iter().enumerate() {
            let stagger = (nth as f64 + 0.5) / styled.len() as f64;
            curves.extend(marks(series, x, y, stagger).into_iter().map(|(x, y)| marker(x, y, *style)));
        }
        if curves.is_empty() {
            let (x, y) = ((frame.left + frame.right) / 2.0, (frame.top + frame.bottom) / 2.0);
            items.push(Item::Text { x, y, text: "no data".into(), font: TICK, anchor: Anchor::Middle, upward: false });
        }
        items.push(Item::Clipped { frame, items: curves });
        items.extend(self.rules(frame, x));
        items
    }

    /// The marked values: a dashed line, and the text beside its top, on the side with more room.
    fn rules(&self, frame: Rect, x: Mapping) -> Vec<Item> {
        let inside = |at: &f64| (frame.left..=frame.right).contains(at);
        let placed = self.panel.rules.iter().filter_map(|rule| Some((x.place(rule.at).filter(inside)?, rule)));
        placed
            .flat_map(|(at, rule)| {
                let stroke = Stroke { color: SOFT, width: 1.2, dash: &[5.0, 3.5] };
                let (room_left, room_right) = (at - frame.left - 5.0, frame.right - at - 5.0);
                let left = room_left > room_right;
                let text = font::fit(&rule.label, TICK.size, false, room_left.max(room_right));
                let (x, anchor) = if left { (at - 5.0, Anchor::End) } else { (at + 5.0, Anchor::Start) };
                [
                    Item::Line { points: vec![(at, frame.top), (at, frame.bottom)], stroke },
                    Item::Text { x, y: frame.top + TICK.size, text, font: TICK, anchor, upward: false },
                ]
            })
            .collect()
    }

    /// The ticks of a sweep over a few values are at these values, those of other axes at round numbers.
    fn x_ticks(&self, x: Mapping, width: f64) -> Vec<Tick> {
        let sweeps = self.panel.series.iter().filter(|series| series.mark == Mark::LineAndPoints);
        let mut values: Vec<f64> = sweeps.flat_map(|series| &series.points).map(|point| point.x).collect();
        values.sort_by(f64::total_cmp);
        values.dedup();
        values.retain(|value| x.low <= *value && *value <= x.high);
        if values.is_empty() || values.len() > SWEEP_TICKS {
            ticks(x.scale, x.low, x.high, (width / 62.0) as usize)
        } else {
            sweep_ticks(&values)
        }
    }

    fn axes(&self, frame: Rect, x: Mapping, y: Mapping, items: &mut Vec<Item>) {
        let grid = |points: Vec<(f64, f64)>, major: bool| Item::Line {
            points,
            stroke: Stroke::solid(GRID, if major { 0.9 } else { 0.45 }),
        };
        let tick = |points: Vec<(f64, f64)>| Item::Line { points, stroke: Stroke::solid(FRAME, 0.9) };
        let x_ticks = spaced(self.x_ticks(x, frame.right - frame.left), x);
        for (mark, at) in x_ticks.iter().filter_map(|mark| Some((mark, x.place(mark.at)?))) {
            let major = !mark.label.is_empty();
            items.push(grid(vec![(at, frame.top), (at, frame.bottom)], major));
            items.push(tick(vec![(at, frame.bottom), (at, frame.bottom + if major { 4.5 } else { 2.5 })]));
            let text = mark.label.clone();
            items.push(Item::Text {
                x: at,
                y: frame.bottom + 16.0,
                text,
                font: TICK,
                anchor: Anchor::Middle,
                upward: false,
            });
        }
        for (mark, at) in self.y_ticks.iter().filter_map(|mark| Some((mark, y.place(mark.at)?))) {
            let major = !mark.label.is_empty();
            items.push(grid(vec![(frame.left, at), (frame.right, at)], major));
            items.push(tick(vec![(frame.left - if major { 4.5 } else { 2.5 }, at), (frame.left, at)]));
            let text = mark.label.clone();
            let font = TICK;
            items.push(Item::Text { x: frame.left - 7.0, y: at + 3.7, text, font, anchor: Anchor::End, upward: false });
        }
        if let (true, Some(at)) = (y.low < 0.0 && y.high > 0.0, y.place(0.0)) {
            items.push(Item::Line {
                points: vec![(frame.left, at), (frame.right, at)],
                stroke: Stroke::solid(INK, 0.7),
            });
        }
        let corners = [(frame.left, frame.top), (frame.left, frame.bottom), (frame.right, frame.bottom)];
        items.push(Item::Line { points: corners.to_vec(), stroke: Stroke::solid(FRAME, 1.0) });
    }
}

/// Removes labels that would touch another one. Powers of ten have priority.
fn spaced(mut marks: Vec<Tick>, axis: Mapping) -> Vec<Tick> {
    let mut order: Vec<usize> = (0..marks.len()).filter(|i| !marks[*i].label.is_empty()).collect();
    let round = |at: f64| axis.scale == AxisScale::Log && at.log10().fract().abs() < 1e-9;
    order.sort_by_key(|i| !round(marks[*i].at));
    let mut kept: Vec<(f64, f64)> = Vec::new();
    for i in order {
        let half = font::width(&marks[i].label, TICK.size, false) / 2.0 + 4.0;
        let span = axis.place(marks[i].at).map(|at| (at - half, at + half));
        match span.filter(|span| kept.iter().all(|other| span.1 <= other.0 || span.0 >= other.1)) {
            Some(span) => kept.push(span),
            None => marks[i].label.clear(),
        }
    }
    marks
}

/// The parts of a sequence between missing values.
fn segments<T: Clone>(values: impl Iterator<Item = Option<T>>) -> Vec<Vec<T>> {
    let values: Vec<Option<T>> = values.collect();
    values.split(Option::is_none).filter(|p| !p.is_empty()).map(|p| p.iter().flatten().cloned().collect()).collect()
}

fn bands(series: &Series, style: Style, x: Mapping, y: Mapping, items: &mut Vec<Item>) {
    let edges = series.points.iter().map(|point| {
        let (low, high) = point.band();
        Some((x.place(point.x)?, y.place_or_low(low)?, y.place(high)?)).filter(|_| high > low)
    });
    for segment in segments(edges).into_iter().filter(|segment| segment.len() > 1) {
        let upper = segment.iter().map(|(x, _, high)| (*x, *high));
        let lower = segment.iter().rev().map(|(x, low, _)| (*x, *low));
        items.push(Item::Fill { points: upper.chain(lower).collect(), color: style.color, opacity: BAND, edge: None });
    }
}

fn dots(series: &Series, style: Style, x: Mapping, y: Mapping, items: &mut Vec<Item>) {
    const RADIUS: f64 = 1.7;
    for (at_x, at_y) in series.observations.iter().filter_map(|(vx, vy)| Some((x.place(*vx)?, y.place(*vy)?))) {
        let disc = super::Marker::Circle.polygon();
        let points = disc.iter().map(|(dx, dy)| (at_x + RADIUS * dx, at_y + RADIUS * dy)).collect();
        items.push(Item::Fill { points, color: style.color, opacity: 0.5, edge: None });
    }
}

fn placed(series: &Series, x: Mapping, y: Mapping) -> Vec<Vec<(f64, f64)>> {
    segments(series.points.iter().map(|point| Some((x.place(point.x)?, y.place(point.mean)?))))
}

fn lines(series: &Series, style: Style, x: Mapping, y: Mapping, items: &mut Vec<Item>) {
    let stroke = Stroke { color: style.color, width: style.width, dash: style.dash };
    items.extend(placed(series, x, y).into_iter().filter(|p| p.len() > 1).map(|points| Item::Line { points, stroke }));
}

/// The positions of a curve's markers. On a curve over time they have equal distances and are shifted from curve to
/// curve by `stagger`, so that markers of equal curves do not cover each other.
fn marks(series: &Series, x: Mapping, y: Mapping, stagger: f64) -> Vec<(f64, f64)> {
    let placed = placed(series, x, y).into_iter().flatten();
    if series.mark == Mark::LineAndPoints || series.points.len() == 1 {
        return placed.collect();
    }
    let line: Vec<(f64, f64)> = placed.collect();
    (0..MARKERS)
        .map(|i| x.from + (x.to - x.from) * (i as f64 + stagger) / MARKERS as f64)
        .filter_map(|at| {
            let pair = line.windows(2).find(|pair| pair[0].0 <= at && at <= pair[1].0 && pair[0].0 < pair[1].0)?;
            let share = (at - pair[0].0) / (pair[1].0 - pair[0].0);
            Some((at, pair[0].1 + share * (pair[1].1 - pair[0].1)))
        })
        .collect()
}
