//! Sweeps: an experiment with several values of some keys. Expanding a sweep into points is the job of
//! [`expand`](super::expand).

use std::borrow::Cow;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::ser::SerializeMap;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::{Map, Value, json};

use super::value::{Data, SourceSpan, SpannedEntry, SpannedValue};

/// The grid of an experiment: every combination of the axes, at each of the points.
///
/// ```toml
/// [sweep]
/// "game.memory" = [2, 4, 8]              # a key of the game
/// "policy.memory_bound" = [8, 16]        # a key of every policy that has it
/// "policy.SE, sharp.delta" = [0.1, 0.01] # a key of the policy with this label
/// "live.lanes" = [1, 100]                # a key of live use
/// # One axis that sets several keys at once:
/// constant = { keys = ["policy.SE.radius", "policy.Epoch UCB.exploration"], values = [0.5, 1.0, 2.0] }
/// # Points written out, where a grid has too many:
/// point = [{ "game.memory" = 3, "game.arms" = 5 }, { "game.memory" = 10, "game.arms" = 20 }]
/// ```
///
/// Panels of figures are titled by the values: "m = 3, K = 5". Where a value does not speak for itself, a file gives
/// its title: a written-out point may have a `title`, and an axis with `keys` may have `titles`, one per value.
///
/// ```toml
/// [sweep]
/// pair = { keys = ["game.pair"], values = ["2001-german", "2018-french"], titles = ["German GP", "French GP"] }
/// point = [{ "policy.memory_bound" = 10, title = "M as short as the race" }]
/// ```
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Sweep {
    /// The axes, in the order of the file. The last one varies fastest.
    pub axes: Vec<SweepAxis>,
    /// Points that are written out, each with the values of its keys and perhaps a `title`. If there are any, the grid
    /// of the axes is run at each of them.
    pub points: Vec<Map<String, Value>>,
}

/// One axis of a sweep.
#[derive(Clone, Debug, PartialEq)]
pub struct SweepAxis {
    /// The name: the key, or a name that the file gives to several keys.
    pub name: String,
    /// The keys that the axis sets.
    pub keys: Vec<String>,
    /// The values, in the order of the file.
    pub values: Vec<Value>,
    /// The titles of the values in figures, one per value; empty if the values speak for themselves.
    pub titles: Vec<String>,
}

/// The key of the points that are written out.
pub(crate) const POINT: &str = "point";

/// The key of the title of a point that is written out.
pub(crate) const TITLE: &str = "title";

impl Sweep {
    /// Whether nothing is swept.
    pub fn is_empty(&self) -> bool {
        self.axes.is_empty() && self.points.is_empty()
    }

    /// The names that the horizontal axis of a figure can have.
    pub fn names(&self) -> Vec<&str> {
        let mut names: Vec<&str> = self.axes.iter().map(|axis| axis.name.as_str()).collect();
        for key in self.points.iter().flat_map(Map::keys) {
            if key != TITLE && !names.contains(&key.as_str()) {
                names.push(key);
            }
        }
        names
    }
}

impl Serialize for Sweep {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        for axis in &self.axes {
            if axis.keys == [axis.name.as_str()] && axis.titles.is_empty() {
                map.serialize_entry(&axis.name, &axis.values)?;
            } else {
                let mut table = json!({"keys": axis.keys, "values": axis.values});
                if !axis.titles.is_empty() {
                    table["titles"] = json!(axis.titles);
                }
                map.serialize_entry(&axis.name, &table)?;
            }
        }
        if !self.points.is_empty() {
            map.serialize_entry(POINT, &self.points)?;
        }
        map.end()
    }
}

impl<'de> Deserialize<'de> for Sweep {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let table = Map::deserialize(deserializer)?;
        Ok(SpannedSweep::new(&SpannedValue::from_json(&Value::Object(table))).plain())
    }
}

impl JsonSchema for Sweep {
    fn schema_name() -> Cow<'static, str> {
        "Sweep".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        let values = json!({"type": "array", "minItems": 1, "description": "The values."});
        let nested = |table: &str| {
            json!({
                "type": "object",
                "description": format!("Keys of `{table}` written without quotes: `{table}.key = [...]`."),
            })
        };
        json_schema!({
            "type": "object",
            "properties": {
                "game": nested("game"),
                "policy": nested("policy"),
                "live": nested("live"),
                (POINT): {
                    "description": "Points that are written out: each is a table of keys with one value, and perhaps a \
                                    `title` for figures. The grid is run at each point.",
                    "type": "array",
                    "minItems": 1,
                    "items": {"type": "object", "minProperties": 1},
                },
            },
            "additionalProperties": {
                "description": "A key of the game, the policies or live use with its values, such as \"game.memory\" = \
                                [2, 4, 8]; or a name for an axis that sets several keys together.",
                "anyOf": [
                    values,
                    {
                        "type": "object",
                        "properties": {
                            "keys": {
                                "description": "The keys that are set together.",
                                "type": "array",
                                "minItems": 1,
                                "items": {"type": "string"},
                            },
                            "values": values,
                            "titles": {
                                "description": "The titles of the values in figures, one per value.",
                                "type": "array",
                                "items": {"type": "string"},
                            },
                        },
                        "required": ["keys", "values"],
                        "additionalProperties": false,
                    },
                ],
            },
        })
    }
}

/// A sweep with the spans of its keys and values.
#[derive(Clone, Debug, Default)]
pub(crate) struct SpannedSweep {
    pub(crate) axes: Vec<SpannedAxis>,
    pub(crate) points: Vec<Vec<SpannedEntry>>,
}

#[derive(Clone, Debug)]
pub(crate) struct SpannedAxis {
    pub(crate) name: String,
    pub(crate) keys: Vec<(String, SourceSpan)>,
    pub(crate) values: Vec<SpannedValue>,
    /// None, or one per value.
    pub(crate) titles: Vec<SpannedValue>,
}

impl SpannedSweep {
    /// Reads a `[sweep]` table. Entries that the schema does not allow are left out.
    pub(crate) fn new(table: &SpannedValue) -> Self {
        let mut sweep = Self::default();
        for entry in table.entries() {
            if entry.key == POINT {
                sweep.points = entry.value.items().iter().map(|point| flatten(point.entries())).collect();
            } else if let (Some(keys), Some(values)) = (entry.value.get("keys"), entry.value.get("values")) {
                let keys = keys.items().iter().filter_map(|key| Some((key.text()?.to_owned(), key.span.clone())));
                sweep.axes.push(SpannedAxis {
                    name: entry.key.clone(),
                    keys: keys.collect(),
                    values: values.items().to_vec(),
                    titles: entry.value.get("titles").map(SpannedValue::items).unwrap_or_default().to_vec(),
                });
            } else {
                for SpannedEntry { key, key_span, value } in flatten(std::slice::from_ref(entry)) {
                    sweep.axes.push(SpannedAxis {
                        name: key.clone(),
                        keys: vec![(key, key_span)],
                        values: value.items().to_vec(),
                        titles: Vec::new(),
                    });
                }
            }
        }
        sweep
    }

    /// The sweep without spans.
    pub(crate) fn plain(&self) -> Sweep {
        let axes = self.axes.iter().map(|axis| SweepAxis {
            name: axis.name.clone(),
            keys: axis.keys.iter().map(|(key, _)| key.clone()).collect(),
            values: axis.values.iter().map(SpannedValue::to_json).collect(),
            titles: axis.titles.iter().filter_map(SpannedValue::text).map(str::to_owned).collect(),
        });
        let point = |entries: &Vec<SpannedEntry>| {
            entries.iter().map(|entry| (entry.key.clone(), entry.value.to_json())).collect()
        };
        Sweep { axes: axes.collect(), points: self.points.iter().map(point).collect() }
    }
}

/// Joins nested keys: TOML reads `game.memory = [2]` without quotes as a table in a table.
fn flatten(entries: &[SpannedEntry]) -> Vec<SpannedEntry> {
    let mut flat = Vec::new();
    for entry in entries {
        let is_prefix = |key: &str| matches!(key.split('.').next(), Some("game" | "policy" | "live"));
        match &entry.value.data {
            Data::Table(inner) if is_prefix(&entry.key) => {
                let inner: Vec<SpannedEntry> = inner
                    .iter()
                    .map(|inner| SpannedEntry { key: format!("{}.{}", entry.key, inner.key), ..inner.clone() })
                    .collect();
                flat.extend(flatten(&inner));
            }
            _ => flat.push(entry.clone()),
        }
    }
    flat
}

#[cfg(test)]
mod tests {
    use crate::Experiment;

    fn experiment(sweep: &str) -> Result<Experiment, String> {
        let text = format!(
            "name = \"x\"\nhorizon = 100\ngame = {{ kind = \"step\", arms = 3, memory = 2 }}\n\
             policy = [{{ kind = \"epoch-ucb\", label = \"UCB, 2\", memory_bound = 2 }}]\n[sweep]\n{sweep}"
        );
        Experiment::from_toml("x.toml", &text).map_err(|errors| errors.to_string())
    }

    fn titles(sweep: &str) -> Vec<String> {
        experiment(sweep).unwrap().points().iter().map(|point| point.title.clone()).collect()
    }

    #[test]
    fn titles_read_as_text_and_labels_stay_as_they_are() {
        assert_eq!(titles("\"game.arms\" = [5]\n\"policy.memory_bound\" = [4]"), ["K = 5, M = 4"]);
        assert_eq!(titles("\"policy.UCB, 2.exploration\" = [0.5]"), ["UCB, 2: exploration = 0.5"]);
        assert_eq!(titles("\"game.usual_loss\" = [0.5]"), ["usual loss = 0.5"]);
        let axis = "speed = { keys = [\"game.memory\"], values = [2, 4], titles = [\"fast\", \"slow\"] }\n";
        assert_eq!(titles(axis), ["fast", "slow"]);
        let both = format!("{axis}point = [{{ \"game.arms\" = 3, title = \"three\" }}, {{ \"game.arms\" = 5 }}]");
        assert_eq!(titles(&both), ["three, fast", "three, slow", "K = 5, fast", "K = 5, slow"]);
        let labels = experiment(&both).unwrap().game_labels();
        assert_eq!(labels, ["K=3, speed=2", "K=3, speed=4", "K=5, speed=2", "K=5, speed=4"]);
    }

    #[test]
    fn titles_are_kept_when_an_experiment_is_written_and_read_again() {
        let first = experiment(
            "speed = { keys = [\"game.memory\"], values = [2], titles = [\"fast\"] }\n\
             point = [{ \"game.arms\" = 3, title = \"three\" }]",
        )
        .unwrap();
        let again = Experiment::from_toml("again.toml", &first.to_toml().unwrap()).unwrap();
        assert_eq!(again, first);
        assert_eq!(again.points()[0].title, "three, fast");
    }

    #[test]
    fn titles_that_do_not_fit_are_refused_at_their_place() {
        let axis = "speed = { keys = [\"game.memory\"], values = [2, 4], titles = [\"fast\"] }";
        let message = experiment(axis).unwrap_err();
        assert!(message.contains("one title per value: there are 1 titles and 2 values"), "{message}");
        assert!(message.contains("x.toml:6:"), "{message}");
        let message = experiment("point = [{ \"game.arms\" = 3, title = 3 }]").unwrap_err();
        assert!(message.contains("`title` must be a text, but is 3"), "{message}");
    }
}
