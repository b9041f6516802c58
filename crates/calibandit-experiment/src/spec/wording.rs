//! The messages of [`check`](super::check): what was expected, what is unknown, what is missing, where a key belongs.

use super::diagnostic::{DiagnosticKind, Finding};
use super::shape::{ChoiceName, ListShape, NumberShape, SchemaShape, TableShape, TaggedTable};
use super::suggest::{nearest, one_of};
use super::value::{Data, SourceSpan, SpannedValue};

/// A position in the document, by keys.
#[derive(Clone, Debug)]
pub(crate) struct KeyPath {
    /// The full key, `policy[1].memory_bound`; empty at the top.
    pub(crate) path: String,
    /// The last part of it.
    pub(crate) name: String,
}

impl KeyPath {
    pub(crate) fn top() -> Self {
        Self { path: String::new(), name: String::new() }
    }

    pub(crate) fn key(&self, key: &str) -> Self {
        let path = if self.path.is_empty() { key.to_owned() } else { format!("{}.{key}", self.path) };
        Self { path, name: key.to_owned() }
    }

    pub(crate) fn item(&self, index: usize) -> Self {
        Self { path: format!("{}[{index}]", self.path), name: format!("{}[{index}]", self.name) }
    }

    /// The key as the header of a table has it: without positions in lists, `game.arm.loss`.
    fn header(&self) -> String {
        self.path.split('.').map(|key| key.split('[').next().unwrap_or(key)).collect::<Vec<_>>().join(".")
    }
}

/// A value that is impossible: `must` completes "`KEY` must ...".
pub(crate) fn impossible(value: &SpannedValue, at: &KeyPath, must: &str) -> Finding {
    Finding::new(value.span.clone(), &at.path, DiagnosticKind::ImpossibleValue, format!("`{}` must {must}", at.name))
}

pub(crate) fn unknown_key(key: &str, span: &SourceSpan, at: &KeyPath) -> Finding {
    Finding::new(span.clone(), &at.path, DiagnosticKind::UnknownKey, format!("unknown key `{key}`"))
}

pub(crate) fn missing_key(key: &str, table: &SpannedValue, at: &KeyPath) -> Finding {
    let place = if at.path.is_empty() { "the file".to_owned() } else { format!("`{}`", at.path) };
    let message = format!("the key `{key}` is missing from {place}");
    Finding::new(table.span.clone(), at.key(key).path, DiagnosticKind::MissingKey, message)
}

/// A value whose type does not fit.
pub(crate) fn wrong_type(value: &SpannedValue, shape: &SchemaShape<'_>, at: &KeyPath) -> Finding {
    let message = format!("`{}` must be {}, but is {}", at.name, expected(shape), value.name());
    let finding = Finding::new(value.span.clone(), &at.path, DiagnosticKind::WrongType, message);
    let wants = |wanted: fn(&SchemaShape<'_>) -> bool| shape.parts().iter().any(wanted);
    let whole = |part: &SchemaShape<'_>| matches!(part, SchemaShape::Number(NumberShape { whole: true, .. }));
    let number = |part: &SchemaShape<'_>| matches!(part, SchemaShape::Number(NumberShape { whole: false, .. }));
    let list = |part: &SchemaShape<'_>| matches!(part, SchemaShape::List(_));
    match &value.data {
        Data::Text(text) if wants(whole) && text.parse::<i64>().is_ok() => finding.suggest(Some(text)),
        Data::Text(text) if wants(number) && text.parse::<f64>().is_ok_and(f64::is_finite) => {
            finding.suggest(Some(text))
        }
        Data::Float(value) if wants(whole) && value.fract() == 0.0 && value.abs() < 9e15 => {
            finding.suggest(Some(format!("{value}")))
        }
        Data::Table(_) if wants(list) => finding
            .help(format!("there can be several: write `[[{}]]`, with two brackets, above each table", at.header())),
        Data::List(_) if value.is_list_of_tables() && !shape.tables().is_empty() => {
            finding.help(format!("there is only one: write `[{}]`", at.header()))
        }
        Data::Text(text) if shape.tables().iter().any(|table| table.key(text).is_some()) => {
            finding.help(format!("write `{} = {{ {text} = ... }}`", at.name))
        }
        Data::Text(text) if kinds(shape).next().is_some() => finding.help(table_with_kind(text, shape, at)),
        Data::Integer(_) | Data::Float(_) | Data::Text(_) | Data::Bool(_) if wants(list) && !wants(number) => {
            finding.help("write the values in brackets, with commas between them")
        }
        _ => finding,
    }
}

/// The kinds of a table, or of the tables in a list.
fn kinds<'s>(shape: &'s SchemaShape<'_>) -> impl Iterator<Item = &'s str> {
    let of = |part: &'s SchemaShape<'_>| match part {
        SchemaShape::List(ListShape { items: Some(item), .. }) => item.as_ref(),
        part => part,
    };
    let tables = shape.parts().iter().map(of).filter_map(|part| match part {
        SchemaShape::Tagged(tables) => Some(tables),
        _ => None,
    });
    tables.flatten().filter_map(TaggedTable::listed)
}

/// How to write the table of which only the kind was given: `game = "step"`.
fn table_with_kind(given: &str, shape: &SchemaShape<'_>, at: &KeyPath) -> String {
    let several = at.path.ends_with(']') || shape.parts().iter().any(|part| matches!(part, SchemaShape::List(_)));
    let (open, close) = if several { ("[[", "]]") } else { ("[", "]") };
    let header = at.header();
    match nearest(given, kinds(shape)) {
        Some(kind) => format!("write `{open}{header}{close}`, and `kind = {kind:?}` below it"),
        None => {
            format!("write `{open}{header}{close}`, and its `kind` below it: {}", one_of(kinds(shape)))
        }
    }
}

/// What a shape allows, in words.
pub(crate) fn expected(shape: &SchemaShape<'_>) -> String {
    let table = |table: &TableShape<'_>| match table.only_key() {
        Some(name) => format!("{{ {name} = ... }}"),
        None => "a table".to_owned(),
    };
    let of = |part: &SchemaShape<'_>| match part {
        SchemaShape::Any | SchemaShape::Mixed(_) => vec!["any value".to_owned()],
        SchemaShape::Bool => vec!["true or false".to_owned()],
        SchemaShape::Text { .. } => vec!["a text in quotes".to_owned()],
        SchemaShape::Number(NumberShape { whole: true, .. }) => vec!["a whole number".to_owned()],
        SchemaShape::Number(_) => vec!["a number".to_owned()],
        SchemaShape::Choice(names) => listed(names).map(|name| format!("{name:?}")).collect(),
        SchemaShape::List(list) => match list.items.as_deref() {
            Some(SchemaShape::Number(_)) => vec!["a list of numbers".to_owned()],
            _ => vec!["a list".to_owned()],
        },
        SchemaShape::Table(only) => vec![table(only)],
        SchemaShape::Tagged(_) => vec!["a table".to_owned()],
        SchemaShape::Named(tables) => tables.iter().map(table).collect(),
    };
    let mut words: Vec<String> = shape.parts().iter().flat_map(of).collect();
    words.dedup();
    match (words.pop(), words.is_empty()) {
        (Some(last), false) => format!("{} or {last}", words.join(", ")),
        (last, _) => last.unwrap_or_default(),
    }
}

/// The names that messages list: without former ones.
pub(crate) fn listed<'n>(names: &'n [ChoiceName<'_>]) -> impl Iterator<Item = &'n str> {
    names.iter().filter(|choice| !choice.former).map(|choice| choice.name)
}

/// Where a key that is unknown in one table of a file belongs, if it is known elsewhere in the file.
pub(crate) fn where_it_belongs(key: &str, file: &TableShape<'_>, at: &KeyPath) -> Option<String> {
    if !at.path.is_empty() {
        return file.key(key).map(|_| format!("`{key}` belongs at the top of the file, before the first table"));
    }
    let has = |table: &&str| {
        let shape = file.key(table).map(|inner| match &inner.shape {
            SchemaShape::List(list) => list.items.as_deref().unwrap_or(&SchemaShape::Any),
            shape => shape,
        });
        shape.is_some_and(|shape| shape.tables().iter().any(|table| table.key(key).is_some()))
    };
    let table = ["game", "policy", "figure", "checkpoints"].into_iter().find(has)?;
    let brackets = if table == "policy" { "[[policy]]".to_owned() } else { format!("[{table}]") };
    Some(format!("`{key}` belongs under `{brackets}`"))
}

/// The keys that a table could still have. `kind` is the kind of the table, if it has one.
pub(crate) fn other_keys(free: &[&str], kind: Option<&str>) -> String {
    let of = kind.map(|kind| format!(" of kind {kind:?}")).unwrap_or_default();
    if free.is_empty() {
        return format!("all keys{of} are there already");
    }
    format!("other keys{of} are {}", one_of(free.iter().copied()))
}
