//! Runs an experiment: every policy on every instance of every point of the sweep, on several threads and in shards.
//!
//! The results do not depend on the number of threads or shards: each instance has its own random streams, and its
//! curve depends on nothing else. A [`Journal`] keeps finished curves on disk, so that an interrupted run can be
//! resumed.

mod journal;
mod plan;
mod shard;

pub use journal::Journal;
pub use shard::{Shard, ShardError};

use std::collections::HashSet;
use std::sync::atomic::AtomicBool;

use crate::Experiment;
use crate::error::{Error, ErrorKind};
use crate::results::{Curve, Results};
use crate::schedule::{Progress, ScheduleError, Scheduler, Task};
use plan::{Batch, CurveKey, RunPlan};

/// How to run an experiment. Nothing here changes a result.
#[derive(Clone, Copy)]
pub struct RunOptions<'a> {
    /// The number of threads; 0 for as many as the machine can run at once.
    pub threads: usize,
    /// Which part of the work to do.
    pub shard: Shard,
    /// Stops the run when set: tasks under way are finished, no new ones are started.
    pub stop: &'a AtomicBool,
    /// Receives progress. A task is one policy on one instance of one point of the sweep.
    pub progress: &'a dyn Progress,
}

/// Runs an experiment, or one shard of it. Curves that the journal already has are not computed again.
///
/// # Errors
/// [`ErrorKind::Instance`] if a policy could not play an instance, [`ErrorKind::Stopped`] if the run was stopped,
/// [`ErrorKind::Io`] if the journal could not be written.
pub fn run(
    experiment: &Experiment,
    options: &RunOptions<'_>,
    mut journal: Option<&mut Journal>,
) -> Result<Results, Error> {
    let plan = RunPlan::new(experiment);
    let numbered = plan.keys().into_iter().enumerate();
    let mut keys: Vec<CurveKey> = numbered.filter(|&(i, _)| options.shard.has(i)).map(|(_, key)| key).collect();
    let total = keys.len();
    let mut curves = journal.as_ref().map_or_else(Vec::new, |journal| journal.curves().to_vec());
    let known: HashSet<CurveKey> = curves.iter().map(CurveKey::of).collect();
    keys.retain(|key| !known.contains(key));
    let task = |batch: Batch| {
        let (cost, units) = (plan.cost(&batch), batch.keys().count());
        Task::new(batch, cost).units(units)
    };
    let schedule = Scheduler::new(options.threads).stop(options.stop).progress(options.progress);
    let collect = |batch: &Batch, computed: Vec<Curve>| {
        for (shared, curve) in batch.shared().iter().zip(computed) {
            for key in shared {
                let curve = Curve { game: key.point, policy: key.policy, ..curve.clone() };
                if let Some(journal) = &mut journal {
                    journal.add(&curve)?;
                }
                curves.push(curve);
            }
        }
        Ok(())
    };
    schedule
        .done_before(total - keys.len())
        .run(plan.batches(&keys).into_iter().map(task).collect(), |batch| plan.simulate(batch), collect)
        .map_err(|error| match error {
            ScheduleError::Task(error) => error,
            ScheduleError::Stopped { done, total } => ErrorKind::Stopped { done, total }.into(),
        })?;
    Ok(plan.results(curves))
}
