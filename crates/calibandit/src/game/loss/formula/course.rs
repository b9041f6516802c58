//! Where a curve falls, rises or is flat: what is known about all numbers of plays without looking at each.

use super::{Formula, PeakCurve, PowerCurve, Ramp, argument};
use crate::math;

/// The longest horizon: up to here plays are counted exactly in floats.
const LONGEST: u64 = 1 << 53;

/// What a loss does with more plays.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum CurveDirection {
    /// It stays the same.
    Flat,
    /// It never rises.
    Falling,
    /// It never falls.
    Rising,
    /// Nothing is known.
    Unknown,
}

/// The pieces of a curve: on each of them its direction is known, up to the rounding of floats. Between the last play
/// of a piece and the first of the next one the loss may jump.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Course {
    /// The last number of plays of each piece, increasing, and its direction. The last piece ends at [`Course::END`].
    pub(crate) pieces: Vec<(u64, CurveDirection)>,
    /// The loss changes only after so many plays.
    every: u64,
    /// By how much rounding may make two neighbouring losses contradict the course: 0 for listed losses.
    pub(crate) rounding: f64,
}

/// The rounding of a formula: some units in the last place of a loss.
const ROUNDING: f64 = 1.0 / (1u64 << 50) as f64;

impl Course {
    /// Beyond every horizon.
    pub(crate) const END: u64 = u64::MAX;

    /// The same direction everywhere.
    pub(crate) fn uniform(direction: CurveDirection) -> Self {
        Self::of(vec![(Self::END, direction)])
    }

    pub(crate) fn of(pieces: Vec<(u64, CurveDirection)>) -> Self {
        Self { pieces, every: 1, rounding: 0.0 }
    }

    /// The same course, but the first play is a piece of its own, because it has a loss of its own.
    pub(crate) fn with_own_first(mut self) -> Self {
        if self.pieces[0].0 > 1 {
            self.pieces.insert(0, (1, CurveDirection::Flat));
        }
        self
    }

    /// The last number of plays up to which the loss is that at `plays`, as far as is known.
    pub(crate) fn flat_until(&self, plays: u64) -> u64 {
        let piece = self.pieces.partition_point(|&(last, _)| last < plays);
        match self.pieces[piece] {
            (last, CurveDirection::Flat) => last,
            (last, _) => (plays.div_ceil(self.every)).saturating_mul(self.every).min(last),
        }
    }
}

impl Formula {
    /// Where this curve falls and rises.
    pub(crate) fn course(&self) -> Course {
        match self {
            Self::Steps(steps) => {
                let ends = steps[1..].iter().map(|step| step.from - 1).chain([Course::END]);
                Course::of(ends.map(|last| (last, CurveDirection::Flat)).collect())
            }
            Self::Table(losses) => {
                let changes = (1..).zip(losses.windows(2)).filter(|(_, pair)| pair[0] != pair[1]);
                let ends = changes.map(|(plays, _)| plays).chain([Course::END]);
                Course::of(ends.map(|last| (last, CurveDirection::Flat)).collect())
            }
            Self::Power(PowerCurve { scale, every, .. }) => Course { every: *every, ..self.monotone(-scale) },
            Self::Ramp(Ramp { start, end, .. }) => self.monotone(end - start),
            Self::Exponential(curve) => self.monotone(curve.end - curve.start),
            Self::Rational(curve) => self.monotone(curve.end - curve.start),
            Self::Peak(curve) => self.peaked(curve),
        }
    }

    fn peaked(&self, curve: &PeakCurve) -> Course {
        let rises = |plays: u64| curve.rises(argument(plays, curve.first));
        let top = curve.steepest();
        if !rises(top) {
            return Course::uniform(CurveDirection::Falling).saturated(self);
        }
        let mut pieces = Vec::new();
        let first_rise = first(1, top, rises);
        if first_rise > 1 {
            pieces.push((first_rise - 1, CurveDirection::Falling));
        }
        // The rest of the falling part may outweigh that of the rise in the end, where floats can still tell.
        let last_rise = first(top, LONGEST, |plays| !rises(plays));
        if self.at(last_rise) == self.eventual_loss() {
            pieces.push((Course::END, CurveDirection::Rising));
        } else {
            pieces.extend([(last_rise - 1, CurveDirection::Rising), (Course::END, CurveDirection::Falling)]);
        }
        Course::of(pieces).saturated(self)
    }

    /// The course of a curve that only rises (if `change` is positive) or only falls.
    fn monotone(&self, change: f64) -> Course {
        Course::uniform(match change {
            _ if change > 0.0 => CurveDirection::Rising,
            _ if change < 0.0 => CurveDirection::Falling,
            _ => CurveDirection::Flat,
        })
        .saturated(self)
    }
}

impl Course {
    /// The same course with a flat piece at the end, from where the float of the loss is the eventual loss on.
    fn saturated(mut self, formula: &Formula) -> Self {
        self.rounding = ROUNDING;
        let end = formula.eventual_loss();
        let begin = self.pieces.len().checked_sub(2).map_or(1, |before| self.pieces[before].0 + 1);
        let reached = |plays: u64| formula.at(plays) == end;
        if begin < LONGEST && reached(LONGEST) {
            let from = first(begin, LONGEST, reached);
            let last = self.pieces.last_mut().expect("a course has a piece");
            if from == begin {
                last.1 = CurveDirection::Flat;
            } else {
                last.0 = from - 1;
                self.pieces.push((Self::END, CurveDirection::Flat));
            }
        }
        self
    }
}

impl PeakCurve {
    /// The number of plays at which the slope of the rise is largest compared with that of the fall: before it the
    /// quotient of both only grows, and after it it only falls.
    fn steepest(&self) -> u64 {
        let rate = self.fall + self.rise;
        // Where the derivative of the logarithm of the quotient, fall - rate + 2 rate (1 - σ(rate · u)), vanishes.
        let u = math::ln((rate + self.fall) / self.rise) / rate;
        let plays = self.centre + u + 1.0 - f64::from(self.first);
        if plays < 1.0 {
            1
        } else if plays < LONGEST as f64 {
            plays as u64
        } else {
            LONGEST
        }
    }
}

/// The first number from `low` on for which the condition holds, if it holds from some number on; at most `high`.
fn first(mut low: u64, mut high: u64, holds: impl Fn(u64) -> bool) -> u64 {
    while low < high {
        let middle = low + (high - low) / 2;
        if holds(middle) {
            high = middle;
        } else {
            low = middle + 1;
        }
    }
    low
}

#[cfg(test)]
mod tests {
    use super::super::{ExponentialApproach, LossStep, RationalApproach};
    use super::*;

    /// Compares a course with the curve itself, play by play.
    fn assert_course(formula: &Formula, plays: u64) {
        let course = formula.course();
        let mut piece = 0;
        for n in 1..plays {
            if n > course.pieces[piece].0 {
                piece += 1;
            }
            let (now, next) = (formula.at(n), formula.at(n + 1));
            let flat = course.flat_until(n);
            assert!(flat >= n && formula.at(flat.min(1 << 53)) == now, "{formula:?} at {n}");
            if n == course.pieces[piece].0 {
                continue; // it may jump
            }
            let holds = match course.pieces[piece].1 {
                CurveDirection::Flat => now == next,
                CurveDirection::Falling => next <= now + course.rounding,
                CurveDirection::Rising => next >= now - course.rounding,
                CurveDirection::Unknown => true,
            };
            assert!(holds, "{formula:?}: {now} at {n}, {next} after it, {course:?}");
        }
    }

    #[test]
    fn courses_are_those_of_the_curves() {
        let step = |from, loss| LossStep { from, loss };
        let ramp = |start, end, exponent| Ramp { start, end, plays: 37.5, exponent, first: 0 };
        for formula in [
            Formula::Steps(vec![step(1, 0.2), step(10, 0.7), step(50, 0.1)]),
            Formula::Table(vec![0.9, 0.9, 0.4, 0.5, 0.5]),
            Formula::Power(PowerCurve { limit: 0.1, scale: 0.9, exponent: 0.5, every: 1 }),
            Formula::Power(PowerCurve { limit: 0.9, scale: -0.9, exponent: 2.0, every: 7 }),
            Formula::Power(PowerCurve { limit: 0.9, scale: 0.0, exponent: 2.0, every: 7 }),
            Formula::Ramp(ramp(1.0, 0.2, 1.0)),
            Formula::Ramp(ramp(0.1, 0.2, 0.3)),
            Formula::Exponential(ExponentialApproach { start: 1.0, end: 0.25, rate: 0.1, first: 1 }),
            Formula::Exponential(ExponentialApproach { start: 0.0, end: 0.25, rate: 3.0, first: 0 }),
            Formula::Rational(RationalApproach {
                start: 1.0,
                end: 0.0,
                scale: 20.0,
                exponent: 0.8,
                clipped: false,
                first: 0,
            }),
            Formula::Rational(RationalApproach {
                start: 1.0,
                end: -0.1,
                scale: 20.0,
                exponent: 1.0,
                clipped: true,
                first: 0,
            }),
        ] {
            assert_course(&formula, 3000);
        }
    }

    #[test]
    fn peaks_fall_and_then_rise() {
        // The games of Lindner et al.; the peaks are those of an independent scan.
        let peak = |fall, rise, c1, c2, centre, a: f64| PeakCurve {
            before: 1.0 - c1,
            after: 1.0 - c2,
            height: -a,
            fall,
            rise,
            centre,
            first: 1,
        };
        for (curve, at, reward) in [
            (peak(0.01, 0.001, 1.0, 0.05, 600.0, -0.0015), 291, 0.936),
            (peak(0.009, 0.0009, 0.8, 0.1, 500.0, -0.005), 241, 0.699),
            (peak(0.003, 0.001, 1.0, 0.05, 600.0, -0.0015), 1, 0.912),
            (peak(0.011, 0.001, 0.8, 0.2, 400.0, -0.008), 218, 0.680),
            (peak(0.01, 0.001, 1.0, 0.5, 600.0, -0.0015), 323, 0.953),
            (peak(0.009, 0.0009, 0.8, 0.6, 500.0, -0.005), 316, 0.746),
        ] {
            let formula = Formula::Peak(curve);
            let best = (1..=20_000).min_by(|&a, &b| formula.at(a).total_cmp(&formula.at(b))).unwrap();
            assert_eq!(best, at);
            assert!((1.0 - formula.at(best) - reward).abs() < 5e-4);
            assert_course(&formula, 20_000);
        }
        // A slow fall outweighs the rest of a fast rise in the end.
        let slow = Formula::Peak(PeakCurve {
            before: 0.2,
            after: 0.5,
            height: 0.1,
            fall: 0.002,
            rise: 0.5,
            centre: 50.0,
            first: 1,
        });
        let directions: Vec<CurveDirection> = slow.course().pieces.iter().map(|&(_, direction)| direction).collect();
        assert_eq!(
            directions,
            [CurveDirection::Falling, CurveDirection::Rising, CurveDirection::Falling, CurveDirection::Flat]
        );
        assert_course(&slow, 20_000);
    }
}
