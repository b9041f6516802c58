//! Two policies compared in one game: the difference of their CPR, how certain it is, and how large it is.

use serde::Serialize;
use statrs::distribution::ContinuousCDF;

use super::{Spread, paired_t_test, student};
use crate::results::Results;

/// The test behind all p-values of this module and behind the letters of a ranking.
pub const TEST: &str = "paired t-test over the instances, corrected by Holm over all pairs of policies of the game";

/// With more policies than this, not all pairs are tested: their number grows with the square. Corrected p-values are
/// then those of Bonferroni, which are never smaller than Holm's.
pub(super) const MOST_TESTED: usize = 200;

/// The probability that the interval of a comparison has the true mean difference.
const CONFIDENCE: f64 = 0.95;

/// Policy `a` compared with policy `b` in one game, by their CPR at the horizon.
///
/// Both policies play the same instances, so everything is about the differences `a - b`, instance by instance. A
/// negative difference says that `a` has the smaller regret.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct PolicyComparison {
    /// The one policy.
    pub a: String,
    /// The other policy.
    pub b: String,
    /// The number of instances.
    pub n: usize,
    /// The mean of the differences.
    pub mean_difference: f64,
    /// The 95 % confidence interval of the mean difference, by Student's distribution.
    pub interval: [f64; 2],
    /// The standardised mean difference of paired values: the mean of the differences divided by their standard
    /// deviation. Infinite if all differences are equal and not 0; 0 if all are 0.
    pub effect_size: f64,
    /// The two-sided p-value of this pair alone.
    pub p: f64,
    /// The p-value corrected by Holm over all pairs of policies of this game (by Bonferroni if there are more than 200
    /// policies). The difference is significant if it is at
    /// most [`SIGNIFICANCE`](super::SIGNIFICANCE), and then the policies share no letter in the ranking.
    pub p_corrected: f64,
    /// The name of the test.
    pub test: &'static str,
}

/// Why two policies could not be compared.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum CompareError {
    /// There is no game with this number.
    #[error("there is no game {game}: the results have {games}, counted from 0")]
    UnknownGame {
        /// The number.
        game: usize,
        /// The number of games.
        games: usize,
    },
    /// There is no such policy.
    #[error("there is no policy {policy:?}; the policies are {}", known.join(", "))]
    UnknownPolicy {
        /// The name that was given.
        policy: String,
        /// The policies of the results.
        known: Vec<String>,
    },
    /// The policies did not play the same instances.
    #[error(
        "{a} and {b} did not play the same instances, so their results cannot be paired: merge all shards of the run"
    )]
    Unpaired {
        /// The one policy.
        a: String,
        /// The other policy.
        b: String,
    },
    /// There are too few instances for a test.
    #[error("a comparison needs at least 2 instances, but there is {instances}: run with more `instances`")]
    TooFewInstances {
        /// The number of instances.
        instances: usize,
    },
}

/// Compares two policies in one game, given by its index in [`Results::games`].
///
/// ```
/// use calibandit_experiment::Experiment;
/// use calibandit_experiment::run::{RunOptions, Shard, run};
/// use calibandit_experiment::stats::compare;
/// let experiment = Experiment::from_toml("first.toml", r#"
///     name = "first"
///     horizon = 10_000
///     instances = 10
///     game = { kind = "step", arms = 5, memory = 3 }
///     policy = [{ kind = "calibrated", memory_bound = 3 }, { kind = "exp3" }]
/// "#)?;
/// let stop = Default::default();
/// let results = run(&experiment, &RunOptions { threads: 1, shard: Shard::WHOLE, stop: &stop, progress: &() }, None)?;
/// let comparison = compare(&results, 0, "calibrated", "EXP3")?;
/// assert_eq!(comparison.n, 10);
/// assert!(comparison.interval[1] < 0.0 && comparison.p_corrected < 0.05);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
/// [`CompareError`] if the game or a policy does not exist, if the policies did not play the same instances, or if
/// there are fewer than two.
pub fn compare(results: &Results, game: usize, a: &str, b: &str) -> Result<PolicyComparison, CompareError> {
    if game >= results.games.len() {
        return Err(CompareError::UnknownGame { game, games: results.games.len() });
    }
    let index = |name: &str| {
        let unknown = || CompareError::UnknownPolicy { policy: name.to_owned(), known: results.policies.clone() };
        results.policies.iter().position(|policy| policy == name).ok_or_else(unknown)
    };
    let (first, second) = (index(a)?, index(b)?);
    let instances = |policy| results.ends(game, policy).map(|end| end.instance);
    if !instances(first).eq(instances(second)) {
        return Err(CompareError::Unpaired { a: a.to_owned(), b: b.to_owned() });
    }
    let differences = differences(&ends(results, game, first), &ends(results, game, second));
    let Some(spread) = Spread::of(differences.iter().copied()).filter(|spread| spread.instances > 1) else {
        return Err(CompareError::TooFewInstances { instances: differences.len() });
    };
    let Spread { instances: n, mean, stderr, .. } = spread;
    let half = stderr * student(n).inverse_cdf(0.5 + CONFIDENCE / 2.0);
    let deviation = stderr * (n as f64).sqrt();
    let p = paired_t_test(&differences);
    let policies: Vec<usize> = (0..results.policies.len()).collect();
    let p_corrected = if policies.len() > MOST_TESTED && first != second {
        (p * 0.5 * policies.len() as f64 * (policies.len() - 1) as f64).min(1.0)
    } else {
        let pairs = tested_pairs(results, game, &policies);
        let is_pair = |pair: &&TestedPair| (pair.a, pair.b) == (first.min(second), first.max(second));
        // A policy compared with itself is not a pair; nothing is to be corrected.
        pairs.iter().find(is_pair).map_or(p, |pair| pair.p_corrected)
    };
    Ok(PolicyComparison {
        a: a.to_owned(),
        b: b.to_owned(),
        n,
        mean_difference: mean,
        interval: [mean - half, mean + half],
        effect_size: if mean == 0.0 { 0.0 } else { mean / deviation },
        p,
        p_corrected,
        test: TEST,
    })
}

/// The instances of a policy in one game, in order, with their CPR at the horizon.
fn ends(results: &Results, game: usize, policy: usize) -> Vec<(u64, f64)> {
    results.ends(game, policy).map(|end| (end.instance, end.last.cpr)).collect()
}

/// The differences of the CPR at the horizon, over the instances that both policies played.
fn differences(one: &[(u64, f64)], other: &[(u64, f64)]) -> Vec<f64> {
    let mut others = other.iter().peekable();
    let mut differences = Vec::with_capacity(one.len().min(other.len()));
    for &(instance, cpr) in one {
        while others.next_if(|(other, _)| *other < instance).is_some() {}
        if let Some((_, other)) = others.next_if(|(other, _)| *other == instance) {
            differences.push(cpr - other);
        }
    }
    differences
}

/// The test of a pair of policies, by their positions in the list that was tested.
pub(super) struct TestedPair {
    pub(super) a: usize,
    pub(super) b: usize,
    p: f64,
    pub(super) p_corrected: f64,
}

/// All pairs of these policies with their corrected p-values (Holm 1979), by increasing p-value.
pub(super) fn tested_pairs(results: &Results, game: usize, policies: &[usize]) -> Vec<TestedPair> {
    let mut pairs = Vec::new();
    let ends: Vec<Vec<(u64, f64)>> = policies.iter().map(|&policy| ends(results, game, policy)).collect();
    for a in 0..policies.len() {
        for b in a + 1..policies.len() {
            let p = paired_t_test(&differences(&ends[a], &ends[b]));
            pairs.push(TestedPair { a, b, p, p_corrected: p });
        }
    }
    pairs.sort_by(|one, other| one.p.total_cmp(&other.p));
    let count = pairs.len();
    let mut largest = 0.0f64;
    for (rank, pair) in pairs.iter_mut().enumerate() {
        largest = largest.max(pair.p * (count - rank) as f64).min(1.0);
        pair.p_corrected = largest;
    }
    pairs
}

#[cfg(test)]
mod tests {
    use super::super::{SIGNIFICANCE, rank_policies};
    use super::*;
    use crate::results::{Curve, Sample};

    /// Results of one game: one list of final CPRs per policy, which are A, B, C and so on.
    fn results(cprs: &[&[f64]]) -> Results {
        let mut curves = Vec::new();
        for (policy, of_policy) in cprs.iter().enumerate() {
            for (instance, &cpr) in of_policy.iter().enumerate() {
                let samples = vec![Sample { t: 10, loss: cpr, cpr, switches: 0 }];
                curves.push(Curve { game: 0, policy, instance: instance as u64, samples });
            }
        }
        let names = ["A", "B", "C", "D"][..cprs.len()].iter().map(|name| name.to_string()).collect();
        Results::new("x".into(), vec!["g".into()], names, curves)
    }

    const A: [f64; 6] = [12.1, 9.8, 11.4, 10.9, 13.0, 10.2];
    const B: [f64; 6] = [13.0, 11.9, 11.8, 12.5, 13.1, 12.6];
    const C: [f64; 6] = [12.0, 12.5, 11.0, 13.5, 12.8, 12.2];

    fn is_close(value: f64, expected: f64) -> bool {
        (value - expected).abs() < 1e-9 * (1.0 + expected.abs())
    }

    #[test]
    fn comparisons_agree_with_scipy_and_statsmodels() {
        // scipy 1.17: stats.ttest_rel with its confidence_interval(0.95); the effect size is d.mean() / d.std(ddof=1).
        // statsmodels 0.15: multipletests(method="holm") over the three p-values.
        let results = results(&[&A, &B, &C]);
        for (a, b, mean, interval, effect_size, p, p_corrected) in [
            (
                "A",
                "B",
                -1.25,
                [-2.227_159_273_455_528_3, -0.272_840_726_544_471_56],
                -1.342_457_248_787_171_8,
                0.021_753_432_361_684_446,
                0.065_260_297_085_053_33,
            ),
            (
                "A",
                "C",
                -1.1,
                [-2.656_564_600_980_173, 0.456_564_600_980_173_4],
                -0.741_619_848_709_566_3,
                0.128_973_847_935_632_2,
                0.257_947_695_871_264_4,
            ),
            (
                "B",
                "C",
                0.15,
                [-0.678_323_213_548_229_6, 0.978_323_213_548_229_6],
                0.190_040_968_802_611_12,
                0.661_142_745_981_776_9,
                0.661_142_745_981_776_9,
            ),
        ] {
            let found = compare(&results, 0, a, b).unwrap();
            assert_eq!(found.n, 6);
            assert!(is_close(found.mean_difference, mean), "{found:?}");
            assert!(is_close(found.interval[0], interval[0]) && is_close(found.interval[1], interval[1]), "{found:?}");
            assert!(is_close(found.effect_size, effect_size), "{found:?}");
            assert!(is_close(found.p, p) && is_close(found.p_corrected, p_corrected), "{found:?}");
        }
    }

    #[test]
    fn the_order_of_the_policies_changes_only_the_sign() {
        let results = results(&[&A, &B, &C]);
        let (forward, backward) = (compare(&results, 0, "A", "B").unwrap(), compare(&results, 0, "B", "A").unwrap());
        assert_eq!(forward.mean_difference, -backward.mean_difference);
        assert_eq!(forward.effect_size, -backward.effect_size);
        assert!(is_close(forward.interval[0], -backward.interval[1]));
        assert_eq!((forward.p, forward.p_corrected), (backward.p, backward.p_corrected));
    }

    #[test]
    fn equal_differences_leave_no_doubt() {
        let results = results(&[&[1.0, 2.0, 4.0], &[1.5, 2.5, 4.5], &[1.0, 2.0, 4.0]]);
        let certain = compare(&results, 0, "A", "B").unwrap();
        assert_eq!((certain.mean_difference, certain.interval), (-0.5, [-0.5, -0.5]));
        assert_eq!((certain.effect_size, certain.p, certain.p_corrected), (f64::NEG_INFINITY, 0.0, 0.0));
        for other in ["A", "C"] {
            let same = compare(&results, 0, "A", other).unwrap();
            assert_eq!((same.mean_difference, same.interval, same.effect_size), (0.0, [0.0, 0.0], 0.0));
            assert_eq!((same.p, same.p_corrected), (1.0, 1.0));
        }
    }

    #[test]
    fn letters_and_corrected_p_values_agree() {
        let d: Vec<f64> = C.iter().map(|value| value + 3.0).collect();
        let results = results(&[&A, &B, &C, &d]);
        let ranking = rank_policies(&results, 0);
        for one in &ranking {
            for other in ranking.iter().filter(|other| other.policy != one.policy) {
                let share = one.groups.chars().any(|letter| other.groups.contains(letter));
                let comparison = compare(&results, 0, &one.policy, &other.policy).unwrap();
                assert_eq!(share, comparison.p_corrected > SIGNIFICANCE, "{comparison:?}");
            }
        }
    }

    #[test]
    fn of_many_policies_single_pairs_are_corrected_by_bonferroni() {
        let mut curves = Vec::new();
        for policy in 0..300 {
            for (instance, &cpr) in [A, B][policy % 2].iter().enumerate() {
                let cpr = cpr + 0.01 * policy as f64;
                let samples = vec![Sample { t: 10, loss: cpr, cpr, switches: 0 }];
                curves.push(Curve { game: 0, policy, instance: instance as u64, samples });
            }
        }
        let names: Vec<String> = (0..300).map(|policy| policy.to_string()).collect();
        let results = Results::new("x".into(), vec!["g".into()], names, curves);
        let found = compare(&results, 0, "0", "1").unwrap();
        assert!(is_close(found.p_corrected, (found.p * 300.0 * 299.0 / 2.0).min(1.0)), "{found:?}");
        assert!(compare(&results, 0, "4", "4").unwrap().p_corrected == 1.0);
        let ranking = rank_policies(&results, 0);
        assert_eq!(ranking.len(), 300);
        assert!(ranking.iter().all(|row| row.groups.is_empty() && row.better_than.is_empty()));
    }

    #[test]
    fn impossible_comparisons_are_refused() {
        let two = results(&[&[1.0, 2.0], &[1.0]]);
        assert_eq!(compare(&two, 1, "A", "B"), Err(CompareError::UnknownGame { game: 1, games: 1 }));
        let unknown = compare(&two, 0, "A", "Z").unwrap_err();
        assert_eq!(unknown.to_string(), "there is no policy \"Z\"; the policies are A, B");
        let unpaired = CompareError::Unpaired { a: "A".into(), b: "B".into() };
        assert_eq!(compare(&two, 0, "A", "B"), Err(unpaired));
        let one = results(&[&[1.0], &[2.0]]);
        assert_eq!(compare(&one, 0, "A", "B"), Err(CompareError::TooFewInstances { instances: 1 }));
    }
}
