//! Every parameter's error, and that no parameters make a draw panic.

use calibandit::zoo::*;
use calibandit::{ArmError, GameError, GameSpec, Linear, LossCurveSpec, Noise, optimum};
use proptest::prelude::*;

use super::instance;

#[track_caller]
fn refused(spec: impl Into<GameSpec>) -> GameError {
    spec.into().draw(&mut instance(0)).unwrap_err()
}

/// The spec is refused, and the error names this parameter.
#[track_caller]
fn names(expected: &str, spec: impl Into<GameSpec>) {
    match refused(spec) {
        GameError::Parameter { parameter, .. } => assert_eq!(parameter, expected),
        other => panic!("{other:?} instead of an error about {expected}"),
    }
}

const BAD: [f64; 4] = [f64::NAN, -0.1, 1.1, f64::INFINITY];

#[test]
fn step() {
    let game = Step::default();
    names("arms", Step { arms: 0, ..game.clone() });
    names("arms", Step { arms: 1_000_001, ..game.clone() });
    names("memory", Step { memory: 0, ..game.clone() });
    names("memory", Step { memory: usize::MAX, ..game.clone() });
    for bad in BAD {
        names("usual_loss", Step { usual_loss: bad, ..game.clone() });
        names("best_loss", Step { best_loss: bad, ..game.clone() });
    }
    names("best_loss", Step { usual_loss: 0.3, best_loss: 0.4, ..game.clone() });
    names("best_arm", Step { best_arm: Some(5), ..game.clone() });
    names("feedback.normal.sd", Step { feedback: Noise::Normal { sd: f64::NAN }, ..game.clone() });
    names("feedback.beta.concentration", Step { feedback: Noise::Beta { concentration: 0.0 }, ..game.clone() });
    assert!(Step { arms: 1, memory: 1, usual_loss: 0.3, best_loss: 0.3, ..game }.draw(&mut instance(0)).is_ok());
}

#[test]
fn alpha_reo() {
    let game = AlphaReo::default();
    names("arms", AlphaReo { arms: 1, ..game.clone() });
    names("memory", AlphaReo { memory: 0, ..game.clone() });
    names("memory", AlphaReo { memory: 1, ..game.clone() });
    names("memory", AlphaReo { memory: 1 << 30, ..game.clone() });
    names("best_arm", AlphaReo { best_arm: Some(9), ..game.clone() });
    names("decoy_arm", AlphaReo { decoy_arm: Some(9), ..game.clone() });
    names("decoy_arm", AlphaReo { best_arm: Some(2), decoy_arm: Some(2), ..game.clone() });
    names("feedback.normal.sd", AlphaReo { feedback: Noise::Normal { sd: 0.0 }, ..game });
}

#[test]
fn decay_and_darts() {
    let game = Decay::default();
    names("arms", Decay { arms: 0, ..game.clone() });
    names("memory", Decay { memory: 0, ..game.clone() });
    names("memory", Decay { memory: 1001, ..game.clone() });
    names("best_arm", Decay { best_arm: Some(5), ..game.clone() });
    names("feedback.normal.sd", Decay { feedback: Noise::Normal { sd: -1.0 }, ..game });
    let game = Darts::default();
    names("arms", Darts { arms: 0, ..game.clone() });
    for bad in BAD {
        names("first_toss", Darts { first_toss: Span::One(bad), ..game.clone() });
        names("first_toss", Darts { first_toss: Span::Between([0.5, bad]), ..game.clone() });
        names("calibrated", Darts { calibrated: Span::Between([bad, 0.5]), ..game.clone() });
    }
    names("calibrated", Darts { calibrated: Span::Between([0.5, 0.4]), ..game.clone() });
    names("feedback.normal.sd", Darts { feedback: Noise::Normal { sd: -1.0 }, ..game });
}

#[test]
fn race() {
    let model = FittedModel { name: None, alpha: 0.1, beta: 0.5, gamma: 0.0, sd: 0.1 };
    assert_eq!(refused(Fitted::of(vec![], 3)), GameError::NoArms);
    names("memory", Fitted::of(vec![model.clone()], 0));
    names("memory", Fitted::of(vec![model.clone()], usize::MAX));
    for (alpha, beta, gamma, sd) in [
        (f64::NAN, 0.5, 0.0, 0.1),
        (0.1, f64::NAN, 0.0, 0.1),
        (0.1, 0.5, f64::NAN, 0.1),
        (0.1, 0.5, 0.0, f64::NAN),
        (-1.0, 0.5, 0.0, 0.1),
        (0.1, 2.0, 0.0, 0.1),
        (0.1, 0.5, 0.3, 0.1),
        (0.1, 0.5, 0.0, 0.0),
    ] {
        let bad = FittedModel { name: None, alpha, beta, gamma, sd };
        let error = refused(Fitted::of(vec![model.clone(), bad], 3));
        assert!(matches!(error, GameError::Arm { arm: 1, .. }), "{error}");
    }
}

#[test]
fn basketball() {
    let game = Basketball::default();
    names("weights", Basketball { weights: vec![], ..game.clone() });
    names("best_arm", Basketball { best_arm: Some(2), ..game.clone() });
    names("feedback.normal.sd", Basketball { feedback: Noise::Normal { sd: 0.0 }, ..game.clone() });
    let error = refused(Basketball { weights: vec![1.0, f64::NAN], ..game.clone() });
    assert!(matches!(error, GameError::Arm { source: ArmError::Weight { position: 1, .. }, .. }));
    for bad in [Linear { intercept: f64::NAN, slope: 0.0 }, Linear { intercept: 1.0, slope: -1.0 }] {
        assert!(matches!(refused(Basketball { first: bad, ..game.clone() }), GameError::Arm { arm: 0, .. }));
        assert!(matches!(refused(Basketball { second: bad, ..game.clone() }), GameError::Arm { arm: 1, .. }));
    }
}

#[test]
fn lower_bounds() {
    names("memory", Needle { memory: 0, ..Needle::default() });
    names("memory", Needle { memory: 51, ..Needle::default() });
    names("best_arm", Needle { best_arm: Some(2), ..Needle::default() });
    names("feedback.normal.sd", Needle { feedback: Noise::Normal { sd: 0.0 }, ..Needle::default() });
    names("arms", AdaptivityA { arms: 1, ..AdaptivityA::default() });
    names("best_arm", AdaptivityA { best_arm: Some(2), ..AdaptivityA::default() });
    names("feedback.normal.sd", AdaptivityA { feedback: Noise::Normal { sd: 0.0 }, ..AdaptivityA::default() });
    let b = AdaptivityB::default();
    names("arms", AdaptivityB { arms: 1, ..b.clone() });
    names("memory_bound", AdaptivityB { memory_bound: 0, ..b.clone() });
    names("memory_bound", AdaptivityB { memory_bound: 1 << 40, ..b.clone() });
    names("best_arm", AdaptivityB { best_arm: Some(2), ..b.clone() });
    names("safe_arm", AdaptivityB { safe_arm: Some(2), ..b.clone() });
    names("best_arm", AdaptivityB { safe_arm: Some(1), best_arm: Some(1), ..b.clone() });
    names("feedback.normal.sd", AdaptivityB { feedback: Noise::Normal { sd: 0.0 }, ..b });
}

#[test]
fn stochastic() {
    let by_arms = Stochastic { arms: Some(3), ..Stochastic::default() };
    names("arms", Stochastic { arms: Some(0), ..by_arms.clone() });
    names("best_arm", Stochastic { best_arm: Some(3), ..by_arms.clone() });
    for bad in BAD {
        names("usual_loss", Stochastic { usual_loss: Some(bad), ..by_arms.clone() });
        names("best_loss", Stochastic { best_loss: Some(bad), ..by_arms.clone() });
    }
    names("feedback.normal.sd", Stochastic { feedback: Noise::Normal { sd: 0.0 }, ..by_arms });
    assert!(matches!(refused(Stochastic::default()), GameError::Missing { .. }));
    let given = |losses: &[f64]| Stochastic { losses: Some(losses.to_vec()), ..Stochastic::default() };
    assert_eq!(refused(given(&[])), GameError::NoArms);
    assert!(matches!(refused(given(&[0.5, f64::NAN])), GameError::Arm { arm: 1, .. }));
    for (other, spec) in [
        ("arms", Stochastic { arms: Some(2), ..given(&[0.5]) }),
        ("usual_loss", Stochastic { usual_loss: Some(0.5), ..given(&[0.5]) }),
        ("best_loss", Stochastic { best_loss: Some(0.5), ..given(&[0.5]) }),
        ("best_arm", Stochastic { best_arm: Some(0), ..given(&[0.5]) }),
    ] {
        assert_eq!(refused(spec), GameError::Conflict { one: "losses", other });
    }
}

#[test]
fn random_reo() {
    let game = RandomReo::default();
    names("arms", RandomReo { arms: 0, ..game.clone() });
    for memory in [Span::One(0), Span::Between([0, 3]), Span::Between([3, 2]), Span::Between([1, usize::MAX])] {
        names("memory", RandomReo { memory, ..game.clone() });
    }
    names("memory", RandomReo { memory: Span::Between([1, 3]), alpha: 0.1, ..game.clone() });
    names("memory", RandomReo { memory: Span::One(1001), weights: WeightFamily::Decay, ..game.clone() });
    for bad in BAD {
        names("alpha", RandomReo { alpha: bad, ..game.clone() });
        names("gap", RandomReo { gap: Span::One(bad), ..game.clone() });
        names("gap", RandomReo { gap: Span::Between([0.1, bad]), ..game.clone() });
        names("best_loss", RandomReo { best_loss: Some(Span::One(bad)), ..game.clone() });
    }
    names("alpha", RandomReo { alpha: 0.8, ..game.clone() });
    names("best_loss", RandomReo { alpha: 0.2, best_loss: Some(Span::One(0.1)), ..game.clone() });
    names("best_loss", RandomReo { best_loss: Some(Span::One(0.9)), ..game.clone() });
    names("best_arm", RandomReo { best_arm: Some(5), ..game.clone() });
    names("feedback.normal.sd", RandomReo { feedback: Noise::Normal { sd: 0.0 }, ..game });
}

#[test]
fn custom() {
    let constant = LossCurveSpec { constant: Some(0.5), ..LossCurveSpec::default() };
    let arm =
        ArmSpec { memory: Some(2.into()), loss: Some(constant.clone()), feedback: Noise::None, ..ArmSpec::default() };
    let second = |bad: ArmSpec| match refused(Custom { arm: vec![arm.clone(), bad], ..Custom::default() }) {
        GameError::Arm { arm: 1, source, .. } => source,
        other => panic!("{other:?}"),
    };
    assert_eq!(refused(Custom { arm: vec![], ..Custom::default() }), GameError::NoArms);
    assert_eq!(second(ArmSpec { memory: None, ..arm.clone() }), ArmError::NoWeights);
    assert_eq!(second(ArmSpec { weights: Some(vec![1.0]), ..arm.clone() }), ArmError::WeightsAndMemory);
    assert_eq!(second(ArmSpec { memory: Some(0.into()), ..arm.clone() }), ArmError::NoMemory);
    assert_eq!(second(ArmSpec { memory: None, weights: Some(vec![]), ..arm.clone() }), ArmError::NoMemory);
    assert_eq!(second(ArmSpec { loss: Some(LossCurveSpec::default()), ..arm.clone() }), ArmError::NoShape);
    assert_eq!(second(ArmSpec { loss: None, ..arm.clone() }), ArmError::NoCurve);
    assert_eq!(second(ArmSpec { reward: Some(constant.clone()), ..arm.clone() }), ArmError::LossAndReward);
    let rewarded = ArmSpec { loss: None, reward: Some(constant), ..arm.clone() };
    let without = Custom { arm: vec![rewarded.clone()], ..Custom::default() };
    assert_eq!(refused(without.clone()), GameError::NoRewards { arm: 0, name: None });
    let turned = Custom { rewards: Some([1.0, 0.0]), ..without.clone() };
    assert_eq!(refused(turned), GameError::Rewards { low: 1.0, high: 0.0 });
    let too_large = refused(Custom { rewards: Some([0.0, 0.25]), ..without });
    assert!(matches!(too_large, GameError::Arm { source: ArmError::Curve { .. }, .. }), "{too_large}");
    let bad = ArmSpec { feedback: Noise::Normal { sd: f64::NAN }, ..arm.clone() };
    assert!(matches!(second(bad), ArmError::Noise { .. }));
    names("memory", Custom { arm: vec![ArmSpec { memory: Some(usize::MAX.into()), ..arm }], ..Custom::default() });
}

#[test]
fn arm_names() {
    let called = |name: &str| ArmSpec {
        name: Some(name.to_owned()),
        memory: Some(2.into()),
        loss: Some(LossCurveSpec { constant: Some(0.5), ..LossCurveSpec::default() }),
        feedback: Noise::None,
        ..ArmSpec::default()
    };
    let unnamed = ArmSpec { name: None, ..called("") };
    let good =
        Custom { arm: vec![called("bob"), unnamed.clone(), called("Bob"), unnamed.clone()], ..Custom::default() };
    let game = good.draw(&mut instance(0)).unwrap();
    let names: Vec<Option<&str>> = (0..5).map(|x| game.arm_name(x)).collect();
    assert_eq!(names, [Some("bob"), None, Some("Bob"), None, None]);
    assert_eq!([0, 1].map(|x| game.arm_label(x)), ["bob", "1"]);
    // Names do not matter to the mathematics: the arms remain interchangeable, and the optimum is that of one arm.
    assert_eq!(optimum(&game, 100).unwrap().loss, 50.0);

    let same = refused(Custom { arm: vec![called("bob"), unnamed, called("bob")], ..Custom::default() });
    assert_eq!(same, GameError::SameName { name: "bob".to_owned(), first: 0, arm: 2 });
    assert!(same.to_string().contains("arm 2 has the name `bob`, which arm 0 has too"), "{same}");
    let empty = refused(Custom { arm: vec![called("bob"), called("")], ..Custom::default() });
    assert!(matches!(&empty, GameError::Arm { arm: 1, name: None, source: ArmError::Name { .. } }), "{empty:?}");
    let loss = Some(LossCurveSpec { constant: Some(2.0), ..LossCurveSpec::default() });
    let wrong = refused(Custom { arm: vec![called("ann"), ArmSpec { loss, ..called("bob") }], ..Custom::default() });
    assert!(wrong.to_string().starts_with("arm 1 (bob): the loss curve is 2 at"), "{wrong}");

    let model = |name: &str| FittedModel { name: Some(name.to_owned()), alpha: 0.0, beta: 0.5, gamma: 0.0, sd: 0.1 };
    let same = refused(Fitted::of(vec![model("bob"), model("bob")], 3));
    assert_eq!(same, GameError::SameName { name: "bob".to_owned(), first: 0, arm: 1 });
}

#[test]
fn messages_say_what_and_what_to_do() {
    let message = refused(Step { memory: 0, ..Step::default() }).to_string();
    assert_eq!(message, "`memory` must be at least 1 (1 is the plain stochastic bandit), but is 0");
    let message = refused(Stochastic::default()).to_string();
    assert_eq!(message, "`losses` or `arms` must be given");
    let both = Stochastic { losses: Some(vec![0.5]), arms: Some(2), ..Stochastic::default() };
    assert_eq!(refused(both).to_string(), "`losses` and `arms` cannot both be given: leave one of them out");
}

/// Small numbers, edges, and nonsense.
fn size() -> impl Strategy<Value = usize> {
    prop_oneof![6 => 0usize..20, 1 => Just(usize::MAX), 1 => Just(1 << 32), 1 => any::<usize>()]
}

fn number() -> impl Strategy<Value = f64> {
    prop_oneof![4 => 0.0..=1.0f64, 1 => Just(0.0), 1 => Just(1.0), 2 => any::<f64>(), 1 => Just(f64::NAN)]
}

fn noise() -> impl Strategy<Value = Noise> {
    prop_oneof![
        Just(Noise::Bernoulli),
        Just(Noise::None),
        number().prop_map(|sd| Noise::Normal { sd }),
        number().prop_map(|concentration| Noise::Beta { concentration }),
    ]
}

fn span() -> impl Strategy<Value = Span<f64>> {
    prop_oneof![number().prop_map(Span::One), [number(), number()].prop_map(Span::Between)]
}

prop_compose! {
    fn curve()(constant in prop::option::of(number()),
               by_plays in prop::option::of(prop::collection::vec(number(), 0..4)),
        line in prop::option::of((number(), number())), lap in prop::option::of((number(), number(), number())),
        calibrated in prop::option::of(number()), alone in prop::option::of(number())) -> LossCurveSpec {
        LossCurveSpec {
            constant, by_plays, calibrated, alone, needle: None,
            linear: line.map(|(intercept, slope)| Linear { intercept, slope }),
            exponential_linear: lap.map(|(alpha, beta, gamma)| calibandit::ExponentialLinear { alpha, beta, gamma }),
            ..LossCurveSpec::default()
        }
    }
}

prop_compose! {
    fn any_spec()(which in 0usize..12, arms in size(), memory in size(), other in size(), a in number(), b in number(),
        c in number(), d in number(), best_arm in prop::option::of(size()), second_arm in prop::option::of(size()),
        feedback in noise(), first_span in span(), second_span in span(), flag in any::<bool>(),
        weights in prop::option::of(prop::collection::vec(number(), 0..5)), loss in curve(),
        family in 0usize..5) -> GameSpec {
        match which {
            0 => Step { arms, memory, usual_loss: a, best_loss: b, best_arm, feedback }.into(),
            1 => AlphaReo { arms, memory, best_arm, decoy_arm: second_arm, feedback }.into(),
            2 => Decay { arms, memory, best_arm, feedback }.into(),
            3 => Darts { arms, first_toss: first_span, calibrated: second_span, feedback }.into(),
            4 => {
                let model = FittedModel { name: None, alpha: a, beta: b, gamma: c, sd: d };
                Fitted::of(vec![model; arms % 4], memory).into()
            }
            5 => Basketball {
                weights: weights.unwrap_or_default(),
                first: Linear { intercept: a, slope: b },
                second: Linear { intercept: c, slope: d },
                best_arm,
                feedback,
            }
            .into(),
            6 => Needle { memory, best_arm, feedback }.into(),
            7 => AdaptivityA { arms, best_arm, feedback }.into(),
            8 => AdaptivityB { arms, memory_bound: memory, best_arm, safe_arm: second_arm, feedback }.into(),
            9 => Stochastic {
                losses: weights,
                arms: flag.then_some(arms),
                usual_loss: flag.then_some(a),
                best_loss: flag.then_some(b),
                best_arm,
                feedback,
            }
            .into(),
            10 => RandomReo {
                arms,
                memory: if flag { Span::One(memory) } else { Span::Between([memory, other]) },
                own_memory: flag,
                alpha: a,
                gap: first_span,
                best_loss: if flag { Some(second_span) } else { None },
                best_arm,
                weights: [WeightFamily::Unit, WeightFamily::Random, WeightFamily::Decay][family % 3],
                curve: [CurveFamily::Step, CurveFamily::Linear, CurveFamily::Falling, CurveFamily::Rough,
                    CurveFamily::Mixed][family],
                feedback,
            }
            .into(),
            _ => {
                let memory = flag.then_some(memory.into());
                let (loss, reward) = if family % 2 == 0 { (Some(loss), None) } else { (None, Some(loss)) };
                let arm = ArmSpec { weights, memory, loss, reward, feedback, ..ArmSpec::default() };
                Custom { arm: vec![arm; other % 3], rewards: flag.then_some([a, b]), ..Custom::default() }.into()
            }
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(4000))]
    #[test]
    #[ignore = "slow: thousands of random games"]
    fn no_parameters_make_a_draw_panic(spec in any_spec(), seed in any::<u64>()) {
        // Neither do they make the other methods panic; and what is drawn is a game that can be played.
        spec.title();
        spec.is_random();
        if let Ok(game) = spec.draw(&mut instance(seed)) {
            for x in 0..game.arms().len().min(3) {
                prop_assert!(game.losses(&[x; 5]).is_ok());
            }
            prop_assert!((0.0..=1.0).contains(&game.best_loss()));
        }
    }
}
