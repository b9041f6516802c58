//! Bounds on the optimum of a rested game where the exact one is too much work.

use super::super::OptimumBounds;
use super::super::sequence::{ArmPlays, BestSequence};
use super::curve::RestedCurve;
use crate::Interrupt;
use crate::game::Game;
use crate::planning::fixed_point::float;

/// The number of blocks into which each monotone piece is divided.
const BLOCKS: u64 = 4096;

/// The pieces of a curve that are looked at; the rest of a longer table counts as one block with bounds 0 and 1.
const MOST_PIECES: usize = 4096;

/// As the lower bound: every play has the least loss of any arm up to the horizon. As the upper bound: the best single
/// arm, whose losses are bounded block by block.
pub(super) fn estimate(
    game: &Game,
    curves: &[RestedCurve<'_>],
    horizon: u64,
    interrupt: Interrupt<'_>,
) -> OptimumBounds {
    let best = game.best_loss();
    let mut least = 1.0 - best;
    let mut upper = ((1.0 - best) * horizon as f64, 0);
    for (arm, curve) in curves.iter().enumerate() {
        if interrupt.is_stopped() && arm > 0 {
            break;
        }
        let mut sum = 0.0;
        let mut from = 1;
        for last in curve.piece_ends().take(MOST_PIECES).chain([u64::MAX]) {
            let last = last.min(horizon);
            for block in 1..=BLOCKS {
                if from > last {
                    break;
                }
                let length = (last - from) / (BLOCKS + 1 - block) + 1;
                let to = from + length - 1;
                let ends = [from, to].map(|plays| curve.excess(plays).map_or(1.0 - best, float));
                // A function of unknown direction may be anything in between.
                let (low, high) =
                    if curve.is_known() { (ends[0].min(ends[1]), ends[0].max(ends[1])) } else { (-best, 1.0 - best) };
                least = f64::min(least, low);
                sum += length as f64 * high;
                from = to + 1;
            }
        }
        if sum < upper.0 {
            upper = (sum, arm);
        }
    }
    let (upper_excess, arm) = upper;
    let lower_excess = horizon as f64 * least;
    let base = horizon as f64 * best;
    OptimumBounds {
        horizon,
        lower: base + lower_excess,
        upper: base + upper_excess,
        lower_excess,
        upper_excess,
        sequence: BestSequence { blocks: vec![ArmPlays { arm, plays: horizon }], ..BestSequence::default() },
        exact: false,
    }
}
