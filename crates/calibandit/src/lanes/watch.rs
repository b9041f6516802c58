//! What can go wrong statistically, watched while losses arrive. Nothing here influences decisions.
//!
//! - *Lanes that differ*: the correlation of consecutive calibrated losses of an arm in one lane. If all lanes are
//!   alike it is 0; otherwise it is the intraclass correlation.
//! - *Delay that depends on the loss*: the correlation of the logarithm of the delay with the loss, within arms.
//! - *A memory bound that is too small*: a bet of each visit on its first calibrated loss exceeding a much later one.
//!   The bets multiply to a wealth with the expectation 1 at most if both have the same mean, so that the wealth
//!   reaches 20 with a probability of at most 5 %, whenever one looks. A policy leaves an arm rather after large
//!   losses, so the visits that go on have smaller first losses: the bets are then worse, never better.

use super::lane::NO_ARM;
use crate::{LossRange, math};

/// The bets: the fraction of the wealth that is staked on the difference of two losses.
const STAKES: [f64; 3] = [0.2, 0.5, 0.9];
/// The wealth at which the memory bound looks too small: 1/0.05.
pub(super) const ALARM: f64 = 20.0;
/// A visit compares its first calibrated loss with the one at this multiple of its position.
pub(super) const LATER: u64 = 3;
/// The weight that keeps the wealth from overflowing; it is far above every alarm.
const MOST_WEALTH: f64 = 1e100;

/// What a lane keeps for this.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(deny_unknown_fields))]
pub(super) struct LaneNotes {
    /// The arm and the value of its newest calibrated loss; no arm if there is none.
    arm: u32,
    last: f64,
    /// The first calibrated loss of the visit.
    #[cfg_attr(feature = "serde", serde(default, skip_serializing_if = "Option::is_none"))]
    early: Option<f64>,
    /// Whether it had a calibrated play since it was cold.
    pub(super) measured: bool,
}

impl Default for LaneNotes {
    fn default() -> Self {
        Self { arm: NO_ARM, last: 0.0, early: None, measured: false }
    }
}

/// Sums over pairs of numbers.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(deny_unknown_fields))]
pub(super) struct PairSums {
    n: f64,
    x: f64,
    y: f64,
    xx: f64,
    yy: f64,
    xy: f64,
}

impl PairSums {
    fn add(&mut self, x: f64, y: f64) {
        let Self { n, x: sx, y: sy, xx, yy, xy } = *self;
        *self = Self { n: n + 1.0, x: sx + x, y: sy + y, xx: xx + x * x, yy: yy + y * y, xy: xy + x * y };
    }

    /// The number of pairs and their correlation; 0 if one of the two does not vary.
    pub(super) fn correlation(&self) -> (f64, f64) {
        let Self { n, x, y, xx, yy, xy } = *self;
        let (vx, vy, cov) = (xx - x * x / n, yy - y * y / n, xy - x * y / n);
        let product = vx * vy;
        let tiny = vx <= 1e-9 * xx || vy <= 1e-9 * yy;
        (n, if n >= 2.0 && product > 0.0 && !tiny { (cov / product.sqrt()).clamp(-1.0, 1.0) } else { 0.0 })
    }

    #[cfg(feature = "serde")]
    pub(super) fn is_finite(&self) -> bool {
        let Self { n, x, y, xx, yy, xy } = *self;
        [n, x, y, xx, yy, xy].iter().all(|number| number.is_finite()) && n >= 0.0 && xx >= 0.0 && yy >= 0.0
    }
}

/// What is watched.
#[derive(Clone, Debug, Default, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(deny_unknown_fields))]
pub(super) struct LaneWatch {
    /// Per arm, the number and the mean of the calibrated losses told.
    means: Vec<(f64, f64)>,
    /// Consecutive losses of a lane, less the means.
    pub(super) neighbours: PairSums,
    /// Delays and losses, less the means.
    pub(super) delays: PairSums,
    /// The wealth of each bet against the memory bound, the greatest wealth of their mixture, and the number of visits.
    wealth: [f64; STAKES.len()],
    pub(super) peak: f64,
    pub(super) visits: u64,
    /// The sessions of lanes that are over, and those of them with a calibrated play.
    pub(super) ended: u64,
    pub(super) ended_measured: u64,
}

impl LaneWatch {
    pub(super) fn new(arms: usize) -> Self {
        Self { means: vec![(0.0, 0.0); arms], wealth: [1.0; STAKES.len()], peak: 1.0, ..Self::default() }
    }

    pub(super) fn add_arm(&mut self) {
        self.means.push((0.0, 0.0));
    }

    /// A session of a lane is over.
    pub(super) fn end_session(&mut self, measured: bool) {
        self.ended += 1;
        self.ended_measured += u64::from(measured);
    }

    /// A calibrated loss is told. `position` counts the plays of its arm in a row, and `first` is that of the first
    /// calibrated one.
    pub(super) fn tell(&mut self, notes: &mut LaneNotes, told: ToldLoss, range: &LossRange) {
        let ToldLoss { arm, loss, delay, position, first } = told;
        let (count, mean) = self.means[arm];
        self.means[arm] = (count + 1.0, mean + (loss - mean) / (count + 1.0));
        // The mean before the loss: it is independent of it.
        if count >= 10.0 {
            self.delays.add(math::ln_1p(delay as f64), loss - mean);
            if notes.arm as usize == arm && position > first {
                self.neighbours.add(notes.last - mean, loss - mean);
            }
        }
        (notes.arm, notes.last) = (arm as u32, loss);
        if position == first {
            notes.early = Some(loss);
        } else if position == LATER.saturating_mul(first)
            && let Some(early) = notes.early.take()
            && !range.is_unbounded()
        {
            self.bet((early - loss) / (range.high() - range.low()));
        }
    }

    fn bet(&mut self, difference: f64) {
        self.visits += 1;
        for (wealth, stake) in self.wealth.iter_mut().zip(STAKES) {
            *wealth = (*wealth * (1.0 + stake * difference)).min(MOST_WEALTH);
        }
        self.peak = self.peak.max(self.wealth.iter().sum::<f64>() / STAKES.len() as f64);
    }

    #[cfg(feature = "serde")]
    pub(super) fn is_possible(&self, arms: usize, next: u64, most: u64) -> bool {
        let means = self.means.len() == arms && self.means.iter().all(|(n, mean)| *n >= 0.0 && mean.is_finite());
        let wealth = self.wealth.iter().all(|wealth| (0.0..=MOST_WEALTH).contains(wealth));
        let counts = self.visits <= next && self.ended_measured <= self.ended && self.ended <= most;
        let peak = self.peak >= 1.0 && self.peak <= MOST_WEALTH;
        means && wealth && counts && peak && self.neighbours.is_finite() && self.delays.is_finite()
    }
}

/// A calibrated loss.
pub(super) struct ToldLoss {
    pub(super) arm: usize,
    pub(super) loss: f64,
    pub(super) delay: u64,
    pub(super) position: u64,
    pub(super) first: u64,
}
