//! What a lane advisor knows: the table of arms, confidence intervals, reasons of runs, and past losses to start from.

use std::collections::VecDeque;

use super::watch::ALARM;
use super::{LaneAdvisor, LaneBooks};
use crate::advisor::{AdvisorError, AdvisorState, Confidence, ConfidenceError, MonitorVerdict, StateView};
use crate::confidence::{LossScale, LossSequence};
use crate::policy::RunReason;
use crate::{Feedback, Policy, Run, math};

/// The reasons of this many runs are kept.
const EXPLAINED: usize = 64;

/// The latest runs and their reasons. They are no part of the state: snapshots do not have them.
#[derive(Clone, Debug, Default)]
pub(super) struct LaneReasons(VecDeque<(u64, Run, RunReason)>);

impl PartialEq for LaneReasons {
    fn eq(&self, _: &Self) -> bool {
        true
    }
}

impl LaneReasons {
    pub(super) fn push(&mut self, number: u64, run: Run, reason: RunReason) {
        if self.0.len() == EXPLAINED {
            self.0.pop_front();
        }
        self.0.push_back((number, run, reason));
    }
}

impl LaneBooks {
    pub(super) fn scale(&self) -> LossScale {
        self.range.scale()
    }

    /// The losses of an arm that the policy knows, past ones included.
    pub(super) fn known(&self, arm: usize) -> Feedback {
        let mut known = self.past.get(arm).copied().unwrap_or_default();
        known += self.taken[arm];
        known
    }

    fn view(&self) -> StateView<'_> {
        StateView {
            plays: &self.plays,
            losses: &self.losses,
            scale: self.scale(),
            decisions: self.next,
            horizon: self.horizon,
            warming: None,
        }
    }
}

impl<P: Policy> LaneAdvisor<P> {
    /// What the advisor knows about each arm, and how sure it is, with a probability of error of 0.05: as
    /// [`Advisor::state`](crate::Advisor::state). The losses of a run count when the run is complete, in the order of
    /// the decisions. The monitor compares losses within visits of lanes; see [`warnings`](Self::warnings).
    pub fn state(&self) -> AdvisorState {
        let (watch, memory_bound) = (&self.books.watch, Some(self.books.settings.memory_bound));
        let monitor = MonitorVerdict {
            alarm: watch.peak >= ALARM,
            evidence: math::ln(watch.peak),
            threshold: math::ln(ALARM),
            false_alarms: 1.0 / ALARM,
            runs: watch.visits,
            memory_bound,
            probe: false,
            detectable: None,
        };
        AdvisorState::of(&self.policy, &self.books.view(), monitor)
    }

    /// How sure the advisor is: an interval per arm that holds at every time at once, together with all others, except
    /// with probability `delta`; as [`Advisor::confidence`](crate::Advisor::confidence).
    pub fn confidence(&self, delta: f64) -> Result<Confidence, ConfidenceError> {
        if !(delta > 0.0 && delta < 1.0) {
            return Err(ConfidenceError { delta });
        }
        Ok(Confidence::of(&self.books.losses, &self.books.scale(), delta, self.policy.recommend()))
    }

    /// The run with this number, and why the policy asked for it. The latest 64 are kept, in memory only.
    pub fn explain_run(&self, run: u64) -> Option<(Run, RunReason)> {
        self.reasons.0.iter().find(|(number, ..)| *number == run).map(|&(_, run, reason)| (run, reason))
    }

    /// The same, started from past losses: as [`Advisor::with_warm_start`](crate::Advisor::with_warm_start).
    pub fn with_warm_start(mut self, past: &[Feedback]) -> Result<Self, AdvisorError> {
        let books = &mut self.books;
        crate::advisor::check_past(past, books.plays.len(), &books.range, books.next > 0)?;
        self.policy.warm_start(past)?;
        let scale = books.scale();
        books.losses = past.iter().map(|past| LossSequence::after(past, &scale)).collect();
        books.past = past.to_vec();
        books.leader = self.policy.recommend();
        Ok(self)
    }
}
