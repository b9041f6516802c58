//! One kind of game or policy as a Python function.

use calibandit::catalogue::{CatalogueEntry, Parameter, ValueType};
use serde_json::Value;

use crate::python_type::{literal, python_type};

/// The length of a line in the generated files.
const WIDTH: usize = 116;

/// What the functions of a module return.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum KindOf {
    Policy,
    Game,
}

/// A Python function that builds one kind of game or policy.
pub(crate) struct Function {
    kind_of: KindOf,
    kind: &'static str,
    name: String,
    aliases: Vec<String>,
    documentation: String,
    citation: &'static str,
    arguments: Vec<Argument>,
}

/// One argument of a function.
struct Argument {
    name: String,
    python_type: String,
    /// The default in Python; `None` for a required argument.
    default: Option<String>,
    documentation: String,
}

impl Function {
    pub(crate) fn new<Spec>(entry: &CatalogueEntry<Spec>, kind_of: KindOf) -> Self {
        Self {
            kind_of,
            kind: entry.name,
            name: entry.name.replace('-', "_"),
            aliases: entry.aliases.iter().map(|alias| alias.replace('-', "_")).collect(),
            documentation: entry.documentation.clone(),
            citation: entry.citation,
            arguments: entry.parameters.iter().map(|parameter| Argument::new(parameter, &entry.schema)).collect(),
        }
    }

    /// The name of the function and its former names.
    pub(crate) fn names(&self) -> impl Iterator<Item = &str> {
        std::iter::once(self.name.as_str()).chain(self.aliases.iter().map(String::as_str))
    }

    pub(crate) fn to_python(&self) -> String {
        let (returns, constructor, source) = match self.kind_of {
            KindOf::Policy => ("PolicySpec", "_policy", "Source"),
            KindOf::Game => ("Game", "_game", "In the literature"),
        };
        let mut signature: Vec<String> = vec!["*".to_owned()];
        signature.extend(self.arguments.iter().map(Argument::signature));
        let mut passed = vec![format!("\"{}\"", self.kind)];
        passed.extend(self.arguments.iter().map(|argument| format!("{0}={0}", argument.name)));
        if self.kind_of == KindOf::Policy {
            signature.push("label: str | None = None".to_owned());
            passed.push("label=label".to_owned());
        }
        let mut text = "@_readable\n".to_owned();
        text += &call(&format!("def {}", self.name), &signature, &format!(" -> {returns}:"), "");
        text += &self.docstring(source);
        text += &call(&format!("    return {constructor}"), &passed, "", "    ");
        for alias in &self.aliases {
            text += &format!("\n\n{alias} = {}\n\"\"\"The former name of :func:`{}`.\"\"\"\n", self.name, self.name);
        }
        text
    }

    fn docstring(&self, source: &str) -> String {
        let mut paragraphs = self.documentation.split("\n\n");
        let mut text = wrap(&format!("\"\"\"{}", paragraphs.next().unwrap_or_default()), "    ", "    ");
        for paragraph in paragraphs {
            text += "\n";
            text += &wrap(paragraph, "    ", "    ");
        }
        // The documentation of most games already says where the paper has them.
        if !self.documentation.contains("In the paper:") {
            text += "\n";
            text += &wrap(&format!("{source}: {}.", self.citation.trim_end_matches('.')), "    ", "    ");
        }
        if !self.arguments.is_empty() {
            text += "\n";
        }
        for argument in &self.arguments {
            text += &wrap(&argument.documentation, "    * ", "      ");
        }
        text + "    \"\"\"\n"
    }
}

impl Argument {
    fn new(parameter: &Parameter, schema: &Value) -> Self {
        let python_type = python_type(parameter, &schema["properties"][&parameter.name]);
        // A table cannot be a default value, because Python would share it between calls.
        let constant = parameter.default.as_ref().filter(|value| !value.is_object() && !value.is_null());
        let mut notes = Vec::new();
        if is_informative(&parameter.value_type) {
            notes.push(parameter.values.clone());
        }
        let in_words = parameter.default_in_words().filter(|_| constant.is_none() || parameter.default_rule.is_some());
        notes.extend(in_words.filter(|words| words != "null").map(|words| format!("if None: {words}")));
        let notes = if notes.is_empty() { String::new() } else { format!(" ({})", notes.join("; ")) };
        let meaning = parameter.meaning.replace("\n\n", " ");
        Self {
            documentation: format!("``{}``{notes}: {meaning}", parameter.name),
            name: parameter.name.clone(),
            default: match (parameter.required, constant) {
                (true, _) => None,
                (false, Some(value)) => Some(literal(value)),
                (false, None) => Some("None".to_owned()),
            },
            python_type,
        }
    }

    fn signature(&self) -> String {
        let line = match self.default.as_deref() {
            None => format!("{}: {}", self.name, self.python_type),
            Some("None") => format!("{}: {} | None = None", self.name, self.python_type),
            Some(default) => format!("{}: {} = {default}", self.name, self.python_type),
        };
        // A long list of names gets one line per name.
        match (line.len() + 5 > WIDTH).then(|| line.split_once('[').zip(line.rsplit_once(']'))).flatten() {
            Some(((head, _), (names, tail))) => {
                let names = names[head.len() + 1..].replace(", ", ",\n        ");
                format!("{head}[\n        {names},\n    ]{tail}")
            }
            None => line,
        }
    }
}

/// Whether the Python type of a parameter does not already say which values it can have.
fn is_informative(value_type: &ValueType) -> bool {
    match value_type {
        ValueType::Integer(range) => range.low.is_some_and(|low| low > 0.0) || range.high.is_some(),
        ValueType::Number(range) => range.low.is_some() || range.high.is_some(),
        _ => false,
    }
}

/// `head(items)tail`, on one line if it fits, otherwise with one item per line.
fn call(head: &str, items: &[String], tail: &str, indent: &str) -> String {
    let line = format!("{head}({}){tail}\n", items.join(", "));
    if line.len() <= WIDTH {
        return line;
    }
    let items: String = items.iter().map(|item| format!("{indent}    {item},\n")).collect();
    format!("{head}(\n{items}{indent}){tail}\n")
}

/// Wraps a paragraph at [`WIDTH`] columns.
fn wrap(text: &str, first: &str, rest: &str) -> String {
    let mut lines = String::new();
    let mut line = first.to_owned();
    let mut empty = true;
    for word in text.split_whitespace() {
        if !empty && line.chars().count() + 1 + word.chars().count() > WIDTH {
            lines += &line;
            lines.push('\n');
            line = rest.to_owned();
            empty = true;
        }
        if !empty {
            line.push(' ');
        }
        line += word;
        empty = false;
    }
    lines + &line + "\n"
}
