//! The profile of the likelihood: the least sum of squares for each alpha, and the search for the best alpha.

use crate::curve::{Observation, StandardErrors, WarmUp};
use crate::least_squares::QrFactors;

/// The largest alpha of the search. Here the exponential at every position but the first is below the precision of
/// `f64` (exp(-36.7) < 2^-52), so larger values give the same curve.
const STEEPEST: f64 = 36.7;

/// The largest exponent of e in beta, the height at position 0; `f64` overflows at 709.
const LARGEST_EXPONENT: f64 = 600.0;

/// The total decay exponent over all positions of the flattest curve of the grid. Between it and alpha = 0, curves
/// differ from straight lines by less than this share of their fall.
const FLATTEST: f64 = 1e-3;

/// Grid points per unit of ln(alpha). Local minima of the profile are wider than 1/12 (tested against a grid that is
/// 80 times as dense).
const DENSITY: f64 = 12.0;

/// Observations grouped by position, and the model of the curve.
pub(crate) struct Profile {
    model: WarmUp,
    positions: Vec<f64>,
    /// The weights of least squares: the square root of the number of observations at each position.
    weights: Vec<f64>,
    /// The weighted mean losses of the positions.
    target: Vec<f64>,
    /// The weighted column of gamma, which does not depend on alpha.
    falling: Vec<f64>,
    /// The sum of squares within positions, which no curve can explain.
    within: f64,
    /// The sum of squares around the mean of all observations.
    total: f64,
    observations: usize,
}

/// The best curve for one alpha.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ProfilePoint {
    pub(crate) alpha: f64,
    pub(crate) beta: f64,
    pub(crate) gamma: f64,
    pub(crate) level: f64,
    pub(crate) sse: f64,
}

impl Profile {
    pub(crate) fn new(model: WarmUp, observations: &[Observation]) -> Self {
        let mut sorted = observations.to_vec();
        sorted.sort_by_key(|seen| seen.position);
        let mean = |all: &[Observation]| all.iter().map(|seen| seen.loss).sum::<f64>() / all.len() as f64;
        let around = |mean: f64, all: &[Observation]| all.iter().map(|seen| (seen.loss - mean).powi(2)).sum::<f64>();
        let (mut positions, mut weights, mut target, mut within) = (Vec::new(), Vec::new(), Vec::new(), 0.0);
        for same in sorted.chunk_by(|a, b| a.position == b.position) {
            let (weight, here) = ((same.len() as f64).sqrt(), mean(same));
            positions.push(f64::from(same[0].position));
            weights.push(weight);
            target.push(weight * here);
            within += around(here, same);
        }
        let falling = positions.iter().zip(&weights).map(|(k, weight)| -weight * k).collect();
        let total = around(mean(&sorted), &sorted);
        Self { model, positions, weights, target, falling, within, total, observations: observations.len() }
    }

    /// The number of different positions.
    pub(crate) fn positions(&self) -> usize {
        self.positions.len()
    }

    /// The sum of squares around the mean of all observations.
    pub(crate) fn total_sum_of_squares(&self) -> f64 {
        self.total
    }

    fn first(&self) -> f64 {
        *self.positions.first().expect("`fit` refuses profiles without positions")
    }

    /// The weighted column of the exponential, scaled to 1 at the first position so that it does not vanish.
    fn decay(&self, alpha: f64) -> Vec<f64> {
        let first = self.first();
        self.positions.iter().zip(&self.weights).map(|(k, weight)| weight * (-alpha * (k - first)).exp()).collect()
    }

    /// The best curve with this alpha: linear least squares, with gamma = 0 if gamma would be negative. The sum of
    /// squares is convex in the linear parameters, so no positive gamma is better in that case.
    pub(crate) fn at(&self, alpha: f64) -> ProfilePoint {
        if !self.model.has_linear_part() {
            return self.solve(alpha, false);
        }
        let with_gamma = self.solve(alpha, true);
        if with_gamma.gamma >= 0.0 { with_gamma } else { self.solve(alpha, false) }
    }

    fn solve(&self, alpha: f64, falling: bool) -> ProfilePoint {
        let mut columns = Vec::with_capacity(3);
        if self.model.has_level() {
            columns.push(self.weights.clone());
        }
        if falling {
            columns.push(self.falling.clone());
        }
        columns.push(self.decay(alpha));
        let (solution, left) = QrFactors::new(columns).solve(&self.target);
        let mut solution = solution.into_iter();
        let mut next = || solution.next().expect("there is one coefficient per column");
        let level = if self.model.has_level() { next() } else { 0.0 };
        let gamma = if falling { next() } else { 0.0 };
        let beta = next() * (alpha * self.first()).exp();
        ProfilePoint { alpha, beta, gamma, level, sse: self.within + left }
    }

    /// The standard errors, from the Jacobian of the curve in the parameters that are inside their ranges.
    pub(crate) fn standard_errors(&self, best: &ProfilePoint) -> StandardErrors {
        let decay = self.decay(best.alpha);
        let down = (-best.alpha * self.first()).exp();
        let by_alpha = self.positions.iter().zip(&decay).map(|(k, decay)| -best.beta * down * k * decay);
        let mut columns: Vec<Vec<f64>> = vec![decay.iter().map(|decay| decay * down).collect()];
        let inside = best.alpha > 0.0 && best.alpha < self.steepest();
        if inside {
            columns.push(by_alpha.collect());
        }
        if best.gamma > 0.0 {
            columns.push(self.falling.clone());
        }
        if self.model.has_level() {
            columns.push(self.weights.clone());
        }
        let freedom = self.observations as f64 - columns.len() as f64;
        let Some(variances) = QrFactors::new(columns).variances().filter(|_| freedom > 0.0) else {
            return StandardErrors::default();
        };
        let mut errors = variances.into_iter().map(|variance| (variance * best.sse / freedom).sqrt());
        StandardErrors {
            beta: errors.next(),
            alpha: if inside { errors.next() } else { None },
            gamma: if best.gamma > 0.0 { errors.next() } else { None },
            level: if self.model.has_level() { errors.next() } else { None },
        }
    }

    fn steepest(&self) -> f64 {
        STEEPEST.min(LARGEST_EXPONENT / self.first())
    }

    fn flattest(&self) -> f64 {
        let last = self.positions.last().expect("`fit` refuses profiles without positions");
        FLATTEST / (last - self.first()).max(1.0)
    }

    /// The values of alpha to try, increasing: evenly spaced in ln(alpha), and 0. Models with a level do without 0,
    /// where the level and the exponential would be the same constant column.
    fn grid(&self) -> Vec<f64> {
        let (low, high) = (self.flattest().ln(), self.steepest().ln());
        let steps = ((high - low) * DENSITY).ceil();
        let alphas = (0..=steps as usize).map(|i| (low + (high - low) * i as f64 / steps).exp());
        let zero = (!self.model.has_level()).then_some(0.0);
        zero.into_iter().chain(alphas).collect()
    }
}

/// The best curve over all alpha: each local minimum of the grid is refined, and the best of them is returned.
pub(crate) fn search(profile: &Profile) -> ProfilePoint {
    let grid: Vec<ProfilePoint> = profile.grid().into_iter().map(|alpha| profile.at(alpha)).collect();
    let mut best = profile.at(profile.steepest());
    for (i, here) in grid.iter().enumerate() {
        let (before, after) = (grid[i.saturating_sub(1)], grid[(i + 1).min(grid.len() - 1)]);
        if here.sse <= before.sse && here.sse <= after.sse {
            let refined = refine(profile, before.alpha, after.alpha);
            for candidate in [*here, refined] {
                if candidate.sse < best.sse {
                    best = candidate;
                }
            }
        }
    }
    best
}

/// Golden-section search between two values of alpha.
fn refine(profile: &Profile, mut low: f64, mut high: f64) -> ProfilePoint {
    let golden = (5f64.sqrt() - 1.0) / 2.0;
    let mut left = profile.at(high - golden * (high - low));
    let mut right = profile.at(low + golden * (high - low));
    // A smooth minimum is flat within the square root of the precision of `f64`.
    while high - low > 1e-9 * high {
        if left.sse <= right.sse {
            (high, right) = (right.alpha, left);
            left = profile.at(high - golden * (high - low));
        } else {
            (low, left) = (left.alpha, right);
            right = profile.at(low + golden * (high - low));
        }
    }
    if left.sse <= right.sse { left } else { right }
}
