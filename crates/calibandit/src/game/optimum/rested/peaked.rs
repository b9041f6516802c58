//! Arms whose losses fall and then rise: at most one arm is left strictly inside its fall.
//!
//! Let two arms be inside their falls. Their sums F are concave there, so that moving plays from one to the other in
//! one of both directions never costs more, until one of them has no plays or is past its peak. So some optimum
//! consists of arms past their peak, arms without plays, and at most one arm in between. For each set of arms past
//! their peak, the remaining plays are those with the least losses of the rising parts.

use super::curve::{CurveKind, RestedCurve};
use super::greedy::{LOOKUP, MarginalMerge};
use super::{Effort, OptimumError};

/// The most arms that fall and rise: each doubles the number of sets.
const MOST_PEAKED: usize = 12;

/// The optimum of falling and rising arms.
pub(super) struct PeakedSolver {
    /// The arms that fall, with their peaks: `u64::MAX` if they never rise.
    falling: Vec<FallingPart>,
    /// The sets of arms past their peak, one bit per falling arm that rises, with their merges.
    sets: Vec<PastPeak>,
    plays: Vec<u64>,
}

struct FallingPart {
    arm: usize,
    peak: u64,
    /// The losses of its first 0, 1, 2, ... plays, up to its peak, as far as they were needed.
    sums: Vec<i128>,
}

struct PastPeak {
    /// Which of the falling arms are past their peak.
    members: Vec<usize>,
    /// The plays that they have up to there.
    plays: u64,
    merge: MarginalMerge,
    /// The sums of the 0, 1, 2, ... least losses of the rising parts, as far as they were needed.
    sums: Vec<i128>,
    /// Whether there is an arm to merge at all.
    merges: bool,
}

impl PeakedSolver {
    /// `None` if a curve is of another kind, or if there are too many arms that fall and rise.
    pub(super) fn new(kinds: &[CurveKind]) -> Option<Self> {
        let mut falling = Vec::new();
        let mut rotting = Vec::new();
        for (arm, kind) in kinds.iter().enumerate() {
            match *kind {
                CurveKind::Constant | CurveKind::Rotting => rotting.push(arm),
                CurveKind::Improving => falling.push(FallingPart { arm, peak: u64::MAX, sums: vec![0] }),
                CurveKind::Peaked { peak } => falling.push(FallingPart { arm, peak, sums: vec![0] }),
                CurveKind::General => return None,
            }
        }
        let rising: Vec<usize> = (0..falling.len()).filter(|&place| falling[place].peak < u64::MAX).collect();
        if rising.len() > MOST_PEAKED {
            return None;
        }
        let sets = (0..1usize << rising.len()).map(|bits| {
            let chosen = rising.iter().enumerate().filter(|(bit, _)| bits >> bit & 1 == 1);
            let members: Vec<usize> = chosen.map(|(_, &place)| place).collect();
            let mut starts = vec![0; kinds.len()];
            let mut arms = rotting.clone();
            for &place in &members {
                starts[falling[place].arm] = falling[place].peak;
                arms.push(falling[place].arm);
            }
            let plays = members.iter().fold(0u64, |sum, &place| sum.saturating_add(falling[place].peak));
            PastPeak {
                members,
                plays,
                merges: !arms.is_empty(),
                merge: MarginalMerge::new(starts, arms),
                sums: vec![0],
            }
        });
        let sets = sets.collect();
        Some(Self { falling, sets, plays: vec![0; kinds.len()] })
    }

    /// The least loss of `horizon` plays.
    pub(super) fn excess(
        &mut self,
        curves: &[RestedCurve<'_>],
        horizon: u64,
        effort: Effort<'_>,
    ) -> Result<i128, OptimumError> {
        let numbers = (self.sets.len() + self.falling.len()) as u128 * u128::from(horizon);
        effort.check_numbers(numbers, size_of::<i128>())?;
        effort.check_steps(numbers * LOOKUP + self.sets.len() as u128 * numbers)?;
        for part in &mut self.falling {
            part.extend(&curves[part.arm], horizon, effort)?;
        }
        let mut least: Option<PeakedChoice> = None;
        for set in 0..self.sets.len() {
            let Some(rest) = horizon.checked_sub(self.sets[set].plays) else { continue };
            self.sets[set].extend(curves, rest, effort)?;
            let PastPeak { members, merges, sums, .. } = &self.sets[set];
            let past: i128 = members.iter().map(|&place| self.falling[place].whole()).sum();
            let mut offer = |cost: i128, partial: Option<(usize, u64)>| {
                if least.as_ref().is_none_or(|least| cost < least.cost) {
                    least = Some(PeakedChoice { cost, set, partial });
                }
            };
            if *merges || rest == 0 {
                offer(past + sums[rest as usize], None);
            }
            for (place, part) in self.falling.iter().enumerate().filter(|(place, _)| !members.contains(place)) {
                effort.interrupt.check()?;
                let inside = part.peak.min(rest) as usize;
                if !merges {
                    // All that is left goes to this arm, if it fits into its fall.
                    if inside as u64 == rest {
                        offer(past + part.sums[inside], Some((place, rest)));
                    }
                    continue;
                }
                for (plays, &own) in part.sums[..=inside].iter().enumerate() {
                    offer(past + own + sums[rest as usize - plays], Some((place, plays as u64)));
                }
            }
        }
        let PeakedChoice { cost, set, partial } = least.expect("some set of arms can have all plays");
        self.keep(curves, horizon, set, partial, effort)?;
        Ok(cost)
    }

    /// Keeps the plays of a choice.
    fn keep(
        &mut self,
        curves: &[RestedCurve<'_>],
        horizon: u64,
        set: usize,
        partial: Option<(usize, u64)>,
        effort: Effort<'_>,
    ) -> Result<(), OptimumError> {
        let PastPeak { merge, plays: past, .. } = &self.sets[set];
        let mut again = merge.restarted();
        let inside = partial.map_or(0, |(_, plays)| plays);
        again.advance(curves, horizon - past - inside, effort, |_, _| ())?;
        self.plays = again.plays().to_vec();
        if let Some((place, plays)) = partial {
            self.plays[self.falling[place].arm] = plays;
        }
        Ok(())
    }

    /// The plays of each arm at the horizon that was solved last.
    pub(super) fn plays(&self) -> &[u64] {
        &self.plays
    }

    pub(super) fn memory_estimate(&self, horizon: u64) -> u64 {
        let arrays = (self.sets.len() + self.falling.len()) as u64;
        horizon.saturating_mul(arrays).saturating_mul(size_of::<i128>() as u64)
    }
}

/// A set of arms past their peak, and an arm inside its fall with its plays.
struct PeakedChoice {
    cost: i128,
    set: usize,
    partial: Option<(usize, u64)>,
}

impl FallingPart {
    /// Adds up losses as far as the horizon needs them.
    fn extend(&mut self, curve: &RestedCurve<'_>, horizon: u64, effort: Effort<'_>) -> Result<(), OptimumError> {
        let last = self.peak.min(horizon);
        let mut sum = *self.sums.last().expect("the sum of no plays is there");
        while (self.sums.len() as u64) <= last {
            effort.interrupt.check()?;
            sum += curve.excess(self.sums.len() as u64)?;
            self.sums.push(sum);
        }
        Ok(())
    }

    /// The loss of all plays up to the peak.
    fn whole(&self) -> i128 {
        self.sums[self.peak as usize]
    }
}

impl PastPeak {
    /// Merges losses as far as `plays` needs them.
    fn extend(&mut self, curves: &[RestedCurve<'_>], plays: u64, effort: Effort<'_>) -> Result<(), OptimumError> {
        if !self.merges || (self.sums.len() as u64) > plays {
            return Ok(());
        }
        let sums = &mut self.sums;
        self.merge.advance(curves, plays, effort, |loss, taken| {
            let mut sum = *sums.last().expect("the sum of no plays is there");
            sums.extend((0..taken).map(|_| {
                sum += loss;
                sum
            }));
        })
    }
}
