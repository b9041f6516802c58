//! Policies for rested arms on rested arms: noise-free numbers to the printed digits.
//!
//! The simulator here is a few lines: the loss of an arm depends on the number of its plays, and the optimum is found
//! by a scan over all allocations to two arms, or is one arm. It shares nothing with the engines of the library.

#![allow(clippy::unwrap_used)] // a test may panic

use calibandit::rng::StreamKey;
use calibandit::{Feedback, Policy, PolicySpec, Problem};
use serde_json::{Value, json};

/// The expected reward of the n-th play of an arm, from 1 on.
type Curve = Box<dyn Fn(f64) -> f64>;

/// inc_1 to inc_3.
fn improving(variant: usize, exponent: f64) -> [Curve; 2] {
    let slow: Curve = Box::new(move |n: f64| 0.5 - 0.5 * n.powf(-exponent));
    match variant {
        1 => [Box::new(|n: f64| 1.0 - n.powf(-0.5)), slow],
        2 => [
            Box::new(|n: f64| (n / 1000.0).min(1.0)),
            Box::new(move |n: f64| (0.5 * (n / 1000.0).powf(exponent)).min(0.5)),
        ],
        _ => [Box::new(|n: f64| 1.0 - n.powf(-0.1)), slow],
    }
}

/// inc_dec_1 to inc_dec_3.
fn single_peaked(variant: usize) -> [Curve; 2] {
    let peak = |[k1, k2, c1, c2, l, a]: [f64; 6]| -> Curve {
        Box::new(move |n: f64| a * (-k1 * (n - l)).exp() + (c2 - c1) / ((-(k1 + k2) * (n - l)).exp() + 1.0) + c1)
    };
    match variant {
        1 => [peak([0.01, 0.001, 1.0, 0.05, 600.0, -0.0015]), peak([0.009, 0.0009, 0.8, 0.1, 500.0, -0.005])],
        2 => [peak([0.003, 0.001, 1.0, 0.05, 600.0, -0.0015]), peak([0.011, 0.001, 0.8, 0.2, 400.0, -0.008])],
        _ => [peak([0.01, 0.001, 1.0, 0.5, 600.0, -0.0015]), peak([0.009, 0.0009, 0.8, 0.6, 500.0, -0.005])],
    }
}

/// The sums of the first n rewards, for all n up to the horizon.
fn sums(curve: &Curve, horizon: usize) -> Vec<f64> {
    let mut sums = vec![0.0];
    for n in 1..=horizon {
        sums.push(sums[n - 1] + curve(n as f64));
    }
    sums
}

/// The greatest sum of rewards of two arms, and the plays of the first in it.
fn optimum(curves: &[Curve; 2], horizon: usize) -> (f64, usize) {
    let (first, second) = (sums(&curves[0], horizon), sums(&curves[1], horizon));
    let total = |n: usize| first[n] + second[horizon - n];
    let best = (0..=horizon).reduce(|a, b| if total(b) > total(a) { b } else { a }).unwrap();
    (total(best), best)
}

/// The reward and the plays of a policy without noise.
fn play(curves: &[Curve; 2], policy: &Value, horizon: u64) -> (f64, [u64; 2]) {
    let spec: PolicySpec = serde_json::from_value(policy.clone()).unwrap();
    let problem = Problem { arms: 2, horizon: Some(horizon) };
    let mut policy = spec.build(&problem, StreamKey::new(1, "rested", 0).policy()).unwrap();
    let (mut plays, mut total) = ([0; 2], 0.0);
    for _ in 0..horizon {
        let run = policy.next_run();
        assert_eq!((run.burn_in, run.record), (0, 1));
        plays[run.arm] += 1;
        let reward = curves[run.arm](plays[run.arm] as f64);
        total += reward;
        policy.observe(run, Feedback::one(1.0 - reward));
    }
    (total, plays)
}

/// The regret, as it is printed.
fn regret(curves: &[Curve; 2], policy: &Value, horizon: u64) -> String {
    let regret = optimum(curves, horizon as usize).0 - play(curves, policy, horizon).0;
    // A regret of -0.00 is one of 0.00.
    format!("{:.2}", regret.max(0.0))
}

const EXPONENTS: [[f64; 4]; 3] = [[0.1, 0.5, 1.0, 5.0], [0.03, 0.1, 0.4, 1.0], [0.1, 0.5, 1.0, 5.0]];

#[test]
fn a1_on_improving_games() {
    let printed = [
        ("9801.46", [(93, "78.26"), (126, "72.25"), (69, "36.22"), (8, "4.44")]),
        ("9500.50", [(617, "321.74"), (778, "432.99"), (919, "601.46"), (945, "721.51")]),
        ("5576.99", [(521, "207.21"), (1297, "163.93"), (1181, "121.26"), (1163, "116.21")]),
    ];
    let policy = json!({"kind": "heidari"});
    for (variant, (best, rows)) in printed.into_iter().enumerate() {
        for (exponent, (second, printed)) in EXPONENTS[variant].into_iter().zip(rows) {
            let game = improving(variant + 1, exponent);
            let (total, first) = optimum(&game, 10_000);
            assert_eq!((format!("{total:.2}").as_str(), first), (best, 10_000));
            assert_eq!(play(&game, &policy, 10_000).1[1], second, "inc_{} with {exponent}", variant + 1);
            assert_eq!(regret(&game, &policy, 10_000), printed, "inc_{} with {exponent}", variant + 1);
        }
    }
}

/// With 1,000 plays the second arm is the best of inc_3, if its exponent is at least 1/2.
#[test]
fn the_optimum_depends_on_the_horizon() {
    for (exponent, printed) in [(0.5, "469.10"), (1.0, "496.26"), (5.0, "499.48")] {
        let (total, first) = optimum(&improving(3, exponent), 1000);
        assert_eq!((format!("{total:.2}").as_str(), first), (printed, 0));
    }
}

#[test]
fn spo_on_improving_games() {
    let fresh =
        [["8.32", "13.00", "9.53", "4.93"], ["25.60", "70.41", "141.50", "8.98"], ["113.67", "53.92", "15.73", "1.44"]];
    let stale = [
        ["43.98", "47.44", "30.74", "10.81"],
        ["39.12", "85.26", "156.44", "19.90"],
        ["123.30", "61.59", "21.68", "5.30"],
    ];
    for (refresh, printed) in [("all", fresh), ("played", stale)] {
        let policy = json!({"kind": "spo", "refresh": refresh});
        let found: Vec<Vec<String>> = (0..3)
            .map(|variant| {
                let game = |exponent| improving(variant + 1, exponent);
                EXPONENTS[variant].iter().map(|&exponent| regret(&game(exponent), &policy, 10_000)).collect()
            })
            .collect();
        assert_eq!(found, printed, "{refresh}");
    }
}

#[test]
fn a1_and_spo_on_single_peaked_games() {
    let printed = [
        (1, 500, "415.38", 500, ["8.21", "2.43", "39.81"]),
        (1, 1000, "730.32", 581, ["0.21", "0.00", "92.79"]),
        (1, 20_000, "2762.03", 862, ["0.73", "0.00", "1122.65"]),
        (2, 500, "396.28", 500, ["28.25", "2.71", "0.93"]),
        (2, 20_000, "4575.00", 1017, ["1.46", "0.00", "2882.84"]),
        (3, 500, "427.13", 500, ["9.83", "3.07", "49.12"]),
        (3, 20_000, "12207.21", 725, ["4.12", "0.00", "1924.81"]),
    ];
    let policies = [json!({"kind": "spo", "refresh": "played"}), json!({"kind": "spo"}), json!({"kind": "heidari"})];
    for (variant, horizon, best, allocation, regrets) in printed {
        let game = single_peaked(variant);
        let (total, first) = optimum(&game, horizon as usize);
        assert_eq!((format!("{total:.2}").as_str(), first), (best, allocation), "inc_dec_{variant}, {horizon} plays");
        let found = policies.each_ref().map(|policy| regret(&game, policy, horizon));
        assert_eq!(found, regrets, "inc_dec_{variant}, {horizon} plays");
    }
}
