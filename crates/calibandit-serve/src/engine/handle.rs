//! The side of the queue where requests come in.

use std::sync::Arc;
use std::sync::mpsc::{SyncSender, TrySendError};

use tokio::sync::{Semaphore, oneshot, watch};

use super::table::ExperimentTable;
use super::{EngineJob, LONGEST_QUEUE, PerformedParts};
use crate::experiment::{ExperimentView, LiveExperiment, LiveRequest};
use crate::metrics::EngineMetrics;
use crate::problem::{ProblemKind, ServiceProblem};
use crate::record::RequestKey;
use crate::spec::LiveExperimentSpec;
use crate::store::StoredToken;

/// The most requests that look at experiments and wait. They must not crowd out plays.
const MOST_LOOKS: usize = 256;

/// A way to the core loop.
#[derive(Clone)]
pub(crate) struct EngineHandle {
    jobs: SyncSender<EngineJob>,
    commits: watch::Receiver<u64>,
    looks: Arc<Semaphore>,
    pub(crate) metrics: Arc<EngineMetrics>,
}

fn overloaded(what: &str) -> ServiceProblem {
    ServiceProblem::new(ProblemKind::Overloaded, format!("{what} are waiting: repeat the request in a moment"))
}

impl EngineHandle {
    pub(super) fn new(jobs: SyncSender<EngineJob>, commits: watch::Receiver<u64>, metrics: Arc<EngineMetrics>) -> Self {
        Self { jobs, commits, looks: Arc::new(Semaphore::new(MOST_LOOKS)), metrics }
    }

    fn send(&self, job: EngineJob) -> Result<(), ServiceProblem> {
        self.metrics.add_to_queue();
        self.jobs.try_send(job).map_err(|error| {
            self.metrics.take_from_queue(1);
            match error {
                TrySendError::Full(_) => overloaded(&format!("{LONGEST_QUEUE} requests")),
                TrySendError::Disconnected(_) => ServiceProblem::stopping(),
            }
        })
    }

    async fn ask<T>(&self, job: impl FnOnce(oneshot::Sender<T>) -> EngineJob) -> Result<T, ServiceProblem> {
        let (reply, answer) = oneshot::channel();
        self.send(job(reply))?;
        // The loop ends without an answer if a commit fails.
        answer.await.map_err(|_| ServiceProblem::stopping())
    }

    pub(crate) async fn create(
        &self,
        name: String,
        spec: LiveExperimentSpec,
    ) -> Result<(ExperimentView, bool), ServiceProblem> {
        self.ask(|reply| EngineJob::Create { name, spec: Box::new(spec), reply }).await?
    }

    pub(crate) async fn delete(&self, name: String) -> Result<(), ServiceProblem> {
        self.ask(|reply| EngineJob::Delete { name, reply }).await?
    }

    pub(crate) async fn perform(
        &self,
        experiment: String,
        parts: Vec<LiveRequest>,
        key: Option<RequestKey>,
    ) -> Result<PerformedParts, ServiceProblem> {
        self.ask(|reply| EngineJob::Perform { experiment, parts, key, reply }).await
    }

    /// Looks at all experiments, in a state that is committed.
    pub(crate) async fn look<T: Send + 'static>(
        &self,
        look: impl FnOnce(&ExperimentTable) -> T + Send + 'static,
    ) -> Result<T, ServiceProblem> {
        let Ok(_place) = self.looks.try_acquire() else {
            return Err(overloaded(&format!("{MOST_LOOKS} requests to read")));
        };
        self.ask(|reply| EngineJob::Look(Box::new(move |table| drop(reply.send(look(table)))))).await
    }

    /// Looks at one experiment. Its number in the store comes with it.
    pub(crate) async fn look_at<T: Send + 'static>(
        &self,
        name: String,
        look: impl FnOnce(&LiveExperiment, i64) -> T + Send + 'static,
    ) -> Result<T, ServiceProblem> {
        self.look(move |table| match table.get(&name) {
            Some((id, experiment)) => Ok(look(experiment, id)),
            None => Err(ServiceProblem::unknown_experiment(&name)),
        })
        .await?
    }

    pub(crate) async fn add_token(&self, token: StoredToken) -> Result<(), ServiceProblem> {
        self.ask(|reply| EngineJob::AddToken { token, reply }).await
    }

    pub(crate) async fn revoke_token(&self, id: i64) -> Result<(), ServiceProblem> {
        self.ask(|reply| EngineJob::RevokeToken { id, reply }).await
    }

    /// A number that changes with every commit.
    pub(crate) fn commits(&self) -> watch::Receiver<u64> {
        self.commits.clone()
    }

    /// Tells the loop to serve what waits, and then to end.
    pub(crate) fn stop(&self) {
        // If the queue is full, the loop is still ended by the handles that are dropped.
        let _ = self.jobs.try_send(EngineJob::Stop);
    }
}
