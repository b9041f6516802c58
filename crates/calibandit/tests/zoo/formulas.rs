//! Losses on short sequences by the paper's formulas, and alpha by brute force.

use calibandit::zoo::{
    AdaptivityA, AdaptivityB, AlphaReo, Basketball, Darts, Decay, Fitted, FittedModel, Span, Step, Stochastic,
};
use calibandit::{Linear, Noise, reo};

use super::{alpha, close, draw};

#[test]
fn step_drops_only_when_the_best_arm_fills_the_window() {
    let game = draw(Step { arms: 3, memory: 3, best_arm: Some(1), ..Step::default() });
    let losses = game.losses(&[1, 1, 1, 1, 0, 1, 1, 1, 2, 2, 2, 2]).unwrap();
    assert_eq!(losses, [0.5, 0.5, 0.35, 0.35, 0.5, 0.5, 0.5, 0.35, 0.5, 0.5, 0.5, 0.5]);
    assert_eq!((game.best_arm(), alpha(&game)), (1, 0.0));
    assert!(game.arms().iter().all(|arm| arm.noise() == Noise::Bernoulli && arm.weights().as_slice() == [1.0; 3]));
    let game = draw(Step { arms: 2, memory: 1, usual_loss: 1.0, best_loss: 0.0, best_arm: Some(0), ..Step::default() });
    assert_eq!(game.losses(&[1, 0, 1, 0]).unwrap(), [1.0, 0.0, 1.0, 0.0]);
}

/// m = 4, so w = 1/16: the losses are 1 - k/16 at k plays, 0.6 for the calibrated x*, and
/// 1 - 1/16 - 3/8 - 0.2 = 0.3625 for x** alone.
#[test]
fn alpha_reo_by_hand() {
    let game = draw(AlphaReo { arms: 3, memory: 4, best_arm: Some(2), decoy_arm: Some(0), ..AlphaReo::default() });
    let k = |plays: f64| 1.0 - plays / 16.0;
    let losses = game.losses(&[2, 2, 2, 2, 2, 0, 0, 1, 2, 2, 0, 1, 1, 1, 1]).unwrap();
    close(&losses[..5], &[k(1.), k(2.), k(3.), 0.6, 0.6]);
    close(&losses[5..10], &[0.3625, k(2.), k(1.), k(1.), k(2.)]);
    close(&losses[10..], &[0.3625, k(1.), k(2.), k(3.), k(4.)]);
    assert_eq!(game.best_arm(), 2);
}

/// Not what the paper prints: see the documentation of the game.
#[test]
fn alpha_of_the_alpha_reo_game_is_what_the_definition_gives() {
    for memory in (2..=12).chain([40]) {
        let game = draw(AlphaReo { arms: 3, memory, ..AlphaReo::default() });
        let m = memory as f64;
        let expected = f64::max(0.0, -0.2 + (2.0 * m - 1.0) / (4.0 * m));
        let found = reo(&game).unwrap().alpha;
        assert!((found - expected).abs() < 1e-12, "m = {m}: {found}");
        if memory <= 12 {
            assert!((alpha(&game) - expected).abs() < 1e-15, "m = {m}: {}", alpha(&game));
        }
    }
    let printed_for = draw(AlphaReo::default()); // m = 4
    assert!((alpha(&printed_for) - 0.2375).abs() < 1e-15);
}

#[test]
fn alpha_reo_losses_stay_in_the_unit_interval_at_any_memory() {
    for memory in [2, 3, 10, 1000, 100_000] {
        let game = draw(AlphaReo { arms: 2, memory, best_arm: Some(0), ..AlphaReo::default() });
        close(&game.losses(&[1]).unwrap(), &[0.3 + 1.0 / (4.0 * memory as f64)]);
    }
}

/// m = 3: v = (1/2, 1/4, 1/8), ‖v‖ = 7/8, so w = (4, 2, 1)/14.
#[test]
fn decay_by_hand() {
    let game = draw(Decay { arms: 2, memory: 3, best_arm: Some(1), ..Decay::default() });
    let losses = game.losses(&[1, 0, 1, 1, 1, 0, 0, 0]).unwrap();
    let by_hand = [4., 4., 5., 6., 0., 4., 6., 7.].map(|fourteenths| 1.0 - fourteenths / 14.0);
    close(&losses[..4], &by_hand[..4]);
    close(&losses[4..5], &[0.35]);
    close(&losses[5..], &by_hand[5..]);
    for memory in 1..=10 {
        let game = draw(Decay { arms: 3, memory, ..Decay::default() });
        assert_eq!(alpha(&game), 0.0);
        assert!((game.best_loss() - 0.35).abs() < 1e-15);
    }
    let longest = draw(Decay { arms: 2, memory: 1000, ..Decay::default() });
    assert!((longest.best_loss() - 0.35).abs() < 1e-15);
}

#[test]
fn darts_are_drawn_from_the_paper_s_ranges() {
    let mut sums = [0.0; 2];
    for i in 0..200 {
        let game = Darts::default().draw(&mut super::instance(i)).unwrap();
        assert_eq!((game.arms().len(), game.memory(), alpha(&game)), (20, 2, 0.0));
        for x in 0..20 {
            let other = (x + 1) % 20;
            let [first, then, again, _, reset] = game.losses(&[x, x, x, other, x]).unwrap()[..] else { unreachable!() };
            assert!((0.68..=0.72).contains(&first) && (0.58..=0.62).contains(&then));
            assert_eq!((then, first), (again, reset));
            sums[0] += first;
            sums[1] += then;
        }
    }
    // 4000 uniform draws from ranges of width 0.04: the standard error of the mean is 0.04/sqrt(12·4000) < 0.0002.
    assert!((sums[0] / 4000.0 - 0.70).abs() < 0.0008 && (sums[1] / 4000.0 - 0.60).abs() < 0.0008);
}

#[test]
fn darts_take_fixed_numbers_too() {
    let fixed = Darts { arms: 2, first_toss: Span::One(0.9), calibrated: Span::One(0.1), ..Darts::default() };
    assert_eq!(draw(fixed).losses(&[0, 0, 1, 1]).unwrap(), [0.9, 0.1, 0.9, 0.1]);
}

#[test]
fn fitted_models_by_hand() {
    let model = |alpha, beta, gamma, sd| FittedModel { name: None, alpha, beta, gamma, sd };
    let game = draw(Fitted::of(vec![model(0.5, 0.8, -0.01, 0.1), model(0.0, 0.4, 0.02, 0.2)], 3));
    let lap = |k: f64| 0.8 * (-0.5 * k).exp() - 0.01 * k;
    // The lap is the number of plays in the window, wherever in it they are.
    let losses = game.losses(&[0, 0, 1, 0, 0, 0, 0, 1, 1, 1]).unwrap();
    close(&losses, &[lap(1.), lap(2.), 0.38, lap(2.), lap(2.), lap(3.), lap(3.), 0.38, 0.36, 0.34]);
    assert_eq!(game.arms()[1].noise(), Noise::Normal { sd: 0.2 });
}

/// Section 2: x_2, x_1, x_1 leaves x_1 with a better last shot than x_1, x_2, x_1.
#[test]
fn basketball_by_hand() {
    let game = draw(Basketball { best_arm: Some(0), ..Basketball::default() });
    let interrupted = game.losses(&[0, 1, 0]).unwrap();
    let in_a_row = game.losses(&[1, 0, 0]).unwrap();
    close(&interrupted, &[2.0 / 3.0, 0.55, 1.0 - 1.25 / 3.0]);
    close(&in_a_row, &[0.55, 2.0 / 3.0, 0.5]);
    assert!(in_a_row[2] < interrupted[2]);
    close(&game.losses(&[0, 0, 0, 1, 1, 1]).unwrap()[2..], &[1.0 - 1.75 / 3.0, 0.55, 0.5, 0.475]);
    assert_eq!((game.best_arm(), alpha(&game)), (0, 0.0));
}

#[test]
fn basketball_puts_the_better_player_where_asked() {
    let strong_second = Linear { intercept: 0.5, slope: -0.2 };
    for best in [0, 1] {
        let game = draw(Basketball { second: strong_second, best_arm: Some(best), ..Basketball::default() });
        assert_eq!(game.best_arm(), best);
        close(&[game.best_loss()], &[0.15]);
    }
}

#[test]
fn adaptivity_games_by_hand() {
    let a = draw(AdaptivityA { arms: 3, best_arm: Some(0), ..AdaptivityA::default() });
    assert_eq!(a.losses(&[0, 1, 2, 1, 1, 1]).unwrap(), [0.5, 1.0, 1.0, 1.0, 1.0, 1.0]);
    let b = AdaptivityB { arms: 3, memory_bound: 3, safe_arm: Some(0), best_arm: Some(1), ..AdaptivityB::default() };
    let b = draw(b);
    assert_eq!(
        b.losses(&[0, 1, 1, 1, 1, 2, 1, 1, 2, 2, 2]).unwrap(),
        [0.5, 1.0, 1.0, 0.0, 0.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0]
    );
    assert_eq!((alpha(&a), alpha(&b)), (0.0, 0.0));
    assert_eq!((a.best_arm(), b.best_arm(), a.memory(), b.memory()), (0, 1, 1, 3));
    assert!(a.arms().iter().chain(b.arms()).all(|arm| arm.noise() == Noise::None));
}

#[test]
fn stochastic_games_have_no_memory_of_plays() {
    let given = draw(Stochastic { losses: Some(vec![0.2, 0.7, 0.4]), ..Stochastic::default() });
    assert_eq!(given.losses(&[2, 2, 1, 0, 0]).unwrap(), [0.4, 0.4, 0.7, 0.2, 0.2]);
    let noisy = Noise::Beta { concentration: 5.0 };
    let by_arms = Stochastic { arms: Some(3), best_arm: Some(1), feedback: noisy, ..Stochastic::default() };
    let by_arms = draw(by_arms);
    assert_eq!(by_arms.losses(&[0, 1, 2]).unwrap(), [0.5, 0.35, 0.5]);
    assert_eq!((by_arms.memory(), by_arms.arms()[0].noise(), alpha(&by_arms)), (1, noisy, 0.0));
}
