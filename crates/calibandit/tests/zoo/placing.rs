//! Where distinguished arms go, and that a stream fixes everything.

use calibandit::zoo::{
    AdaptivityB, AlphaReo, Basketball, CurveFamily, Darts, Decay, Needle, RandomReo, Span, Step, Stochastic,
};
use calibandit::{Game, GameSpec};

use super::common::chi_squared;
use super::{alpha, instance};

/// Chi-squared test of uniformity at a level of 0.001.
#[track_caller]
fn uniform(counts: &[u64]) {
    let p = chi_squared(counts, &vec![1.0; counts.len()]);
    assert!(p > 0.001, "{counts:?}: p = {p}");
}

#[track_caller]
fn uniform_over(cells: usize, spec: impl Into<GameSpec>, cell: impl Fn(&Game) -> usize) {
    let spec = spec.into();
    let mut counts = vec![0; cells];
    for i in 0..400 * cells as u64 {
        counts[cell(&spec.draw(&mut instance(i)).unwrap())] += 1;
    }
    uniform(&counts);
}

#[test]
fn the_best_arm_is_uniform_over_the_arms() {
    uniform_over(5, Step::default(), Game::best_arm);
    uniform_over(5, Decay::default(), Game::best_arm);
    uniform_over(2, Basketball::default(), Game::best_arm);
    uniform_over(7, Stochastic { arms: Some(7), ..Stochastic::default() }, Game::best_arm);
    uniform_over(5, RandomReo::default(), Game::best_arm);
    uniform_over(2, Needle::default(), |game| usize::from(game.arms()[0].curve().is_constant()));
}

/// Cell of an ordered pair of different arms.
fn pair(arms: usize, first: usize, second: usize) -> usize {
    assert_ne!(first, second);
    first * (arms - 1) + if second < first { second } else { second - 1 }
}

#[test]
fn two_distinguished_arms_are_uniform_over_the_pairs() {
    let decoy = |game: &Game| game.arms().iter().position(|arm| arm.curve().alone().is_some()).unwrap();
    uniform_over(12, AlphaReo { arms: 4, ..AlphaReo::default() }, |game| pair(4, game.best_arm(), decoy(game)));
    let safe = |game: &Game| game.arms().iter().position(|arm| arm.eventual_loss() == 0.5).unwrap();
    let b = AdaptivityB { arms: 4, memory_bound: 3, ..AdaptivityB::default() };
    uniform_over(12, b.clone(), |game| pair(4, safe(game), game.best_arm()));
    // With one of the two given, the other is uniform over the rest.
    uniform_over(3, AdaptivityB { best_arm: Some(1), ..b.clone() }, |game| pair(4, game.best_arm(), safe(game)) - 3);
    uniform_over(3, AdaptivityB { safe_arm: Some(2), ..b }, |game| pair(4, safe(game), game.best_arm()) - 6);
}

#[test]
fn a_given_place_is_kept() {
    for i in 0..20 {
        let step = Step { best_arm: Some(3), ..Step::default() };
        assert_eq!(step.draw(&mut instance(i)).unwrap().best_arm(), 3);
        let game = AlphaReo { decoy_arm: Some(1), ..AlphaReo::default() }.draw(&mut instance(i)).unwrap();
        assert!(game.arms()[1].curve().alone().is_some() && game.best_arm() != 1);
    }
}

#[test]
fn equal_streams_draw_equal_games_bit_for_bit() {
    for kind in GameSpec::catalogue() {
        let text = |i| serde_json::to_string(&kind.example.draw(&mut instance(i)).unwrap()).unwrap();
        let texts: Vec<String> = (0..20).map(text).collect();
        assert_eq!(texts, (0..20).map(text).collect::<Vec<_>>(), "{}", kind.name);
    }
}

/// `is_random` against what 40 draws show: do games differ once their arms are sorted?
#[test]
fn is_random_tells_whether_instances_differ_beyond_the_order_of_arms() {
    for kind in GameSpec::catalogue() {
        let sorted = |i| {
            let game = kind.example.draw(&mut instance(i)).unwrap();
            let mut arms: Vec<String> = game.arms().iter().map(|arm| serde_json::to_string(arm).unwrap()).collect();
            arms.sort();
            arms
        };
        let differ = (1..40).any(|i| sorted(i) != sorted(0));
        assert_eq!(kind.example.is_random(), differ, "{}", kind.name);
    }
}

/// All but the needle and the games with alpha > 0; the memory of `adaptivity-b` is too long for brute force, and
/// rested arms have no windows.
#[test]
fn every_other_example_satisfies_0_reo() {
    let without = ["needle", "adaptivity-b", "alpha-reo", "sweet-spot", "congestion", "recovering", "last-switch"];
    for kind in GameSpec::catalogue().iter().filter(|kind| !without.contains(&kind.name)) {
        if kind.example.draw(&mut instance(0)).unwrap().is_rested() {
            continue;
        }
        assert_eq!(alpha(&kind.example.draw(&mut instance(0)).unwrap()), 0.0, "{}", kind.name);
    }
}

/// Pinned values: a change of them changes what every seed draws, and is value-breaking.
#[test]
fn pinned_draws() {
    let best =
        |spec: GameSpec| -> Vec<usize> { (0..8).map(|i| spec.draw(&mut instance(i)).unwrap().best_arm()).collect() };
    assert_eq!(best(Step::default().into()), [4, 0, 2, 2, 2, 0, 2, 2]);
    let text = |spec: GameSpec| serde_json::to_string(&spec.draw(&mut instance(0)).unwrap()).unwrap();
    let needle = Needle { memory: 4, ..Needle::default() };
    assert_eq!(
        text(needle.into()),
        concat!(
            r#"{"arms":[{"weights":[0.5,0.25,0.125,0.0625],"loss":{"constant":1.0},"feedback":"none"},"#,
            r#"{"weights":[0.5,0.25,0.125,0.0625],"#,
            r#""loss":{"needle":{"tally":0.625,"loss":0.0,"otherwise":1.0}},"feedback":"none"}]}"#
        )
    );
    assert_eq!(
        text(Darts { arms: 2, ..Darts::default() }.into()),
        concat!(
            r#"{"arms":[{"weights":[1.0,1.0],"#,
            r#""loss":{"by_plays":[0.7196491312989527,0.618251342717401]},"feedback":"bernoulli"},"#,
            r#"{"weights":[1.0,1.0],"#,
            r#""loss":{"by_plays":[0.690806594840632,0.5981833656096529]},"feedback":"bernoulli"}]}"#
        )
    );
    let random =
        RandomReo { arms: 2, memory: Span::One(2), curve: CurveFamily::Rough, alpha: 0.1, ..RandomReo::default() };
    assert_eq!(
        text(random.into()),
        concat!(
            r#"{"arms":[{"weights":[0.48185493322925743,0.8034564137780518],"#,
            r#""loss":{"by_plays":[0.5737701407610146,0.7753119589192843]},"feedback":"bernoulli"},"#,
            r#"{"weights":[0.26497997843357757,0.18007643744373325],"#,
            r#""loss":{"by_plays":[0.7011866645501466,0.6737701407610146]},"feedback":"bernoulli"}]}"#
        )
    );
}
