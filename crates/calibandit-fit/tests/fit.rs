//! The fit against known parameters, brute force and closed forms.

#![allow(clippy::unwrap_used)] // a test may panic

use calibandit::rng::{Stream, StreamKey};
use calibandit_fit::{
    ArmsError, Fit, FitError, GameFitOptions, LossColumns, LossRange, Observation, WarmUp, fit, fit_game, parse_losses,
};
use proptest::prelude::*;
use rand_distr::{Distribution, Normal};

fn observe(losses: &[f64]) -> Vec<Observation> {
    losses.iter().zip(1..).map(|(&loss, position)| Observation { position, loss }).collect()
}

fn random(instance: u64) -> Stream {
    StreamKey::new(7, "fit", instance).game()
}

/// Observations of many runs of a known curve.
fn runs(truth: [f64; 4], positions: u32, runs: usize, sd: f64, stream: &mut Stream) -> Vec<Observation> {
    let [alpha, beta, gamma, level] = truth;
    let noise = Normal::new(0.0, sd).unwrap();
    let mean = |k: u32| level + beta * (-alpha * f64::from(k)).exp() - gamma * f64::from(k);
    let one = |stream: &mut Stream| -> Vec<Observation> {
        (1..=positions).map(|position| Observation { position, loss: mean(position) + noise.sample(stream) }).collect()
    };
    (0..runs).flat_map(|_| one(stream)).collect()
}

/// The deviations of the estimates from the truth, in standard errors.
fn deviations(fit: &Fit, truth: [f64; 4]) -> Vec<f64> {
    let errors = fit.standard_errors;
    let parts = [
        (fit.alpha, errors.alpha, truth[0]),
        (fit.beta, errors.beta, truth[1]),
        (fit.gamma, errors.gamma, truth[2]),
        (fit.level, errors.level, truth[3]),
    ];
    parts.into_iter().filter_map(|(found, error, truth)| Some((found - truth) / error?)).collect()
}

#[test]
fn known_parameters_are_recovered_within_their_standard_errors() {
    for (model, truth) in [(WarmUp::ExponentialLinear, [0.4, 0.8, 0.01, 0.0]), (WarmUp::Plateau, [0.6, 0.5, 0.01, 0.4])]
    {
        let (data_sets, sd) = (200, 0.02);
        let mut all: Vec<f64> = Vec::new();
        for instance in 0..data_sets {
            let found = fit(model, &runs(truth, 12, 40, sd, &mut random(instance))).unwrap();
            let own = deviations(&found, truth);
            assert_eq!(own.len(), model.parameters() - 1, "no parameter is on the border of its range");
            assert!(own.iter().all(|z| z.abs() < 4.5), "{own:?}");
            assert!((found.sd / sd - 1.0).abs() < 0.15, "{}", found.sd);
            all.extend(own);
        }
        // 95 % of the deviations are within 1.96 standard errors. At least 600 numbers, correlated in threes: ± 4 %.
        let within = all.iter().filter(|z| z.abs() < 1.96).count() as f64 / all.len() as f64;
        assert!((0.91..=0.99).contains(&within), "{model:?}: {within}");
        let mean = all.iter().sum::<f64>() / all.len() as f64;
        assert!(mean.abs() < 0.25, "{model:?}: biased by {mean} standard errors");
    }
}

/// Least squares in closed form with gamma at least 0: normal equations, written independently of the fit.
fn brute_force(losses: &[f64]) -> f64 {
    let at = |alpha: f64| {
        let (mut ee, mut ek, mut kk, mut ey, mut ky, mut yy) = (0.0, 0.0, 0.0, 0.0, 0.0, 0.0);
        for (i, &y) in losses.iter().enumerate() {
            let k = i as f64 + 1.0;
            let e = (-alpha * (k - 1.0)).exp();
            ee += e * e;
            ek -= e * k;
            kk += k * k;
            ey += e * y;
            ky -= k * y;
            yy += y * y;
        }
        let determinant = ee * kk - ek * ek;
        let gamma = (ee * ky - ek * ey) / determinant;
        let (beta, gamma) = if gamma >= 0.0 { ((kk * ey - ek * ky) / determinant, gamma) } else { (ey / ee, 0.0) };
        yy - beta * ey - gamma * ky
    };
    let steps = 20_000;
    let alphas = (0..=steps).map(|i| 1e-7 * (6e8f64).powf(f64::from(i) / f64::from(steps)));
    std::iter::once(0.0).chain(alphas).map(at).fold(f64::INFINITY, f64::min)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(60))]

    #[test]
    fn fit_is_at_least_as_good_as_a_dense_grid_over_alpha(losses in prop::collection::vec(0.0..1.0f64, 4..20)) {
        let found = fit(WarmUp::ExponentialLinear, &observe(&losses)).unwrap();
        prop_assert!(found.alpha >= 0.0 && found.gamma >= 0.0);
        let scale: f64 = losses.iter().map(|y| y * y).sum();
        // The tolerance covers the rounding errors of the normal equations.
        prop_assert!(found.sse <= brute_force(&losses) * (1.0 + 1e-9) + 1e-12 * scale);
        // The sum of squares belongs to the returned curve.
        let sse: f64 = losses.iter().zip(1..).map(|(y, k)| (y - found.mean(k)).powi(2)).sum();
        prop_assert!((sse - found.sse).abs() <= 1e-9 * scale, "{sse} {}", found.sse);
        prop_assert!((found.sd * found.sd * losses.len() as f64 - found.sse).abs() <= 1e-12 * scale);
    }

    #[test]
    fn plateau_model_never_fits_worse(losses in prop::collection::vec(0.0..1.0f64, 5..20)) {
        let seen = observe(&losses);
        let (without, plateau) = (fit(WarmUp::ExponentialLinear, &seen).unwrap(), fit(WarmUp::Plateau, &seen).unwrap());
        // Curves flatter than the flattest plateau of the search are straight lines within 10^-3 of their fall.
        prop_assert!(plateau.sse <= without.sse * (1.0 + 1e-6) + 1e-6, "{} {}", plateau.sse, without.sse);
        prop_assert!(plateau.gamma >= 0.0 && plateau.alpha > 0.0);
    }

    #[test]
    fn fit_does_not_depend_on_unit_of_losses_or_order_of_observations(
        losses in prop::collection::vec(0.01..1.0f64, 4..12), unit in 0.01..100.0f64,
    ) {
        let plain = fit(WarmUp::ExponentialLinear, &observe(&losses)).unwrap();
        let mut scaled = observe(&losses.iter().map(|loss| loss * unit).collect::<Vec<_>>());
        scaled.reverse();
        let scaled = fit(WarmUp::ExponentialLinear, &scaled).unwrap();
        let tiny = 1e-9 * losses.iter().map(|y| y * y).sum::<f64>();
        prop_assert!((scaled.sse / (unit * unit) - plain.sse).abs() <= tiny);
    }

    #[test]
    fn fit_never_panics(
        losses in prop::collection::vec((0u32..40, prop::num::f64::ANY), 0..30), plateau in any::<bool>(),
    ) {
        let model = if plateau { WarmUp::Plateau } else { WarmUp::ExponentialLinear };
        let seen: Vec<Observation> = losses.iter().map(|&(position, loss)| Observation { position, loss }).collect();
        let _ = fit(model, &seen);
    }
}

#[test]
fn curves_at_both_ends_of_the_range_of_alpha_are_found() {
    // A straight line has alpha = 0.
    let line: Vec<f64> = (1..=8).map(|k| 0.9 - 0.05 * f64::from(k)).collect();
    let found = fit(WarmUp::ExponentialLinear, &observe(&line)).unwrap();
    assert!(found.sse < 1e-24 && found.alpha < 1e-6, "{found:?}");
    assert!((found.gamma - 0.05).abs() < 1e-6 && found.r_squared > 1.0 - 1e-12);
    // Only the first loss is high: alpha goes to infinity.
    let mut step = vec![0.0; 8];
    step[0] = 0.7;
    let found = fit(WarmUp::ExponentialLinear, &observe(&step)).unwrap();
    assert!(found.sse < 1e-24 && found.alpha > 30.0 && found.beta.is_finite(), "{found:?}");
    assert!((found.mean(1) - 0.7).abs() < 1e-12 && found.mean(2).abs() < 1e-12);
    // Rising losses: gamma cannot be negative, so the best curve is the mean.
    let worse: Vec<f64> = (1..=8).map(|k| 0.1 * f64::from(k)).collect();
    let found = fit(WarmUp::ExponentialLinear, &observe(&worse)).unwrap();
    assert_eq!((found.alpha, found.gamma), (0.0, 0.0));
    assert!((found.beta - 0.45).abs() < 1e-12 && found.r_squared.abs() < 1e-12);
    // Equal losses: the constant curve has no residuals.
    let found = fit(WarmUp::ExponentialLinear, &observe(&[0.5; 8])).unwrap();
    assert!(found.sse < 1e-28 && (found.mean(3) - 0.5).abs() < 1e-12);
}

#[test]
fn fit_of_several_runs_equals_fit_of_their_means() {
    let first = [0.8, 0.5, 0.4, 0.35, 0.3];
    let second = [0.9, 0.6, 0.5, 0.3, 0.3];
    let mean: Vec<f64> = first.iter().zip(second).map(|(a, b)| (a + b) / 2.0).collect();
    let together = fit(WarmUp::ExponentialLinear, &[observe(&first), observe(&second)].concat()).unwrap();
    let of_means = fit(WarmUp::ExponentialLinear, &observe(&mean)).unwrap();
    let within: f64 = first.iter().zip(second).map(|(a, b)| (a - b).powi(2) / 2.0).sum();
    assert!((together.sse - (2.0 * of_means.sse + within)).abs() < 1e-12);
    assert!((together.alpha - of_means.alpha).abs() < 1e-6);
    assert_eq!((together.observations, together.last), (10, 5));
}

#[test]
fn information_criteria_match_hand_calculation() {
    let found = fit(WarmUp::ExponentialLinear, &observe(&[0.8, 0.5, 0.4, 0.35, 0.3, 0.32, 0.28, 0.31])).unwrap();
    let aic = 8.0 * (found.sse / 8.0).ln() + 8.0;
    assert!((found.aic() - aic).abs() < 1e-12);
    assert!((found.aicc().unwrap() - (aic + 40.0 / 3.0)).abs() < 1e-12); // 2·4·5 / (8 - 4 - 1)
    let short = fit(WarmUp::Plateau, &observe(&[0.8, 0.5, 0.4, 0.35, 0.3])).unwrap();
    assert_eq!(short.aicc(), None);
}

#[test]
fn invalid_observations_are_errors_with_the_reason() {
    assert_eq!(fit(WarmUp::ExponentialLinear, &observe(&[0.5, 0.4])), Err(FitError::TooFew { given: 2, needed: 3 }));
    assert_eq!(fit(WarmUp::Plateau, &[]), Err(FitError::TooFew { given: 0, needed: 4 }));
    let zero = [Observation { position: 0, loss: 0.5 }];
    assert_eq!(fit(WarmUp::ExponentialLinear, &zero), Err(FitError::PositionZero));
    let error = fit(WarmUp::ExponentialLinear, &observe(&[0.5, f64::NAN, 0.3])).unwrap_err();
    assert!(error.to_string().contains("position 2"), "{error}");
}

/// Found by fuzzing: with a memory of 1 only the first value of the curve was checked, and the game has the last one.
#[test]
fn an_arm_whose_last_value_leaves_the_range_is_left_out() {
    let table = "arm,position,loss\nada,3,608\nbo,1,8.1\nbo,3,7.4\nbo,5,6.4\nbo,5,59\n";
    let columns = LossColumns { arm: "arm", position: "position", loss: "loss" };
    let losses = parse_losses("table.csv", table.as_bytes(), columns).unwrap();
    let options = GameFitOptions { range: LossRange::new(0.0, 10.0).unwrap(), ..GameFitOptions::default() };
    let refused = fit_game(&losses, &options).unwrap_err();
    let ArmsError::NoneLeft { left_out } = &refused else { panic!("{refused}") };
    let reasons: Vec<String> = left_out.iter().map(ToString::to_string).collect();
    assert!(reasons.iter().any(|reason| reason.contains("bo") && reason.contains("at position 5")), "{reasons:?}");
}
