//! Losses by the gap since an arm's last play and by its streak.
//!
//! Both are read off the arm's own window. The weights of such an arm are 1, 1/2, 1/4, ..., newest play first: each
//! tally then belongs to one window, so that these arms are weighted tallying bandits, and windows, alpha and the
//! optimum need nothing of their own.

use crate::game::{ArmError, Exposure, Weights};
use crate::math;

/// An expected loss by the gap, by the streak, or by both (the last switch).
#[derive(Clone, Debug, PartialEq)]
pub struct SwitchingLoss {
    /// By the number of plays since the arm's last one, from 1 to the memory or more. If both are given, it is for the
    /// first play of a streak.
    pub by_gap: Option<Vec<f64>>,
    /// By the number of plays in a row, this one included, from 1 to the memory or more.
    pub by_streak: Option<Vec<f64>>,
}

/// The longest memory: the weights and their sums are then exact in floats.
const LONGEST: usize = 53;

impl SwitchingLoss {
    /// The loss in the window that this tally stands for.
    pub(super) fn at(&self, exposure: Exposure) -> f64 {
        let (gap, streak) = gap_and_streak(exposure);
        match (&self.by_gap, &self.by_streak) {
            (Some(losses), None) => losses[gap - 1],
            (Some(losses), Some(_)) if streak == 1 => losses[gap - 1],
            (_, Some(losses)) => losses[streak - 1],
            (None, None) => f64::NAN,
        }
    }

    /// Checks the lists, and returns the weights whose tallies stand for windows. Weights of 1 are replaced by them.
    pub(crate) fn checked_weights(&self, given: &Weights) -> Result<Weights, ArmError> {
        let memory = given.memory();
        if given.is_rested() || memory > LONGEST {
            return Err(ArmError::SwitchingMemory { memory: (!given.is_rested()).then_some(memory), longest: LONGEST });
        }
        for (what, losses) in [("by_gap", &self.by_gap), ("by_streak", &self.by_streak)] {
            let Some(losses) = losses else { continue };
            if losses.len() != memory {
                return Err(ArmError::SwitchingTable { what, values: losses.len(), memory });
            }
            if let Some(&value) = losses.iter().find(|loss| !(0.0..=1.0).contains(*loss)) {
                return Err(ArmError::SpecialValue { what, value });
            }
        }
        let weights: Vec<f64> = (0..memory as i32).map(|age| math::powi(0.5, age)).collect();
        let plain = given.as_slice().iter().all(|&weight| weight == 1.0);
        if !plain && given.as_slice() != weights {
            return Err(ArmError::SwitchingWeights);
        }
        Weights::new(weights)
    }
}

/// The gap before the newest play, at most the memory, and the streak that it belongs to.
fn gap_and_streak(exposure: Exposure) -> (usize, usize) {
    let memory = exposure.memory;
    // The newest play is the highest bit of the tally times 2^(memory - 1).
    let window = (exposure.tally * (1u64 << (memory - 1)) as f64) as u64;
    let window = window << (64 - memory);
    let streak = (window.leading_ones() as usize).min(memory);
    let gap = ((window << 1).leading_zeros() as usize + 1).min(memory);
    (gap, streak)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Arm, Game, LossCurve, Noise};

    fn game(curve: LossCurve, memory: usize) -> Game {
        let arm = |curve| Arm::new(Weights::unit(memory).unwrap(), curve, Noise::None).unwrap();
        Game::new(vec![arm(curve), arm(LossCurve::constant(0.5))]).unwrap()
    }

    /// Counted by hand from the definition.
    #[test]
    fn gaps_and_streaks_are_counted_from_the_plays_themselves() {
        let plays = [0, 0, 1, 0, 1, 1, 0, 1, 1, 1, 1, 0, 0, 0, 0, 0];
        let by_gap: Vec<f64> = game(LossCurve::by_gap([0.1, 0.2, 0.3, 0.4]), 4).losses(&plays).unwrap();
        assert_eq!(by_gap, [0.4, 0.1, 0.5, 0.2, 0.5, 0.5, 0.3, 0.5, 0.5, 0.5, 0.5, 0.4, 0.1, 0.1, 0.1, 0.1]);
        let by_streak: Vec<f64> = game(LossCurve::by_streak([0.1, 0.2, 0.3, 0.4]), 4).losses(&plays).unwrap();
        assert_eq!(by_streak, [0.1, 0.2, 0.5, 0.1, 0.5, 0.5, 0.1, 0.5, 0.5, 0.5, 0.5, 0.1, 0.2, 0.3, 0.4, 0.4]);
        let both = LossCurve::last_switch([0.9, 0.6, 0.7, 0.8], [0.1, 0.2, 0.3, 0.4]);
        let both: Vec<f64> = game(both, 4).losses(&plays).unwrap();
        assert_eq!(both, [0.8, 0.2, 0.5, 0.6, 0.5, 0.5, 0.7, 0.5, 0.5, 0.5, 0.5, 0.8, 0.2, 0.3, 0.4, 0.4]);
    }

    #[test]
    fn memories_up_to_the_longest_are_exact() {
        let losses: Vec<f64> = (1..=LONGEST).map(|gap| gap as f64 / 64.0).collect();
        let game = game(LossCurve::by_gap(losses.clone()), LONGEST);
        let mut plays = vec![0];
        for gap in 1..=LONGEST + 3 {
            plays.extend(std::iter::repeat_n(1, gap - 1));
            plays.push(0);
        }
        let found: Vec<f64> = game
            .losses(&plays)
            .unwrap()
            .into_iter()
            .zip(&plays)
            .filter(|(_, arm)| **arm == 0)
            .map(|(l, _)| l)
            .collect();
        let capped = (1..=LONGEST + 3).map(|gap| losses[gap.min(LONGEST) - 1]);
        assert_eq!(found[1..], capped.collect::<Vec<f64>>());
    }

    #[test]
    fn what_such_an_arm_cannot_have_is_refused() {
        let arm = |weights, curve| Arm::new(weights, curve, Noise::None).unwrap_err().to_string();
        let unit = |memory| Weights::unit(memory).unwrap();
        for (message, part) in [
            (arm(unit(3), LossCurve::by_gap([0.5, 0.4])), "`by_gap` has 2 values, but the memory is 3"),
            (arm(unit(2), LossCurve::by_streak([0.5, 1.4])), "`by_streak` is 1.4"),
            (arm(unit(60), LossCurve::by_gap(vec![0.5; 60])), "at most 53"),
            (arm(Weights::all(), LossCurve::by_gap([0.5])), "at most 53"),
            (arm(Weights::new(vec![1.0, 0.3]).unwrap(), LossCurve::by_gap([0.5, 0.4])), "leave out `weights`"),
        ] {
            assert!(message.contains(part), "{message}");
        }
        // What was written to a file has the weights that stand for windows.
        let written = Arm::new(Weights::new(vec![1.0, 0.5]).unwrap(), LossCurve::by_gap([0.5, 0.4]), Noise::None);
        assert_eq!(written, Arm::new(unit(2), LossCurve::by_gap([0.5, 0.4]), Noise::None));
    }
}
