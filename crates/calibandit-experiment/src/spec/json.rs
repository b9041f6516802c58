//! A JSON document as a tree of values with the spans of every key and every value, so that errors point into the file
//! as they do for TOML.

use std::collections::HashSet;
use std::ops::Range;

use serde_json::Value;

use super::diagnostic::{DiagnosticKind, Finding};
use super::value::{Data, SpannedEntry, SpannedValue};

/// Whether the text of a file is meant as JSON: the name says so, or the text begins with a brace, as no TOML does.
pub(crate) fn is_json(name: &str, text: &str) -> bool {
    name.to_lowercase().ends_with(".json") || text.trim_start().starts_with('{')
}

/// Parses a JSON text. As in values that programs give, entries that are null are left out.
pub(crate) fn parse(text: &str) -> Result<SpannedValue, Vec<Finding>> {
    let value: Value = serde_json::from_str(text).map_err(|error| vec![syntax_finding(text, &error)])?;
    if !value.is_object() {
        let message = "an experiment in JSON is an object: { \"name\": ..., \"game\": ..., \"policy\": [...] }";
        return Err(vec![Finding::new(Some(0..0), "", DiagnosticKind::WrongType, message)]);
    }
    let mut scanner = Scanner { text, at: 0, findings: Vec::new() };
    let root = scanner.value();
    // Without a span: all defaults may be written out, as in a manifest.
    if scanner.findings.is_empty() { Ok(SpannedValue { span: None, ..root }) } else { Err(scanner.findings) }
}

fn syntax_finding(text: &str, error: &serde_json::Error) -> Finding {
    let line: usize = text.split_inclusive('\n').take(error.line().saturating_sub(1)).map(str::len).sum();
    let at = (line + error.column().saturating_sub(1)).min(text.len());
    let message = error.to_string();
    let message = message.split(" at line ").next().unwrap_or_default();
    Finding::new(Some(at..at), "", DiagnosticKind::Syntax, format!("this is not JSON: {message}"))
}

/// Walks over a text that is known to be JSON.
struct Scanner<'a> {
    text: &'a str,
    at: usize,
    findings: Vec<Finding>,
}

impl Scanner<'_> {
    fn value(&mut self) -> SpannedValue {
        let start = self.next();
        let data = match self.text.as_bytes().get(start) {
            Some(b'{') => Data::Table(self.entries()),
            Some(b'[') => Data::List(self.items()),
            _ => {
                let span = self.scalar();
                let value: Value = serde_json::from_str(&self.text[span]).expect("the whole text is JSON");
                SpannedValue::from_json(&value).data
            }
        };
        SpannedValue { span: Some(start..self.at), data }
    }

    fn entries(&mut self) -> Vec<SpannedEntry> {
        let mut entries: Vec<SpannedEntry> = Vec::new();
        let mut keys: HashSet<String> = HashSet::new();
        self.at += 1;
        while !self.ends(b'}') {
            self.next();
            let key_span = self.scalar();
            let key: String = serde_json::from_str(&self.text[key_span.clone()]).expect("the whole text is JSON");
            self.skip(b':');
            let value = self.value();
            self.skip(b',');
            if !keys.insert(key.clone()) {
                let message = "this key is given twice in the same object";
                let finding = Finding::new(Some(key_span), "", DiagnosticKind::DuplicateKey, message);
                self.findings.push(finding.help("keep one of the two"));
            } else if value.span.clone().is_none_or(|span| &self.text[span] != "null") {
                entries.push(SpannedEntry { key, key_span: Some(key_span), value });
            }
        }
        entries
    }

    fn items(&mut self) -> Vec<SpannedValue> {
        let mut items = Vec::new();
        self.at += 1;
        while !self.ends(b']') {
            items.push(self.value());
            self.skip(b',');
        }
        items
    }

    /// A text, a number or a word.
    fn scalar(&mut self) -> Range<usize> {
        let start = self.at;
        let bytes = self.text.as_bytes();
        if bytes.get(start) == Some(&b'"') {
            self.at += 1;
            while bytes.get(self.at).is_some_and(|&byte| byte != b'"') {
                self.at += if bytes[self.at] == b'\\' { 2 } else { 1 };
            }
            self.at += 1;
        } else {
            let ends = |byte: u8| byte.is_ascii_whitespace() || matches!(byte, b',' | b']' | b'}');
            while bytes.get(self.at).is_some_and(|&byte| !ends(byte)) {
                self.at += 1;
            }
        }
        start..self.at
    }

    /// Goes to the next byte that is not a space, and returns its place.
    fn next(&mut self) -> usize {
        let rest = &self.text.as_bytes()[self.at..];
        self.at += rest.iter().take_while(|byte| byte.is_ascii_whitespace()).count();
        self.at
    }

    /// Skips this byte, if it is the next.
    fn skip(&mut self, byte: u8) -> bool {
        let place = self.next();
        let found = self.text.as_bytes().get(place) == Some(&byte);
        self.at += usize::from(found);
        found
    }

    /// Whether a list or an object ends here.
    fn ends(&mut self, byte: u8) -> bool {
        self.skip(byte) || self.at >= self.text.len()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Experiment;

    #[test]
    fn values_are_those_of_another_parser_and_spans_are_those_of_the_text() {
        let text =
            r#" { "a\"é": [1, -2.5e3, [], {}, true], "n": null, "t" : { "x": "y,}]", "u": 18446744073709551615 } }"#;
        let value = parse(text).unwrap();
        let expected: Value = serde_json::from_str(text).unwrap();
        assert_eq!(value.to_json(), SpannedValue::from_json(&expected).to_json());
        let entry = value.get("t").and_then(|table| table.entry("x")).unwrap();
        assert_eq!(&text[entry.key_span.clone().unwrap()], "\"x\"");
        assert_eq!(&text[entry.value.span.clone().unwrap()], "\"y,}]\"");
    }

    #[test]
    fn mistakes_are_reported_with_their_place() {
        for (text, line, column, part) in [
            ("{\n  \"name\": \"x\"\n  \"horizon\": 1 }", 3, 3, "not JSON"),
            ("{\"name\": \"x\",\n \"name\": \"y\"}", 2, 2, "twice"),
            ("[1]", 1, 1, "is an object"),
            (
                "{\"name\": \"x\", \"horizon\": 9, \"policy\": [{\"kind\": \"ucb1\"}],\n \
                 \"game\": {\"kind\": \"stepp\"}}",
                2,
                19,
                "step",
            ),
        ] {
            let errors = Experiment::from_bytes("x.json", text.as_bytes()).unwrap_err();
            let error = &errors.errors()[0];
            let place = error.position.map(|place| (place.line, place.column));
            assert_eq!(place, Some((line, column)), "{errors}");
            assert!(errors.to_string().contains(part), "{errors}");
        }
    }

    #[test]
    fn experiment_in_json_is_the_one_in_toml() {
        let toml = "name = \"x\"\nhorizon = 100\ngame = { kind = \"step\", arms = 3 }\npolicy = [{ kind = \"ucb1\" }]\n\
                    sweep = { \"game.arms\" = [3, 4] }\n";
        let expected = Experiment::from_toml("x.toml", toml).unwrap();
        let short = r#"{"name": "x", "horizon": 100, "game": {"kind": "step", "arms": 3},
                        "policy": [{"kind": "ucb1"}], "sweep": {"game.arms": [3, 4]}}"#;
        let full = serde_json::to_string_pretty(&expected.to_json().unwrap()).unwrap();
        for (name, text) in [("x.json", short), ("no-extension", short), ("x.json", &full)] {
            let read = Experiment::from_bytes(name, text.as_bytes()).unwrap_or_else(|errors| panic!("{errors}"));
            assert_eq!(read.to_json(), expected.to_json());
        }
    }
}
