//! The core loop: one thread that holds all experiments.
//!
//! It takes all requests that wait, up to [`LARGEST_BATCH`], applies them, writes their records in one transaction, and
//! answers after the commit. A commit that fails ends the loop: what is in memory is then ahead of the store, and
//! nothing is repaired.

mod batch;
mod handle;
mod table;

use std::sync::Arc;
use std::sync::mpsc::{Receiver, RecvTimeoutError, sync_channel};
use std::time::{Duration, Instant};

use tokio::sync::{oneshot, watch};

use crate::experiment::{DecisionView, ExperimentView, LiveRequest};
use crate::metrics::EngineMetrics;
use crate::problem::ServiceProblem;
use crate::record::{CountedName, RequestKey};
use crate::spec::LiveExperimentSpec;
use crate::store::{RecordStore, StoreError, StoredToken};
use crate::times::RisingClock;
use batch::CommitBatch;
pub(crate) use handle::EngineHandle;
pub use table::LoadError;
pub(crate) use table::{ExperimentTable, load};

/// The most requests that one transaction serves.
const LARGEST_BATCH: usize = 512;

/// The most requests that wait; further ones are refused.
const LONGEST_QUEUE: usize = 10_000;

/// How often decisions are looked for that have expired.
const TICK: Duration = Duration::from_millis(250);

/// What became of one part of a request.
#[derive(Clone, Debug)]
pub(crate) enum PartAnswer {
    Decision(DecisionView),
    Recorded { decision: u64, counted: CountedName, first: bool, because: Option<&'static str> },
    Expired { decision: u64 },
    Noted,
}

/// What became of a request: its parts up to the first that was refused.
#[derive(Clone, Debug, Default)]
pub(crate) struct PerformedParts {
    pub(crate) answers: Vec<PartAnswer>,
    pub(crate) problem: Option<ServiceProblem>,
}

type Reply<T> = oneshot::Sender<T>;

/// Looks at the experiments after the commit, and sends its own answer.
type CommittedLook = Box<dyn FnOnce(&ExperimentTable) + Send>;

/// What the thread is asked to do.
pub(crate) enum EngineJob {
    Create {
        name: String,
        spec: Box<LiveExperimentSpec>,
        /// The experiment, and whether it is new.
        reply: Reply<Result<(ExperimentView, bool), ServiceProblem>>,
    },
    Delete {
        name: String,
        reply: Reply<Result<(), ServiceProblem>>,
    },
    Perform {
        experiment: String,
        parts: Vec<LiveRequest>,
        /// The key of the last part.
        key: Option<RequestKey>,
        reply: Reply<PerformedParts>,
    },
    Look(CommittedLook),
    AddToken {
        token: StoredToken,
        reply: Reply<()>,
    },
    RevokeToken {
        id: i64,
        reply: Reply<()>,
    },
    Stop,
}

/// The thread's side of the queue.
pub(crate) struct CoreLoop {
    table: ExperimentTable,
    store: Box<dyn RecordStore>,
    clock: RisingClock,
    jobs: Receiver<EngineJob>,
    commits: watch::Sender<u64>,
    metrics: Arc<EngineMetrics>,
    digest_every: u64,
}

impl CoreLoop {
    /// An engine over loaded experiments, and the handle by which requests reach it.
    pub(crate) fn new(table: ExperimentTable, store: Box<dyn RecordStore>, digest_every: u64) -> (Self, EngineHandle) {
        let (sender, jobs) = sync_channel(LONGEST_QUEUE);
        let (commits, committed) = watch::channel(0);
        let metrics = Arc::new(EngineMetrics::default());
        let clock = RisingClock::from(table.latest_time());
        let engine = Self { table, store, clock, jobs, commits, metrics: metrics.clone(), digest_every };
        (engine, EngineHandle::new(sender, committed, metrics))
    }

    /// Serves until it is told to stop or a commit fails.
    pub(crate) fn run(mut self) -> Result<(), StoreError> {
        let mut next_tick = Instant::now() + TICK;
        loop {
            let mut batch = CommitBatch::new(self.digest_every);
            let mut stop = false;
            match self.jobs.recv_timeout(next_tick.saturating_duration_since(Instant::now())) {
                Ok(job) => {
                    stop |= self.accept(job, &mut batch);
                    while batch.jobs < LARGEST_BATCH && !stop {
                        let Ok(job) = self.jobs.try_recv() else { break };
                        stop |= self.accept(job, &mut batch);
                    }
                }
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => stop = true,
            }
            if Instant::now() >= next_tick {
                let now = self.clock.now();
                self.table.tick(now, &mut batch);
                next_tick = Instant::now() + TICK;
            }
            self.metrics.take_from_queue(batch.jobs);
            if !batch.changes.is_empty() {
                let start = Instant::now();
                self.store.commit(&batch.changes)?;
                self.metrics.note_commit(start.elapsed(), batch.jobs);
                self.commits.send_modify(|count| *count += 1);
            }
            batch.answer(&self.table);
            if stop {
                return Ok(());
            }
        }
    }

    /// Applies one job; whether it was the last.
    fn accept(&mut self, job: EngineJob, batch: &mut CommitBatch) -> bool {
        let now = self.clock.now();
        batch.jobs += 1;
        match job {
            EngineJob::Create { name, spec, reply } => {
                let created = self.table.create(&name, *spec, now, batch);
                batch.answer_later(reply, created);
            }
            EngineJob::Delete { name, reply } => {
                let deleted = self.table.delete(&name, batch);
                batch.answer_later(reply, deleted);
            }
            EngineJob::Perform { experiment, parts, key, reply } => {
                let log = self.store.log();
                let performed = self.table.perform(&experiment, parts, key, now, log, batch);
                batch.answer_later(reply, performed);
            }
            EngineJob::Look(look) => batch.looks.push(look),
            EngineJob::AddToken { token, reply } => {
                batch.changes.push(crate::store::StoreChange::AddToken(token));
                batch.answer_later(reply, ());
            }
            EngineJob::RevokeToken { id, reply } => {
                batch.changes.push(crate::store::StoreChange::RevokeToken { id, at: now });
                batch.answer_later(reply, ());
            }
            EngineJob::Stop => return true,
        }
        false
    }
}
