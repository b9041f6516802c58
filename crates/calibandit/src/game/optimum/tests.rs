//! Cycles against dynamic programming on the same graph, where all costs are integers, so that they agree exactly; and
//! the amount of work, which cannot be seen from outside.

use rand::RngExt;

use super::Optima;
use super::exploration::explore;
use super::state_space::StateSpace;
use crate::Interrupt;
use crate::game::zoo::{RandomReo, Span};
use crate::game::{Arm, Game, LossCurve, Noise, Weights};
use crate::planning::graph_planner::GraphPlanner;
use crate::planning::meter::MemoryLimit;
use crate::rng::StreamKey;

/// Games with many best cycles that are close to each other: losses are coarse, with tiny differences on top.
fn game(instance: u64) -> Game {
    let stream = &mut StreamKey::new(3, "planner", instance).game();
    let arms = stream.random_range(1..=3);
    let arms = (0..arms).map(|_| {
        let memory = stream.random_range(1..=4);
        let weights = Weights::new((0..memory).map(|_| [0.25, 0.5, 1.0][stream.random_range(0..3)]).collect()).unwrap();
        let fine = if stream.random() { 1e-3 } else { 1e-6 };
        let salt: u32 = stream.random();
        // Practically random in the tally.
        let curve = LossCurve::function(move |tally| {
            let mixed = (tally * 4.0) as u32 ^ salt;
            let coarse = f64::from(mixed.wrapping_mul(0x9e37_79b9) >> 30) / 4.0;
            coarse + fine * f64::from(mixed.wrapping_mul(0x85eb_ca6b) >> 28)
        });
        Arm::new(weights, curve, Noise::None).unwrap()
    });
    Game::new(arms.collect()).unwrap()
}

#[test]
fn cycles_and_dynamic_programming_agree_to_the_last_bit() {
    let (mut answered, mut cycles) = (0, 0);
    for instance in 0..120 {
        let game = game(instance);
        let space = StateSpace::new(&game);
        let memory = MemoryLimit(1 << 30);
        let graph = explore(&space, 1_000_000, memory, Interrupt::never()).unwrap();
        let mut planner = GraphPlanner::new(graph, memory, Interrupt::never());
        for horizon in (1..60).chain((1..20).map(|i| i * 157)) {
            let steps = planner.by_steps(horizon).unwrap();
            let Some(plan) = planner.by_cycles(horizon).unwrap() else { continue };
            answered += 1;
            assert_eq!(plan.excess, steps.excess, "instance {instance}, horizon {horizon}");
            let sequence = plan.sequence(&space);
            assert_eq!(sequence.len(), horizon);
            cycles += u32::from(sequence.cycle.len() > 1);
        }
    }
    assert!(answered > 4_000 && cycles > 1_500, "{answered} {cycles}");
}

/// Edges visited by the planner and windows expanded by searches.
fn work(game: &Game, horizon: u64) -> u64 {
    let mut optima = Optima::new(game);
    assert_eq!(optima.at(horizon).unwrap().sequence.len(), horizon);
    let planner = optima.planner.as_ref().map_or(0, |planner| planner.as_ref().ok().unwrap().work());
    planner + optima.expanded
}

#[test]
fn the_work_does_not_grow_with_the_horizon() {
    let random = RandomReo { arms: 3, memory: Span::Between([1, 5]), ..RandomReo::default() };
    for instance in 0..60 {
        let zoo = random.draw(&mut StreamKey::new(3, "work", instance).game()).unwrap();
        for game in [zoo, game(instance)] {
            let (short, long) = (work(&game, 10_000), work(&game, 1_000_000_000_000));
            // Near-ties may be decided by other cycles at other horizons, which adds a little.
            assert!(long <= 2 * short.max(1), "instance {instance}: {short} for 10^4 plays, {long} for 10^12");
        }
    }
}

#[test]
fn straight_play_of_a_large_reo_game_needs_no_graph() {
    let usual = LossCurve::constant(0.5);
    let arm = |x: usize| {
        let curve = if x == 123 { usual.clone().when_calibrated(0.35) } else { usual.clone() };
        Arm::new(Weights::unit(64).unwrap(), curve, Noise::Bernoulli).unwrap()
    };
    let game = Game::new((0..1000).map(arm).collect()).unwrap();
    let mut optima = Optima::new(&game);
    for horizon in [1, 63, 64, 65, 1_000_000] {
        optima.at(horizon).unwrap();
    }
    assert!(optima.planner.is_none() && optima.expanded < 100, "{} windows expanded", optima.expanded);
}

#[test]
fn interchangeable_arms_do_not_add_states() {
    let states = |arms: usize| {
        // Worse with exposure: the best sequence takes turns, so that the graph is needed.
        let curve = LossCurve::by_plays([0.1, 0.3, 0.5, 0.9]);
        let arm = Arm::new(Weights::unit(4).unwrap(), curve, Noise::Bernoulli).unwrap();
        let game = Game::new(vec![arm; arms]).unwrap();
        let mut optima = Optima::new(&game);
        optima.at(1000).unwrap();
        optima.planner.unwrap().ok().unwrap().states()
    };
    assert_eq!(states(4), states(4000));
}
