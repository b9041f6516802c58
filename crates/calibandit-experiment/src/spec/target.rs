//! The targets of a sweep's keys, such as `game.memory`, `policy.memory_bound`, `policy.SE.radius` and
//! `live.lanes`.

use super::diagnostic::{DiagnosticKind, Finding};
use super::shape::{SchemaShape, game_shape, live_shape, policy_shape};
use super::suggest::nearest;
use super::value::{Data, SourceSpan, SpannedValue};

/// The tables of a file that a sweep changes.
#[derive(Clone, Debug)]
pub(crate) struct SweptTables {
    pub(crate) game: SpannedValue,
    pub(crate) policies: Vec<SpannedValue>,
    /// The labels of the policies, which are unique.
    pub(crate) labels: Vec<String>,
    pub(crate) live: Option<SpannedValue>,
}

/// What a key of a sweep sets.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum SweepTarget {
    /// Keys and list positions, from the table of the game down.
    Game(Vec<String>),
    /// One key of these policies.
    Policies { indices: Vec<usize>, key: String },
    /// One key of live use.
    Live(String),
}

impl SweepTarget {
    /// The target of `text`, a key of the sweep at `span`.
    pub(crate) fn find(text: &str, span: &SourceSpan, tables: &SweptTables) -> Result<Self, Box<Finding>> {
        let unknown = |message: String| {
            let meant = meant(text, &candidates(tables));
            let finding = Finding::new(span.clone(), format!("sweep.{text}"), DiagnosticKind::UnknownKey, message);
            let help = "the keys of a sweep are \"game.KEY\", \"policy.KEY\" (for every policy that has it), \
                 \"policy.LABEL.KEY\" or \"live.KEY\"";
            Box::new(finding.suggest(meant).help(help))
        };
        if let Some(path) = text.strip_prefix("game.") {
            let steps: Vec<String> = path.split('.').map(str::to_owned).collect();
            let known = steps.first().is_some_and(|first| keys(&tables.game, game_shape()).contains(&first.as_str()));
            let mut game = tables.game.clone();
            if known && parent(&mut game, &steps).is_some() {
                return Ok(Self::Game(steps));
            }
            return Err(unknown(format!("the game has no key `{path}` to sweep")));
        }
        if let Some(key) = text.strip_prefix("live.") {
            return match live_keys().contains(&key) {
                true => Ok(Self::Live(key.to_owned())),
                false => Err(unknown(format!("live use has no key `{key}` to sweep"))),
            };
        }
        let Some(path) = text.strip_prefix("policy.") else {
            return Err(unknown(format!("no key `{text}` exists to sweep")));
        };
        let having = |key: &str| -> Vec<usize> {
            let has = |policy: &SpannedValue| keys(policy, policy_shape()).contains(&key);
            (0..tables.policies.len()).filter(|&i| key != "label" && has(&tables.policies[i])).collect()
        };
        let everywhere = having(path);
        if !everywhere.is_empty() {
            return Ok(Self::Policies { indices: everywhere, key: path.to_owned() });
        }
        let labelled = tables.labels.iter().enumerate().find_map(|(i, label)| {
            let key = path.strip_prefix(label.as_str())?.strip_prefix('.')?;
            having(key).contains(&i).then(|| Self::Policies { indices: vec![i], key: key.to_owned() })
        });
        labelled.ok_or_else(|| unknown(format!("no policy has a key `{path}` to sweep")))
    }

    /// Puts a value into the tables.
    pub(crate) fn set(&self, tables: &mut SweptTables, key_span: &SourceSpan, value: &SpannedValue) {
        match self {
            Self::Game(steps) => {
                let Some((table, last)) = parent(&mut tables.game, steps).zip(steps.last()) else { return };
                match (&mut table.data, last.parse::<usize>()) {
                    (Data::List(items), Ok(index)) => {
                        if let Some(item) = items.get_mut(index) {
                            *item = value.clone();
                        }
                    }
                    _ => table.set(last, key_span, value.clone()),
                }
            }
            Self::Policies { indices, key } => {
                for &index in indices {
                    tables.policies[index].set(key, key_span, value.clone());
                }
            }
            Self::Live(key) => {
                let empty = || SpannedValue { span: key_span.clone(), data: Data::Table(Vec::new()) };
                tables.live.get_or_insert_with(empty).set(key, key_span, value.clone());
            }
        }
    }
}

/// The table or list that contains the last of these steps, if it exists.
fn parent<'a>(value: &'a mut SpannedValue, steps: &[String]) -> Option<&'a mut SpannedValue> {
    let (last, before) = steps.split_last()?;
    let mut value = value;
    for step in before {
        value = match &mut value.data {
            Data::Table(entries) => &mut entries.iter_mut().find(|entry| entry.key == *step)?.value,
            Data::List(items) => items.get_mut(step.parse::<usize>().ok()?)?,
            _ => return None,
        };
    }
    match &value.data {
        Data::Table(_) => Some(value),
        Data::List(items) if last.parse::<usize>().is_ok_and(|index| index < items.len()) => Some(value),
        _ => None,
    }
}

/// The keys that a game or a policy of this kind can have.
fn keys(table: &SpannedValue, shape: &SchemaShape<'static>) -> Vec<&'static str> {
    let kind = table.get("kind").and_then(SpannedValue::text);
    let known = kind.and_then(|kind| shape.table_of_kind(kind));
    known.into_iter().flat_map(|table| &table.keys).map(|key| key.name).collect()
}

/// The keys of live use.
fn live_keys() -> Vec<&'static str> {
    live_shape().tables().into_iter().flat_map(|table| &table.keys).map(|key| key.name).collect()
}

/// The candidate that was probably meant by `text`. Only what follows `game.`, `policy.` or `live.` is compared,
/// because the prefix is the same in many candidates.
fn meant(text: &str, candidates: &[String]) -> Option<String> {
    let split = |name: &str| match name.split_once('.') {
        Some((table @ ("game" | "policy" | "live"), key)) => (Some(table.to_owned()), key.to_owned()),
        _ => (None, name.to_owned()),
    };
    let (table, key) = split(text);
    let fitting = candidates.iter().map(|name| (name, split(name)));
    let fitting: Vec<_> = fitting.filter(|(_, (other, _))| table.is_none() || *other == table).collect();
    let near = nearest(&key, fitting.iter().map(|(_, (_, key))| key.as_str()))?;
    fitting.iter().find(|(_, (_, key))| key == near).map(|(name, _)| (*name).clone())
}

/// Every key that can be swept, the most general first.
fn candidates(tables: &SweptTables) -> Vec<String> {
    let mut all: Vec<String> = keys(&tables.game, game_shape()).iter().map(|key| format!("game.{key}")).collect();
    let own = tables.policies.iter().zip(&tables.labels).map(|(policy, label)| (label, keys(policy, policy_shape())));
    let own: Vec<_> = own.collect();
    all.extend(own.iter().flat_map(|(_, keys)| keys.iter().map(|key| format!("policy.{key}"))));
    all.extend(own.iter().flat_map(|(label, keys)| keys.iter().map(move |key| format!("policy.{label}.{key}"))));
    all.extend(live_keys().iter().map(|key| format!("live.{key}")));
    all.retain(|name| !name.ends_with(".kind") && !name.ends_with(".label"));
    all
}
