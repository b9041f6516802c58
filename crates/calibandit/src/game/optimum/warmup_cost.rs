//! Lower bounds on the cost of plays of one arm, by the number of plays.

use crate::game::least_loss::{LeastLossError, least_losses};

use super::state_space::StateSpace;
use crate::Interrupt;
use crate::planning::fixed_point::fixed;

/// The costs of one arm from the empty window until it is calibrated, in units above mu(x*).
pub(crate) struct WarmupCost {
    pub(crate) arm: usize,
    pub(crate) memory: usize,
    /// The cost of a calibrated play.
    pub(crate) eventual: i128,
    /// The cost of the first `i` plays in a row from the empty window.
    straight: Vec<i128>,
    /// The sum of the least costs at 1, 2, ..., `i` plays in the window.
    passed: Vec<i128>,
    /// The sum over 1, 2, ..., `i` of the least cost at that many plays in the window or fewer.
    at_least: Vec<i128>,
    /// The least cost of any play.
    pub(crate) least: i128,
}

impl WarmupCost {
    /// From the exact least cost at each number of plays.
    pub(crate) fn new(space: &StateSpace<'_>, arm: usize, interrupt: Interrupt<'_>) -> Result<Self, LeastLossError> {
        interrupt.check()?;
        let least = least_losses(&space.game().arms()[arm], interrupt)?;
        let units: Vec<i128> = least.losses().iter().map(|&loss| space.excess_of(loss)).collect();
        Ok(Self::with_least(space, arm, &units))
    }

    /// Without knowledge of the least costs: 0 is a lower bound of every loss.
    pub(crate) fn blind(space: &StateSpace<'_>, arm: usize) -> Self {
        let this = &space.game().arms()[arm];
        let mut units = vec![-fixed(space.game().best_loss()); this.memory()];
        *units.last_mut().expect("a memory is at least 1") = space.excess_of(this.eventual_loss());
        Self::with_least(space, arm, &units)
    }

    fn with_least(space: &StateSpace<'_>, arm: usize, units: &[i128]) -> Self {
        let this = &space.game().arms()[arm];
        let straight = this.straight_exposures().map(|exposure| {
            let loss = this.loss(exposure);
            // A curve that leaves [0, 1] is reported when it is played; a bound may take the largest loss for it.
            space.excess_of(if loss.is_nan() { 1.0 } else { loss })
        });
        let straight = running_sums(straight);
        let mut least = i128::MAX;
        let at_least = running_sums(units.iter().map(|&cost| {
            least = least.min(cost);
            least
        }));
        let eventual = space.excess_of(this.eventual_loss());
        Self {
            arm,
            memory: this.memory(),
            eventual,
            straight,
            passed: running_sums(units.iter().copied()),
            at_least,
            least,
        }
    }

    /// Whether its calibrated plays cost mu(x*).
    pub(crate) fn is_best(&self) -> bool {
        self.eventual == 0
    }

    /// What `plays` plays in a row cost from the empty window.
    pub(crate) fn straight(&self, plays: u64) -> i128 {
        let warming = plays.min(self.memory as u64);
        self.straight[warming as usize] + i128::from(plays - warming) * self.eventual
    }

    /// A lower bound of the cost before a calibrated play, from `count` plays in the window on: the count rises by at
    /// most one per play, so every count in between is passed.
    pub(crate) fn to_calibrated(&self, count: usize) -> i128 {
        self.passed[self.memory - 1] - self.passed[count]
    }

    /// A lower bound of the cost of `plays` plays, from `count` plays in the window on, with never more than `cap` of
    /// them in the window. It is concave in `plays`, so the sum over several arms is least where all plays are of one
    /// arm.
    pub(crate) fn plays(&self, count: usize, plays: u64, cap: usize) -> i128 {
        let rising = plays.min((cap - count) as u64);
        let rate = self.at_least[cap] - self.at_least[cap - 1];
        self.at_least[count + rising as usize] - self.at_least[count] + i128::from(plays - rising) * rate
    }
}

fn running_sums(costs: impl Iterator<Item = i128>) -> Vec<i128> {
    let mut sum = 0;
    std::iter::once(0)
        .chain(costs.map(|cost| {
            sum += cost;
            sum
        }))
        .collect()
}
