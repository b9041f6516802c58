//! Which policy, with which parameters: the data that files, programs and saved snapshots share.
//!
//! Parameters go through three types. An `XSpec` is what a file or a builder says, with optional fields. Its
//! [`PolicyConfig::params`] checks it against a [`Problem`] and fills in every default: the result is an `XParams`. A
//! policy is built from an `XParams` alone, and that cannot fail.
//!
//! A policy has one file with these three types, connected by [`PolicyConfig`], and one line in the list at the end of
//! this file.

#[cfg(feature = "schema")]
use std::sync::LazyLock;

use super::{
    AnytimeElimination, AnytimeEliminationParams, AnytimeEliminationSpec, ArmChangeError, ArmReport, BatchedExp3,
    BatchedExp3Params, BatchedExp3Spec, Calibrated, CalibratedParams, CalibratedSpec, DiscountedUcb,
    DiscountedUcbParams, DiscountedUcbSpec, EpochUcb, EpochUcbParams, EpochUcbSpec, Exp3, Exp3Params, Exp3Spec,
    ExploreThenCommit, ExploreThenCommitParams, ExploreThenCommitSpec, Fewa, FewaParams, FewaSpec, Greedy,
    GreedyParams, GreedySpec, Heidari, HeidariParams, HeidariSpec, Pilot, PilotParams, PilotSpec, Planner,
    PlannerParams, PlannerSpec, PolicyError, RawUcb, RawUcbParams, RawUcbSpec, RestoredPlays, RisingHalving,
    RisingHalvingParams, RisingHalvingSpec, RisingUcb, RisingUcbParams, RisingUcbSpec, RisingUcbe, RisingUcbeParams,
    RisingUcbeSpec, Rotation, RotationParams, RotationSpec, RunReason, SlidingUcb, SlidingUcbParams, SlidingUcbSpec,
    Spo, SpoParams, SpoSpec, StateError, SuccessiveElimination, SuccessiveEliminationParams, SuccessiveEliminationSpec,
    Swa, SwaParams, SwaSpec, Thompson, ThompsonParams, ThompsonSpec, Ucb1, Ucb1Params, Ucb1Spec, WarmStartError, Wswa,
    WswaParams, WswaSpec,
};
#[cfg(feature = "schema")]
use crate::catalogue::CatalogueEntry;
use crate::{Certificate, Feedback, GameClass, Policy, Problem, Run, Stream};

/// What connects the specification, the checked parameters and the policy of one kind.
#[cfg_attr(not(feature = "schema"), allow(dead_code))] // some items are read by the catalogue alone
pub(super) trait PolicyConfig: Sized {
    /// The value of `kind` in files.
    const NAME: &'static str;
    /// Where the policy comes from.
    const CITATION: &'static str;
    /// For which games it is made.
    const MEANT_FOR: &'static [GameClass];
    /// The checked parameters.
    type Params;
    /// The policy.
    type Policy: Policy;
    /// A valid specification, with a small value for every required parameter.
    fn example() -> Self;
    /// Checks everything that does not depend on a problem.
    fn check(&self) -> Result<(), PolicyError>;
    /// Checks everything and fills in every default.
    fn params(&self, problem: &Problem) -> Result<Self::Params, PolicyError>;
    /// The specification that gives these parameters, with nothing left out.
    fn filled(params: &Self::Params) -> Self;
    /// The policy, ready for its first run. A policy that does not randomise ignores the stream.
    fn start(params: Self::Params, stream: Stream) -> Self::Policy;
    /// The memory bound that the policy is told, if it uses one.
    fn memory_bound(&self) -> Option<u64> {
        None
    }
    /// Sets the memory bound, if the policy uses one.
    fn set_memory_bound(&mut self, _: u64) {}
    /// A short name for legends and tables.
    fn label(&self) -> String;
}

macro_rules! policies {
    ($($(#[$doc:meta])* $kind:ident($spec:ident, $params:ident),)*) => {
        /// A policy and its parameters, by `kind`.
        ///
        /// Every builder, such as [`Calibrated::builder`], converts into it.
        ///
        /// ```
        /// use calibandit::policy::Exp3;
        /// use calibandit::{PolicySpec, Problem};
        /// let spec: PolicySpec = serde_json::from_str(r#"{"kind": "exp3"}"#)?;
        /// assert_eq!(spec, Exp3::builder().into());
        /// assert_eq!(spec.label(), "EXP3");
        /// // Every default filled in, as in a manifest:
        /// let resolved = spec.resolve(&Problem { arms: 2, horizon: Some(100) })?;
        /// assert_eq!(serde_json::to_string(&resolved)?, r#"{"kind":"exp3","gamma":0.08982154680454299}"#);
        /// # Ok::<(), Box<dyn std::error::Error>>(())
        /// ```
        #[derive(Clone, Debug, PartialEq)]
        #[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
        #[cfg_attr(feature = "serde", serde(tag = "kind", rename_all = "kebab-case"))]
        #[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
        // Without the example above.
        #[cfg_attr(feature = "schema", schemars(description = "A policy and its parameters, by `kind`."))]
        #[non_exhaustive]
        pub enum PolicySpec {
            $($(#[$doc])* $kind($spec),)*
        }

        /// A policy of any kind, as [`PolicySpec::build`] makes it. It can be serialised between any two runs; the
        /// restored policy continues exactly as the original would have, its random stream included.
        #[derive(Clone, Debug, PartialEq)]
        #[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(rename_all = "kebab-case"))]
        #[non_exhaustive]
        pub enum AnyPolicy {
            $($(#[$doc])* $kind($kind),)*
        }

        impl PolicySpec {
            /// The names of all kinds, as in files.
            pub const KINDS: &[&str] = &[$(<$spec as PolicyConfig>::NAME,)*];

            /// Every kind of policy with its documentation, parameters and an example.
            #[cfg(feature = "schema")]
            pub fn catalogue() -> &'static [CatalogueEntry<Self>] {
                static CATALOGUE: LazyLock<Vec<CatalogueEntry<PolicySpec>>> = LazyLock::new(|| vec![$({
                    let example = PolicySpec::$kind(PolicyConfig::example());
                    let (name, citation) = (<$spec as PolicyConfig>::NAME, <$spec as PolicyConfig>::CITATION);
                    let entry = CatalogueEntry::new::<$spec>(name, &[], citation, example);
                    CatalogueEntry { meant_for: <$spec as PolicyConfig>::MEANT_FOR, ..entry }
                },)*]);
                &CATALOGUE
            }

            /// The name of this policy's kind, as in files.
            pub fn kind(&self) -> &'static str {
                match self {
                    $(Self::$kind(_) => <$spec as PolicyConfig>::NAME,)*
                }
            }

            /// The classes of games that this kind of policy is made for.
            pub fn meant_for(&self) -> &'static [GameClass] {
                match self {
                    $(Self::$kind(_) => <$spec as PolicyConfig>::MEANT_FOR,)*
                }
            }

            /// Checks everything that does not depend on a problem: the ranges of the parameters that are given.
            pub fn check(&self) -> Result<(), PolicyError> {
                match self {
                    $(Self::$kind(spec) => PolicyConfig::check(spec),)*
                }
            }

            /// The same policy with every default filled in for `problem`. Both build the same policy.
            pub fn resolve(&self, problem: &Problem) -> Result<Self, PolicyError> {
                match self {
                    $(Self::$kind(spec) => Ok(Self::$kind(PolicyConfig::filled(&spec.params(problem)?))),)*
                }
            }

            /// The policy, ready for its first run, with `stream` for its own randomisation if it has any.
            pub fn build(&self, problem: &Problem, stream: Stream) -> Result<AnyPolicy, PolicyError> {
                match self {
                    $(Self::$kind(spec) => spec.build(problem, stream).map(AnyPolicy::$kind),)*
                }
            }

            /// The memory bound that the policy is told, if it uses one.
            pub fn memory_bound(&self) -> Option<u64> {
                match self {
                    $(Self::$kind(spec) => PolicyConfig::memory_bound(spec),)*
                }
            }

            /// The same policy with this memory bound, if it uses one; otherwise unchanged.
            pub fn with_memory_bound(mut self, memory_bound: u64) -> Self {
                match &mut self {
                    $(Self::$kind(spec) => PolicyConfig::set_memory_bound(spec, memory_bound),)*
                }
                self
            }

            /// A short name for legends and tables, such as `SE (hoeffding)`.
            pub fn label(&self) -> String {
                match self {
                    $(Self::$kind(spec) => PolicyConfig::label(spec),)*
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
            fn wants_burn_in(&self) -> bool {
                match self {
                    $(Self::$kind(policy) => policy.wants_burn_in(),)*
                }
            }
            fn observe_burn_in(&mut self, run: Run, losses: Feedback) {
                match self {
                    $(Self::$kind(policy) => policy.observe_burn_in(run, losses),)*
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
            fn arm_reports(&self) -> Option<Vec<ArmReport>> {
                match self {
                    $(Self::$kind(policy) => policy.arm_reports(),)*
                }
            }
            fn run_reason(&self, run: Run) -> RunReason {
                match self {
                    $(Self::$kind(policy) => policy.run_reason(run),)*
                }
            }
            fn warm_start(&mut self, past: &[Feedback]) -> Result<(), WarmStartError> {
                match self {
                    $(Self::$kind(policy) => policy.warm_start(past),)*
                }
            }
            fn add_arm(&mut self) -> Result<usize, ArmChangeError> {
                match self {
                    $(Self::$kind(policy) => policy.add_arm(),)*
                }
            }
            fn retire_arm(&mut self, arm: usize) -> Result<(), ArmChangeError> {
                match self {
                    $(Self::$kind(policy) => policy.retire_arm(arm),)*
                }
            }
            fn check_restored(&self, history: &RestoredPlays<'_>) -> Result<(), StateError> {
                match self {
                    $(Self::$kind(policy) => policy.check_restored(history),)*
                }
            }
            fn observe_repeated(&mut self, run: Run, most: u64, feedback: &mut dyn FnMut() -> Feedback) -> u64 {
                match self {
                    $(Self::$kind(policy) => policy.observe_repeated(run, most, feedback),)*
                }
            }
        }

        $(
            impl From<$spec> for PolicySpec {
                fn from(spec: $spec) -> Self {
                    Self::$kind(spec)
                }
            }

            impl $spec {
                /// The checked parameters, with every default filled in for `problem`.
                pub fn params(&self, problem: &Problem) -> Result<$params, PolicyError> {
                    PolicyConfig::params(self, problem)
                }

                /// The policy, ready for its first run, with `stream` for its own randomisation if it has any.
                pub fn build(&self, problem: &Problem, stream: Stream) -> Result<$kind, PolicyError> {
                    Ok(<Self as PolicyConfig>::start(self.params(problem)?, stream))
                }
            }
        )*
    };
}

policies! {
    /// Keep every calibrated loss, burn in only on a switch, switch rarely.
    Calibrated(CalibratedSpec, CalibratedParams),
    /// The paper's Algorithm 1.
    SuccessiveElimination(SuccessiveEliminationSpec, SuccessiveEliminationParams),
    /// The paper's Algorithm 1 without a horizon.
    AnytimeElimination(AnytimeEliminationSpec, AnytimeEliminationParams),
    /// Exponential weights.
    Exp3(Exp3Spec, Exp3Params),
    /// Exponential weights over batches of plays.
    BatchedExp3(BatchedExp3Spec, BatchedExp3Params),
    /// Upper confidence bounds over epochs of M plays.
    EpochUcb(EpochUcbSpec, EpochUcbParams),
    /// Upper confidence bounds over single plays, without burn-in.
    Ucb1(Ucb1Spec, Ucb1Params),
    /// Thompson sampling over single plays, without burn-in.
    Thompson(ThompsonSpec, ThompsonParams),
    /// Measure every arm once, then play the best.
    ExploreThenCommit(ExploreThenCommitSpec, ExploreThenCommitParams),
    /// Find the memory by a pilot, then play `calibrated` with it.
    Pilot(PilotSpec, PilotParams),
    /// Upper confidence bounds over all windows of the last losses, for rotting arms.
    RawUcb(RawUcbSpec, RawUcbParams),
    /// Filtering by means of longer and longer windows, for rotting arms.
    Fewa(FewaSpec, FewaParams),
    /// The sliding window average, for rotting arms.
    Swa(SwaSpec, SwaParams),
    /// The sliding window average without a horizon, for rotting arms.
    Wswa(WswaSpec, WswaParams),
    /// The arm with the least last loss, for rotting arms without noise.
    Greedy(GreedySpec, GreedyParams),
    /// Elimination by optimistic futures, for improving arms without noise.
    Heidari(HeidariSpec, HeidariParams),
    /// The most optimistic future, for single-peaked arms.
    Spo(SpoSpec, SpoParams),
    /// Upper confidence bounds on extrapolated losses, for rising arms.
    RisingUcb(RisingUcbSpec, RisingUcbParams),
    /// Best-arm identification by upper confidence bounds, for rising arms.
    RisingUcbe(RisingUcbeSpec, RisingUcbeParams),
    /// Best-arm identification by successive rejects, for rising arms.
    RisingHalving(RisingHalvingSpec, RisingHalvingParams),
    /// Upper confidence bounds over the last plays: a reference.
    SlidingUcb(SlidingUcbSpec, SlidingUcbParams),
    /// Upper confidence bounds over discounted losses: a reference.
    DiscountedUcb(DiscountedUcbSpec, DiscountedUcbParams),
    /// Optimism per arm and tally, and exact plans over all windows.
    Planner(PlannerSpec, PlannerParams),
    /// Optimism per arm and tally, and the best block cycle.
    Rotation(RotationSpec, RotationParams),
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn every_kind_and_parameter_is_documented() {
        for kind in PolicySpec::catalogue() {
            assert_eq!(kind.schema["additionalProperties"], json!(false), "{}", kind.name);
            assert!(kind.summary.len() > 20 && kind.citation.len() > 20, "{kind:?}");
            for parameter in &kind.parameters {
                assert!(!parameter.meaning.is_empty(), "{}: {}", kind.name, parameter.name);
                let default = parameter.default_in_words();
                assert_eq!(default.is_none(), parameter.required, "{}: {}", kind.name, parameter.name);
            }
        }
    }

    #[test]
    fn kinds_have_the_same_names_in_files_and_in_the_catalogue() {
        for (kind, name) in PolicySpec::catalogue().iter().zip(PolicySpec::KINDS) {
            assert_eq!((kind.name, kind.example.kind()), (*name, *name));
            let bound = kind.example.clone().with_memory_bound(7).memory_bound();
            assert_eq!(bound, kind.parameter("memory_bound").map(|_| 7));
            let mut file = json!({ "kind": name });
            for parameter in kind.parameters.iter().filter(|parameter| parameter.required) {
                file[&parameter.name] = json!(2);
            }
            assert_eq!(serde_json::from_value::<PolicySpec>(file.clone()).unwrap(), kind.example);
            file["typo"] = json!(1);
            assert!(serde_json::from_value::<PolicySpec>(file).is_err(), "{name}: unknown fields are refused");
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
        let names: Vec<_> = PolicySpec::KINDS.iter().map(|name| json!(name)).collect();
        assert_eq!(kinds, names);
    }

    #[test]
    fn parameters_are_described_as_their_types_say() {
        let find = |kind: &str, parameter: &str| {
            let kind = PolicySpec::catalogue().iter().find(|entry| entry.name == kind).unwrap();
            let parameter = kind.parameter(parameter).unwrap();
            (parameter.values.clone(), parameter.default_in_words().unwrap_or_default())
        };
        let found = [
            find("calibrated", "memory_bound"),
            find("calibrated", "growth"),
            find("successive-elimination", "radius"),
            find("exp3", "gamma"),
            find("explore-then-commit", "explore"),
        ];
        let expected = [
            ("an integer, at least 1", ""),
            ("a number in (0, 100]", "0.15, or 1 for `elimination`"),
            ("paper, hoeffding or difference, or a positive number", "paper"),
            ("a number in (0, 1]", "min(1, sqrt(K ln K / ((e - 1) N))) for N updates"),
            ("an integer, at least 1", "ceil((T / K)^(2/3) (ln T)^(1/3)), or as many as the horizon allows"),
        ];
        assert_eq!(found, expected.map(|(values, default)| (values.to_owned(), default.to_owned())));
    }
}
