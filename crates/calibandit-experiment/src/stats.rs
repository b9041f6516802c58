//! Statistics over instances: spread, quantiles, tests, and the tables made of them.

mod compare;
mod ranking;
mod summary;

pub use compare::{CompareError, PolicyComparison, TEST, compare};
pub use ranking::{PolicyRanking, SIGNIFICANCE, rank_policies};
pub use summary::{SummaryRow, summarise, write_summary};

use serde::Serialize;
use statrs::distribution::{ContinuousCDF, StudentsT};

/// The spread of one quantity over instances.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Spread {
    /// The number of instances.
    pub instances: usize,
    /// The mean.
    pub mean: f64,
    /// The standard error of the mean; 0 for a single instance.
    pub stderr: f64,
    /// The smallest value.
    pub min: f64,
    /// The 10 % quantile.
    pub p10: f64,
    /// The median.
    pub median: f64,
    /// The 90 % quantile.
    pub p90: f64,
    /// The 99 % quantile.
    pub p99: f64,
    /// The largest value.
    pub max: f64,
}

/// Relative differences up to this are rounding errors.
const ROUNDING: f64 = 1e-10;

impl Spread {
    /// The spread of these values; `None` if there are none.
    pub fn of(values: impl IntoIterator<Item = f64>) -> Option<Self> {
        let mut values: Vec<f64> = values.into_iter().collect();
        if values.is_empty() {
            return None;
        }
        let n = values.len() as f64;
        let mean = values.iter().sum::<f64>() / n;
        // Shifted by the first value: the deviations are exactly 0 if all values are equal.
        let first = values[0];
        let shift = values.iter().map(|value| value - first).sum::<f64>() / n;
        let squares: f64 = values.iter().map(|value| (value - first - shift).powi(2)).sum();
        let stderr = if values.len() > 1 { (squares / (n - 1.0) / n).sqrt() } else { 0.0 };
        values.sort_by(f64::total_cmp);
        // Values that differ in their last bits only are equal: a regret is the difference of two large losses.
        let (least, largest) = (values[0], values[values.len() - 1]);
        let stderr = if largest - least <= ROUNDING * largest.abs().max(least.abs()) { 0.0 } else { stderr };
        Some(Self {
            instances: values.len(),
            // A mean lies between the extremes; rounding may put it just outside.
            mean: mean.max(values[0]).min(values[values.len() - 1]),
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

/// The median: the middle value, or the mean of the two middle ones. NaN if there are no values.
pub fn median(values: impl IntoIterator<Item = f64>) -> f64 {
    let mut values: Vec<f64> = values.into_iter().collect();
    values.sort_by(f64::total_cmp);
    quantile(&values, 0.5)
}

/// The quantile of sorted values, linear between neighbours (type 7 of Hyndman and Fan, the default of NumPy and R).
/// NaN if there are no values.
pub fn quantile(sorted: &[f64], q: f64) -> f64 {
    let Some(last) = sorted.len().checked_sub(1) else { return f64::NAN };
    let position = q * last as f64;
    let (below, above) = (position.floor() as usize, position.ceil() as usize);
    sorted[below] + (position - below as f64) * (sorted[above] - sorted[below])
}

/// The two-sided p-value of Student's paired t-test of the hypothesis that these differences are zero on average.
pub fn paired_t_test(differences: &[f64]) -> f64 {
    let Some(spread) = Spread::of(differences.iter().copied()) else { return 1.0 };
    if spread.stderr == 0.0 {
        return if spread.mean == 0.0 || spread.instances < 2 { 1.0 } else { 0.0 };
    }
    2.0 * student(spread.instances).sf((spread.mean / spread.stderr).abs())
}

/// Student's distribution of the mean of so many instances, at least two.
fn student(instances: usize) -> StudentsT {
    StudentsT::new(0.0, 1.0, instances as f64 - 1.0).expect("two instances are one degree of freedom")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_median_of_an_even_number_of_values_is_between_the_middle_two() {
        assert_eq!(median([4.0, 1.0, 2.0, 8.0]), 3.0);
        assert_eq!(median([4.0, 1.0, 2.0]), 2.0);
        assert!(median([]).is_nan());
    }

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
    fn equal_instances_have_their_value_as_mean_and_no_standard_error() {
        // The sum of ten times 0.1 is less than 1, so deviations from sum / n would not be 0.
        for value in [0.1, 738.957_142_857_1, 118_317.3, -1e-9] {
            for n in [2, 3, 10, 20, 400] {
                let spread = Spread::of(vec![value; n]).unwrap();
                assert_eq!((spread.mean, spread.stderr), (value, 0.0), "{n} times {value}");
            }
        }
        // The same expected loss, added up in two orders, less the same optimum.
        assert_eq!(Spread::of([300_020.8 - 150_101.6, 300_020.800_000_000_05 - 150_101.6]).unwrap().stderr, 0.0);
        assert!(Spread::of([149_919.2, 149_919.201]).unwrap().stderr > 0.0);
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
}
