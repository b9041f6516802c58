//! The recent losses of an arm and their trend, extrapolated to a later time: the estimate of the rising policies.
//!
//! With n losses x_1, ..., x_n, a share eps in (0, 1/2) and h = floor(eps·n), the estimate for time t is
//!
//! ```text
//! (1/h)·sum over l = n-h+1, ..., n of [ x_l + (t - l)·(x_l - x_(l-h))/h ]
//! ```
//!
//! It is O(1) per play, from four sums that are kept up to date: of the last h losses and of the h before, plain and
//! weighted with l. The last 2·h + 1 losses are kept.

use std::collections::VecDeque;

use super::history::{RestoredPlays, StateError, ensure};
use super::single_plays::{check_largest, sums_agree};

/// The recent losses of one arm.
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(deny_unknown_fields))]
pub(super) struct RecentTrend {
    /// n.
    plays: u64,
    /// The last losses: 2·h + 1 of them, or as many as there are.
    losses: VecDeque<f64>,
    /// The largest absolute value of all losses.
    largest: f64,
    /// The sum of the last h losses.
    newer: f64,
    /// The sum of the h losses before them.
    older: f64,
    /// The sum of l·x_l over the last h losses.
    newer_weighted: f64,
    /// The sum of l·x_(l-h) over the same l.
    older_weighted: f64,
}

/// h.
pub(super) fn window(share: f64, plays: u64) -> u64 {
    (share * plays as f64).floor() as u64
}

impl RecentTrend {
    pub(super) fn new() -> Self {
        let losses = VecDeque::new();
        Self { plays: 0, losses, largest: 0.0, newer: 0.0, older: 0.0, newer_weighted: 0.0, older_weighted: 0.0 }
    }

    #[inline]
    pub(super) fn plays(&self) -> u64 {
        self.plays
    }

    /// The loss `ago` plays before the last one, which is 0 plays ago.
    fn ago(&self, ago: u64) -> f64 {
        let at = (self.losses.len() as u64).checked_sub(ago + 1);
        at.and_then(|at| self.losses.get(at as usize)).copied().unwrap_or(0.0)
    }

    pub(super) fn learn(&mut self, share: f64, loss: f64) {
        let before = window(share, self.plays);
        self.plays += 1;
        let h = window(share, self.plays);
        self.largest = self.largest.max(loss.abs());
        self.losses.push_back(loss);
        let n = self.plays as f64;
        if h == before && h > 0 {
            // x_n is new; x_(n-h) moves to the older ones; x_(n-2h) leaves.
            let (middle, oldest) = (self.ago(h), self.ago(2 * h));
            let moved = n - h as f64;
            self.newer += loss - middle;
            self.older += middle - oldest;
            self.newer_weighted += n * loss - moved * middle;
            self.older_weighted += n * middle - moved * oldest;
        } else if h > before {
            // x_n and x_(n-2h+1) are new. The older ones move by one place relative to the newer ones.
            let oldest = self.ago(2 * h - 1);
            self.newer += loss;
            self.older += oldest;
            self.newer_weighted += n * loss;
            self.older_weighted += (n - h as f64) * oldest + self.older;
        }
        while self.losses.len() as u64 > 2 * h + 1 {
            self.losses.pop_front();
        }
    }

    /// The estimate for time t, and h; `None` while h is 0.
    #[inline]
    pub(super) fn estimate(&self, share: f64, time: f64) -> Option<(f64, f64)> {
        let h = window(share, self.plays) as f64;
        let trend = time * (self.newer - self.older) - (self.newer_weighted - self.older_weighted);
        (h > 0.0).then(|| ((self.newer + trend / h) / h, h))
    }

    pub(super) fn check_restored(&self, share: f64, history: &RestoredPlays<'_>) -> Result<(), StateError> {
        check_largest(history, self.largest, self.losses.iter())?;
        let h = window(share, self.plays);
        let kept = self.losses.len() as u64;
        // One less than 2·h + 1 right after h has grown.
        let fits = kept <= self.plays.min(2 * h + 1) && kept >= self.plays.min(2 * h + 1).min((2 * h).max(1));
        ensure(fits, "the recent losses of an arm do not fit its plays")?;
        let mut exact = [0.0; 4];
        for ago in 0..h {
            let (newer, older, at) = (self.ago(ago), self.ago(ago + h), (self.plays - ago) as f64);
            exact = [exact[0] + newer, exact[1] + older, exact[2] + at * newer, exact[3] + at * older];
        }
        let (h, n) = (h as f64, self.plays as f64);
        let agree = sums_agree(self.newer, exact[0], h, self.largest)
            && sums_agree(self.older, exact[1], h, self.largest)
            && sums_agree(self.newer_weighted, exact[2], n * h, self.largest)
            && sums_agree(self.older_weighted, exact[3], n * h, self.largest);
        ensure(agree, "the sums of the recent losses of an arm are not theirs")
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rng::StreamKey;
    use rand::RngExt;

    fn by_definition(losses: &[f64], share: f64, time: f64) -> Option<f64> {
        let n = losses.len();
        let h = window(share, n as u64) as usize;
        let term = |l: usize| {
            let (newer, older) = (losses[l - 1], losses[l - 1 - h]);
            newer + (time - l as f64) * (newer - older) / h as f64
        };
        (h > 0).then(|| (n - h + 1..=n).map(term).sum::<f64>() / h as f64)
    }

    #[test]
    fn estimates_are_those_of_the_definition() {
        let mut draws = StreamKey::new(1, "trend", 0).noise();
        for share in [0.25, 0.125, 1.0 / 32.0, 0.4, 0.499] {
            let mut trend = RecentTrend::new();
            let mut losses = Vec::new();
            for _ in 0..2000 {
                let loss: f64 = draws.random();
                losses.push(loss);
                trend.learn(share, loss);
                let time = losses.len() as f64 * 1.7 + 3.0;
                let estimate = trend.estimate(share, time).map(|estimate| estimate.0);
                match (estimate, by_definition(&losses, share, time)) {
                    (None, None) => {}
                    (Some(kept), Some(defined)) => assert!((kept - defined).abs() < 1e-7, "{kept} {defined}"),
                    other => panic!("{other:?}"),
                }
                assert!(trend.losses.len() as u64 <= 2 * window(share, trend.plays) + 1);
            }
        }
    }

    /// On a straight line the extrapolation is exact.
    #[test]
    fn a_line_is_extrapolated_exactly() {
        let mut trend = RecentTrend::new();
        for play in 1..=400u32 {
            trend.learn(0.25, 1.0 - 0.002 * f64::from(play));
        }
        let (estimate, h) = trend.estimate(0.25, 1000.0).unwrap();
        assert!((estimate - (1.0 - 2.0)).abs() < 1e-9 && h == 100.0);
    }
}
