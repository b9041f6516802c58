//! Which policy, with which parameters: what files, programs and saved snapshots share.
//!
//! A policy is one file with a `...Spec` (its parameters), the policy itself and what the list of kinds says about
//! it, tied together by [`Configuration`]; the table at the end of this file then needs one line for it.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{
    AnytimeElimination, AnytimeEliminationSpec, BatchedExp3, BatchedExp3Spec, Calibrated, CalibratedSpec, EpochUcb,
    EpochUcbSpec, Exp3, Exp3Spec, ExploreThenCommit, ExploreThenCommitSpec, PolicyError, SuccessiveElimination,
    SuccessiveEliminationSpec, Thompson, ThompsonSpec, Ucb1, Ucb1Spec,
};
use crate::{Certificate, Feedback, Policy, Problem, Run, Stream};

/// A kind of policy, described.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct PolicyKind {
    /// Its name, as in files.
    pub name: &'static str,
    /// What it does, in one line.
    pub summary: &'static str,
    /// Its parameters.
    pub parameters: &'static [Parameter],
    /// Where it comes from.
    pub citation: &'static str,
}

/// A parameter of a kind of policy, described.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Parameter {
    /// Its name, as in files.
    pub name: &'static str,
    /// The values it can take.
    pub values: &'static str,
    /// What it is if it is not given; `None` if it must be given.
    pub default: Option<&'static str>,
    /// What it means.
    pub meaning: &'static str,
}

/// The bound on the memory, which several policies have.
pub(super) const MEMORY_BOUND: Parameter = Parameter {
    name: "memory_bound",
    values: "an integer, at least 1",
    default: None,
    meaning: "What the policy is told about the memory: at least the game's true memory, the paper's M.",
};

/// What a policy's parameters have to offer so that the policy can be listed, filled in and built.
pub(super) trait Configuration: Sized {
    /// What the list of kinds says.
    const KIND: PolicyKind;
    /// The policy.
    type Policy: Policy;
    /// The same with every default filled in. Reports everything that is wrong, so that building cannot fail after it.
    fn resolve(&self, problem: &Problem) -> Result<Self, PolicyError>;
    /// The policy, ready for its first run. Policies that do not randomise drop the stream.
    fn build(&self, problem: &Problem, stream: Stream) -> Result<Self::Policy, PolicyError>;
    /// The bound on the memory it was told, if it cares for one.
    fn memory_bound(&self) -> Option<u64> {
        None
    }
    /// A short name for legends and tables.
    fn label(&self) -> String;
}

macro_rules! policies {
    ($($(#[$doc:meta])* $kind:ident($spec:ident),)*) => {
        /// A policy and its parameters, by `kind`.
        ///
        /// ```
        /// use calibandit::{PolicySpec, Problem};
        /// let spec: PolicySpec = serde_json::from_str(r#"{"kind": "exp3"}"#)?;
        /// assert_eq!(spec.label(), "EXP3");
        /// // Every default filled in, as it goes into a manifest:
        /// let resolved = spec.resolve(&Problem { arms: 2, horizon: Some(100) })?;
        /// assert_eq!(serde_json::to_string(&resolved)?, r#"{"kind":"exp3","gamma":0.08982154680454299}"#);
        /// # Ok::<(), Box<dyn std::error::Error>>(())
        /// ```
        #[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
        #[serde(tag = "kind", rename_all = "kebab-case")]
        #[schemars(description = "A policy and its parameters, by `kind`.")] // without the example above
        pub enum PolicySpec {
            $($(#[$doc])* $kind($spec),)*
        }

        /// A policy of any kind, as [`PolicySpec::build`] makes it. It serialises at any time between two runs, and
        /// what is restored goes on exactly as the original would have, its random stream included.
        #[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
        #[serde(rename_all = "kebab-case")]
        pub enum AnyPolicy {
            $($(#[$doc])* $kind($kind),)*
        }

        impl PolicySpec {
            /// All kinds of policies.
            pub fn kinds() -> &'static [PolicyKind] {
                const { &[$(<$spec as Configuration>::KIND,)*] }
            }

            /// The kind of this policy.
            pub fn kind(&self) -> &'static PolicyKind {
                match self {
                    $(Self::$kind(_) => const { &<$spec as Configuration>::KIND },)*
                }
            }

            /// The same with every default filled in, computed from the problem where it depends on it. Both build the
            /// same policy.
            pub fn resolve(&self, problem: &Problem) -> Result<Self, PolicyError> {
                match self {
                    $(Self::$kind(spec) => Configuration::resolve(spec, problem).map(Self::$kind),)*
                }
            }

            /// The policy, ready for its first run, with `stream` for its own randomisation if it has any.
            pub fn build(&self, problem: &Problem, stream: Stream) -> Result<AnyPolicy, PolicyError> {
                match self {
                    $(Self::$kind(spec) => Configuration::build(spec, problem, stream).map(AnyPolicy::$kind),)*
                }
            }

            /// What the policy is told about the memory, if it cares for it.
            pub fn memory_bound(&self) -> Option<u64> {
                match self {
                    $(Self::$kind(spec) => Configuration::memory_bound(spec),)*
                }
            }

            /// A short name for legends and tables, like `SE (hoeffding)`.
            pub fn label(&self) -> String {
                match self {
                    $(Self::$kind(spec) => Configuration::label(spec),)*
                }
            }
        }

        impl Policy for AnyPolicy {
            #[inline]
            fn next_run(&mut self) -> Run {
                match self {
                    $(Self::$kind(policy) => policy.next_run(),)*
                }
            }
            #[inline]
            fn observe(&mut self, run: Run, feedback: Feedback) {
                match self {
                    $(Self::$kind(policy) => policy.observe(run, feedback),)*
                }
            }
            fn observe_repeated(&mut self, run: Run, most: u64, feedback: &mut dyn FnMut() -> Feedback) -> u64 {
                match self {
                    $(Self::$kind(policy) => policy.observe_repeated(run, most, feedback),)*
                }
            }
            fn recommend(&self) -> usize {
                match self {
                    $(Self::$kind(policy) => policy.recommend(),)*
                }
            }
            fn certificate(&self) -> Option<Certificate> {
                match self {
                    $(Self::$kind(policy) => policy.certificate(),)*
                }
            }
        }

        $(impl From<$spec> for PolicySpec {
            fn from(spec: $spec) -> Self {
                Self::$kind(spec)
            }
        })*

        #[cfg(test)]
        fn schemas() -> Vec<(&'static str, schemars::Schema)> {
            vec![$((<$spec as Configuration>::KIND.name, schemars::schema_for!($spec)),)*]
        }
    };
}

policies! {
    /// Keep every calibrated loss, burn in only on a switch, switch rarely.
    Calibrated(CalibratedSpec),
    /// The paper's Algorithm 1.
    SuccessiveElimination(SuccessiveEliminationSpec),
    /// The paper's Algorithm 1 without a horizon.
    AnytimeElimination(AnytimeEliminationSpec),
    /// Exponential weights.
    Exp3(Exp3Spec),
    /// Exponential weights over batches of plays.
    BatchedExp3(BatchedExp3Spec),
    /// Upper confidence bounds over epochs of M plays.
    EpochUcb(EpochUcbSpec),
    /// Upper confidence bounds without warm-up.
    Ucb1(Ucb1Spec),
    /// Thompson sampling without warm-up.
    Thompson(ThompsonSpec),
    /// Measure every arm once, then play the best.
    ExploreThenCommit(ExploreThenCommitSpec),
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::{Value, json};

    #[test]
    fn kinds_say_what_the_schemas_say() {
        for (kind, (name, schema)) in PolicySpec::kinds().iter().zip(schemas()) {
            let schema = schema.to_value();
            assert_eq!(kind.name, name);
            assert_eq!(schema["additionalProperties"], json!(false), "{name}");
            let none = serde_json::Map::new();
            let properties = schema.get("properties").and_then(Value::as_object).unwrap_or(&none);
            assert_eq!(properties.len(), kind.parameters.len(), "{name}");
            let required = schema.get("required").and_then(Value::as_array).cloned().unwrap_or_default();
            for parameter in kind.parameters {
                let property = &properties[parameter.name];
                assert_eq!(property["description"], json!(parameter.meaning), "{name}: {}", parameter.name);
                assert_eq!(required.contains(&json!(parameter.name)), parameter.default.is_none(), "{name}");
            }
        }
    }

    #[test]
    fn kinds_are_named_as_in_files() {
        for kind in PolicySpec::kinds() {
            let mut file = json!({ "kind": kind.name });
            for parameter in kind.parameters.iter().filter(|parameter| parameter.default.is_none()) {
                file[parameter.name] = json!(2);
            }
            let spec: PolicySpec = serde_json::from_value(file.clone()).unwrap();
            assert_eq!(spec.kind(), kind);
            assert_eq!(spec.memory_bound().is_some(), file.get("memory_bound").is_some());
            file["typo"] = json!(1);
            assert!(serde_json::from_value::<PolicySpec>(file).is_err(), "{}: unknown fields are refused", kind.name);
        }
        assert!(serde_json::from_value::<PolicySpec>(json!({ "kind": "exp4" })).is_err());
    }

    #[test]
    fn the_schema_lists_every_kind() {
        let schema = schemars::schema_for!(PolicySpec).to_value();
        let kinds: Vec<_> = schema["oneOf"]
            .as_array()
            .unwrap()
            .iter()
            .map(|kind| kind["properties"]["kind"]["const"].clone())
            .collect();
        let names: Vec<_> = PolicySpec::kinds().iter().map(|kind| json!(kind.name)).collect();
        assert_eq!(kinds, names);
    }
}
