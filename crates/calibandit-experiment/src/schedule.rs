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
//! error, or once the stop flag is set, no new tasks are started. Tasks that read the stop flag themselves end early
//! with an error, which is then not taken for a failure; other tasks under way are finished.

use std::fmt;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::Duration;

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
    /// Called after each task and, if it counts its steps, while it is under way; never by two threads at the same
    /// time.
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
    steps: u64,
}

impl<T> Task<T> {
    /// A task that counts for one unit, with its estimated cost in any unit.
    pub fn new(item: T, cost: f64) -> Self {
        Self { item, cost, units: 1, stage: 0, steps: 1 }
    }

    /// The same task counting for this many units.
    pub fn units(mut self, units: usize) -> Self {
        self.units = units;
        self
    }

    /// The same task with this many steps, which [`run_in_steps`](Scheduler::run_in_steps) counts.
    pub fn steps(mut self, steps: u64) -> Self {
        self.steps = steps;
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
    /// The stop flag was set before all tasks were done.
    #[error("stopped after {done} of {total} tasks")]
    Stopped {
        /// The number of units done.
        done: usize,
        /// The number of all units.
        total: usize,
    },
}

impl<'a> Scheduler<'a> {
    /// A scheduler with this many threads; 0 for as many as the machine can run at once. If the system does not allow
    /// so many threads, there are fewer.
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
    /// The first error of `work` or `collect`; [`ScheduleError::Stopped`] if the stop flag kept tasks from being done.
    pub fn run<T: Sync, R, E: Send>(
        &self,
        tasks: Vec<Task<T>>,
        work: impl Fn(&T) -> Result<R, E> + Sync,
        collect: impl FnMut(&T, R) -> Result<(), E> + Send,
    ) -> Result<(), ScheduleError<E>> {
        self.run_in_steps(tasks, |item, _| work(item), collect)
    }

    /// As [`run`](Self::run), for tasks that take long: `work` counts the steps that it has done, so that progress
    /// moves while a task is under way.
    ///
    /// # Errors
    /// As [`run`](Self::run).
    pub fn run_in_steps<T: Sync, R, E: Send>(
        &self,
        mut tasks: Vec<Task<T>>,
        work: impl Fn(&T, &AtomicU64) -> Result<R, E> + Sync,
        collect: impl FnMut(&T, R) -> Result<(), E> + Send,
    ) -> Result<(), ScheduleError<E>> {
        tasks.sort_by(|a, b| a.stage.cmp(&b.stage).then(b.cost.total_cmp(&a.cost)));
        let total = self.done_before + tasks.iter().map(|task| task.units).sum::<usize>();
        let cost: f64 = tasks.iter().map(|task| task.cost).sum();
        let state =
            Mutex::new(State { collect, done: self.done_before, cost: 0.0, error: None, under_way: Vec::new() });
        let lock = || state.lock().unwrap_or_else(PoisonError::into_inner);
        let share = |done: f64| if cost > 0.0 { done / cost } else { 1.0 };
        let is_stopped = || self.stop.is_some_and(|stop| stop.load(Ordering::Relaxed));
        let do_task = |task: &Task<T>| {
            let counter = Arc::new(AtomicU64::new(0));
            {
                let mut state = lock();
                if is_stopped() || state.error.is_some() {
                    return;
                }
                let steps = task.steps.max(1) as f64;
                state.under_way.push(UnderWay { counter: counter.clone(), cost_per_step: task.cost / steps, steps });
            }
            let result = work(&task.item, &counter);
            let mut state = lock();
            state.under_way.retain(|other| !Arc::ptr_eq(&other.counter, &counter));
            match result {
                Ok(result) => {
                    if let Err(error) = (state.collect)(&task.item, result) {
                        state.error.get_or_insert(error);
                        return;
                    }
                }
                // The task was interrupted: the stop is what is reported.
                Err(_) if is_stopped() => return,
                Err(error) => {
                    state.error.get_or_insert(error);
                    return;
                }
            }
            state.done += task.units;
            state.cost += task.cost;
            self.progress.update(ProgressUpdate { done: state.done, total, work: share(state.cost) });
        };
        // Called now and then while tasks are under way.
        let look = || {
            let state = lock();
            let partial: f64 = state.under_way.iter().map(UnderWay::cost).sum();
            if partial > 0.0 {
                self.progress.update(ProgressUpdate { done: state.done, total, work: share(state.cost + partial) });
            }
        };
        for_each(self.threads, thread::Builder::new, &tasks, do_task, look);
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
    under_way: Vec<UnderWay>,
}

/// A task that a thread is working on.
struct UnderWay {
    counter: Arc<AtomicU64>,
    cost_per_step: f64,
    steps: f64,
}

impl UnderWay {
    /// The cost of the steps that are done.
    fn cost(&self) -> f64 {
        (self.counter.load(Ordering::Relaxed) as f64).min(self.steps) * self.cost_per_step
    }
}

/// The time between two looks at the tasks that are under way.
const BETWEEN_LOOKS: Duration = Duration::from_millis(200);

/// Calls `work` once per item, on up to `threads` threads (0 for all): each thread takes the next item until none is
/// left. Meanwhile `look` is called from time to time. If the system does not allow so many threads, those that could
/// be started do the work.
fn for_each<T: Sync>(
    threads: usize,
    thread: fn() -> thread::Builder,
    items: &[T],
    work: impl Fn(&T) + Sync,
    look: impl Fn() + Sync,
) {
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
    let (finished, watch) = mpsc::channel::<()>();
    thread::scope(|scope| {
        // Ends when `finished` is dropped.
        let look = &look;
        let watching = move || {
            while watch.recv_timeout(BETWEEN_LOOKS) == Err(RecvTimeoutError::Timeout) {
                look();
            }
        };
        let _ = thread().spawn_scoped(scope, watching);
        let mut workers = Vec::new();
        for _ in 1..threads.min(items.len()) {
            match thread().spawn_scoped(scope, take) {
                Ok(worker) => workers.push(worker),
                Err(_) => break,
            }
        }
        take();
        for worker in workers {
            if let Err(panic) = worker.join() {
                std::panic::resume_unwind(panic);
            }
        }
        drop(finished);
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
    fn work_is_done_where_no_further_thread_can_be_started() {
        let too_large = || thread::Builder::new().stack_size(1 << 60);
        assert!(too_large().spawn(|| ()).is_err());
        let done = AtomicUsize::new(0);
        let count = |(): &()| {
            done.fetch_add(1, Ordering::Relaxed);
        };
        for_each(8, too_large, &[(); 50], count, || ());
        assert_eq!(done.into_inner(), 50);
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

    #[test]
    fn progress_moves_while_a_task_is_under_way() {
        let seen = Mutex::new(Vec::new());
        let progress = |update: ProgressUpdate| seen.lock().unwrap().push((update.done, update.work));
        let tasks = vec![Task::new(0, 3.0).steps(100), Task::new(1, 1.0).steps(100)];
        // The first task waits at step 50 until its progress was reported.
        let work = |&task: &i32, counter: &AtomicU64| {
            counter.store(50, Ordering::Relaxed);
            while task == 0 && seen.lock().unwrap().is_empty() {
                thread::yield_now();
            }
            Ok::<_, ()>(())
        };
        Scheduler::new(1).progress(&progress).run_in_steps(tasks, work, |_, ()| Ok(())).unwrap();
        let seen = seen.into_inner().unwrap();
        assert_eq!(seen[0], (0, 0.375), "half of the task that has three quarters of the cost");
        assert_eq!(seen.last(), Some(&(2, 1.0)));
        assert!(seen.windows(2).all(|pair| pair[0] <= pair[1]), "{seen:?}");
    }

    #[test]
    fn tasks_that_end_early_because_of_the_stop_flag_are_no_failures() {
        let stop = AtomicBool::new(false);
        let work = |&i: &usize| {
            stop.store(i == 7, Ordering::Relaxed);
            if i == 7 { Err("interrupted") } else { Ok(()) }
        };
        let stopped = Scheduler::new(1).stop(&stop).run(tasks(10), work, |_, ()| Ok(()));
        assert_eq!(stopped, Err(ScheduleError::Stopped { done: 2, total: 10 }));
    }
}
