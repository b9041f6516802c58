//! What every policy of the library must do: keep the contract of `Policy` on any feedback, continue bit for bit after
//! it was saved, refuse invalid problems, and draw the pinned numbers.

#![allow(clippy::unwrap_used)]

use calibandit::policy::{AnytimeElimination, Calibrated, SuccessiveElimination};
use calibandit::rng::StreamKey;
use calibandit::testing::check_policy;
use calibandit::{
    AnyPolicy, Arm, Engine, Feedback, Game, Grid, LossCurve, Noise, Policy, PolicyError, PolicySpec, Problem, Radius,
    Run, Stream, Weights, Window, simulate,
};
use proptest::prelude::*;
use serde_json::Value;

/// The paper's unweighted game: all arms lose 0.5, but the last one 0.35 once it is calibrated.
fn step_game(arms: usize, memory: usize, noise: Noise) -> Game {
    step_game_with([0.5, 0.35], arms, memory, noise)
}

fn step_game_with([loss, calibrated]: [f64; 2], arms: usize, memory: usize, noise: Noise) -> Game {
    let arm = |x| {
        let curve = LossCurve::constant(loss);
        let curve = if x + 1 == arms { curve.when_calibrated(calibrated) } else { curve };
        Arm::new(Weights::unit(memory).unwrap(), curve, noise).unwrap()
    };
    Game::new((0..arms).map(arm).collect()).unwrap()
}

/// Every kind with default parameters and this memory bound.
fn all(memory_bound: u64) -> Vec<PolicySpec> {
    PolicySpec::catalogue().iter().map(|kind| kind.example.clone().with_memory_bound(memory_bound)).collect()
}

fn build(spec: &PolicySpec, arms: usize, horizon: u64) -> AnyPolicy {
    spec.build(&Problem { arms, horizon: Some(horizon) }, StreamKey::new(1, "policies", 0).policy()).unwrap()
}

/// A game that is played run by run, so that a policy can be examined between two runs.
#[derive(Clone)]
struct RunByRun {
    game: Game,
    window: Window,
    noise: Stream,
    left: u64,
}

impl RunByRun {
    fn new(game: Game, seed: u64, horizon: u64) -> Self {
        let window = game.empty_window();
        Self { game, window, noise: StreamKey::new(seed, "policies", 0).noise(), left: horizon }
    }

    /// One run, reported if the horizon does not cut it; `None` once there are no plays left.
    fn run(&mut self, policy: &mut AnyPolicy) -> Option<Run> {
        if self.left == 0 {
            return None;
        }
        let run = policy.next_run();
        assert!(run.plays() > 0 && run.arm < self.game.arms().len(), "{run:?}");
        let mut feedback = Feedback::default();
        for play in 0..run.plays().min(self.left) {
            let loss = self.game.play(run.arm, &mut self.window);
            if play >= run.burn_in {
                feedback += Feedback::one(self.game.arms()[run.arm].noise().draw(loss, &mut self.noise));
            }
        }
        if run.plays() <= self.left {
            policy.observe(run, feedback);
        }
        self.left = self.left.saturating_sub(run.plays());
        Some(run)
    }
}

/// JSON has no NaN and no infinities: they become null. So a state without null has only finite numbers.
fn assert_finite(policy: &AnyPolicy) {
    let text = serde_json::to_string(policy).unwrap();
    let state: Value = serde_json::from_str(&text).unwrap();
    fn nulls(value: &Value) -> usize {
        match value {
            Value::Null => 1,
            Value::Array(values) => values.iter().map(nulls).sum(),
            // A certificate is null before the first complete epoch.
            Value::Object(fields) => {
                fields.iter().filter(|(name, _)| *name != "certificate").map(|(_, v)| nulls(v)).sum()
            }
            _ => 0,
        }
    }
    assert_eq!(nulls(&state), 0, "{text}");
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 40, ..ProptestConfig::default() })]

    /// A policy that was saved and restored after any number of runs continues bit for bit as the original does.
    #[test]
    fn a_restored_policy_continues_bit_for_bit(
        seed in 0u64..1 << 40,
        arms in 1usize..6,
        runs in 0usize..400,
        normal in any::<bool>(),
    ) {
        let horizon = 3000;
        let noise = if normal { Noise::Normal { sd: 0.7 } } else { Noise::Bernoulli };
        for spec in all(3) {
            let problem = Problem { arms, horizon: Some(horizon) };
            let mut policy = spec.build(&problem, StreamKey::new(seed, "policies", 1).policy()).unwrap();
            let mut game = RunByRun::new(step_game(arms, 3, noise), seed, horizon);
            for _ in 0..runs {
                game.run(&mut policy);
            }
            let mut restored: AnyPolicy = serde_json::from_str(&serde_json::to_string(&policy).unwrap()).unwrap();
            prop_assert_eq!(&restored, &policy);
            let mut other_game = game.clone();
            loop {
                let run = game.run(&mut policy);
                prop_assert_eq!(run, other_game.run(&mut restored));
                if run.is_none() {
                    break;
                }
            }
            prop_assert_eq!(serde_json::to_string(&restored).unwrap(), serde_json::to_string(&policy).unwrap());
            prop_assert_eq!(restored.recommend(), policy.recommend());
            prop_assert_eq!(restored.certificate(), policy.certificate());
        }
    }

    /// Losses far outside [0, 1], as normal feedback may give, leave every number finite.
    #[test]
    fn unbounded_losses_keep_the_state_finite(
        seed in 0u64..1 << 40,
        arms in 1usize..5,
        sd in prop::sample::select(vec![0.5, 50.0, 1e9]),
    ) {
        for spec in all(2) {
            let mut policy = build(&spec, arms, 2000);
            let mut game = RunByRun::new(step_game(arms, 2, Noise::Normal { sd }), seed, 2000);
            while game.run(&mut policy).is_some() {}
            assert_finite(&policy);
            prop_assert!(policy.recommend() < arms);
        }
    }
}

#[test]
fn every_policy_keeps_the_contract() {
    let indices =
        ["challenge", "empirical-bayes", "cautious", "kl-ucb", "moss", "bernstein", "imed", "thompson", "elimination"];
    let calibrated = |memory_bound| {
        let index = |name| serde_json::from_value(serde_json::json!(name)).unwrap();
        indices.map(|name| PolicySpec::from(Calibrated::builder(memory_bound).index(index(name))))
    };
    for (arms, memory_bound, horizon) in
        [(1, 3, Some(500)), (2, 1, Some(3_000)), (5, 3, Some(100_000)), (40, 7, Some(1_000_000_000)), (4, 2, None)]
    {
        let problem = Problem { arms, horizon };
        for spec in all(memory_bound).into_iter().chain(calibrated(memory_bound)) {
            let make = || spec.build(&problem, StreamKey::new(1, "contract", 0).policy());
            // Some need a horizon, and some cannot plan over so many windows.
            if let Err(PolicyError::HorizonNeeded { .. } | PolicyError::PlanTooLarge { .. }) = make() {
                continue;
            }
            check_policy(&problem, || make().unwrap()).unwrap_or_else(|error| panic!("{}: {error}", spec.label()));
        }
    }
}

#[test]
fn every_policy_plays_a_single_arm() {
    for spec in all(3) {
        let mut policy = build(&spec, 1, 500);
        let game = step_game(1, 3, Noise::Bernoulli);
        for engine in [Engine::Leaping, Engine::Stepwise] {
            let mut noise = StreamKey::new(1, "one", 0).noise();
            let played = simulate(&game, &mut policy, &Grid::end(500).unwrap(), engine, &mut noise).unwrap();
            assert_eq!(played.plays, [500], "{}", spec.label());
        }
        assert_eq!(policy.recommend(), 0);
        assert_finite(&policy);
    }
}

/// A resolved specification builds the same policy and has a value for every parameter.
#[test]
fn resolved_specs_build_the_same_policy() {
    let problem = Problem { arms: 4, horizon: Some(100_000) };
    for spec in all(3) {
        let resolved = spec.resolve(&problem).unwrap();
        let fresh = || StreamKey::new(9, "resolve", 0).policy();
        assert_eq!(resolved.build(&problem, fresh()).unwrap(), spec.build(&problem, fresh()).unwrap());
        assert_eq!(resolved.resolve(&problem).unwrap(), resolved);
        let file = serde_json::to_value(&resolved).unwrap();
        let kind = PolicySpec::catalogue().iter().find(|kind| kind.name == spec.kind()).unwrap();
        for parameter in &kind.parameters {
            assert!(file.get(&parameter.name).is_some(), "{}: {}", kind.name, parameter.name);
        }
        assert_eq!(serde_json::from_value::<PolicySpec>(file).unwrap(), resolved);
    }
}

#[test]
fn invalid_problems_and_parameters_are_refused_by_every_policy() {
    let fresh = || StreamKey::new(1, "errors", 0).policy();
    for spec in all(3) {
        let refused = |arms, horizon| spec.build(&Problem { arms, horizon }, fresh()).unwrap_err();
        assert_eq!(refused(0, Some(100)), PolicyError::NoArms);
        assert_eq!(refused(usize::MAX, Some(100)), PolicyError::TooManyArms { arms: usize::MAX });
        assert_eq!(refused(2, Some(0)), PolicyError::NoHorizon);
    }
    let problem = Problem { arms: 2, horizon: Some(1000) };
    for spec in all(0).iter().filter(|spec| spec.memory_bound().is_some()) {
        let refused = spec.build(&problem, fresh()).unwrap_err();
        assert!(matches!(refused, PolicyError::Parameter { parameter: "memory_bound", value: 0.0, .. }), "{refused}");
    }
    for delta in [0.0, 1.0, -0.5, 1.5, f64::NAN, f64::INFINITY] {
        for spec in [
            PolicySpec::from(SuccessiveElimination::builder(3).delta(delta)),
            PolicySpec::from(AnytimeElimination::builder(3).delta(delta)),
        ] {
            let refused = spec.build(&problem, fresh()).unwrap_err();
            assert!(matches!(refused, PolicyError::Parameter { parameter: "delta", .. }), "{refused}");
        }
    }
    let below_one_epoch = PolicySpec::from(SuccessiveElimination::builder(u64::MAX));
    let refused = below_one_epoch.build(&Problem { arms: 2, horizon: Some(u64::MAX) }, fresh()).unwrap_err();
    assert!(matches!(refused, PolicyError::HorizonTooShort { needed, .. } if needed == 8 * u128::from(u64::MAX)));
}

/// The epoch that the horizon cuts eliminates nothing, however large the difference.
#[test]
fn a_cut_epoch_eliminates_nothing() {
    let radius = Radius::Constant(1e-9);
    let spec = PolicySpec::from(SuccessiveElimination::builder(3).radius(radius));
    // Two arms: the first epoch takes 4·2·3 = 24 plays, and only the second arm is good.
    let after = |plays| {
        let mut policy = build(&spec, 2, 24);
        let mut game = RunByRun::new(step_game(2, 3, Noise::None), 1, plays);
        while game.run(&mut policy).is_some() {}
        policy
    };
    assert_eq!(after(24).certificate().unwrap().arms, [1]);
    let mut cut = after(23);
    assert_eq!(cut.certificate(), None);
    assert_eq!(cut.next_run(), Run { arm: 1, burn_in: 6, record: 6 });
}

#[test]
fn labels_distinguish_policies() {
    let labels: Vec<_> = all(3).iter().map(PolicySpec::label).collect();
    assert_eq!(
        labels,
        [
            "calibrated",
            "SE",
            "SE (anytime)",
            "EXP3",
            "EXP3B",
            "UCB (epochs)",
            "UCB1",
            "Thompson",
            "ETC",
            "pilot",
            "RAW-UCB",
            "FEWA",
            "SWA",
            "wSWA",
            "greedy",
            "Heidari A1",
            "SPO",
            "R-ed-UCB",
            "R-UCBE",
            "R-SR",
            "SW-UCB",
            "D-UCB",
            "planner",
            "rotation"
        ]
    );
    for (radius, label) in [
        (Radius::Hoeffding, "SE (hoeffding)"),
        (Radius::Difference, "SE (difference)"),
        (Radius::Constant(0.1), "SE (c = 0.1)"),
    ] {
        let spec = SuccessiveElimination::builder(3).radius(radius);
        assert_eq!(PolicySpec::from(spec).label(), label);
    }
}

/// Pinned values: they do not say what is right, only that the drawn numbers have not changed. If one does, every
/// seeded result of this kind of policy changes with it, and the changelog must say so.
#[test]
fn pinned_plays_of_every_policy() {
    // A gap so large that even the widest radius eliminates.
    let game = step_game_with([0.9, 0.1], 4, 3, Noise::Bernoulli);
    let mut found = Vec::new();
    for spec in all(3) {
        let mut policy = build(&spec, 4, 100_000);
        let mut noise = StreamKey::new(1, "pinned", 0).noise();
        let played = simulate(&game, &mut policy, &Grid::end(100_000).unwrap(), Engine::Stepwise, &mut noise).unwrap();
        found.push((spec.kind(), played.plays.clone(), played.last().switches));
    }
    let pinned = [
        ("calibrated", vec![34, 34, 34, 99898], 3),
        ("successive-elimination", vec![6132, 6132, 6132, 81604], 35),
        ("anytime-elimination", vec![12276, 12276, 12276, 63172], 39),
        ("exp3", vec![2435, 2320, 2088, 93157], 8600),
        ("batched-exp3", vec![2145, 2132, 1989, 93734], 731),
        ("epoch-ucb", vec![93, 93, 81, 99733], 146),
        ("ucb1", vec![38, 32, 51, 99879], 124),
        ("thompson", vec![5, 5, 4, 99986], 21),
        ("explore-then-commit", vec![1933, 1933, 1933, 94201], 3),
        ("pilot", vec![2482, 2552, 2403, 92563], 4965),
        ("raw-ucb", vec![21, 13, 19, 99947], 41),
        ("fewa", vec![41, 41, 41, 99877], 111),
        ("swa", vec![620, 620, 620, 98140], 3),
        ("wswa", vec![1239, 1208, 1207, 96346], 65),
        ("greedy", vec![99996, 1, 2, 1], 5),
        ("heidari", vec![2, 2, 99994, 2], 8),
        ("spo", vec![99966, 11, 11, 12], 6),
        ("rising-ucb", vec![33194, 32269, 31682, 2855], 11110),
        ("rising-ucbe", vec![29093, 27950, 28331, 14626], 5962),
        ("rising-halving", vec![31578, 21052, 15789, 31581], 8),
        ("sliding-ucb", vec![171, 175, 187, 99467], 628),
        ("discounted-ucb", vec![1949, 1980, 1975, 94096], 9857),
        ("planner", vec![34, 25, 41, 99900], 50),
        ("rotation", vec![39, 34, 37, 99890], 66),
    ];
    assert_eq!(found, pinned);
}
