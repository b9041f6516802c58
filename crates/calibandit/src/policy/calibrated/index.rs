//! Which arm to record next: the index, with the literature's best in one place.
//!
//! Recorded losses come from calibrated arms, so they are i.i.d. and every index of the plain stochastic bandit applies.
//! All but the default are asked once a visit; the schedule then says how long the visit is.

use rand_distr::{Beta, ChiSquared, Distribution, StandardNormal};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::board::Board;
use super::evidence::{Record, bernoulli};
use crate::Stream;

/// How `calibrated` chooses its arms.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Index {
    /// A race of the least played arm that is not ruled out against the leader; uses mean and variance.
    #[default]
    Race,
    /// The same with the level of Lai (1987): worse on average, with the shortest tail.
    Cautious,
    /// KL-UCB++ (Ménard and Garivier 2017); without a horizon KL-UCB (Garivier and Cappé 2011).
    KlUcb,
    /// MOSS (Audibert and Bubeck 2009); without a horizon its anytime form (Degenne and Perchet 2016).
    Moss,
    /// UCB-V with empirical variances (Audibert, Munos and Szepesvári 2009).
    Bernstein,
    /// IMED (Honda and Takemura 2015), which needs no horizon.
    Imed,
    /// Thompson sampling from a posterior of half the weight, which shortens its tail.
    Thompson,
    /// Successive elimination as in Algorithm 1, but with all data pooled and the radius of relative entropies.
    Elimination,
}

impl Index {
    /// Its name, as in files.
    pub(super) fn name(self) -> &'static str {
        match self {
            Index::Race => "race",
            Index::Cautious => "cautious",
            Index::KlUcb => "kl-ucb",
            Index::Moss => "moss",
            Index::Bernstein => "bernstein",
            Index::Imed => "imed",
            Index::Thompson => "thompson",
            Index::Elimination => "elimination",
        }
    }
}

/// The part of the evidence that Thompson sampling believes.
const TEMPER: f64 = 0.5;

/// The arm that the index prefers. Not for [`Index::Race`] and [`Index::Cautious`], which look more often.
pub(super) fn prefer(index: Index, board: &Board<'_>, stream: &mut Stream) -> usize {
    let arms = board.records.len() as f64;
    let share = |record: &Record| (board.plays / (arms * record.n)).max(0.0);
    let now = board.plays.max(std::f64::consts::E);
    match index {
        Index::KlUcb => board.least_by(|record| {
            let level = if board.horizon_known {
                let log = share(record).ln().max(0.0);
                (share(record) * (1.0 + log * log)).ln().max(0.0)
            } else {
                now.ln()
            };
            lower(record, level)
        }),
        Index::Moss => board.least_by(|record| {
            let slope = if board.horizon_known { 1.0 } else { 1.35 };
            record.mean() - (slope * share(record).ln().max(0.0) / record.n).sqrt()
        }),
        Index::Bernstein => board.least_by(|record| {
            let level = if board.horizon_known { share(record).ln().max(0.0) } else { now.ln() };
            record.mean() - (2.0 * record.variance() * level / record.n).sqrt() - 3.0 * level / record.n
        }),
        Index::Imed => {
            let best = board.records[board.leader()].mean();
            board.least_by(|record| record.against(best, board.bounded) + record.n.ln())
        }
        Index::Thompson => {
            let sampled: Vec<f64> =
                board.arms.iter().map(|&arm| sample(&board.records[arm], board.bounded, stream)).collect();
            let least = sampled.iter().enumerate().min_by(|a, b| a.1.total_cmp(b.1));
            least.map_or(board.arms[0], |(i, _)| board.arms[i])
        }
        // Round robin: whoever has been recorded least.
        Index::Elimination | Index::Race | Index::Cautious => board.least_by(|record| record.n),
    }
}

/// The least mean that the record does not rule out at this level; the lower end of a confidence interval.
pub(super) fn lower(record: &Record, level: f64) -> f64 {
    let mean = record.mean().clamp(0.0, 1.0);
    bisect(mean, 0.0, |q| record.n * bernoulli(mean, q) <= level)
}

/// The largest mean that the record does not rule out at this level.
pub(super) fn upper(record: &Record, level: f64) -> f64 {
    let mean = record.mean().clamp(0.0, 1.0);
    bisect(mean, 1.0, |q| record.n * bernoulli(mean, q) <= level)
}

/// The point nearest to `end` that is still fine, going there from `start`, which is.
fn bisect(start: f64, end: f64, fine: impl Fn(f64) -> bool) -> f64 {
    let (mut good, mut bad) = (start, end);
    if fine(bad) {
        return bad;
    }
    for _ in 0..60 {
        let middle = 0.5 * (good + bad);
        if fine(middle) {
            good = middle;
        } else {
            bad = middle;
        }
    }
    good
}

/// A draw from the tempered posterior: Beta for losses in [0, 1], Student's t otherwise.
fn sample(record: &Record, bounded: bool, stream: &mut Stream) -> f64 {
    if bounded {
        let (ones, zeros) = record.counts();
        let posterior = Beta::new(1.0 + TEMPER * ones, 1.0 + TEMPER * zeros);
        return posterior.map_or(0.5, |posterior| posterior.sample(stream));
    }
    let n = TEMPER * record.n;
    let chi = ChiSquared::new((n - 1.0).max(1.0)).map_or(1.0, |chi| chi.sample(stream));
    let z: f64 = StandardNormal.sample(stream);
    record.mean() + z * (record.variance() / chi.max(1e-300)).sqrt()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Feedback;

    #[test]
    fn confidence_bounds_solve_their_equation() {
        let mut record = Record::default();
        record.add(Feedback { plays: 50, sum: 20.0, sum_sq: 20.0 });
        for level in [0.5, 2.0, 5.0] {
            for bound in [lower(&record, level), upper(&record, level)] {
                assert!((50.0 * bernoulli(0.4, bound) - level).abs() < 1e-9, "level {level}: {bound}");
            }
            assert!(lower(&record, level) < 0.4 && upper(&record, level) > 0.4);
        }
        assert_eq!((lower(&record, 1e9), upper(&record, 1e9)), (0.0, 1.0));
        let mut outside = Record::default();
        outside.add(Feedback { plays: 2, sum: -3.0, sum_sq: 5.0 });
        assert_eq!(lower(&outside, 1.0), 0.0);
    }
}
