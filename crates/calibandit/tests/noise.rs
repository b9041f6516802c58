//! The noise against independent distributions (statrs), and many plays at once against one by one.

#![allow(clippy::unwrap_used)] // a test may panic

mod common;

use calibandit::rng::StreamKey;
use calibandit::{Feedback, Noise, Stream};
use common::{chi_squared, kolmogorov_smirnov, kolmogorov_smirnov_one};
use statrs::distribution::{Beta, Binomial, ChiSquared, Discrete, Normal};

/// Fixed seeds: a test either always passes or always fails. A correct program fails one of these tests for one seed
/// in ten thousand.
const LEVEL: f64 = 1e-4;
const DRAWS: usize = 20_000;

fn noise(test: &str) -> Stream {
    StreamKey::new(1, test, 0).noise()
}

fn one_by_one(noise: Noise, mean: f64, plays: u64, stream: &mut Stream) -> Feedback {
    let mut feedback = Feedback::default();
    for _ in 0..plays {
        feedback += Feedback::one(noise.draw(mean, stream));
    }
    feedback
}

#[test]
#[ignore = "slow: goodness of fit over many draws"]
fn bernoulli_sums_are_binomial_whether_leapt_or_stepped() {
    // Up to 320 plays are counted bit by bit, 64 at a time; beyond there is a Binomial draw.
    let cases = [(1, 0.35), (2, 0.25), (5, 0.5), (40, 0.02), (40, 0.9), (63, 0.35), (64, 1.0 / 3.0), (65, 0.7)];
    let longer = [(320, 0.001), (320, 0.6), (321, 0.6), (1000, 0.35), (1000, 0.999)];
    for (plays, mean) in cases.into_iter().chain(longer) {
        let law = Binomial::new(mean, plays).unwrap();
        let expected: Vec<f64> = (0..=plays).map(|k| DRAWS as f64 * law.pmf(k)).collect();
        for leap in [true, false] {
            let mut stream = noise("binomial");
            let mut observed = vec![0; plays as usize + 1];
            for _ in 0..DRAWS {
                let feedback = if leap {
                    Noise::Bernoulli.draw_many(mean, plays, &mut stream)
                } else {
                    one_by_one(Noise::Bernoulli, mean, plays, &mut stream)
                };
                assert_eq!((feedback.plays, feedback.sum), (plays, feedback.sum_sq));
                observed[feedback.sum as usize] += 1;
            }
            let p = chi_squared(&observed, &expected);
            assert!(p > LEVEL, "plays {plays}, mean {mean}, leap {leap}: p = {p}");
        }
    }
}

#[test]
fn normal_sums_and_scatter_have_their_closed_forms() {
    let (mean, sd) = (0.1, 0.3);
    for plays in [2, 3, 10, 500] {
        let n = plays as f64;
        let sum_law = Normal::new(n * mean, sd * n.sqrt()).unwrap();
        let scatter_law = ChiSquared::new(n - 1.0).unwrap();
        for leap in [true, false] {
            let mut stream = noise("normal");
            let (mut sums, mut scatters) = (vec![], vec![]);
            for _ in 0..DRAWS / 4 {
                let law = Noise::Normal { sd };
                let feedback = if leap {
                    law.draw_many(mean, plays, &mut stream)
                } else {
                    one_by_one(law, mean, plays, &mut stream)
                };
                sums.push(feedback.sum);
                scatters.push((feedback.sum_sq - feedback.sum * feedback.sum / n) / (sd * sd));
            }
            let p = kolmogorov_smirnov_one(&sums, &sum_law);
            assert!(p > LEVEL, "sums of {plays}, leap {leap}: p = {p}");
            let p = kolmogorov_smirnov_one(&scatters, &scatter_law);
            assert!(p > LEVEL, "scatter of {plays}, leap {leap}: p = {p}");
        }
    }
}

#[test]
fn beta_draws_have_the_given_mean_and_concentration() {
    for (mean, concentration) in [(0.35, 2.0), (0.5, 10.0), (0.05, 1.0)] {
        let law = Beta::new(mean * concentration, (1.0 - mean) * concentration).unwrap();
        let mut stream = noise("beta");
        let draws: Vec<f64> = (0..DRAWS).map(|_| Noise::Beta { concentration }.draw(mean, &mut stream)).collect();
        let p = kolmogorov_smirnov_one(&draws, &law);
        assert!(p > LEVEL, "mean {mean}, concentration {concentration}: p = {p}");
    }
}

#[test]
fn certain_losses_are_observed_as_they_are() {
    for noise_kind in [Noise::Bernoulli, Noise::Beta { concentration: 3.0 }, Noise::None] {
        for mean in [0.0, 1.0] {
            let feedback = noise_kind.draw_many(mean, 1000, &mut noise("certain"));
            assert_eq!((feedback.sum, feedback.sum_sq), (1000.0 * mean, 1000.0 * mean), "{noise_kind:?}");
        }
    }
    assert_eq!(Noise::None.draw_many(0.25, 8, &mut noise("none")), Feedback { plays: 8, sum: 2.0, sum_sq: 0.5 });
}

#[test]
fn huge_runs_have_the_right_mean_and_spread() {
    let plays = 1_000_000_000_000;
    let n = plays as f64;
    for (law, sd) in [(Noise::Bernoulli, (0.35f64 * 0.65).sqrt()), (Noise::Normal { sd: 0.2 }, 0.2)] {
        let mut stream = noise("huge");
        let draws: Vec<f64> =
            (0..2000).map(|_| (law.draw_many(0.35, plays, &mut stream).sum - 0.35 * n) / (sd * n.sqrt())).collect();
        let p = kolmogorov_smirnov_one(&draws, &Normal::standard());
        assert!(p > LEVEL, "{law:?}: p = {p}");
    }
}

/// Probabilities that are decided by bits far down.
#[test]
fn rare_ones_and_rare_zeros_are_as_rare_as_they_should_be() {
    let rare = 2f64.powi(-10);
    for (mean, counted) in [(rare, 1.0), (1.0 - rare, 0.0)] {
        let mut stream = noise("rare");
        let runs = 20_000;
        let draws = runs as f64 * 300.0;
        let ones: f64 = (0..runs).map(|_| Noise::Bernoulli.draw_many(mean, 300, &mut stream).sum).sum();
        let found = if counted == 1.0 { ones } else { draws - ones };
        let (expected, sd) = (draws * rare, (draws * rare * (1.0 - rare)).sqrt());
        assert!((found - expected).abs() < 4.5 * sd, "{found} for {expected} of {draws}");
    }
}

/// The goodness-of-fit tests used here and elsewhere notice small errors: they are not tests that cannot fail.
#[test]
fn the_statistics_notice_a_small_error() {
    let draw = |mean: f64, test: &str| -> Vec<f64> {
        let mut stream = noise(test);
        (0..4000).map(|_| Noise::Normal { sd: 1.0 }.draw(mean, &mut stream)).collect()
    };
    assert!(kolmogorov_smirnov(&draw(0.0, "a"), &draw(0.0, "b")) > LEVEL);
    assert!(kolmogorov_smirnov(&draw(0.0, "a"), &draw(0.15, "b")) < LEVEL);
    assert!(chi_squared(&[5000, 5000], &[5000.0, 5000.0]) > 0.9);
    assert!(chi_squared(&[5250, 4750], &[5000.0, 5000.0]) < LEVEL);
}

/// Pinned values: they say nothing but that drawn numbers have not changed. A change here is value-breaking and
/// belongs into the changelog.
#[test]
fn pinned_draws() {
    let mut stream = noise("pinned");
    let mut drawn = Vec::new();
    for law in [Noise::Bernoulli, Noise::Normal { sd: 0.1 }, Noise::Beta { concentration: 5.0 }, Noise::None] {
        drawn.push(law.draw(0.35, &mut stream));
        drawn.push(law.draw_many(0.35, 100, &mut stream).sum);
    }
    assert_eq!(drawn, PINNED);
}

const PINNED: [f64; 8] =
    [1.0, 32.0, 0.4465104921545817, 35.840614630062774, 0.22281161776276226, 37.264758804319676, 0.35, 35.0];
