//! Why the advisor made a decision.

use std::collections::VecDeque;

use super::{Advisor, Phase};
use crate::policy::RunReason;
use crate::{Policy, Run};

/// The decisions of this many runs can be explained.
const EXPLAINED: usize = 64;

/// Why the advisor made a decision; see [`Advisor::explain`].
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[non_exhaustive]
pub struct Explanation {
    /// The decision.
    pub decision: u64,
    /// Its arm.
    pub arm: usize,
    /// How its loss is used.
    pub phase: Phase,
    /// The number of this play among the burn-in plays, or among the measured plays, of its run, from 1.
    pub play: u64,
    /// The number of burn-in plays, or of measured plays, of its run; `u64::MAX` for a run without an end. A larger
    /// `play` replaces one whose loss was given up.
    pub of: u64,
    /// How many of the burn-in plays belong to the probe of the monitor.
    pub probe: u64,
    /// The arm that was played before the run, if it was another one and is known.
    pub switched_from: Option<usize>,
    /// Why the policy asked for the run.
    pub reason: RunReason,
}

/// Why a decision cannot be explained.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ExplainError {
    /// This decision was never made.
    #[error("decision {decision} was never made: {made} decisions have been made so far, numbered from 0")]
    Unknown {
        /// The decision.
        decision: u64,
        /// The number of decisions made.
        made: u64,
    },
    /// The reasons of earlier runs are not kept.
    #[error(
        "decision {decision} can no longer be explained: the reasons of the latest {} runs are kept, in memory only; \
         explain a decision when it is made",
        EXPLAINED
    )]
    Forgotten {
        /// The decision.
        decision: u64,
    },
}

/// A run, as far as an explanation needs it.
#[derive(Clone, Copy, Debug)]
pub(super) struct ExplainedRun {
    pub(super) first: u64,
    pub(super) run: Run,
    pub(super) probe: u64,
    pub(super) switched_from: Option<usize>,
    pub(super) reason: RunReason,
}

/// The latest runs, oldest first. They are not part of the state: snapshots do not have them, and two advisors that
/// differ in nothing else are equal.
#[derive(Clone, Debug, Default)]
pub(super) struct RecentRuns {
    runs: VecDeque<ExplainedRun>,
}

impl PartialEq for RecentRuns {
    fn eq(&self, _: &Self) -> bool {
        true
    }
}

impl RecentRuns {
    pub(super) fn push(&mut self, run: ExplainedRun) {
        if self.runs.len() == EXPLAINED {
            self.runs.pop_front();
        }
        self.runs.push_back(run);
    }

    fn find(&self, decision: u64) -> Option<&ExplainedRun> {
        let after = self.runs.partition_point(|run| run.first <= decision);
        self.runs.get(after.checked_sub(1)?)
    }
}

impl<P: Policy> Advisor<P> {
    /// Why the advisor made a decision. The reasons of the latest 64 runs are kept, in memory only; after a restart,
    /// decisions of the current run can be explained.
    ///
    /// ```
    /// use calibandit::Advisor;
    /// use calibandit::policy::{Calibrated, RunReason};
    ///
    /// let mut advisor = Advisor::builder(Calibrated::builder(10), 3).build()?;
    /// (0..2).try_for_each(|_| advisor.ask().map(|_| ()))?;
    /// let decision = advisor.ask()?;
    /// let why = advisor.explain(decision.id)?;
    /// assert_eq!((why.play, why.of, why.reason), (3, 9, RunReason::Opening));
    /// assert_eq!(why.to_string(), "burn-in play 3 of 9 of arm 0: its loss does not count; measuring every arm once");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn explain(&self, decision: u64) -> Result<Explanation, ExplainError> {
        let made = self.tracker.next;
        if decision >= made {
            return Err(ExplainError::Unknown { decision, made });
        }
        let restored = || {
            let (first, run, probe) = self.tracker.open_run().filter(|&(first, ..)| first <= decision)?;
            Some(ExplainedRun { first, run, probe, switched_from: None, reason: self.policy.run_reason(run) })
        };
        let found = self.recent.find(decision).copied().or_else(restored);
        let ExplainedRun { first, run, probe, switched_from, reason } =
            found.ok_or(ExplainError::Forgotten { decision })?;
        let position = decision - first;
        let burn_in = run.burn_in.saturating_add(probe);
        let (phase, play, of) = if position < burn_in {
            (Phase::BurnIn, position + 1, burn_in)
        } else {
            (Phase::Measured, position - burn_in + 1, run.record)
        };
        Ok(Explanation { decision, arm: run.arm, phase, play, of, probe, switched_from, reason })
    }
}

/// The explanation with numbers for arms.
impl std::fmt::Display for Explanation {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.to_text(|arm| format!("arm {arm}")))
    }
}

impl Explanation {
    /// The explanation in words. `name` gives the name of an arm.
    pub fn to_text(&self, name: impl Fn(usize) -> String) -> String {
        let arm = name(self.arm);
        let Self { play, of, .. } = *self;
        let place = match (self.phase, self.switched_from) {
            (Phase::BurnIn, Some(from)) => {
                format!("burn-in play {play} of {of} after a switch from {} to {arm}", name(from))
            }
            (Phase::BurnIn, None) => format!("burn-in play {play} of {of} of {arm}"),
            (Phase::Measured, _) if of == u64::MAX => format!("play {play} of {arm}, which is played until the end"),
            (Phase::Measured, _) if play > of => {
                format!("play {play} of {arm} in its run of {of}, in place of one whose loss was given up")
            }
            (Phase::Measured, _) => format!("measured play {play} of {of} of {arm}"),
        };
        let use_of_loss = match self.phase {
            Phase::BurnIn if self.probe > 0 => {
                ": its loss does not count; the burn-in is longer for the monitor's probe"
            }
            Phase::BurnIn => ": its loss does not count",
            Phase::Measured => "",
        };
        let reason = match self.reason {
            RunReason::Opening => "measuring every arm once".to_string(),
            RunReason::Leading => format!("{arm} is the best so far"),
            RunReason::Challenge { leader, evidence, threshold } if evidence < threshold => format!(
                "challenge: {arm} may still be better than {}, evidence {evidence:.1} of {threshold:.1}",
                name(leader)
            ),
            RunReason::Challenge { leader, evidence, threshold } => format!(
                "completing a visit of {arm}, which no longer seems better than {}: evidence {evidence:.1} of \
                 {threshold:.1}",
                name(leader)
            ),
            RunReason::Index => format!("the policy's index, or its draw, is best for {arm}"),
            RunReason::Comparison => "arms that are not ruled out are measured equally often".to_string(),
            RunReason::Commitment => format!("the policy has decided for {arm}"),
            RunReason::Unstated => "the policy gives no reason".to_string(),
        };
        format!("{place}{use_of_loss}; {reason}")
    }
}
