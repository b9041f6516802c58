//! An advisor in one expression.

use super::{Advisor, AdvisorError, LossRange};
use crate::{AnyPolicy, Feedback, PolicySpec, Problem, StreamKey};

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
    warm_start: Option<Vec<Feedback>>,
    probe: bool,
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
        let (policy, range) = (policy.into(), LossRange::default());
        AdvisorBuilder { policy, problem, seed: 0, range, warm_start: None, probe: false }
    }
}

impl AdvisorBuilder {
    /// The seed of the policy's own randomisation. The policy draws from
    /// [`StreamKey::new(seed, "live", 0)`](StreamKey::new)`.policy()`.
    pub fn seed(self, seed: u64) -> Self {
        Self { seed, ..self }
    }

    /// The number of plays, for policies that need to know it. Decisions beyond it are marked as such.
    pub fn horizon(mut self, horizon: u64) -> Self {
        self.problem.horizon = Some(horizon);
        self
    }

    /// The range of possible losses, if it is not [0, 1].
    pub fn loss_range(self, range: LossRange) -> Self {
        Self { range, ..self }
    }

    /// Past losses to start from: per arm the number, the sum and the sum of squares of losses of the calibrated arm. A
    /// policy that keeps no means refuses them; see [`Advisor::with_warm_start`].
    ///
    /// ```
    /// use calibandit::policy::Calibrated;
    /// use calibandit::{Advisor, Feedback};
    ///
    /// let past = [(40, 8.0), (40, 30.0)].map(|(plays, sum)| Feedback { plays, sum, sum_sq: sum });
    /// let advisor = Advisor::builder(Calibrated::builder(3), 2).warm_start(past).build()?;
    /// assert_eq!(advisor.recommend(), 0);
    /// assert_eq!(advisor.state().arms[1].measured, 40);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn warm_start(self, past: impl Into<Vec<Feedback>>) -> Self {
        Self { warm_start: Some(past.into()), ..self }
    }

    /// Whether the first visit of each arm has a longer burn-in, of 4M - 1 plays for a bound M on the memory, with
    /// which the monitor sees a bound that is too small. Its losses should be told. Needs a policy with a bound.
    pub fn probe(self, probe: bool) -> Self {
        Self { probe, ..self }
    }

    /// The advisor.
    pub fn build(self) -> Result<Advisor<AnyPolicy>, AdvisorError> {
        let stream = StreamKey::new(self.seed, STREAM_NAME, 0).policy();
        let policy = self.policy.build(&self.problem, stream)?;
        let mut advisor = Advisor::with_range(policy, self.problem.arms, self.range)?;
        advisor = advisor.with_monitor(self.policy.memory_bound(), self.probe)?;
        if let Some(horizon) = self.problem.horizon {
            advisor = advisor.with_horizon(horizon)?;
        }
        match &self.warm_start {
            Some(past) => advisor.with_warm_start(past),
            None => Ok(advisor),
        }
    }
}
