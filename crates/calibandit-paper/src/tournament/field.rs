//! Who takes part: every kind of policy with its defaults, and a few named variants.

use calibandit::PolicySpec;
use serde_json::{Map, Value, json};

use super::TournamentError;

/// A policy that takes part, told nothing but the memory bound of the game (and K and T, as every policy is).
#[derive(Clone, Debug, PartialEq)]
pub struct Contender {
    /// Its label in tables and plots.
    pub label: String,
    parameters: Map<String, Value>,
}

/// Parameters other than the defaults with which a kind takes part once more.
const VARIANTS: [(&str, &str, Variant); 10] = [
    ("calibrated", "index", Variant::Word("cautious")),
    ("calibrated", "index", Variant::Word("kl-ucb")),
    ("calibrated", "index", Variant::Word("moss")),
    ("calibrated", "index", Variant::Word("bernstein")),
    ("calibrated", "index", Variant::Word("imed")),
    ("calibrated", "index", Variant::Word("thompson")),
    ("calibrated", "index", Variant::Word("elimination")),
    ("successive-elimination", "radius", Variant::Word("hoeffding")),
    ("successive-elimination", "radius", Variant::Word("difference")),
    ("epoch-ucb", "exploration", Variant::Number(0.5)),
];

#[derive(Clone, Copy)]
enum Variant {
    Word(&'static str),
    Number(f64),
}

/// All contenders: each kind of policy that the library has, each followed by its variants.
pub fn field() -> Result<Vec<Contender>, TournamentError> {
    let mut field = Vec::new();
    for kind in PolicySpec::catalogue() {
        let mut parameters = Map::new();
        parameters.insert("kind".into(), json!(kind.name));
        let told = kind.parameter("memory_bound").is_some();
        field.push(Contender::new(kind.name, told, parameters.clone())?);
        for (_, name, value) in VARIANTS.iter().filter(|(of, ..)| *of == kind.name) {
            let value = match value {
                Variant::Word(word) => json!(word),
                Variant::Number(number) => json!(number),
            };
            let mut parameters = parameters.clone();
            parameters.insert((*name).into(), value);
            field.push(Contender::new(kind.name, told, parameters)?);
        }
    }
    Ok(field)
}

impl Contender {
    fn new(kind: &str, told: bool, mut parameters: Map<String, Value>) -> Result<Self, TournamentError> {
        if told {
            parameters.insert("memory_bound".into(), json!(1));
        }
        let mut contender = Self { label: kind.into(), parameters };
        contender.label = contender.policy(1)?.label();
        Ok(contender)
    }

    /// Whether this is the kind with its defaults.
    pub(super) fn is_default_of(&self, kind: &str) -> bool {
        self.parameters.get("kind").and_then(Value::as_str) == Some(kind)
            && self.parameters.keys().all(|name| name == "kind" || name == "memory_bound")
    }

    /// The policy for a game of which it is told this memory bound.
    pub fn policy(&self, memory_bound: u64) -> Result<PolicySpec, TournamentError> {
        let mut parameters = self.parameters.clone();
        if let Some(told) = parameters.get_mut("memory_bound") {
            *told = json!(memory_bound);
        }
        serde_json::from_value(Value::Object(parameters))
            .map_err(|source| TournamentError::Contender { policy: self.label.clone(), source })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_kind_takes_part_under_a_label_of_its_own() {
        let field = field().unwrap();
        for kind in PolicySpec::KINDS {
            assert!(field.iter().any(|contender| contender.policy(7).unwrap().kind() == *kind), "{kind}");
        }
        assert_eq!(field.len(), PolicySpec::KINDS.len() + VARIANTS.len());
        let mut labels: Vec<&str> = field.iter().map(|contender| contender.label.as_str()).collect();
        labels.sort_unstable();
        labels.dedup();
        assert_eq!(labels.len(), field.len(), "{labels:?}");
    }

    #[test]
    fn those_that_care_are_told_the_memory_bound() {
        for contender in field().unwrap() {
            let told = contender.policy(7).unwrap().memory_bound();
            assert!(told.is_none() || told == Some(7), "{}", contender.label);
        }
    }
}
