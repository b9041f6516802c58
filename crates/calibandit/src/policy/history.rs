//! What a restored policy is checked against: the plays that were made.
//!
//! A snapshot can be damaged or edited after it was written. The books of an [`Advisor`](crate::Advisor) and the state
//! of its policy count the same plays, so each can be checked with the other.

use crate::{Feedback, Run};

/// The plays of an advisor, as far as the state of its policy must agree with them.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct RestoredPlays<'a> {
    /// The number of arms.
    pub arms: usize,
    /// The runs whose feedback the policy has received; `None` if the snapshot is older than these counts.
    pub closed: Option<&'a ClosedRuns>,
    /// The run that the policy has asked for and not received the feedback of.
    pub open: Option<Run>,
    /// The least and the greatest possible loss.
    pub losses: (f64, f64),
    /// The past losses of each arm that the policy [started from](crate::Policy::warm_start); empty if it started from
    /// none.
    pub past: &'a [Feedback],
    /// The arms that were [retired](crate::Policy::retire_arm), in increasing order.
    pub retired: &'a [usize],
}

/// The largest count of plays, runs or events in a snapshot: ids have room for as many again. An edited snapshot may
/// have half of it, so that what its advisor does afterwards can be stored and restored too.
#[cfg(feature = "serde")]
pub(crate) fn most_count(edited: bool) -> u64 {
    if edited { u64::MAX / 4 } else { u64::MAX / 2 }
}

/// Counts over the runs whose feedback the policy has received.
#[derive(Clone, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(deny_unknown_fields))]
#[non_exhaustive]
pub struct ClosedRuns {
    /// Recorded plays per arm.
    pub recorded: Vec<u64>,
    /// Burn-in plays per arm.
    pub burn_in: Vec<u64>,
    /// Further plays per arm: those whose loss was given up, so that another play took their place.
    pub lost: Vec<u64>,
    /// Further burn-in plays per arm, which the policy did not ask for: the probe of the advisor's monitor. Empty if
    /// there are none.
    #[cfg_attr(feature = "serde", serde(default, skip_serializing_if = "Vec::is_empty"))]
    pub probe: Vec<u64>,
    /// How often a run was of another arm than the run before it; the first run counts.
    pub visits: u64,
    /// The arm of the last run.
    pub last: Option<usize>,
}

/// Why the state of a restored policy is refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{problem}")]
pub struct StateError {
    problem: &'static str,
}

impl StateError {
    /// An error with this description, which is a full clause: `the number of arms differs`.
    pub fn new(problem: &'static str) -> Self {
        Self { problem }
    }
}

/// An error with this description unless the condition holds. Conditions are written so that NaN fails them.
pub(crate) fn ensure(holds: bool, otherwise: &'static str) -> Result<(), StateError> {
    if holds { Ok(()) } else { Err(StateError::new(otherwise)) }
}

/// Room for the rounding errors of sums.
const ROUNDING: f64 = 1e-6;

impl ClosedRuns {
    pub(crate) fn new(arms: usize) -> Self {
        let none = vec![0; arms];
        Self { recorded: none.clone(), burn_in: none.clone(), lost: none, probe: Vec::new(), visits: 0, last: None }
    }

    /// Makes room for one more arm.
    pub(crate) fn add_arm(&mut self) {
        for counts in [&mut self.recorded, &mut self.burn_in, &mut self.lost] {
            counts.push(0);
        }
        if !self.probe.is_empty() {
            self.probe.push(0);
        }
    }

    pub(crate) fn close(&mut self, run: Run, lost: u64, probe: u64) {
        if probe > 0 {
            self.probe.resize(self.recorded.len(), 0);
            self.probe[run.arm] += probe;
        }
        self.recorded[run.arm] += run.record;
        self.burn_in[run.arm] += run.burn_in;
        self.lost[run.arm] += lost;
        self.visits += u64::from(self.last != Some(run.arm));
        self.last = Some(run.arm);
    }

    /// The plays that the policy knows of: all but those that were lost. Saturates.
    pub(super) fn known_plays(&self) -> u64 {
        self.recorded.iter().chain(&self.burn_in).fold(0u64, |sum, &plays| sum.saturating_add(plays))
    }
}

impl RestoredPlays<'_> {
    /// Whether these are the recorded plays of an arm, past ones included.
    pub(super) fn has_recorded(&self, arm: usize, plays: u64) -> bool {
        let own = plays.checked_sub(self.past_plays(arm));
        self.closed.is_none_or(|closed| closed.recorded.get(arm).copied() == own && own.is_some())
    }

    /// Whether the policy started from past losses.
    pub(super) fn starts_warm(&self) -> bool {
        !self.past.is_empty()
    }

    /// The number of past losses of an arm.
    pub(super) fn past_plays(&self, arm: usize) -> u64 {
        self.past.get(arm).map_or(0, |past| past.plays)
    }

    /// The number of past losses of all arms. Saturates.
    pub(super) fn all_past_plays(&self) -> u64 {
        self.past.iter().fold(0, |sum, past| sum.saturating_add(past.plays))
    }

    /// Whether every burn-in was `length` plays long, with one burn-in per `per_record` recorded plays of each arm.
    pub(super) fn has_burn_in(&self, length: u64, per_record: u64) -> bool {
        let fits = |(&burn_in, &recorded): (&u64, &u64)| {
            recorded % per_record == 0 && (recorded / per_record).checked_mul(length) == Some(burn_in)
        };
        self.closed.is_none_or(|closed| closed.burn_in.iter().zip(&closed.recorded).all(fits))
    }

    /// Whether `n` possible losses can have this sum.
    pub(super) fn allows_sum(&self, n: f64, sum: f64) -> bool {
        allows_sum(self.losses, n, sum)
    }

    /// Whether `n` possible losses can have this sum and this sum of squares.
    pub(crate) fn allows_sums(&self, n: f64, sum: f64, sum_sq: f64) -> bool {
        allows_sums(self.losses, n, sum, sum_sq)
    }

    /// Whether this can be the mean of possible losses.
    pub(super) fn allows_mean(&self, mean: f64) -> bool {
        self.allows_sum(1.0, mean)
    }
}

fn allows_sum((low, high): (f64, f64), n: f64, sum: f64) -> bool {
    let slack = ROUNDING * n * low.abs().max(high.abs());
    sum.is_finite() && sum >= n * low - slack && sum <= n * high + slack
}

/// Whether `n` losses in this range can have this sum and this sum of squares.
pub(crate) fn allows_sums(losses: (f64, f64), n: f64, sum: f64, sum_sq: f64) -> bool {
    let most = losses.0.abs().max(losses.1.abs());
    let squares = sum_sq >= 0.0 && sum_sq.is_finite() && sum_sq <= n * most * most * (1.0 + ROUNDING);
    // By the inequality of Cauchy and Schwarz.
    squares && allows_sum(losses, n, sum) && sum * sum <= n * sum_sq * (1.0 + ROUNDING)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn closed() -> ClosedRuns {
        let mut closed = ClosedRuns::new(3);
        for (arm, lost) in [(1, 0), (1, 2), (0, 0), (1, 0)] {
            closed.close(Run { arm, burn_in: 4, record: 10 }, lost, 0);
        }
        closed
    }

    #[test]
    fn closed_runs_are_counted_per_arm() {
        let closed = closed();
        assert_eq!(closed.recorded, [10, 30, 0]);
        assert_eq!(closed.burn_in, [4, 12, 0]);
        assert_eq!(closed.lost, [0, 2, 0]);
        assert_eq!((closed.visits, closed.last, closed.known_plays()), (3, Some(1), 56));
    }

    #[test]
    fn burn_ins_and_sums_are_compared_with_the_plays() {
        let closed = closed();
        let history =
            RestoredPlays { arms: 3, closed: Some(&closed), open: None, losses: (0.0, 2.0), past: &[], retired: &[] };
        assert!(history.has_burn_in(4, 10) && !history.has_burn_in(5, 10) && !history.has_burn_in(4, 7));
        assert!(history.has_recorded(1, 30) && !history.has_recorded(1, 29) && !history.has_recorded(3, 0));
        assert!(history.allows_sum(10.0, 20.0) && !history.allows_sum(10.0, 20.1) && !history.allows_sum(10.0, -0.1));
        assert!(!history.allows_sum(10.0, f64::NAN) && !history.allows_sums(10.0, 1.0, f64::INFINITY));
        // Ten losses of at most 2: squares of at most 40 in all, and of at least sum^2 / 10.
        assert!(history.allows_sums(10.0, 20.0, 40.0) && !history.allows_sums(10.0, 20.0, 41.0));
        assert!(history.allows_sums(10.0, 10.0, 10.0) && !history.allows_sums(10.0, 10.0, 9.9));
        assert!(history.allows_sums(0.0, 0.0, 0.0) && !history.allows_sums(0.0, 1.0, 1.0));
    }
}
