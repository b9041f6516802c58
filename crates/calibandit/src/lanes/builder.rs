//! A lane advisor over a policy of this library, in one expression.

use super::settings::{LaneMode, LaneSettings, LaneSettingsError};
use super::{LaneAdvisor, LaneFiller};
use crate::{AnyPolicy, LossRange, PolicySpec, Problem, StreamKey};

/// The name in the [`StreamKey`] of the policy: the same as that of an [`Advisor`](crate::Advisor).
const STREAM_NAME: &str = "live";

/// The parameters of a [`LaneAdvisor`] over a policy of this library; see [`LaneAdvisor::builder`].
#[derive(Clone, Debug, PartialEq)]
#[must_use = "call `build` to get the advisor"]
pub struct LaneBuilder {
    policy: PolicySpec,
    problem: Problem,
    seed: u64,
    range: LossRange,
    settings: LaneSettings,
}

impl LaneAdvisor<AnyPolicy> {
    /// The parameters of an advisor over a policy of this library, on this many arms. Without further settings the seed
    /// is 0, the horizon is unknown and losses lie in [0, 1]. The memory bound is that of the policy, if it has one;
    /// otherwise that of the settings.
    ///
    /// ```
    /// use calibandit::lanes::{ExpiryRule, LaneAdvisor, LaneSettings, LaneSettingsError};
    /// use calibandit::policy::{Calibrated, Exp3};
    ///
    /// let settings = LaneSettings::new(ExpiryRule::Never).many();
    /// let advisor = LaneAdvisor::builder(Calibrated::builder(8), 4, settings.overlap(3)).build()?;
    /// assert_eq!(advisor.settings().burn_in(), 11);
    /// let refused = LaneAdvisor::builder(Exp3::builder(), 4, settings).horizon(100).build();
    /// assert!(matches!(refused, Err(LaneSettingsError::OwnDraws { kind: "exp3" })));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn builder(policy: impl Into<PolicySpec>, arms: usize, settings: LaneSettings) -> LaneBuilder {
        let problem = Problem { arms, horizon: None };
        LaneBuilder { policy: policy.into(), problem, seed: 0, range: LossRange::default(), settings }
    }
}

impl LaneBuilder {
    /// The seed of the policy's own randomisation, and of the choice of explorers.
    pub fn seed(self, seed: u64) -> Self {
        Self { seed, ..self }
    }

    /// The number of plays of all lanes together, for policies that need to know it.
    pub fn horizon(mut self, horizon: u64) -> Self {
        self.problem.horizon = Some(horizon);
        self
    }

    /// The range of possible losses, if it is not [0, 1].
    pub fn loss_range(self, range: LossRange) -> Self {
        Self { range, ..self }
    }

    /// The advisor.
    pub fn build(self) -> Result<LaneAdvisor<AnyPolicy>, LaneSettingsError> {
        let streams = StreamKey::new(self.seed, STREAM_NAME, 0);
        self.build_with(streams)
    }

    /// The advisor with the streams of this key.
    pub(crate) fn build_with(mut self, streams: StreamKey<'_>) -> Result<LaneAdvisor<AnyPolicy>, LaneSettingsError> {
        if self.problem.horizon == Some(0) {
            return Err(LaneSettingsError::NoHorizon);
        }
        check_policy_kind(&self.policy, &self.settings)?;
        if let Some(memory_bound) = self.policy.memory_bound() {
            self.settings.memory_bound = memory_bound;
        }
        let policy = self.policy.build(&self.problem, streams.policy())?;
        let stream = streams.lanes();
        let mut advisor =
            LaneAdvisor::new(policy, self.problem.arms, self.range, self.settings, stream)?.looking_ahead();
        advisor.books.horizon = self.problem.horizon;
        Ok(advisor)
    }
}

/// Whether the policy can use losses beyond its own runs. Exponential weights divide each loss by the probability of
/// the draw that it belongs to; a pilot measures plays that are not calibrated.
pub(crate) fn check_policy_kind(policy: &PolicySpec, settings: &LaneSettings) -> Result<(), LaneSettingsError> {
    let in_order = settings.lanes == LaneMode::One && settings.filler == LaneFiller::Wait;
    match policy {
        PolicySpec::Exp3(_) | PolicySpec::BatchedExp3(_) if !in_order => {
            Err(LaneSettingsError::OwnDraws { kind: policy.kind() })
        }
        // Policies that plan count the tallies of the plays that they asked for, and use losses of cold arms.
        PolicySpec::Planner(_) | PolicySpec::Rotation(_) => Err(LaneSettingsError::OneWindow { kind: policy.kind() }),
        PolicySpec::Pilot(_) if !in_order || settings.overlap > 1 => {
            Err(LaneSettingsError::OrderedPlays { kind: policy.kind() })
        }
        _ => Ok(()),
    }
}
