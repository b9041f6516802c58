//! How loss curves are read from files and written to them.

use std::fmt;

use serde::de::value::MapAccessDeserializer;
use serde::de::{MapAccess, SeqAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::{CurveStep, Formula, LossCurve, LossCurveSpec, Shape};

impl Serialize for LossCurveSpec {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        Self::serialize(self, serializer)
    }
}

impl<'de> Deserialize<'de> for LossCurveSpec {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(SpecVisitor)
    }
}

/// Reads a number, a list of numbers or a table.
struct SpecVisitor;

impl<'de> Visitor<'de> for SpecVisitor {
    type Value = LossCurveSpec;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a loss, a list of losses by plays, or a table such as { constant = 0.5, calibrated = 0.3 }")
    }

    fn visit_f64<E>(self, loss: f64) -> Result<Self::Value, E> {
        Ok(LossCurveSpec { constant: Some(loss), ..LossCurveSpec::default() })
    }

    fn visit_i64<E: serde::de::Error>(self, loss: i64) -> Result<Self::Value, E> {
        self.visit_f64::<E>(loss as f64)
    }

    fn visit_u64<E: serde::de::Error>(self, loss: u64) -> Result<Self::Value, E> {
        self.visit_f64::<E>(loss as f64)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Self::Value, A::Error> {
        let mut losses = Vec::new();
        while let Some(loss) = list.next_element()? {
            losses.push(loss);
        }
        Ok(LossCurveSpec { by_plays: Some(losses), ..LossCurveSpec::default() })
    }

    fn visit_map<A: MapAccess<'de>>(self, table: A) -> Result<Self::Value, A::Error> {
        LossCurveSpec::deserialize(MapAccessDeserializer::new(table))
    }
}

/// Makes the schema of the table one of three alternatives.
#[cfg(feature = "schema")]
pub(super) fn or_number_or_list(schema: &mut schemars::Schema) {
    let description = schema.remove("description");
    let table = std::mem::take(schema);
    let losses = "By the number of plays in the window; the first value is for one play.";
    *schema = schemars::json_schema!({
        "anyOf": [
            { "type": "number", "description": "The same loss at every play." },
            { "type": "array", "items": { "type": "number" }, "description": losses },
            table,
        ],
    });
    if let Some(description) = description {
        schema.insert("description".to_owned(), description);
    }
}

impl Serialize for LossCurve {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut spec = LossCurveSpec { calibrated: self.calibrated, alone: self.alone, ..LossCurveSpec::default() };
        match &self.shape {
            Shape::Constant(loss) => spec.constant = Some(*loss),
            Shape::ByPlays(losses) => spec.by_plays = Some(losses.clone()),
            Shape::Linear(line) => spec.linear = Some(*line),
            Shape::ExponentialLinear(model) => spec.exponential_linear = Some(*model),
            Shape::Needle(needle) => spec.needle = Some(*needle),
            Shape::Formula(formula) => match formula {
                Formula::Steps(steps) => spec.steps = Some(steps.iter().copied().map(CurveStep::from).collect()),
                Formula::Power(curve) => spec.power = Some(*curve),
                Formula::Ramp(curve) => spec.ramp = Some(*curve),
                Formula::Exponential(curve) => spec.exponential = Some(*curve),
                Formula::Rational(curve) => spec.rational = Some(*curve),
                Formula::Peak(curve) => spec.peak = Some(*curve),
                Formula::Table(losses) => spec.table = Some(losses.clone()),
            },
            Shape::Switching(switching) => {
                (spec.by_gap, spec.by_streak) = (switching.by_gap.clone(), switching.by_streak.clone());
            }
            Shape::Function { .. } => {
                return Err(serde::ser::Error::custom("a loss curve that is a function cannot be written to a file"));
            }
        }
        spec.serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for LossCurve {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let spec = deserializer.deserialize_any(SpecVisitor)?;
        spec.try_into().map_err(serde::de::Error::custom)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn curves_survive_a_file_and_functions_say_why_they_do_not() {
        for curve in [
            LossCurve::constant(0.5).when_calibrated(0.35),
            LossCurve::by_plays([0.5, 0.4]),
            LossCurve::linear(1.0, -0.1).when_alone(0.2),
            LossCurve::exponential_linear(0.1, 0.2, 0.001),
            LossCurve::needle(0.75, 0.0, 1.0),
            LossCurve::steps([(1, 0.5), (7, 0.25)]),
            LossCurve::table([0.5, 0.25]).when_alone(0.75),
            LossCurve::by_gap([0.5, 0.25]),
            LossCurve::by_streak([0.5, 0.25]),
            LossCurve::last_switch([0.5, 0.25], [0.5, 0.75]),
        ] {
            let text = serde_json::to_string(&curve).unwrap();
            assert_eq!(serde_json::from_str::<LossCurve>(&text).unwrap(), curve, "{text}");
        }
        let error = serde_json::to_string(&LossCurve::function(|_| 0.5)).unwrap_err();
        assert!(error.to_string().contains("function"), "{error}");
    }

    #[test]
    fn a_file_must_give_exactly_one_shape() {
        let none: Result<LossCurve, _> = serde_json::from_str(r#"{"calibrated": 0.5}"#);
        assert!(none.unwrap_err().to_string().contains("shape"));
        let two: Result<LossCurve, _> = serde_json::from_str(r#"{"constant": 0.5, "by_plays": [0.1]}"#);
        let message = two.unwrap_err().to_string();
        assert!(message.contains("constant") && message.contains("by_plays"), "{message}");
    }

    #[test]
    fn a_number_is_a_constant_and_a_list_is_by_plays_and_both_are_written_as_tables() {
        for (short, table, curve) in [
            ("0.5", r#"{"constant":0.5}"#, LossCurve::constant(0.5)),
            ("1", r#"{"constant":1.0}"#, LossCurve::constant(1.0)),
            ("[0.9, 0.5, 0]", r#"{"by_plays":[0.9,0.5,0.0]}"#, LossCurve::by_plays([0.9, 0.5, 0.0])),
        ] {
            assert_eq!(serde_json::from_str::<LossCurve>(short).unwrap(), curve, "{short}");
            let spec: LossCurveSpec = serde_json::from_str(short).unwrap();
            assert_eq!(serde_json::to_string(&spec).unwrap(), table);
            assert_eq!(serde_json::from_str::<LossCurveSpec>(table).unwrap(), spec);
        }
    }

    #[test]
    fn other_values_are_refused_with_what_is_accepted() {
        for (text, part) in [
            ("true", "a list of losses by plays"),
            (r#""0.5""#, "a list of losses by plays"),
            (r#"["0.5"]"#, "expected f64"),
            (r#"{"constnt": 0.5}"#, "unknown field `constnt`, expected one of `constant`, `by_plays`"),
            (r#"{"constant": 0.5, "constant": 0.5}"#, "duplicate field"),
        ] {
            let message = serde_json::from_str::<LossCurve>(text).unwrap_err().to_string();
            assert!(message.contains(part), "{text}: {message}");
        }
    }
}
