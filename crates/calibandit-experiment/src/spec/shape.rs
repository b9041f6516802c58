//! The JSON schema of experiment files as types: what a value may be, ready for checking and for messages.
//!
//! The schema is generated from the types that files are read into, so keys, types, choices and limits have one source.
//! Only the keywords that such schemas contain are read. A [`SchemaShape`] is computed once per schema; checking values
//! is the job of [`check`](super::check).

use std::sync::LazyLock;

use serde_json::Value;

use super::schema::shared;
use super::value::{Data, SpannedValue};

/// What a value may be.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum SchemaShape<'a> {
    /// Anything.
    Any,
    /// True or false.
    Bool,
    /// A text with at most this many characters.
    Text { may_be_empty: bool, longest: Option<u64> },
    /// A number within limits.
    Number(NumberShape),
    /// One of several texts.
    Choice(Vec<ChoiceName<'a>>),
    /// A list.
    List(ListShape<'a>),
    /// A table.
    Table(TableShape<'a>),
    /// SweptTables whose key `kind` says which other keys they have.
    Tagged(Vec<TaggedTable<'a>>),
    /// SweptTables with one key each, whose name says which alternative it is.
    Named(Vec<TableShape<'a>>),
    /// Alternatives of different types.
    Mixed(Vec<SchemaShape<'a>>),
}

#[derive(Clone, Debug, PartialEq)]
pub(crate) struct NumberShape {
    pub(crate) whole: bool,
    pub(crate) minimum: Option<f64>,
    pub(crate) maximum: Option<f64>,
    pub(crate) exclusive_minimum: Option<f64>,
    pub(crate) exclusive_maximum: Option<f64>,
}

/// A text that may be chosen. Former names are accepted, but messages do not list them.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct ChoiceName<'a> {
    pub(crate) name: &'a str,
    pub(crate) former: bool,
}

#[derive(Clone, Debug, PartialEq)]
pub(crate) struct ListShape<'a> {
    pub(crate) least: u64,
    pub(crate) most: Option<u64>,
    pub(crate) items: Option<Box<SchemaShape<'a>>>,
}

#[derive(Clone, Debug, PartialEq)]
pub(crate) struct TableShape<'a> {
    pub(crate) keys: Vec<KeyShape<'a>>,
    pub(crate) others: OtherKeys<'a>,
    pub(crate) may_be_empty: bool,
}

/// A key of a table.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct KeyShape<'a> {
    pub(crate) name: &'a str,
    /// Former names that files may still use.
    aliases: Vec<&'a str>,
    /// The first sentence of the description.
    pub(crate) about: Option<String>,
    pub(crate) required: bool,
    pub(crate) shape: SchemaShape<'a>,
}

/// What a table may have besides its known keys.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum OtherKeys<'a> {
    Forbidden,
    Unchecked,
    Checked(Box<SchemaShape<'a>>),
}

/// The table of one `kind`.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct TaggedTable<'a> {
    pub(crate) kind: &'a str,
    /// Former names of the kind that files may still use.
    aliases: Vec<&'a str>,
    /// Whether `kind` itself is a former name.
    former: bool,
    pub(crate) table: TableShape<'a>,
}

static FILE: LazyLock<TableShape<'static>> = LazyLock::new(|| {
    let root = shared();
    TableShape::read(root, root)
});

/// The shape of a whole experiment file.
pub(crate) fn file_shape() -> &'static TableShape<'static> {
    &FILE
}

/// The shape of the game in a file.
pub(crate) fn game_shape() -> &'static SchemaShape<'static> {
    &FILE.key("game").expect("an experiment file has a game").shape
}

/// The shape of one policy in a file.
pub(crate) fn policy_shape() -> &'static SchemaShape<'static> {
    let policies = &FILE.key("policy").expect("an experiment file has policies").shape;
    match policies {
        SchemaShape::List(ListShape { items: Some(policy), .. }) => policy,
        _ => unreachable!("the policies of an experiment file are a list"),
    }
}

/// The shape of the table `live` in a file.
pub(crate) fn live_shape() -> &'static SchemaShape<'static> {
    &FILE.key("live").expect("an experiment file may have live use").shape
}

impl<'a> SchemaShape<'a> {
    /// Reads a schema. `root` is the whole schema, for references; it must not have cycles of references.
    pub(crate) fn read(schema: &'a Value, root: &'a Value) -> Self {
        let (mut names, mut tables, mut shapes) = (Vec::new(), Vec::new(), Vec::new());
        for alternative in alternatives(schema, root) {
            let choices = choices(alternative);
            let types = types(alternative);
            if !choices.is_empty() {
                names.extend(choices);
            } else if types.is_empty() {
                return Self::Any;
            } else if types.contains(&"object") {
                tables.push(alternative);
            } else {
                shapes.extend(types.iter().filter_map(|name| Self::read_type(name, alternative, root)));
            }
        }
        if !names.is_empty() {
            shapes.insert(0, Self::Choice(names));
        }
        shapes.extend(Self::read_tables(&tables, root));
        match shapes.len() {
            0 => Self::Any,
            1 => shapes.remove(0),
            _ => Self::Mixed(shapes),
        }
    }

    fn read_type(name: &str, schema: &'a Value, root: &'a Value) -> Option<Self> {
        let count = |keyword: &str| schema.get(keyword).and_then(Value::as_u64);
        Some(match name {
            "boolean" => Self::Bool,
            "string" => Self::Text { may_be_empty: count("minLength").unwrap_or(0) == 0, longest: count("maxLength") },
            "integer" | "number" => Self::Number(NumberShape::read(name == "integer", schema)),
            "array" => Self::List(ListShape {
                least: count("minItems").unwrap_or(0),
                most: count("maxItems"),
                items: schema.get("items").map(|items| Box::new(Self::read(items, root))),
            }),
            _ => return None,
        })
    }

    fn read_tables(tables: &[&'a Value], root: &'a Value) -> Option<Self> {
        let tagged = tables.iter().map(|schema| TaggedTable::read(schema, root)).collect::<Option<Vec<_>>>();
        match (tables, tagged) {
            ([], _) => None,
            ([only], _) => Some(Self::Table(TableShape::read(only, root))),
            (_, Some(tagged)) => Some(Self::Tagged(tagged)),
            (several, None) => Some(Self::Named(several.iter().map(|schema| TableShape::read(schema, root)).collect())),
        }
    }

    /// Whether a value has a type that is allowed.
    pub(crate) fn fits(&self, value: &SpannedValue) -> bool {
        match (self, &value.data) {
            (Self::Any, _)
            | (Self::Bool, Data::Bool(_))
            | (Self::Text { .. } | Self::Choice(_), Data::Text(_))
            | (Self::Number(_), Data::Integer(_))
            | (Self::Number(NumberShape { whole: false, .. }), Data::Float(_))
            | (Self::List(_), Data::List(_))
            | (Self::Table(_) | Self::Tagged(_) | Self::Named(_), Data::Table(_)) => true,
            (Self::Mixed(parts), _) => parts.iter().any(|part| part.fits(value)),
            _ => false,
        }
    }

    /// The shapes that this consists of: its alternatives, or itself.
    pub(crate) fn parts(&self) -> &[Self] {
        match self {
            Self::Mixed(parts) => parts,
            other => std::slice::from_ref(other),
        }
    }

    /// The tables that this may be.
    pub(crate) fn tables(&self) -> Vec<&TableShape<'a>> {
        let mut all = Vec::new();
        for part in self.parts() {
            match part {
                Self::Table(table) => all.push(table),
                Self::Tagged(tables) => all.extend(tables.iter().map(|tagged| &tagged.table)),
                Self::Named(tables) => all.extend(tables),
                _ => {}
            }
        }
        all
    }

    /// The table of this kind, if this is tables that are told apart by their `kind`.
    pub(crate) fn table_of_kind(&self, kind: &str) -> Option<&TableShape<'a>> {
        match self {
            Self::Tagged(tables) => tables.iter().find(|tagged| tagged.is(kind)).map(|tagged| &tagged.table),
            _ => None,
        }
    }
}

impl NumberShape {
    fn read(whole: bool, schema: &Value) -> Self {
        let limit = |keyword: &str| schema.get(keyword).and_then(Value::as_f64);
        Self {
            whole,
            minimum: limit("minimum"),
            maximum: limit("maximum"),
            exclusive_minimum: limit("exclusiveMinimum"),
            exclusive_maximum: limit("exclusiveMaximum"),
        }
    }
}

impl<'a> TableShape<'a> {
    fn read(schema: &'a Value, root: &'a Value) -> Self {
        let required: Vec<&str> = texts(schema, "required");
        let properties = schema.get("properties").and_then(Value::as_object);
        let key = |(name, inner): (&'a String, &'a Value)| KeyShape {
            name,
            aliases: texts(inner, "aliases"),
            about: about(inner, root),
            required: required.contains(&name.as_str()),
            shape: SchemaShape::read(inner, root),
        };
        Self {
            keys: properties.into_iter().flatten().map(key).collect(),
            others: match schema.get("additionalProperties") {
                Some(Value::Bool(false)) => OtherKeys::Forbidden,
                Some(inner @ Value::Object(_)) => OtherKeys::Checked(Box::new(SchemaShape::read(inner, root))),
                _ => OtherKeys::Unchecked,
            },
            may_be_empty: schema.get("minProperties").is_none(),
        }
    }

    /// The key of this name or former name.
    pub(crate) fn key(&self, name: &str) -> Option<&KeyShape<'a>> {
        self.keys.iter().find(|key| key.is(name))
    }

    /// The only key, if it is required: the name of the alternative.
    pub(crate) fn only_key(&self) -> Option<&'a str> {
        match self.keys.as_slice() {
            [only] if only.required => Some(only.name),
            _ => None,
        }
    }
}

impl KeyShape<'_> {
    pub(crate) fn is(&self, name: &str) -> bool {
        self.name == name || self.aliases.contains(&name)
    }
}

impl<'a> TaggedTable<'a> {
    /// Reads the schema of a table; `None` if it does not fix its `kind`.
    fn read(schema: &'a Value, root: &'a Value) -> Option<Self> {
        Some(Self {
            kind: schema.pointer("/properties/kind/const")?.as_str()?,
            aliases: texts(schema, "aliases"),
            former: is_former(schema),
            table: TableShape::read(schema, root),
        })
    }

    pub(crate) fn is(&self, kind: &str) -> bool {
        self.kind == kind || self.aliases.contains(&kind)
    }

    /// The name for messages; `None` for a former name.
    pub(crate) fn listed(&self) -> Option<&'a str> {
        (!self.former).then_some(self.kind)
    }
}

/// The alternatives of a schema without references, alternatives of alternatives included, without null.
fn alternatives<'a>(schema: &'a Value, root: &'a Value) -> Vec<&'a Value> {
    let schema = resolve(schema, root);
    match ["oneOf", "anyOf"].iter().find_map(|keyword| schema.get(*keyword)?.as_array()) {
        Some(parts) => parts.iter().flat_map(|part| alternatives(part, root)).collect(),
        None if schema.get("type").and_then(Value::as_str) == Some("null") => Vec::new(),
        None => vec![schema],
    }
}

/// The schema that a reference leads to.
fn resolve<'a>(schema: &'a Value, root: &'a Value) -> &'a Value {
    let target = schema.get("$ref").and_then(Value::as_str).and_then(|target| target.strip_prefix('#'));
    target.and_then(|pointer| root.pointer(pointer)).map_or(schema, |target| resolve(target, root))
}

/// The texts that a schema allows, if it is a choice between texts.
fn choices(schema: &Value) -> Vec<ChoiceName<'_>> {
    let former = is_former(schema);
    let one = schema.get("const").and_then(Value::as_str);
    let current = one.into_iter().chain(texts(schema, "enum")).map(|name| ChoiceName { name, former });
    let aliases = texts(schema, "aliases").into_iter().map(|name| ChoiceName { name, former: true });
    let names: Vec<_> = current.collect();
    if names.is_empty() { names } else { names.into_iter().chain(aliases).collect() }
}

fn is_former(schema: &Value) -> bool {
    schema.get("deprecated").and_then(Value::as_bool) == Some(true)
}

/// The types that a schema allows, without null.
fn types(schema: &Value) -> Vec<&str> {
    let types = match schema.get("type") {
        Some(Value::String(one)) => vec![one.as_str()],
        _ => texts(schema, "type"),
    };
    types.into_iter().filter(|name| *name != "null").collect()
}

/// The texts in a list of a schema.
fn texts<'a>(schema: &'a Value, keyword: &str) -> Vec<&'a str> {
    schema.get(keyword).and_then(Value::as_array).into_iter().flatten().filter_map(Value::as_str).collect()
}

/// The first sentence of the description of a key.
fn about(schema: &Value, root: &Value) -> Option<String> {
    let text = schema.get("description").or_else(|| resolve(schema, root).get("description"))?.as_str()?;
    let sentence = text.split_inclusive(". ").next().unwrap_or(text);
    Some(sentence.trim().trim_end_matches('.').replace('\n', " "))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn references_nulls_and_nested_alternatives_are_resolved() {
        let root = json!({"$defs": {
            "Radius": {"anyOf": [{"type": "string", "const": "paper"}, {"type": "number", "exclusiveMinimum": 0}]},
        }});
        let schema = json!({"anyOf": [{"$ref": "#/$defs/Radius"}, {"type": "null"}]});
        let number = NumberShape { whole: false, exclusive_minimum: Some(0.0), ..NumberShape::read(false, &root) };
        let name = ChoiceName { name: "paper", former: false };
        assert_eq!(
            SchemaShape::read(&schema, &root),
            SchemaShape::Mixed(vec![SchemaShape::Choice(vec![name]), SchemaShape::Number(number)])
        );
        assert_eq!(SchemaShape::read(&json!({"type": ["boolean", "null"]}), &root), SchemaShape::Bool);
    }

    #[test]
    fn former_names_are_accepted_but_not_listed() {
        let kind = |name: &str| json!({"type": "object", "properties": {"kind": {"const": name}}});
        let (mut fitted, mut race) = (kind("fitted"), kind("old"));
        fitted["aliases"] = json!(["race"]);
        race["deprecated"] = json!(true);
        let schema = json!({"oneOf": [fitted, kind("step"), race]});
        let shape = SchemaShape::read(&schema, &schema);
        assert!(["fitted", "race", "step", "old"].iter().all(|kind| shape.table_of_kind(kind).is_some()));
        let SchemaShape::Tagged(tables) = &shape else { panic!("{shape:?}") };
        assert_eq!(tables.iter().filter_map(TaggedTable::listed).collect::<Vec<_>>(), ["fitted", "step"]);
    }

    #[test]
    fn games_and_policies_are_tagged_by_kind() {
        assert!(matches!(game_shape(), SchemaShape::Tagged(kinds) if kinds.len() > 5));
        assert!(policy_shape().table_of_kind("exp3").is_some_and(|table| table.key("label").is_some()));
    }
}
