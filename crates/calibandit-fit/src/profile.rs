//! The least sum of squares at each alpha, and the search for the best alpha.

use super::columns::Orthogonal;
use super::{Observation, StandardErrors, WarmUp};

/// From here on the exponential is below the precision of floats at every position but the first: the limit of
/// alpha to infinity, reached.
const STEEPEST: f64 = 36.7;

/// Beta is the height at position 0, and has to be a float.
const LARGEST_EXPONENT: f64 = 600.0;

/// The flattest curve of the grid bends by this much over all positions; flatter ones lie between it and alpha = 0.
const FLATTEST: f64 = 1e-3;

/// Grid points per unit of ln(alpha).
const DENSITY: f64 = 12.0;

/// Observations gathered by position, and the form of the curve.
pub(super) struct Profile {
    model: WarmUp,
    positions: Vec<f64>,
    /// The roots of how many observations a position has: the weights of least squares.
    weights: Vec<f64>,
    /// The means at the positions, weighted.
    target: Vec<f64>,
    /// The weighted columns of gamma and of the level, which do not depend on alpha.
    falling: Vec<f64>,
    /// What no curve can explain: the sum of squares within positions.
    within: f64,
    total: f64,
    observations: usize,
}

/// The best curve for one alpha.
#[derive(Clone, Copy, Debug)]
pub(super) struct Candidate {
    pub(super) alpha: f64,
    pub(super) beta: f64,
    pub(super) gamma: f64,
    pub(super) level: f64,
    pub(super) sse: f64,
}

impl Profile {
    pub(super) fn new(model: WarmUp, observations: &[Observation]) -> Self {
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

    /// How many different positions there are.
    pub(super) fn positions(&self) -> usize {
        self.positions.len()
    }

    /// Around the mean of all observations.
    pub(super) fn total_sum_of_squares(&self) -> f64 {
        self.total
    }

    fn first(&self) -> f64 {
        self.positions.first().copied().unwrap_or(1.0)
    }

    /// The exponential, scaled to 1 at the first position so that it is there at every alpha.
    fn decay(&self, alpha: f64) -> Vec<f64> {
        let first = self.first();
        self.positions.iter().zip(&self.weights).map(|(k, weight)| weight * (-alpha * (k - first)).exp()).collect()
    }

    /// The best curve with this alpha: linear least squares, and if that makes gamma negative, then with gamma = 0. The
    /// sum of squares is convex in the linear parameters, so nothing between is better.
    pub(super) fn at(&self, alpha: f64) -> Candidate {
        let with_gamma = self.solve(alpha, true);
        if with_gamma.gamma >= 0.0 { with_gamma } else { self.solve(alpha, false) }
    }

    fn solve(&self, alpha: f64, falling: bool) -> Candidate {
        let mut columns = Vec::with_capacity(3);
        if self.model == WarmUp::Plateau {
            columns.push(self.weights.clone());
        }
        if falling {
            columns.push(self.falling.clone());
        }
        columns.push(self.decay(alpha));
        let (solution, left) = Orthogonal::new(columns).solve(&self.target);
        let mut solution = solution.into_iter();
        let mut next = || solution.next().unwrap_or(0.0);
        let level = if self.model == WarmUp::Plateau { next() } else { 0.0 };
        let gamma = if falling { next() } else { 0.0 };
        let beta = next() * (alpha * self.first()).exp();
        Candidate { alpha, beta, gamma, level, sse: self.within + left }
    }

    /// By the Jacobian of the curve in the parameters that are inside their ranges.
    pub(super) fn standard_errors(&self, best: &Candidate) -> StandardErrors {
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
        if self.model == WarmUp::Plateau {
            columns.push(self.weights.clone());
        }
        let freedom = self.observations as f64 - columns.len() as f64;
        let Some(variances) = Orthogonal::new(columns).variances().filter(|_| freedom > 0.0) else {
            return StandardErrors::default();
        };
        let mut errors = variances.into_iter().map(|variance| (variance * best.sse / freedom).sqrt());
        StandardErrors {
            beta: errors.next(),
            alpha: if inside { errors.next() } else { None },
            gamma: if best.gamma > 0.0 { errors.next() } else { None },
            level: if self.model == WarmUp::Plateau { errors.next() } else { None },
        }
    }

    fn steepest(&self) -> f64 {
        STEEPEST.min(LARGEST_EXPONENT / self.first())
    }

    fn flattest(&self) -> f64 {
        let last = self.positions.last().copied().unwrap_or(1.0);
        FLATTEST / (last - self.first()).max(1.0)
    }

    /// Rates to look at, increasing: evenly in ln(alpha), and 0. A plateau needs a bend: with alpha at 0 it would have
    /// two constant levels.
    fn grid(&self) -> Vec<f64> {
        let (low, high) = (self.flattest().ln(), self.steepest().ln());
        let steps = ((high - low) * DENSITY).ceil();
        let alphas = (0..=steps as usize).map(|i| (low + (high - low) * i as f64 / steps).exp());
        let zero = (self.model == WarmUp::Lap).then_some(0.0);
        zero.into_iter().chain(alphas).collect()
    }
}

/// The best curve over all alpha: the best of the local minima around the grid's, each narrowed down.
pub(super) fn search(profile: &Profile) -> Candidate {
    let grid: Vec<Candidate> = profile.grid().into_iter().map(|alpha| profile.at(alpha)).collect();
    let mut best = profile.at(profile.steepest());
    for (i, here) in grid.iter().enumerate() {
        let (before, after) = (grid[i.saturating_sub(1)], grid[(i + 1).min(grid.len() - 1)]);
        if here.sse <= before.sse && here.sse <= after.sse {
            let narrowed = narrow(profile, before.alpha, after.alpha);
            for candidate in [*here, narrowed] {
                if candidate.sse < best.sse {
                    best = candidate;
                }
            }
        }
    }
    best
}

/// Golden section between two alphas.
fn narrow(profile: &Profile, mut low: f64, mut high: f64) -> Candidate {
    let golden = (5f64.sqrt() - 1.0) / 2.0;
    let mut left = profile.at(high - golden * (high - low));
    let mut right = profile.at(low + golden * (high - low));
    // Below the root of the precision of floats a minimum is flat.
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
