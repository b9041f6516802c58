//! What `planner` and `rotation` share: playing a cycle until it is time for the next plan.
//!
//! A plan is a cycle of arms. It is followed until some cell has twice as many losses as when the plan was made. With
//! C cells and T >= C plays there are at most C·(1 + log2(T / C)) plans after the first: after its i-th doubling a cell
//! has 2^(i-1) losses.

use super::RunReason;
use super::history::{RestoredPlays, StateError, ensure};
use super::tally_cells::{CellGrid, CellLosses, RecentPlays};
use crate::math;
use crate::{Feedback, Run};

/// At most this many positions of a cycle are considered to join it.
const MOST_ENTRIES: usize = 64;

/// The losses of all cells, and the cycle that is played.
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(deny_unknown_fields))]
pub(super) struct CycleFollower {
    grid: CellGrid,
    exploration: f64,
    recent: RecentPlays,
    losses: CellLosses,
    /// All plays made.
    plays: u64,
    /// The arms of the plan; empty before the first one.
    cycle: Vec<u32>,
    /// The position of the next play in it.
    at: usize,
    /// The number of plans made.
    plans: u64,
    /// Whether a new plan is to be made before the next run.
    due: bool,
}

impl CycleFollower {
    pub(super) fn new(grid: CellGrid, exploration: f64) -> Self {
        Self {
            grid,
            exploration,
            recent: RecentPlays::new(grid.memory),
            losses: CellLosses::new(grid),
            plays: 0,
            cycle: Vec::new(),
            at: 0,
            plans: 0,
            due: true,
        }
    }

    pub(super) fn grid(&self) -> CellGrid {
        self.grid
    }

    pub(super) fn is_due(&self) -> bool {
        self.due
    }

    pub(super) fn cycle(&self) -> &[u32] {
        &self.cycle
    }

    pub(super) fn plans(&self) -> u64 {
        self.plans
    }

    /// The optimistic loss of each cell: the least mean that its losses do not rule out at the level c·ln(2·C·t), with
    /// C cells, after t plays.
    pub(super) fn optimistic(&self) -> Vec<f64> {
        let level = self.exploration * math::ln(2.0 * self.grid.len() as f64 * self.plays.max(1) as f64);
        self.losses.lower_bounds(level)
    }

    /// Follows this cycle from now on, and begins where joining it costs least under these losses.
    pub(super) fn follow(&mut self, cycle: Vec<u32>, optimistic: &[f64]) {
        self.plans = self.plans.saturating_add(1);
        self.due = false;
        self.losses.plan_made();
        if cycle == self.cycle {
            return;
        }
        let step = cycle.len().div_ceil(MOST_ENTRIES);
        let mut best = (0, f64::INFINITY);
        if cycle.len() > 1 {
            for entry in (0..cycle.len()).step_by(step) {
                let cost = self.joining_cost(&cycle, entry, optimistic);
                if cost < best.1 {
                    best = (entry, cost);
                }
            }
        }
        (self.cycle, self.at) = (cycle, best.0);
    }

    /// The cost of the M - 1 plays until the window is that of the cycle. As many plays are counted for each entry, and
    /// the cycle continues alike after them, so differences at the end hardly matter.
    fn joining_cost(&self, cycle: &[u32], entry: usize, optimistic: &[f64]) -> f64 {
        let mut recent = self.recent.clone();
        let plays = cycle.iter().cycle().skip(entry).take(self.grid.memory.max(2) - 1);
        plays.fold(0.0, |cost, &arm| {
            let cell = self.grid.cell(&recent, arm);
            recent.push(arm);
            cost + optimistic[cell]
        })
    }

    /// The next run: plays of one arm of the cycle that are all of one cell, at most until that cell has doubled.
    pub(super) fn next_run(&self) -> Run {
        let arm = self.cycle[self.at];
        if self.grid.by_window && self.plays == 0 {
            // The losses of the first windows, which are not full, belong to no cell.
            return Run { arm: arm as usize, burn_in: self.grid.memory as u64 - 1, record: 1 };
        }
        let most = self.losses.until_doubled(self.grid.cell(&self.recent, arm)).max(1);
        let stay = if self.cycle.len() == 1 {
            u64::MAX
        } else {
            let following = self.cycle.iter().cycle().skip(self.at).take(self.cycle.len());
            following.take_while(|&&next| next == arm).count() as u64
        };
        let record = match most.min(stay) {
            1 => 1,
            most => self.grid.equal_cells(&self.recent, arm, most),
        };
        Run { arm: arm as usize, burn_in: 0, record }
    }

    pub(super) fn observe(&mut self, run: Run, feedback: Feedback) {
        let arm = run.arm as u32;
        self.recent.push_many(arm, run.burn_in);
        let cell = self.grid.cell(&self.recent, arm);
        self.due |= self.losses.add(cell, feedback);
        self.recent.push_many(arm, run.record);
        self.plays = self.plays.saturating_add(run.plays());
        let length = self.cycle.len() as u64;
        // The burn-in of the first run is beside the plan.
        self.at = ((self.at as u64 + run.record % length) % length) as usize;
    }

    /// The arm that the plan plays most often; the first one before there is a plan.
    pub(super) fn recommend(&self) -> usize {
        let mut plays = vec![0u32; self.grid.arms];
        self.cycle.iter().for_each(|&arm| plays[arm as usize] += 1);
        let most = plays.iter().copied().max().unwrap_or_default();
        plays.iter().position(|&count| count == most).unwrap_or_default()
    }

    pub(super) fn run_reason(&self) -> RunReason {
        RunReason::Index
    }

    pub(super) fn check_restored(&self, history: &RestoredPlays<'_>) -> Result<(), StateError> {
        let CellGrid { arms, memory, by_window } = self.grid;
        ensure(arms == history.arms, "the number of arms differs")?;
        ensure(memory >= 1, "the memory bound is 0")?;
        ensure(self.exploration > 0.0 && self.exploration.is_finite(), "the constant of the bounds is not positive")?;
        self.losses.check_restored(self.grid, &self.recent, history)?;
        ensure(self.cycle.iter().all(|&arm| (arm as usize) < arms), "the plan has an arm that does not exist")?;
        ensure(self.at < self.cycle.len().max(1), "the position is not in the plan")?;
        ensure(self.due || !self.cycle.is_empty(), "there is no plan")?;
        ensure(self.plans <= self.plays.saturating_add(1), "there are more plans than plays")?;
        if let Some(closed) = history.closed {
            ensure(self.plays == closed.known_plays(), "the policy and the advisor differ in the number of plays")?;
            let skipped = if by_window && self.plays > 0 { memory as u64 - 1 } else { 0 };
            let burn_in: u64 = closed.burn_in.iter().fold(0, |sum, &plays| sum.saturating_add(plays));
            ensure(burn_in == skipped, "the policy and the advisor differ in the plays before the first loss")?;
        }
        match history.open {
            Some(run) => ensure(!self.due && self.next_run() == run, "the open run is not that of the plan"),
            None => Ok(()),
        }
    }
}

/// Implements [`Policy`](crate::Policy) for a type with a field `follower` and methods `plan` and `check_plan`.
macro_rules! cycle_policy {
    ($policy:ident) => {
        impl crate::Policy for $policy {
            fn next_run(&mut self) -> crate::Run {
                if self.follower.is_due() {
                    self.plan();
                }
                self.follower.next_run()
            }

            fn observe(&mut self, run: crate::Run, feedback: crate::Feedback) {
                self.follower.observe(run, feedback);
            }

            /// The arm that the present plan plays most often. What the policy would do is the whole `cycle`.
            fn recommend(&self) -> usize {
                self.follower.recommend()
            }

            fn run_reason(&self, _: crate::Run) -> crate::policy::RunReason {
                self.follower.run_reason()
            }

            fn check_restored(
                &self,
                history: &crate::policy::RestoredPlays<'_>,
            ) -> Result<(), crate::policy::StateError> {
                self.check_plan()?;
                self.follower.check_restored(history)
            }
        }
    };
}
pub(super) use cycle_policy;
