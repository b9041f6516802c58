//! The policies `planner` and `rotation`, for games without repeated exposure optimality.

#![allow(clippy::unwrap_used)] // a test may panic

use calibandit::policy::{Calibrated, Planner, PlannerCells, Rotation};
use calibandit::rng::StreamKey;
use calibandit::{
    Arm, Engine, Feedback, Game, Grid, LossCurve, Noise, Policy, PolicySpec, Problem, Run, Weights, cpr, simulate,
};

/// Arms with unit weights, given by their losses at each tally.
fn game(curves: &[&[f64]], noise: Noise) -> Game {
    let arm = |curve: &&[f64]| {
        Arm::new(Weights::unit(curve.len()).unwrap(), LossCurve::by_plays(curve.to_vec()), noise).unwrap()
    };
    Game::new(curves.iter().map(arm).collect()).unwrap()
}

/// The mean CPR over some instances.
fn regret(game: &Game, spec: &PolicySpec, horizon: u64, instances: u64) -> f64 {
    let problem = Problem { arms: game.arms().len(), horizon: Some(horizon) };
    let of_instance = |instance| {
        let key = StreamKey::new(1, "beyond", instance);
        let mut policy = spec.build(&problem, key.policy()).unwrap();
        let grid = Grid::end(horizon).unwrap();
        let played = simulate(game, &mut policy, &grid, Engine::Leaping, &mut key.noise()).unwrap();
        *cpr(game, &played.checkpoints).unwrap().last().unwrap()
    };
    (0..instances).map(of_instance).sum::<f64>() / instances as f64
}

/// Falls with the first two plays, then rises: the best cycle takes turns. The bounds are far below what any policy
/// pays that stays with one arm, 0.13 per play and more.
#[test]
fn both_policies_find_cycles_that_no_single_arm_attains() {
    let tired: &[f64] = &[0.5, 0.15, 0.5, 0.9];
    let game = game(&[tired, tired, &[0.45; 4]], Noise::Bernoulli);
    let horizon = 100_000;
    let stay = regret(&game, &Calibrated::builder(4).into(), horizon, 3);
    assert!(stay > 0.2 * horizon as f64, "{stay}");
    for spec in [PolicySpec::from(Planner::builder(4)), Rotation::builder(4).into()] {
        let found = regret(&game, &spec, horizon, 3);
        assert!(found < 0.02 * horizon as f64, "{}: {found}", spec.label());
    }
}

/// Forwards to a policy and keeps the number of plays.
struct PlanCounter<P> {
    policy: P,
    plays: u64,
    most_plans: fn(&P, u64),
}

impl<P: Policy> Policy for PlanCounter<P> {
    fn next_run(&mut self) -> Run {
        let run = self.policy.next_run();
        (self.most_plans)(&self.policy, self.plays);
        run
    }
    fn observe(&mut self, run: Run, feedback: Feedback) {
        self.plays += run.plays();
        self.policy.observe(run, feedback);
    }
    fn recommend(&self) -> usize {
        self.policy.recommend()
    }
}

/// At most C·(1 + log2(T / C)) plans after the first, for C cells, at every T >= C.
fn check_plans(plans: u64, cells: f64, plays: u64) {
    let most = if plays as f64 >= cells { cells * (1.0 + (plays as f64 / cells).log2()) } else { plays as f64 };
    assert!(plans as f64 <= 1.0 + most, "{plans} plans after {plays} plays, and {most} may follow the first");
}

#[test]
fn the_number_of_plans_is_bounded() {
    let game = game(&[&[0.5, 0.2, 0.6], &[0.3, 0.4, 0.5]], Noise::Bernoulli);
    let problem = Problem { arms: 2, horizon: Some(50_000) };
    let key = StreamKey::new(2, "plans", 0);
    let grid = Grid::end(50_000).unwrap();
    let run = |policy: &mut dyn Policy| {
        simulate(&game, policy, &grid, Engine::Stepwise, &mut key.noise()).unwrap();
    };
    let planner = Planner::builder(3).build(&problem, key.policy()).unwrap();
    let mut planner =
        PlanCounter { policy: planner, plays: 0, most_plans: |policy, plays| check_plans(policy.plans(), 6.0, plays) };
    run(&mut planner);
    let rotation = Rotation::builder(3).build(&problem, key.policy()).unwrap();
    let mut rotation =
        PlanCounter { policy: rotation, plays: 0, most_plans: |policy, plays| check_plans(policy.plans(), 6.0, plays) };
    run(&mut rotation);
    let windows = Planner::builder(3).cells(PlannerCells::Window).build(&problem, key.policy()).unwrap();
    let mut windows =
        PlanCounter { policy: windows, plays: 0, most_plans: |policy, plays| check_plans(policy.plans(), 8.0, plays) };
    run(&mut windows);
    // The bound is not idle: cells that are played all the time double again and again.
    assert!(planner.policy.plans() > 15 && rotation.policy.plans() > 15 && windows.policy.plans() > 15);
}

/// Without noise the means are exact after one play of a cell, and both policies settle on the best cycle: 2/5 of the
/// plays of the first arm at a loss of 0, three of the other at 0.25.
#[test]
fn the_plan_approaches_the_best_cycle() {
    // At most two plays among five cost nothing.
    let game = game(&[&[0.0, 0.0, 1.0, 1.0, 1.0], &[0.25; 5]], Noise::None);
    let problem = Problem { arms: 2, horizon: None };
    let key = StreamKey::new(3, "settle", 0);
    let grid = Grid::end(20_000).unwrap();
    let mut rotation = Rotation::builder(5).build(&problem, key.policy()).unwrap();
    simulate(&game, &mut rotation, &grid, Engine::Leaping, &mut key.noise()).unwrap();
    assert_eq!(rotation.cycle(), [0, 0, 1, 1, 1]);
    let mut planner = Planner::builder(5).build(&problem, key.policy()).unwrap();
    simulate(&game, &mut planner, &grid, Engine::Leaping, &mut key.noise()).unwrap();
    let free = planner.cycle().iter().filter(|&&arm| arm == 0).count();
    assert_eq!(5 * free, 2 * planner.cycle().len(), "{:?}", planner.cycle());
}
