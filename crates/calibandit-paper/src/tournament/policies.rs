//! The policies of the tournament: every kind of policy with its defaults, and a few named variants.

use calibandit::PolicySpec;
use serde_json::{Map, Value, json};

use super::{TournamentError, TournamentPart};

/// A policy of the tournament. Of the game it is given K, T and the memory bound, nothing else.
#[derive(Clone, Debug, PartialEq)]
pub struct TournamentPolicy {
    /// The label in tables and figures.
    pub label: String,
    parameters: Map<String, Value>,
}

/// The variants: kind, parameter, and its value instead of the default.
const VARIANTS: [(&str, &str, Variant); 11] = [
    ("planner", "cells", Variant::Word("window")),
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

/// All policies of a part: each kind of the library that it admits, followed by its variants.
///
/// # Errors
/// [`TournamentError::Parameters`] if a variant has a parameter that the library does not know.
pub fn policies(part: TournamentPart) -> Result<Vec<TournamentPolicy>, TournamentError> {
    let mut policies = Vec::new();
    for kind in PolicySpec::catalogue().iter().filter(|kind| part.admits(kind.name)) {
        let mut parameters = Map::new();
        parameters.insert("kind".into(), json!(kind.name));
        let has_memory_bound = kind.parameter("memory_bound").is_some();
        policies.push(TournamentPolicy::new(kind.name, has_memory_bound, parameters.clone())?);
        for (_, name, value) in VARIANTS.iter().filter(|(of, ..)| *of == kind.name) {
            let value = match value {
                Variant::Word(word) => json!(word),
                Variant::Number(number) => json!(number),
            };
            let mut parameters = parameters.clone();
            parameters.insert((*name).into(), value);
            policies.push(TournamentPolicy::new(kind.name, has_memory_bound, parameters)?);
        }
    }
    Ok(policies)
}

impl TournamentPolicy {
    fn new(kind: &str, has_memory_bound: bool, mut parameters: Map<String, Value>) -> Result<Self, TournamentError> {
        if has_memory_bound {
            parameters.insert("memory_bound".into(), json!(1));
        }
        let mut policy = Self { label: kind.into(), parameters };
        policy.label = policy.spec(1)?.label();
        Ok(policy)
    }

    pub(super) fn is_of_kind(&self, kind: &str) -> bool {
        self.parameters.get("kind").and_then(Value::as_str) == Some(kind)
    }

    /// Whether this is the kind with its defaults.
    pub(super) fn is_default_of(&self, kind: &str) -> bool {
        self.is_of_kind(kind) && self.parameters.keys().all(|name| name == "kind" || name == "memory_bound")
    }

    /// The specification for a game with this memory bound.
    ///
    /// # Errors
    /// [`TournamentError::Parameters`] if the parameters are not valid.
    pub fn spec(&self, memory_bound: u64) -> Result<PolicySpec, TournamentError> {
        let mut parameters = self.parameters.clone();
        if let Some(value) = parameters.get_mut("memory_bound") {
            *value = json!(memory_bound);
        }
        serde_json::from_value(Value::Object(parameters))
            .map_err(|source| TournamentError::Parameters { policy: self.label.clone(), source })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_kind_takes_part_and_labels_are_unique() {
        let policies = policies(TournamentPart::Main).unwrap();
        let kinds: Vec<&str> =
            PolicySpec::KINDS.iter().copied().filter(|kind| TournamentPart::Main.admits(kind)).collect();
        for kind in &kinds {
            assert!(policies.iter().any(|policy| policy.spec(7).unwrap().kind() == *kind), "{kind}");
        }
        let variants = VARIANTS.iter().filter(|(kind, ..)| kinds.contains(kind)).count();
        assert_eq!(policies.len(), kinds.len() + variants);
        let mut labels: Vec<&str> = policies.iter().map(|policy| policy.label.as_str()).collect();
        labels.sort_unstable();
        labels.dedup();
        assert_eq!(labels.len(), policies.len(), "{labels:?}");
    }

    #[test]
    fn policies_with_a_memory_bound_get_the_one_of_the_game() {
        for policy in policies(TournamentPart::Main).unwrap() {
            let bound = policy.spec(7).unwrap().memory_bound();
            assert!(bound.is_none() || bound == Some(7), "{}", policy.label);
        }
    }
}
