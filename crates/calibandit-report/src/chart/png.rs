//! A scene as a PNG image.

use super::font;
use super::scene::{Anchor, Item, Rect, Scene, Stroke};
use tiny_skia::{Color, FillRule, LineJoin, Mask, Paint, Path, PathBuilder, Pixmap, StrokeDash, Transform};
use ttf_parser::OutlineBuilder;

/// The longest side of an image, in pixels: a limit on memory (1 GiB for a square image).
const LONGEST: f64 = 16_384.0;

/// Why a figure could not be drawn as a PNG.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum PngError {
    /// The scale is not a positive number, or the image would be too large.
    #[error(
        "a scale of {scale} gives an image of {width} x {height} pixels; choose a positive scale for which both sides \
         are between 1 and {LONGEST} pixels"
    )]
    Scale {
        /// The given scale.
        scale: f64,
        /// Width in pixels at this scale.
        width: f64,
        /// Height in pixels at this scale.
        height: f64,
    },
    /// The encoder failed.
    #[error("the image could not be encoded as PNG: {reason}")]
    Encode {
        /// The message of the encoder.
        reason: String,
    },
}

/// The greatest scale up to `wanted` for which no side is too long.
pub(super) fn fitting_scale(scene: &Scene, wanted: f64) -> f64 {
    wanted.min(LONGEST / scene.width.max(scene.height))
}

/// Draws the scene with `scale` pixels per unit.
pub(super) fn draw(scene: &Scene, scale: f64) -> Result<Vec<u8>, PngError> {
    let (width, height) = ((scene.width * scale).ceil(), (scene.height * scale).ceil());
    let bad = || PngError::Scale { scale, width, height };
    let sides = 1.0..=LONGEST;
    if !(sides.contains(&width) && sides.contains(&height)) {
        return Err(bad());
    }
    let pixels = Pixmap::new(width as u32, height as u32).ok_or_else(bad)?;
    let mut canvas = Canvas { pixels, transform: Transform::from_scale(scale as f32, scale as f32), mask: None };
    canvas.items(&scene.items);
    canvas.pixels.encode_png().map_err(|error| PngError::Encode { reason: error.to_string() })
}

struct Canvas {
    pixels: Pixmap,
    transform: Transform,
    mask: Option<Mask>,
}

impl Canvas {
    fn items(&mut self, items: &[Item]) {
        for item in items {
            self.item(item);
        }
    }

    fn item(&mut self, item: &Item) {
        match item {
            Item::Line { points, stroke } => self.stroke(polyline(points, false), stroke),
            Item::Fill { points, color, opacity, edge } => {
                let shape = polyline(points, true);
                self.fill(shape.clone(), color, *opacity);
                if let Some(stroke) = edge {
                    self.stroke(shape, stroke);
                }
            }
            Item::Text { x, y, text, font, anchor, upward } => {
                let width = font::width(text, font.size, font.bold);
                let back = match anchor {
                    Anchor::Start => 0.0,
                    Anchor::Middle => width / 2.0,
                    Anchor::End => width,
                };
                let mut pen = Pen { path: PathBuilder::new(), offset: 0.0 };
                let em = font::outline(text, font.bold, &mut pen, |pen, offset| pen.offset = offset as f32);
                let unit = (font.size / em) as f32;
                let turn = if *upward { Transform::from_rotate(-90.0) } else { Transform::identity() };
                let place = Transform::from_translate(*x as f32, *y as f32)
                    .pre_concat(turn)
                    .pre_translate(-back as f32, 0.0)
                    .pre_scale(unit, -unit);
                self.fill(pen.path.finish().and_then(|path| path.transform(place)), font.color, 1.0);
            }
            Item::Clipped { frame, items } => {
                let outer = self.mask.take();
                self.mask = self.frame_mask(*frame);
                self.items(items);
                self.mask = outer;
            }
        }
    }

    /// Clipped items are never nested, so the mask of a frame need not be intersected with an outer one.
    fn frame_mask(&self, frame: Rect) -> Option<Mask> {
        let mut mask = Mask::new(self.pixels.width(), self.pixels.height())?;
        mask.fill_path(&polyline(&frame.corners(), true)?, FillRule::Winding, true, self.transform);
        Some(mask)
    }

    fn fill(&mut self, path: Option<Path>, color: &str, opacity: f64) {
        if let Some(path) = path {
            let paint = paint(color, opacity);
            self.pixels.fill_path(&path, &paint, FillRule::Winding, self.transform, self.mask.as_ref());
        }
    }

    fn stroke(&mut self, path: Option<Path>, stroke: &Stroke) {
        if let Some(path) = path {
            let dash = stroke.dash.iter().map(|length| *length as f32).collect::<Vec<_>>();
            let line = tiny_skia::Stroke {
                width: stroke.width as f32,
                line_join: LineJoin::Round,
                dash: if dash.is_empty() { None } else { StrokeDash::new(dash, 0.0) },
                ..Default::default()
            };
            let paint = paint(stroke.color, 1.0);
            self.pixels.stroke_path(&path, &paint, &line, self.transform, self.mask.as_ref());
        }
    }
}

fn paint(color: &str, opacity: f64) -> Paint<'static> {
    let channel = |at: usize| {
        let hex = color.get(at..at + 2).expect("colours have the form #rrggbb");
        u8::from_str_radix(hex, 16).expect("colours have hexadecimal digits")
    };
    let alpha = (opacity.clamp(0.0, 1.0) * 255.0).round() as u8;
    let mut paint = Paint { anti_alias: true, ..Paint::default() };
    paint.set_color(Color::from_rgba8(channel(1), channel(3), channel(5), alpha));
    paint
}

fn polyline(points: &[(f64, f64)], closed: bool) -> Option<Path> {
    let mut path = PathBuilder::new();
    for (i, (x, y)) in points.iter().enumerate() {
        let (x, y) = (*x as f32, *y as f32);
        if i == 0 { path.move_to(x, y) } else { path.line_to(x, y) }
    }
    if closed {
        path.close();
    }
    path.finish()
}

/// Collects the outlines of glyphs side by side.
struct Pen {
    path: PathBuilder,
    offset: f32,
}

impl OutlineBuilder for Pen {
    fn move_to(&mut self, x: f32, y: f32) {
        self.path.move_to(x + self.offset, y);
    }

    fn line_to(&mut self, x: f32, y: f32) {
        self.path.line_to(x + self.offset, y);
    }

    fn quad_to(&mut self, x1: f32, y1: f32, x: f32, y: f32) {
        self.path.quad_to(x1 + self.offset, y1, x + self.offset, y);
    }

    fn curve_to(&mut self, x1: f32, y1: f32, x2: f32, y2: f32, x: f32, y: f32) {
        self.path.cubic_to(x1 + self.offset, y1, x2 + self.offset, y2, x + self.offset, y);
    }

    fn close(&mut self) {
        self.path.close();
    }
}
