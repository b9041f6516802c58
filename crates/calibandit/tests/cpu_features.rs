//! The same bits with and without newer instructions of the processor.
//!
//! The C library selects its exponential functions and logarithms by the processor: without AVX2 and FMA, the last bit
//! of some results differs. The test runs this program again with these instructions switched off (a setting of glibc)
//! and compares. What is computed without such functions has the same bits; all else agrees in twelve digits.

#![allow(clippy::unwrap_used)] // a test may panic

use calibandit::zoo::RandomReo;
use calibandit::{Engine, Game, GameSpec, Grid, PolicySpec, StreamKey, optimum, reo, simulate};
use rand::RngExt;
use serde_json::json;

/// A result, and whether it must have the same bits.
struct Computed {
    name: String,
    value: f64,
    exact: bool,
}

fn game(spec: serde_json::Value) -> Game {
    let spec: GameSpec = serde_json::from_value(spec).unwrap();
    spec.draw(&mut StreamKey::new(1, "cpu", 0).game()).unwrap()
}

fn last_excess(game: &Game, policy: &serde_json::Value) -> f64 {
    let spec: PolicySpec = serde_json::from_value(policy.clone()).unwrap();
    let streams = StreamKey::new(1, "cpu", 1);
    let mut policy = spec.build(&game.problem(20_000), streams.policy()).unwrap();
    let grid = Grid::end(20_000).unwrap();
    simulate(game, &mut policy, &grid, Engine::Leaping, &mut streams.noise()).unwrap().last().excess
}

fn computed() -> Vec<Computed> {
    let mut all = Vec::new();
    let mut add = |name: String, exact: bool, value: f64| all.push(Computed { name, value, exact });
    let mut stream = StreamKey::new(1, "cpu", 2).noise();
    add("uniform draws".into(), true, (0..1000).map(|_| stream.random::<f64>()).sum());
    let random = RandomReo::default();
    for instance in 0..20 {
        let game = random.draw(&mut StreamKey::new(1, "cpu", instance).game()).unwrap();
        add(format!("best loss {instance}"), true, game.best_loss());
        add(format!("alpha {instance}"), true, reo(&game).unwrap().alpha);
        add(format!("optimum {instance}"), true, optimum(&game, 1_000_000).unwrap().excess);
    }
    let step = game(json!({"kind": "step", "arms": 6, "memory": 4}));
    // Their decisions compare numbers that exponential functions and logarithms enter only as constants, or not at all.
    for policy in [json!({"kind": "exp3", "gamma": 0.1}), json!({"kind": "batched-exp3", "batch": 5, "gamma": 0.1})] {
        add(format!("{policy} with Bernoulli noise"), true, last_excess(&step, &policy));
    }
    // Their decisions depend on logarithms: a last bit can change one, but these seeds have no such case.
    let policies = [
        json!({"kind": "ucb1"}),
        json!({"kind": "thompson"}),
        json!({"kind": "calibrated", "memory_bound": 4}),
        json!({"kind": "calibrated", "memory_bound": 4, "index": "kl-ucb"}),
        json!({"kind": "successive-elimination", "memory_bound": 4}),
    ];
    for noise in [json!("bernoulli"), json!({"normal": {"sd": 0.1}}), json!({"beta": {"concentration": 5.0}})] {
        let step = game(json!({"kind": "step", "arms": 6, "memory": 4, "feedback": noise}));
        for policy in &policies {
            add(format!("{policy} with {noise}"), false, last_excess(&step, policy));
        }
    }
    let race = game(json!({"kind": "fitted", "pair": "2001-german"}));
    add("losses of fitted curves".into(), false, race.losses(&[0, 0, 0, 1, 1]).unwrap().iter().sum());
    all
}

/// Prints the results for the program that started this one; on its own it checks only that they are numbers.
#[test]
fn results_are_numbers() {
    for Computed { name, value, exact } in computed() {
        assert!(value.is_finite(), "{name}: {value}");
        println!("computed\t{name}\t{}\t{exact}", value.to_bits());
    }
}

#[test]
#[cfg(all(target_os = "linux", target_env = "gnu", target_arch = "x86_64"))]
fn results_agree_without_avx2_and_fma() {
    let output = std::process::Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "results_are_numbers", "--nocapture"])
        .env("GLIBC_TUNABLES", "glibc.cpu.hwcaps=-AVX2,-AVX,-FMA,-FMA4")
        .output()
        .unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    assert!(output.status.success(), "{text}");
    let others: Vec<Vec<&str>> = text
        .lines()
        .filter_map(|line| line.split_once("computed\t"))
        .map(|(_, line)| line.split('\t').collect())
        .collect();
    let all = computed();
    assert_eq!(others.len(), all.len(), "{text}");
    for (Computed { name, value, exact }, other) in all.iter().zip(others) {
        let there = f64::from_bits(other[1].parse().unwrap());
        assert_eq!(name, other[0]);
        let agrees =
            if *exact { value.to_bits() == there.to_bits() } else { (value - there).abs() <= 1e-12 * value.abs() };
        assert!(agrees, "{name}: {value} with all instructions, {there} without AVX2 and FMA");
    }
}
