//! The scheduler: independent tasks on several threads, with a stop flag, the first error and progress.
//!
//! Everything in this workspace that runs in parallel uses it. The caller describes its work as [`Task`]s, each with an
//! estimated cost (see [`cost`](crate::cost)) and the number of units that it counts for in progress:
//!
//! ```
//! use calibandit_experiment::schedule::{Scheduler, Task};
//! let tasks = (1..=10u64).map(|n| Task::new(n, n as f64)).collect();
//! let mut sum = 0;
//! Scheduler::new(2).run(
//!     tasks,
//!     |&n| if n < 100 { Ok(n * n) } else { Err("too large") }, // on any thread
//!     |_, square| { sum += square; Ok(()) },                   // one call at a time, in any order
//! ).unwrap();
//! assert_eq!(sum, 385);
//! ```
//!
//! Tasks of a stage are started in order of decreasing cost, so that no long task starts last. The order in which they
//! finish is not defined: a caller that needs an order puts it into the task and sorts what it collected. After an
//! error, or once the stop flag is set, tasks under way are finished and no new ones are started.

use std::fmt;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};
use std::thread;

/// How much of a schedule is done.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct ProgressUpdate {
    /// The number of units done.
    pub done: usize,
    /// The number of all units.
    pub total: usize,
    /// The share of the estimated cost that is done, from 0 to 1.
    pub work: f64,
}

impl ProgressUpdate {
    /// This many units of all, and this share of the estimated cost.
    pub fn new(done: usize, total: usize, work: f64) -> Self {
        Self { done, total, work }
    }
}

/// Receives progress. Functions and closures that take a [`ProgressUpdate`] implement it, and so does `()`, which
/// ignores progress.
pub trait Progress: Sync {
    /// Called after each task, by the thread that did it; never by two threads at the same time.
    fn update(&self, update: ProgressUpdate);

    /// Called once all tasks are done, and not after an error or a stop.
    fn finish(&self) {}
}

impl<F: Fn(ProgressUpdate) + Sync> Progress for F {
    fn update(&self, update: ProgressUpdate) {
        self(update);
    }
}

impl Progress for () {
    fn update(&self, _: ProgressUpdate) {}
}

/// An independent part of the work.
#[derive(Clone, Debug)]
pub struct Task<T> {
    item: T,
    cost: f64,
    units: usize,
    stage: u64,
}

impl<T> Task<T> {
    /// A task that counts for one unit, with its estimated cost in any unit.
    pub fn new(item: T, cost: f64) -> Self {
        Self { item, cost, units: 1, stage: 0 }
    }

    /// The same task counting for this many units.
    pub fn units(mut self, units: usize) -> Self {
        self.units = units;
        self
    }

    /// The same task in this stage; without it, tasks are in stage 0. A stage is started after all tasks of the stages
    /// before it were started: it divides work that shares memory.
    pub fn stage(mut self, stage: u64) -> Self {
        self.stage = stage;
        self
    }
}

/// How tasks are run: the number of threads, the stop flag and where progress is reported.
#[derive(Clone, Copy)]
pub struct Scheduler<'a> {
    threads: usize,
    stop: Option<&'a AtomicBool>,
    progress: &'a dyn Progress,
    done_before: usize,
}

impl fmt::Debug for Scheduler<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Scheduler").field("threads", &self.threads).finish_non_exhaustive()
    }
}

/// Why not all tasks were done.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ScheduleError<E> {
    /// A task failed: the first error.
    #[error(transparent)]
    Task(E),
    /// The stop flag was set before all tasks were started.
    #[error("stopped after {done} of {total} tasks")]
    Stopped {
        /// The number of units done.
        done: usize,
        /// The number of all units.
        total: usize,
    },
}

impl<'a> Scheduler<'a> {
    /// A scheduler with this many threads; 0 for as many as the machine can run at once.
    pub fn new(threads: usize) -> Self {
        Self { threads, stop: None, progress: &(), done_before: 0 }
    }

    /// Stops when this flag is set.
    pub fn stop(mut self, stop: &'a AtomicBool) -> Self {
        self.stop = Some(stop);
        self
    }

    /// Reports progress here.
    pub fn progress(mut self, progress: &'a dyn Progress) -> Self {
        self.progress = progress;
        self
    }

    /// Counts this many units as done before the first task.
    pub fn done_before(mut self, units: usize) -> Self {
        self.done_before = units;
        self
    }

    /// Runs all tasks: `work` on any thread, then `collect` with its result, one call at a time and in any order.
    ///
    /// # Errors
    /// The first error of `work` or `collect`; [`ScheduleError::Stopped`] if the stop flag kept tasks from being
    /// started.
    pub fn run<T: Sync, R, E: Send>(
        &self,
        mut tasks: Vec<Task<T>>,
        work: impl Fn(&T) -> Result<R, E> + Sync,
        collect: impl FnMut(&T, R) -> Result<(), E> + Send,
    ) -> Result<(), ScheduleError<E>> {
        tasks.sort_by(|a, b| a.stage.cmp(&b.stage).then(b.cost.total_cmp(&a.cost)));
        let total = self.done_before + tasks.iter().map(|task| task.units).sum::<usize>();
        let cost: f64 = tasks.iter().map(|task| task.cost).sum();
        let state = Mutex::new(State { collect, done: self.done_before, cost: 0.0, error: None });
        let lock = || state.lock().unwrap_or_else(PoisonError::into_inner);
        for_each(self.threads, &tasks, |task| {
            if self.stop.is_some_and(|stop| stop.load(Ordering::Relaxed)) || lock().error.is_some() {
                return;
            }
            let result = work(&task.item);
            let mut state = lock();
            if let Err(error) = result.and_then(|result| (state.collect)(&task.item, result)) {
                state.error.get_or_insert(error);
                return;
            }
            state.done += task.units;
            state.cost += task.cost;
            let work = if cost > 0.0 { state.cost / cost } else { 1.0 };
            self.progress.update(ProgressUpdate { done: state.done, total, work });
        });
        let State { done, error, .. } = state.into_inner().unwrap_or_else(PoisonError::into_inner);
        match error {
            Some(error) => Err(ScheduleError::Task(error)),
            None if done < total => Err(ScheduleError::Stopped { done, total }),
            None => {
                self.progress.finish();
                Ok(())
            }
        }
    }
}

/// What the threads share.
struct State<C, E> {
    collect: C,
    done: usize,
    cost: f64,
    error: Option<E>,
}

/// Calls `work` once per item, on up to `threads` threads (0 for all): each thread takes the next item until none is
/// left.
fn for_each<T: Sync>(threads: usize, items: &[T], work: impl Fn(&T) + Sync) {
    let threads = match threads {
        0 => thread::available_parallelism().map_or(1, usize::from),
        threads => threads,
    };
    let next = AtomicUsize::new(0);
    let take = || {
        while let Some(item) = items.get(next.fetch_add(1, Ordering::Relaxed)) {
            work(item);
        }
    };
    thread::scope(|scope| {
        for _ in 1..threads.min(items.len()) {
            scope.spawn(take);
        }
        take();
    });
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tasks(n: usize) -> Vec<Task<usize>> {
        (0..n).map(|i| Task::new(i, i as f64)).collect()
    }

    #[test]
    fn every_task_is_done_once_at_any_number_of_threads() {
        for threads in [0, 1, 2, 7, 100] {
            let mut done = [0; 50];
            let collected = Scheduler::new(threads).run(
                tasks(50),
                |&i| Ok::<_, ()>(i),
                |_, i| {
                    done[i] += 1;
                    Ok(())
                },
            );
            assert_eq!(collected, Ok(()));
            assert!(done.iter().all(|&count| count == 1));
        }
    }

    #[test]
    fn tasks_start_in_order_of_decreasing_cost() {
        let mut order = Vec::new();
        let collect = |_: &usize, i| {
            order.push(i);
            Ok(())
        };
        Scheduler::new(1).run(tasks(5), |&i| Ok::<_, ()>(i), collect).unwrap();
        assert_eq!(order, [4, 3, 2, 1, 0]);
    }

    #[test]
    fn stages_are_started_one_after_the_other() {
        let mut order = Vec::new();
        let collect = |_: &usize, i| {
            order.push(i);
            Ok(())
        };
        let tasks = tasks(6).into_iter().enumerate().map(|(i, task)| task.stage(i as u64 / 3)).collect();
        Scheduler::new(1).run(tasks, |&i| Ok::<_, ()>(i), collect).unwrap();
        assert_eq!(order, [2, 1, 0, 5, 4, 3]);
    }

    #[test]
    fn the_first_error_ends_the_schedule() {
        let started = AtomicUsize::new(0);
        let work = |&i: &usize| {
            started.fetch_add(1, Ordering::Relaxed);
            if i == 7 { Err("seven") } else { Ok(()) }
        };
        assert_eq!(Scheduler::new(1).run(tasks(10), work, |_, ()| Ok(())), Err(ScheduleError::Task("seven")));
        assert_eq!(started.into_inner(), 3);
        let refused = Scheduler::new(2).run(tasks(10), |_| Ok(()), |&i, ()| if i == 2 { Err("two") } else { Ok(()) });
        assert_eq!(refused, Err(ScheduleError::Task("two")));
    }

    #[test]
    fn a_stopped_schedule_says_how_many_units_are_done() {
        let stop = AtomicBool::new(false);
        let work = |&i: &usize| {
            stop.store(i == 8, Ordering::Relaxed);
            Ok::<_, ()>(())
        };
        let tasks = tasks(10).into_iter().map(|task| task.units(3)).collect();
        let stopped = Scheduler::new(1).stop(&stop).done_before(5).run(tasks, work, |_, ()| Ok(()));
        assert_eq!(stopped, Err(ScheduleError::Stopped { done: 11, total: 35 }));
    }

    #[test]
    fn progress_counts_units_and_cost() {
        let seen = Mutex::new(Vec::new());
        let progress = |update: ProgressUpdate| seen.lock().unwrap().push((update.done, update.total, update.work));
        let tasks = vec![Task::new(0, 3.0).units(2), Task::new(1, 1.0)];
        Scheduler::new(1).progress(&progress).run(tasks, |_| Ok::<_, ()>(()), |_, ()| Ok(())).unwrap();
        assert_eq!(seen.into_inner().unwrap(), [(2, 3, 0.75), (3, 3, 1.0)]);
    }
}
