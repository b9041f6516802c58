//! The best allocation of plays to arms with any curves, by dynamic programming over the arms.
//!
//! With D_k(t) for the least loss of t plays of the first k arms: D_k(t) = min over n of D_(k-1)(t - n) + F_k(n). All
//! horizons up to the longest are found at once, and a longer one adds to what is there. This is the only solver that
//! keeps numbers for every play; its memory is limited.

use super::curve::RestedCurve;
use super::{Effort, OptimumError};

/// The tables of the program.
pub(super) struct AllocationProgram {
    /// F_x(n) for each arm x, from n = 0 on.
    sums: Vec<Vec<i128>>,
    /// D_k(t) for the first 1, 2, ... arms, from t = 0 on; the first of them is F_1 and not stored.
    least: Vec<Vec<i128>>,
    /// The n of the last arm at the minimum, for each of them.
    chosen: Vec<Vec<u32>>,
}

impl AllocationProgram {
    pub(super) fn new() -> Self {
        Self { sums: Vec::new(), least: Vec::new(), chosen: Vec::new() }
    }

    pub(super) fn memory_estimate(arms: u64, horizon: u64) -> u64 {
        arms.saturating_mul(horizon).saturating_mul(PER_PLAY)
    }

    /// The least loss of `horizon` plays.
    pub(super) fn excess(
        &mut self,
        curves: &[RestedCurve<'_>],
        horizon: u64,
        effort: Effort<'_>,
    ) -> Result<i128, OptimumError> {
        let arms = curves.len();
        let plays = u128::from(horizon);
        effort.check_numbers(plays * arms as u128, PER_PLAY as usize)?;
        effort.check_steps((arms as u128 - 1) * plays * plays / 2)?;
        if self.sums.is_empty() {
            self.sums = vec![vec![0]; arms];
            self.least = vec![vec![0]; arms - 1];
            self.chosen = vec![vec![0]; arms - 1];
        }
        let horizon = horizon as usize;
        for (curve, sums) in curves.iter().zip(&mut self.sums) {
            let mut sum = *sums.last().expect("the sum of no plays is there");
            while sums.len() <= horizon {
                effort.interrupt.check()?;
                sum += curve.excess(sums.len() as u64)?;
                sums.push(sum);
            }
        }
        for k in 0..arms - 1 {
            let (before, from) = self.least.split_at_mut(k);
            let before: &[i128] = before.last().map_or(&self.sums[0], |least| least.as_slice());
            let own = self.sums[k + 1].as_slice();
            let (least, chosen) = (&mut from[0], &mut self.chosen[k]);
            for t in least.len()..=horizon {
                effort.interrupt.check()?;
                let (n, cost) = cheapest(&before[..=t], &own[..=t]);
                least.push(cost);
                chosen.push(n as u32);
            }
        }
        Ok(self.least.last().map_or(self.sums[0][horizon], |least| least[horizon]))
    }

    /// The plays of each arm at a horizon that was solved.
    pub(super) fn plays(&self, arms: usize, horizon: u64) -> Vec<u64> {
        let mut plays = vec![0; arms];
        let mut left = horizon;
        for k in (1..arms).rev() {
            plays[k] = u64::from(self.chosen[k - 1][left as usize]);
            left -= plays[k];
        }
        plays[0] = left;
        plays
    }
}

/// The bytes per arm and play: F, D and the choice.
const PER_PLAY: u64 = 36;

/// The least of `before[t - n] + own[n]`, and the first n that attains it.
fn cheapest(before: &[i128], own: &[i128]) -> (usize, i128) {
    let mut least = (0, i128::MAX);
    for (n, (before, own)) in before.iter().rev().zip(own).enumerate() {
        let cost = before + own;
        if cost < least.1 {
            least = (n, cost);
        }
    }
    least
}
