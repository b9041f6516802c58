//! Diagnoses of logs whose truth is known.

mod known_truth;

use std::sync::atomic::AtomicBool;

use calibandit::{GameSpec, Interrupt, Noise, Simulation, StreamKey, policy::Calibrated};
use calibandit_fit::diagnose::{
    DiagnoseError, DiagnoseOptions, Diagnosis, Log, LogBuilder, NoteKind, PriceOptions, ReoVerdict, Stopped, Why,
    diagnose, diagnose_interruptible,
};
use known_truth::{Disturbance, GAMES, Logging, disturbed_log, game, log};

fn options(longest: u32, tolerance: f64) -> DiagnoseOptions {
    DiagnoseOptions { longest: Some(longest), tolerance: Some(tolerance), ..DiagnoseOptions::default() }
}

#[test]
fn blocks_give_a_bound_at_most_twice_the_truth() {
    for (name, seed) in [("step8", 1), ("linear16", 2), ("exp32", 3), ("decay24", 4), ("mixed", 5)] {
        let arms = game(name);
        let truth = arms.iter().map(|arm| arm.settles(0.1)).max().unwrap();
        let found =
            diagnose(&log(&arms, Logging::Blocks(64), Noise::Bernoulli, 100_000, seed), &options(40, 0.1)).unwrap();
        let bound = found.memory_bound.unwrap_or_else(|| panic!("{name}: {:?}", found.why));
        assert!(bound >= truth && bound <= 2 * truth, "{name}: {bound} for {truth}");
        assert_eq!(found.why, Why::Settled);
        for (arm, name) in arms.iter().zip(["a", "b", "c", "d"]) {
            let found = found.arm(name).unwrap();
            assert!(found.settled.lower <= arm.settles(0.1));
            assert!((found.eventual.unwrap().mean - arm.eventual()).abs() < 0.03);
        }
    }
}

#[test]
fn a_log_that_does_not_reach_the_longest_memory_gives_no_bound() {
    let arms = game("step8");
    for logging in [Logging::Stay(0.5), Logging::Thompson] {
        let found = diagnose(&log(&arms, logging, Noise::Bernoulli, 20_000, 1), &options(64, 0.1)).unwrap();
        assert_eq!((found.memory_bound, found.why), (None, Why::Reach), "{logging:?}");
        assert!(found.notes.iter().any(|note| note.kind == NoteKind::Reach), "{:?}", found.notes);
        let pilot = found.pilot.unwrap();
        assert!(pilot.longest == 64 && pilot.tallying < pilot.blocks, "{pilot:?}");
    }
}

#[test]
fn without_a_longest_memory_the_bound_is_conditional() {
    let arms = game("step8");
    let all = DiagnoseOptions { tolerance: Some(0.1), ..DiagnoseOptions::default() };
    let found = diagnose(&log(&arms, Logging::Blocks(64), Noise::Bernoulli, 100_000, 1), &all).unwrap();
    assert_eq!((found.memory_bound, found.why), (None, Why::NoLongest));
    assert!(found.conditional_bound.is_some_and(|bound| (8..=16).contains(&bound)), "{:?}", found.conditional_bound);
}

#[test]
fn an_arm_that_still_changes_is_named() {
    // Memory 32, and the user says 20: the step is beyond what may be compared.
    let mut arms = game("linear16");
    arms[2].weights = vec![1.0; 60];
    arms[2].drop = 0.5;
    let found = diagnose(&log(&arms, Logging::Blocks(64), Noise::Bernoulli, 100_000, 1), &options(24, 0.05)).unwrap();
    assert_eq!((found.memory_bound, found.why), (None, Why::Changes));
    assert_eq!(found.arm("c").unwrap().settled.stopped, Stopped::Changes);
    assert!(found.notes.iter().any(|note| note.kind == NoteKind::Changes && note.text.contains("`c`")));
}

#[test]
fn repeated_exposure_is_judged() {
    let verdict = |name: &str, seed: u64| {
        let found = diagnose(
            &log(&game(name), Logging::Blocks(64), Noise::Normal { sd: 0.2 }, 60_000, seed),
            &options(40, 0.1),
        );
        found.unwrap().reo
    };
    for name in ["none", "step8", "linear16"] {
        let reo = verdict(name, 1);
        assert_eq!(reo.verdict, ReoVerdict::Holds, "{name}: {reo:?}");
        assert!(reo.alpha.1.unwrap() <= 0.1);
    }
    for name in ["fatigue", "first-impression"] {
        let reo = verdict(name, 1);
        assert_eq!(reo.verdict, ReoVerdict::Violated, "{name}: {reo:?}");
        assert!(reo.alpha.0 > 0.05 && reo.witness.is_some(), "{reo:?}");
    }
}

/// An arm that was played a few times, never twice in a row, could become better than any other one.
#[test]
fn repeated_exposure_and_price_are_open_if_an_arm_was_hardly_played() {
    let mut builder = LogBuilder::new();
    for play in 0..2000 {
        let (arm, level) = if play % 250 == 7 { ("rare", 0.9) } else { ("usual", 0.3) };
        builder.push(arm, Some(level + f64::from(play * 7919 % 101) / 1010.0), None, None).unwrap();
    }
    let found = diagnose(&builder.build().unwrap(), &options(40, 0.1)).unwrap();
    assert_eq!(found.arm("rare").unwrap().reach, 0);
    assert_eq!((found.reo.verdict, found.reo.alpha.1), (ReoVerdict::Undecided, None));
    // The other arm rested one play at most, so nothing is known about its first plays either.
    assert!(found.reo.reason.as_ref().unwrap().contains("hardly ever played twice after a rest"));
    // A fitted game would have a flat curve for the arm, and plain bandits would look fine on it.
    assert!(found.game().unwrap_err().to_string().contains("too few plays"));
    assert!(found.price(&PriceOptions::default()).is_err());
}

#[test]
fn the_tallying_set_has_the_memory() {
    for (name, memory, seed) in [("step8", 8, 1), ("linear16", 16, 2), ("step32", 32, 3), ("mixed", 32, 4)] {
        let found = diagnose(&log(&game(name), Logging::Stay(0.9), Noise::Bernoulli, 40_000, seed), &options(64, 0.1));
        let found = found.unwrap();
        let set = found.tallying.unwrap_or_else(|| panic!("{name}: {:?}", found.notes));
        assert!(set.set.0 <= memory && set.set.1.is_some_and(|high| high >= memory), "{name}: {set:?}");
        assert!(set.memory.abs_diff(memory) <= 4, "{name}: {set:?}");
    }
}

#[test]
fn neither_memory_nor_trend_is_invented() {
    let disturbance = Disturbance { runs: 0.1, ..Disturbance::default() };
    let noise = Noise::Normal { sd: 0.15 };
    let clustered = disturbed_log(&game("none"), Logging::LogUniform(64), noise, 40_000, 1, disturbance);
    let found = diagnose(&clustered, &options(32, 0.1)).unwrap();
    assert!(found.reo.verdict != ReoVerdict::Violated, "{:?}", found.reo);
    let set = found.tallying.unwrap();
    assert!(set.dispersion > 1.5, "{set:?}");
    assert_eq!(set.set.0, 1, "{set:?}");
    assert!(found.notes.iter().any(|note| note.kind == NoteKind::Clustered));
}

#[test]
fn a_drift_is_noted_and_removed() {
    let disturbance = Disturbance { drift: 0.3, ..Disturbance::default() };
    let noise = Noise::Normal { sd: 0.15 };
    let drifting = disturbed_log(&game("step8"), Logging::Blocks(40), noise, 40_000, 1, disturbance);
    let plain = diagnose(&drifting, &options(20, 0.1)).unwrap();
    assert!(plain.notes.iter().any(|note| note.kind == NoteKind::Drift), "{:?}", plain.notes);
    let adjusted = diagnose(&drifting, &DiagnoseOptions { drifting: true, ..options(20, 0.1) }).unwrap();
    assert!(!adjusted.notes.iter().any(|note| note.kind == NoteKind::Drift), "{:?}", adjusted.notes);
    assert!(adjusted.memory_bound.is_some_and(|bound| (8..=16).contains(&bound)), "{:?}", adjusted.memory_bound);
    // Drift is centred, so eventual losses are those of the middle of the log.
    let eventual = adjusted.arm("a").unwrap().eventual.unwrap();
    assert!((eventual.mean - (0.2 + 0.15)).abs() < 0.02, "{eventual:?}");
}

/// Renaming the arms, and other units of the loss, change nothing but names and units.
#[test]
fn names_and_units_do_not_matter() {
    let rows = |scale: f64, shift: f64, names: [&str; 4]| -> Log {
        let mut builder = LogBuilder::new();
        let mut state = 1_u64;
        for play in 0..20_000_usize {
            let arm = (play / 50) % 4;
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            let noise = (state >> 33) as f64 / (1_u64 << 31) as f64 - 0.5;
            let cold = if play % 50 < 4 * (arm + 1) { 0.5 } else { 0.0 };
            let loss = 0.2 + 0.1 * arm as f64 + cold + 0.4 * noise;
            builder.push(names[arm], Some(shift + scale * loss), None, None).unwrap();
        }
        builder.build().unwrap()
    };
    let plain = diagnose(&rows(1.0, 0.0, ["a", "b", "c", "d"]), &options(25, 0.1)).unwrap();
    let other = diagnose(&rows(1000.0, -70.0, ["d", "c", "b", "a"]), &options(25, 100.0)).unwrap();
    assert_eq!((plain.memory_bound, plain.reach), (other.memory_bound, other.reach));
    assert!(plain.memory_bound.is_some());
    for (a, b) in plain.arms.iter().zip(&other.arms) {
        assert_eq!((a.settled, a.reach, a.plays), (b.settled, b.reach, b.plays));
        let (a, b) = (a.eventual.unwrap(), b.eventual.unwrap());
        assert!((1000.0 * a.mean - 70.0 - b.mean).abs() < 1e-6 && (1000.0 * a.low - 70.0 - b.low).abs() < 1e-6);
    }
}

#[test]
fn units_that_begin_every_run_are_confounded_with_time() {
    let mut builder = LogBuilder::new();
    for unit in 0..400_usize {
        for play in 0..30 {
            let loss = 0.5 - 0.01 * f64::from(play) + f64::from((unit as u32 * 31 + play * 17) % 7) * 0.01;
            builder.push(["a", "b"][unit % 2], Some(loss), Some(i64::from(play)), Some(&format!("u{unit}"))).unwrap();
        }
    }
    let found = diagnose(&builder.build().unwrap(), &options(20, 0.05)).unwrap();
    assert_eq!(found.notes[0].kind, NoteKind::Confounded);
}

#[test]
fn invalid_options_and_empty_losses_are_refused() {
    let mut builder = LogBuilder::new();
    builder.push("a", None, None, None).unwrap();
    assert_eq!(diagnose(&builder.build().unwrap(), &DiagnoseOptions::default()), Err(DiagnoseError::NoLosses));
    let arms = game("none");
    let some = log(&arms, Logging::Stay(0.5), Noise::Bernoulli, 100, 1);
    let refused = |options: DiagnoseOptions| diagnose(&some, &options).unwrap_err().to_string();
    assert!(refused(DiagnoseOptions { confidence: 1.0, ..options(4, 0.1) }).contains("`confidence` is 1"));
    assert!(refused(options(0, 0.1)).contains("`longest` is 0"));
    assert!(refused(options(4, f64::NAN)).contains("`tolerance` is NaN"));
}

/// A jump in the middle of a run left a rest of 0 plays, which has no cell.
#[test]
fn missing_rows_are_answered() {
    let mut builder = LogBuilder::new();
    let mut state = 7_u64;
    for play in 0..20_000_i64 {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        let draw = (state >> 33) as f64 / (1_u64 << 31) as f64;
        let cold = if play % 40 < 6 { 0.5 } else { 0.0 };
        if draw > 0.03 {
            builder.push(["a", "b"][(play / 40 % 2) as usize], Some(cold + 0.3 * draw), Some(play), None).unwrap();
        }
    }
    let found = diagnose(&builder.build().unwrap(), &options(12, 0.1)).unwrap();
    assert!(found.memory_bound.is_some_and(|bound| (7..=12).contains(&bound)), "{found:?}");
    assert!(found.notes.iter().any(|note| note.kind == NoteKind::Rows && note.text.contains("jumps")));
}

/// Every kind of log, however short, gets an answer.
#[test]
fn short_logs_are_answered() {
    for name in GAMES {
        for plays in [1, 2, 5, 30, 200] {
            for logging in [Logging::Blocks(3), Logging::Stay(0.5), Logging::LogUniform(8)] {
                let found = diagnose(&log(&game(name), logging, Noise::Bernoulli, plays, 1), &options(4, 0.1)).unwrap();
                assert!(found.memory_bound.is_none_or(|bound| bound <= 4), "{name} {plays} {logging:?}");
            }
        }
    }
}

#[test]
fn the_price_of_a_sufficient_bound_is_predicted() {
    let arms = game("step8");
    let found = diagnose(&log(&arms, Logging::LogUniform(32), Noise::Bernoulli, 20_000, 3), &options(16, 0.1)).unwrap();
    let price = found.price(&PriceOptions { memory_bound: Some(8), ..PriceOptions::default() }).unwrap();
    assert!(!price.plain_is_fine, "{price:?}");
    let truth = calibandit::Game::new(
        arms.iter()
            .map(|arm| {
                let losses: Vec<f64> = (1..=8).map(|k| arm.rested(k)).collect();
                let weights = calibandit::Weights::unit(8).unwrap();
                calibandit::Arm::new(weights, calibandit::LossCurve::by_plays(losses), Noise::Bernoulli).unwrap()
            })
            .collect(),
    )
    .unwrap();
    for bound in [8, 16, 32] {
        let predicted = price.rows.iter().find(|row| row.memory_bound == Some(bound)).unwrap().regret;
        let simulation = Simulation::new(truth.clone()).policy(Calibrated::builder(u64::from(bound))).instances(400);
        let actual = simulation.run().unwrap().policies()[0].regret();
        assert!((predicted / actual - 1.0).abs() < 0.3, "M = {bound}: {predicted} for {actual}");
    }
}

/// The bound says that later changes do not matter, so the fitted game has none; and one that has no bound keeps all.
#[test]
fn no_arm_of_a_fitted_game_remembers_more_than_the_bound() {
    let memories = |spec: &GameSpec| -> Vec<usize> {
        let game = spec.draw(&mut StreamKey::new(1, "fitted", 0).game()).unwrap();
        game.arms().iter().map(|arm| arm.memory()).collect()
    };
    let mut shortened = false;
    for (name, logging) in GAMES.iter().flat_map(|name| [(name, Logging::LogUniform(64)), (name, Logging::Blocks(64))])
    {
        let arms = game(name);
        let log = log(&arms, logging, Noise::Normal { sd: 0.15 }, 40_000, 3);
        let found = diagnose(&log, &options(40, 0.1)).unwrap();
        let (Some(bound), Ok(fitted)) = (found.memory_bound, found.game()) else { continue };
        assert!(memories(&fitted).iter().all(|&memory| memory <= bound as usize), "{name}: {bound}");
        assert!(found.games(3, 1).unwrap().iter().all(|game| memories(game) == memories(&fitted)));
        // The eventual losses are those of the fit, not those of the cut.
        let game = fitted.draw(&mut StreamKey::new(1, "fitted", 0).game()).unwrap();
        for (fitted, arm) in game.arms().iter().zip(&found.arms) {
            let truth = &arms[["a", "b", "c", "d"].iter().position(|name| *name == arm.name).unwrap()];
            let range = found.range();
            let eventual = range.low() + fitted.eventual_loss() * (range.high() - range.low());
            assert!((eventual - truth.eventual()).abs() < 0.05, "{name}: {eventual} {}", truth.eventual());
        }
        shortened |= found.tallying.is_some_and(|tallying| tallying.memory > bound);
    }
    assert!(shortened, "some tallying memory is longer than the bound");
}

#[test]
fn a_stored_diagnosis_is_the_same() {
    for (name, logging) in
        [("exp32", Logging::LogUniform(64)), ("fatigue", Logging::Blocks(64)), ("none", Logging::Thompson)]
    {
        let found = diagnose(&log(&game(name), logging, Noise::Bernoulli, 20_000, 1), &options(40, 0.1)).unwrap();
        let stored = Diagnosis::from_stored_json(&found.to_stored_json().unwrap()).unwrap();
        assert_eq!(stored, found, "{name}");
        assert_eq!(stored.game(), found.game(), "{name}");
    }
    assert!(Diagnosis::from_stored_json("{}").is_err());
}

#[test]
fn a_diagnosis_can_be_stopped() {
    let log = log(&game("step8"), Logging::Blocks(64), Noise::Bernoulli, 2_000, 1);
    let stop = AtomicBool::new(true);
    let stopped = diagnose_interruptible(&log, &options(40, 0.1), Interrupt::new(&stop));
    assert!(matches!(stopped, Err(DiagnoseError::Interrupted(_))), "{stopped:?}");
}

/// Two policies wrote the log, one after the other: one stays for 64 plays, the other for 2. Losses depend on the plays
/// in a row only, not on the time.
#[test]
fn a_mixture_of_logging_policies_is_no_drift() {
    let mut draws = StreamKey::new(1, "mixture", 0).noise();
    let mut all = LogBuilder::new();
    for (length, runs) in [(64, 90), (2, 3_000)] {
        for run in 0..runs {
            for position in 0..length {
                let mean = 0.2 + 0.3 * f64::from(run % 2) + 0.3 * (1.0 - f64::from(position) / 8.0).max(0.0);
                let loss = Noise::Bernoulli.draw(mean, &mut draws);
                all.push(["a", "b"][run as usize % 2], Some(loss), None, None).unwrap();
            }
        }
    }
    let found = diagnose(&all.build().unwrap(), &options(40, 0.05)).unwrap();
    assert!(found.notes.iter().all(|note| note.kind != NoteKind::Drift), "{:?}", found.notes);
}
