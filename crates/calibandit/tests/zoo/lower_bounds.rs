//! What the proofs of Proposition 1 and Theorem 2 claim of their games.

use std::collections::HashSet;

use calibandit::zoo::{AdaptivityA, AdaptivityB, Needle};
use calibandit::{Game, Shape, Weights};
use proptest::prelude::*;

use super::{alpha, instance, windows};

/// The pattern y* of a drawn needle game, read off the binary digits of the one tally that is free.
fn pattern(game: &Game, best: usize) -> Vec<bool> {
    let Shape::Needle(needle) = game.arms()[best].curve().shape() else { panic!("x_2 has the needle") };
    let digits = (needle.tally * 2f64.powi(game.memory() as i32)) as u64;
    (1..game.memory()).map(|age| digits >> (game.memory() - 1 - age) & 1 == 1).collect()
}

#[test]
fn no_two_windows_of_the_needle_have_the_same_tally() {
    for memory in 1..=16 {
        let game = Needle { memory, ..Needle::default() }.draw(&mut instance(0)).unwrap();
        let weights: &Weights = game.arms()[0].weights();
        let tallies: HashSet<u64> = windows(memory).map(|y| weights.tally(y).to_bits()).collect();
        assert_eq!(tallies.len(), 1 << (memory - 1));
    }
}

#[test]
fn tallies_stay_exact_up_to_the_longest_needle() {
    let game = Needle { memory: 50, ..Needle::default() }.draw(&mut instance(0)).unwrap();
    // 1 - 2^-50 is a float, and any rounding on the way to it would miss it.
    assert_eq!(game.arms()[0].weights().total(), 1.0 - 2f64.powi(-50));
}

/// The policy v_{m-1}, ..., v_1, x_2 of the proof: already the first cycle ends in a free play, since by then the
/// window holds that cycle and nothing else. So any m plays in a row have a free one, from the very start.
#[test]
fn the_cyclic_policy_of_the_proof_has_a_free_play_in_every_m() {
    for memory in 1..=12 {
        for i in 0..20 {
            let best = (i % 2) as usize;
            let spec = Needle { memory, best_arm: Some(best), ..Needle::default() };
            let game = spec.draw(&mut instance(i)).unwrap();
            let y = pattern(&game, best);
            let cycle: Vec<usize> =
                y.iter().rev().chain([&true]).map(|&played| if played { best } else { 1 - best }).collect();
            let losses = game.losses(&cycle.repeat(5)).unwrap();
            assert!(losses.iter().skip(memory - 1).step_by(memory).all(|&loss| loss == 0.0));
            assert!(losses.windows(memory).all(|plays| plays.contains(&0.0)));
        }
    }
}

/// "We incur non-unit loss if and only if our actions are (x_2, v)", tried on every sequence of some length.
#[test]
fn nothing_but_the_pattern_is_free() {
    let (memory, best) = (4, 1);
    for i in 0..8 {
        let spec = Needle { memory, best_arm: Some(best), ..Needle::default() };
        let game = spec.draw(&mut instance(i)).unwrap();
        let y = pattern(&game, best);
        for bits in 0..1 << 7 {
            let plays: Vec<usize> = (0..7).map(|t| bits >> t & 1).collect();
            for (t, loss) in game.losses(&plays).unwrap().into_iter().enumerate() {
                let played = |age: usize| t >= age && plays[t - age] == best;
                let free = played(0) && (1..memory).all(|age| played(age) == y[age - 1]);
                assert_eq!(loss, if free { 0.0 } else { 1.0 });
            }
        }
    }
}

#[test]
fn the_needle_is_as_far_from_reo_as_can_be_unless_it_is_the_calibrated_window() {
    let mut seen = [false; 2];
    for i in 0..64 {
        let game = Needle { memory: 4, best_arm: Some(0), ..Needle::default() }.draw(&mut instance(i)).unwrap();
        let calibrated = pattern(&game, 0).iter().all(|&played| played);
        assert_eq!(alpha(&game), if calibrated { 0.0 } else { 1.0 });
        seen[usize::from(calibrated)] = true;
    }
    assert_eq!(seen, [true, true]);
}

/// Chi-squared over the 8 patterns of memory 4; 24.3 is the 0.999 quantile with 7 degrees of freedom.
#[test]
fn the_pattern_is_uniform() {
    let mut counts = [0.0; 8];
    for i in 0..4000 {
        let game = Needle { memory: 4, best_arm: Some(0), ..Needle::default() }.draw(&mut instance(i)).unwrap();
        let index = pattern(&game, 0).iter().fold(0, |index, &played| 2 * index + usize::from(played));
        counts[index] += 1.0;
    }
    let statistic: f64 = counts.iter().map(|count| (count - 500.0f64).powi(2) / 500.0).sum();
    assert!(statistic < 24.3, "{counts:?}");
}

proptest! {
    /// The heart of Theorem 2's proof. The plays are arbitrary but for runs of x_2, which are broken before the M-th.
    #[test]
    fn without_m_plays_of_x_2_in_a_row_the_two_games_look_the_same(
        arms in 2usize..6,
        memory_bound in 1usize..8,
        plays in prop::collection::vec(0usize..6, 0..80),
        seed in any::<u64>(),
    ) {
        let b = AdaptivityB { arms, memory_bound, ..AdaptivityB::default() }.draw(&mut instance(seed)).unwrap();
        let a = AdaptivityA { arms, ..AdaptivityA::default() }.draw(&mut instance(seed)).unwrap();
        let (x1, x2) = (a.best_arm(), b.best_arm());
        let mut run = 0;
        let mut broken = Vec::new();
        for arm in plays.into_iter().map(|arm| arm % arms) {
            run = if arm == x2 { run + 1 } else { 0 };
            if run == memory_bound {
                broken.push(x1);
                run = 0;
            } else {
                broken.push(arm);
            }
        }
        prop_assert_eq!(a.losses(&broken).unwrap(), b.losses(&broken).unwrap());
        // And M plays of x_2 in a row tell them apart.
        broken.extend(vec![x2; memory_bound]);
        prop_assert_eq!(a.losses(&broken).unwrap().pop(), Some(1.0));
        prop_assert_eq!(b.losses(&broken).unwrap().pop(), Some(0.0));
    }
}
