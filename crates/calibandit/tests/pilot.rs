//! The policy `pilot`: what it finds, what it spends, and that both engines agree during the pilot.

#![allow(clippy::unwrap_used)]

use calibandit::policy::{Calibrated, Pilot};
use calibandit::{
    Advisor, Arm, Engine, Feedback, Game, Grid, LossCurve, Noise, Policy, Problem, Run, Simulation, StreamKey, Weights,
    simulate,
};

mod common;

use common::kolmogorov_smirnov;

/// Three arms that lose 0.3 more until they are calibrated; the last one is the best.
fn game(memory: usize, noise: Noise) -> Game {
    let arm = |x: usize| {
        let eventual = 0.5 - 0.15 * x as f64;
        let curve = LossCurve::constant(eventual + 0.3).when_calibrated(eventual);
        Arm::new(Weights::unit(memory).unwrap(), curve, noise).unwrap()
    };
    Game::new((0..3).map(arm).collect()).unwrap()
}

fn played(game: &Game, policy: &mut Pilot, instance: u64, engine: Engine, horizon: u64) -> Vec<u64> {
    let mut noise = StreamKey::new(5, "pilot", instance).noise();
    let played = simulate(game, policy, &Grid::end(horizon).unwrap(), engine, &mut noise).unwrap();
    played.plays.clone()
}

fn built(longest: u32, instance: u64, horizon: Option<u64>) -> Pilot {
    let problem = Problem { arms: 3, horizon };
    Pilot::builder(longest).build(&problem, StreamKey::new(5, "pilot", instance).policy()).unwrap()
}

/// In 60 instances: the bound is at least the memory and at most twice as large, up to chance.
#[test]
fn the_memory_is_found() {
    for (memory, noise) in [(3, Noise::Bernoulli), (12, Noise::Bernoulli), (25, Noise::Normal { sd: 0.2 })] {
        let game = game(memory, noise);
        let usable = (0..60).filter(|&instance| {
            let mut policy = built(64, instance, Some(200_000));
            played(&game, &mut policy, instance, Engine::Leaping, 200_000);
            let bound = policy.memory_bound().unwrap();
            (memory as u64..=2 * memory as u64).contains(&bound)
        });
        // With 95 %, fewer than 50 have probability 0.0002.
        assert!(usable.count() >= 50, "memory {memory}, {noise:?}");
    }
}

/// The same law in both engines, with runs that are cut by the horizon during and after the pilot.
#[test]
fn engines_agree_during_and_after_the_pilot() {
    for (noise, horizon) in [(Noise::Bernoulli, 4000), (Noise::Normal { sd: 0.2 }, 20_000)] {
        let game = game(4, noise);
        let sample = |engine: Engine, first: u64| -> [Vec<f64>; 3] {
            let mut columns = [const { Vec::new() }; 3];
            for instance in first..first + 300 {
                let mut policy = built(6, instance, Some(horizon));
                let plays = played(&game, &mut policy, instance, engine, horizon);
                let bound = policy.memory_bound().map_or(0.0, |bound| bound as f64);
                let values = [plays[2] as f64, policy.pilot_plays() as f64, bound];
                columns.iter_mut().zip(values).for_each(|(column, value)| column.push(value));
            }
            columns
        };
        let (stepped, leapt) = (sample(Engine::Stepwise, 0), sample(Engine::Leaping, 1000));
        for (a, b) in stepped.iter().zip(&leapt) {
            let p = kolmogorov_smirnov(a, b);
            assert!(p > 1e-4, "{noise:?}: p = {p}");
        }
    }
}

/// The pilot takes at most a tenth of the horizon, and at most `most` plays.
#[test]
fn the_pilot_keeps_its_limits() {
    let game = game(30, Noise::Bernoulli);
    for (spec, horizon, limit) in [
        (Pilot::builder(40), 5000, 500),
        (Pilot::builder(40).most(321), 1_000_000, 321),
        (Pilot::builder(40).most(100_000), 3000, 300),
    ] {
        for instance in 0..20 {
            let key = StreamKey::new(6, "limits", instance);
            let mut policy = spec.build(&Problem { arms: 3, horizon: Some(horizon) }, key.policy()).unwrap();
            played(&game, &mut policy, instance, Engine::Leaping, horizon);
            assert!(policy.pilot_plays() <= limit, "{} of {limit}", policy.pilot_plays());
            assert!(policy.memory_bound().is_some_and(|bound| bound <= 40));
        }
    }
    // Too short for a single look: no pilot.
    let mut policy = built(40, 0, Some(1000));
    assert_eq!((policy.memory_bound(), policy.pilot_plays()), (Some(40), 0));
    let mut told = Calibrated::builder(40)
        .build(&Problem { arms: 3, horizon: Some(1000) }, StreamKey::new(5, "pilot", 0).policy())
        .unwrap();
    assert_eq!(policy.next_run(), told.next_run());
}

/// Losses that do not depend on recent plays exclude no memory, so the pilot ends with the longest one.
#[test]
fn without_a_warm_up_the_bound_is_the_longest_memory() {
    let mut policy = built(16, 1, None);
    while policy.memory_bound().is_none() {
        let run = policy.next_run();
        policy.observe(run, Feedback { plays: run.record, sum: 0.0, sum_sq: 0.0 });
    }
    assert_eq!(policy.memory_bound(), Some(16));
    // Ten times the longest memory for each arm, which is what the plan without noise has, up to the next look.
    assert!((480..700).contains(&policy.pilot_plays()), "{}", policy.pilot_plays());
}

/// After the hand-over, arms that were calibrated often enough in the pilot are not measured again.
#[test]
fn the_pilot_is_not_wasted() {
    let game = game(3, Noise::Normal { sd: 0.3 });
    let mut policy = built(8, 2, Some(1_000_000));
    let (mut window, mut draws) = (game.empty_window(), StreamKey::new(5, "pilot", 2).noise());
    let mut play = |policy: &mut Pilot| -> Run {
        let run = policy.next_run();
        let mut feedback = Feedback::default();
        for play in 0..run.plays() {
            let loss = game.play(run.arm, &mut window);
            if play >= run.burn_in {
                feedback += Feedback::one(game.arms()[run.arm].noise().draw(loss, &mut draws));
            }
        }
        policy.observe(run, feedback);
        run
    };
    while policy.memory_bound().is_none() {
        play(&mut policy);
    }
    assert_eq!(policy.recommend(), 2);
    let run = play(&mut policy);
    assert_eq!((run.arm, run.burn_in), (2, policy.memory_bound().unwrap() - 1), "the best arm at once");
}

/// Restored at any play of the pilot, of the hand-over and after it, an advisor is the same.
#[test]
fn snapshots_are_accepted_at_every_play() {
    let mut advisor = Advisor::new(built(5, 3, Some(20_000)), 3).unwrap();
    let mut after = 0;
    for play in 0..3000_u64 {
        let decision = advisor.ask().unwrap();
        let noise = (play as f64 * 0.618_034).fract();
        let loss = f64::from(noise < 0.2 + 0.2 * decision.arm as f64);
        advisor.tell(decision.id, loss).unwrap();
        let restored = Advisor::<Pilot>::from_json(&advisor.to_json().unwrap());
        assert_eq!(restored.unwrap_or_else(|error| panic!("play {play}: {error}")), advisor);
        after += u64::from(advisor.policy().memory_bound().is_some());
    }
    assert!(after > 500 && after < 2900, "{after} plays after the pilot");
}

/// What the pilot costs: more than the longest memory as a bound, if that is not generous.
#[test]
fn regret_is_bounded_by_what_the_pilot_may_spend() {
    let outcome = Simulation::new(game(8, Noise::Bernoulli))
        .policy(Pilot::builder(64))
        .horizon(100_000)
        .instances(20)
        .run()
        .unwrap();
    // At most 10,000 plays, each losing at most 0.6 more than the best.
    assert!(outcome.policies()[0].regret() < 6000.0);
    assert!(outcome.policies()[0].regret() > 20.0);
}
