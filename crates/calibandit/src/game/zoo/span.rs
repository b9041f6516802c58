//! A parameter that is one number, or a range from which each instance draws.

use rand::RngExt;

use super::check;
use crate::game::GameError;
use crate::rng::Stream;

/// One value, or a pair `[low, high]` from which each draw is uniform.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(
    feature = "serde",
    derive(serde::Serialize, serde::Deserialize),
    serde(untagged, expecting = "expected a number or a pair of numbers [low, high]")
)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(transform = limit))]
#[non_exhaustive]
pub enum Span<T> {
    /// Always this value.
    One(T),
    /// Uniform from the first to the second.
    Between([T; 2]),
}

/// Writes the ranges into the schema: real numbers are losses or differences of losses, whole numbers are memories.
#[cfg(feature = "schema")]
fn limit(schema: &mut schemars::Schema) {
    let alternatives = schema.get_mut("anyOf").and_then(serde_json::Value::as_array_mut);
    for alternative in alternatives.into_iter().flatten() {
        let number = if alternative["items"].is_object() { &mut alternative["items"] } else { alternative };
        if number["type"] == "integer" {
            number["minimum"] = 1.into();
        } else {
            number["minimum"] = 0.into();
            number["maximum"] = 1.into();
        }
    }
}

impl<T: Copy> Span<T> {
    /// The least value.
    pub fn low(&self) -> T {
        match *self {
            Span::One(value) | Span::Between([value, _]) => value,
        }
    }

    /// The largest value.
    pub fn high(&self) -> T {
        match *self {
            Span::One(value) | Span::Between([_, value]) => value,
        }
    }
}

impl<T: Copy + PartialOrd> Span<T> {
    /// Whether there is more than one value to draw.
    pub fn is_random(&self) -> bool {
        self.low() < self.high()
    }
}

impl Span<f64> {
    /// Both ends in [0, 1], in order.
    pub(super) fn check(&self, parameter: &'static str) -> Result<(), GameError> {
        check::loss(parameter, self.low())?;
        check::between(parameter, self.high(), self.low(), 1.0, "a range from low to high, within 0 to 1")
    }

    pub(super) fn draw(&self, stream: &mut Stream) -> f64 {
        match *self {
            Span::One(value) => value,
            // Rounding may carry the sum past the end.
            Span::Between([low, high]) => (low + (high - low) * stream.random::<f64>()).clamp(low, high),
        }
    }
}

impl Span<usize> {
    pub(super) fn draw(&self, stream: &mut Stream) -> usize {
        match *self {
            Span::One(value) => value,
            Span::Between([low, high]) => low + check::below(high - low + 1, stream),
        }
    }
}
