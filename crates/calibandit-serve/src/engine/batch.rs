//! One batch of the core loop: what is written together, and what is answered afterwards.

use sha2::{Digest, Sha256};
use tokio::sync::oneshot;

use super::CommittedLook;
use super::table::ExperimentTable;
use crate::experiment::LiveExperiment;
use crate::record::StoredRecord;
use crate::store::{AppendedRecords, StoreChange};

pub(super) struct CommitBatch {
    pub(super) changes: Vec<StoreChange>,
    pub(super) looks: Vec<CommittedLook>,
    answers: Vec<Box<dyn FnOnce() + Send>>,
    /// The number of jobs in it.
    pub(super) jobs: usize,
    digest_every: u64,
}

impl CommitBatch {
    pub(super) fn new(digest_every: u64) -> Self {
        Self { changes: Vec::new(), looks: Vec::new(), answers: Vec::new(), jobs: 0, digest_every }
    }

    /// Keeps an answer until the commit. Whoever has gone away gets none.
    pub(super) fn answer_later<T: Send + 'static>(&mut self, reply: oneshot::Sender<T>, answer: T) {
        self.answers.push(Box::new(move || drop(reply.send(answer))));
    }

    /// Adds the latest record of an experiment, and now and then a digest of its state.
    pub(super) fn append(&mut self, id: i64, experiment: &LiveExperiment, record: StoredRecord) {
        let seq = record.seq;
        match self.changes.last_mut() {
            Some(StoreChange::Append(appended)) if appended.experiment == id => appended.records.push(record),
            _ => self.changes.push(StoreChange::Append(AppendedRecords { experiment: id, records: vec![record] })),
        }
        if self.digest_every > 0 && seq % self.digest_every == self.digest_every - 1 {
            let sha256 = state_digest(experiment);
            self.changes.push(StoreChange::StateDigest { experiment: id, seq, sha256 });
        }
    }

    /// Sends all answers. Only after the commit.
    pub(super) fn answer(self, table: &ExperimentTable) {
        self.answers.into_iter().for_each(|answer| answer());
        self.looks.into_iter().for_each(|look| look(table));
    }
}

/// A digest of the whole state of an experiment.
pub(super) fn state_digest(experiment: &LiveExperiment) -> Vec<u8> {
    let text = experiment.state_json().expect("a state has only finite numbers and strings as keys");
    Sha256::digest(text.as_bytes()).to_vec()
}
