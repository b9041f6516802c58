//! Checks a tree against a JSON schema, with messages for people.
//!
//! The schema is generated from the types that the tree is read into, so keys, types, choices and defaults have one
//! source. Only the keywords that such schemas contain are understood; what a schema cannot say is checked where
//! the meaning is known, in [`expand`](super::expand).

use serde_json::{Map, Value};

use super::error::{MOST_PROBLEMS, Problem, SpecErrorKind};
use super::suggest::{nearest, one_of};
use super::tree::{Data, Span, Tree};

/// Where in the document the check is.
#[derive(Clone, Debug)]
pub(crate) struct At {
    /// The full key, `policy[1].memory_bound`; empty at the top.
    pub(crate) path: String,
    /// The last part of it.
    pub(crate) name: String,
}

impl At {
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
}

/// Everything that is wrong with a tree by a schema. `root` is the whole schema, for references.
pub(crate) fn check(tree: &Tree, schema: &Value, root: &Value, at: &At) -> Vec<Problem> {
    let mut checker = Checker { root, problems: Vec::new() };
    checker.check(tree, schema, at);
    checker.problems
}

/// The schema itself behind references.
pub(crate) fn resolve<'a>(schema: &'a Value, root: &'a Value) -> &'a Value {
    let mut schema = schema;
    // Generated schemas have no circles of bare references; the limit keeps a hand-written one from hanging.
    for _ in 0..16 {
        let Some(pointer) = schema.get("$ref").and_then(Value::as_str).and_then(|target| target.strip_prefix('#'))
        else {
            break;
        };
        let Some(target) = root.pointer(pointer) else { break };
        schema = target;
    }
    schema
}

/// The alternatives of a schema, alternatives of alternatives included, without null.
pub(crate) fn variants<'a>(schema: &'a Value, root: &'a Value) -> Vec<&'a Value> {
    let schema = resolve(schema, root);
    match ["oneOf", "anyOf"].iter().find_map(|keyword| schema.get(*keyword)?.as_array()) {
        Some(parts) => parts.iter().flat_map(|part| variants(part, root)).collect(),
        None if schema.get("type").and_then(Value::as_str) == Some("null") => Vec::new(),
        None => vec![schema],
    }
}

/// The value that a table variant wants its tag to have.
pub(crate) fn tag_of<'a>(variant: &'a Value, tag: &str) -> Option<&'a str> {
    variant.pointer(&format!("/properties/{tag}/const"))?.as_str()
}

/// Former names of a kind, a choice or a key, which are still read: the schema's own keyword `aliases`.
fn aliases(schema: &Value) -> impl Iterator<Item = &str> {
    schema.get("aliases").and_then(Value::as_array).into_iter().flatten().filter_map(Value::as_str)
}

/// The schema of a key, by its name or a former name.
fn property<'a>(known: &'a Map<String, Value>, key: &str) -> Option<&'a Value> {
    known.get(key).or_else(|| known.values().find(|inner| aliases(inner).any(|alias| alias == key)))
}

struct Checker<'a> {
    root: &'a Value,
    problems: Vec<Problem>,
}

impl<'a> Checker<'a> {
    fn report(&mut self, problem: Problem) {
        self.problems.push(problem);
    }

    fn check(&mut self, tree: &Tree, schema: &'a Value, at: &At) {
        let variants = variants(schema, self.root);
        match variants.as_slice() {
            [] => {}
            [only] => self.check_one(tree, only, at),
            several => self.check_variants(tree, several, at),
        }
    }

    /// A schema without alternatives.
    fn check_one(&mut self, tree: &Tree, schema: &'a Value, at: &At) {
        let choices = choices(schema);
        if !choices.is_empty() {
            return self.check_choice(tree, &[schema], at);
        }
        let types = types(schema);
        if !types.is_empty() && !types.iter().any(|wanted| fits(tree, wanted)) {
            return self.report(self.wrong_type(tree, &[schema], at));
        }
        match &tree.data {
            Data::Integer(_) | Data::Float(_) => self.check_number(tree, schema, at),
            Data::Text(text) => {
                if text.is_empty() && schema.get("minLength").is_some() {
                    let message = format!("`{}` must not be empty", at.name);
                    self.report(Problem::new(tree.span.clone(), &at.path, SpecErrorKind::ImpossibleValue, message));
                }
            }
            Data::List(items) => {
                let least = schema.get("minItems").and_then(Value::as_u64).unwrap_or(0);
                if (items.len() as u64) < least {
                    let message =
                        format!("`{}` must have at least {least} value{}", at.name, if least == 1 { "" } else { "s" });
                    self.report(Problem::new(tree.span.clone(), &at.path, SpecErrorKind::ImpossibleValue, message));
                }
                if let Some(inner) = schema.get("items") {
                    for (index, item) in items.iter().enumerate() {
                        if self.problems.len() >= MOST_PROBLEMS {
                            return;
                        }
                        self.check(item, inner, &at.item(index));
                    }
                }
            }
            Data::Table(_) => self.check_table(tree, schema, at),
            Data::Bool(_) | Data::Date(_) => {}
        }
    }

    fn check_variants(&mut self, tree: &Tree, variants: &[&'a Value], at: &At) {
        let tables: Vec<&'a Value> = variants.iter().copied().filter(|v| types(v).contains(&"object")).collect();
        if let Data::Table(_) = tree.data {
            if tables.len() > 1 && tables.iter().all(|variant| tag_of(variant, "kind").is_some()) {
                return self.check_tagged(tree, &tables, at);
            }
            if let [only] = tables.as_slice() {
                return self.check_one(tree, only, at);
            }
            if tables.len() > 1 {
                return self.check_named(tree, &tables, at);
            }
        }
        let passes = |variant: &&&'a Value| check(tree, variant, self.root, at).is_empty();
        if variants.iter().any(|variant| passes(&variant)) {
            return;
        }
        if tree.text().is_some() && variants.iter().any(|variant| !choices(variant).is_empty()) {
            return self.check_choice(tree, variants, at);
        }
        // Exactly one alternative of the right type: what is wrong is inside it.
        let fitting: Vec<&'a Value> = variants
            .iter()
            .copied()
            .filter(|v| choices(v).is_empty() && types(v).iter().any(|wanted| fits(tree, wanted)))
            .collect();
        match fitting.as_slice() {
            [only] => self.check_one(tree, only, at),
            _ => self.report(self.wrong_type(tree, variants, at)),
        }
    }

    /// Tables that say by their `kind` which keys they have.
    fn check_tagged(&mut self, tree: &Tree, variants: &[&'a Value], at: &At) {
        let kinds = || variants.iter().filter_map(|variant| tag_of(variant, "kind"));
        let Some(kind) = tree.get("kind") else {
            // A near miss of the word `kind` itself is the likelier mistake.
            let near =
                tree.entries().iter().find(|entry| nearest(&entry.key, ["kind"]).is_some() && entry.key != "name");
            let problem = match near {
                Some(entry) => unknown_key(&entry.key, &entry.key_span, at).suggest(Some("kind")),
                None => missing_key("kind", tree, at),
            };
            return self.report(problem.help(format!("the kinds are {}", one_of(kinds()))));
        };
        let at_kind = at.key("kind");
        let Some(given) = kind.text() else {
            let message = format!("`kind` must be one of {}, but is {}", one_of(kinds()), kind.name());
            return self.report(Problem::new(kind.span.clone(), at_kind.path, SpecErrorKind::WrongType, message));
        };
        let is_given = |variant: &&&'a Value| {
            tag_of(variant, "kind") == Some(given) || aliases(variant).any(|alias| alias == given)
        };
        match variants.iter().find(is_given) {
            Some(variant) => self.check_table(tree, variant, at),
            None => {
                let message =
                    format!("there is no kind {given:?} of {}", at.name.split('[').next().unwrap_or_default());
                let problem = Problem::new(kind.span.clone(), at_kind.path, SpecErrorKind::ImpossibleValue, message)
                    .suggest(nearest(given, kinds()))
                    .help(format!("the kinds are {}", one_of(kinds())));
                self.report(problem);
            }
        }
    }

    /// Tables with one key each, whose name says which alternative it is.
    fn check_named(&mut self, tree: &Tree, variants: &[&'a Value], at: &At) {
        let keys = |variant: &'a Value| {
            variant.get("properties").and_then(Value::as_object).into_iter().flat_map(|p| p.keys())
        };
        let chosen = tree
            .entries()
            .iter()
            .find_map(|entry| variants.iter().find(|variant| keys(variant).any(|key| *key == entry.key)));
        if let Some(variant) = chosen {
            return self.check_table(tree, variant, at);
        }
        let names: Vec<&str> = variants.iter().flat_map(|variant| keys(variant)).map(String::as_str).collect();
        let problem = match tree.entries().first() {
            Some(entry) => unknown_key(&entry.key, &entry.key_span, &at.key(&entry.key))
                .suggest(nearest(&entry.key, names.iter().copied())),
            None => missing_key(names.first().copied().unwrap_or_default(), tree, at),
        };
        self.report(problem.help(format!("the keys are {}", one_of(names))));
    }

    fn check_table(&mut self, tree: &Tree, schema: &'a Value, at: &At) {
        let known = schema.get("properties").and_then(Value::as_object);
        let other = schema.get("additionalProperties");
        if tree.entries().is_empty() && schema.get("minProperties").is_some() {
            let message = format!("`{}` must have at least one key", at.name);
            self.report(Problem::new(tree.span.clone(), &at.path, SpecErrorKind::ImpossibleValue, message));
        }
        let free = known.into_iter().flat_map(|known| known.keys()).map(String::as_str);
        let free: Vec<&str> = free.filter(|key| tree.get(key).is_none()).collect();
        for entry in tree.entries() {
            if self.problems.len() >= MOST_PROBLEMS {
                return;
            }
            let at_key = at.key(&entry.key);
            match (known.and_then(|known| property(known, &entry.key)), other) {
                // The tag of this table, by a former name.
                (Some(_), _) if aliases(schema).any(|alias| entry.tree.text() == Some(alias)) => {}
                (Some(inner), _) => self.check(&entry.tree, inner, &at_key),
                (None, Some(Value::Bool(false))) => {
                    let problem = unknown_key(&entry.key, &entry.key_span, &at_key)
                        .suggest(nearest(&entry.key, free.iter().copied()));
                    let help = self.where_it_belongs(&entry.key, schema, at, &free);
                    self.report(match (&problem.suggestion, help) {
                        (_, Help::Elsewhere(help)) => problem.help(help).suggest(None::<&str>),
                        (None, Help::Keys(help)) => problem.help(help),
                        _ => problem,
                    });
                }
                (None, Some(inner)) if inner.is_object() => self.check(&entry.tree, inner, &at_key),
                _ => {}
            }
        }
        for key in schema.get("required").and_then(Value::as_array).into_iter().flatten().filter_map(Value::as_str) {
            // A key that is there under a wrong name has been reported already.
            let misspelt = tree.entries().iter().any(|entry| {
                known.is_some_and(|known| property(known, &entry.key).is_none()) && nearest(&entry.key, [key]).is_some()
            });
            if tree.get(key).is_none() && !misspelt {
                let about = known.and_then(|known| known.get(key)).and_then(|inner| self.about(inner));
                let problem = missing_key(key, tree, at);
                self.report(match about {
                    Some(about) => problem.help(format!("`{key}`: {about}")),
                    None => problem,
                });
            }
        }
    }

    fn check_choice(&mut self, tree: &Tree, variants: &[&'a Value], at: &At) {
        let names: Vec<&str> = variants.iter().flat_map(|variant| choices(variant)).collect();
        match tree.text() {
            Some(given) if names.contains(&given) => {}
            Some(given) if variants.iter().flat_map(|variant| aliases(variant)).any(|alias| alias == given) => {}
            Some(given) => {
                let message = format!("`{}` must be {}, but is {}", at.name, self.expected(variants), tree.name());
                let problem = Problem::new(tree.span.clone(), &at.path, SpecErrorKind::ImpossibleValue, message);
                let unquoted = given.parse::<f64>().is_ok() && variants.iter().any(|v| types(v).contains(&"number"));
                let meant = if unquoted { Some(given) } else { nearest(given, names) };
                let problem = problem.suggest(meant);
                self.report(match variants.iter().find(|variant| table_name(variant) == Some(given)) {
                    Some(_) => problem.help(format!("write `{} = {{ {given} = {{ ... }} }}`", at.name)),
                    None => problem,
                });
            }
            None => self.report(self.wrong_type(tree, variants, at)),
        }
    }

    fn check_number(&mut self, tree: &Tree, schema: &'a Value, at: &At) {
        let value = match tree.data {
            Data::Integer(value) => value as f64,
            Data::Float(value) => value,
            _ => return,
        };
        let limit = |keyword: &str| schema.get(keyword).and_then(Value::as_f64);
        let wanted = if matches!(tree.data, Data::Integer(value) if i64::try_from(value).is_err()) {
            // TOML has no larger ones, so the experiment could not be written as a file.
            Some(format!("a whole number from {} to {}", i64::MIN, i64::MAX))
        } else if !value.is_finite() {
            Some("a finite number".to_owned())
        } else if let Some(least) = limit("minimum").filter(|least| value < *least) {
            Some(format!("at least {least}"))
        } else if let Some(most) = limit("maximum").filter(|most| value > *most) {
            Some(format!("at most {most}"))
        } else if let Some(least) = limit("exclusiveMinimum").filter(|least| value <= *least) {
            Some(format!("more than {least}"))
        } else {
            limit("exclusiveMaximum").filter(|most| value >= *most).map(|most| format!("less than {most}"))
        };
        if let Some(wanted) = wanted {
            let message = format!("`{}` must be {wanted}, but is {}", at.name, tree.name());
            self.report(Problem::new(tree.span.clone(), &at.path, SpecErrorKind::ImpossibleValue, message));
        }
    }

    fn wrong_type(&self, tree: &Tree, wanted: &[&'a Value], at: &At) -> Problem {
        let message = format!("`{}` must be {}, but is {}", at.name, self.expected(wanted), tree.name());
        let problem = Problem::new(tree.span.clone(), &at.path, SpecErrorKind::WrongType, message);
        let wants = |name: &str| wanted.iter().any(|schema| types(schema).contains(&name));
        match &tree.data {
            Data::Text(text) if wants("integer") && text.parse::<i64>().is_ok() => problem.suggest(Some(text)),
            Data::Text(text) if wants("number") && text.parse::<f64>().is_ok_and(f64::is_finite) => {
                problem.suggest(Some(text))
            }
            Data::Float(value) if wants("integer") && value.fract() == 0.0 && value.abs() < 9e15 => {
                problem.suggest(Some(format!("{value}")))
            }
            Data::Table(_) if wants("array") => problem
                .help(format!("there may be several: write `[[{}]]`, with two brackets, over each table", at.name)),
            Data::List(_) if wants("object") => problem.help(format!("there is only one: write `[{}]`", at.name)),
            Data::Integer(_) | Data::Float(_) | Data::Text(_) | Data::Bool(_) if wants("array") => {
                problem.help("write the values in brackets, with commas between them")
            }
            _ => problem,
        }
    }

    /// What these alternatives want, in words.
    fn expected(&self, variants: &[&'a Value]) -> String {
        let mut parts: Vec<String> = Vec::new();
        for variant in variants {
            let choices = choices(variant);
            match (choices.is_empty(), types(variant).first()) {
                (false, _) => parts.extend(choices.iter().map(|choice| format!("{choice:?}"))),
                (true, Some(&"integer")) => parts.push("a whole number".to_owned()),
                (true, Some(&"number")) => parts.push("a number".to_owned()),
                (true, Some(&"string")) => parts.push("a text in quotes".to_owned()),
                (true, Some(&"boolean")) => parts.push("true or false".to_owned()),
                (true, Some(&"array")) => parts.push("a list".to_owned()),
                (true, Some(&"object")) => match table_name(variant) {
                    Some(name) => parts.push(format!("{{ {name} = ... }}")),
                    None => parts.push("a table".to_owned()),
                },
                (true, _) => parts.push("something else".to_owned()),
            }
        }
        parts.dedup();
        match (parts.pop(), parts.is_empty()) {
            (Some(last), false) => format!("{} or {last}", parts.join(", ")),
            (last, _) => last.unwrap_or_default(),
        }
    }

    /// The first sentence of a key's description.
    fn about(&self, schema: &'a Value) -> Option<String> {
        let text = schema.get("description").or_else(|| resolve(schema, self.root).get("description"))?.as_str()?;
        let sentence = text.split_inclusive(". ").next().unwrap_or(text);
        Some(sentence.trim().trim_end_matches('.').replace('\n', " "))
    }

    fn where_it_belongs(&self, key: &str, schema: &Value, at: &At, free: &[&str]) -> Help {
        let top = self.root.get("properties").and_then(Value::as_object);
        if !at.path.is_empty() && top.is_some_and(|top| top.contains_key(key)) {
            return Help::Elsewhere(format!("`{key}` belongs at the top of the file, before the first table"));
        }
        let has = |table: &str| {
            let inner = top.and_then(|top| top.get(table)).map(|inner| resolve(inner, self.root));
            let inner = inner.map(|inner| inner.get("items").unwrap_or(inner));
            inner.is_some_and(|inner| {
                variants(inner, self.root).iter().any(|v| v.pointer(&format!("/properties/{key}")).is_some())
            })
        };
        let tables = ["game", "policy", "figure", "checkpoints"];
        if let Some(table) = tables.into_iter().find(|table| at.path.is_empty() && has(table)) {
            let brackets = if table == "policy" { "[[policy]]".to_owned() } else { format!("[{table}]") };
            return Help::Elsewhere(format!("`{key}` belongs under `{brackets}`"));
        }
        let of = tag_of(schema, "kind").map(|kind| format!(" of kind {kind:?}")).unwrap_or_default();
        if free.is_empty() {
            return Help::Keys(format!("all keys{of} are there already"));
        }
        Help::Keys(format!("other keys{of} are {}", one_of(free.iter().copied())))
    }
}

enum Help {
    Elsewhere(String),
    Keys(String),
}

fn unknown_key(key: &str, span: &Span, at: &At) -> Problem {
    Problem::new(span.clone(), &at.path, SpecErrorKind::UnknownKey, format!("unknown key `{key}`"))
}

fn missing_key(key: &str, tree: &Tree, at: &At) -> Problem {
    let place = if at.path.is_empty() { "the file".to_owned() } else { format!("`{}`", at.path) };
    let message = format!("the key `{key}` is missing from {place}");
    Problem::new(tree.span.clone(), at.key(key).path, SpecErrorKind::MissingKey, message)
}

/// The key of a table that has just one, whose name says which alternative it is.
fn table_name(schema: &Value) -> Option<&str> {
    match schema.get("required")?.as_array()?.as_slice() {
        [Value::String(only)] if schema.get("properties")?.as_object()?.len() == 1 => Some(only),
        _ => None,
    }
}

/// The texts a schema allows, if it is a choice between texts.
fn choices(schema: &Value) -> Vec<&str> {
    let one = schema.get("const").and_then(Value::as_str);
    let several = schema.get("enum").and_then(Value::as_array).into_iter().flatten().filter_map(Value::as_str);
    one.into_iter().chain(several).collect()
}

/// The types a schema allows, without null.
fn types(schema: &Value) -> Vec<&str> {
    let types = match schema.get("type") {
        Some(Value::String(one)) => vec![one.as_str()],
        Some(Value::Array(several)) => several.iter().filter_map(Value::as_str).collect(),
        _ => Vec::new(),
    };
    types.into_iter().filter(|name| *name != "null").collect()
}

fn fits(tree: &Tree, wanted: &str) -> bool {
    matches!(
        (&tree.data, wanted),
        (Data::Bool(_), "boolean")
            | (Data::Integer(_), "integer" | "number")
            | (Data::Float(_), "number")
            | (Data::Text(_), "string")
            | (Data::List(_), "array")
            | (Data::Table(_), "object")
    )
}
