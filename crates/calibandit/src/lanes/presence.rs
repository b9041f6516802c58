//! Which lanes are active, and what they play.
//!
//! How many lanes are active is not told. It is estimated from the decisions between two decisions of the same lane,
//! whose mean is the number of lanes if all are equally fast. A lane that is silent for several times as long has gone.

use std::collections::VecDeque;

use super::watch::LaneWatch;
#[cfg(feature = "serde")]
use crate::policy::history::{StateError, ensure};

/// The weight of the newest spacing in the mean.
const SPACING_WEIGHT: f64 = 1.0 / 64.0;
/// A lane that was silent for this many times the mean spacing has gone.
const GONE: f64 = 4.0;
/// After this many plays without advice in a row all lanes count as gone. It bounds the memory that is needed to leave
/// them out.
const MOST_LEFT_OUT: u64 = 1 << 20;

/// The active lanes.
#[derive(Clone, Debug, Default, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(deny_unknown_fields))]
pub(super) struct Presence {
    /// The mean number of decisions from one decision of a lane to its next, recent ones counting more; 0 before the
    /// first.
    spacing: f64,
    /// The lanes that were seen before the spacing is known.
    seen: u64,
    /// Per arm, the active lanes whose newest play is of it.
    on: Vec<u64>,
    /// The newest plays of active lanes, from the decision `from` on: per decision its arm and whether the lane had
    /// a calibrated play, or `None` if its lane has made a later one.
    from: u64,
    newest: VecDeque<Option<(u32, bool)>>,
}

impl Presence {
    pub(super) fn new(arms: usize) -> Self {
        Self { on: vec![0; arms], ..Self::default() }
    }

    #[cfg(feature = "serde")]
    pub(super) fn check_restored(&self, arms: usize, next: u64) -> Result<(), StateError> {
        ensure(self.spacing >= 0.0 && self.spacing <= next as f64, "the spacing of lanes is out of range")?;
        let end = self.from.checked_add(self.newest.len() as u64);
        ensure(self.seen <= next && end.is_some_and(|end| end <= next), "more lanes were seen than asked")?;
        let mut on = vec![0; arms];
        for (arm, _) in self.newest.iter().flatten() {
            let count = on.get_mut(*arm as usize).ok_or(StateError::new("a lane plays an arm that does not exist"))?;
            *count += 1;
        }
        ensure(on == self.on, "the lanes of each arm do not add up")
    }

    pub(super) fn add_arm(&mut self) {
        self.on.push(0);
    }

    /// An estimate of the number of lanes that are asked at present, at least 1. Before any lane has come back, more
    /// are to be expected than were seen.
    pub(super) fn active_lanes(&self) -> f64 {
        if self.spacing == 0.0 { (2 * self.seen).max(1) as f64 } else { self.spacing.max(1.0) }
    }

    /// The active lanes whose newest play is of this arm.
    pub(super) fn on(&self, arm: usize) -> u64 {
        self.on[arm]
    }

    /// The active lanes whose newest play is not of this arm.
    pub(super) fn off(&self, arm: usize) -> u64 {
        self.on.iter().sum::<u64>() - self.on[arm]
    }

    /// A lane whose newest decision was `before` makes this decision. It is not counted until
    /// [`arrive`](Self::arrive).
    pub(super) fn leave(&mut self, before: Option<u64>, decision: u64) {
        let Some(before) = before else {
            self.seen += 1;
            return;
        };
        let spacing = (decision - before) as f64;
        let first = self.spacing == 0.0;
        self.spacing = if first { spacing } else { self.spacing + SPACING_WEIGHT * (spacing - self.spacing) };
        let place = before.checked_sub(self.from).and_then(|place| usize::try_from(place).ok());
        if let Some(place) = place.and_then(|place| self.newest.get_mut(place))
            && let Some((arm, _)) = place.take()
        {
            self.on[arm as usize] -= 1;
        }
    }

    /// The decision of the lane is this one, of this arm. Sessions of lanes that have gone are over.
    pub(super) fn arrive(&mut self, decision: u64, arm: usize, measured: bool, watch: &mut LaneWatch) {
        let longest = (GONE * (self.active_lanes() + 1.0)) as usize;
        // Decisions have consecutive numbers; those that no lane has made are left out.
        let left_out = decision - (self.from + self.newest.len() as u64);
        if left_out >= MOST_LEFT_OUT.min(longest as u64) {
            self.forget_until(0, watch);
            self.from = decision;
        } else {
            (0..left_out).for_each(|_| self.newest.push_back(None));
        }
        self.newest.push_back(Some((arm as u32, measured)));
        self.on[arm] += 1;
        self.forget_until(longest, watch);
    }

    /// Ends the sessions of the lanes that were silent for longest, until this many decisions are left.
    fn forget_until(&mut self, longest: usize, watch: &mut LaneWatch) {
        while self.newest.len() > longest {
            if let Some(Some((arm, measured))) = self.newest.pop_front() {
                self.on[arm as usize] -= 1;
                watch.end_session(measured);
            }
            self.from += 1;
        }
    }
}
