//! The types of an experiment file: what serde reads and what the JSON schema describes. Nothing is validated here.

use std::borrow::Cow;

use calibandit::simulate::LiveSpec;
use calibandit::{GameSpec, Grid, GridError, PolicySpec};
use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::de::Error;
use serde::ser::SerializeMap;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::{Map, Value, json};

use super::sweep::Sweep;

/// An experiment file: policies play instances of a game, and their complete policy regret is recorded.
///
/// Only the types are checked; [`ExperimentFile::validate`] returns the [`Experiment`](crate::Experiment) that all
/// other modules take.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(title = "Calibandit experiment")]
pub struct ExperimentFile {
    /// A short name. It names the results, and random numbers are derived from it.
    #[schemars(length(min = 1))]
    pub name: String,
    /// The title of the figure. Default: the name.
    #[schemars(length(max = LONGEST_TITLE))]
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    /// What the figure shows, in one or two sentences.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// The number of plays, T: at most 2^53, so that plays are counted exactly. With `live`, of all lanes together.
    #[schemars(range(min = 1, max = MOST_PLAYS))]
    pub horizon: u64,
    /// The number of instances of the game that each policy plays.
    #[serde(default = "default_instances")]
    #[schemars(range(min = 1, max = MOST_INSTANCES))]
    pub instances: u64,
    /// The seed of all random numbers: the same seed gives the same results.
    #[serde(default = "default_seed")]
    #[schemars(range(min = 0, max = 9_223_372_036_854_775_807_u64))]
    pub seed: u64,
    /// The times at which the regret is recorded.
    #[serde(default)]
    pub checkpoints: Checkpoints,
    /// What losses before the horizon are compared with.
    #[serde(default, skip_serializing_if = "RegretReference::is_time")]
    pub reference: RegretReference,
    /// Whether tables and figures for people show losses or rewards.
    ///
    /// Default: rewards if the game is a custom one with `rewards`, otherwise losses.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub show: Option<ShownUnit>,
    /// How the figure is drawn.
    #[serde(default)]
    pub figure: FigureSpec,
    /// The game.
    pub game: GameSpec,
    /// The policies: one `[[policy]]` table per policy.
    #[schemars(length(min = 1))]
    pub policy: Vec<PolicyEntry>,
    /// Live use: lanes, late and lost losses, sessions. Default: one place where plays are made one after the other.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub live: Option<LiveSpec>,
    /// Values of parameters for which the experiment is run.
    #[serde(default, skip_serializing_if = "Sweep::is_empty")]
    pub sweep: Sweep,
}

/// Upper limit on the number of instances: catches typing errors, because the results of all instances are stored.
pub const MOST_INSTANCES: u64 = 1_000_000;
/// Upper limit on the number of checkpoints, for the same reason.
pub(crate) const MOST_CHECKPOINTS: u64 = 100_000;

/// Upper limit on the horizon: the optimum and the sums of losses are exact up to it.
pub const MOST_PLAYS: u64 = 1 << 53;
/// Upper limit on the characters of a label: longer ones are cut in figures and fill the tables.
pub(crate) const LONGEST_LABEL: u64 = 200;
/// Upper limit on the characters of a title.
pub(crate) const LONGEST_TITLE: u64 = 1000;

fn default_instances() -> u64 {
    20
}

fn default_seed() -> u64 {
    1
}

/// The times at which the regret is recorded: on a grid, or at given times. The horizon is always one of them.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Checkpoints {
    /// Whether the times are evenly spaced, or spaced by about the same factor.
    pub scale: Scale,
    /// The number of times.
    #[schemars(range(min = 1, max = MOST_CHECKPOINTS))]
    pub points: usize,
    /// The times themselves, instead of `scale` and `points`; each from 1 to the horizon.
    #[schemars(length(min = 1), inner(range(min = 1)))]
    pub at: Option<Vec<u64>>,
}

impl Default for Checkpoints {
    fn default() -> Self {
        Self { scale: Scale::Linear, points: 200, at: None }
    }
}

/// Writes `at`, or `scale` and `points`: a file that has both is refused.
impl Serialize for Checkpoints {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        match &self.at {
            Some(times) => map.serialize_entry("at", times)?,
            None => {
                map.serialize_entry("scale", &self.scale)?;
                map.serialize_entry("points", &self.points)?;
            }
        }
        map.end()
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

/// What the losses up to a checkpoint are compared with. At the horizon both are the same.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum RegretReference {
    /// The best sequence of as many plays: complete policy regret (CPR).
    #[default]
    Time,
    /// The beginning of the sequence that is best for the horizon, as in papers about improving arms. The regret may
    /// then be negative before the horizon. Only for rested games in which one arm is best or no loss ever falls.
    Horizon,
}

impl RegretReference {
    fn is_time(&self) -> bool {
        *self == Self::Time
    }
}

/// What tables and figures for people show. Files of results always have losses.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum ShownUnit {
    /// Losses in [0, 1].
    Losses,
    /// Rewards, if the game or its source is stated in rewards: a regret is then one of rewards.
    Rewards,
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
/// By default there is one panel per point of the sweep, with curves over time. With a key of the sweep on the
/// horizontal axis, a panel shows the regret at the horizon against that key, and there is one panel per value of the
/// other keys.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct FigureSpec {
    /// The horizontal axis: `time`, or a key of the sweep.
    pub x: String,
    /// The scale of the horizontal axis.
    pub x_scale: Scale,
    /// The scale of the vertical axis.
    pub y_scale: Scale,
    /// Where the vertical axis begins.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub y_min: Option<f64>,
    /// The label of a policy: adds a figure of every policy's loss minus the loss of this policy.
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

/// A policy of an experiment, with the label that tables and figures show.
#[derive(Clone, Debug, PartialEq)]
pub struct PolicyEntry {
    /// The label, unique in the experiment. Files may leave it out.
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
                    "The name in tables and figures, unique in the experiment. Default: made from the kind.";
                let label = json!({
                    "type": "string",
                    "minLength": 1,
                    "maxLength": LONGEST_LABEL,
                    "description": description,
                });
                properties.insert("label".to_owned(), label);
            }
        }
        schema
    }
}

/// Numbers that replace those of a file, for example from the command line.
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
    /// The experiment as a JSON value, with all defaults written out.
    pub fn to_json(&self) -> Value {
        serde_json::to_value(self).expect("an experiment is made of texts, numbers, lists and tables with text keys")
    }
}

/// The text of a validated experiment file, with all defaults written out.
pub(crate) fn to_toml(file: &ExperimentFile) -> String {
    let mut value = file.to_json();
    remove_nulls(&mut value);
    toml::to_string_pretty(&value).expect("validation refuses whole numbers that TOML cannot hold")
}

/// TOML has no null, so entries that are null are removed.
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
