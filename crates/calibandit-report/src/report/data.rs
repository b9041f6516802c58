//! The plotly description of a figure as compact JSON for the scripts of the page.
//!
//! | key | content |
//! |---|---|
//! | `arrays` | every array of numbers once: `d` (64 bits) or `f` (32 bits), then base64 of little-endian numbers |
//! | `looks` | every set of trace attributes once, without numbers and place |
//! | `data` | one `[look, panel, x, y, customdata]` per trace; the last three are positions in `arrays` or null |
//! | `layout` | the layout |
//!
//! Means have 64 bits, so that the page shows the digits of the tables; what is only drawn has 32.

use crate::chart::plotly::{ViewOptions, description};
use crate::chart::{Figure, Palette};
use serde_json::{Map, Value, json};
use std::collections::HashMap;

/// Figures with more panels than this draw fewer instances, at every other checkpoint: their panels are small, and
/// instances are the greater part of a page.
const FEW_PANELS: usize = 4;
/// The number of instances per policy that such figures draw.
const FEW_LINES: usize = 6;
/// The number of checkpoints from which on every other one is left out.
const MANY_POINTS: usize = 40;

/// The description of a figure in the form above.
pub(super) fn figure(figure: &Figure, palette: &Palette) -> Value {
    let mut shown = figure.clone();
    let small = figure.panels.len() > FEW_PANELS;
    if small {
        for series in shown.panels.iter_mut().flat_map(|panel| &mut panel.series) {
            series.instances.truncate(FEW_LINES);
        }
    }
    let options = ViewOptions { alternatives: true, ..ViewOptions::default() };
    let mut plot = description(&shown, palette, &options);
    let mut packed = Packed::default();
    let data: Vec<Value> = match plot["data"].take() {
        Value::Array(mut traces) => {
            if small {
                traces.iter_mut().filter(|trace| trace["meta"]["role"] == "instances").for_each(thin_out);
            }
            traces.into_iter().map(|trace| packed.trace(trace)).collect()
        }
        _ => Vec::new(),
    };
    json!({
        "data": data,
        "looks": packed.looks.list,
        "arrays": packed.arrays.list,
        "layout": plot["layout"].take(),
    })
}

/// Leaves out every other point of long lines, but not their last one. In x, a null follows each line.
fn thin_out(trace: &mut Value) {
    let length = trace["x"].as_array().and_then(|xs| xs.iter().position(Value::is_null)).unwrap_or(0);
    if length < MANY_POINTS {
        return;
    }
    for axis in ["x", "y"] {
        let values = trace[axis].as_array().into_iter().flatten().enumerate();
        // Positions 0 to `length - 1` are points of a line, `length` is the gap after it.
        let kept = values.filter(|(nth, _)| nth % (length + 1) == length || (length - nth % (length + 1)) % 2 == 1);
        trace[axis] = kept.map(|(_, value)| value.clone()).collect();
    }
}

/// Values in order of first appearance, each once.
#[derive(Default)]
struct Distinct {
    list: Vec<Value>,
    positions: HashMap<String, usize>,
}

impl Distinct {
    fn position(&mut self, value: Value) -> usize {
        let next = self.list.len();
        let position = *self.positions.entry(value.to_string()).or_insert(next);
        if position == next {
            self.list.push(value);
        }
        position
    }
}

#[derive(Default)]
struct Packed {
    looks: Distinct,
    arrays: Distinct,
}

impl Packed {
    fn trace(&mut self, trace: Value) -> Value {
        let Value::Object(mut look) = trace else { return Value::Null };
        let panel = look.get_mut("meta").and_then(|meta| meta.as_object_mut()?.remove("panel"));
        let exact = look.get("meta").is_some_and(|meta| meta["role"] == "mean");
        for place in ["xaxis", "yaxis"] {
            look.remove(place);
        }
        let x = self.array(&mut look, "x", exact);
        let y = self.array(&mut look, "y", exact);
        let custom = self.array(&mut look, "customdata", false);
        json!([self.looks.position(Value::Object(look)), panel, x, y, custom])
    }

    fn array(&mut self, look: &mut Map<String, Value>, key: &str, exact: bool) -> Option<usize> {
        let Some(Value::Array(values)) = look.remove(key) else { return None };
        let numbers = values.iter().map(|value| value.as_f64().unwrap_or(f64::NAN));
        let text = if exact {
            format!("d{}", base64(numbers.flat_map(f64::to_le_bytes).collect()))
        } else {
            format!("f{}", base64(numbers.flat_map(|value| (value as f32).to_le_bytes()).collect()))
        };
        Some(self.arrays.position(Value::String(text)))
    }
}

/// The bytes in base64 with padding.
fn base64(bytes: Vec<u8>) -> String {
    const DIGITS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut text = String::with_capacity(bytes.len().div_ceil(3) * 4);
    for part in bytes.chunks(3) {
        let word = part.iter().fold(0_u32, |word, byte| word << 8 | u32::from(*byte)) << (8 * (3 - part.len()));
        for digit in 0..4 {
            let value = (word >> (18 - 6 * digit)) & 63;
            text.push(if digit <= part.len() { DIGITS[value as usize] as char } else { '=' });
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::chart::{Axis, AxisScale, CurvePoint, Panel, Series};

    #[test]
    fn base64_is_that_of_rfc_4648() {
        let cases = ["", "f", "fo", "foo", "foob", "fooba", "foobar"];
        let expected = ["", "Zg==", "Zm8=", "Zm9v", "Zm9vYg==", "Zm9vYmE=", "Zm9vYmFy"];
        assert_eq!(cases.map(|case| base64(case.as_bytes().to_vec())), expected);
    }

    #[test]
    fn long_lines_lose_every_other_point_and_keep_the_last_one() {
        let points: Vec<CurvePoint> = (1..=40).map(|i| CurvePoint::new(f64::from(i), 0.0, 0.0)).collect();
        let row = |sign: f64| (1..=40).map(|i| sign * f64::from(i)).collect::<Vec<_>>();
        let axis = || Axis::new("t", AxisScale::Linear);
        let series = Series::new("a", points).instances(vec![row(1.0), row(-1.0)]);
        let figure = Figure::new("f", "f").panel(Panel::new("p", "p", axis(), axis()).series(series));
        let options = ViewOptions { alternatives: true, ..ViewOptions::default() };
        let mut plot = description(&figure, &Palette::default(), &options);
        let trace = plot["data"].as_array_mut().unwrap().iter_mut().find(|t| t["meta"]["role"] == "instances").unwrap();
        thin_out(trace);
        let even = |sign: f64| (1..=20).map(move |i| json!(sign * 2.0 * f64::from(i))).chain([Value::Null]);
        assert_eq!(trace["x"], even(1.0).chain(even(1.0)).collect::<Value>());
        assert_eq!(trace["y"], even(1.0).chain(even(-1.0)).collect::<Value>());
    }

    #[test]
    fn arrays_and_looks_are_written_once() {
        let points = |xs: [f64; 2]| xs.into_iter().map(|x| CurvePoint::new(x, 1.5, 0.0)).collect();
        let axis = || Axis::new("t", AxisScale::Linear);
        let panel = |id: &str| {
            Panel::new(id, id, axis(), axis())
                .series(Series::new("a", points([1.0, 2.0])))
                .series(Series::new("b", points([1.0, 2.0])))
        };
        let figure = Figure::new("f", "f").panel(panel("p")).panel(panel("q")).panel(panel("r"));
        let value = super::figure(&figure, &Palette::for_figures([&figure]));
        assert_eq!(value["data"].as_array().map(Vec::len), Some(6));
        // In the first panel the two labels are in the legend, in the others they are not.
        assert_eq!(value["looks"].as_array().map(Vec::len), Some(4));
        assert_eq!(value["data"][5], json!([3, 2, 0, 1, 2]));
        // 1.5 as a double: 3f f8 and six zero bytes, the last byte first.
        assert_eq!(value["arrays"][1], "dAAAAAAAA+D8AAAAAAAD4Pw==");
    }
}
