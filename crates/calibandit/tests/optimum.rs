//! The optimum against brute force, closed forms and the paper's constructions.

#![allow(clippy::unwrap_used)] // a test may panic

mod games;

use calibandit::{
    Arm, BestSequence, Checkpoint, Game, Limits, LossCurve, Noise, Optima, OptimumError, Weights, Window, cpr, optimum,
    reo,
};
use games::{Size, draws, random_game};

fn arm(weights: Weights, curve: LossCurve) -> Arm {
    Arm::new(weights, curve, Noise::Bernoulli).unwrap()
}

fn unit(memory: usize, curve: LossCurve) -> Arm {
    arm(Weights::unit(memory).unwrap(), curve)
}

/// v / (2‖v‖₁) with v_i = 2^-i, as in the paper's weighted game.
fn decaying(memory: usize) -> Weights {
    let v: Vec<f64> = (1..=memory).map(|i| 0.5f64.powi(i as i32)).collect();
    let norm: f64 = v.iter().sum();
    Weights::new(v.iter().map(|v| v / (2.0 * norm)).collect()).unwrap()
}

/// The loss of a sequence, played out.
fn played(game: &Game, sequence: &BestSequence) -> f64 {
    let arms: Vec<usize> = sequence.iter().collect();
    assert_eq!(arms.len() as u64, sequence.len());
    game.losses(&arms).unwrap().iter().sum()
}

/// The least loss of 1, 2, ..., `horizon` plays over all sequences, each tried.
fn brute_force(game: &Game, horizon: usize) -> Vec<f64> {
    fn go(game: &Game, window: &Window, loss: f64, depth: usize, least: &mut [f64]) {
        for arm in 0..game.arms().len() {
            let mut next = window.clone();
            let sum = loss + game.play(arm, &mut next);
            least[depth] = least[depth].min(sum);
            if depth + 1 < least.len() {
                go(game, &next, sum, depth + 1, least);
            }
        }
    }
    let mut least = vec![f64::INFINITY; horizon];
    go(game, &game.empty_window(), 0.0, 0, &mut least);
    least
}

#[test]
fn least_of_all_sequences_of_small_random_games() {
    for instance in 0..600 {
        let stream = &mut draws("brute force", instance);
        let game = random_game(Size { arms: 4, memory: 4 }, stream);
        let horizon = match game.arms().len() {
            1 | 2 => 9,
            3 => 7,
            _ => 6,
        };
        let least = brute_force(&game, horizon);
        let mut optima = Optima::new(&game);
        for (t, &least) in (1..).zip(&least) {
            let found = optima.at(t).unwrap();
            assert!((found.loss - least).abs() < 1e-12, "instance {instance}, {t} plays: {} != {least}", found.loss);
            assert_eq!(found.sequence.len(), t, "instance {instance}");
            assert!((played(&game, &found.sequence) - least).abs() < 1e-12, "instance {instance}, {t} plays");
            assert!((found.excess - (least - t as f64 * game.best_loss())).abs() < 1e-12);
            assert_eq!(optima.excess_at(t).unwrap(), found.excess);
            assert_eq!(optimum(&game, t).unwrap().excess, found.excess);
        }
    }
}

/// Dynamic programming straight from the definition, over the windows as they are: nothing merged, nothing forgotten.
fn step_by_step(game: &Game, horizon: usize) -> Vec<f64> {
    let (arms, memory) = (game.arms().len(), game.memory());
    // Histories of up to memory - 1 plays, newest first, to their least loss.
    let mut least = std::collections::HashMap::from([(Vec::new(), 0.0f64)]);
    let mut optima = Vec::new();
    for _ in 0..horizon {
        let mut next = std::collections::HashMap::new();
        for (history, loss) in &least {
            for x in 0..arms {
                let weights = game.arms()[x].weights();
                let window: Vec<bool> = std::iter::once(true)
                    .chain(history.iter().map(|&y: &usize| y == x))
                    .take(weights.memory())
                    .collect();
                let loss = loss + game.arms()[x].loss(calibandit::Exposure::of(&window, weights));
                let mut history = history.clone();
                history.insert(0, x);
                history.truncate(memory - 1);
                let entry = next.entry(history).or_insert(f64::INFINITY);
                *entry = entry.min(loss);
            }
        }
        least = next;
        optima.push(least.values().copied().fold(f64::INFINITY, f64::min));
    }
    optima
}

#[test]
fn equals_plain_dynamic_programming_over_hundreds_of_plays() {
    let mut long_cycles = 0;
    for instance in 0..150 {
        let stream = &mut draws("dynamic programming", instance);
        let game = random_game(Size { arms: 3, memory: 4 }, stream);
        let plain = step_by_step(&game, 300);
        let mut optima = Optima::new(&game);
        for t in (1..=40).chain([47, 64, 65, 99, 128, 150, 211, 256, 299, 300]) {
            let found = optima.at(t).unwrap();
            let least = plain[t as usize - 1];
            assert!((found.loss - least).abs() < 1e-10, "instance {instance}, {t} plays: {} != {least}", found.loss);
            assert_eq!(found.sequence.len(), t);
            assert!((played(&game, &found.sequence) - least).abs() < 1e-10, "instance {instance}, {t} plays");
        }
        long_cycles += u32::from(optima.at(300).unwrap().sequence.cycle.len() > 1);
    }
    assert!(long_cycles > 20, "only {long_cycles} games with a best cycle of several plays");
}

#[test]
fn near_ties_are_decided_by_the_horizon() {
    // The second arm is better by 10^-9 a play and costs 0.7 more to warm up: it pays from 7·10^8 plays on.
    let game = Game::new(vec![
        unit(3, LossCurve::by_plays([0.5, 0.5, 0.25])),
        unit(3, LossCurve::by_plays([0.9, 0.8, 0.25 - 1e-9])),
    ])
    .unwrap();
    let mut optima = Optima::new(&game);
    let gap = 0.25 - (0.25 - 1e-9);
    for (t, expected) in [
        (100_000_000u64, 0.5 + 1e8 * gap),
        (699_000_000, 0.5 + 6.99e8 * gap),
        (701_000_000, 1.2 + 2.0 * gap),
        (1_000_000_000_000, 1.2 + 2.0 * gap),
    ] {
        let found = optima.at(t).unwrap();
        assert!((found.excess - expected).abs() < 1e-9, "{t}: {} != {expected}", found.excess);
        assert_eq!(found.sequence.len(), t);
        assert_eq!(found.sequence.cycle, [usize::from(t > 700_000_000)]);
    }
    // An exact tie in the long run: the warm-up decides, at every horizon.
    let tie = Game::new(vec![
        unit(4, LossCurve::by_plays([0.9, 0.5, 0.5, 0.25])),
        unit(3, LossCurve::by_plays([0.5, 0.75, 0.25])),
    ])
    .unwrap();
    for t in [10, 1000, 1_000_000_000_000] {
        assert_eq!(optimum(&tie, t).unwrap().excess, 0.75);
    }
}

#[test]
fn near_ties_outside_reo_are_decided_by_the_horizon() {
    // Alternating arm 0 with arm 1 or arm 2 costs 0.1 on average over two plays; arm 2 is better by 10^-9 in the long
    // run, but its first play in a while costs 0.5 more.
    let slow = LossCurve::function(|tally| {
        if tally < 0.8 {
            0.7
        } else if tally < 1.2 {
            0.2 - 2e-9
        } else {
            0.9
        }
    });
    let quick = LossCurve::by_plays([0.2, 0.9, 0.9, 0.9]);
    let weights = Weights::new(vec![0.5, 0.5, 0.5, 0.5]).unwrap();
    let game = Game::new(vec![
        unit(2, LossCurve::by_plays([0.0, 0.9])),
        unit(2, LossCurve::by_plays([0.2, 0.9])),
        arm(weights, slow),
        unit(4, quick),
    ])
    .unwrap();
    let mut optima = Optima::new(&game);
    let plain = step_by_step(&game, 60);
    for (t, &least) in (1..).zip(&plain) {
        assert!((optima.at(t).unwrap().loss - least).abs() < 1e-12);
    }
    // Up to 5·10^8 plays arm 1, then arm 2.
    let mean = |t: u64, optima: &mut Optima<'_>| optima.at(t).unwrap();
    let early = mean(400_000_000, &mut optima);
    assert!((early.loss - 0.1 * 4e8).abs() < 1e-6, "{}", early.loss);
    let late = mean(600_000_000, &mut optima);
    assert!((late.loss - (0.1 * 6e8 - 0.6 + 0.5)).abs() < 1e-6, "{}", late.loss);
    assert!(late.sequence.cycle.contains(&2) && early.sequence.cycle.contains(&1));
}

/// A thousand arms with a memory of 64: straight play of x* is best in the long run.
#[test]
fn large_reo_games_are_solved_at_once() {
    let (arms, memory) = (1000, 64);
    let step = |x: usize| {
        let curve = LossCurve::constant(0.5);
        unit(memory, if x == 123 { curve.when_calibrated(0.35) } else { curve })
    };
    let decay = |x: usize| {
        let curve = LossCurve::linear(1.0, -1.0);
        arm(decaying(memory), if x == 123 { curve.when_calibrated(0.2) } else { curve })
    };
    let by_plays = |x: usize| {
        let end = if x == 123 { 0.1 } else { 0.2 + 0.5 * x as f64 / arms as f64 };
        unit(memory, LossCurve::by_plays((1..=memory).map(|i| end + 0.2 / i as f64).collect::<Vec<_>>()))
    };
    let makers: [&dyn Fn(usize) -> Arm; 3] = [&step, &decay, &by_plays];
    for make in makers {
        let game = Game::new((0..arms).map(make).collect()).unwrap();
        assert_eq!(reo(&game).unwrap().alpha, 0.0);
        let straight = game.losses(&vec![123; memory]).unwrap();
        let warming: f64 = straight.iter().map(|loss| loss - game.best_loss()).sum();
        let mut optima = Optima::new(&game);
        for t in [1_000_000, 1_000_000_000_000] {
            let found = optima.at(t).unwrap();
            assert!((found.excess - warming).abs() < 1e-12, "{} != {warming}", found.excess);
            assert_eq!(found.sequence.cycle, [123]);
            assert_eq!(found.sequence.len(), t);
        }
        // Shorter than the memory: no more than the best arm for that long, played straight.
        for t in [1, 2, 63, 64, 65] {
            let found = optima.at(t).unwrap();
            assert!((played(&game, &found.sequence) - found.loss).abs() < 1e-11);
            let one_arm = (0..arms).map(|x| game.losses(&vec![x; t as usize]).unwrap().iter().sum::<f64>());
            assert!(found.loss <= one_arm.fold(f64::INFINITY, f64::min) + 1e-11);
        }
    }
}

/// Proposition 1: all losses are 1 but for one window of arm 1, which the cyclic policy of the proof meets at least
/// once every m plays.
#[test]
fn needles_are_met_at_least_once_a_memory() {
    for (memory, needle) in [(2, 0b1), (5, 0b0110), (8, 0b1010101), (10, 0b000000000), (12, 0b11111111111)] {
        let weights = Weights::new((1..=memory).map(|i| 0.5f64.powi(i)).collect()).unwrap();
        let window: Vec<bool> = (0..memory).map(|age| age == 0 || needle >> (age - 1) & 1 == 1).collect();
        let curve = LossCurve::needle(weights.tally(window.iter().copied()), 0.0, 1.0);
        let game = Game::new(vec![arm(weights.clone(), LossCurve::constant(1.0)), arm(weights, curve)]).unwrap();
        let found = optimum(&game, 1_000_000).unwrap();
        assert_eq!(found.sequence.len(), 1_000_000);
        let hits = 1e6 - found.loss;
        assert!(hits >= (1_000_000 / memory) as f64 - 1.0, "memory {memory}: {hits}");
        // The best period is the shortest shift under which the needle overlaps itself.
        let period = (1..=memory as usize)
            .find(|&shift| window[..memory as usize - shift].iter().zip(&window[shift..]).all(|(a, b)| a == b))
            .unwrap();
        assert!((hits - 1e6 / period as f64).abs() <= memory as f64, "memory {memory}, period {period}: {hits}");
    }
}

/// The two games of Theorem 2's proof: in B always playing x_2 costs M - 1.
#[test]
fn games_of_the_lower_bound_on_adaptivity() {
    let bound = 9;
    let a = Game::new(vec![unit(1, LossCurve::constant(0.5)), unit(1, LossCurve::constant(1.0))]).unwrap();
    let b = Game::new(vec![
        unit(bound, LossCurve::constant(0.5)),
        unit(bound, LossCurve::constant(1.0).when_calibrated(0.0)),
    ])
    .unwrap();
    assert_eq!(optimum(&a, 1_000_000).unwrap().loss, 500_000.0);
    assert_eq!(optimum(&b, 1_000_000).unwrap().loss, (bound - 1) as f64);
    // Too short for the warm-up to pay.
    assert_eq!(optimum(&b, bound as u64).unwrap().loss, 0.5 * bound as f64);
}

#[test]
fn interchangeable_arms_take_turns() {
    // Arms that get worse with exposure: the best sequence takes turns, which only needs as many arms as the memory.
    let tiring = |arms: usize| {
        let game = Game::new((0..arms).map(|_| unit(3, LossCurve::by_plays([0.1, 0.5, 0.9]))).collect()).unwrap();
        let found = optimum(&game, 1_000_001).unwrap();
        assert_eq!(found.sequence.len(), 1_000_001);
        let losses = game.losses(&found.sequence.iter().collect::<Vec<_>>()).unwrap();
        assert!(losses.iter().all(|&loss| loss == 0.1), "{arms} arms: {:?}", found.sequence);
        assert!((found.loss - 0.1 * 1_000_001.0).abs() < 1e-6, "{arms} arms: {}", found.loss);
    };
    [3, 4, 50].into_iter().for_each(tiring);
}

#[test]
#[ignore = "slow: searches until the limits are reached"]
fn too_large_games_are_refused_with_numbers_and_still_bounded() {
    let losses: Vec<f64> = (1..=30).map(|plays| if plays == 17 { 0.1 } else { 0.5 }).collect();
    let game = Game::new(vec![
        unit(30, LossCurve::by_plays(losses)),
        unit(30, LossCurve::by_plays(vec![0.6; 30]).when_calibrated(0.45)),
    ])
    .unwrap();
    let mut optima = Optima::new(&game);
    let error = optima.at(1000).unwrap_err();
    let OptimumError::TooManyStates { states_at_least, limit, searched: 0 } = error else { panic!("{error}") };
    assert!(states_at_least > 1_000_000 && limit == 1_000_000);
    assert!(error.to_string().contains("1000000"), "{error}");
    let bounds = optima.bounds_at(1000);
    assert!(!bounds.exact && bounds.lower <= bounds.upper);
    assert!(bounds.upper < 1000.0 * game.best_loss(), "{bounds:?}");
    assert_eq!(bounds.sequence.len(), 1000);
    assert!((played(&game, &bounds.sequence) - bounds.upper).abs() < 1e-9);
    // Any horizon at all.
    for horizon in [0, 1, 1 << 53, u64::MAX] {
        let bounds = optima.bounds_at(horizon);
        assert!(bounds.lower <= bounds.upper && bounds.sequence.len() == horizon, "{bounds:?}");
    }
    assert_eq!(optimum(&game, 0), Err(OptimumError::NoHorizon));
    assert!(matches!(optimum(&game, u64::MAX), Err(OptimumError::HorizonTooLong { .. })));
}

#[test]
fn bounds_enclose_the_optimum() {
    for instance in 0..300 {
        let game = random_game(Size { arms: 4, memory: 4 }, &mut draws("bounds", instance));
        let mut refused = Optima::with_limits(&game, Limits { states: 0, windows: 2, ..Limits::default() });
        for t in [1, 2, 5, 17, 1000] {
            let found = optimum(&game, t).unwrap();
            let bounds = refused.bounds_at(t);
            assert!(bounds.lower <= found.loss + 1e-10, "instance {instance}: {bounds:?} {found:?}");
            assert!(bounds.upper >= found.loss - 1e-10, "instance {instance}: {bounds:?} {found:?}");
            assert!((played(&game, &bounds.sequence) - bounds.upper).abs() < 1e-10, "instance {instance}");
            assert_eq!(bounds.sequence.len(), t);
        }
    }
}

#[test]
fn search_and_graph_agree() {
    let mut searched = 0;
    for instance in 0..600 {
        let game = random_game(Size { arms: 4, memory: 5 }, &mut draws("search and graph", instance));
        if reo(&game).unwrap().alpha > 0.0 {
            continue;
        }
        let mut search = Optima::with_limits(&game, Limits { states: 0, windows: 100_000, ..Limits::default() });
        let mut graph = Optima::with_limits(&game, Limits { windows: 0, ..Limits::default() });
        for t in [1, 2, 3, 5, 8, 13, 100, 1_000_000_000] {
            let (found, expected) = (search.at(t).unwrap(), graph.at(t).unwrap());
            assert_eq!(found.excess, expected.excess, "instance {instance}, {t} plays");
            assert_eq!(found.sequence.len(), t);
        }
        searched += 1;
    }
    assert!(searched > 100, "only {searched} games satisfied 0-REO");
}

#[test]
fn regret_is_never_negative_whatever_is_played() {
    use rand::RngExt;
    for instance in 0..200 {
        let stream = &mut draws("regret", instance);
        let game = random_game(Size { arms: 4, memory: 4 }, stream);
        let arms: Vec<usize> =
            (0..400).map(|play| if play % 7 < 4 { 0 } else { stream.random_range(0..game.arms().len()) }).collect();
        let losses = game.losses(&arms).unwrap();
        let mut excess = 0.0;
        let checkpoints: Vec<Checkpoint> = (1..)
            .zip(&losses)
            .map(|(t, loss)| {
                excess += loss - game.best_loss();
                Checkpoint { t, loss: excess + t as f64 * game.best_loss(), excess, switches: 0 }
            })
            .collect();
        for (regret, checkpoint) in cpr(&game, &checkpoints).unwrap().into_iter().zip(&checkpoints) {
            assert!(regret >= -1e-10, "instance {instance}, {}: {regret}", checkpoint.t);
        }
        // The best sequence itself has none.
        let best: Vec<usize> = optimum(&game, 400).unwrap().sequence.iter().collect();
        let loss: f64 = game.losses(&best).unwrap().iter().map(|loss| loss - game.best_loss()).sum();
        let last = Checkpoint { t: 400, loss, excess: loss, switches: 0 };
        assert!(cpr(&game, &[last]).unwrap()[0].abs() < 1e-10);
    }
}
