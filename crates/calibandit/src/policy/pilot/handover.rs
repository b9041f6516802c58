//! What follows the pilot: `calibrated`, started from the calibrated losses of the pilot.

use crate::policy::calibrated::{Calibrated, CalibratedSpec};
use crate::policy::history::{ClosedRuns, RestoredPlays, StateError, ensure};
use crate::{Feedback, Policy, Problem, Run, Stream};

/// `calibrated`, and the plays before it.
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(deny_unknown_fields))]
pub(super) struct Handover {
    arms: usize,
    memory_bound: u64,
    policy: Calibrated,
    /// The plays of each arm in the pilot; empty if there was none.
    pilot: Vec<u64>,
    /// The losses of the pilot that `policy` started from.
    past: Vec<Feedback>,
    /// The runs since; `None` before the first.
    #[cfg_attr(feature = "serde", serde(default, skip_serializing_if = "Option::is_none"))]
    since: Option<ClosedRuns>,
}

impl Handover {
    /// Plays the whole problem.
    pub(super) fn without_pilot(spec: CalibratedSpec, problem: Problem, stream: Stream) -> Self {
        let policy = spec.build(&problem, stream).expect("the pilot has checked the problem");
        Self {
            arms: problem.arms,
            memory_bound: spec.memory_bound,
            policy,
            pilot: Vec::new(),
            past: Vec::new(),
            since: None,
        }
    }

    /// Continues after a pilot with these plays of each arm, of which these losses were calibrated.
    pub(super) fn after_pilot(
        spec: CalibratedSpec,
        problem: Problem,
        stream: Stream,
        pilot: Vec<u64>,
        past: Vec<Feedback>,
    ) -> Self {
        let plays: u64 = pilot.iter().sum();
        // The pilot is far shorter than the horizon.
        let horizon = problem.horizon.map(|horizon| horizon.saturating_sub(plays).max(1));
        let mut this = Self::without_pilot(spec, Problem { horizon, ..problem }, stream);
        this.policy.warm_start(&past).expect("there is one sum of losses per arm, and no run was made");
        (this.pilot, this.past) = (pilot, past);
        this
    }

    pub(super) fn memory_bound(&self) -> u64 {
        self.memory_bound
    }

    pub(super) fn pilot_plays(&self) -> u64 {
        self.pilot.iter().sum()
    }

    pub(super) fn policy(&self) -> &Calibrated {
        &self.policy
    }

    pub(super) fn next_run(&mut self) -> Run {
        self.policy.next_run()
    }

    pub(super) fn observe(&mut self, run: Run, feedback: Feedback) {
        self.policy.observe(run, feedback);
        self.since.get_or_insert_with(|| ClosedRuns::new(self.arms)).close(run, 0, 0);
    }

    pub(super) fn check_restored(&self, longest: u32, history: &RestoredPlays<'_>) -> Result<(), StateError> {
        let Self { arms, memory_bound, policy, pilot, past, since } = self;
        ensure(*arms == history.arms, "the policy has another number of arms")?;
        ensure((1..=u64::from(longest)).contains(memory_bound), "the memory bound is out of range")?;
        let arms = *arms;
        let none = ClosedRuns::new(arms);
        let since = since.as_ref().unwrap_or(&none);
        let empty = pilot.is_empty() && past.is_empty();
        ensure(empty || (pilot.len() == arms && past.len() == arms), "the pilot has another number of arms")?;
        for (past, &pilot) in past.iter().zip(pilot) {
            let sane = past.plays <= pilot && history.allows_sums(past.plays as f64, past.sum, past.sum_sq);
            ensure(sane, "the losses of the pilot are out of range")?;
        }
        let lengths = [since.recorded.len(), since.burn_in.len(), since.lost.len()] == [arms; 3];
        ensure(lengths, "the runs after the pilot are of another number of arms")?;
        if let Some(closed) = history.closed {
            let recorded = |arm: usize| {
                let before = pilot.get(arm).copied().unwrap_or(0);
                closed.recorded.get(arm).copied() == before.checked_add(since.recorded[arm])
            };
            let same = (0..arms).all(recorded) && closed.burn_in == since.burn_in;
            ensure(same && closed.visits >= since.visits, "the policy and the advisor differ in the plays")?;
        }
        policy.check_restored(&RestoredPlays { closed: Some(since), past, ..*history })
    }
}
