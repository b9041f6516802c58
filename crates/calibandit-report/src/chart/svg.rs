//! A scene as an SVG document.

use calibandit_experiment::format::trimmed;

use super::scene::{Anchor, Item, Scene, Stroke};
use std::fmt::Write as _;

/// Font families of about the width of the embedded font, with which the layout was computed.
const FAMILY: &str = "Inter, 'Helvetica Neue', Helvetica, Arial, 'Liberation Sans', sans-serif";

/// Writes the document; title and description are for screen readers.
pub(super) fn write(scene: &Scene, title: &str, description: &str) -> String {
    let (width, height) = (number(scene.width), number(scene.height));
    let mut writer = Writer { out: String::new() };
    let _ = writeln!(
        writer.out,
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{width}\" height=\"{height}\" \
         viewBox=\"0 0 {width} {height}\" role=\"img\" font-family=\"{FAMILY}\" \
         stroke-linejoin=\"round\">"
    );
    let _ = writeln!(writer.out, "<title>{}</title>", escape(title));
    if !description.is_empty() {
        let _ = writeln!(writer.out, "<desc>{}</desc>", escape(description));
    }
    writer.items(&scene.items);
    writer.out.push_str("</svg>\n");
    writer.out
}

/// Writing into a `String` cannot fail, so the results of `write!` are ignored.
struct Writer {
    out: String,
}

impl Writer {
    fn items(&mut self, items: &[Item]) {
        for item in items {
            self.item(item);
        }
    }

    fn item(&mut self, item: &Item) {
        match item {
            Item::Line { points, stroke } => {
                let _ = write!(self.out, "<path d=\"{}\" fill=\"none\"", path(points, false));
                self.stroke(stroke);
                self.out.push_str("/>\n");
            }
            Item::Fill { points, color, opacity, edge } => {
                let _ = write!(self.out, "<path d=\"{}\" fill=\"{color}\"", path(points, true));
                if *opacity < 1.0 {
                    let _ = write!(self.out, " fill-opacity=\"{}\"", number(*opacity));
                }
                if let Some(stroke) = edge {
                    self.stroke(stroke);
                }
                self.out.push_str("/>\n");
            }
            Item::Text { text, .. } if text.is_empty() => {}
            Item::Text { x, y, text, font, anchor, upward } => {
                let (x, y) = (number(*x), number(*y));
                let _ =
                    write!(self.out, "<text x=\"{x}\" y=\"{y}\" font-size=\"{}\" fill=\"{}\"", font.size, font.color);
                if font.bold {
                    self.out.push_str(" font-weight=\"600\"");
                }
                match anchor {
                    Anchor::Start => {}
                    Anchor::Middle => self.out.push_str(" text-anchor=\"middle\""),
                    Anchor::End => self.out.push_str(" text-anchor=\"end\""),
                }
                if *upward {
                    let _ = write!(self.out, " transform=\"rotate(-90 {x} {y})\"");
                }
                let _ = writeln!(self.out, ">{}</text>", escape(text));
            }
            // A nested SVG clips at its edges and, unlike a clip path, needs no id that could clash on a page.
            Item::Clipped { frame, items } => {
                let (x, y) = (number(frame.left), number(frame.top));
                let (width, height) = (number(frame.right - frame.left), number(frame.bottom - frame.top));
                let _ = writeln!(
                    self.out,
                    "<svg x=\"{x}\" y=\"{y}\" width=\"{width}\" height=\"{height}\" \
                     viewBox=\"{x} {y} {width} {height}\">"
                );
                self.items(items);
                self.out.push_str("</svg>\n");
            }
        }
    }

    fn stroke(&mut self, stroke: &Stroke) {
        let _ = write!(self.out, " stroke=\"{}\" stroke-width=\"{}\"", stroke.color, number(stroke.width));
        if !stroke.dash.is_empty() {
            let dash: Vec<String> = stroke.dash.iter().map(|length| number(*length)).collect();
            let _ = write!(self.out, " stroke-dasharray=\"{}\"", dash.join(" "));
        }
    }
}

/// The first point, then the steps from point to point, which are shorter texts than the points. Steps lead from one
/// rounded point to the next, so that rounding does not add up.
fn path(points: &[(f64, f64)], closed: bool) -> String {
    let mut data = String::with_capacity(points.len() * 8 + 2);
    let mut before = (0, 0);
    for (i, &(x, y)) in points.iter().enumerate() {
        let point = (hundredths(x), hundredths(y));
        match i {
            0 => data.push('M'),
            1 => data.push('l'),
            _ => {}
        }
        for step in [point.0 - before.0, point.1 - before.1] {
            push_step(&mut data, step);
        }
        before = point;
    }
    if closed {
        data.push('Z');
    }
    data
}

/// The nearest hundredth of a pixel, within what a drawing can have.
fn hundredths(value: f64) -> i64 {
    const MOST: f64 = 1e12;
    (value * 100.0).round().clamp(-MOST, MOST) as i64
}

/// Appends hundredths as a number of SVG: without zeros at its ends, and with a space before it where it is needed.
fn push_step(data: &mut String, step: i64) {
    if step >= 0 && data.ends_with(|c: char| c.is_ascii_digit()) {
        data.push(' ');
    }
    if step < 0 {
        data.push('-');
    }
    let (whole, part) = (step.unsigned_abs() / 100, step.unsigned_abs() % 100);
    if whole > 0 || part == 0 {
        let _ = write!(data, "{whole}");
    }
    match part {
        0 => {}
        tenths if tenths % 10 == 0 => {
            let _ = write!(data, ".{}", tenths / 10);
        }
        _ => {
            let _ = write!(data, ".{part:02}");
        }
    }
}

/// A coordinate: a hundredth of a pixel is not visible.
fn number(value: f64) -> String {
    trimmed(value, 2)
}

/// Escapes text for the content and the quoted attributes of SVG. Control characters, which XML does not allow, are
/// removed.
fn escape(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\'' => out.push_str("&#39;"),
            '\n' | '\t' => out.push(c),
            c if c.is_control() => {}
            c => out.push(c),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_are_a_point_and_steps() {
        let points = [(1.0, 2.5), (1.5, 2.0), (11.5, 2.0), (11.504, 1.99), (11.508, 1.98), (-0.25, 0.1)];
        assert_eq!(path(&points, false), "M1 2.5l.5-.5 10 0 0-.01 .01-.01-11.76-1.88");
        assert_eq!(path(&points[..2], true), "M1 2.5l.5-.5Z");
        assert_eq!(path(&[(0.0, -3.0)], false), "M0-3");
        assert_eq!(path(&[], false), "");
        // Each of 300 steps of 0.333 is rounded to 0.33 or 0.34; the end is where it was.
        let long: Vec<(f64, f64)> = (0..=300).map(|i| (f64::from(i) * 0.333, 7.0)).collect();
        let steps = path(&long, false);
        let sum: f64 =
            steps.strip_prefix("M0 7l").unwrap().split(' ').step_by(2).map(|x| x.parse::<f64>().unwrap()).sum();
        assert!((sum - 99.9).abs() < 1e-9, "{sum}");
    }
}
