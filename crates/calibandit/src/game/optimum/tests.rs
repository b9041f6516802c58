//! The horizon-free algorithm against going step by step, on the same graph: all costs are integers, so they agree exactly.

use rand::RngExt;

use super::graph::Graph;
use super::planner::Planner;
use super::state_space::StateSpace;
use crate::game::{Arm, Game, LossCurve, Noise, Weights};
use crate::rng::StreamKey;

/// Games whose best cycles are many, and close to each other: losses are coarse, with tiny differences on top.
fn game(instance: u64) -> Game {
    let stream = &mut StreamKey::new(3, "planner", instance).game();
    let arms = stream.random_range(1..=3);
    let arms = (0..arms).map(|_| {
        let memory = stream.random_range(1..=4);
        let weights = Weights::new((0..memory).map(|_| [0.25, 0.5, 1.0][stream.random_range(0..3)]).collect()).unwrap();
        let fine = if stream.random() { 1e-3 } else { 1e-6 };
        let salt: u32 = stream.random();
        // As good as random in the tally.
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
fn regimes_and_steps_agree_to_the_last_bit() {
    let (mut answered, mut cycles) = (0, 0);
    for instance in 0..120 {
        let game = game(instance);
        let space = StateSpace::new(&game);
        let mut planner = Planner::new(Graph::new(&space, 1_000_000).unwrap());
        for horizon in (1..60).chain((1..20).map(|i| i * 157)) {
            let steps = planner.by_steps(horizon);
            let Some(plan) = planner.by_regimes(horizon) else { continue };
            answered += 1;
            assert_eq!(plan.excess, steps.excess, "instance {instance}, horizon {horizon}");
            let sequence = plan.sequence(&space);
            assert_eq!(sequence.len(), horizon);
            cycles += u32::from(sequence.cycle.len() > 1);
        }
    }
    assert!(answered > 4_000 && cycles > 1_500, "{answered} {cycles}");
}
