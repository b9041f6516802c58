//! The boundary between Python and Rust: panics become exceptions, and no thread is unwound when the interpreter ends.
//!
//! At its end, CPython before 3.14 kills every other thread that wants to hold the interpreter lock, by unwinding its
//! stack. Unwinding through Rust code aborts the process. So [`close`] runs first, as an `atexit` handler: it stops the
//! work of other threads and waits until none of them is in Python code that was called from here. From then on, such a
//! thread sleeps instead of attaching, until the process ends.
//!
//! A thread is *counted* while it is attached to the interpreter, or about to be, with Rust code on its stack.

use std::any::Any;
use std::cell::Cell;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError, Weak};
use std::thread::{self, ThreadId};
use std::time::{Duration, Instant};

use pyo3::prelude::*;

use crate::failure::Failure;

/// How long the end of the interpreter waits for Python code on other threads. A policy may wait for something that
/// never comes.
const PATIENCE: Duration = Duration::from_secs(10);
/// The interval at which the wait looks for Ctrl-C.
const BETWEEN: Duration = Duration::from_millis(50);

struct ThreadCount {
    counted: usize,
    /// The thread that ends the interpreter. It may attach as before.
    closed_by: Option<ThreadId>,
    /// The stop flags of the work under way.
    stops: Vec<Weak<AtomicBool>>,
}

static THREADS: Mutex<ThreadCount> = Mutex::new(ThreadCount { counted: 0, closed_by: None, stops: Vec::new() });
static LEFT: Condvar = Condvar::new();

thread_local! {
    static IS_COUNTED: Cell<bool> = const { Cell::new(false) };
}

fn threads() -> MutexGuard<'static, ThreadCount> {
    THREADS.lock().unwrap_or_else(PoisonError::into_inner)
}

impl ThreadCount {
    /// Counts this thread. After [`close`], only the thread that closed is counted.
    fn count(&mut self) -> bool {
        let open = self.closed_by.is_none_or(|thread| thread == thread::current().id());
        if open {
            self.counted += 1;
            IS_COUNTED.set(true);
        }
        open
    }
}

/// Stops counting this thread.
fn uncount() {
    threads().counted -= 1;
    IS_COUNTED.set(false);
    LEFT.notify_all();
}

/// Counts this thread, which is not attached, or lets it sleep until the process ends.
fn count_or_sleep() {
    if !threads().count() {
        loop {
            thread::park();
        }
    }
}

/// Stops counting the thread when it is dropped.
struct Counted;

impl Drop for Counted {
    fn drop(&mut self) {
        uncount();
    }
}

impl Counted {
    /// Counts this thread, which is attached, unless it is counted already.
    fn attached() -> Option<Self> {
        if IS_COUNTED.get() {
            return None;
        }
        if !threads().count() {
            Python::attach(|py| py.detach(count_or_sleep));
        }
        Some(Self)
    }
}

/// Runs what Python called, on the calling thread: every function and method that Python sees goes through here. A
/// panic is a failure.
pub(crate) fn called<T>(work: impl FnOnce() -> Result<T, Failure>) -> Result<T, Failure> {
    let _counted = Counted::attached();
    caught(work)
}

/// Runs `work` without the interpreter lock.
pub(crate) fn detached<T: Send>(
    py: Python<'_>,
    work: impl FnOnce() -> Result<T, Failure> + Send,
) -> Result<T, Failure> {
    let was_counted = IS_COUNTED.get();
    if was_counted {
        uncount();
    }
    let done = py.detach(|| {
        let done = caught(work);
        count_or_sleep();
        done
    });
    if !was_counted {
        uncount();
    }
    done
}

/// Calls Python code from any thread.
pub(crate) fn attached<T>(call: impl FnOnce(Python<'_>) -> T) -> T {
    let _counted = if IS_COUNTED.get() {
        None
    } else {
        count_or_sleep();
        Some(Counted)
    };
    Python::attach(call)
}

/// Calls Python code from a thread that is attached.
pub(crate) fn still_attached<T>(call: impl FnOnce(Python<'_>) -> T) -> T {
    let _counted = Counted::attached();
    Python::attach(call)
}

/// A panic as a failure.
pub(crate) fn caught<T>(work: impl FnOnce() -> Result<T, Failure>) -> Result<T, Failure> {
    catch_unwind(AssertUnwindSafe(work)).unwrap_or_else(|panic| Err(Failure::Panic(text(panic.as_ref()))))
}

fn text(panic: &(dyn Any + Send)) -> String {
    let text = panic.downcast_ref::<String>().map(String::as_str).or_else(|| panic.downcast_ref::<&str>().copied());
    text.unwrap_or("no message").to_owned()
}

/// Sets `stop` when the interpreter ends. No work can begin after that: its threads could not call Python.
pub(crate) fn stop_at_the_end(stop: &Arc<AtomicBool>) -> Result<(), Failure> {
    let mut threads = threads();
    if threads.closed_by.is_some() {
        return Err(Failure::Ending);
    }
    threads.stops.retain(|stop| stop.strong_count() > 0);
    threads.stops.push(Arc::downgrade(stop));
    Ok(())
}

/// Prepares for the end of the interpreter. Ctrl-C ends the wait.
#[pyfunction]
pub(crate) fn close(py: Python<'_>) -> PyResult<()> {
    {
        let mut threads = threads();
        threads.closed_by = Some(thread::current().id());
        threads.stops.drain(..).filter_map(|stop| stop.upgrade()).for_each(|stop| stop.store(true, Ordering::Relaxed));
    }
    let end = Instant::now() + PATIENCE;
    while threads().counted > 0 && Instant::now() < end {
        py.detach(|| drop(LEFT.wait_timeout(threads(), BETWEEN)));
        py.check_signals()?;
    }
    Ok(())
}

/// Panics, for the test of what Python gets to see of a panic.
#[pyfunction(name = "_panic")]
pub(crate) fn panic_for_tests(py: Python<'_>, on_another_thread: bool) -> Result<(), Failure> {
    let work = || -> Result<(), Failure> { panic!("as the test demands") };
    called(|| match on_another_thread {
        true => crate::watch::watched(py, None, &Arc::default(), move |_| work()),
        false => work(),
    })
}
