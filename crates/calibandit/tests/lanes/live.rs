//! Simulations of live use: reproducible, with the regret that the definition gives.

use calibandit::policy::{Calibrated, Exp3};
use calibandit::simulate::{DelayLaw, LiveError, LiveSpec, SessionLaw, simulate_live};
use calibandit::{Arm, Game, Grid, Interrupt, LossCurve, Noise, PolicySpec, StreamKey, Weights};

/// One arm with the losses 0.9, 0.5 and then 0.1, and one with 0.6.
fn game() -> Game {
    let arm = |losses: [f64; 3]| Arm::new(Weights::unit(3).unwrap(), LossCurve::by_plays(losses), Noise::Bernoulli);
    Game::new(vec![arm([0.9, 0.5, 0.1]).unwrap(), arm([0.6; 3]).unwrap()]).unwrap()
}

fn policy() -> PolicySpec {
    Calibrated::builder(3).into()
}

#[test]
fn the_same_streams_give_the_same_bits() {
    let live = LiveSpec::default().lost(0.1).resets(0.01);
    let live = live.lanes(7).overlap(3).delay(4.0, DelayLaw::HeavyTailed).session(40.0, SessionLaw::Geometric);
    let play = |instance| {
        let (grid, streams) = (Grid::linear(5000, 5).unwrap(), StreamKey::new(3, "live", instance));
        simulate_live(&game(), &policy(), &grid, &live, streams, Interrupt::never()).unwrap()
    };
    assert_eq!(play(0), play(0));
    assert_ne!(play(0), play(1));
    let played = play(0);
    assert_eq!(played.trajectory.plays.iter().sum::<u64>(), 5000);
    let times: Vec<u64> = played.trajectory.checkpoints.iter().map(|at| at.t).collect();
    assert_eq!(times, [1000, 2000, 3000, 4000, 5000]);
}

/// 20 lanes of 50 plays are 20 sessions of 50 plays, or with sessions of 10 plays 100 of 10. The best session plays the
/// first arm throughout and loses 0.8 + 0.4 more than calibrated plays would.
#[test]
fn the_optimum_is_that_of_the_sessions() {
    let optimum = |live: LiveSpec| {
        let grid = Grid::end(1000).unwrap();
        let streams = StreamKey::new(1, "live", 0);
        simulate_live(&game(), &policy(), &grid, &live, streams, Interrupt::never()).unwrap().optimum[0]
    };
    let lanes = LiveSpec::default().lanes(20);
    assert!((optimum(lanes) - 20.0 * 1.2).abs() < 1e-9);
    assert!((optimum(lanes.session(10.0, SessionLaw::Constant)) - 100.0 * 1.2).abs() < 1e-9);
}

/// No regret can be negative, whatever happens to lanes and losses.
#[test]
fn the_regret_is_not_negative() {
    for (number, law) in [DelayLaw::Constant, DelayLaw::Geometric, DelayLaw::ByLoss].into_iter().enumerate() {
        for lanes in [1, 12] {
            for overlap in [1, 2] {
                let live = LiveSpec::default().lanes(lanes).overlap(overlap).delay(3.0, law);
                let (grid, streams) = (Grid::end(3000).unwrap(), StreamKey::new(number as u64, "live", lanes));
                let played = simulate_live(&game(), &policy(), &grid, &live, streams, Interrupt::never()).unwrap();
                assert!(played.regret() > -1e-9, "{live:?}: {}", played.regret());
            }
        }
    }
}

#[test]
fn what_cannot_be_simulated_is_refused() {
    let refused = |live: LiveSpec, policy: PolicySpec| {
        let (grid, streams) = (Grid::end(100).unwrap(), StreamKey::new(1, "live", 0));
        simulate_live(&game(), &policy, &grid, &live, streams, Interrupt::never()).unwrap_err()
    };
    let lost = LiveSpec::default().lost(f64::NAN);
    assert!(matches!(refused(lost, policy()), LiveError::Range { field: "lost", .. }));
    assert!(matches!(refused(LiveSpec::default().lanes(0), policy()), LiveError::Range { field: "lanes", .. }));
    let error = refused(LiveSpec::default().lanes(5), Exp3::builder().into());
    assert!(error.to_string().contains("probability of its own draw"), "{error}");
}
