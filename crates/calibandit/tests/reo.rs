//! The smallest alpha against enumeration of every window.

#![allow(clippy::unwrap_used)] // a test may panic

mod games;

use calibandit::{Arm, Exposure, Game, LossCurve, Noise, ReoError, Trend, Weights, reo};
use games::{Size, draws, random_game};

/// The definition: the least loss over all arms and all windows in {1} x {0, 1}^(m-1).
fn least_loss(game: &Game) -> f64 {
    let mut least = f64::INFINITY;
    for arm in game.arms() {
        for bits in 0..1u32 << (arm.memory() - 1) {
            let window: Vec<bool> = (0..arm.memory()).map(|age| age == 0 || bits >> (age - 1) & 1 == 1).collect();
            least = least.min(arm.loss(Exposure::of(&window, arm.weights())));
        }
    }
    least
}

#[test]
fn alpha_is_that_of_the_definition() {
    let mut positive = 0;
    for instance in 0..2000 {
        let game = random_game(Size { arms: 4, memory: 8 }, &mut draws("alpha", instance));
        let found = reo(&game).unwrap();
        let expected = game.best_loss() - least_loss(&game);
        // Sums of the same weights in another order may differ in the last digit.
        assert!((found.alpha - expected).abs() < 1e-14, "instance {instance}: {} != {expected}", found.alpha);
        assert!(found.alpha >= 0.0);
        assert_eq!(found.best_arm, game.best_arm());
        let arm = &game.arms()[found.arm];
        assert_eq!((found.window.len(), found.window[0]), (arm.memory(), true));
        let attained = game.best_loss() - arm.loss(Exposure::of(&found.window, arm.weights()));
        assert_eq!(attained, found.alpha, "instance {instance}");
        positive += u32::from(found.alpha > 0.0);
    }
    assert!(positive > 200, "{positive}");
}

#[test]
fn long_memories_need_a_known_shape() {
    let with = |memory: i32, curve: LossCurve| {
        let weights = Weights::new((0..memory).map(|i| 1.0 / (1.0 + f64::from(i % 7))).collect()).unwrap();
        reo(&Game::new(vec![Arm::new(weights, curve, Noise::None).unwrap()]).unwrap())
    };
    let falling = || LossCurve::function(|tally| 1.0 / (1.0 + tally));
    let error = with(25, falling()).unwrap_err();
    assert_eq!(error, ReoError::MemoryTooLong { arm: 0, name: None, memory: 25, limit: 24 });
    assert_eq!(with(200, falling().with_trend(Trend::Decreasing)).unwrap().alpha, 0.0);
    assert_eq!(with(20, falling()).unwrap().alpha, 0.0);
    let rising = with(200, LossCurve::function(|tally| tally / (1.0 + tally)).with_trend(Trend::Increasing)).unwrap();
    assert_eq!(rising.window.iter().filter(|&&played| played).count(), 1);
    // A needle in weights 2^-i is decoded, not looked for.
    let weights = Weights::new((1..=50).map(|i| 0.5f64.powi(i)).collect()).unwrap();
    let window: Vec<bool> = (0..50).map(|age| age % 3 == 0).collect();
    let curve = LossCurve::needle(weights.tally(window.iter().copied()), 0.0, 1.0);
    let found = reo(&Game::new(vec![Arm::new(weights, curve, Noise::None).unwrap()]).unwrap()).unwrap();
    assert_eq!((found.alpha, found.window), (1.0, window));
}

#[test]
fn a_function_that_leaves_the_unit_interval_is_named() {
    let weights = Weights::new((1..=14).map(|i| 0.5f64.powi(i)).collect()).unwrap();
    let spike = weights.tally((0..14).map(|age| age % 2 == 0));
    let curve = LossCurve::function(move |tally| if tally == spike { 7.0 } else { 0.5 });
    let arm = Arm::new(weights, curve, Noise::None).unwrap();
    let game = |arm: Arm| Game::new(vec![arm]).unwrap();
    let error = reo(&game(arm.clone())).unwrap_err();
    let ReoError::CurveLeftRange(left) = &error else { panic!("{error}") };
    assert_eq!((left.arm, &left.name, left.tally), (0, &None, spike));
    assert!(error.to_string().starts_with("the loss function of arm 0 leaves [0, 1]"), "{error}");
    let error = reo(&game(arm.named("bob").unwrap())).unwrap_err();
    assert!(error.to_string().starts_with("the loss function of arm 0 (bob) leaves [0, 1]"), "{error}");
}
