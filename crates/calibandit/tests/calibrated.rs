//! The lemmas of docs/calibrated.md, run: each test would fail if its lemma were false. What concerns the evidence and the
//! level, which are private, is tested beside them (`policy/calibrated/evidence.rs` and `race.rs`).

#![allow(clippy::unwrap_used)] // a test may panic

use calibandit::policy::{Calibrated, Index};
use calibandit::rng::StreamKey;
use calibandit::{
    AnyPolicy, Certificate, Engine, Feedback, Game, GameSpec, Grid, Policy, PolicySpec, Problem, Run, cpr, reo,
    simulate,
};
use serde_json::{Value, json};

const FAMILY: [Index; 8] = [
    Index::Challenge,
    Index::Cautious,
    Index::KlUcb,
    Index::Moss,
    Index::Bernstein,
    Index::Imed,
    Index::Thompson,
    Index::Elimination,
];

fn game(spec: Value, instance: u64) -> Game {
    let spec: GameSpec = serde_json::from_value(spec).unwrap();
    spec.draw(&mut StreamKey::new(5, "calibrated", instance).game()).unwrap()
}

/// Random games that satisfy alpha-REO: 2 to 6 arms, memory 1 to 6, alpha 0 or more.
fn random_game(instance: u64) -> Game {
    let alpha = [0.0, 0.0, 0.02, 0.1][instance as usize % 4];
    let memory = if alpha > 0.0 { 2 + instance / 4 % 5 } else { 1 + instance / 4 % 6 };
    game(json!({ "kind": "random-reo", "arms": 2 + instance % 5, "memory": memory, "alpha": alpha }), instance)
}

fn step(arms: usize, memory: usize, gap: f64, instance: u64) -> Game {
    let spec = json!({ "kind": "step", "arms": arms, "memory": memory, "usual_loss": 0.5, "best_loss": 0.5 - gap });
    game(spec, instance)
}

fn member(index: Index, memory_bound: u64) -> PolicySpec {
    Calibrated::builder(memory_bound).index(index).into()
}

/// A policy whose runs and certificates are kept.
struct Watched {
    policy: AnyPolicy,
    runs: Vec<Run>,
    certificates: Vec<Certificate>,
}

impl Policy for Watched {
    fn next_run(&mut self) -> Run {
        let run = self.policy.next_run();
        self.runs.push(run);
        run
    }
    fn observe(&mut self, run: Run, feedback: Feedback) {
        self.policy.observe(run, feedback);
        self.certificates.extend(self.policy.certificate());
    }
    fn recommend(&self) -> usize {
        self.policy.recommend()
    }
}

fn watched(spec: &PolicySpec, arms: usize, horizon: Option<u64>, instance: u64) -> Watched {
    let policy = spec.build(&Problem { arms, horizon }, StreamKey::new(5, "calibrated", instance).policy()).unwrap();
    Watched { policy, runs: vec![], certificates: vec![] }
}

/// What a trajectory came to.
struct Played {
    cpr: f64,
    runs: Vec<Run>,
    certificates: Vec<Certificate>,
}

/// Plays, with the horizon told to the policy or not.
fn play(game: &Game, spec: &PolicySpec, horizon: u64, told: bool, instance: u64) -> Played {
    let mut policy = watched(spec, game.arms().len(), told.then_some(horizon), instance);
    let mut noise = StreamKey::new(5, "calibrated", instance).noise();
    let played = simulate(game, &mut policy, &Grid::end(horizon).unwrap(), Engine::Leaping, &mut noise).unwrap();
    let mut left = horizon;
    for run in &mut policy.runs {
        // The last run is cut at the horizon.
        run.burn_in = run.burn_in.min(left);
        run.record = run.record.min(left - run.burn_in);
        left -= run.plays();
    }
    assert_eq!(left, 0);
    let cpr = *cpr(game, &played.checkpoints).unwrap().last().unwrap();
    Played { cpr, runs: policy.runs, certificates: policy.certificates }
}

/// A stretch of plays of one arm: what the arm had recorded before, and what was recorded in it.
struct Visit {
    arm: usize,
    before: u64,
    recorded: u64,
}

fn visits(arms: usize, runs: &[Run]) -> Vec<Visit> {
    let mut recorded = vec![0; arms];
    let mut visits: Vec<Visit> = vec![];
    for run in runs {
        match visits.last_mut() {
            Some(visit) if visit.arm == run.arm => visit.recorded += run.record,
            _ => visits.push(Visit { arm: run.arm, before: recorded[run.arm], recorded: run.record }),
        }
        recorded[run.arm] += run.record;
    }
    visits
}

/// Play by play, following the definitions: how many of the recorded plays were not calibrated. A run to the end is
/// no record, as nothing is learned from it.
fn uncalibrated_records(game: &Game, spec: &PolicySpec, horizon: u64, instance: u64) -> u64 {
    let mut policy = watched(spec, game.arms().len(), Some(horizon), instance);
    let mut noise = StreamKey::new(5, "calibrated", instance).noise();
    let mut window = game.empty_window();
    let (mut time, mut uncalibrated) = (0, 0);
    while time < horizon {
        let run = policy.next_run();
        if run.plays() > horizon - time {
            break;
        }
        let arm = &game.arms()[run.arm];
        let mut feedback = Feedback::default();
        for play in 0..run.plays() {
            let loss = game.play(run.arm, &mut window);
            if play >= run.burn_in {
                uncalibrated += u64::from(window.plays_of(run.arm).any(|played| !played));
                feedback += Feedback::one(arm.noise().draw(loss, &mut noise));
            }
        }
        time += run.plays();
        policy.observe(run, feedback);
    }
    uncalibrated
}

#[test]
fn lemma_1_every_recorded_play_is_calibrated_and_only_if_the_bound_is_one() {
    for instance in 0..120 {
        let game = random_game(instance);
        let memory = game.memory() as u64;
        for index in FAMILY {
            let spec = member(index, memory + instance % 3);
            assert_eq!(uncalibrated_records(&game, &spec, 2000, instance), 0, "{index:?}, instance {instance}");
            if memory > 1 {
                let spec = member(index, memory - 1);
                assert!(uncalibrated_records(&game, &spec, 2000, instance) > 0, "{index:?}, instance {instance}");
            }
        }
    }
}

#[test]
fn lemma_1_no_shorter_burn_in_is_safe_after_a_single_interruption() {
    for memory in 2..9 {
        let game = step(2, memory, 0.15, 0);
        let best = game.best_arm();
        let mut sequence = vec![best; 3 * memory];
        sequence.push(1 - best);
        sequence.extend(vec![best; memory]);
        let losses = game.losses(&sequence).unwrap();
        let after = &losses[3 * memory + 1..];
        assert!(after[..memory - 1].iter().all(|&loss| loss == 0.5), "{after:?}");
        assert_eq!(after[memory - 1], 0.35);
    }
}

#[test]
#[ignore = "slow: hundreds of simulations"]
fn lemma_2_regret_is_at_most_gaps_of_records_and_burn_in_and_alpha() {
    for instance in 0..300 {
        let game = random_game(instance);
        let alpha = reo(&game).unwrap().alpha;
        let horizon = [300, 5_000, 1_000_000][instance as usize % 3];
        let spec = member(FAMILY[instance as usize / 3 % 8], game.memory() as u64 + instance % 4);
        let played = play(&game, &spec, horizon, instance % 2 == 0, instance);
        let gap = |arm: usize| game.arms()[arm].eventual_loss() - game.best_loss();
        let mut bound = alpha * horizon as f64;
        let mut current = None;
        for run in &played.runs {
            // A run to the end is not burned in: up to m - 1 of its plays are not calibrated.
            let cold = if current == Some(run.arm) { 0 } else { (game.memory() as u64 - 1).min(run.plays()) };
            let burn_in = run.burn_in.max(cold);
            bound += burn_in as f64 + gap(run.arm) * (run.plays() - burn_in) as f64;
            current = Some(run.arm);
        }
        assert!(played.cpr <= bound + 1e-6 * bound.max(1.0), "instance {instance}: {} above {bound}", played.cpr);
    }
}

#[test]
fn lemma_3_visits_are_long_and_few() {
    let mut most = 0.0f64;
    for (instance, horizon) in [3_000, 100_000, 10_000_000, 1_000_000_000_000].into_iter().enumerate() {
        for (arms, memory_bound) in [(2, 1), (5, 10), (20, 40)] {
            // Equal arms: nothing is ever decided, so that there are as many visits as there can be.
            let game = step(arms, 1, 0.0, 0);
            for index in FAMILY {
                for told in [true, false] {
                    let played = play(&game, &member(index, memory_bound), horizon, told, instance as u64);
                    let first = played.runs[0].record;
                    let visits = visits(arms, &played.runs);
                    let later = visits.iter().filter(|visit| visit.before > 0);
                    let complete = later.clone().count().saturating_sub(1);
                    for visit in later.take(complete) {
                        let least = (0.15 * visit.before as f64).max(8.0).max(memory_bound as f64 - 1.0);
                        assert!(visit.recorded as f64 >= least, "{index:?}: {} below {least}", visit.recorded);
                    }
                    let k = arms as f64;
                    let ratio = (horizon as f64 / (k * first as f64)).max(1.0);
                    let bound = k + k * ratio.ln() / 1.15f64.ln() + 1.0;
                    most = most.max(visits.len() as f64 / bound);
                    assert!(visits.len() as f64 <= bound, "{index:?}, K {arms}, T {horizon}: {}", visits.len());
                }
            }
        }
    }
    // A bound that nothing comes near would test nothing.
    assert!(most > 0.2, "{most}");
}

/// The right side of the theorem, with alpha 0.
fn theorem(arms: usize, memory_bound: u64, horizon: u64) -> f64 {
    let (k, m, t) = (arms as f64, memory_bound as f64, horizon as f64);
    let (log, b) = (t.ln(), 2.0 * m.max(32.0));
    let visits = k + k * (t / (8.0 * k)).max(1.0).ln() / 1.15f64.ln() + 1.0;
    let failure = 8_000.0 * log.powf(3.5);
    ((1.0 + 10.0 * t.ln_1p() + 204.0 + failure) * (k * t).sqrt() + 17.0 * k * b + (m - 1.0) * visits).max(4.0 * k * b)
}

/// The gaps at which regret is largest are of the order sqrt(K/T). The theorem's constants are generous; that regret is
/// of its order with a small constant is tested beside it.
#[test]
#[ignore = "slow: simulations up to horizon 10^8"]
fn theorem_regret_grows_no_faster_than_the_square_root() {
    for index in [Index::Challenge, Index::Cautious] {
        for told in [true, false] {
            for (arms, memory, memory_bound) in [(2, 3, 3), (10, 5, 20)] {
                for horizon in [1_000, 10_000, 100_000, 1_000_000, 10_000_000, 100_000_000] {
                    let root = (arms as f64 * horizon as f64).sqrt();
                    for times in [1.0, 3.0, 10.0] {
                        let gap = (times * (arms as f64 / horizon as f64).sqrt()).min(0.5);
                        let instances = 24;
                        let total: f64 = (0..instances)
                            .map(|instance| {
                                let game = step(arms, memory, gap, instance);
                                play(&game, &member(index, memory_bound), horizon, told, instance).cpr
                            })
                            .sum();
                        let mean = total / instances as f64;
                        let burn_in = 3.0 * (memory_bound - 1) as f64 * arms as f64;
                        assert!(mean <= theorem(arms, memory_bound, horizon));
                        assert!(
                            mean <= 3.0 * root + burn_in,
                            "{index:?}, told {told}, K {arms}, T {horizon}, gap {gap}: {mean} against {root}"
                        );
                    }
                }
            }
        }
    }
}

/// What elimination certifies, at any time of a game, is right with probability 0.95.
#[test]
fn elimination_s_certificates_are_right() {
    for told in [true, false] {
        let (mut wrong, mut ruled_out) = (0, 0);
        let games = 400;
        for instance in 0..games {
            let game = step(2 + instance as usize % 9, 2, 0.02 + 0.02 * (instance % 5) as f64, instance);
            let played = play(&game, &member(Index::Elimination, 2), 1_000_000, told, instance);
            let best = game.best_loss();
            let fine = |certificate: &Certificate| {
                assert_eq!(certificate.delta, 0.05);
                let gap = |&arm: &usize| game.arms()[arm].eventual_loss() - best;
                certificate.arms.contains(&game.best_arm())
                    && certificate.arms.iter().map(gap).fold(0.0, f64::max) <= certificate.gap + 1e-12
            };
            wrong += u64::from(!played.certificates.iter().all(fine));
            let last = played.certificates.last().unwrap();
            ruled_out += u64::from(last.arms.len() == 1);
        }
        assert!(wrong as f64 <= 0.05 * games as f64, "told {told}: {wrong} of {games}");
        assert!(ruled_out > games / 2, "told {told}: only {ruled_out} of {games} are decided");
    }
}

#[test]
fn every_member_survives_every_setting() {
    let feedback = [
        json!("none"),
        json!("bernoulli"),
        json!({ "normal": { "sd": 1e6 } }),
        json!({ "beta": { "concentration": 0.1 } }),
    ];
    for index in FAMILY {
        for (instance, feedback) in feedback.iter().enumerate() {
            for (arms, memory, memory_bound) in [(1, 1, 1), (1, 4, 4), (2, 1, 1), (7, 3, 9), (30, 5, 200)] {
                let spec = json!({ "kind": "step", "arms": arms, "memory": memory, "feedback": feedback });
                let game = game(spec, instance as u64);
                for horizon in [1, 2, 17, 900, 40_000] {
                    for told in [true, false] {
                        let played = play(&game, &member(index, memory_bound), horizon, told, instance as u64);
                        assert!(played.cpr.is_finite() && played.cpr >= -1e-9);
                        assert!(played.runs.iter().all(|run| run.arm < arms));
                    }
                }
            }
        }
    }
}

/// Where the horizon does not allow for a look at every arm, a part of them is tried, in at most half of it.
#[test]
fn short_horizons_try_a_part_of_the_arms() {
    let game = step(200, 50, 0.15, 0);
    for horizon in [100, 1_000, 10_000] {
        let played = play(&game, &member(Index::Challenge, 100), horizon, true, 0);
        let mut tried: Vec<usize> = played.runs.iter().map(|run| run.arm).collect();
        tried.sort_unstable();
        tried.dedup();
        let most = (horizon as usize / (2 * (99 + 4))).max(1);
        assert_eq!(tried.len(), most, "T {horizon}");
    }
}
