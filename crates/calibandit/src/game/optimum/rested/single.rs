//! The best single arm: the optimum where no loss ever rises.

use super::curve::RestedCurve;
use super::greedy::LOOKUP;
use super::{Effort, OptimumError};

/// The sums of losses of single arms. They only go forward; for a shorter horizon they begin again.
pub(super) struct SingleArm {
    /// For each arm, a number of plays and the sum of their losses.
    sums: Vec<(u64, i128)>,
    best: usize,
}

/// The number of blocks for the lower bound of a sum.
const BLOCKS: u64 = 256;

impl SingleArm {
    pub(super) fn new(arms: usize) -> Self {
        Self { sums: vec![(0, 0); arms], best: 0 }
    }

    /// The loss of `horizon` plays of the best arm.
    pub(super) fn excess(
        &mut self,
        curves: &[RestedCurve<'_>],
        horizon: u64,
        effort: Effort<'_>,
    ) -> Result<i128, OptimumError> {
        let mut lower: Vec<(i128, usize)> = Vec::with_capacity(curves.len());
        for (arm, curve) in curves.iter().enumerate() {
            lower.push((lower_bound(curve, horizon)?, arm));
        }
        // The most promising arm first: most others are then excluded by their lower bound.
        lower.sort_unstable();
        let mut least: Option<(i128, usize)> = None;
        for (bound, arm) in lower {
            if least.is_some_and(|(sum, _)| bound > sum) {
                break;
            }
            let known = if self.sums[arm].0 <= horizon { self.sums[arm] } else { (0, 0) };
            self.sums[arm] = sum(&curves[arm], known, horizon, effort)?;
            let sum = self.sums[arm].1;
            if least.is_none_or(|least| (sum, arm) < least) {
                least = Some((sum, arm));
            }
        }
        let (sum, best) = least.expect("a game has an arm");
        self.best = best;
        Ok(sum)
    }

    /// The plays of each arm: all of them of the best one.
    pub(super) fn plays(&self, horizon: u64) -> Vec<u64> {
        let mut plays = vec![0; self.sums.len()];
        plays[self.best] = horizon;
        plays
    }
}

/// A number of plays of an arm and the sum of their losses, continued up to `horizon` plays.
pub(super) fn sum(
    curve: &RestedCurve<'_>,
    (mut plays, mut sum): (u64, i128),
    horizon: u64,
    effort: Effort<'_>,
) -> Result<(u64, i128), OptimumError> {
    let mut steps = 0u64;
    while plays < horizon {
        steps += 1;
        effort.interrupt.check()?;
        effort.check_steps(u128::from(steps) * LOOKUP)?;
        let last = curve.flat_until(plays + 1).min(horizon);
        sum += i128::from(last - plays) * curve.excess(plays + 1)?;
        plays = last;
    }
    Ok((plays, sum))
}

/// No more than the sum of `horizon` losses that never rise: each block has its last loss throughout.
fn lower_bound(curve: &RestedCurve<'_>, horizon: u64) -> Result<i128, OptimumError> {
    let mut sum = 0;
    let mut from = 0;
    for block in 1..=BLOCKS {
        let to = (u128::from(horizon) * u128::from(block) / u128::from(BLOCKS)) as u64;
        if to > from {
            sum += i128::from(to - from) * curve.excess(to)?;
            from = to;
        }
    }
    Ok(sum)
}
