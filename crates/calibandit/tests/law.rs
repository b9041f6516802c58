//! The leaping and the stepwise engine have the same law, for every policy and every kind of noise.
//!
//! Fixed seeds: each test either always passes or always fails. About 400 comparisons are made at a level of 1e-5, so
//! a correct program would fail for about one choice of seeds in 250.

#![allow(clippy::unwrap_used)] // a test may panic

mod common;

use calibandit::rng::StreamKey;
use calibandit::{
    Arm, Certificate, Engine, Feedback, Game, Grid, LossCurve, Noise, Policy, PolicySpec, Problem, Run, Weights,
    simulate,
};
use common::kolmogorov_smirnov;
use serde_json::json;

const LEVEL: f64 = 1e-5;
const INSTANCES: u64 = 2000;
const HORIZON: u64 = 300;
const MEMORY: usize = 3;

/// Forwards to a policy and adds up its feedback.
struct FeedbackSum<P> {
    policy: P,
    total: Feedback,
}

impl<P: Policy> Policy for FeedbackSum<P> {
    fn next_run(&mut self) -> Run {
        self.policy.next_run()
    }
    fn observe(&mut self, run: Run, feedback: Feedback) {
        self.total += feedback;
        self.policy.observe(run, feedback);
    }
    fn recommend(&self) -> usize {
        self.policy.recommend()
    }
    fn certificate(&self) -> Option<Certificate> {
        self.policy.certificate()
    }
}

/// Three arms with different memories, of which the last is the best when calibrated.
fn game(noise: Noise) -> Game {
    let arm = |weights, curve| Arm::new(Weights::new(weights).unwrap(), curve, noise).unwrap();
    Game::new(vec![
        arm(vec![1.0; 2], LossCurve::constant(0.5)),
        arm(vec![1.0, 0.5, 0.25], LossCurve::linear(0.8, -0.2)),
        arm(vec![1.0; MEMORY], LossCurve::by_plays([0.7, 0.6, 0.25])),
    ])
    .unwrap()
}

/// Every policy, with parameters for a short horizon: few epochs, so that eliminations and commitments happen.
fn policies() -> Vec<PolicySpec> {
    let policies = json!([
        {"kind": "calibrated", "memory_bound": MEMORY},
        {"kind": "successive-elimination", "memory_bound": MEMORY, "radius": 0.05},
        {"kind": "anytime-elimination", "memory_bound": MEMORY, "delta": 0.008},
        {"kind": "exp3"},
        {"kind": "batched-exp3", "batch": 7},
        {"kind": "epoch-ucb", "memory_bound": MEMORY},
        {"kind": "ucb1"},
        {"kind": "thompson"},
        {"kind": "explore-then-commit", "memory_bound": MEMORY, "explore": 20},
        // Too short for a pilot; tests/pilot.rs has one that is not.
        {"kind": "pilot", "longest": MEMORY},
        {"kind": "raw-ucb"},
        {"kind": "fewa"},
        {"kind": "swa"},
        {"kind": "wswa"},
        {"kind": "greedy"},
        {"kind": "heidari"},
        {"kind": "spo", "band": 0.6},
        {"kind": "rising-ucb", "sd": 0.05},
        {"kind": "rising-ucbe", "sd": 0.05},
        {"kind": "rising-halving"},
        {"kind": "sliding-ucb", "window": 100},
        {"kind": "discounted-ucb"},
        {"kind": "planner", "memory_bound": MEMORY},
        {"kind": "rotation", "memory_bound": MEMORY},
    ]);
    let policies: Vec<PolicySpec> = serde_json::from_value(policies).unwrap();
    assert_eq!(policies.len(), PolicySpec::KINDS.len(), "one policy per kind is tested");
    policies
}

/// The compared numbers: sum and sum of squares of the feedback, plays of the best and of the first arm, final excess.
fn sample(spec: &PolicySpec, noise: Noise, engine: Engine) -> [Vec<f64>; 5] {
    let game = game(noise);
    let name = format!("{engine:?}");
    let mut columns = [const { Vec::new() }; 5];
    for instance in 0..INSTANCES {
        let problem = Problem { arms: 3, horizon: Some(HORIZON) };
        let policy = spec.build(&problem, StreamKey::new(7, &name, instance).policy()).unwrap();
        let mut policy = FeedbackSum { policy, total: Feedback::default() };
        let mut draws = StreamKey::new(7, &name, instance).noise();
        let played = simulate(&game, &mut policy, &Grid::end(HORIZON).unwrap(), engine, &mut draws).unwrap();
        let values = [
            policy.total.sum,
            policy.total.sum_sq,
            played.plays[2] as f64,
            played.plays[0] as f64,
            played.last().excess,
        ];
        // Rounded, because without noise both engines give the same number up to the last bits.
        columns.iter_mut().zip(values).for_each(|(column, value)| column.push((value * 1e9).round() / 1e9));
    }
    columns
}

fn engines_agree(noise: Noise) {
    for spec in policies() {
        let stepped = sample(&spec, noise, Engine::Stepwise);
        let leapt = sample(&spec, noise, Engine::Leaping);
        let names = ["sum", "sum of squares", "plays of the best arm", "plays of the first arm", "excess"];
        for ((a, b), name) in stepped.iter().zip(&leapt).zip(names) {
            let p = kolmogorov_smirnov(a, b);
            assert!(p > LEVEL, "{} with {noise:?}: {name} differ, p = {p}", spec.label());
        }
    }
}

#[test]
#[ignore = "slow: 2000 instances of every policy on two engines"]
fn engines_agree_with_bernoulli_noise() {
    engines_agree(Noise::Bernoulli);
}

#[test]
#[ignore = "slow: 2000 instances of every policy on two engines"]
fn engines_agree_with_normal_noise() {
    engines_agree(Noise::Normal { sd: 0.3 });
}

#[test]
#[ignore = "slow: 2000 instances of every policy on two engines"]
fn engines_agree_with_beta_noise() {
    engines_agree(Noise::Beta { concentration: 4.0 });
}

#[test]
fn engines_agree_without_noise() {
    engines_agree(Noise::None);
}

/// The comparison can fail: it detects noise that is a tenth wider.
#[test]
fn a_slightly_different_noise_is_detected() {
    let spec = &policies()[1];
    let right = sample(spec, Noise::Normal { sd: 0.3 }, Engine::Leaping);
    let wrong = sample(spec, Noise::Normal { sd: 0.33 }, Engine::Stepwise);
    assert!(kolmogorov_smirnov(&right[1], &wrong[1]) < LEVEL);
}
