//! Types and values of parameters, written in Python.

use calibandit::catalogue::{Parameter, ValueType};
use serde_json::Value;

/// Types of the library that have a name in the Python package.
const NAMED: [(&str, &str); 2] = [("Noise", "NoiseLike"), ("ArmSpec", "Union[Arm, Mapping[str, Any]]")];

/// A number or a range, which `_span.py` defines as `Span`.
const SPAN: &str = "Union[float, tuple[float, float]]";

/// The Python type of a parameter; `property` is its JSON schema.
pub(crate) fn python_type(parameter: &Parameter, property: &Value) -> String {
    match reference(property) {
        Some(name) => name.to_owned(),
        None => of(&parameter.value_type, property),
    }
}

/// The Python name of the type that a schema refers to, if it has one.
fn reference(schema: &Value) -> Option<&'static str> {
    let alternatives = ["anyOf", "oneOf", "allOf"].into_iter().filter_map(|key| schema[key].as_array()).flatten();
    let name = std::iter::once(schema).chain(alternatives).find_map(|schema| schema["$ref"].as_str())?;
    let name = name.rsplit('/').next()?;
    NAMED.iter().find(|(known, _)| *known == name).map(|(_, python)| *python)
}

fn of(value_type: &ValueType, schema: &Value) -> String {
    match value_type {
        ValueType::Boolean => "bool".to_owned(),
        ValueType::Integer(_) => "int".to_owned(),
        ValueType::Number(_) => "float".to_owned(),
        ValueType::Choice(choices) => {
            let names: Vec<String> = choices.iter().map(|choice| format!("\"{}\"", choice.name)).collect();
            format!("Literal[{}]", names.join(", "))
        }
        ValueType::List { items, length, .. } => {
            let item = reference(&schema["items"]).map_or_else(|| of(items, &schema["items"]), str::to_owned);
            match length {
                Some(length) => format!("tuple[{}]", vec![item; *length as usize].join(", ")),
                None => format!("Sequence[{item}]"),
            }
        }
        ValueType::Table { fields, .. } => {
            let numbers = fields.iter().all(|field| matches!(field.value_type, ValueType::Number(_)));
            format!("Mapping[str, {}]", if numbers { "float" } else { "Any" })
        }
        ValueType::AnyOf(types) => {
            let mut types: Vec<String> = types.iter().map(|one| of(one, &Value::Null)).collect();
            types.dedup();
            let union = if types.len() == 1 { types.remove(0) } else { format!("Union[{}]", types.join(", ")) };
            if union == SPAN { "Span".to_owned() } else { union }
        }
        // `ValueType` may grow: a text takes every value that a file can hold.
        _ => "str".to_owned(),
    }
}

/// A value of a file as a Python expression.
pub(crate) fn literal(value: &Value) -> String {
    match value {
        Value::Null => "None".to_owned(),
        Value::Bool(true) => "True".to_owned(),
        Value::Bool(false) => "False".to_owned(),
        Value::Array(items) => {
            let items: Vec<String> = items.iter().map(literal).collect();
            let comma = if items.len() == 1 { "," } else { "" };
            format!("({}{comma})", items.join(", "))
        }
        // A table in TOML or JSON and a dictionary in Python are written alike, as are numbers and texts.
        value => value.to_string(),
    }
}
