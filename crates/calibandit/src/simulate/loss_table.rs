//! The loss table of a game: every expected loss that a play can have, worked out before the first play.
//!
//! An arm's expected loss depends on its own plays among the last ones (its window). If the window can take few forms,
//! each form is a *row* of the table. A play is then a table lookup and, if there are few rows, expected losses are
//! added up by counting the plays per row.

use crate::game::Exposure;
use crate::{Arm, Game};

/// Up to this memory, each window of an arm is a row; with a longer memory, only arms whose losses depend on nothing
/// but the number of plays in the window have rows. 2^13 rows per arm keep building the table below a millisecond.
const LONGEST_WINDOW: usize = 14;
/// Limit on the number of rows: 8 MB of losses.
const MOST_ROWS: usize = 1 << 20;
/// With longer windows or memories there are too many rows to multiply out at each checkpoint. Plays are then not
/// counted by row; their losses are added one by one.
const LONGEST_COUNTED_WINDOW: usize = 12;
const LONGEST_COUNTED_MEMORY: usize = 64;
/// With more rows than this for windows longer than [`LONGEST_COUNTED_WINDOW`], building the table takes longer than it
/// saves.
const MOST_ROWS_OF_LONG_WINDOWS: usize = 1 << 14;

/// The rows of all arms. The last row of each arm is the one of its calibrated plays.
pub(super) struct LossTable {
    arms: Vec<ArmRows>,
    /// The expected loss per row.
    losses: Vec<f64>,
    /// Whether plays are counted by row.
    counted: bool,
}

/// The rows of one arm.
#[derive(Clone, Copy, PartialEq)]
pub(super) struct ArmRows {
    pub(super) first: usize,
    /// The row of the calibrated plays, which is the arm's last row.
    pub(super) calibrated: usize,
    /// As many ones as the memory; 0 if the memory is longer than 64.
    pub(super) window: u64,
    /// The row is given by the number of plays in the window, not by the window itself.
    pub(super) by_plays: bool,
}

impl ArmRows {
    /// The same rows, numbered from 0.
    pub(super) fn renumbered(&self) -> Self {
        Self { first: 0, calibrated: self.calibrated - self.first, ..*self }
    }

    /// The row of a play after which the arm's window is this one (newest play in the lowest bit).
    #[inline(always)]
    pub(super) fn of(&self, window: u64) -> usize {
        self.first + if self.by_plays { window.count_ones() as usize - 1 } else { (window >> 1) as usize }
    }
}

impl LossTable {
    /// `None` if there are too many rows, if a loss function leaves [0, 1] in one of them, or if the game is rested.
    pub(super) fn new(game: &Game) -> Option<Self> {
        if game.is_rested() {
            return None;
        }
        let mut table = Self { arms: Vec::with_capacity(game.arms().len()), losses: Vec::new(), counted: true };
        for arm in game.arms() {
            let memory = arm.memory();
            let by_plays = arm.curve().depends_on_plays_only() || arm.weights().all_equal();
            let first = table.losses.len();
            let too_many = if by_plays {
                memory > MOST_ROWS
            } else {
                memory > LONGEST_COUNTED_WINDOW
                    && (memory > LONGEST_WINDOW || first + (1 << (memory - 1)) > MOST_ROWS_OF_LONG_WINDOWS)
            };
            if too_many || first > MOST_ROWS {
                return None;
            }
            if by_plays {
                table.losses.extend(losses_by_plays(arm));
            } else {
                table.losses.extend((0..1 << (memory - 1)).map(|earlier: u64| loss_in_window(arm, earlier << 1 | 1)));
            }
            let calibrated = table.losses.len() - 1;
            let window = if memory <= 64 { u64::MAX >> (64 - memory) } else { 0 };
            table.arms.push(ArmRows { first, calibrated, window, by_plays });
            table.counted &= memory <= if by_plays { LONGEST_COUNTED_MEMORY } else { LONGEST_COUNTED_WINDOW };
        }
        table.losses.iter().all(|loss| !loss.is_nan()).then_some(table)
    }

    /// An upper bound of the number of rows, without making the table.
    pub(super) fn rows_at_most(game: &Game) -> usize {
        let rows = game.arms().iter().filter(|arm| !arm.is_rested()).map(|arm| {
            let by_plays = arm.curve().depends_on_plays_only() || arm.weights().all_equal();
            if by_plays { arm.memory() } else { 1 << (arm.memory().min(LONGEST_WINDOW + 1) - 1) }
        });
        rows.sum::<usize>().min(2 * MOST_ROWS)
    }

    pub(super) fn arms(&self) -> &[ArmRows] {
        &self.arms
    }

    pub(super) fn losses(&self) -> &[f64] {
        &self.losses
    }

    /// Whether plays are counted by row.
    pub(super) fn is_counted(&self) -> bool {
        self.counted
    }

    /// Whether each arm's window fits into a 64-bit word.
    pub(super) fn windows_fit_into_words(&self) -> bool {
        self.arms.iter().all(|arm| arm.window != 0)
    }
}

/// The losses of 1, 2, ... plays in the window. If all weights are equal, the tally does not depend on which plays they
/// are; otherwise the curve does not use it.
fn losses_by_plays(arm: &Arm) -> impl Iterator<Item = f64> + '_ {
    arm.straight_exposures().map(|exposure| loss_of_exposure(arm, exposure))
}

fn loss_in_window(arm: &Arm, window: u64) -> f64 {
    let window: Vec<bool> = (0..arm.memory()).map(|age| window >> age & 1 == 1).collect();
    loss_of_exposure(arm, Exposure::of(&window, arm.weights()))
}

fn loss_of_exposure(arm: &Arm, exposure: Exposure) -> f64 {
    if exposure.is_calibrated() { arm.eventual_loss() } else { arm.loss(exposure) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{LossCurve, Noise, Weights};

    #[test]
    fn games_with_very_long_weighted_windows_have_no_table() {
        let game = |arm: Arm| Game::new(vec![arm]).unwrap();
        let weighted = |memory: u32| {
            let weights = Weights::new((1..=memory).map(|age| 1.0 / f64::from(age)).collect()).unwrap();
            game(Arm::new(weights, LossCurve::linear(1.0, -0.1), Noise::None).unwrap())
        };
        let unweighted =
            |memory| game(Arm::new(Weights::unit(memory).unwrap(), LossCurve::constant(0.5), Noise::None).unwrap());
        assert!(LossTable::new(&weighted(15)).is_none());
        assert!(LossTable::new(&unweighted(MOST_ROWS + 1)).is_none());
        let counted = |game: &Game| LossTable::new(game).unwrap().is_counted();
        assert!(counted(&weighted(12)) && counted(&unweighted(64)));
        assert!(!counted(&weighted(13)) && !counted(&unweighted(65)));
    }
}
