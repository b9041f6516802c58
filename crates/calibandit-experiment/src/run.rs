//! Runs an experiment: every policy on every instance of every point of the sweep, on several threads and in shards.
//!
//! The results do not depend on the number of threads or shards: each instance has its own random streams, and its
//! curve depends on nothing else. A [`Journal`] keeps finished curves on disk, so that an interrupted run can be
//! resumed.

mod instances;
mod journal;
mod plan;
mod shard;

pub(crate) use instances::{optimum_at_checkpoints, usual_session};
pub use journal::open_journal;
pub use shard::{Shard, ShardError};

use std::sync::atomic::{AtomicBool, AtomicU64};

use calibandit::Interrupt;

use crate::Experiment;
use crate::error::{Error, ErrorKind};
use crate::output::Journal;
use crate::results::{Curve, CurveCollector, Results, Sample};
use crate::schedule::{Progress, ScheduleError, Scheduler, Task};
use plan::{Batch, PointPolicy, RunPlan};

/// How to run an experiment. Nothing here changes a result.
#[derive(Clone, Copy)]
pub struct RunOptions<'a> {
    /// The number of threads; 0 for as many as the machine can run at once.
    pub threads: usize,
    /// Which part of the work to do.
    pub shard: Shard,
    /// Stops the run within a second when set: finished tasks are kept, those under way are given up.
    pub stop: &'a AtomicBool,
    /// Receives progress, also while a task is under way. A task is one policy on one instance of one point of the
    /// sweep.
    pub progress: &'a dyn Progress,
}

/// Runs an experiment, or one shard of it. Curves that the journal already has are not computed again.
///
/// Many curves are kept in a temporary file, in the folder of the journal if there is one.
///
/// # Errors
/// [`ErrorKind::Refused`] if an optimum is out of reach, which is found before anything is simulated;
/// [`ErrorKind::Instance`] if a policy could not play an instance, [`ErrorKind::Stopped`] if the run was stopped,
/// [`ErrorKind::Io`] if the journal or the temporary file could not be written.
pub fn run(
    experiment: &Experiment,
    options: &RunOptions<'_>,
    journal: Option<&mut Journal<Curve>>,
) -> Result<Results, Error> {
    let curves = CurveCollector::new(journal.as_ref().map(|journal| journal.folder()));
    run_into(experiment, options, journal, curves)
}

/// Checks that the regret of an experiment can be computed, by the first instance of each game. [`run()`] does the same
/// before it simulates. This is for programs that run several experiments, and refuse all before the first one.
///
/// # Errors
/// [`ErrorKind::Refused`] if an optimum is out of reach, [`ErrorKind::Stopped`] if the stop flag was set.
pub fn check(experiment: &Experiment, options: &RunOptions<'_>) -> Result<(), Error> {
    RunPlan::new(experiment, options.shard).check_games(options, false)
}

/// Runs an experiment and collects its curves here.
fn run_into(
    experiment: &Experiment,
    options: &RunOptions<'_>,
    mut journal: Option<&mut Journal<Curve>>,
    mut curves: CurveCollector,
) -> Result<Results, Error> {
    let folder = journal.as_ref().map_or_else(std::env::temp_dir, |journal| journal.folder().to_path_buf());
    let failed = |source| Error::io(&folder, source);
    let mut plan = RunPlan::new(experiment, options.shard);
    if let Some(journal) = &journal {
        journal.for_each(|curve| match plan.add_known(&curve) {
            true => curves.push(curve).map_err(failed),
            false => Ok(()),
        })?;
    }
    // An experiment of which something is finished was checked when it was begun.
    if plan.known_count() == 0 {
        plan.check_games(options, true)?;
    }
    let batches = plan.batches();
    plan.free_unused();
    let task = |batch: Batch| {
        let (cost, units, stage) = (plan.cost(&batch), plan.units(&batch), plan.stage(&batch));
        let plays = plan.plays(&batch);
        Task::new(batch, cost).units(units).stage(stage).steps(plays)
    };
    let schedule = Scheduler::new(options.threads).stop(options.stop).progress(options.progress);
    let collect = |batch: &Batch, computed: Vec<Vec<Sample>>| {
        for (&instance, samples) in batch.instances.iter().zip(computed) {
            for PointPolicy { point, policy } in plan.wanted(batch, instance) {
                let curve = Curve { game: point, policy, instance, samples: samples.clone() };
                if let Some(journal) = &mut journal {
                    journal.add(&curve)?;
                }
                curves.push(curve).map_err(failed)?;
            }
        }
        Ok(())
    };
    let simulate =
        |batch: &Batch, plays: &AtomicU64| plan.simulate(batch, Interrupt::new(options.stop).counting(plays));
    schedule
        .done_before(plan.known_count())
        .run_in_steps(batches.into_iter().map(task).collect(), simulate, collect)
        .map_err(|error| match error {
        ScheduleError::Task(error) => error,
        ScheduleError::Stopped { done, total } => ErrorKind::Stopped { done, total }.into(),
    })?;
    plan.results(curves).map_err(failed)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::output::OutputDir;
    use crate::results::{write_csv, write_parquet};
    use crate::schedule::ProgressUpdate;
    use crate::stats::write_summary;

    fn experiment(game: &str) -> Experiment {
        let text = format!(
            "name = \"x\"\nhorizon = 500\ninstances = 12\ncheckpoints = {{ points = 7 }}\ngame = {game}\n\
             policy = [{{ kind = \"epoch-ucb\", memory_bound = 2 }}, {{ kind = \"exp3\" }}, {{ kind = \"ucb1\" }}]\n\
             sweep = {{ \"policy.memory_bound\" = [2, 3] }}\n"
        );
        Experiment::from_toml("x.toml", &text).unwrap_or_else(|errors| panic!("{errors}"))
    }

    const FIXED: &str = "{ kind = \"custom\", arm = [{ memory = 2, loss = 0.5 }, { memory = 2, loss = [0.9, 0.1] }] }";
    const SHUFFLED: &str = "{ kind = \"step\", arms = 3, memory = 2 }";
    const RANDOM: &str = "{ kind = \"random-reo\", arms = 3, memory = 2 }";

    fn tables(results: &Results) -> [Vec<u8>; 3] {
        let mut files = [const { Vec::new() }; 3];
        write_csv(std::slice::from_ref(results), &mut files[0]).unwrap();
        write_parquet(std::slice::from_ref(results), &mut files[1]).unwrap();
        write_summary(std::slice::from_ref(results), &mut files[2]).unwrap();
        files
    }

    #[test]
    fn tables_are_the_same_bytes_from_memory_and_from_a_file() {
        let stop = AtomicBool::new(false);
        let options = RunOptions { threads: 2, shard: Shard::WHOLE, stop: &stop, progress: &() };
        for game in [FIXED, SHUFFLED, RANDOM] {
            let in_memory = tables(&run(&experiment(game), &options, None).unwrap());
            for memory in [0, 5000] {
                let curves = CurveCollector::with_memory(None, memory);
                let spilled = run_into(&experiment(game), &options, None, curves).unwrap();
                assert_eq!(tables(&spilled), in_memory);
            }
        }
    }

    #[test]
    fn instances_are_released_after_their_last_use_and_games_that_are_always_the_same_are_shared() {
        for (game, most, uses) in [(FIXED, 1, 36), (SHUFFLED, 12, 36), (RANDOM, 12, 36)] {
            let experiment = experiment(game);
            let plan = RunPlan::new(&experiment, Shard::WHOLE);
            let batches = plan.batches();
            // Both points have the same game and the same EXP3 and UCB1: 12 instances of 4 different policies, those of
            // EXP3 in batches of 8 and 4.
            let instances: usize = batches.iter().map(|batch| batch.instances.len()).sum();
            assert_eq!(instances, uses + 12);
            assert_eq!(batches.iter().map(|batch| plan.units(batch)).sum::<usize>(), 2 * 3 * 12);
            let mut held = Vec::new();
            for batch in &batches {
                plan.simulate(batch, Interrupt::never()).unwrap();
                held.push(plan.held_instances());
            }
            assert_eq!((held.iter().max(), held.last()), (Some(&most), Some(&0)), "{game}");
        }
    }

    #[test]
    fn shards_have_the_curves_of_the_whole_run() {
        let stop = AtomicBool::new(false);
        let part = |game, shard| {
            let options = RunOptions { threads: 2, shard, stop: &stop, progress: &() };
            let results = run(&experiment(game), &options, None).unwrap();
            results.curves().map(|curve| curve.unwrap().into_owned()).collect::<Vec<Curve>>()
        };
        for game in [FIXED, SHUFFLED, RANDOM] {
            let whole = part(game, Shard::WHOLE);
            let shards: Vec<Curve> = (1..=3).flat_map(|i| part(game, Shard::new(i, 3).unwrap())).collect();
            assert_eq!(shards.len(), whole.len());
            assert!(shards.iter().all(|curve| whole.contains(curve)), "{game}");
        }
    }

    #[test]
    fn a_stop_within_a_long_task_ends_the_run_and_keeps_what_is_finished() {
        let text = "name = \"x\"\nhorizon = 1_000_000_000_000\ninstances = 1\n\
                    game = { kind = \"step\", arms = 3, memory = 2 }\n\
                    policy = [{ kind = \"thompson\" }, { kind = \"calibrated\", memory_bound = 2 }]\n";
        let experiment = Experiment::from_toml("x.toml", text).unwrap();
        let stop = AtomicBool::new(false);
        let folder = tempfile::tempdir().unwrap();
        let lock = OutputDir::new(folder.path()).lock("a test", &|_| ()).unwrap();
        let open = || open_journal(&lock, &experiment, Shard::WHOLE, &|_| ()).unwrap();
        let mut journal = open();
        // Thompson sampling takes hours; the flag is set once its progress was seen.
        let progress = |update: ProgressUpdate| {
            if update.done == 1 && update.work > 0.0 {
                stop.store(true, std::sync::atomic::Ordering::Relaxed);
            }
        };
        let options = RunOptions { threads: 2, shard: Shard::WHOLE, stop: &stop, progress: &progress };
        let stopped = run(&experiment, &options, Some(&mut journal)).unwrap_err();
        assert!(matches!(stopped.kind(), ErrorKind::Stopped { done: 1, total: 2 }), "{stopped}");
        drop(journal);
        assert_eq!(open().known().len(), 1);
    }

    #[test]
    fn stages_of_random_games_divide_the_instances_by_their_memory() {
        let text = "name = \"x\"\nhorizon = 100000\ninstances = 1000\ncheckpoints = { points = 50_000 }\n\
                    game = { kind = \"random-reo\", arms = 3, memory = 2 }\n\
                    policy = [{ kind = \"ucb1\" }, { kind = \"thompson\" }]\n";
        let experiment = Experiment::from_toml("x.toml", text).unwrap();
        let plan = RunPlan::new(&experiment, Shard::WHOLE);
        // 400,000 bytes of each instance for the optimum and less than 10,000 for the game: 64 MiB are 163 to 168 of
        // them.
        let stages: Vec<u64> = plan.batches().iter().map(|batch| plan.stage(batch)).collect();
        assert_eq!((stages[0], stages[162], stages[168], stages[999]), (0, 0, 1, 5));
        assert_eq!(stages[..1000], stages[1000..], "all policies of an instance are in the same stage");
    }

    #[test]
    fn curves_of_a_journal_that_do_not_belong_to_the_run_are_not_used() {
        let experiment = experiment(FIXED);
        let mut plan = RunPlan::new(&experiment, Shard::new(1, 2).unwrap());
        let curve = |game, policy, instance| Curve { game, policy, instance, samples: vec![] };
        let known = [(0, 0, 0), (0, 0, 0), (0, 0, 1), (2, 0, 0), (0, 3, 0), (0, 0, 12), (1, 2, 10)];
        let added = known.map(|(game, policy, instance)| plan.add_known(&curve(game, policy, instance)));
        assert_eq!(added, [true, false, false, false, false, false, true]);
        assert_eq!(plan.known_count(), 2);
        assert_eq!(plan.batches().iter().map(|batch| plan.units(batch)).sum::<usize>(), 36 - 2);
    }
}
