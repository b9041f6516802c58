//! Runs work on another thread while the calling thread handles Ctrl-C and progress.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{RecvTimeoutError, Sender, channel};
use std::thread;
use std::time::{Duration, Instant};

use calibandit_experiment::schedule::{Progress, ProgressUpdate};
use pyo3::prelude::*;

use crate::failure::Failure;

/// The interval at which signals are checked, and the shortest interval between two progress reports.
const BETWEEN: Duration = Duration::from_millis(50);

/// Sends progress to the waiting thread.
#[derive(Clone)]
pub(crate) struct ProgressSender(Sender<ProgressUpdate>);

impl Progress for ProgressSender {
    fn update(&self, progress: ProgressUpdate) {
        // After an exception the receiver is gone.
        let _ = self.0.send(progress);
    }
}

/// Runs `work` on another thread without the interpreter lock. The calling thread calls `progress(done, total, work)`
/// at intervals. If it raises, or a signal handler does (Ctrl-C), `stop` is set and the exception is returned once the
/// work has ended.
pub(crate) fn watched<T: Send>(
    py: Python<'_>,
    progress: Option<&Bound<'_, PyAny>>,
    stop: &AtomicBool,
    work: impl FnOnce(ProgressSender) -> Result<T, Failure> + Send,
) -> Result<T, Failure> {
    thread::scope(|scope| {
        let (sender, mut receiver) = channel();
        let worker = scope.spawn(move || work(ProgressSender(sender)));
        let mut raised: Option<PyErr> = None;
        let mut shown = Instant::now();
        let mut latest = None;
        loop {
            let listening = &mut receiver;
            let heard = py.detach(move || listening.recv_timeout(BETWEEN));
            let over = matches!(heard, Err(RecvTimeoutError::Disconnected));
            latest = heard.ok().or(latest);
            if raised.is_none() {
                let show = |latest: &Option<ProgressUpdate>| match (progress, latest) {
                    (Some(progress), Some(ProgressUpdate { done, total, work, .. })) => {
                        progress.call1((done, total, work)).map(|_| ())
                    }
                    _ => Ok(()),
                };
                let mut looked = py.check_signals();
                if looked.is_ok() && (over || shown.elapsed() >= BETWEEN) {
                    looked = show(&latest);
                    latest = None;
                    shown = Instant::now();
                }
                if let Err(error) = looked {
                    stop.store(true, Ordering::Relaxed);
                    raised = Some(error);
                }
            }
            if over {
                break;
            }
        }
        let done = py.detach(move || worker.join());
        match (raised, done) {
            (Some(error), _) => Err(Failure::Raised(error)),
            (None, Ok(done)) => done,
            (None, Err(panic)) => std::panic::resume_unwind(panic),
        }
    })
}
