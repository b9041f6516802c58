//! Computations that would take hours or more end when their stop flag is set.

#![allow(clippy::unwrap_used)] // a test may panic

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Duration;

use calibandit::zoo::{CurveFamily, RandomReo, Span, Step};
use calibandit::{
    Arm, BatchItem, Engine, Game, Grid, Interrupt, Limits, LossCurve, Noise, Optima, OptimumError, PolicySpec,
    ReoError, SimulateError, Simulation, SimulationError, StreamKey, Weights, reo_interruptible,
    simulate_batch_interruptible, simulate_interruptible,
};
use serde_json::json;

/// Runs a computation, and sets its stop flag once it has counted plays, or after a moment if it counts none.
fn stopped<T: Send>(counts: bool, compute: impl FnOnce(Interrupt<'_>) -> T + Send) -> T {
    let (stop, plays) = (AtomicBool::new(false), AtomicU64::new(0));
    std::thread::scope(|threads| {
        let interrupt = Interrupt::new(&stop).counting(&plays);
        let computed = threads.spawn(move || compute(interrupt));
        std::thread::sleep(Duration::from_millis(30));
        while counts && plays.load(Ordering::Relaxed) == 0 {
            std::thread::sleep(Duration::from_millis(1));
        }
        stop.store(true, Ordering::Relaxed);
        computed.join().unwrap()
    })
}

fn step(memory: usize) -> Game {
    Step { memory, ..Step::default() }.draw(&mut StreamKey::new(1, "interrupt", 0).game()).unwrap()
}

/// A game without a loss table.
fn long_windows() -> Game {
    let weights = Weights::new((1..=2000).map(|age| 1.0 / f64::from(age)).collect()).unwrap();
    Game::new(vec![Arm::new(weights, LossCurve::linear(0.9, -0.05), Noise::Bernoulli).unwrap(); 2]).unwrap()
}

/// More plays than can be simulated one by one.
const ENDLESS: u64 = 1 << 53;

fn simulate_until_stopped(game: &Game, policy: serde_json::Value, engine: Engine) {
    let spec: PolicySpec = serde_json::from_value(policy).unwrap();
    let streams = StreamKey::new(1, "interrupt", 0);
    let result = stopped(true, |interrupt| {
        let mut policy = spec.build(&game.problem(ENDLESS), streams.policy()).unwrap();
        let grid = Grid::linear(ENDLESS, 10).unwrap();
        simulate_interruptible(game, &mut policy, &grid, engine, &mut streams.noise(), interrupt)
    });
    assert!(matches!(result, Err(SimulateError::Interrupted(_))), "{spec:?}: {result:?}");
}

#[test]
fn single_simulations_of_both_engines_stop() {
    for policy in [json!({"kind": "ucb1"}), json!({"kind": "thompson"}), json!({"kind": "exp3"})] {
        simulate_until_stopped(&step(3), policy.clone(), Engine::Leaping);
        simulate_until_stopped(&step(100), policy.clone(), Engine::Leaping);
        simulate_until_stopped(&long_windows(), policy.clone(), Engine::Leaping);
        simulate_until_stopped(&step(3), policy, Engine::Stepwise);
    }
}

#[test]
fn a_single_stepwise_run_stops() {
    let result = stopped(false, |interrupt| {
        let game = step(3);
        let spec: PolicySpec =
            serde_json::from_value(json!({"kind": "calibrated", "memory_bound": 1u64 << 52})).unwrap();
        let streams = StreamKey::new(1, "interrupt", 0);
        let mut policy = spec.build(&game.problem(ENDLESS), streams.policy()).unwrap();
        let grid = Grid::end(ENDLESS).unwrap();
        simulate_interruptible(&game, &mut policy, &grid, Engine::Stepwise, &mut streams.noise(), interrupt)
    });
    assert!(matches!(result, Err(SimulateError::Interrupted(_))), "{result:?}");
}

#[test]
fn batches_stop_in_all_their_items() {
    for policy in [json!({"kind": "exp3"}), json!({"kind": "batched-exp3", "batch": 3, "gamma": 0.01})] {
        let spec: PolicySpec = serde_json::from_value(policy).unwrap();
        let results = stopped(true, |interrupt| {
            let game = step(3);
            let of = |instance| StreamKey::new(1, "interrupt", instance);
            let mut policies: Vec<_> =
                (0..9).map(|i| spec.build(&game.problem(ENDLESS), of(i).policy()).unwrap()).collect();
            let mut noises: Vec<_> = (0..9).map(|i| of(i).noise()).collect();
            let items = policies.iter_mut().zip(&mut noises);
            let mut items: Vec<_> = items.map(|(policy, noise)| BatchItem { game: &game, policy, noise }).collect();
            simulate_batch_interruptible(&mut items, &Grid::end(ENDLESS).unwrap(), interrupt)
        });
        assert!(results.iter().all(|result| matches!(result, Err(SimulateError::Interrupted(_)))), "{spec:?}");
    }
}

#[test]
fn all_plays_of_finished_simulations_are_counted() {
    let (stop, plays) = (AtomicBool::new(false), AtomicU64::new(0));
    let mut simulation = Simulation::new(step(3)).interrupt(Interrupt::new(&stop).counting(&plays));
    for policy in ["ucb1", "exp3", "thompson"] {
        simulation = simulation.policy(serde_json::from_value::<PolicySpec>(json!({"kind": policy})).unwrap());
    }
    simulation.horizon(70_001).instances(11).run().unwrap();
    assert_eq!(plays.load(Ordering::Relaxed), 3 * 11 * 70_001);
}

#[test]
fn an_interrupt_that_is_never_used_changes_no_bit() {
    let (stop, plays) = (AtomicBool::new(false), AtomicU64::new(0));
    let outcome = |interrupt| {
        let policies =
            ["ucb1", "exp3"].map(|kind| serde_json::from_value::<PolicySpec>(json!({"kind": kind})).unwrap());
        let simulation = Simulation::new(step(3)).horizon(200_000).instances(3).interrupt(interrupt);
        policies.into_iter().fold(simulation, Simulation::policy).run().unwrap()
    };
    assert_eq!(outcome(Interrupt::never()), outcome(Interrupt::new(&stop).counting(&plays)));
}

/// Many arms whose windows are all enumerated.
fn enumerated() -> Game {
    let arm = |x: u32| {
        let weights = Weights::new((1..=24).map(|age| 1.0 / f64::from(age + x)).collect()).unwrap();
        let curve = LossCurve::function(move |tally| 0.5 + 0.4 * (tally + f64::from(x)).sin());
        Arm::new(weights, curve, Noise::Bernoulli).unwrap()
    };
    Game::new((0..20_000).map(arm).collect()).unwrap()
}

#[test]
fn alpha_and_the_optimum_stop_while_windows_are_enumerated() {
    let game = enumerated();
    let alpha = stopped(false, |interrupt| reo_interruptible(&game, interrupt));
    assert!(matches!(alpha, Err(ReoError::Interrupted(_))), "{alpha:?}");
    let best = stopped(false, |interrupt| Optima::new(&game).interruptible(interrupt).at(1000));
    assert!(matches!(best, Err(OptimumError::Interrupted(_))), "{best:?}");
    let simulated = stopped(false, |interrupt| {
        let policy: PolicySpec = serde_json::from_value(json!({"kind": "ucb1"})).unwrap();
        Simulation::new(game.clone()).policy(policy).interrupt(interrupt).run().map(|_| ())
    });
    assert!(matches!(simulated, Err(SimulationError::Optimum(OptimumError::Interrupted(_)))), "{simulated:?}");
}

#[test]
fn the_search_and_the_graph_stop_and_can_be_repeated() {
    let random = RandomReo { arms: 12, memory: Span::One(40), curve: CurveFamily::Rough, ..RandomReo::default() };
    let game = random.draw(&mut StreamKey::new(1, "interrupt", 3).game()).unwrap();
    let dosed: Vec<f64> = (0..16).map(|plays| if plays == 7 { 0.1 } else { 0.5 + 0.01 * f64::from(plays) }).collect();
    let arm = |shift: f64| {
        let losses: Vec<f64> = dosed.iter().map(|loss| loss + shift).collect();
        Arm::new(Weights::unit(16).unwrap(), LossCurve::by_plays(losses), Noise::Bernoulli).unwrap()
    };
    let dosed = Game::new(vec![arm(0.0), arm(0.01), arm(0.02)]).unwrap();
    let endless = Limits { states: usize::MAX / 4, windows: u64::MAX, bytes: u64::MAX };
    for game in [&game, &dosed] {
        let (stop, once) = (AtomicBool::new(true), AtomicBool::new(false));
        let mut optima = Optima::with_limits(game, endless).interruptible(Interrupt::new(&stop));
        assert!(matches!(optima.at(1000), Err(OptimumError::Interrupted(_))));
        // The flag is set while the graph or the search is under way.
        stop.store(false, Ordering::Relaxed);
        std::thread::scope(|threads| {
            threads.spawn(|| {
                std::thread::sleep(Duration::from_millis(50));
                once.store(true, Ordering::Relaxed);
                stop.store(true, Ordering::Relaxed);
            });
            let result = optima.at(1000);
            assert!(matches!(result, Err(OptimumError::Interrupted(_))), "{result:?}");
        });
        assert!(once.load(Ordering::Relaxed));
    }
    // A small game, interrupted and asked again, has the same optimum as without an interruption.
    let small = RandomReo { arms: 3, memory: Span::One(4), alpha: 0.1, ..RandomReo::default() };
    let small = small.draw(&mut StreamKey::new(1, "interrupt", 4).game()).unwrap();
    let stop = AtomicBool::new(true);
    let mut optima = Optima::new(&small).interruptible(Interrupt::new(&stop));
    assert!(matches!(optima.at(1000), Err(OptimumError::Interrupted(_))));
    stop.store(false, Ordering::Relaxed);
    assert_eq!(optima.at(1000), Optima::new(&small).at(1000));
}
