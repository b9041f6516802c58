//! Statistics over instances: `summary.csv`, the closing table, and which differences are more than chance.

use std::io::Write;

use serde::Serialize;
use statrs::distribution::{ContinuousCDF, StudentsT};

use crate::results::{CsvError, Results};

/// The spread of one quantity over instances.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Spread {
    /// How many instances.
    pub instances: usize,
    /// The mean.
    pub mean: f64,
    /// The standard error of the mean; 0 for a single instance.
    pub stderr: f64,
    /// The least.
    pub min: f64,
    /// The 10 % quantile.
    pub p10: f64,
    /// The median.
    pub median: f64,
    /// The 90 % quantile.
    pub p90: f64,
    /// The 99 % quantile.
    pub p99: f64,
    /// The largest.
    pub max: f64,
}

impl Spread {
    /// The spread of these values; `None` if there are none.
    pub fn of(values: impl IntoIterator<Item = f64>) -> Option<Self> {
        let mut values: Vec<f64> = values.into_iter().collect();
        if values.is_empty() {
            return None;
        }
        let n = values.len() as f64;
        let mean = values.iter().sum::<f64>() / n;
        let squares: f64 = values.iter().map(|value| (value - mean) * (value - mean)).sum();
        let stderr = if values.len() > 1 { (squares / (n - 1.0) / n).sqrt() } else { 0.0 };
        values.sort_by(f64::total_cmp);
        Some(Self {
            instances: values.len(),
            mean,
            stderr,
            min: values[0],
            p10: quantile(&values, 0.1),
            median: quantile(&values, 0.5),
            p90: quantile(&values, 0.9),
            p99: quantile(&values, 0.99),
            max: values[values.len() - 1],
        })
    }
}

/// The quantile of sorted values, linear between neighbours (type 7 of Hyndman and Fan, the default of NumPy and R).
fn quantile(sorted: &[f64], q: f64) -> f64 {
    let position = q * (sorted.len() - 1) as f64;
    let (below, above) = (position.floor() as usize, position.ceil() as usize);
    sorted[below] + (position - below as f64) * (sorted[above] - sorted[below])
}

/// One row of `summary.csv`.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct SummaryRow {
    /// The experiment.
    pub experiment: String,
    /// The game.
    pub game: String,
    /// The policy.
    pub policy: String,
    /// The time.
    pub t: u64,
    /// The CPR over the instances.
    pub cpr: Spread,
}

/// The CPR of each policy in each game at each checkpoint, over the instances.
pub fn summarise(results: &Results) -> Vec<SummaryRow> {
    let mut rows = Vec::new();
    for (g, game) in results.games.iter().enumerate() {
        for (p, policy) in results.policies.iter().enumerate() {
            let curves = results.of(g, p);
            let times = curves.first().map_or(0, |curve| curve.samples.len());
            for i in 0..times {
                let at = curves.iter().filter_map(|curve| curve.samples.get(i));
                if let Some(cpr) = Spread::of(at.map(|sample| sample.cpr)) {
                    rows.push(SummaryRow {
                        experiment: results.experiment.clone(),
                        game: game.clone(),
                        policy: policy.clone(),
                        t: curves[0].samples[i].t,
                        cpr,
                    });
                }
            }
        }
    }
    rows
}

/// Writes `summary.csv`.
pub fn write_summary(all: &[Results], to: impl Write) -> Result<(), CsvError> {
    let mut table = csv::Writer::from_writer(to);
    table.write_record([
        "experiment",
        "game",
        "policy",
        "t",
        "instances",
        "mean",
        "stderr",
        "median",
        "p90",
        "p99",
        "max",
    ])?;
    for row in all.iter().flat_map(summarise) {
        let Spread { instances, mean, stderr, median, p90, p99, max, .. } = row.cpr;
        let mut record = vec![row.experiment, row.game, row.policy, row.t.to_string(), instances.to_string()];
        record.extend([mean, stderr, median, p90, p99, max].map(|value| value.to_string()));
        table.write_record(record)?;
    }
    table.flush().map_err(csv::Error::from)?;
    Ok(())
}

/// The two-sided p-value of Student's paired t-test: are these differences zero on average?
pub fn paired_t_test(differences: &[f64]) -> f64 {
    let Some(spread) = Spread::of(differences.iter().copied()) else { return 1.0 };
    if spread.stderr == 0.0 {
        return if spread.mean == 0.0 || spread.instances < 2 { 1.0 } else { 0.0 };
    }
    match StudentsT::new(0.0, 1.0, spread.instances as f64 - 1.0) {
        Ok(law) => 2.0 * law.sf((spread.mean / spread.stderr).abs()),
        Err(_) => 1.0,
    }
}

/// One row of the closing table of a game.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Standing {
    /// The policy.
    pub policy: String,
    /// Its CPR at the horizon.
    pub cpr: Spread,
    /// The mean number of switches.
    pub switches: f64,
    /// Policies that share a letter do not differ significantly from each other.
    pub groups: String,
    /// The policies whose mean is significantly larger.
    pub better_than: Vec<String>,
}

/// How sure a difference must be to be called one.
pub const SIGNIFICANCE: f64 = 0.05;

/// The policies of one game by mean CPR at the horizon. Differences are judged by paired t-tests over the instances,
/// with Holm's correction for the number of pairs, at [`SIGNIFICANCE`].
pub fn standings(results: &Results, game: usize) -> Vec<Standing> {
    let mut rows: Vec<(usize, Spread)> = (0..results.policies.len())
        .filter_map(|policy| Some((policy, Spread::of(results.of(game, policy).iter().map(|c| c.final_cpr()))?)))
        .collect();
    rows.sort_by(|a, b| a.1.mean.total_cmp(&b.1.mean));
    let order: Vec<usize> = rows.iter().map(|row| row.0).collect();
    let differ = significant_pairs(results, game, &order);
    let groups = letters(order.len(), &differ);
    rows.into_iter()
        .zip(groups)
        .enumerate()
        .map(|(row, ((policy, cpr), groups))| {
            let worse = (row + 1..order.len()).filter(|&other| differ[row][other]);
            let better_than = worse.map(|other| results.policies[order[other]].clone()).collect();
            let curves = results.of(game, policy);
            let last = curves.iter().filter_map(|curve| curve.samples.last());
            let switches = last.map(|sample| sample.switches as f64).sum::<f64>() / curves.len() as f64;
            Standing { policy: results.policies[policy].clone(), cpr, switches, groups, better_than }
        })
        .collect()
}

/// Which pairs of the ordered policies differ significantly, by Holm's step-down procedure.
fn significant_pairs(results: &Results, game: usize, order: &[usize]) -> Vec<Vec<bool>> {
    let n = order.len();
    let mut tests = Vec::new();
    for a in 0..n {
        for b in a + 1..n {
            let (first, second) = (results.of(game, order[a]), results.of(game, order[b]));
            let differences: Vec<f64> =
                first.iter().zip(second).map(|(one, other)| one.final_cpr() - other.final_cpr()).collect();
            tests.push((paired_t_test(&differences), a, b));
        }
    }
    tests.sort_by(|x, y| x.0.total_cmp(&y.0));
    let mut differ = vec![vec![false; n]; n];
    for (rank, &(p, a, b)) in tests.iter().enumerate() {
        if p > SIGNIFICANCE / (tests.len() - rank) as f64 {
            break;
        }
        differ[a][b] = true;
        differ[b][a] = true;
    }
    differ
}

/// The compact letter display: every two that do not differ share a letter, every two that differ share none
/// (insert and absorb, Piepho 2004).
fn letters(n: usize, differ: &[Vec<bool>]) -> Vec<String> {
    let mut sets: Vec<Vec<bool>> = vec![vec![true; n]];
    for a in 0..n {
        for b in a + 1..n {
            if !differ[a][b] {
                continue;
            }
            let (split, kept): (Vec<_>, Vec<_>) = sets.into_iter().partition(|set| set[a] && set[b]);
            sets = kept;
            for set in split {
                for without in [b, a] {
                    let mut smaller = set.clone();
                    smaller[without] = false;
                    let contained = |other: &Vec<bool>| smaller.iter().zip(other).all(|(&s, &o)| !s || o);
                    if !sets.iter().any(contained) {
                        sets.push(smaller);
                    }
                }
            }
        }
    }
    sets.sort_by_key(|set| set.iter().position(|&member| member));
    let name = |i: usize| char::from_u32('a' as u32 + i as u32 % 26).unwrap_or('?');
    (0..n).map(|i| sets.iter().enumerate().filter(|(_, set)| set[i]).map(|(s, _)| name(s)).collect()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::results::{Curve, Sample};

    #[test]
    fn spread_by_hand() {
        // Quantiles as numpy.quantile([1, 2, 4, 8, 16], q) gives them.
        let spread = Spread::of([16.0, 1.0, 4.0, 2.0, 8.0]).unwrap();
        assert_eq!((spread.mean, spread.median, spread.min, spread.max), (6.2, 4.0, 1.0, 16.0));
        assert!((spread.p90 - 12.8).abs() < 1e-12 && (spread.p99 - 15.68).abs() < 1e-12);
        assert!((spread.p10 - 1.4).abs() < 1e-12);
        // Sample variance 37.2, so the standard error is sqrt(37.2 / 5).
        assert!((spread.stderr - 7.44f64.sqrt()).abs() < 1e-12);
        assert_eq!(Spread::of([3.0]).unwrap().stderr, 0.0);
        assert_eq!(Spread::of([]), None);
    }

    #[test]
    fn paired_t_test_agrees_with_a_table() {
        // Mean 1, standard error 0.5 with 4 degrees of freedom: t = 2, for which tables give p = 0.116117.
        let d = (1.25f64 * 2.0).sqrt() / 2.0f64.sqrt();
        let differences = [1.0 - d, 1.0 + d, 1.0 - d, 1.0 + d, 1.0];
        assert!((paired_t_test(&differences) - 0.1161165).abs() < 1e-6);
        assert_eq!(paired_t_test(&[0.0, 0.0, 0.0]), 1.0);
        assert_eq!(paired_t_test(&[1.0, 1.0, 1.0]), 0.0);
        assert_eq!(paired_t_test(&[1.0]), 1.0);
    }

    #[test]
    fn letters_are_shared_by_those_that_do_not_differ() {
        // 0 differs from 2 and 3, 1 from 3: the classic ab pattern.
        let mut differ = vec![vec![false; 4]; 4];
        for (a, b) in [(0, 2), (0, 3), (1, 3)] {
            differ[a][b] = true;
            differ[b][a] = true;
        }
        let groups = letters(4, &differ);
        for a in 0..4 {
            for b in 0..4 {
                let share = groups[a].chars().any(|letter| groups[b].contains(letter));
                assert_eq!(share, a == b || !differ[a][b], "{groups:?}");
            }
        }
    }

    #[test]
    fn standings_rank_by_the_mean_and_see_paired_differences() {
        // Policy 1 is always exactly 1 below policy 0, which varies by hundreds: only pairing shows it.
        let mut curves = Vec::new();
        for instance in 0..10u64 {
            let base = ((instance * 37) % 11) as f64 * 100.0;
            let noise = (instance % 3) as f64 * 1e-3;
            for (policy, cpr) in [(0, base), (1, base - 1.0 + noise), (2, 5000.0 - base)] {
                let samples = vec![Sample { t: 10, loss: cpr, cpr, switches: policy as u64 }];
                curves.push(Curve { game: 0, policy, instance, samples });
            }
        }
        let results = Results::new("x".into(), vec!["g".into()], ["A", "B", "C"].map(String::from).into(), curves);
        let table = standings(&results, 0);
        let names: Vec<&str> = table.iter().map(|row| row.policy.as_str()).collect();
        assert_eq!(names, ["B", "A", "C"]);
        let groups: Vec<&str> = table.iter().map(|row| row.groups.as_str()).collect();
        assert_eq!(groups, ["a", "b", "c"]);
        assert_eq!(table[0].better_than, ["A", "C"]);
        assert_eq!(table[2].switches, 2.0);
    }
}
