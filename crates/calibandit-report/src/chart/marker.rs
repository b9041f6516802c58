//! Marker shapes, which distinguish curves without colour.

use serde::{Deserialize, Serialize};

/// A marker's shape. All shapes are closed polygons, so that SVG, PNG and the report draw the same.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Marker {
    /// A disc.
    Circle,
    /// A square.
    Square,
    /// A triangle on its base.
    Triangle,
    /// A triangle on its tip.
    TriangleDown,
    /// A square on its tip.
    Diamond,
    /// An upright cross.
    Plus,
    /// A diagonal cross.
    Cross,
    /// A five-pointed star.
    Star,
}

impl Marker {
    /// The corners around (0, 0), for a marker of about radius 1; y points down.
    pub fn polygon(self) -> Vec<(f64, f64)> {
        let regular = |corners: u32, radius: f64, turn: f64| -> Vec<(f64, f64)> {
            (0..corners)
                .map(|corner| {
                    let angle = turn + std::f64::consts::TAU * f64::from(corner) / f64::from(corners);
                    (round(radius * angle.sin()), round(-radius * angle.cos()))
                })
                .collect()
        };
        match self {
            Marker::Circle => regular(20, 1.0, 0.0),
            Marker::Square => regular(4, 1.2, std::f64::consts::FRAC_PI_4),
            Marker::Triangle => regular(3, 1.3, 0.0),
            Marker::TriangleDown => regular(3, 1.3, std::f64::consts::PI),
            Marker::Diamond => regular(4, 1.3, 0.0),
            Marker::Plus => plus(),
            Marker::Cross => {
                let half = std::f64::consts::FRAC_1_SQRT_2;
                plus().into_iter().map(|(x, y)| (round((x - y) * half), round((x + y) * half))).collect()
            }
            Marker::Star => {
                let (tips, dents) = (regular(5, 1.65, 0.0), regular(5, 0.72, std::f64::consts::PI / 5.0));
                tips.into_iter().zip(dents).flat_map(|(tip, dent)| [tip, dent]).collect()
            }
        }
    }
}

/// An upright cross with arms of a third of its width.
fn plus() -> Vec<(f64, f64)> {
    let (long, short) = (1.25, 0.42);
    vec![
        (-short, -long),
        (short, -long),
        (short, -short),
        (long, -short),
        (long, short),
        (short, short),
        (short, long),
        (-short, long),
        (-short, short),
        (-long, short),
        (-long, -short),
        (-short, -short),
    ]
}

/// Three decimals: enough for a drawing, and independent of the last bits of `sin` and `cos`, which differ between
/// platforms.
fn round(value: f64) -> f64 {
    (value * 1000.0).round() / 1000.0 + 0.0
}

#[cfg(test)]
mod tests {
    use super::*;

    const ALL: [Marker; 8] = [
        Marker::Circle,
        Marker::Square,
        Marker::Triangle,
        Marker::TriangleDown,
        Marker::Diamond,
        Marker::Plus,
        Marker::Cross,
        Marker::Star,
    ];

    /// Twice the signed area, by the shoelace formula.
    fn shoelace(corners: &[(f64, f64)]) -> f64 {
        (0..corners.len())
            .map(|i| {
                let ((x, y), (next_x, next_y)) = (corners[i], corners[(i + 1) % corners.len()]);
                x * next_y - next_x * y
            })
            .sum()
    }

    #[test]
    fn shapes_differ_and_have_similar_areas() {
        for (i, marker) in ALL.iter().enumerate() {
            let corners = marker.polygon();
            let area = shoelace(&corners).abs() / 2.0;
            assert!((1.2..3.8).contains(&area), "{marker:?} covers {area}");
            for other in &ALL[i + 1..] {
                assert_ne!(corners, other.polygon());
            }
        }
    }
}
