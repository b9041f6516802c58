//! Goodness-of-fit tests of statrs, with the p-value alone as their result.

#![allow(dead_code)] // each test file uses its own part

use statrs::distribution::ContinuousCDF;
use statrs::stats_tests::NaNPolicy;
use statrs::stats_tests::chisquare::chisquare;
use statrs::stats_tests::ks_test::{
    KSOneSampleAlternativeMethod, KSTwoSampleAlternativeMethod, ks_onesample, ks_twosample,
};

/// The asymptotic p-value of the two-sample Kolmogorov–Smirnov test. With ties, as in discrete data, the test is
/// conservative.
pub(crate) fn kolmogorov_smirnov(a: &[f64], b: &[f64]) -> f64 {
    let sorted = |sample: &[f64]| {
        let mut sample = sample.to_vec();
        sample.sort_by(f64::total_cmp);
        sample
    };
    let (a, b) = (sorted(a), sorted(b));
    if a == b {
        return 1.0; // the series that statrs sums does not converge at a distance of 0
    }
    let (_, p) = ks_twosample(a, b, KSTwoSampleAlternativeMethod::TwoSidedAsymptotic, NaNPolicy::Error)
        .expect("the samples are not empty and have no NaN");
    p
}

/// The asymptotic p-value of the one-sample Kolmogorov–Smirnov test.
pub(crate) fn kolmogorov_smirnov_one(sample: &[f64], law: &impl ContinuousCDF<f64, f64>) -> f64 {
    let (_, p) = ks_onesample(sample.to_vec(), law, KSOneSampleAlternativeMethod::TwoSidedAsymptotic, NaNPolicy::Error)
        .expect("the sample is not empty and has no NaN");
    p
}

/// The p-value of Pearson's chi-squared test of counts against expected counts, which may be given up to a common
/// factor. Cells with an expectation below 5 are merged with their neighbour.
pub(crate) fn chi_squared(observed: &[u64], expected: &[f64]) -> f64 {
    let scale = observed.iter().sum::<u64>() as f64 / expected.iter().sum::<f64>();
    let (mut counts, mut expectations) = (vec![0usize], vec![0.0]);
    for (&count, &expectation) in observed.iter().zip(expected) {
        if expectations.last().is_some_and(|&open| open >= 5.0) {
            counts.push(0);
            expectations.push(0.0);
        }
        *counts.last_mut().expect("there is an open cell") += count as usize;
        *expectations.last_mut().expect("there is an open cell") += scale * expectation;
    }
    // The last cell may have stayed too small.
    if counts.len() > 1
        && let Some(rest) = expectations.pop_if(|last| *last < 5.0)
    {
        *expectations.last_mut().expect("there is a cell before") += rest;
        let rest = counts.pop().expect("there are as many counts");
        *counts.last_mut().expect("there is a cell before") += rest;
    }
    let (_, p) = chisquare(&counts, Some(&expectations), None).expect("there are two cells or more");
    p
}
