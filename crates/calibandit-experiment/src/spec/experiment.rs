//! What an experiment file says, as types.

use std::borrow::Cow;

use calibandit::{GameSpec, Grid, GridError, PolicySpec};
use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::de::Error;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::{Map, Value, json};

use super::sweep::Sweep;

/// An experiment as a file says it: policies play instances of a game, and their complete policy regret is recorded.
///
/// Nothing here is checked beyond the types; [`ExperimentFile::validate`] gives the [`Experiment`](crate::Experiment) that
/// everything else takes.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(title = "Calibandit experiment")]
pub struct ExperimentFile {
    /// The experiment's short name: names its results, and is part of what its random numbers are derived from.
    #[schemars(length(min = 1))]
    pub name: String,
    /// What the figure is headed with. The name if not given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    /// What the figure shows, in a sentence or two.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// The number of plays, T.
    #[schemars(range(min = 1, max = 9_223_372_036_854_775_807_u64))]
    pub horizon: u64,
    /// How many instances of the game each policy plays.
    #[serde(default = "default_instances")]
    #[schemars(range(min = 1, max = MOST_INSTANCES))]
    pub instances: u64,
    /// The seed: fixes every number of the results.
    #[serde(default = "default_seed")]
    #[schemars(range(min = 0, max = 9_223_372_036_854_775_807_u64))]
    pub seed: u64,
    /// When the regret is recorded.
    #[serde(default)]
    pub checkpoints: Checkpoints,
    /// How the figure is drawn.
    #[serde(default)]
    pub figure: FigureSpec,
    /// The game.
    pub game: GameSpec,
    /// The policies: one `[[policy]]` table each.
    #[schemars(length(min = 1))]
    pub policy: Vec<PolicyEntry>,
    /// Values to run the experiment with in turn.
    #[serde(default, skip_serializing_if = "Sweep::is_empty")]
    pub sweep: Sweep,
}

/// Every instance keeps its curve, so there is a limit to how many a file can ask for by a slip of the finger.
pub(crate) const MOST_INSTANCES: u64 = 1_000_000;
/// So is there for checkpoints.
pub(crate) const MOST_CHECKPOINTS: u64 = 100_000;

fn default_instances() -> u64 {
    20
}

fn default_seed() -> u64 {
    1
}

/// When the regret is recorded: on a grid, or at given times. The horizon is always among them.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Checkpoints {
    /// Whether the times are evenly spaced, or each about the same factor after the one before.
    pub scale: Scale,
    /// How many there are.
    #[schemars(range(min = 1, max = MOST_CHECKPOINTS))]
    pub points: usize,
    /// These times instead, each from 1 to the horizon.
    #[schemars(length(min = 1), inner(range(min = 1)))]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub at: Option<Vec<u64>>,
}

impl Default for Checkpoints {
    fn default() -> Self {
        Self { scale: Scale::Linear, points: 200, at: None }
    }
}

impl Checkpoints {
    /// The grid of these checkpoints up to a horizon.
    pub fn grid(&self, horizon: u64) -> Result<Grid, GridError> {
        match (&self.at, self.scale) {
            (Some(times), _) => Grid::at(horizon, times.clone()),
            (None, Scale::Linear) => Grid::linear(horizon, self.points),
            (None, Scale::Log) => Grid::logarithmic(horizon, self.points),
        }
    }
}

/// The scale of an axis.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Scale {
    /// Evenly spaced.
    #[default]
    Linear,
    /// Logarithmic.
    Log,
}

/// How the figure of an experiment is drawn.
///
/// Each point of the sweep is a panel with curves over time. With a swept key on the horizontal axis, a panel has the regret at the horizon
/// against it, and there is one panel for each setting of what else is swept.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct FigureSpec {
    /// What is on the horizontal axis: `time`, or a key of the sweep.
    pub x: String,
    /// The scale of the horizontal axis.
    pub x_scale: Scale,
    /// The scale of the vertical axis.
    pub y_scale: Scale,
    /// Where the vertical axis begins.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub y_min: Option<f64>,
    /// The label of a policy: also draw every policy's loss in excess of that policy's.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub excess_over: Option<String>,
}

/// [`FigureSpec::x`] for curves over time.
pub(crate) const TIME: &str = "time";

impl Default for FigureSpec {
    fn default() -> Self {
        Self { x: TIME.to_owned(), x_scale: Scale::Linear, y_scale: Scale::Linear, y_min: None, excess_over: None }
    }
}

impl FigureSpec {
    /// Whether the curves are over time, and not over a swept key.
    pub fn is_over_time(&self) -> bool {
        self.x == TIME
    }
}

/// A policy of an experiment, by the label that tables and figures show.
#[derive(Clone, Debug, PartialEq)]
pub struct PolicyEntry {
    /// Its label, different from all others of the experiment. In files it may be left out.
    pub label: String,
    /// The policy.
    pub policy: PolicySpec,
}

impl Serialize for PolicyEntry {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        #[derive(Serialize)]
        struct Flat<'a> {
            label: &'a str,
            #[serde(flatten)]
            policy: &'a PolicySpec,
        }
        Flat { label: &self.label, policy: &self.policy }.serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for PolicyEntry {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let mut table = Map::deserialize(deserializer)?;
        let label = table.remove("label");
        let policy = PolicySpec::deserialize(Value::Object(table)).map_err(D::Error::custom)?;
        let label = match label {
            Some(label) => String::deserialize(label).map_err(D::Error::custom)?,
            None => policy.label(),
        };
        Ok(Self { label, policy })
    }
}

impl JsonSchema for PolicyEntry {
    fn schema_name() -> Cow<'static, str> {
        "Policy".into()
    }

    /// Every kind of policy, with the key `label` added.
    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        let mut schema = PolicySpec::json_schema(generator);
        for kind in schema.get_mut("oneOf").and_then(Value::as_array_mut).into_iter().flatten() {
            if let Some(properties) = kind.get_mut("properties").and_then(Value::as_object_mut) {
                let description =
                    "The name in tables and figures, different from all others. Made from the kind if not given.";
                properties
                    .insert("label".to_owned(), json!({"type": "string", "minLength": 1, "description": description}));
            }
        }
        schema
    }
}

/// What the command line may say in place of the file.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Overrides {
    /// Another seed.
    pub seed: Option<u64>,
    /// Another number of instances.
    pub instances: Option<u64>,
    /// Another horizon. Checkpoints given one by one are kept up to it.
    pub horizon: Option<u64>,
}

impl ExperimentFile {
    /// The experiment as a value. Nothing that a file may leave out is left out.
    pub fn to_json(&self) -> Value {
        serde_json::to_value(self).expect("an experiment is made of texts, numbers, lists and tables with text keys")
    }
}

/// The text of a validated experiment file. Nothing that a file may leave out is left out.
pub(crate) fn to_toml(file: &ExperimentFile) -> String {
    let mut value = file.to_json();
    remove_nulls(&mut value);
    toml::to_string_pretty(&value).expect("validation refuses whole numbers that TOML cannot hold")
}

/// TOML has no null: what is not there is left out.
fn remove_nulls(value: &mut Value) {
    match value {
        Value::Object(map) => {
            map.retain(|_, value| !value.is_null());
            map.values_mut().for_each(remove_nulls);
        }
        Value::Array(items) => items.iter_mut().for_each(remove_nulls),
        _ => {}
    }
}
