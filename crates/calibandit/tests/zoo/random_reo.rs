//! The generator of random games: alpha by brute force over hundreds of draws of every family.

use calibandit::Noise;
use calibandit::zoo::{CurveFamily, RandomReo, Span, WeightFamily};
use proptest::prelude::*;

use super::{alpha, instance};

const WEIGHTS: [WeightFamily; 3] = [WeightFamily::Unit, WeightFamily::Random, WeightFamily::Decay];
const CURVES: [CurveFamily; 5] =
    [CurveFamily::Step, CurveFamily::Linear, CurveFamily::Falling, CurveFamily::Rough, CurveFamily::Mixed];

#[test]
fn every_draw_has_the_chosen_alpha() {
    for weights in WEIGHTS {
        for curve in CURVES {
            for own_memory in [false, true] {
                for (i, chosen) in [0.0, 1e-3, 0.1, 0.25, 0.7].into_iter().cycle().take(200).enumerate() {
                    let memory = Span::Between([2, 7]);
                    let spec = RandomReo {
                        arms: 4,
                        memory,
                        own_memory,
                        alpha: chosen,
                        weights,
                        curve,
                        ..RandomReo::default()
                    };
                    let game = spec.draw(&mut instance(i as u64)).unwrap();
                    let found = alpha(&game);
                    if chosen == 0.0 {
                        assert_eq!(found, 0.0, "{weights:?} {curve:?} {i}");
                    } else {
                        assert!((found - chosen).abs() < 1e-15, "{weights:?} {curve:?} {i}: {found} for {chosen}");
                    }
                }
            }
        }
    }
}

#[test]
fn gaps_and_memories_are_as_asked() {
    for i in 0..200 {
        let spec = RandomReo {
            arms: 6,
            memory: Span::Between([1, 5]),
            gap: Span::Between([0.1, 0.2]),
            best_loss: Some(Span::Between([0.3, 0.4])),
            best_arm: Some(2),
            feedback: Noise::Normal { sd: 0.1 },
            ..RandomReo::default()
        };
        let game = spec.draw(&mut instance(i)).unwrap();
        assert_eq!(game.best_arm(), 2);
        assert!((0.3..=0.4).contains(&game.best_loss()));
        for (x, arm) in game.arms().iter().enumerate().filter(|&(x, _)| x != 2) {
            let gap = arm.eventual_loss() - game.best_loss();
            assert!((0.1 - 1e-15..=0.2 + 1e-15).contains(&gap), "arm {x}: {gap}");
        }
        assert!((1..=5).contains(&game.memory()));
        assert!(game.arms().iter().all(|arm| arm.memory() == game.memory() && arm.noise() == spec.feedback));
    }
}

#[test]
fn a_single_gap_is_every_arm_s_gap() {
    let spec = RandomReo { gap: Span::One(0.25), best_loss: Some(Span::One(0.5)), ..RandomReo::default() };
    let game = spec.draw(&mut instance(0)).unwrap();
    let mut losses: Vec<f64> = game.arms().iter().map(|arm| arm.eventual_loss()).collect();
    losses.sort_by(f64::total_cmp);
    assert_eq!(losses, [0.5, 0.75, 0.75, 0.75, 0.75]);
}

#[test]
fn own_memories_differ_and_common_ones_do_not() {
    let spec = RandomReo { arms: 20, memory: Span::Between([1, 8]), own_memory: true, ..RandomReo::default() };
    let game = spec.draw(&mut instance(0)).unwrap();
    let mut memories: Vec<usize> = game.arms().iter().map(|arm| arm.memory()).collect();
    memories.sort_unstable();
    memories.dedup();
    assert!(memories.len() > 3, "{memories:?}");
    assert!(memories[0] >= 1 && game.memory() <= 8);
}

/// 0-REO allows arms other than the best to get worse with exposure; so must the games that tests rest on.
#[test]
fn some_arms_get_worse_with_exposure() {
    let worse = |curve| {
        let spec = RandomReo { arms: 10, memory: Span::One(4), gap: Span::One(0.4), curve, ..RandomReo::default() };
        let game = spec.draw(&mut instance(3)).unwrap();
        (0..10).filter(|&x| game.losses(&[x]).unwrap()[0] < game.arms()[x].eventual_loss()).count()
    };
    assert!(worse(CurveFamily::Step) > 0 && worse(CurveFamily::Linear) > 0 && worse(CurveFamily::Rough) > 0);
    assert_eq!(worse(CurveFamily::Falling), 0);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]
    /// Every choice that is not refused can be drawn, also at the edges of [0, 1], where rounding lurks.
    #[test]
    fn valid_parameters_always_draw_a_game_with_the_chosen_alpha(
        arms in 1usize..5,
        memory in 2usize..8,
        chosen in prop_oneof![Just(0.0), Just(1.0), Just(0.5), 0.0..1.0f64, Just(1e-16), Just(5e-324)],
        gap in prop_oneof![Just(0.0), Just(1.0), Just(1e-16), 0.0..1.0f64],
        place in prop_oneof![Just(0.0), Just(1.0), 0.0..1.0f64],
        weights in prop::sample::select(&WEIGHTS[..]),
        curve in prop::sample::select(&CURVES[..]),
        seed in any::<u64>(),
    ) {
        let gap = f64::min(gap, 1.0 - chosen);
        prop_assume!(chosen <= 1.0 - gap); // false only by rounding
        let mu = (chosen + place * (1.0 - gap - chosen)).clamp(chosen, 1.0 - gap);
        let spec = RandomReo {
            arms,
            memory: Span::One(memory),
            alpha: chosen,
            gap: Span::One(gap),
            best_loss: Some(Span::One(mu)),
            weights,
            curve,
            ..RandomReo::default()
        };
        let found = alpha(&spec.draw(&mut instance(seed)).unwrap());
        if chosen == 0.0 {
            prop_assert_eq!(found, 0.0);
        } else {
            prop_assert!((found - chosen).abs() <= f64::EPSILON, "{} for {}", found, chosen);
        }
    }
}
