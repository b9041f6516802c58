//! The losses of one arm of a rested game, in units.

use crate::game::loss::{Course, CurveDirection};
use crate::game::{Arm, CurveLeftRange, Exposure, Game};
use crate::planning::fixed_point::fixed;

/// An arm of a rested game: its losses by number of plays, in units above mu(x*).
pub(super) struct RestedCurve<'g> {
    game: &'g Game,
    arm: usize,
    best: i128,
}

/// What a curve does over all numbers of plays.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum CurveKind {
    /// Always the same loss.
    Constant,
    /// It never falls: a rotting arm.
    Rotting,
    /// It never rises: an improving arm.
    Improving,
    /// It never rises up to this number of plays, and never falls from it on.
    Peaked { peak: u64 },
    /// None of these, or not known.
    General,
}

impl CurveKind {
    pub(super) fn never_falls(&self) -> bool {
        matches!(self, Self::Constant | Self::Rotting)
    }

    pub(super) fn never_rises(&self) -> bool {
        matches!(self, Self::Constant | Self::Improving)
    }
}

impl<'g> RestedCurve<'g> {
    pub(super) fn new(game: &'g Game, arm: usize, best: i128) -> Self {
        Self { game, arm, best }
    }

    fn arm(&self) -> &'g Arm {
        &self.game.arms()[self.arm]
    }

    /// The excess at the `plays`-th play, from 1 on.
    pub(super) fn excess(&self, plays: u64) -> Result<i128, CurveLeftRange> {
        let arm = self.arm();
        // An arm that is not rested has a constant loss, or no memory.
        let loss = if arm.is_rested() { arm.loss(Exposure::rested(plays)) } else { arm.eventual_loss() };
        if loss.is_nan() {
            return Err(CurveLeftRange::new(self.game, self.arm, plays as f64));
        }
        Ok(fixed(loss) - self.best)
    }

    /// The last number of plays up to which the loss is that at `plays`, as far as is known.
    pub(super) fn flat_until(&self, plays: u64) -> u64 {
        self.arm().course().map_or(Course::END, |course| course.flat_until(plays))
    }

    /// The numbers of plays between which the curve is monotone: the last one of each piece.
    pub(super) fn piece_ends(&self) -> impl Iterator<Item = u64> + '_ {
        let pieces = self.arm().course().map(|course| course.pieces.as_slice()).unwrap_or_default();
        pieces.iter().map(|&(last, _)| last)
    }

    /// Whether the curve is known to be monotone between the ends of its pieces.
    pub(super) fn is_known(&self) -> bool {
        self.arm().course().is_none_or(|course| course.pieces.iter().all(|&(_, way)| way != CurveDirection::Unknown))
    }

    /// What the curve does, by its pieces and the jumps between them.
    pub(super) fn kind(&self) -> CurveKind {
        let Some(course) = self.arm().course() else { return CurveKind::Constant };
        let (mut falls, mut rises_from) = (false, None);
        let rounding = fixed(course.rounding);
        let mut first = 1;
        for &(last, direction) in &course.pieces {
            let jump = match first {
                1 => CurveDirection::Flat,
                _ => match (self.excess(first - 1), self.excess(first)) {
                    (Ok(before), Ok(now)) if now < before - rounding => CurveDirection::Falling,
                    (Ok(before), Ok(now)) if now > before + rounding => CurveDirection::Rising,
                    (Ok(_), Ok(_)) => CurveDirection::Flat,
                    _ => CurveDirection::Unknown,
                },
            };
            // The peak is the last play before the rise: that before a jump, or the first of a rising piece.
            for (direction, peak) in [(jump, first - 1), (direction, first)] {
                match direction {
                    CurveDirection::Flat => {}
                    CurveDirection::Rising => rises_from = rises_from.or(Some(peak)),
                    CurveDirection::Falling if rises_from.is_none() => falls = true,
                    CurveDirection::Falling | CurveDirection::Unknown => return CurveKind::General,
                }
            }
            first = last.saturating_add(1);
        }
        match (falls, rises_from) {
            (false, None) => CurveKind::Constant,
            (false, Some(_)) => CurveKind::Rotting,
            (true, None) => CurveKind::Improving,
            (true, Some(peak)) => CurveKind::Peaked { peak },
        }
    }
}
