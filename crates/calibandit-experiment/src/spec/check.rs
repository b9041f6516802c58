//! Checks a document against the shape of its schema and reports everything that does not fit.
//!
//! The check is by structure only: keys, types, choices and limits. What a schema cannot express is checked where the
//! meaning is known, in [`expand`](super::expand) and [`read`](super::read).

use super::diagnostic::{DiagnosticKind, Finding, MOST_FINDINGS};
use super::shape::{
    ChoiceName, KeyShape, ListShape, NumberShape, OtherKeys, SchemaShape, TableShape, TaggedTable, file_shape,
};
use super::suggest::{nearest, one_of};
use super::value::{Data, SpannedValue};
use super::wording::{
    KeyPath, expected, impossible, listed, missing_key, other_keys, unknown_key, where_it_belongs, wrong_type,
};

/// Everything that does not fit in a whole experiment file.
pub(crate) fn check_file(file: &SpannedValue) -> Vec<Finding> {
    let mut checker = Checker { file: Some(file_shape()), findings: Vec::new() };
    match file.data {
        Data::Table(_) => checker.check_table(file, file_shape(), None, &KeyPath::top()),
        _ => checker.report(wrong_type(file, &SchemaShape::Table(file_shape().clone()), &KeyPath::top().key("file"))),
    }
    checker.findings
}

/// Everything that does not fit in a part of an experiment file.
pub(crate) fn check_part(value: &SpannedValue, shape: &SchemaShape<'_>, at: &KeyPath) -> Vec<Finding> {
    let mut checker = Checker { file: Some(file_shape()), findings: Vec::new() };
    checker.check(value, shape, at);
    checker.findings
}

/// Everything that does not fit in a game or a policy that is not part of a file: messages do not refer to other
/// tables.
pub(crate) fn check_alone(value: &SpannedValue, shape: &SchemaShape<'_>, at: &KeyPath) -> Vec<Finding> {
    let mut checker = Checker { file: None, findings: Vec::new() };
    checker.check(value, shape, at);
    checker.findings
}

struct Checker<'f> {
    /// The shape of the file around the value, to say where a misplaced key belongs.
    file: Option<&'f TableShape<'static>>,
    findings: Vec<Finding>,
}

impl Checker<'_> {
    fn report(&mut self, finding: Finding) {
        self.findings.push(finding);
    }

    fn check(&mut self, value: &SpannedValue, shape: &SchemaShape<'_>, at: &KeyPath) {
        if !shape.fits(value) {
            return self.report(wrong_type(value, shape, at));
        }
        match (shape, &value.data) {
            (SchemaShape::Text { may_be_empty: false, .. }, Data::Text(text)) if text.is_empty() => {
                self.report(impossible(value, at, "not be empty"));
            }
            (SchemaShape::Text { longest: Some(most), .. }, Data::Text(text)) => {
                let count = text.chars().count();
                if count as u64 > *most {
                    self.report(impossible(value, at, &format!("have at most {most} characters, but has {count}")));
                }
            }
            (SchemaShape::Number(limits), _) => self.check_number(value, limits, at),
            (SchemaShape::Choice(names), Data::Text(given)) => self.check_choice(value, given, names, shape, at),
            (SchemaShape::List(list), Data::List(items)) => self.check_list(value, items, list, at),
            (SchemaShape::Table(table), _) => self.check_table(value, table, None, at),
            (SchemaShape::Tagged(tables), _) => self.check_tagged(value, tables, at),
            (SchemaShape::Named(tables), _) => self.check_named(value, tables, at),
            (SchemaShape::Mixed(parts), _) => self.check_mixed(value, parts, shape, at),
            _ => {}
        }
    }

    /// Alternatives of different types: the one whose type fits decides.
    fn check_mixed(&mut self, value: &SpannedValue, parts: &[SchemaShape<'_>], whole: &SchemaShape<'_>, at: &KeyPath) {
        let fitting: Vec<&SchemaShape<'_>> = parts.iter().filter(|part| part.fits(value)).collect();
        // `[[loss]]` for `[loss]`: one message about the list says more than one about each table.
        let takes_tables = |part: &&SchemaShape<'_>| match part {
            SchemaShape::List(ListShape { items: Some(item), .. }) => !item.tables().is_empty(),
            _ => true,
        };
        if value.is_list_of_tables() && !fitting.iter().any(takes_tables) {
            return self.report(wrong_type(value, whole, at));
        }
        if let [only] = fitting.as_slice()
            && !matches!(only, SchemaShape::Choice(_))
        {
            return self.check(value, only, at);
        }
        if fitting.iter().any(|part| Checker { file: self.file, findings: Vec::new() }.accepts(value, part, at)) {
            return;
        }
        let names = fitting.iter().find_map(|part| match part {
            SchemaShape::Choice(names) => Some(names),
            _ => None,
        });
        match (names, value.text()) {
            (Some(names), Some(given)) => self.check_choice(value, given, names, whole, at),
            _ => self.report(wrong_type(value, whole, at)),
        }
    }

    fn accepts(mut self, value: &SpannedValue, shape: &SchemaShape<'_>, at: &KeyPath) -> bool {
        self.check(value, shape, at);
        self.findings.is_empty()
    }

    /// SweptTables whose key `kind` says which other keys they have.
    fn check_tagged(&mut self, value: &SpannedValue, tables: &[TaggedTable<'_>], at: &KeyPath) {
        let kinds = || tables.iter().filter_map(TaggedTable::listed);
        let Some(kind) = value.get("kind") else {
            // A misspelt `kind` is more likely than an unknown key next to a missing one.
            let misspelt =
                value.entries().iter().find(|entry| nearest(&entry.key, ["kind"]).is_some() && entry.key != "name");
            let finding = match misspelt {
                Some(entry) => unknown_key(&entry.key, &entry.key_span, at).suggest(Some("kind")),
                None => missing_key("kind", value, at),
            };
            return self.report(finding.help(format!("the kinds are {}", one_of(kinds()))));
        };
        let path = at.key("kind").path;
        let Some(given) = kind.text() else {
            let message = format!("`kind` must be one of {}, but is {}", one_of(kinds()), kind.name());
            return self.report(Finding::new(kind.span.clone(), path, DiagnosticKind::WrongType, message));
        };
        match tables.iter().find(|table| table.is(given)) {
            Some(tagged) => self.check_table(value, &tagged.table, Some(given), at),
            None => {
                let table = at.name.split('[').next().unwrap_or(&at.name);
                let message = format!("there is no kind {given:?} of {table}");
                let finding = Finding::new(kind.span.clone(), path, DiagnosticKind::ImpossibleValue, message)
                    .suggest(nearest(given, kinds()))
                    .help(format!("the kinds are {}", one_of(kinds())));
                self.report(finding);
            }
        }
    }

    /// SweptTables with one key each, whose name says which alternative it is.
    fn check_named(&mut self, value: &SpannedValue, tables: &[TableShape<'_>], at: &KeyPath) {
        let has = |key: &str| tables.iter().find(|table| table.key(key).is_some());
        if let Some(table) = value.entries().iter().find_map(|entry| has(&entry.key)) {
            return self.check_table(value, table, None, at);
        }
        let names: Vec<&str> = tables.iter().flat_map(|table| &table.keys).map(|key| key.name).collect();
        let finding = match value.entries().first() {
            Some(entry) => unknown_key(&entry.key, &entry.key_span, &at.key(&entry.key))
                .suggest(nearest(&entry.key, names.iter().copied())),
            None => missing_key(names.first().copied().unwrap_or_default(), value, at),
        };
        self.report(finding.help(format!("the keys are {}", one_of(names))));
    }

    /// A table; `kind` is its kind, if it has one.
    fn check_table(&mut self, value: &SpannedValue, table: &TableShape<'_>, kind: Option<&str>, at: &KeyPath) {
        if value.entries().is_empty() && !table.may_be_empty {
            self.report(impossible(value, at, "have at least one key"));
        }
        let is_given = |key: &&KeyShape<'_>| value.entries().iter().any(|entry| key.is(&entry.key));
        let free: Vec<&str> = table.keys.iter().filter(|key| !is_given(key)).map(|key| key.name).collect();
        for entry in value.entries() {
            if self.findings.len() >= MOST_FINDINGS {
                return;
            }
            let at_key = at.key(&entry.key);
            match (table.key(&entry.key), &table.others) {
                // Its value, which can be a former name, has selected this table.
                (Some(key), _) if kind.is_some() && key.name == "kind" => {}
                (Some(key), _) => self.check(&entry.value, &key.shape, &at_key),
                (None, OtherKeys::Checked(shape)) => self.check(&entry.value, shape, &at_key),
                (None, OtherKeys::Unchecked) => {}
                (None, OtherKeys::Forbidden) => {
                    let finding = unknown_key(&entry.key, &entry.key_span, &at_key);
                    let elsewhere = self.file.and_then(|file| where_it_belongs(&entry.key, file, at));
                    self.report(match (elsewhere, nearest(&entry.key, free.iter().copied())) {
                        (Some(help), _) => finding.help(help),
                        (None, Some(meant)) => finding.suggest(Some(meant)),
                        (None, None) => finding.help(other_keys(&free, kind)),
                    });
                }
            }
        }
        for key in table.keys.iter().filter(|key| key.required && !is_given(key)) {
            // A misspelt key has been reported already.
            let unknown = value.entries().iter().filter(|entry| table.key(&entry.key).is_none());
            if unknown.into_iter().any(|entry| nearest(&entry.key, [key.name]).is_some()) {
                continue;
            }
            let finding = missing_key(key.name, value, at);
            self.report(match &key.about {
                Some(about) => finding.help(format!("`{}`: {about}", key.name)),
                None => finding,
            });
        }
    }

    fn check_list(&mut self, value: &SpannedValue, items: &[SpannedValue], list: &ListShape<'_>, at: &KeyPath) {
        let count = items.len() as u64;
        let values = |n: u64| if n == 1 { "1 value".to_owned() } else { format!("{n} values") };
        if count < list.least {
            self.report(impossible(value, at, &format!("have at least {}", values(list.least))));
        } else if let Some(most) = list.most.filter(|most| count > *most) {
            self.report(impossible(value, at, &format!("have at most {}, but has {count}", values(most))));
        }
        for (index, item) in items.iter().enumerate() {
            if self.findings.len() >= MOST_FINDINGS {
                return;
            }
            if let Some(shape) = &list.items {
                self.check(item, shape, &at.item(index));
            }
        }
    }

    /// A text that must be one of `names`; `whole` has the other alternatives that messages mention.
    fn check_choice(
        &mut self,
        value: &SpannedValue,
        given: &str,
        names: &[ChoiceName<'_>],
        whole: &SchemaShape<'_>,
        at: &KeyPath,
    ) {
        if names.iter().any(|choice| choice.name == given) {
            return;
        }
        let finding = impossible(value, at, &format!("be {}, but is {}", expected(whole), value.name()));
        let takes_numbers = whole.parts().iter().any(|part| matches!(part, SchemaShape::Number(_)));
        let is_number = takes_numbers && given.parse::<f64>().is_ok();
        let finding = finding.suggest(if is_number { Some(given) } else { nearest(given, listed(names)) });
        self.report(match whole.tables().iter().any(|table| table.only_key() == Some(given)) {
            true => finding.help(format!("write `{} = {{ {given} = {{ ... }} }}`", at.name)),
            false => finding,
        });
    }

    fn check_number(&mut self, value: &SpannedValue, limits: &NumberShape, at: &KeyPath) {
        let number = match value.data {
            // TOML has no larger integers, so the experiment could not be written to a file.
            Data::Integer(number) if i64::try_from(number).is_err() => {
                let least = limits.minimum.map_or(i64::MIN, |least| least as i64);
                let most = limits.maximum.map_or(i64::MAX, |most| most as i64);
                let range = format!("a whole number from {least} to {most}");
                return self.report(impossible(value, at, &format!("be {range}, but is {}", value.name())));
            }
            Data::Integer(number) => number as f64,
            Data::Float(number) => number,
            _ => return,
        };
        // Whole numbers are compared exactly: beyond 2^53, neighbours are the same float.
        let exceeds = |most: &f64| match value.data {
            Data::Integer(number) => number > most.floor() as i128,
            _ => number > *most,
        };
        let wanted = if !number.is_finite() {
            Some("a finite number".to_owned())
        } else if let Some(least) = limits.minimum.filter(|least| number < *least) {
            Some(format!("at least {least}"))
        } else if let Some(most) = limits.maximum.filter(exceeds) {
            Some(format!("at most {most}"))
        } else if let Some(least) = limits.exclusive_minimum.filter(|least| number <= *least) {
            Some(format!("more than {least}"))
        } else {
            limits.exclusive_maximum.filter(|most| number >= *most).map(|most| format!("less than {most}"))
        };
        if let Some(wanted) = wanted {
            self.report(impossible(value, at, &format!("be {wanted}, but is {}", value.name())));
        }
    }
}
