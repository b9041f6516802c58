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

fn path(points: &[(f64, f64)], closed: bool) -> String {
    let mut data = String::with_capacity(points.len() * 12 + 2);
    for (i, (x, y)) in points.iter().enumerate() {
        data.push(if i == 0 { 'M' } else { 'L' });
        let _ = write!(data, "{} {}", number(*x), number(*y));
    }
    if closed {
        data.push('Z');
    }
    data
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
