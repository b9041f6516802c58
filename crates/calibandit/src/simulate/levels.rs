//! The expected losses that the plays of a game can have, numbered.
//!
//! An arm's loss depends on its own plays among the last ones. Where these can take few forms, each form is a *level* with
//! its loss worked out beforehand: a play then is a look into a table, and, where the levels are few, adding up losses is
//! counting.

use crate::game::Exposure;
use crate::{Arm, Game};

/// Up to this memory every window of an arm is a level of its own; beyond, only arms whose losses depend on no more than
/// the number of plays in the window have levels.
const LONGEST_WINDOW: usize = 14;
/// Not more levels than this in all.
const MOST: usize = 1 << 20;
/// With longer windows or memories there are too many levels to multiply out at each checkpoint,
const LONGEST_COUNTED_WINDOW: usize = 12;
const LONGEST_COUNTED: usize = 64;
/// and with more of these long windows than this, working out their losses takes longer than it saves.
const MOST_LONG: usize = 1 << 14;

/// All levels of a game, arm by arm. The last level of each arm is the calibrated one.
pub(super) struct Levels {
    arms: Vec<ArmLevels>,
    /// The expected loss of each level.
    losses: Vec<f64>,
    /// Whether plays are counted by level.
    counted: bool,
}

#[derive(Clone, Copy, PartialEq)]
pub(super) struct ArmLevels {
    /// Its first level.
    pub(super) first: usize,
    /// Its calibrated level.
    pub(super) calibrated: usize,
    /// As many ones as its memory; 0 if that is more than a word has.
    pub(super) window: u64,
    /// The level is the number of plays, not the window.
    pub(super) by_plays: bool,
}

impl ArmLevels {
    /// The same, with levels numbered from 0.
    pub(super) fn renumbered(&self) -> Self {
        Self { first: 0, calibrated: self.calibrated - self.first, ..*self }
    }

    /// The level of a play after which the arm's window is this one, newest play in the last bit.
    #[inline(always)]
    pub(super) fn of(&self, window: u64) -> usize {
        self.first + if self.by_plays { window.count_ones() as usize - 1 } else { (window >> 1) as usize }
    }
}

impl Levels {
    /// `None` if there are too many, or if a loss function leaves [0, 1] somewhere.
    pub(super) fn new(game: &Game) -> Option<Self> {
        let mut levels = Self { arms: Vec::with_capacity(game.arms().len()), losses: Vec::new(), counted: true };
        for arm in game.arms() {
            let memory = arm.memory();
            let by_plays = arm.curve().depends_on_plays_only() || arm.weights().all_equal();
            let first = levels.losses.len();
            let many = if by_plays {
                memory > MOST
            } else {
                memory > LONGEST_COUNTED_WINDOW && (memory > LONGEST_WINDOW || first + (1 << (memory - 1)) > MOST_LONG)
            };
            if many || first > MOST {
                return None;
            }
            if by_plays {
                levels.losses.extend(losses_by_plays(arm));
            } else {
                levels.losses.extend((0..1 << (memory - 1)).map(|earlier: u64| loss(arm, earlier << 1 | 1)));
            }
            let calibrated = levels.losses.len() - 1;
            let window = if memory <= 64 { u64::MAX >> (64 - memory) } else { 0 };
            levels.arms.push(ArmLevels { first, calibrated, window, by_plays });
            levels.counted &= memory <= if by_plays { LONGEST_COUNTED } else { LONGEST_COUNTED_WINDOW };
        }
        levels.losses.iter().all(|loss| !loss.is_nan()).then_some(levels)
    }

    pub(super) fn arms(&self) -> &[ArmLevels] {
        &self.arms
    }

    pub(super) fn losses(&self) -> &[f64] {
        &self.losses
    }

    pub(super) fn are_counted(&self) -> bool {
        self.counted
    }

    /// Whether every window fits into a word.
    pub(super) fn are_short(&self) -> bool {
        self.arms.iter().all(|arm| arm.window != 0)
    }
}

/// The losses of 1, 2, ... plays in the window.
fn losses_by_plays(arm: &Arm) -> impl Iterator<Item = f64> + '_ {
    let memory = arm.memory();
    // Weights that are all equal give the same tally whichever plays they are; others are not looked at.
    let tallies = arm.weights().as_slice().iter().scan(0.0, |tally, weight| {
        *tally += weight;
        Some(*tally)
    });
    tallies.zip(1..).map(move |(tally, plays)| of_exposure(arm, Exposure { tally, plays, memory }))
}

fn loss(arm: &Arm, window: u64) -> f64 {
    let window: Vec<bool> = (0..arm.memory()).map(|age| window >> age & 1 == 1).collect();
    of_exposure(arm, Exposure::of(&window, arm.weights()))
}

fn of_exposure(arm: &Arm, exposure: Exposure) -> f64 {
    if exposure.is_calibrated() { arm.eventual_loss() } else { arm.loss(exposure) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{LossCurve, Noise, Weights};

    #[test]
    fn games_with_very_long_weighted_windows_have_none() {
        let game = |arm: Arm| Game::new(vec![arm]).unwrap();
        let weighted = |memory: u32| {
            let weights = Weights::new((1..=memory).map(|age| 1.0 / f64::from(age)).collect()).unwrap();
            game(Arm::new(weights, LossCurve::linear(1.0, -0.1), Noise::None).unwrap())
        };
        let plain =
            |memory| game(Arm::new(Weights::unit(memory).unwrap(), LossCurve::constant(0.5), Noise::None).unwrap());
        assert!(Levels::new(&weighted(15)).is_none());
        assert!(Levels::new(&plain(MOST + 1)).is_none());
        let counted = |game: &Game| Levels::new(game).unwrap().are_counted();
        assert!(counted(&weighted(12)) && counted(&plain(64)));
        assert!(!counted(&weighted(13)) && !counted(&plain(65)));
    }
}
