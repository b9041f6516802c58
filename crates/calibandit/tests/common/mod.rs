//! Statistics for the tests: goodness of fit, written out from the textbooks.

#![allow(dead_code)] // each test file uses its own part

/// The p-value of the two-sample Kolmogorov–Smirnov test (asymptotic, with Stephens' small-sample correction).
/// With ties, as in discrete data, it is conservative: the true p-value is smaller only in the safe direction.
pub(crate) fn kolmogorov_smirnov(a: &[f64], b: &[f64]) -> f64 {
    let (mut a, mut b) = (a.to_vec(), b.to_vec());
    a.sort_by(f64::total_cmp);
    b.sort_by(f64::total_cmp);
    let (n, m) = (a.len() as f64, b.len() as f64);
    let (mut i, mut j, mut distance) = (0, 0, 0.0f64);
    while i < a.len() && j < b.len() {
        let x = a[i].min(b[j]);
        while i < a.len() && a[i] <= x {
            i += 1;
        }
        while j < b.len() && b[j] <= x {
            j += 1;
        }
        distance = distance.max((i as f64 / n - j as f64 / m).abs());
    }
    let root = (n * m / (n + m)).sqrt();
    kolmogorov_tail((root + 0.12 + 0.11 / root) * distance)
}

/// P(K > x) of the Kolmogorov distribution.
fn kolmogorov_tail(x: f64) -> f64 {
    if x < 0.2 {
        return 1.0;
    }
    let term = |k: i32| (if k % 2 == 1 { 2.0 } else { -2.0 }) * (-2.0 * f64::from(k * k) * x * x).exp();
    (1..=100).map(term).sum::<f64>().clamp(0.0, 1.0)
}

/// The p-value of Pearson's chi-squared test of counts against expected counts. Cells with an expectation below 5 are
/// merged with their neighbour.
pub(crate) fn chi_squared(observed: &[u64], expected: &[f64]) -> f64 {
    use statrs::distribution::{ChiSquared, ContinuousCDF};
    let mut cells: Vec<(f64, f64)> = Vec::new();
    let mut open = (0.0, 0.0);
    for (&o, &e) in observed.iter().zip(expected) {
        open = (open.0 + o as f64, open.1 + e);
        if open.1 >= 5.0 {
            cells.push(open);
            open = (0.0, 0.0);
        }
    }
    if let Some(last) = cells.last_mut() {
        *last = (last.0 + open.0, last.1 + open.1);
    }
    let statistic: f64 = cells.iter().map(|(o, e)| (o - e) * (o - e) / e).sum();
    ChiSquared::new(cells.len() as f64 - 1.0).expect("two cells or more").sf(statistic)
}

/// The p-value of the one-sample Kolmogorov–Smirnov test against a distribution function.
pub(crate) fn kolmogorov_smirnov_one(sample: &[f64], cdf: impl Fn(f64) -> f64) -> f64 {
    let mut sample = sample.to_vec();
    sample.sort_by(f64::total_cmp);
    let n = sample.len() as f64;
    let distance = sample
        .iter()
        .enumerate()
        .map(|(i, &x)| {
            let f = cdf(x);
            (f - i as f64 / n).abs().max(((i + 1) as f64 / n - f).abs())
        })
        .fold(0.0, f64::max);
    let root = n.sqrt();
    kolmogorov_tail((root + 0.12 + 0.11 / root) * distance)
}
