//! Means of losses that come in clusters, and differences of such means.

use statrs::distribution::{ContinuousCDF, Normal, StudentsT};

/// The losses of one cluster in two samples, the second of which is often empty.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct ClusterSums {
    pub(super) n: [f64; 2],
    pub(super) sum: [f64; 2],
}

/// A difference of two means, or a mean, with its standard error and degrees of freedom.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct ClusteredMean {
    pub(super) value: f64,
    pub(super) error: f64,
    pub(super) freedom: f64,
}

impl ClusteredMean {
    /// The mean of the first sample less that of the second; of the first alone if the second is empty. The clusters
    /// are independent; losses of one cluster, also in different samples, need not be.
    ///
    /// The variance is the sum of squared influences of the clusters, corrected for the degrees of freedom that the
    /// means use up. The degrees of freedom follow from the sizes of the clusters (Satterthwaite; for equal clusters
    /// their number less one).
    pub(super) fn of(clusters: impl Iterator<Item = ClusterSums> + Clone) -> Option<Self> {
        let (mut n, mut sum) = ([0.0; 2], [0.0; 2]);
        for cluster in clusters.clone() {
            for side in 0..2 {
                n[side] += cluster.n[side];
                sum[side] += cluster.sum[side];
            }
        }
        if n[0] == 0.0 {
            return None;
        }
        let second = n[1] > 0.0;
        let mean = [sum[0] / n[0], if second { sum[1] / n[1] } else { 0.0 }];
        let (mut squares, mut share, mut reduced, mut share_sq) = (0.0, 0.0, 0.0, 0.0);
        for cluster in clusters {
            let mut influence = 0.0;
            let mut own = 0.0;
            for side in 0..=usize::from(second) {
                let sign = if side == 0 { 1.0 } else { -1.0 };
                influence += sign * (cluster.sum[side] - cluster.n[side] * mean[side]) / n[side];
                let leverage = cluster.n[side] / n[side];
                own += leverage / n[side];
                reduced += leverage / n[side] * (1.0 - leverage);
            }
            squares += influence * influence;
            share += own;
            share_sq += own * own;
        }
        if reduced <= 1e-12 * share {
            return None;
        }
        let freedom = (share * share / share_sq - 1.0).max(1.0);
        Some(Self { value: mean[0] - mean[1], error: (squares * share / reduced).sqrt(), freedom })
    }

    /// The one with the larger standard error.
    pub(super) fn wider(self, other: Self) -> Self {
        if other.error > self.error { other } else { self }
    }

    /// The same with at least this standard error.
    pub(super) fn at_least(self, error: f64) -> Self {
        Self { error: self.error.max(error), ..self }
    }

    /// The half width of a one-sided bound of this confidence.
    pub(super) fn margin(&self, confidence: f64) -> f64 {
        student_quantile(self.freedom, confidence) * self.error
    }

    /// The probability of a value at least this large if the expectation were 0.
    pub(super) fn p_above(&self) -> f64 {
        if self.error == 0.0 {
            return if self.value > 0.0 { 0.0 } else { 1.0 };
        }
        student_tail(self.freedom, self.value / self.error)
    }
}

/// With more degrees of freedom, Student's distribution is the normal one up to a small correction. The inverse of the
/// incomplete beta function does not converge for very many.
const MANY: f64 = 1000.0;

fn standard_normal() -> Normal {
    Normal::new(0.0, 1.0).expect("a standard deviation of 1")
}

/// The probability of a value above `t`.
fn student_tail(freedom: f64, t: f64) -> f64 {
    if freedom > MANY {
        // The normal value with the same tail, to first order in 1/freedom.
        return standard_normal().sf(t - (t.powi(3) + t) / (4.0 * freedom));
    }
    StudentsT::new(0.0, 1.0, freedom).expect("degrees of freedom are at least 1").sf(t)
}

/// A quantile of Student's distribution.
pub(super) fn student_quantile(freedom: f64, probability: f64) -> f64 {
    if freedom > MANY {
        let z = standard_normal().inverse_cdf(probability);
        return z + (z.powi(3) + z) / (4.0 * freedom);
    }
    StudentsT::new(0.0, 1.0, freedom).expect("degrees of freedom are at least 1").inverse_cdf(probability)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sample(values: &[f64]) -> Vec<ClusterSums> {
        values.iter().map(|&value| ClusterSums { n: [1.0, 0.0], sum: [value, 0.0] }).collect()
    }

    #[test]
    fn single_losses_give_the_usual_t_interval() {
        let values = [0.2, 0.5, 0.1, 0.9, 0.4];
        let mean = ClusteredMean::of(sample(&values).into_iter()).unwrap();
        // By hand: mean 0.42, variance 0.097, standard error sqrt(0.097 / 5).
        assert!((mean.value - 0.42).abs() < 1e-12);
        assert!((mean.error - (0.097_f64 / 5.0).sqrt()).abs() < 1e-12);
        assert!((mean.freedom - 4.0).abs() < 1e-9);
        // From tables: the 95 % quantile with 4 degrees of freedom.
        assert!((mean.margin(0.95) / mean.error - 2.131_847).abs() < 1e-4);
        assert!((student_quantile(1e12, 0.95) - 1.644_854).abs() < 1e-6);
    }

    #[test]
    fn many_degrees_of_freedom_are_nearly_normal() {
        for probability in [0.95, 0.975, 0.9999] {
            let (few, many) = (student_quantile(MANY, probability), student_quantile(MANY + 1.0, probability));
            assert!((few - many).abs() < 1e-4, "{probability}: {few} {many}");
            assert!((student_tail(MANY + 1.0, many) - (1.0 - probability)).abs() < 1e-6);
            assert!((student_tail(MANY, few) - (1.0 - probability)).abs() < 1e-6);
        }
    }

    #[test]
    fn two_samples_have_the_variance_of_welch() {
        let first = [0.2, 0.5, 0.1, 0.9];
        let second = [0.4, 0.6, 0.5];
        let mut clusters = sample(&first);
        clusters.extend(second.iter().map(|&value| ClusterSums { n: [0.0, 1.0], sum: [0.0, value] }));
        let difference = ClusteredMean::of(clusters.into_iter()).unwrap();
        let variance = |values: &[f64]| {
            let mean = values.iter().sum::<f64>() / values.len() as f64;
            values.iter().map(|value| (value - mean).powi(2)).sum::<f64>() / values.len() as f64
        };
        assert!((difference.value - (0.425 - 0.5)).abs() < 1e-12);
        // One common correction, because the share of each sample in the error is that of its size.
        let plain = variance(&first) / 4.0 + variance(&second) / 3.0;
        let correction = (1.0 / 4.0 + 1.0 / 3.0) / (1.0 / 4.0 * 0.75 + 1.0 / 3.0 * (2.0 / 3.0));
        assert!((difference.error.powi(2) - plain * correction).abs() < 1e-12);
    }

    #[test]
    fn an_effect_of_the_cluster_cancels_in_its_difference() {
        let clusters =
            [0.1, 0.5, 0.9].map(|effect| ClusterSums { n: [2.0, 3.0], sum: [2.0 * (effect + 0.2), 3.0 * effect] });
        let difference = ClusteredMean::of(clusters.into_iter()).unwrap();
        assert!((difference.value - 0.2).abs() < 1e-12 && difference.error < 1e-12);
    }

    #[test]
    fn one_cluster_has_no_standard_error() {
        assert_eq!(ClusteredMean::of([ClusterSums { n: [5.0, 0.0], sum: [1.0, 0.0] }].into_iter()), None);
        assert_eq!(ClusteredMean::of([].into_iter()), None);
    }
}
