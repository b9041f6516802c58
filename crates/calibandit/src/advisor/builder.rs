//! An advisor in one expression.

use super::{Advisor, AdvisorError, LossRange};
use crate::{AnyPolicy, PolicySpec, Problem, StreamKey};

/// The name in the [`StreamKey`] of an advisor's policy.
const STREAM_NAME: &str = "live";

/// The parameters of an [`Advisor`] over a policy of this library; see [`Advisor::builder`].
#[derive(Clone, Debug, PartialEq)]
#[must_use = "call `build` to get the advisor"]
pub struct AdvisorBuilder {
    policy: PolicySpec,
    problem: Problem,
    seed: u64,
    range: LossRange,
}

impl Advisor<AnyPolicy> {
    /// The parameters of an advisor over a policy of this library, on this many arms. Without further settings the seed
    /// is 0, the horizon is unknown and losses lie in [0, 1].
    ///
    /// ```
    /// use calibandit::Advisor;
    /// use calibandit::policy::Calibrated;
    ///
    /// let mut advisor = Advisor::builder(Calibrated::builder(3), 4).seed(7).build()?;
    /// let decision = advisor.ask()?;
    /// advisor.tell(decision.id, 0.25)?; // a loss, to be minimised: for a reward in [0, 1], tell `1.0 - reward`
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn builder(policy: impl Into<PolicySpec>, arms: usize) -> AdvisorBuilder {
        let problem = Problem { arms, horizon: None };
        AdvisorBuilder { policy: policy.into(), problem, seed: 0, range: LossRange::default() }
    }
}

impl AdvisorBuilder {
    /// The seed of the policy's own randomisation. The policy draws from
    /// [`StreamKey::new(seed, "live", 0)`](StreamKey::new)`.policy()`.
    pub fn seed(self, seed: u64) -> Self {
        Self { seed, ..self }
    }

    /// The number of plays, for policies that need to know it.
    pub fn horizon(mut self, horizon: u64) -> Self {
        self.problem.horizon = Some(horizon);
        self
    }

    /// The range of possible losses, if it is not [0, 1].
    pub fn loss_range(self, range: LossRange) -> Self {
        Self { range, ..self }
    }

    /// The advisor.
    pub fn build(self) -> Result<Advisor<AnyPolicy>, AdvisorError> {
        let stream = StreamKey::new(self.seed, STREAM_NAME, 0).policy();
        Advisor::with_range(self.policy.build(&self.problem, stream)?, self.problem.arms, self.range)
    }
}
