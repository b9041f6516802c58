//! Both engines follow the definitions, on games and policies with known plays.

#![allow(clippy::unwrap_used)] // a test may panic

use calibandit::rng::StreamKey;
use calibandit::{Arm, Engine, Feedback, Game, Grid, LossCurve, Noise, Policy, Run, SimulateError, Weights, simulate};
use proptest::prelude::*;

/// Plays a given list of runs and keeps what it is told.
struct Script {
    runs: Vec<Run>,
    next: usize,
    told: Vec<(Run, Feedback)>,
}

impl Script {
    fn new(runs: &[(usize, u64, u64)]) -> Self {
        let runs = runs.iter().map(|&(arm, burn_in, record)| Run { arm, burn_in, record }).collect();
        Self { runs, next: 0, told: vec![] }
    }
}

impl Policy for Script {
    fn next_run(&mut self) -> Run {
        self.next += 1;
        self.runs[(self.next - 1) % self.runs.len()]
    }
    fn observe(&mut self, run: Run, feedback: Feedback) {
        self.told.push((run, feedback));
    }
    fn recommend(&self) -> usize {
        0
    }
}

fn arm(weights: Vec<f64>, curve: LossCurve) -> Arm {
    Arm::new(Weights::new(weights).unwrap(), curve, Noise::None).unwrap()
}

/// Two arms with different memories, weights and curves, observed without noise.
fn two_arms() -> Game {
    Game::new(vec![
        arm(vec![1.0, 0.5, 0.25], LossCurve::linear(1.0, -0.25).when_calibrated(0.3)),
        arm(vec![1.0, 1.0], LossCurve::by_plays([0.8, 0.4])),
    ])
    .unwrap()
}

fn noise() -> calibandit::Stream {
    StreamKey::new(1, "simulate", 0).noise()
}

#[test]
fn a_hand_worked_game() {
    // Plays: 0 0 0 0 1 1 | 0. Losses: 1-.25, 1-.375, calibrated, calibrated, .8, .4, and then arm 0 with its window
    // (1, 0, 0): 1-.25.
    let expected = [0.75, 0.625, 0.3, 0.3, 0.8, 0.4, 0.75];
    for engine in [Engine::Stepwise, Engine::Leaping] {
        let mut policy = Script::new(&[(0, 1, 3), (1, 0, 2)]);
        let grid = Grid::at(7, [1, 2, 3, 4, 5, 6]).unwrap();
        let played = simulate(&two_arms(), &mut policy, &grid, engine, &mut noise()).unwrap();
        let mut total = 0.0;
        for (point, loss) in played.checkpoints.iter().zip(expected) {
            total += loss;
            assert!((point.loss - total).abs() < 1e-12, "{engine:?} at {}: {} for {total}", point.t, point.loss);
            assert!((point.excess - (total - 0.3 * point.t as f64)).abs() < 1e-12);
        }
        let switches: Vec<u64> = played.checkpoints.iter().map(|point| point.switches).collect();
        assert_eq!(switches, [0, 0, 0, 0, 1, 1, 2]);
        assert_eq!((played.plays.as_slice(), played.runs), ([5, 2].as_slice(), 3));
        // The run that the horizon cut is not told; the first recorded plays 2 to 4 of arm 0.
        assert_eq!(policy.told.len(), 2);
        let (run, feedback) = policy.told[0];
        assert_eq!((run.arm, feedback.plays), (0, 3));
        assert!((feedback.sum - 1.225).abs() < 1e-12);
        assert!((feedback.sum_sq - (0.625f64 * 0.625 + 0.18)).abs() < 1e-12);
    }
}

#[test]
fn staying_on_an_arm_needs_no_second_calibration() {
    // Two runs of the same arm in a row: the second starts calibrated.
    let mut policy = Script::new(&[(0, 0, 3)]);
    let played = simulate(&two_arms(), &mut policy, &Grid::end(6).unwrap(), Engine::Leaping, &mut noise()).unwrap();
    assert!((played.last().loss - (0.75 + 0.625 + 4.0 * 0.3)).abs() < 1e-12);
    assert_eq!(played.last().switches, 0);
}

#[test]
fn horizons_of_a_million_million_are_exact() {
    let horizon = 1_000_000_000_000;
    let mut policy = Script::new(&[(1, 0, 10), (0, 0, u64::MAX)]);
    let grid = Grid::at(horizon, [500_000_000_000]).unwrap();
    let played = simulate(&two_arms(), &mut policy, &grid, Engine::Leaping, &mut noise()).unwrap();
    let warming = 0.5 + 9.0 * 0.1 + 0.45 + 0.325;
    for point in &played.checkpoints {
        assert!((point.excess - warming).abs() < 1e-12, "{point:?}");
    }
    assert_eq!(played.plays, [horizon - 10, 10]);
}

#[test]
fn invalid_runs_are_errors() {
    let play = |runs: &[(usize, u64, u64)], horizon| {
        simulate(&two_arms(), &mut Script::new(runs), &Grid::end(horizon).unwrap(), Engine::Leaping, &mut noise())
    };
    let missing = play(&[(2, 0, 1)], 5).unwrap_err();
    assert!(matches!(missing, SimulateError::BadRun { arms: 2, .. }));
    assert!(missing.to_string().contains("the arms are 0 to 1"), "{missing}");
    let empty = play(&[(1, 0, 0)], 5).unwrap_err();
    assert!(empty.to_string().contains("at least one play"), "{empty}");
    assert!(play(&[(0, u64::MAX, u64::MAX)], 5).is_ok());
}

#[test]
fn a_loss_function_that_misbehaves_late_is_an_error_not_a_number() {
    // Longer than what is tried when the arm is made; bad only when exactly the plays 1 and 14 ago are its own.
    let mut weights = vec![1.0 / 1024.0; 14];
    weights[13] = 1.0;
    let curve = LossCurve::function(|tally| if tally == 1.0 + 1.0 / 1024.0 { 2.0 } else { 0.5 });
    let game =
        Game::new(vec![arm(weights, curve).named("bob").unwrap(), arm(vec![1.0], LossCurve::constant(0.5))]).unwrap();
    for engine in [Engine::Stepwise, Engine::Leaping] {
        let mut policy = Script::new(&[(0, 0, 1), (1, 0, 12)]);
        let refused = simulate(&game, &mut policy, &Grid::end(40).unwrap(), engine, &mut noise());
        assert_eq!(refused, Err(SimulateError::CurveLeftRange { arm: 0, name: Some("bob".to_owned()) }));
        assert!(refused.unwrap_err().to_string().starts_with("the loss function of arm 0 (bob) returned"));
    }
}

proptest! {
    /// Without noise the engines must agree play by play: same losses, same feedback, same counts.
    #[test]
    fn engines_agree_on_random_games_and_runs(
        arms in prop::collection::vec(
            (prop::collection::vec(0.01f64..=1.0, 1..6), 0.0f64..=1.0, 0.0f64..=1.0, 0.0f64..=1.0),
            1..4,
        ),
        runs in prop::collection::vec((0usize..4, 0u64..8, 0u64..8), 1..12),
        horizon in 1u64..120,
    ) {
        let arms: Vec<Arm> = arms
            .into_iter()
            .map(|(weights, low, calibrated, alone)| {
                let slope = -low / weights.iter().sum::<f64>();
                arm(weights, LossCurve::linear(1.0, slope).when_calibrated(calibrated).when_alone(alone))
            })
            .collect();
        let runs: Vec<_> = runs.into_iter().map(|(x, b, r)| (x % arms.len(), b, r.max(u64::from(b == 0)))).collect();
        let game = Game::new(arms).unwrap();
        let grid = Grid::linear(horizon, horizon as usize).unwrap();
        let (mut stepped, mut leapt) = (Script::new(&runs), Script::new(&runs));
        let slow = simulate(&game, &mut stepped, &grid, Engine::Stepwise, &mut noise()).unwrap();
        let fast = simulate(&game, &mut leapt, &grid, Engine::Leaping, &mut noise()).unwrap();
        prop_assert_eq!(&slow.plays, &fast.plays);
        prop_assert_eq!(slow.checkpoints.len(), horizon as usize);
        let sequence: Vec<usize> = slow_sequence(&runs, horizon);
        let losses = game.losses(&sequence).unwrap();
        let mut total = 0.0;
        for ((a, b), loss) in slow.checkpoints.iter().zip(&fast.checkpoints).zip(losses) {
            total += loss;
            prop_assert_eq!((a.t, a.switches), (b.t, b.switches));
            prop_assert!((a.loss - total).abs() < 1e-9 && (b.loss - total).abs() < 1e-9);
        }
        prop_assert_eq!(stepped.told.len(), leapt.told.len());
        for ((run, a), (_, b)) in stepped.told.iter().zip(&leapt.told) {
            prop_assert_eq!((a.plays, b.plays), (run.record, run.record));
            prop_assert!((a.sum - b.sum).abs() < 1e-9 && (a.sum_sq - b.sum_sq).abs() < 1e-9);
        }
    }
}

fn slow_sequence(runs: &[(usize, u64, u64)], horizon: u64) -> Vec<usize> {
    let plays = runs.iter().cycle().flat_map(|&(arm, burn_in, record)| (0..burn_in + record).map(move |_| arm));
    plays.take(horizon as usize).collect()
}
