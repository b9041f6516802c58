//! Runs work on another thread while the calling thread handles Ctrl-C and progress.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::thread;
use std::time::{Duration, Instant};

use calibandit_experiment::schedule::{Progress, ProgressUpdate};
use pyo3::prelude::*;

use crate::failure::Failure;
use crate::interpreter::{caught, detached, stop_at_the_end};

/// The interval at which signals are checked, and the shortest interval between two progress reports.
const BETWEEN: Duration = Duration::from_millis(50);
/// How long stopped work may take to end. Python code of users does not see the stop flag.
const GRACE: Duration = Duration::from_millis(700);

/// Sends progress to the waiting thread.
#[derive(Clone)]
pub(crate) struct ProgressSender(Arc<dyn Fn(ProgressUpdate) + Send + Sync>);

impl Progress for ProgressSender {
    fn update(&self, progress: ProgressUpdate) {
        (self.0)(progress);
    }
}

/// What the working thread sends.
enum WorkMessage<T> {
    Progress(ProgressUpdate),
    Finished(Result<T, Failure>),
}

/// Runs `work` on another thread without the interpreter lock. The calling thread calls `progress(done, total, work)`
/// at intervals. If it raises, or a signal handler does (Ctrl-C), `stop` is set, and the exception is returned once the
/// work has ended, at the next signal, or after [`GRACE`]. Work that is still under way is then left to itself.
pub(crate) fn watched<T: Send + 'static>(
    py: Python<'_>,
    progress: Option<&Bound<'_, PyAny>>,
    stop: &Arc<AtomicBool>,
    work: impl FnOnce(ProgressSender) -> Result<T, Failure> + Send + 'static,
) -> Result<T, Failure> {
    stop_at_the_end(stop)?;
    let (sender, mut messages) = channel();
    let progress_sender = sender.clone();
    let report = ProgressSender(Arc::new(move |update| {
        // The receiver is gone if the work was left to itself.
        let _ = progress_sender.send(WorkMessage::Progress(update));
    }));
    let run = move || {
        let _ = sender.send(WorkMessage::Finished(caught(|| work(report))));
    };
    let started = thread::Builder::new().name("calibandit".to_owned()).spawn(run);
    started.map_err(|error| Failure::Value(format!("no thread could be started: {error}")))?;
    let mut shown = Instant::now();
    let mut latest = None;
    let mut finished = None;
    while finished.is_none() {
        match next(py, &mut messages)? {
            Some(WorkMessage::Progress(update)) => latest = Some(update),
            Some(WorkMessage::Finished(outcome)) => finished = Some(outcome),
            None => {}
        }
        let mut looked = py.check_signals();
        if looked.is_ok() && (finished.is_some() || shown.elapsed() >= BETWEEN) {
            shown = Instant::now();
            if let (Some(progress), Some(ProgressUpdate { done, total, work, .. })) = (progress, latest.take()) {
                looked = progress.call1((done, total, work)).map(|_| ());
            }
        }
        if let Err(raised) = looked {
            stop.store(true, Ordering::Relaxed);
            let ended = finished.is_some();
            return Err(Failure::Raised(if ended { raised } else { wait_for_end(py, &mut messages, raised) }));
        }
    }
    finished.expect("the loop ends when the work has finished")
}

/// The next message, or `None` if there is none for a while.
fn next<T: Send>(py: Python<'_>, messages: &mut Receiver<WorkMessage<T>>) -> Result<Option<WorkMessage<T>>, Failure> {
    detached(py, move || match messages.recv_timeout(BETWEEN) {
        Ok(message) => Ok(Some(message)),
        Err(RecvTimeoutError::Timeout) => Ok(None),
        Err(RecvTimeoutError::Disconnected) => Err(Failure::Panic("a thread ended without a result".to_owned())),
    })
}

/// Waits until stopped work has ended, but not long. Returns the exception that stopped it, or that of a later signal.
fn wait_for_end<T: Send>(py: Python<'_>, messages: &mut Receiver<WorkMessage<T>>, raised: PyErr) -> PyErr {
    let end = Instant::now() + GRACE;
    while Instant::now() < end {
        if let Ok(Some(WorkMessage::Finished(_))) | Err(_) = next(py, messages) {
            break;
        }
        if let Err(another) = py.check_signals() {
            return another;
        }
    }
    raised
}
