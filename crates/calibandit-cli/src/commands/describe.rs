//! One kind of policy or game in full: every parameter with its default, its range and the meaning of its values.

use calibandit::catalogue::{CatalogueEntry, Choice, Parameter, ValueType};

use crate::text::{hanging, paragraph};

/// How much deeper each level is indented.
const STEP: &str = "  ";

/// A kind in full; `origin` has lines such as its source, each with a title.
pub(super) fn entry<Spec>(kind: &CatalogueEntry<Spec>, origin: &[(&str, String)], width: usize) -> String {
    let mut text = format!("{}\n", kind.name);
    for part in kind.documentation.split("\n\n") {
        text += &paragraph(part, STEP, width);
        text.push('\n');
    }
    if !kind.aliases.is_empty() {
        text += &paragraph(&format!("Former names: {}", kind.aliases.join(", ")), STEP, width);
    }
    for (title, content) in origin {
        text += &hanging(&format!("{title}: {content}"), STEP, "    ", width);
    }
    if kind.parameters.is_empty() {
        return text + "\nIt has no parameters.\n";
    }
    text += "\nParameters\n";
    for (i, one) in kind.parameters.iter().enumerate() {
        if i > 0 {
            text.push('\n');
        }
        text += &parameter(one, STEP, width);
    }
    text
}

/// The first sentence of a text.
pub(super) fn first_sentence(text: &str) -> &str {
    text.find(". ").map_or(text, |end| &text[..=end])
}

/// A parameter: its name and default, its meaning, its values.
fn parameter(parameter: &Parameter, indent: &str, width: usize) -> String {
    let default = match parameter.default_in_words() {
        _ if parameter.required => " (required)".to_owned(),
        Some(default) => format!(" [default: {default}]"),
        None => String::new(),
    };
    let deeper = format!("{indent}{STEP}");
    let mut text = hanging(&format!("{}{default}", parameter.name), indent, &deeper, width);
    for part in parameter.meaning.split("\n\n").filter(|part| !part.is_empty()) {
        text += &paragraph(part, &deeper, width);
    }
    text + &hanging(&format!("Values: {}", parameter.values), &deeper, &format!("{deeper}{STEP}"), width)
        + &details(&parameter.value_type, &format!("{deeper}{STEP}"), width)
}

/// What the description of a type in words leaves open: the meanings of names, and the keys of tables.
fn details(values: &ValueType, indent: &str, width: usize) -> String {
    let deeper = format!("{indent}{STEP}");
    match values {
        ValueType::Choice(choices) => {
            let explained = choices.iter().filter(|choice| !choice.meaning.is_empty());
            let line = |Choice { name, meaning, .. }: &Choice| {
                hanging(&format!("{name}: {}", meaning.replace("\n\n", " ")), indent, &deeper, width)
            };
            explained.map(line).collect()
        }
        ValueType::List { items, .. } => details(items, indent, width),
        ValueType::Table { fields, .. } => fields.iter().map(|field| parameter(field, indent, width)).collect(),
        ValueType::AnyOf(types) => types.iter().map(|each| alternative(each, indent, width)).collect(),
        _ => String::new(),
    }
}

/// One of several types. The only key of a table says which one it is: then it is not called required.
fn alternative(values: &ValueType, indent: &str, width: usize) -> String {
    match values {
        ValueType::Table { fields, .. } if fields.len() == 1 => {
            let mut key = fields[0].clone();
            key.required = false;
            parameter(&key, indent, width)
        }
        _ => details(values, indent, width),
    }
}
