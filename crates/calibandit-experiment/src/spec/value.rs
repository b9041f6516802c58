//! A TOML document as a tree of values with the spans of every key and every value.
//!
//! `serde` loses spans inside tagged enums, so everything is checked on this tree before it is read into types.

use std::ops::Range;

use serde_json::{Map, Number, Value};
use toml::de::{DeInteger, DeTable, DeValue};

use super::diagnostic::{DiagnosticKind, Finding};

pub(crate) type SourceSpan = Option<Range<usize>>;

/// A value with its span in the text. Values that were not read from a text have no span.
#[derive(Clone, Debug)]
pub(crate) struct SpannedValue {
    pub(crate) span: SourceSpan,
    pub(crate) data: Data,
}

#[derive(Clone, Debug)]
pub(crate) enum Data {
    Bool(bool),
    Integer(i128),
    Float(f64),
    Text(String),
    /// TOML has dates; no key of an experiment accepts one.
    Date(String),
    List(Vec<SpannedValue>),
    Table(Vec<SpannedEntry>),
}

/// A key of a table with its value, in the order of the file.
#[derive(Clone, Debug)]
pub(crate) struct SpannedEntry {
    pub(crate) key: String,
    pub(crate) key_span: SourceSpan,
    pub(crate) value: SpannedValue,
}

/// A file of another kind has an error in every line; the first ones say enough.
const MOST_SYNTAX_ERRORS: usize = 5;

impl SpannedValue {
    /// Parses a TOML text and reports its first syntax errors.
    pub(crate) fn parse(text: &str) -> Result<Self, Vec<Finding>> {
        let (table, errors) = DeTable::parse_recoverable(text);
        let mut findings: Vec<Finding> = errors.iter().take(MOST_SYNTAX_ERRORS).map(syntax_finding).collect();
        if errors.len() > MOST_SYNTAX_ERRORS {
            let last = findings.pop().expect("there are more errors than this");
            let more = errors.len() - MOST_SYNTAX_ERRORS;
            findings.push(last.help(format!("{more} more lines are not TOML; is this an experiment file?")));
        }
        if findings.is_empty() {
            let value = Self { span: Some(0..0), data: table_data(table.get_ref(), &mut findings) };
            if findings.is_empty() {
                return Ok(value);
            }
        }
        Err(findings)
    }

    /// Converts a JSON value. Null entries of objects are left out.
    pub(crate) fn from_json(value: &Value) -> Self {
        let data = match value {
            Value::Null => Data::Table(Vec::new()),
            Value::Bool(value) => Data::Bool(*value),
            Value::Number(number) => match (number.as_i64(), number.as_u64()) {
                (Some(integer), _) => Data::Integer(integer.into()),
                (None, Some(integer)) => Data::Integer(integer.into()),
                (None, None) => Data::Float(number.as_f64().unwrap_or(f64::NAN)),
            },
            Value::String(text) => Data::Text(text.clone()),
            Value::Array(items) => Data::List(items.iter().map(Self::from_json).collect()),
            Value::Object(map) => Data::Table(
                map.iter()
                    .filter(|(_, value)| !value.is_null())
                    .map(|(key, value)| SpannedEntry {
                        key: key.clone(),
                        key_span: None,
                        value: Self::from_json(value),
                    })
                    .collect(),
            ),
        };
        Self { span: None, data }
    }

    /// The plain value. Integers of more than 64 bits and floats that are not finite become null; the checks refuse
    /// them before.
    pub(crate) fn to_json(&self) -> Value {
        match &self.data {
            Data::Bool(value) => Value::Bool(*value),
            Data::Integer(value) => Number::from_i128(*value).map_or(Value::Null, Value::Number),
            Data::Float(value) => Number::from_f64(*value).map_or(Value::Null, Value::Number),
            Data::Text(text) | Data::Date(text) => Value::String(text.clone()),
            Data::List(items) => items.iter().map(Self::to_json).collect(),
            Data::Table(entries) => Value::Object(
                entries.iter().map(|entry| (entry.key.clone(), entry.value.to_json())).collect::<Map<_, _>>(),
            ),
        }
    }

    /// The entries of a table; empty for other values.
    pub(crate) fn entries(&self) -> &[SpannedEntry] {
        match &self.data {
            Data::Table(entries) => entries,
            _ => &[],
        }
    }

    /// The items of a list; empty for other values.
    pub(crate) fn items(&self) -> &[SpannedValue] {
        match &self.data {
            Data::List(items) => items,
            _ => &[],
        }
    }

    /// The entry of a table with this key.
    pub(crate) fn entry(&self, key: &str) -> Option<&SpannedEntry> {
        self.entries().iter().find(|entry| entry.key == key)
    }

    /// The value of a table's key.
    pub(crate) fn get(&self, key: &str) -> Option<&SpannedValue> {
        self.entry(key).map(|entry| &entry.value)
    }

    /// The value of a table's key, to be changed.
    pub(crate) fn get_mut(&mut self, key: &str) -> Option<&mut SpannedValue> {
        match &mut self.data {
            Data::Table(entries) => entries.iter_mut().find(|entry| entry.key == key).map(|entry| &mut entry.value),
            _ => None,
        }
    }

    /// The text, if this is one.
    pub(crate) fn text(&self) -> Option<&str> {
        match &self.data {
            Data::Text(text) => Some(text),
            _ => None,
        }
    }

    /// Puts a value into a table, or replaces it.
    pub(crate) fn set(&mut self, key: &str, key_span: &SourceSpan, value: SpannedValue) {
        if let Data::Table(entries) = &mut self.data {
            match entries.iter_mut().find(|entry| entry.key == key) {
                Some(entry) => entry.value = value,
                None => entries.push(SpannedEntry { key: key.to_owned(), key_span: key_span.clone(), value }),
            }
        }
    }

    /// The same table without this key.
    pub(crate) fn without(&self, key: &str) -> Self {
        let kept = self.entries().iter().filter(|entry| entry.key != key).cloned().collect();
        Self { span: self.span.clone(), data: Data::Table(kept) }
    }

    /// The value for messages: "the text \"a\"", "5", "a list".
    pub(crate) fn name(&self) -> String {
        match &self.data {
            Data::Bool(value) => value.to_string(),
            Data::Integer(value) => value.to_string(),
            Data::Float(value) => format!("{value:?}"),
            Data::Text(text) if text.chars().count() > 40 => "a long text".to_owned(),
            Data::Text(text) => format!("the text {text:?}"),
            Data::Date(date) => format!("the date {date}"),
            Data::List(_) if self.is_list_of_tables() => "a list of tables".to_owned(),
            Data::List(_) => "a list".to_owned(),
            Data::Table(_) => "a table".to_owned(),
        }
    }

    /// Whether this is a list that has tables and nothing else.
    pub(crate) fn is_list_of_tables(&self) -> bool {
        match &self.data {
            Data::List(items) => !items.is_empty() && items.iter().all(|item| matches!(item.data, Data::Table(_))),
            _ => false,
        }
    }
}

fn syntax_finding(error: &toml::de::Error) -> Finding {
    let message = error.message();
    // Only excessive nesting is reported without a span.
    let span = Some(error.span().unwrap_or(0..0));
    if message == "duplicate key" {
        return Finding::new(
            error.span(),
            "",
            DiagnosticKind::DuplicateKey,
            "this key is given twice in the same table",
        )
        .help("keep one of the two; for several policies, write one `[[policy]]` table for each");
    }
    Finding::new(span, "", DiagnosticKind::Syntax, format!("this is not TOML: {message}"))
}

fn table_data(table: &DeTable<'_>, findings: &mut Vec<Finding>) -> Data {
    let entry = |(key, value): (&toml::Spanned<std::borrow::Cow<'_, str>>, &toml::Spanned<DeValue<'_>>)| SpannedEntry {
        key: key.get_ref().to_string(),
        key_span: Some(key.span()),
        value: spanned(value, findings),
    };
    Data::Table(table.iter().map(entry).collect())
}

fn spanned(value: &toml::Spanned<DeValue<'_>>, findings: &mut Vec<Finding>) -> SpannedValue {
    let span = value.span();
    let data = match value.get_ref() {
        DeValue::String(text) => Data::Text(text.to_string()),
        DeValue::Integer(integer) => integer_data(integer, &span, findings),
        // Numbers that are too large for a float become infinite, which no key accepts.
        DeValue::Float(float) => Data::Float(float.as_str().parse().unwrap_or(f64::NAN)),
        DeValue::Boolean(value) => Data::Bool(*value),
        DeValue::Datetime(date) => Data::Date(date.to_string()),
        DeValue::Array(items) => Data::List(items.iter().map(|item| spanned(item, findings)).collect()),
        DeValue::Table(table) => table_data(table, findings),
    };
    SpannedValue { span: Some(span), data }
}

fn integer_data(integer: &DeInteger<'_>, span: &Range<usize>, findings: &mut Vec<Finding>) -> Data {
    // TOML integers have 64 bits. Refusing larger ones here keeps every later conversion exact.
    let value = i64::from_str_radix(integer.as_str(), integer.radix());
    if value.is_err() {
        let message = format!("this number is too large: whole numbers go from {} to {}", i64::MIN, i64::MAX);
        findings.push(Finding::new(Some(span.clone()), "", DiagnosticKind::ImpossibleValue, message));
    }
    Data::Integer(value.unwrap_or_default().into())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parsing_keeps_values_order_and_spans() {
        let text = "b = 1_000\na.c = [0x10, 1.5]\n[t]\nx = \"y\"";
        let value = SpannedValue::parse(text).unwrap();
        let expected = serde_json::json!({"b": 1000, "a": {"c": [16, 1.5]}, "t": {"x": "y"}});
        assert_eq!(value.to_json(), expected);
        assert_eq!(value.entries().iter().map(|entry| entry.key.as_str()).collect::<Vec<_>>(), ["b", "a", "t"]);
        let span = value.get("t").and_then(|t| t.get("x")).and_then(|x| x.span.clone()).unwrap();
        assert_eq!(&text[span], "\"y\"");
        assert_eq!(SpannedValue::from_json(&expected).to_json(), expected);
    }

    #[test]
    fn all_syntax_errors_are_reported_together() {
        let findings = SpannedValue::parse("a = = 1\nb = 1\nb = 2\n[c").unwrap_err();
        let kinds: Vec<_> = findings.iter().map(|finding| finding.kind).collect();
        assert!(
            kinds.contains(&DiagnosticKind::DuplicateKey) && kinds.contains(&DiagnosticKind::Syntax),
            "{findings:?}"
        );
        let findings = SpannedValue::parse("a = 9223372036854775808\nb = 9223372036854775807").unwrap_err();
        assert_eq!(findings.len(), 1);
    }
}
