//! The least losses of several arms whose losses never fall: a merge, one flat stretch per step.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use super::curve::RestedCurve;
use super::{Effort, OptimumError};

/// The merge of some arms from some numbers of plays on. It only goes forward; for an earlier time it begins again.
pub(super) struct MarginalMerge {
    /// The plays of each arm before the merge begins.
    starts: Vec<u64>,
    /// The arms that take part.
    members: Vec<usize>,
    /// The plays of each arm so far, those before the merge included.
    plays: Vec<u64>,
    /// The next loss of each member, the least first; of equal ones the first arm.
    heap: BinaryHeap<Reverse<(i128, usize)>>,
    /// The number of merged plays, and the sum of their losses.
    time: u64,
    sum: i128,
}

impl MarginalMerge {
    pub(super) fn new(starts: Vec<u64>, members: Vec<usize>) -> Self {
        Self { plays: starts.clone(), starts, members, heap: BinaryHeap::new(), time: 0, sum: 0 }
    }

    /// The sum of the `horizon` least losses.
    pub(super) fn excess(
        &mut self,
        curves: &[RestedCurve<'_>],
        horizon: u64,
        effort: Effort<'_>,
    ) -> Result<i128, OptimumError> {
        if horizon < self.time {
            *self = Self::new(std::mem::take(&mut self.starts), std::mem::take(&mut self.members));
        }
        self.advance(curves, horizon, effort, |_, _| ())?;
        Ok(self.sum)
    }

    /// Merges up to `horizon` plays. `add` is told each stretch: its loss and its number of plays.
    pub(super) fn advance(
        &mut self,
        curves: &[RestedCurve<'_>],
        horizon: u64,
        effort: Effort<'_>,
        mut add: impl FnMut(i128, u64),
    ) -> Result<(), OptimumError> {
        if self.heap.is_empty() {
            let next = |&arm: &usize| Ok(Reverse((curves[arm].excess(self.plays[arm] + 1)?, arm)));
            self.heap = self.members.iter().map(next).collect::<Result<_, OptimumError>>()?;
        }
        let mut steps = 0u64;
        while self.time < horizon {
            steps += 1;
            effort.interrupt.check()?;
            effort.check_steps(u128::from(steps) * LOOKUP)?;
            let Some(mut next) = self.heap.peek_mut() else { break };
            let Reverse((loss, arm)) = *next;
            let stretch = curves[arm].flat_until(self.plays[arm] + 1) - self.plays[arm];
            let taken = stretch.min(horizon - self.time);
            self.plays[arm] += taken;
            self.time += taken;
            self.sum += i128::from(taken) * loss;
            add(loss, taken);
            if taken == stretch {
                *next = Reverse((curves[arm].excess(self.plays[arm] + 1)?, arm));
            }
        }
        Ok(())
    }

    /// The plays of each arm so far.
    pub(super) fn plays(&self) -> &[u64] {
        &self.plays
    }
}

/// A loss that is looked up counts as so many steps, by the time it takes.
pub(super) const LOOKUP: u128 = 20;

impl MarginalMerge {
    /// The same merge from its beginning.
    pub(super) fn restarted(&self) -> Self {
        Self::new(self.starts.clone(), self.members.clone())
    }
}
