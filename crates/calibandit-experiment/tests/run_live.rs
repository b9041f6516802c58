//! Runs of experiments with live use: the same bits at any number of threads and shards, after a stop, and the numbers
//! of the library's own simulation.

#![allow(clippy::unwrap_used)] // a test may panic

use std::sync::atomic::{AtomicBool, Ordering};

use calibandit::simulate::simulate_live;
use calibandit::{Feedback, Interrupt, Policy, Run, StreamKey};
use calibandit_experiment::output::OutputDir;
use calibandit_experiment::preflight::{estimated_seconds, preflight};
use calibandit_experiment::results::{Curve, Results};
use calibandit_experiment::run::{RunOptions, Shard, open_journal, run};
use calibandit_experiment::schedule::ProgressUpdate;
use calibandit_experiment::{Experiment, PolicySource};

const FILE: &str = "name = \"x\"\nhorizon = 3000\ninstances = 4\ncheckpoints = { points = 5 }\n\
    game = { kind = \"step\", arms = 3, memory = 3 }\n\
    policy = [{ kind = \"calibrated\", memory_bound = 3 }, { kind = \"ucb1\" }]\n\
    live = { overlap = 2, delay = 3, delay_law = \"geometric\", lost = 0.1, session = 50, \
    session_law = \"geometric\" }\n\
    sweep = { \"live.lanes\" = [1, 7] }\n";

fn experiment() -> Experiment {
    Experiment::from_toml("x.toml", FILE).unwrap_or_else(|errors| panic!("{errors}"))
}

fn played(threads: usize, shard: Shard) -> Vec<Curve> {
    let stop = AtomicBool::new(false);
    let results = run(&experiment(), &RunOptions { threads, shard, stop: &stop, progress: &() }, None).unwrap();
    curves(&results)
}

fn curves(results: &Results) -> Vec<Curve> {
    results.curves().map(|curve| curve.unwrap().into_owned()).collect()
}

#[test]
fn threads_and_shards_do_not_change_a_bit() {
    let whole = played(1, Shard::WHOLE);
    assert_eq!(whole.len(), 2 * 2 * 4);
    assert_eq!(played(3, Shard::WHOLE), whole);
    let mut shards: Vec<Curve> = (1..=3).flat_map(|i| played(2, Shard::new(i, 3).unwrap())).collect();
    shards.sort_by_key(|curve| (curve.game, curve.policy, curve.instance));
    assert_eq!(shards, whole);
}

#[test]
fn curves_are_those_of_the_library() {
    let (experiment, curves) = (experiment(), played(2, Shard::WHOLE));
    for curve in curves {
        let point = &experiment.points()[curve.game];
        let key = StreamKey::new(experiment.seed(), "x", curve.instance);
        let game = point.game.draw(&mut key.game()).unwrap();
        let (policy, live) = (point.policies[curve.policy].policy.spec().unwrap(), point.live.unwrap());
        let played = simulate_live(&game, policy, experiment.grid(), &live, key, Interrupt::never()).unwrap();
        let last = curve.samples.last().unwrap();
        assert_eq!((last.cpr, last.t), (played.regret(), 3000));
        assert_eq!(curve.samples.len(), 5);
    }
}

#[test]
fn a_run_that_was_stopped_continues_from_its_journal() {
    let (experiment, folder) = (experiment(), tempfile::tempdir().unwrap());
    let lock = OutputDir::new(folder.path()).lock("a test", &|_| ()).unwrap();
    let open = || open_journal(&lock, &experiment, Shard::WHOLE, &|_| ()).unwrap();
    let stop = AtomicBool::new(false);
    let progress = |update: ProgressUpdate| {
        if update.done >= 3 {
            stop.store(true, Ordering::Relaxed);
        }
    };
    let options = RunOptions { threads: 1, shard: Shard::WHOLE, stop: &stop, progress: &progress };
    assert!(run(&experiment, &options, Some(&mut open())).is_err());
    let (go_on, done) = (AtomicBool::new(false), AtomicBool::new(false));
    let first = |update: ProgressUpdate| done.store(done.load(Ordering::Relaxed) || update.done < 3, Ordering::Relaxed);
    let options = RunOptions { stop: &go_on, progress: &first, ..options };
    let resumed = run(&experiment, &options, Some(&mut open())).unwrap();
    assert!(!done.load(Ordering::Relaxed), "what was finished is not computed again");
    assert_eq!(curves(&resumed), played(1, Shard::WHOLE));
}

struct First;

impl Policy for First {
    fn next_run(&mut self) -> Run {
        Run::forever(0)
    }
    fn observe(&mut self, _: Run, _: Feedback) {}
    fn recommend(&self) -> usize {
        0
    }
}

/// A policy of the user that always plays the first arm has the regret of that arm on every lane.
#[test]
fn policies_of_the_user_are_played_on_lanes() {
    let live = calibandit::simulate::LiveSpec::default().lanes(10);
    let game = calibandit::zoo::Step { arms: 3, memory: 3, ..Default::default() };
    let game = game.draw(&mut StreamKey::new(1, "x", 0).game()).unwrap();
    let (first, best) = (game.arms()[0].eventual_loss(), game.best_loss());
    let own = PolicySource::user(|_: &calibandit::Problem, _| First);
    let build = |live| Experiment::builder("x").game(game.clone()).policy(own.clone()).horizon(1000).live(live).build();
    let stop = AtomicBool::new(false);
    let options = RunOptions { threads: 1, shard: Shard::WHOLE, stop: &stop, progress: &() };
    let results = run(&build(live).unwrap(), &options, None).unwrap();
    let end = results.ends(0, 0).next().unwrap().last;
    // Both warm up in the same way on ten lanes of 100 plays; what is left is the gap of the other plays.
    let warm = |arm: usize| {
        let mut window = game.empty_window();
        (0..100).map(|_| game.play(arm, &mut window)).sum::<f64>()
    };
    let expected = 10.0 * (warm(0) - warm(game.best_arm()));
    assert!((end.cpr - expected).abs() < 1e-9 && (end.cpr == 0.0) == (first == best), "{end:?}, {expected}");
    let refused = build(live.lanes(0)).unwrap_err();
    assert_eq!(refused.errors()[0].key, "live");
}

#[test]
fn the_analysis_is_about_sessions_and_says_what_is_a_bound() {
    let analysis = preflight(&experiment());
    let of_point = |i: usize| analysis[i].live.unwrap();
    assert_eq!((of_point(0).lanes, of_point(0).session, of_point(0).exact), (1, 50, false));
    assert!(analysis[0].warnings.iter().any(|warning| warning.contains("upper bound")));
    let sequence = &analysis[1].optimum;
    let plays = sequence.prefix.len() + sequence.tail.len() + sequence.cycle.len() * sequence.repeats as usize;
    assert!(sequence.exact && plays == 50, "the optimum is that of a session");
    assert_eq!(analysis[1].refusal, None);
    // Plays one by one take far longer than leaps.
    let plain = Experiment::from_toml("x.toml", &FILE.replace("live = {", "# {").replace("sweep", "# ")).unwrap();
    assert!(estimated_seconds(&experiment()) > 4.0 * estimated_seconds(&plain));
    let short = FILE.replace("session = 50", "session = 4");
    let analysis = preflight(&Experiment::from_toml("x.toml", &short).unwrap());
    assert!(analysis[0].warnings.iter().any(|warning| warning.contains("burn-in of calibrated, 4 plays")));
}
