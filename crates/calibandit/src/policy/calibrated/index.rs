//! The indices: rules that choose the arm to record next.
//!
//! Recorded losses come from calibrated arms, so they are i.i.d. and every index of the plain stochastic bandit
//! applies. All but `challenge` and `cautious` (`challenge.rs`) choose once per visit; the schedule gives the length of
//! the visit.

use super::arms_view::ArmsView;
use super::sample_stats::{SampleStats, bernoulli};
use crate::Stream;
use crate::math;
use crate::policy::posterior::Posterior;

/// The rule by which [`Calibrated`](super::Calibrated) chooses the next arm.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(rename_all = "kebab-case"))]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub enum Index {
    /// Arms that are not ruled out challenge the arm with the least mean; uses mean and variance.
    #[default]
    #[cfg_attr(feature = "serde", serde(alias = "race"))]
    #[cfg_attr(feature = "schema", schemars(extend("aliases" = ["race"])))]
    Challenge,
    /// Arms challenge the arm with the least mean, as in `challenge`. An arm that looks like a crowd of worse arms is
    /// ruled out by less evidence, any other arm by the threshold of Lai (1987).
    EmpiricalBayes,
    /// The same with the threshold of Lai (1987): a larger mean regret with the shortest tail.
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
            Index::Challenge => "challenge",
            Index::EmpiricalBayes => "empirical-bayes",
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

/// The weight of the data in the posterior of Thompson sampling. At 1/2 very bad outcomes are rarer than at 1.
const TEMPER: f64 = 0.5;

/// The arm that the index prefers. [`Index::Challenge`] and [`Index::Cautious`] are in `challenge.rs`, because they
/// choose more than once per visit.
pub(super) fn prefer(index: Index, view: &ArmsView<'_>, stream: &mut Stream) -> usize {
    let arms = view.stats.len() as f64;
    let share = |record: &SampleStats| (view.now.plays / (arms * record.n)).max(0.0);
    let now = view.now.plays.max(std::f64::consts::E);
    match index {
        Index::KlUcb => least_lower(view, &|record: &SampleStats| {
            if view.now.horizon_known {
                let log = math::ln(share(record)).max(0.0);
                math::ln(share(record) * (1.0 + log * log)).max(0.0)
            } else {
                math::ln(now)
            }
        }),
        Index::Moss => {
            let slope = if view.now.horizon_known { 1.0 } else { 1.35 };
            let value =
                |record: &SampleStats| record.mean() - (slope * math::ln(share(record)).max(0.0) / record.n).sqrt();
            view.least_by(value, |record, _| value(record))
        }
        Index::Bernstein => {
            let value = |record: &SampleStats, variance: f64| {
                let level = if view.now.horizon_known { math::ln(share(record)).max(0.0) } else { math::ln(now) };
                record.mean() - (2.0 * variance * level / record.n).sqrt() - 3.0 * level / record.n
            };
            view.least_by(|record| value(record, record.variance()), value)
        }
        Index::Imed => {
            let (best, bounded) = (view.stats[view.leader()].mean(), view.now.bounded);
            let value = |record: &SampleStats| record.against(best, bounded) + math::ln(record.n);
            match view.groups {
                Some(groups) => groups.least_evidence(view.stats, best, bounded).unwrap_or(view.arms[0]),
                None => view.least_by(value, |_, _| f64::NEG_INFINITY),
            }
        }
        Index::Thompson => {
            // Drawn here for every arm; among very many arms, `LeastDraw` draws.
            let sampled: Vec<f64> =
                view.arms.iter().map(|&arm| posterior(&view.stats[arm], view.now.bounded).draw(stream)).collect();
            let least = sampled.iter().enumerate().min_by(|a, b| a.1.total_cmp(b.1));
            least.map_or(view.arms[0], |(i, _)| view.arms[i])
        }
        // Round robin: the arm with the fewest recorded plays.
        Index::Elimination => view.least_by(|record| record.n, |record, _| record.n),
        Index::EmpiricalBayes | Index::Challenge | Index::Cautious => unreachable!("these choose in challenge.rs"),
    }
}

/// The arm with the least lower confidence bound. A cheap lower estimate of the bound excludes most arms.
fn least_lower(view: &ArmsView<'_>, level: &impl Fn(&SampleStats) -> f64) -> usize {
    let value = |record: &SampleStats| lower(record, level(record));
    let mut least = (view.arms[0], f64::INFINITY);
    for &arm in &*view.contenders(value, |record, _| value(record)) {
        let record = &view.stats[arm];
        let level = level(record);
        if below(record, level) < least.1 {
            let value = lower(record, level);
            if value < least.1 {
                least = (arm, value);
            }
        }
    }
    least.0
}

/// Removes every arm whose confidence interval is above that of another arm.
pub(super) fn rule_out(arms: &mut Vec<usize>, records: &[SampleStats], level: f64) {
    let mut best = f64::INFINITY;
    for &arm in arms.iter() {
        if records[arm].mean() < best {
            best = best.min(upper(&records[arm], level));
        }
    }
    arms.retain(|&arm| below(&records[arm], level) <= best && lower(&records[arm], level) <= best);
}

/// The least mean that the sample does not rule out at this level: the lower end of a confidence interval.
pub(super) fn lower(record: &SampleStats, level: f64) -> f64 {
    let mean = record.mean().clamp(0.0, 1.0);
    1.0 - largest(1.0 - mean, level / record.n)
}

/// The largest mean that the sample does not rule out at this level.
pub(super) fn upper(record: &SampleStats, level: f64) -> f64 {
    let mean = record.mean().clamp(0.0, 1.0);
    largest(mean, level / record.n)
}

/// A cheap lower estimate of [`lower`], by Pinsker's inequality.
pub(super) fn below(record: &SampleStats, level: f64) -> f64 {
    record.mean().clamp(0.0, 1.0) - (level / (2.0 * record.n)).sqrt()
}

/// The largest q with a relative entropy of Bernoulli(p) to Bernoulli(q) of at most `most`.
///
/// The entropy is convex in q, so Newton's method decreases towards the solution when it starts above it. Pinsker's
/// inequality gives such a start.
pub(in crate::policy) fn largest(p: f64, most: f64) -> f64 {
    if p >= 1.0 || bernoulli(p, 1.0) <= most {
        return 1.0;
    }
    let mut q = p + (0.5 * most).sqrt();
    if q >= 1.0 {
        // Another start above the solution: the entropy is at least -ln 2 - (1 - p)·ln(1 - q).
        let rest = math::exp(-(most + std::f64::consts::LN_2) / (1.0 - p));
        q = 1.0 - rest.max(1e-12);
    }
    // Far more steps than Newton's method needs; the loop ends when a step no longer decreases q.
    for _ in 0..60 {
        let slope = (q - p) / (q * (1.0 - q));
        let next = q - (bernoulli(p, q) - most) / slope;
        if next.is_nan() || next >= q || next <= p {
            break;
        }
        q = next;
    }
    q
}

/// The tempered posterior: Beta for losses in [0, 1], Student's t otherwise.
pub(super) fn posterior(record: &SampleStats, bounded: bool) -> Posterior {
    if bounded {
        // Counts are not negative, so both parameters are at least 1.
        let (ones, zeros) = record.counts();
        return Posterior::Beta { ones: 1.0 + TEMPER * ones, zeros: 1.0 + TEMPER * zeros };
    }
    let freedom = (TEMPER * record.n - 1.0).max(1.0);
    Posterior::Student { mean: record.mean(), variance: record.variance(), freedom }
}

#[cfg(test)]
mod tests {
    use super::super::arms_view::Situation;
    use super::super::price::BurnInLosses;
    use super::*;
    use crate::Feedback;

    #[test]
    fn confidence_bounds_solve_their_equation() {
        let mut record = SampleStats::default();
        record.add(Feedback { plays: 50, sum: 20.0, sum_sq: 20.0 });
        for level in [0.5, 2.0, 5.0] {
            for bound in [lower(&record, level), upper(&record, level)] {
                assert!((50.0 * bernoulli(0.4, bound) - level).abs() < 1e-9, "level {level}: {bound}");
            }
            assert!(below(&record, level) < lower(&record, level));
            assert!(lower(&record, level) < 0.4 && upper(&record, level) > 0.4);
        }
        assert_eq!((lower(&record, 1e9), upper(&record, 1e9)), (0.0, 1.0));
        let mut outside = SampleStats::default();
        outside.add(Feedback { plays: 2, sum: -3.0, sum_sq: 5.0 });
        assert_eq!(lower(&outside, 1.0), 0.0);
    }

    #[test]
    fn confidence_bounds_are_precise_over_their_whole_range() {
        for p in [0.0, 1e-9, 0.003, 0.2, 0.5, 0.97, 1.0 - 1e-9] {
            for most in [1e-9, 1e-4, 0.01, 0.3, 2.0, 15.0] {
                let q = largest(p, most);
                if q == 1.0 {
                    assert!(bernoulli(p, 1.0) <= most, "{p} {most}: not distinguishable from 1");
                    continue;
                }
                assert!(q >= p && q < 1.0, "{p} {most}: {q}");
                // Where entropy is steep, the last digit of q is worth this much of it.
                let digit = 4.0 * f64::EPSILON * (q - p) / (q * (1.0 - q)) + 1e-14;
                assert!((bernoulli(p, q) - most).abs() <= 1e-9 * most + digit, "{p} {most}: {q}");
            }
        }
        assert_eq!((largest(1.0, 0.1), largest(0.3, f64::INFINITY), largest(0.4, 0.0)), (1.0, 1.0, 0.4));
    }

    /// Against the definition, arm by arm.
    #[test]
    fn cheap_estimates_change_no_decision() {
        let mut stream = crate::StreamKey::new(7, "index", 0).noise();
        let (mut ruled_out, mut kept) = (0, 0);
        for case in 0..500u32 {
            let records: Vec<SampleStats> = (0..6)
                .map(|_| {
                    let plays = 10 + (rand::RngExt::random::<f64>(&mut stream) * 500.0) as u64;
                    let sum = (plays as f64 * rand::RngExt::random::<f64>(&mut stream)).round();
                    let mut record = SampleStats::default();
                    record.add(Feedback { plays, sum, sum_sq: sum });
                    record
                })
                .collect();
            let level = 0.5 + f64::from(case % 10);
            let mut arms: Vec<usize> = (0..6).collect();
            rule_out(&mut arms, &records, level);
            let best = records.iter().map(|record| upper(record, level)).fold(f64::INFINITY, f64::min);
            let expected: Vec<usize> = (0..6).filter(|&arm| lower(&records[arm], level) <= best).collect();
            assert_eq!(arms, expected);
            ruled_out += 6 - arms.len();
            kept += arms.len();
            let now = Situation {
                bounded: true,
                plays: 1000.0,
                horizon_known: true,
                burn_in: 0.0,
                burn_in_losses: BurnInLosses::default(),
                current: None,
            };
            let view = ArmsView { stats: &records, arms: &[0, 1, 2, 3, 4, 5], now, groups: None };
            let bound = |_: &SampleStats, _| f64::NEG_INFINITY;
            assert_eq!(least_lower(&view, &|_| level), view.least_by(|record| lower(record, level), bound));
        }
        assert!(ruled_out > 500 && kept > 500, "{ruled_out} {kept}");
    }
}
