//! The numbers of a figure as compact JSON for the scripts of the page.
//!
//! Values are stored by column with five digits, and the x values once per panel if its curves share them. A figure
//! with ten panels, five policies, a hundred checkpoints and twenty instances needs less than a megabyte.

use crate::chart::{Axis, AxisScale, CurvePoint, Figure, Mark, Panel, Quantiles, Series};
use serde_json::{Map, Value, json};

/// Digits kept of every value but x.
const DIGITS: i32 = 5;

/// The data of a figure. `index` gives the position of a label in the legend of the report.
pub(super) fn figure(figure: &Figure, index: impl Fn(&str) -> Option<usize>) -> Value {
    json!({
        "title": figure.title,
        "panels": figure.panels.iter().map(|each| panel(each, &index)).collect::<Vec<_>>(),
    })
}

fn panel(panel: &Panel, index: &impl Fn(&str) -> Option<usize>) -> Value {
    let shared: Vec<f64> = panel.series.first().map(xs).unwrap_or_default();
    json!({
        "title": panel.title,
        "x": axis(&panel.x),
        "y": axis(&panel.y),
        "xs": shared,
        "series": panel.series.iter().map(|each| series(each, &shared, index)).collect::<Vec<_>>(),
    })
}

fn axis(axis: &Axis) -> Value {
    json!({
        "label": axis.label,
        "log": axis.scale == AxisScale::Log,
        "min": axis.min,
        "max": axis.max,
    })
}

fn xs(series: &Series) -> Vec<f64> {
    series.points.iter().map(|point| point.x).collect()
}

fn series(series: &Series, shared: &[f64], index: &impl Fn(&str) -> Option<usize>) -> Value {
    let mut out = Map::new();
    let column = |value: &dyn Fn(&CurvePoint) -> Option<f64>| -> Value {
        series.points.iter().map(|point| value(point).map_or(Value::Null, rounded)).collect()
    };
    let quantile = |value: fn(&Quantiles) -> f64| column(&|point: &CurvePoint| point.quantiles.as_ref().map(value));
    out.insert("policy".into(), json!(index(&series.label)));
    let own = xs(series);
    if own != shared {
        out.insert("xs".into(), json!(own));
    }
    out.insert("mean".into(), column(&|point| Some(point.mean)));
    if series.points.iter().any(|point| point.stderr > 0.0) {
        out.insert("stderr".into(), column(&|point| Some(point.stderr)));
    }
    if series.points.iter().any(|point| point.sigma.is_some()) {
        out.insert("sigma".into(), column(&|point| point.sigma));
    }
    if series.points.iter().any(|point| point.quantiles.is_some()) {
        let quantiles = [
            quantile(|quantiles| quantiles.min),
            quantile(|quantiles| quantiles.p10),
            quantile(|quantiles| quantiles.median),
            quantile(|quantiles| quantiles.p90),
            quantile(|quantiles| quantiles.max),
        ];
        out.insert("quantiles".into(), json!(quantiles));
    }
    if !series.instances.is_empty() {
        let rows = series.instances.iter().map(|row| row.iter().map(|value| rounded(*value)).collect::<Value>());
        out.insert("instances".into(), rows.collect());
    }
    if !series.observations.is_empty() {
        let dots = series.observations.iter().map(|(x, y)| json!([rounded(*x), rounded(*y)]));
        out.insert("dots".into(), dots.collect());
    }
    if series.mark == Mark::LineAndPoints {
        out.insert("points".into(), json!(true));
    }
    Value::Object(out)
}

/// The value with the digits kept, as an integer if it is one: `1234`, not `1234.0`. NaN and infinities become null.
fn rounded(value: f64) -> Value {
    if value == 0.0 || !value.is_finite() {
        return if value == 0.0 { json!(0) } else { Value::Null };
    }
    // Rounded as decimal text, because the product with a negative power of ten is rarely the nearest double.
    let text = format!("{value:.*e}", DIGITS as usize - 1);
    let rounded: f64 = text.parse().expect("a formatted number can be parsed");
    if rounded.fract() == 0.0 && rounded.abs() < 1e15 { json!(rounded as i64) } else { json!(rounded) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rounding_keeps_five_digits_in_few_characters() {
        for (value, text) in [
            (123_456.0, "123460"),
            (0.1 + 0.2, "0.3"),
            (-1.000_004, "-1"),
            (2.718_281_8e-7, "2.7183e-7"),
            (0.0, "0"),
            (-0.0, "0"),
            (f64::NAN, "null"),
            (f64::INFINITY, "null"),
        ] {
            assert_eq!(rounded(value).to_string(), text);
        }
    }

    #[test]
    fn shared_x_values_are_written_once() {
        let points = |xs: [f64; 2]| xs.into_iter().map(|x| CurvePoint::new(x, 1.0, 0.0)).collect();
        let axis = || Axis::new("t", AxisScale::Linear);
        let figure = Figure::new("f", "f").panel(
            Panel::new("p", "p", axis(), axis())
                .series(Series::new("a", points([1.0, 2.0])))
                .series(Series::new("b", points([1.0, 2.0])))
                .series(Series::new("c", points([1.0, 3.0]))),
        );
        let value = super::figure(&figure, |label| ["a", "b", "c"].iter().position(|each| *each == label));
        let panel = &value["panels"][0];
        assert_eq!(panel["xs"], json!([1.0, 2.0]));
        assert_eq!(panel["series"][1].get("xs"), None);
        assert_eq!(panel["series"][2]["xs"], json!([1.0, 3.0]));
        assert_eq!(panel["series"][2]["policy"], 2);
    }
}
