//! The list of the zoo: what a program shows when asked which games there are.

use schemars::{JsonSchema, Schema, SchemaGenerator, generate::SchemaSettings};
use serde::Serialize;
use serde_json::Value;

use super::*;

/// One kind of game, with all that there is to say about it.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct GameKind {
    /// The value of `kind` in files.
    pub name: &'static str,
    /// What it is, in a sentence or two.
    pub summary: String,
    /// Where the paper has it.
    pub place: &'static str,
    /// What can be set.
    pub parameters: Vec<Parameter>,
    /// A game of this kind that can be drawn: the defaults, with something sensible where there are none.
    pub example: GameSpec,
}

/// One parameter of a kind of game.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Parameter {
    /// The key in files.
    pub name: String,
    /// What it means.
    pub description: String,
    /// Its value where it is not given. None if there is no such value: then it is required, or the description says
    /// what happens.
    pub default: Option<Value>,
    /// Whether it must be given.
    pub required: bool,
}

impl GameSpec {
    /// Every kind of game, in the order of the paper; generators and games of one's own come last.
    ///
    /// Summaries, parameters and defaults are read off the types themselves, as in the JSON schema.
    pub fn kinds() -> Vec<GameKind> {
        let numerical = "Numerical Results, Synthetic Loss Functions on Unweighted Tallying Bandit; Figure 1";
        vec![
            kind("basketball", "Section 2, Weighted Tallying Bandit", Basketball::default().into()),
            kind("needle", "Proposition 1 and its proof", Needle::default().into()),
            kind("adaptivity-a", "Proof of Theorem 2, the game tb_A", AdaptivityA::default().into()),
            kind("adaptivity-b", "Proof of Theorem 2, the game tb_B", AdaptivityB::default().into()),
            kind("step", numerical, Step::default().into()),
            kind("alpha-reo", "Appendix, Unweighted Tallying Bandit", AlphaReo::default().into()),
            kind("decay", "Figure 2a; Appendix, Weighted Tallying Bandit", Decay::default().into()),
            kind("darts", "Numerical Results, Simulated Dart Throwing Tournament; Figure 2b", Darts::default().into()),
            kind(
                "fitted",
                "Numerical Results and Appendix, Simulated F1 Tournament",
                Fitted::from(RacePair::German2001).into(),
            ),
            kind(
                "stochastic",
                "Section 2: the special case of memory 1",
                Stochastic { arms: Some(5), ..Stochastic::default() }.into(),
            ),
            kind("random-reo", "Section 2, the definition of alpha-REO", RandomReo::default().into()),
            kind("custom", "Section 2, the definition of the weighted tallying bandit", two_workers().into()),
        ]
    }

    /// The name of this game's kind, as in files.
    pub fn kind(&self) -> &'static str {
        match self {
            GameSpec::Basketball(_) => "basketball",
            GameSpec::Needle(_) => "needle",
            GameSpec::AdaptivityA(_) => "adaptivity-a",
            GameSpec::AdaptivityB(_) => "adaptivity-b",
            GameSpec::Step(_) => "step",
            GameSpec::AlphaReo(_) => "alpha-reo",
            GameSpec::Decay(_) => "decay",
            GameSpec::Darts(_) => "darts",
            GameSpec::Fitted(_) => "fitted",
            GameSpec::Stochastic(_) => "stochastic",
            GameSpec::RandomReo(_) => "random-reo",
            GameSpec::Custom(_) => "custom",
        }
    }

    fn schema_of_kind(&self, generator: &mut SchemaGenerator) -> Schema {
        match self {
            GameSpec::Basketball(_) => Basketball::json_schema(generator),
            GameSpec::Needle(_) => Needle::json_schema(generator),
            GameSpec::AdaptivityA(_) => AdaptivityA::json_schema(generator),
            GameSpec::AdaptivityB(_) => AdaptivityB::json_schema(generator),
            GameSpec::Step(_) => Step::json_schema(generator),
            GameSpec::AlphaReo(_) => AlphaReo::json_schema(generator),
            GameSpec::Decay(_) => Decay::json_schema(generator),
            GameSpec::Darts(_) => Darts::json_schema(generator),
            GameSpec::Fitted(_) => Fitted::json_schema(generator),
            GameSpec::Stochastic(_) => Stochastic::json_schema(generator),
            GameSpec::RandomReo(_) => RandomReo::json_schema(generator),
            GameSpec::Custom(_) => Custom::json_schema(generator),
        }
    }
}

fn kind(name: &'static str, place: &'static str, example: GameSpec) -> GameKind {
    let mut generator = SchemaSettings::draft2020_12().into_generator();
    let schema = example.schema_of_kind(&mut generator);
    let required: Vec<&str> = list(schema.get("required")).filter_map(Value::as_str).collect();
    let properties = schema.get("properties").and_then(Value::as_object);
    let parameters = properties.into_iter().flatten().map(|(name, property)| Parameter {
        name: name.clone(),
        description: text(property.get("description")),
        default: property.get("default").cloned(),
        required: required.contains(&name.as_str()),
    });
    // The first paragraph of the type's documentation.
    let summary = text(schema.get("description"));
    let summary = summary.split("\n\n").next().unwrap_or_default().replace('\n', " ");
    GameKind { name, summary, place, parameters: parameters.collect(), example }
}

fn list(value: Option<&Value>) -> impl Iterator<Item = &Value> {
    value.and_then(Value::as_array).into_iter().flatten()
}

fn text(value: Option<&Value>) -> String {
    value.and_then(Value::as_str).unwrap_or_default().to_owned()
}

fn two_workers() -> Custom {
    let worker = |loss| ArmSpec { weights: None, memory: Some(3), loss, feedback: Noise::Bernoulli };
    let steady = LossCurveSpec { constant: Some(0.5), ..LossCurveSpec::default() };
    let slow_starter = LossCurveSpec { by_plays: Some(vec![0.9, 0.6, 0.2]), ..LossCurveSpec::default() };
    Custom { arm: vec![worker(steady), worker(slow_starter)] }
}
