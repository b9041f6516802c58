//! Policies for rested arms under noise: numbers of an independent program, within their errors.
//!
//! The compared numbers are means over few runs of another program, written for this purpose in another language, with
//! all windows computed exactly. A mean of ours over 200 runs must agree with them within four standard errors of the
//! difference, in which the spread of single runs is the one measured here.

#![allow(clippy::unwrap_used)] // a test may panic

use calibandit::rng::StreamKey;
use calibandit::{Feedback, Policy, PolicySpec, Problem};
use rand_distr::{Distribution, StandardNormal};
use serde_json::{Value, json};

const RUNS: u64 = 200;

/// Expected rewards by arm and play, the first play first; the last value is repeated for ever.
type Curves = Vec<Vec<f64>>;

/// Mean and standard deviation of the regret over the runs of a policy, with normal noise.
fn regrets(curves: &Curves, optimum: f64, sd: f64, policy: &Value, horizon: u64, runs: u64) -> (f64, f64) {
    let spec: PolicySpec = serde_json::from_value(policy.clone()).unwrap();
    let problem = Problem { arms: curves.len(), horizon: Some(horizon) };
    let (mut sum, mut squares) = (0.0, 0.0);
    for run in 0..runs {
        let key = StreamKey::new(1, "rested-noise", run);
        let mut policy = spec.build(&problem, key.policy()).unwrap();
        let mut noise = key.noise();
        let (mut plays, mut total) = (vec![0usize; curves.len()], 0.0);
        for _ in 0..horizon {
            let run = policy.next_run();
            let curve = &curves[run.arm];
            let reward = curve[plays[run.arm].min(curve.len() - 1)];
            plays[run.arm] += 1;
            total += reward;
            let normal: f64 = StandardNormal.sample(&mut noise);
            policy.observe(run, Feedback::one(1.0 - reward - sd * normal));
        }
        let regret = optimum - total;
        sum += regret;
        squares += regret * regret;
    }
    let mean = sum / runs as f64;
    (mean, ((squares / runs as f64 - mean * mean).max(0.0) * runs as f64 / (runs as f64 - 1.0)).sqrt())
}

/// Compares our mean with one over `their_runs` runs, printed with this unit.
#[track_caller]
fn agrees(name: &str, (mean, sd): (f64, f64), theirs: f64, their_runs: f64, unit: f64) -> bool {
    let error = sd * (1.0 / RUNS as f64 + 1.0 / their_runs).sqrt();
    let agrees = (mean - theirs).abs() <= 4.0 * error + unit / 2.0;
    let z = (mean - theirs) / error;
    println!(
        "{name}: {mean:.1} ± {:.1}, theirs {theirs}, {z:.1} errors{}",
        sd / (RUNS as f64).sqrt(),
        [" !!", ""][usize::from(agrees)]
    );
    agrees
}

/// Seznec 2019, Figure 1: +L/2 for 2,501 plays, then -L/2, against 0.
fn figure_1(size: f64) -> (Curves, f64) {
    let mut falling = vec![size / 2.0; 2501];
    falling.push(-size / 2.0);
    (vec![falling, vec![0.0]], 2501.0 * size / 2.0)
}

/// Seznec 2019, Figure 2: 0, and nine arms with +mu for 1,000 plays, then -mu.
fn figure_2() -> (Curves, f64) {
    let sizes: Vec<f64> = (0..9).map(|i| 0.001 * 10f64.powf(f64::from(i) / 2.0)).collect();
    let arm = |&mu: &f64| {
        let mut curve = vec![mu; 1000];
        curve.push(-mu);
        curve
    };
    let curves = std::iter::once(vec![0.0]).chain(sizes.iter().map(arm)).collect();
    (curves, 1000.0 * sizes.iter().sum::<f64>())
}

#[test]
fn the_optimum_of_the_rotting_figures_is_the_printed_one() {
    let printed = [(0.02, 25.0), (0.02 * 1.25f64.powi(11), 291.2), (0.02 * 1.25f64.powi(24), 5296.0)];
    for (size, reward) in printed {
        assert!((figure_1(size).1 - reward).abs() < 0.5, "{size}");
    }
    assert!((figure_2().1 - 14624.0).abs() < 0.5);
}

#[test]
#[ignore = "slow: 200 runs of ten policies on five games of 10,000 plays"]
fn rotting_policies_on_figure_1() {
    let sizes = [0, 11, 16, 24, 29].map(|i| 0.02 * 1.25f64.powi(i));
    let raw = |alpha: f64, grid: f64| json!({"kind": "raw-ucb", "alpha": alpha, "sd": 1.0, "grid": grid});
    let fewa = |alpha: f64| json!({"kind": "fewa", "alpha": alpha, "sd": 1.0, "grid": 1.01});
    let wswa = |alpha: f64| json!({"kind": "wswa", "alpha": alpha, "sd": 1.0});
    let rows = [
        (raw(1.4, 1.01), [30.0, 84.0, 47.0, 12.7, 6.5]),
        (raw(1.4, 1.1), [25.0, 107.0, 47.0, 14.0, 6.5]),
        (raw(1.4, 2.0), [29.0, 93.0, 57.0, 15.4, 6.5]),
        (fewa(0.06), [22.0, 124.0, 56.0, 15.2, 8.5]),
        (wswa(0.002), [26.0, 300.0, 795.0, 30.0, 45.0]),
        (wswa(0.02), [24.0, 175.0, 217.0, 114.0, 336.0]),
        (wswa(0.2), [19.0, 102.0, 187.0, 1052.0, 3185.0]),
        (raw(4.0, 1.01), [24.0, 160.0, 117.0, 33.0, 14.0]),
        (fewa(4.0), [25.0, 290.9, 840.0, 190.0, 69.0]),
    ];
    let mut wrong = 0;
    for (policy, printed) in rows {
        for (size, theirs) in sizes.into_iter().zip(printed) {
            let (curves, optimum) = figure_1(size);
            let ours = regrets(&curves, optimum, 1.0, &policy, 10_000, RUNS);
            let unit = if theirs < 20.0 || theirs == 290.9 { 0.1 } else { 1.0 };
            wrong += usize::from(!agrees(&format!("{policy}, L = {size:.3}"), ours, theirs, 16.0, unit));
        }
    }
    assert_eq!(wrong, 0);
}

#[test]
#[ignore = "slow: 200 runs of six policies on ten arms with 25,000 plays"]
fn rotting_policies_on_figure_2() {
    let (curves, optimum) = figure_2();
    let raw = |grid: f64| json!({"kind": "raw-ucb", "sd": 1.0, "grid": grid});
    let wswa = |alpha: f64| json!({"kind": "wswa", "alpha": alpha, "sd": 1.0});
    let rows = [
        (raw(1.1), 285.0),
        (raw(2.0), 286.0),
        (json!({"kind": "fewa", "sd": 1.0}), 295.0),
        (wswa(0.002), 686.0),
        (wswa(0.02), 862.0),
        (wswa(0.2), 5106.0),
    ];
    let mut wrong = 0;
    for (policy, theirs) in rows {
        let ours = regrets(&curves, optimum, 1.0, &policy, 25_000, RUNS);
        wrong += usize::from(!agrees(&policy.to_string(), ours, theirs, 6.0, 1.0));
    }
    assert_eq!(wrong, 0);
}

/// Metelli et al. 2022, two arms: x is the number of plays before.
fn two_arms(horizon: usize) -> Curves {
    let curve = |reward: &dyn Fn(f64) -> f64| (0..horizon).map(|x| reward(x as f64)).collect();
    vec![curve(&|x| 0.4 * x / (x + 500.0)), curve(&|x| (x / 25_000.0).min(1.0))]
}

/// Metelli et al. 2022, fifteen arms, of which one exceeds 1.
fn fifteen_arms(horizon: usize) -> Curves {
    let curve = |reward: &dyn Fn(f64) -> f64| (0..horizon).map(|x| reward(x as f64)).collect();
    let rational = [
        (1.0, 177.0, 177.0, 0.8),
        (0.91, 571.0, 571.0, 0.9),
        (0.48, 144.0, 144.0, 1.0),
        (0.43, 195.0, 199.0, 0.9),
        (0.79, 695.0, 695.0, 0.9),
        (0.37, 290.0, 290.0, 1.0),
        (0.17, 223.0, 223.0, 1.0),
        (1.08, 85.0, 85.0, 0.8),
        (0.84, 219.0, 219.0, 1.0),
        (0.26, 124.0, 124.0, 0.9),
    ];
    let exponential =
        [(0.73, 3.0, 162.0), (0.16, 3.0, 949.0), (0.62, 1.0, 271.0), (0.23, 1.0, 849.0), (0.39, 5.0, 457.0)];
    let rational = rational.map(|(c, b, inside, rho): (f64, f64, f64, f64)| {
        curve(&move |x| c * (1.0 - b / (x + inside.powf(1.0 / rho)).powf(rho)))
    });
    let exponential = exponential.map(|(c, a, b): (f64, f64, f64)| curve(&move |x| c * (1.0 - (-a * x / b).exp())));
    rational.into_iter().chain(exponential).collect()
}

/// The greatest sum of one arm.
fn best_arm(curves: &Curves) -> f64 {
    curves.iter().map(|curve| curve.iter().sum()).fold(f64::NEG_INFINITY, f64::max)
}

#[test]
fn the_optimum_of_the_rising_games_is_the_printed_one() {
    assert!((best_arm(&two_arms(50_000)) - 37_499.5).abs() < 1e-6);
    assert!((best_arm(&fifteen_arms(50_000)) - 51_393.0).abs() < 0.5);
}

#[test]
#[ignore = "slow: 200 runs of three policies on two games of 50,000 plays"]
fn rising_policies_on_two_and_fifteen_arms() {
    let (two, fifteen) = (two_arms(50_000), fifteen_arms(50_000));
    let rising = |alpha: f64| json!({"kind": "rising-ucb", "alpha": alpha, "sd": 0.1});
    let rows = [
        (&two, rising(4.0), 6998.0, 5.0),
        (&two, rising(2.1), 6214.0, 5.0),
        (&two, json!({"kind": "ucb1"}), 18_491.0, 6.0),
        (&fifteen, rising(4.0), 29_314.0, 5.0),
        (&fifteen, rising(2.1), 28_859.0, 5.0),
        (&fifteen, json!({"kind": "ucb1"}), 15_348.0, 6.0),
    ];
    let mut wrong = 0;
    for (curves, policy, theirs, runs) in rows {
        let ours = regrets(curves, best_arm(curves), 0.1, &policy, 50_000, RUNS);
        wrong += usize::from(!agrees(&format!("{} arms, {policy}", curves.len()), ours, theirs, runs, 1.0));
    }
    assert_eq!(wrong, 0);
    // Round robin, which has no noise.
    let rounds: Vec<f64> = (0..50_000usize).map(|play| fifteen[play % 15][play / 15]).collect();
    let round_robin = best_arm(&fifteen) - rounds.iter().sum::<f64>();
    assert!((round_robin - 30_724.0).abs() < 1.0, "{round_robin}");
}
