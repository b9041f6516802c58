//! All experiments, by name, and what can be done with them.

use std::collections::BTreeMap;

use super::batch::{CommitBatch, state_digest};
use super::{PartAnswer, PerformedParts};
use crate::experiment::{ExperimentView, LiveAnswer, LiveExperiment, LiveRequest, ReplayError};
use crate::problem::{ProblemKind, ServiceProblem};
use crate::record::{LoggedAnswer, LoggedCommand, RequestKey, StoredRecord};
use crate::spec::LiveExperimentSpec;
use crate::store::{AppendedRecords, RecordLog, StoreChange, StoreError};

/// All experiments.
#[derive(Debug, Default)]
pub(crate) struct ExperimentTable {
    experiments: BTreeMap<String, (i64, LiveExperiment)>,
    next_id: i64,
}

/// Why the experiments of a store cannot be loaded.
#[derive(Debug, thiserror::Error)]
pub enum LoadError {
    /// The store cannot be read.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// A record is damaged.
    #[error(
        "record {seq} of experiment `{experiment}` is damaged: {why}. Nothing was changed. Go back to a backup, or \
         remove the experiment with its records from the file"
    )]
    Damaged {
        /// The experiment.
        experiment: String,
        /// The number of the record.
        seq: u64,
        /// What is wrong.
        why: String,
    },
}

/// Reads and replays all experiments of a store, and checks every answer and every stored digest on the way.
pub(crate) fn load(log: &mut dyn RecordLog) -> Result<ExperimentTable, LoadError> {
    let mut table = ExperimentTable { experiments: BTreeMap::new(), next_id: 1 };
    for stored in log.experiments()? {
        let damaged = |seq, why: String| LoadError::Damaged { experiment: stored.name.clone(), seq, why };
        let digests = log.state_digests(stored.id)?;
        let mut digests = digests.iter().peekable();
        let mut experiment: Option<LiveExperiment> = None;
        let mut failure = None;
        log.read(stored.id, &mut |record| {
            let replayed = match &mut experiment {
                Some(experiment) => experiment.replay(&record),
                None => LiveExperiment::from_first(&stored.name, &record).map(|first| experiment = Some(first)),
            };
            let checked = replayed.map_err(|error: ReplayError| error.to_string()).and_then(|()| {
                match digests.next_if(|(seq, _)| *seq == record.seq) {
                    Some((_, digest)) if experiment.as_ref().map(state_digest).as_ref() != Some(digest) => {
                        Err("the replayed state is not the state that was stored".to_owned())
                    }
                    _ => Ok(()),
                }
            });
            failure = checked.err().map(|why| (record.seq, why));
            failure.is_none()
        })?;
        if let Some((seq, why)) = failure {
            return Err(damaged(seq, why));
        }
        let Some(experiment) = experiment else { return Err(damaged(0, "it is missing".to_owned())) };
        if let Some((seq, _)) = digests.next() {
            return Err(damaged(*seq, "it is missing, but a digest of the state after it exists".to_owned()));
        }
        table.next_id = table.next_id.max(stored.id + 1);
        table.experiments.insert(stored.name.clone(), (stored.id, experiment));
    }
    Ok(table)
}

impl ExperimentTable {
    /// The latest time of any record.
    pub(crate) fn latest_time(&self) -> u64 {
        self.iter().map(|(_, experiment)| experiment.latest_time()).max().unwrap_or(0)
    }

    /// The number of records of all experiments.
    pub(crate) fn records(&self) -> u64 {
        self.iter().map(|(_, experiment)| experiment.seq()).sum()
    }

    pub(crate) fn get(&self, name: &str) -> Option<(i64, &LiveExperiment)> {
        self.experiments.get(name).map(|(id, experiment)| (*id, experiment))
    }

    /// All experiments in the order of their names, with their numbers in the store.
    pub(crate) fn iter(&self) -> impl Iterator<Item = (i64, &LiveExperiment)> {
        self.experiments.values().map(|(id, experiment)| (*id, experiment))
    }

    pub(super) fn create(
        &mut self,
        name: &str,
        spec: LiveExperimentSpec,
        now: u64,
        batch: &mut CommitBatch,
    ) -> Result<(ExperimentView, bool), ServiceProblem> {
        if let Some((_, experiment)) = self.get(name) {
            if experiment.spec == spec {
                return Ok((experiment.experiment_view(), false));
            }
            let detail = format!(
                "there is another experiment `{name}`, created with a different specification, which does not change \
                 any more: choose another name"
            );
            return Err(ServiceProblem::new(ProblemKind::NotIdentical, detail).with("experiment", name));
        }
        let (experiment, record) = LiveExperiment::create(name, spec, now)?;
        let id = self.next_id;
        self.next_id += 1;
        let view = experiment.experiment_view();
        batch.changes.push(StoreChange::CreateExperiment { experiment: id, name: name.to_owned() });
        batch.changes.push(StoreChange::Append(AppendedRecords { experiment: id, records: vec![record] }));
        self.experiments.insert(name.to_owned(), (id, experiment));
        Ok((view, true))
    }

    pub(super) fn delete(&mut self, name: &str, batch: &mut CommitBatch) -> Result<(), ServiceProblem> {
        let Some((id, _)) = self.experiments.remove(name) else {
            return Err(ServiceProblem::unknown_experiment(name));
        };
        batch.changes.push(StoreChange::DeleteExperiment { experiment: id });
        Ok(())
    }

    /// Lets decisions expire.
    pub(super) fn tick(&mut self, now: u64, batch: &mut CommitBatch) {
        for (id, experiment) in self.experiments.values_mut().filter(|(_, experiment)| experiment.is_due(now)) {
            if let Some(record) = experiment.apply(LoggedCommand::Tick, None, now).record {
                batch.append(*id, experiment, record);
            }
        }
    }

    /// Applies the parts of a request in order, up to the first that is refused.
    pub(super) fn perform(
        &mut self,
        name: &str,
        parts: Vec<LiveRequest>,
        mut key: Option<RequestKey>,
        now: u64,
        log: &mut dyn RecordLog,
        batch: &mut CommitBatch,
    ) -> PerformedParts {
        let mut performed = PerformedParts::default();
        let Some((id, experiment)) = self.experiments.get_mut(name) else {
            performed.problem = Some(ServiceProblem::unknown_experiment(name));
            return performed;
        };
        let last = parts.len().saturating_sub(1);
        for (index, part) in parts.into_iter().enumerate() {
            let key = if index == last { key.take() } else { None };
            match perform_part(*id, experiment, part, key, now, log, batch) {
                Ok(answer) => performed.answers.push(answer),
                Err(problem) => {
                    performed.problem = Some(problem);
                    break;
                }
            }
        }
        performed
    }
}

fn perform_part(
    id: i64,
    experiment: &mut LiveExperiment,
    part: LiveRequest,
    key: Option<RequestKey>,
    now: u64,
    log: &mut dyn RecordLog,
    batch: &mut CommitBatch,
) -> Result<PartAnswer, ServiceProblem> {
    let command = experiment.resolve(part)?;
    let settled = match command {
        LoggedCommand::Settle { decision, outcome, .. } => Some((decision, outcome)),
        _ => None,
    };
    let applied = experiment.apply(command, key, now);
    if let Some(record) = applied.record {
        batch.append(id, experiment, record);
    }
    let answer = match (applied.answer, settled) {
        (Err(problem), Some((decision, outcome)))
            if problem.kind == ProblemKind::AlreadySettled && problem.members["recorded"].is_null() =>
        {
            // The state machine remembers the latest outcomes only; the log has them all.
            match first_outcome(log, id, decision) {
                Ok(Some(LoggedCommand::Settle { outcome: first, .. })) if first == outcome => {
                    return Ok(repeated(decision));
                }
                Ok(Some(LoggedCommand::Settle { outcome: first, .. })) => {
                    Err(experiment.already_settled(decision, Some(first)))
                }
                Ok(None) => return Ok(PartAnswer::Expired { decision }),
                Ok(Some(_)) | Err(_) => Err(problem),
            }
        }
        (answer, _) => answer,
    };
    Ok(match answer? {
        LiveAnswer::Recorded { decision, counted, first, because } => {
            PartAnswer::Recorded { decision, counted, first, because }
        }
        LiveAnswer::Expired { decision } => PartAnswer::Expired { decision },
        LiveAnswer::Noted => PartAnswer::Noted,
        decision => match experiment.answered_decision(&decision) {
            Some(view) => PartAnswer::Decision(view),
            None => PartAnswer::Noted,
        },
    })
}

fn repeated(decision: u64) -> PartAnswer {
    let counted = crate::record::CountedName::Not;
    PartAnswer::Recorded { decision, counted, first: false, because: Some("the same outcome was reported before") }
}

/// The command that gave a decision its outcome; `None` if it has expired.
fn first_outcome(log: &mut dyn RecordLog, experiment: i64, decision: u64) -> Result<Option<LoggedCommand>, StoreError> {
    let records = log.records_of_decision(experiment, decision)?;
    let bodies = records.iter().filter_map(|record: &StoredRecord| record.read().ok());
    let outcome = |body: &crate::record::RecordBody| matches!(body.answer, LoggedAnswer::Recorded { .. });
    Ok(bodies.filter(outcome).map(|body| body.command).next())
}
