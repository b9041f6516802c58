//! The values that a parameter can have, read from its JSON schema.

use std::fmt;

use serde::Serialize;
use serde_json::{Map, Value};

use super::{Parameter, array, paragraphs};

/// The values that a parameter can have. `Display` says it in words, for people.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum ValueType {
    /// `true` or `false`.
    Boolean,
    /// An integer.
    Integer(Interval),
    /// A number.
    Number(Interval),
    /// Any text.
    Text,
    /// One of some names.
    Choice(Vec<Choice>),
    /// A list whose items are all of one type.
    #[non_exhaustive]
    List {
        /// The type of an item.
        items: Box<ValueType>,
        /// The number of items, where it is fixed.
        length: Option<u64>,
    },
    /// A table with these keys.
    #[non_exhaustive]
    Table {
        /// The name of its type in the schema, where it has one.
        name: Option<String>,
        /// Its keys.
        fields: Vec<Parameter>,
    },
    /// Any of these.
    AnyOf(Vec<ValueType>),
}

/// One name that a parameter can have as its value.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct Choice {
    /// The name.
    pub name: String,
    /// What it means.
    pub meaning: String,
}

/// The range of a number. An end that is `None` is not limited.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Interval {
    /// The lower end.
    pub low: Option<f64>,
    /// Whether the lower end itself is excluded.
    pub low_excluded: bool,
    /// The upper end.
    pub high: Option<f64>,
    /// Whether the upper end itself is excluded.
    pub high_excluded: bool,
}

impl ValueType {
    /// Reads a schema; `definitions` has what it refers to. A type that may be null is the type without null, because
    /// an optional parameter is left out of a file instead.
    pub(super) fn read(schema: &Value, definitions: &Map<String, Value>) -> Self {
        if let Some(name) = schema["$ref"].as_str() {
            let name = name.rsplit('/').next().unwrap_or(name);
            let mut found = Self::read(&definitions[name], definitions);
            if let Self::Table { name: own, .. } = &mut found {
                *own = Some(name.to_owned());
            }
            return found;
        }
        let alternatives = [array(&schema["oneOf"]), array(&schema["anyOf"])].concat();
        if !alternatives.is_empty() {
            return Self::any_of(&alternatives, definitions);
        }
        let names: Vec<&str> = match &schema["type"] {
            Value::Array(names) => names.iter().filter_map(Value::as_str).collect(),
            name => name.as_str().into_iter().collect(),
        };
        match names.into_iter().find(|name| *name != "null") {
            Some("boolean") => Self::Boolean,
            Some("integer") => Self::Integer(Interval::read(schema)),
            Some("number") => Self::Number(Interval::read(schema)),
            Some("array") => Self::List {
                items: Box::new(Self::read(&schema["items"], definitions)),
                length: schema["minItems"].as_u64().filter(|least| schema["maxItems"].as_u64() == Some(*least)),
            },
            Some("object") => Self::Table { name: None, fields: Parameter::list(schema, definitions) },
            _ => match schema["const"].as_str() {
                Some(name) => {
                    Self::Choice(vec![Choice { name: name.to_owned(), meaning: paragraphs(schema).join("\n\n") }])
                }
                None => Self::Text,
            },
        }
    }

    /// The union of alternatives: those with a single name become one choice, deprecated ones and null are left out.
    fn any_of(alternatives: &[Value], definitions: &Map<String, Value>) -> Self {
        let mut choices = Vec::new();
        let mut others = Vec::new();
        let current = |schema: &&Value| schema["deprecated"] != true && schema["type"] != "null";
        for schema in alternatives.iter().filter(current) {
            match Self::read(schema, definitions) {
                Self::Choice(more) => choices.extend(more),
                Self::Table { name, mut fields } => {
                    // A variant with data is a table with one key. Its documentation is that of the table.
                    if let [only] = fields.as_mut_slice()
                        && only.meaning.is_empty()
                    {
                        only.meaning = paragraphs(schema).join("\n\n");
                    }
                    others.push(Self::Table { name, fields });
                }
                Self::AnyOf(more) => others.extend(more),
                other => others.push(other),
            }
        }
        if !choices.is_empty() {
            others.insert(0, Self::Choice(choices));
        }
        match others.len() {
            1 => others.remove(0),
            _ => Self::AnyOf(others),
        }
    }
}

impl Interval {
    fn read(schema: &Value) -> Self {
        let number = |key: &str| schema[key].as_f64();
        Self {
            low: number("exclusiveMinimum").or(number("minimum")),
            low_excluded: number("exclusiveMinimum").is_some(),
            high: number("exclusiveMaximum").or(number("maximum")),
            high_excluded: number("exclusiveMaximum").is_some(),
        }
    }
}

impl fmt::Display for ValueType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Boolean => write!(f, "true or false"),
            Self::Integer(range) => range.describe("an integer", f),
            Self::Number(Interval { low: Some(0.0), low_excluded: true, high: None, .. }) => {
                write!(f, "a positive number")
            }
            Self::Number(range) => range.describe("a number", f),
            Self::Text => write!(f, "a text"),
            Self::Choice(choices) => {
                let names: Vec<&str> = choices.iter().map(|choice| choice.name.as_str()).collect();
                write!(f, "{}", or(&names))
            }
            Self::List { items, length: Some(length) } => write!(f, "a list of {length}, each {items}"),
            Self::List { items, length: None } => write!(f, "a list, each item {items}"),
            Self::Table { fields, .. } => {
                let names: Vec<String> = fields.iter().map(|field| format!("`{}`", field.name)).collect();
                write!(f, "a table with {}", names.join(", "))
            }
            Self::AnyOf(types) => {
                let types: Vec<String> = types.iter().map(ToString::to_string).collect();
                write!(f, "{}", types.join(", or "))
            }
        }
    }
}

impl Interval {
    fn describe(&self, what: &str, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (self.low, self.high) {
            (None, None) => write!(f, "{what}"),
            (Some(low), None) => write!(f, "{what}, {} {low}", if self.low_excluded { "above" } else { "at least" }),
            (None, Some(high)) => write!(f, "{what}, {} {high}", if self.high_excluded { "below" } else { "at most" }),
            (Some(low), Some(high)) => {
                let open = if self.low_excluded { '(' } else { '[' };
                let close = if self.high_excluded { ')' } else { ']' };
                write!(f, "{what} in {open}{low}, {high}{close}")
            }
        }
    }
}

/// `a`, `a or b`, `a, b or c`.
fn or(names: &[&str]) -> String {
    match names {
        [] => String::new(),
        [one] => (*one).to_owned(),
        [most @ .., last] => format!("{} or {last}", most.join(", ")),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn words(schema: Value) -> String {
        let definitions = json!({ "Pair": { "type": "object", "properties": { "a": { "type": "number" } } } });
        ValueType::read(&schema, definitions.as_object().unwrap()).to_string()
    }

    #[test]
    fn types_are_described_in_words() {
        for (schema, expected) in [
            (json!({ "type": "boolean" }), "true or false"),
            (json!({ "type": "string" }), "a text"),
            (json!({ "type": ["integer", "null"], "minimum": 1 }), "an integer, at least 1"),
            (json!({ "type": "number", "exclusiveMinimum": 0, "maximum": 1 }), "a number in (0, 1]"),
            (json!({ "type": "number", "exclusiveMinimum": 0 }), "a positive number"),
            (json!({ "type": "array", "items": { "type": "number" } }), "a list, each item a number"),
            (json!({ "$ref": "#/$defs/Pair" }), "a table with `a`"),
            (json!({ "anyOf": [{ "$ref": "#/$defs/Pair" }, { "type": "null" }] }), "a table with `a`"),
        ] {
            assert_eq!(words(schema.clone()), expected, "{schema}");
        }
        let name = |name: &str| json!({ "type": "string", "const": name });
        let mut names = json!({ "oneOf": [name("x"), name("y"), name("z")] });
        assert_eq!(words(names.clone()), "x, y or z");
        names["oneOf"][1]["deprecated"] = json!(true);
        assert_eq!(words(names), "x or z", "former names are not advertised");
        let variant = json!({
            "type": "object", "description": "Noise.", "properties": { "beta": {} }, "required": ["beta"],
        });
        let ValueType::Table { fields, .. } = ValueType::any_of(&[variant], &Map::new()) else { panic!("no table") };
        assert_eq!(fields[0].meaning, "Noise.", "a key of a variant has the documentation of the variant");
        let mixed = json!({ "anyOf": [name("x"), { "type": "number" }, name("y")] });
        assert_eq!(words(mixed), "x or y, or a number");
    }
}
