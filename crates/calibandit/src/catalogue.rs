//! The catalogue: descriptions of every kind of policy and game, read from their types.
//!
//! A kind is documented once, by the doc comments of its parameter type. Summaries, meanings, defaults and allowed
//! values are read from the JSON schema of that type, so that lists, help texts and generated code cannot disagree with
//! it. Two conventions connect doc comments with the catalogue: the first paragraph of a type's documentation is its
//! summary, and a paragraph `Default: ...` of a field states a default that is computed from the problem.
//!
//! Building a policy or drawing a game does not need this module.

mod value_type;

pub use value_type::{Choice, Interval, ValueType};

use schemars::{JsonSchema, generate::SchemaSettings};
use serde::Serialize;
use serde_json::{Map, Value};

use crate::GameClass;

/// One kind of policy or game; `Spec` is [`PolicySpec`](crate::PolicySpec) or [`GameSpec`](crate::GameSpec).
#[derive(Clone, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct CatalogueEntry<Spec> {
    /// The value of `kind` in files.
    pub name: &'static str,
    /// Former values of `kind` that files may still use.
    pub aliases: &'static [&'static str],
    /// What it is, in one line.
    pub summary: String,
    /// The whole documentation, with the summary as its first paragraph.
    pub documentation: String,
    /// Where it comes from.
    pub citation: &'static str,
    /// Of a policy, the classes of games that it is made for; empty for games.
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    pub meant_for: &'static [GameClass],
    /// Its parameters: required ones first, then the others by name.
    pub parameters: Vec<Parameter>,
    /// The JSON schema of its parameters.
    pub schema: Value,
    /// A valid specification of this kind: the defaults, with small values for required parameters.
    pub example: Spec,
}

/// One parameter of a kind of policy or game.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Parameter {
    /// Its name in files.
    pub name: String,
    /// What it means.
    pub meaning: String,
    /// The values it can have.
    #[serde(rename = "type")]
    pub value_type: ValueType,
    /// The values it can have, in words.
    pub values: String,
    /// Whether it must be given.
    pub required: bool,
    /// The value that is used if none is given; `None` if there is no such constant.
    pub default: Option<Value>,
    /// How the value is computed if none is given, where it is not a constant.
    pub default_rule: Option<String>,
}

impl<Spec> CatalogueEntry<Spec> {
    /// The entry of the kind whose parameters have the type `Parameters`.
    pub(crate) fn new<Parameters: JsonSchema>(
        name: &'static str,
        aliases: &'static [&'static str],
        citation: &'static str,
        example: Spec,
    ) -> Self {
        let mut generator = SchemaSettings::draft2020_12().into_generator();
        let mut schema = Parameters::json_schema(&mut generator).to_value();
        let definitions = generator.take_definitions(true);
        let parameters = Parameter::list(&schema, &definitions);
        let documentation = paragraphs(&schema).join("\n\n");
        let summary = documentation.split("\n\n").next().unwrap_or_default().to_owned();
        if !definitions.is_empty() {
            schema["$defs"] = Value::Object(definitions);
        }
        Self { name, aliases, summary, documentation, citation, meant_for: &[], parameters, schema, example }
    }

    /// The parameter of this name.
    pub fn parameter(&self, name: &str) -> Option<&Parameter> {
        self.parameters.iter().find(|parameter| parameter.name == name)
    }
}

impl Parameter {
    /// The properties of an object's schema, required ones first.
    fn list(schema: &Value, definitions: &Map<String, Value>) -> Vec<Self> {
        let required: Vec<&str> = array(&schema["required"]).iter().filter_map(Value::as_str).collect();
        let mut parameters: Vec<Self> = schema["properties"]
            .as_object()
            .into_iter()
            .flatten()
            .filter(|(name, _)| *name != "kind")
            .map(|(name, property)| Self::new(name, property, required.contains(&name.as_str()), definitions))
            .collect();
        parameters.sort_by_key(|parameter| {
            required.iter().position(|name| *name == parameter.name).unwrap_or(required.len())
        });
        parameters
    }

    fn new(name: &str, property: &Value, required: bool, definitions: &Map<String, Value>) -> Self {
        let value_type = ValueType::read(property, definitions);
        let (rules, meaning): (Vec<_>, Vec<_>) =
            paragraphs(property).into_iter().partition(|paragraph| paragraph.starts_with(DEFAULT));
        let rule = rules.first().map(|rule| rule.trim_start_matches(DEFAULT).trim().trim_end_matches('.').to_owned());
        Self {
            name: name.to_owned(),
            meaning: meaning.join("\n\n"),
            values: value_type.to_string(),
            value_type,
            required,
            default: property.get("default").cloned(),
            default_rule: rule,
        }
    }

    /// The default in words: a constant as in files, or the rule that computes it. `None` if the parameter is required,
    /// or if its meaning says what happens without it.
    pub fn default_in_words(&self) -> Option<String> {
        match (&self.default_rule, &self.default) {
            (Some(rule), _) => Some(rule.clone()),
            (None, Some(Value::String(name))) => Some(name.clone()),
            (None, Some(value)) => Some(value.to_string()),
            (None, None) => None,
        }
    }
}

/// What begins the paragraph of a doc comment that states a computed default.
const DEFAULT: &str = "Default:";

/// The description of a schema by paragraphs, each on one line, without code and without the brackets of links in
/// rustdoc.
fn paragraphs(schema: &Value) -> Vec<String> {
    let text = schema["description"].as_str().unwrap_or_default();
    let text: String = text.split("```").step_by(2).collect();
    let plain = |paragraph: &str| paragraph.replace('\n', " ").replace("[`", "`").replace("`]", "`");
    text.split("\n\n").map(plain).filter(|paragraph| !paragraph.trim().is_empty()).collect()
}

fn array(value: &Value) -> &[Value] {
    value.as_array().map_or(&[], Vec::as_slice)
}
