//! What a request to create an experiment says, and its check.

use calibandit::lanes::{ExpiryRule, ExplorerCount, LaneAdvisor, LaneFiller, LaneMode, LaneSettings};
use calibandit::lanes::{LaneSettingsError, overlap_burn_in};
use calibandit::{AnyPolicy, LossRange, PolicySpec};
use serde::{Deserialize, Serialize};

/// A live experiment: its arms, its policy, and the rules of its feedback.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct LiveExperimentSpec {
    /// The names of the arms, at least one. They stand for themselves in all requests and answers.
    pub arms: Vec<String>,
    /// The policy and its parameters.
    pub policy: PolicySpec,
    /// The seed of the policy's own randomisation and of the choice of exploring lanes.
    #[serde(default)]
    pub seed: u64,
    /// The number of plays of all lanes together, for policies that need to know it.
    #[serde(default)]
    pub horizon: Option<u64>,
    /// The range of possible losses.
    #[serde(default)]
    pub loss_range: LossRangeSpec,
    /// What holds the memory.
    #[serde(default)]
    pub lanes: LanesSpec,
    /// What becomes of decisions whose outcome is not told.
    pub feedback: FeedbackRules,
}

/// The range of possible losses.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct LossRangeSpec {
    /// The least possible loss.
    pub low: f64,
    /// The largest possible loss.
    pub high: f64,
}

impl Default for LossRangeSpec {
    fn default() -> Self {
        Self { low: 0.0, high: 1.0 }
    }
}

/// The lanes of an experiment. A lane is one sequence of plays with a memory of its own, such as a user or a machine.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct LanesSpec {
    /// One lane, or any number of them.
    #[serde(default)]
    pub mode: LanesMode,
    /// How many plays of one lane may be under way at once.
    #[serde(default = "one")]
    pub overlap: u32,
    /// A bound on the memory of the arms. Policies that have one of their own use that.
    #[serde(default)]
    pub memory_bound: Option<u64>,
    /// A lane that was not asked for longer than this has lost its memory.
    #[serde(default)]
    pub reset_after_seconds: Option<f64>,
    /// With many lanes, the most lanes that explore at once; null for a rule by the number of active lanes.
    #[serde(default)]
    pub explorers: Option<u32>,
    /// With many lanes, the most losses that one lane measures before another one takes its place.
    #[serde(default)]
    pub per_visit_cap: Option<u64>,
    /// With many lanes, exploring pauses after this many plays without a measured one.
    #[serde(default)]
    pub starve_after: Option<u64>,
}

fn one() -> u32 {
    1
}

impl Default for LanesSpec {
    fn default() -> Self {
        Self {
            mode: LanesMode::One,
            overlap: 1,
            memory_bound: None,
            reset_after_seconds: None,
            explorers: None,
            per_visit_cap: None,
            starve_after: None,
        }
    }
}

/// How many lanes an experiment has.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum LanesMode {
    /// One lane: the first one that is asked.
    #[default]
    One,
    /// Any number of lanes.
    Many,
}

/// What becomes of decisions whose outcome is not told, and what is played meanwhile.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct FeedbackRules {
    /// After this time a decision expires. Required unless `on_timeout` is `never`.
    #[serde(default)]
    pub timeout_seconds: Option<f64>,
    /// What an expired decision counts as. There is no default: only you know whether silence is a loss.
    pub on_timeout: TimeoutRule,
    /// What is played while the policy waits for losses.
    #[serde(default)]
    pub while_waiting: LaneFiller,
}

/// What an expired decision counts as.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum TimeoutRule {
    /// Decisions do not expire.
    Never,
    /// Nothing is known about the play. It must not be made any more.
    Lost,
    /// The play was made, with this loss.
    Loss(f64),
}

/// A value of a request that is not valid, and its place.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub(crate) struct InvalidField {
    /// The place in the body, as a JSON pointer.
    pub pointer: String,
    /// What is wrong.
    pub message: String,
}

impl InvalidField {
    pub(crate) fn new(pointer: impl Into<String>, message: impl Into<String>) -> Self {
        Self { pointer: pointer.into(), message: message.into() }
    }
}

/// The longest names of arms and lanes, in bytes.
pub(crate) const LONGEST_NAME: usize = 200;

/// The longest time that rules may have: about 31 years.
const LONGEST_SECONDS: f64 = 1e9;

impl LiveExperimentSpec {
    /// The state machine at its start.
    pub(crate) fn build(&self) -> Result<LaneAdvisor<AnyPolicy>, InvalidField> {
        self.check_arms()?;
        let range = LossRange::new(self.loss_range.low, self.loss_range.high)
            .map_err(|error| InvalidField::new("/loss_range", error.to_string()))?;
        let builder = LaneAdvisor::builder(self.policy.clone(), self.arms.len(), self.settings()?);
        let builder = builder.seed(self.seed).loss_range(range);
        let builder = match self.horizon {
            Some(horizon) => builder.horizon(horizon),
            None => builder,
        };
        builder.build().map_err(|error| InvalidField::new(self.pointer(&error), error.to_string()))
    }

    fn check_arms(&self) -> Result<(), InvalidField> {
        if self.arms.is_empty() {
            return Err(InvalidField::new("/arms", "an experiment needs at least one arm"));
        }
        for (index, arm) in self.arms.iter().enumerate() {
            let pointer = format!("/arms/{index}");
            check_name("arm", arm).map_err(|message| InvalidField::new(&pointer, message))?;
            if self.arms[..index].contains(arm) {
                return Err(InvalidField::new(pointer, format!("the arm `{arm}` is listed twice")));
            }
        }
        Ok(())
    }

    fn settings(&self) -> Result<LaneSettings, InvalidField> {
        let lanes = &self.lanes;
        let mut settings = LaneSettings::new(self.expiry()?).filler(self.feedback.while_waiting);
        settings.lanes = match lanes.mode {
            LanesMode::One => LaneMode::One,
            LanesMode::Many => LaneMode::Many,
        };
        settings.overlap = lanes.overlap;
        settings.memory_bound = lanes.memory_bound.unwrap_or(1);
        settings.explorers = lanes.explorers.map_or(ExplorerCount::Auto, ExplorerCount::AtMost);
        (settings.visit_cap, settings.starve_after) = (lanes.per_visit_cap, lanes.starve_after);
        if let Some(seconds) = lanes.reset_after_seconds {
            settings.reset_after = Some(milliseconds(seconds, "/lanes/reset_after_seconds")?);
        }
        Ok(settings)
    }

    fn expiry(&self) -> Result<ExpiryRule, InvalidField> {
        let pointer = "/feedback/timeout_seconds";
        let after = self.feedback.timeout_seconds.map(|seconds| milliseconds(seconds, pointer)).transpose()?;
        match (self.feedback.on_timeout, after) {
            (TimeoutRule::Never, None) => Ok(ExpiryRule::Never),
            (TimeoutRule::Never, Some(_)) => {
                Err(InvalidField::new(pointer, "decisions that never expire have no timeout: leave it out"))
            }
            (_, None) => Err(InvalidField::new(pointer, "say after how many seconds a decision expires")),
            (TimeoutRule::Lost, Some(after)) => Ok(ExpiryRule::Lost { after }),
            (TimeoutRule::Loss(loss), Some(after)) => Ok(ExpiryRule::Loss { after, loss }),
        }
    }

    /// Where a setting that the library refuses stands in the request.
    fn pointer(&self, error: &LaneSettingsError) -> &'static str {
        match error {
            LaneSettingsError::Range { field: "overlap", .. } => "/lanes/overlap",
            LaneSettingsError::Range { field: "memory_bound", .. } => "/lanes/memory_bound",
            LaneSettingsError::Range { field: "explorers", .. } => "/lanes/explorers",
            LaneSettingsError::Range { field: "visit_cap", .. } => "/lanes/per_visit_cap",
            LaneSettingsError::Range { field: "starve_after", .. } => "/lanes/starve_after",
            LaneSettingsError::Range { .. } => "/feedback",
            LaneSettingsError::ExpiryLoss { .. } => "/feedback/on_timeout/loss",
            LaneSettingsError::Arms { .. } => "/arms",
            LaneSettingsError::NoHorizon => "/horizon",
            _ => "/policy",
        }
    }

    /// What a user should know about valid settings, as pairs of a code and a sentence.
    pub(crate) fn warnings(&self) -> Vec<(&'static str, String)> {
        let memory_bound = self.policy.memory_bound().or(self.lanes.memory_bound);
        let mut warnings = Vec::new();
        if let Some(bound) = memory_bound.filter(|&bound| bound > 1 && self.lanes.overlap > 1) {
            let (with, without) = (overlap_burn_in(bound, self.lanes.overlap), bound - 1);
            let plays = self.lanes.overlap;
            let text = format!("{plays} plays at once: {with} warm-up plays after a switch instead of {without}");
            warnings.push(("overlap-adds-burn-in", text));
        }
        if memory_bound.is_none() {
            let text = "neither the policy nor `lanes.memory_bound` has a memory bound, so every loss counts as \
                        calibrated from the first play of an arm on";
            warnings.push(("no-memory-bound", text.to_owned()));
        }
        warnings
    }
}

fn milliseconds(seconds: f64, pointer: &str) -> Result<u64, InvalidField> {
    // No range contains NaN.
    if (0.001..=LONGEST_SECONDS).contains(&seconds) {
        return Ok((seconds * 1000.0).round() as u64);
    }
    Err(InvalidField::new(pointer, format!("{seconds} seconds: it must be between 0.001 and 10^9 seconds")))
}

/// Whether this can be the name of an arm or a lane.
pub(crate) fn check_name(what: &str, name: &str) -> Result<(), String> {
    if name.is_empty() || name.len() > LONGEST_NAME {
        return Err(format!("the name of this {what} has {} bytes: it must have 1 to {LONGEST_NAME}", name.len()));
    }
    if name.chars().any(char::is_control) {
        return Err(format!("the name of this {what} has a control character"));
    }
    Ok(())
}

/// Whether this can be the name of an experiment: it is part of addresses.
pub(crate) fn check_experiment_name(name: &str) -> Result<(), String> {
    let valid = |c: char| c.is_ascii_alphanumeric() || "._-".contains(c);
    if (1..=64).contains(&name.len()) && name.chars().all(valid) && name.starts_with(|c: char| c != '.') {
        return Ok(());
    }
    Err("the name of an experiment has 1 to 64 letters, digits, `-`, `_` or `.`, and does not begin with `.`"
        .to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn spec(json: &str) -> Result<LiveExperimentSpec, serde_json::Error> {
        serde_json::from_str(json)
    }

    fn refused(json: &str) -> (String, String) {
        let error = spec(json).unwrap().build().unwrap_err();
        (error.pointer, error.message)
    }

    const RULES: &str = r#""policy": {"kind": "calibrated", "memory_bound": 8}"#;

    #[test]
    fn invalid_values_are_named_with_their_place() {
        let cases = [
            (format!(r#"{{"arms": [], {RULES}, "feedback": {{"on_timeout": "never"}}}}"#), "/arms"),
            (format!(r#"{{"arms": ["a", "a"], {RULES}, "feedback": {{"on_timeout": "never"}}}}"#), "/arms/1"),
            (format!(r#"{{"arms": ["a", "b\u0000"], {RULES}, "feedback": {{"on_timeout": "never"}}}}"#), "/arms/1"),
            (
                format!(r#"{{"arms": ["a"], {RULES}, "feedback": {{"on_timeout": "lost"}}}}"#),
                "/feedback/timeout_seconds",
            ),
            (
                format!(r#"{{"arms": ["a"], {RULES}, "feedback": {{"on_timeout": "lost", "timeout_seconds": 0}}}}"#),
                "/feedback/timeout_seconds",
            ),
            (
                format!(
                    r#"{{"arms": ["a"], {RULES}, "feedback": {{"on_timeout": {{"loss": 2}}, "timeout_seconds": 1}}}}"#
                ),
                "/feedback/on_timeout/loss",
            ),
            (
                format!(
                    r#"{{"arms": ["a"], {RULES}, "feedback": {{"on_timeout": "never"}}, "lanes": {{"overlap": 0}}}}"#
                ),
                "/lanes/overlap",
            ),
            (
                format!(
                    r#"{{"arms": ["a"], {RULES}, "feedback": {{"on_timeout": "never"}},
                         "loss_range": {{"low": 1, "high": 0}}}}"#
                ),
                "/loss_range",
            ),
        ];
        for (json, pointer) in cases {
            assert_eq!(refused(&json).0, pointer, "{json}");
        }
    }

    #[test]
    fn the_rule_for_silence_has_no_default_and_unknown_fields_are_refused() {
        assert!(spec(&format!(r#"{{"arms": ["a"], {RULES}, "feedback": {{}}}}"#)).is_err());
        assert!(spec(&format!(r#"{{"arms": ["a"], {RULES}}}"#)).is_err());
        let unknown = format!(r#"{{"arms": ["a"], {RULES}, "feedback": {{"on_timeout": "never"}}, "sed": 1}}"#);
        assert!(spec(&unknown).unwrap_err().to_string().contains("unknown field `sed`"));
    }

    #[test]
    fn overlap_and_a_missing_bound_are_pointed_out() {
        let overlap = format!(
            r#"{{"arms": ["a", "b"], {RULES}, "feedback": {{"on_timeout": "never"}}, "lanes": {{"overlap": 3}}}}"#
        );
        let [(code, text)] = &spec(&overlap).unwrap().warnings()[..] else { panic!("one warning") };
        assert_eq!(*code, "overlap-adds-burn-in");
        assert_eq!(text, "3 plays at once: 11 warm-up plays after a switch instead of 7");
        let ucb = r#"{"arms": ["a", "b"], "policy": {"kind": "ucb1"}, "feedback": {"on_timeout": "never"}}"#;
        assert_eq!(spec(ucb).unwrap().warnings()[0].0, "no-memory-bound");
    }

    #[test]
    fn names_of_experiments_are_fit_for_addresses() {
        assert!(["a", "labelling-2", "v1.0_x"].iter().all(|name| check_experiment_name(name).is_ok()));
        let long = "a".repeat(65);
        assert!(["", ".a", "a/b", "ä", "a b", &long].iter().all(|name| check_experiment_name(name).is_err()));
    }
}
