//! A live experiment: the state machine of the library, with names for arms and lanes.
//!
//! [`apply`](LiveExperiment::apply) reads no clock and performs no I/O. Applying the commands of the log again gives
//! the same answers and the same state; [`replay`](LiveExperiment::replay) checks that.

mod curves;
mod keys;
mod pause;
mod refusal;
mod request;
mod view;

use std::collections::{BTreeMap, HashMap};

use calibandit::lanes::{AskAfter, LaneAdvisor, LaneAnswer, LaneCommand, LaneDecision, LaneError, PlayOutcome};
use calibandit::{AnyPolicy, SnapshotError};

use crate::problem::{ProblemKind, ServiceProblem};
use crate::record::{
    ChainHash, CountedName, GivenDecision, LiveStatus, LoggedAnswer, LoggedCommand, RecordBody, RecordError,
    RequestKey, StoredRecord,
};
use crate::spec::{InvalidField, LiveExperimentSpec};
use curves::LossByPosition;
use keys::{KeyTable, KeyUse};
use pause::UnlearntPlay;
pub(crate) use request::{LiveRequest, ReportedLoss, ReportedOutcome};
pub(crate) use view::{DecisionView, ExperimentView, OutcomeCounts, PhasePlays};

/// A decision without an outcome.
#[derive(Clone, Copy, Debug)]
struct OpenPlay {
    arm: usize,
    position: u64,
}

/// What a lane's number, in the order of first use, belongs to.
#[derive(Debug, Default)]
struct LaneNames {
    numbers: HashMap<String, u64>,
    names: Vec<String>,
}

impl LaneNames {
    fn number(&self, name: &str) -> Option<u64> {
        self.numbers.get(name).copied()
    }

    /// The number of a lane, or the one that it gets if it is used now.
    fn next_number(&self, name: &str) -> u64 {
        self.number(name).unwrap_or(self.names.len() as u64)
    }

    fn name(&self, number: u64) -> &str {
        usize::try_from(number).ok().and_then(|number| self.names.get(number)).map_or("", String::as_str)
    }

    fn use_name(&mut self, name: &str) {
        if self.number(name).is_none() {
            self.numbers.insert(name.to_owned(), self.names.len() as u64);
            self.names.push(name.to_owned());
        }
    }
}

/// The answer to a request that was not refused.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum LiveAnswer {
    Decision { lane: String, asked_at: u64, given: GivenDecision, redelivered: bool },
    Recorded { decision: u64, counted: CountedName, first: bool, because: Option<&'static str> },
    Expired { decision: u64 },
    Noted,
}

/// What a request did.
pub(crate) struct Applied {
    /// What must be written before the request is answered; `None` if nothing changed.
    pub(crate) record: Option<StoredRecord>,
    pub(crate) answer: Result<LiveAnswer, ServiceProblem>,
}

/// Why a record of the log does not fit the state that the records before it give.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub(crate) enum ReplayError {
    #[error(transparent)]
    Record(#[from] RecordError),
    #[error("its time is before that of the record before it")]
    Time,
    #[error("the first record does not create the experiment")]
    First,
    #[error("the experiment cannot be built: {0}")]
    Spec(#[from] InvalidField),
    #[error("replaying it gives another answer: {replayed} instead of {recorded}")]
    Differs { recorded: String, replayed: String },
}

/// One experiment, from its log.
#[derive(Debug)]
pub(crate) struct LiveExperiment {
    pub(crate) name: String,
    pub(crate) spec: LiveExperimentSpec,
    created_at: u64,
    advisor: LaneAdvisor<AnyPolicy>,
    lanes: LaneNames,
    open: BTreeMap<u64, OpenPlay>,
    keys: KeyTable,
    status: LiveStatus,
    /// The decisions from each first number up to each second one were not learnt from.
    unlearnt: Vec<(u64, Option<u64>)>,
    unlearnt_plays: HashMap<String, UnlearntPlay>,
    /// Per arm.
    curves: Vec<LossByPosition>,
    phases: Vec<PhasePlays>,
    /// The number of records, which is the number of the next one.
    seq: u64,
    /// The time of the latest record.
    at: u64,
    chain: ChainHash,
}

impl LiveExperiment {
    /// A new experiment and the record that creates it.
    pub(crate) fn create(name: &str, spec: LiveExperimentSpec, now: u64) -> Result<(Self, StoredRecord), InvalidField> {
        let advisor = spec.build()?;
        let command = LoggedCommand::Create { spec: Box::new(spec.clone()) };
        let body = RecordBody { command, answer: LoggedAnswer::Noted, expired: Vec::new(), key: None };
        let (record, chain) = StoredRecord::encode(&ChainHash::default(), 0, now, &body);
        let (arms, burn_in) = (spec.arms.len(), advisor.settings().burn_in());
        let experiment = Self {
            name: name.to_owned(),
            spec,
            created_at: now,
            advisor,
            lanes: LaneNames::default(),
            open: BTreeMap::new(),
            keys: KeyTable::default(),
            status: LiveStatus::Running,
            unlearnt: Vec::new(),
            unlearnt_plays: HashMap::new(),
            curves: vec![LossByPosition::new(burn_in); arms],
            phases: vec![PhasePlays::default(); arms],
            seq: 1,
            at: now,
            chain,
        };
        Ok((experiment, record))
    }

    /// The experiment that the first record of a log creates.
    pub(crate) fn from_first(name: &str, first: &StoredRecord) -> Result<Self, ReplayError> {
        let (body, _) = first.decode(&ChainHash::default(), 0)?;
        let LoggedCommand::Create { spec } = body.command else { return Err(ReplayError::First) };
        Ok(Self::create(name, *spec, first.at)?.0)
    }

    /// Applies a further record of the log, and compares what it gives with what it gave when it was written.
    pub(crate) fn replay(&mut self, record: &StoredRecord) -> Result<(), ReplayError> {
        let (body, _) = record.decode(&self.chain, self.seq)?;
        if record.at < self.at {
            return Err(ReplayError::Time);
        }
        let replayed = self.apply(body.command, body.key, record.at).record;
        if replayed.as_ref() == Some(record) {
            return Ok(());
        }
        let nothing = || "nothing".to_owned();
        let replayed = replayed.map_or_else(nothing, |replayed| replayed.body);
        Err(ReplayError::Differs { recorded: record.body.clone(), replayed })
    }

    /// The number of records.
    pub(crate) fn seq(&self) -> u64 {
        self.seq
    }

    /// The time of the latest record.
    pub(crate) fn latest_time(&self) -> u64 {
        self.at
    }

    /// The whole state of the state machine as JSON, to compare two of them.
    pub(crate) fn state_json(&self) -> Result<String, SnapshotError> {
        self.advisor.to_json()
    }

    /// Whether a decision has expired by now and the state machine does not know yet.
    pub(crate) fn is_due(&self, now: u64) -> bool {
        self.next_due(now).next().is_some()
    }

    /// The decisions that have expired by now and are still open.
    fn next_due(&self, now: u64) -> impl Iterator<Item = u64> + '_ {
        let after = self.advisor.settings().expiry.after();
        let expires = move |id: &u64| {
            let asked_at = self.advisor.asked_at(*id).unwrap_or(u64::MAX);
            after.is_some_and(|after| asked_at.saturating_add(after) <= now)
        };
        self.advisor.open().take_while(expires)
    }

    /// Applies a command at this time. Time never goes back: an earlier one counts as that of the latest command.
    pub(crate) fn apply(&mut self, command: LoggedCommand, key: Option<RequestKey>, now: u64) -> Applied {
        let now = now.max(self.at).max(self.advisor.now());
        match key.as_ref().map(|key| self.keys.find(key, now)) {
            Some(KeyUse::Repeated(answer)) => return Applied { record: None, answer: Ok(answer) },
            Some(KeyUse::Misused) => {
                let detail = "this Idempotency-Key belongs to a request with another body: use a new key";
                let answer = Err(ServiceProblem::new(ProblemKind::KeyReused, detail));
                return Applied { record: None, answer };
            }
            Some(KeyUse::New) | None => {}
        }
        let expired: Vec<u64> = self.next_due(now).collect();
        let runs = self.advisor.runs();
        let result = self.execute(&command, now);
        for id in &expired {
            self.open.remove(id);
        }
        let (logged, answer) = match result {
            Ok(answer) => (answer.logged(), Ok(answer)),
            Err(problem) => {
                // A refused ask may have opened a run of the policy, and time may have passed.
                let changed = !expired.is_empty() || self.advisor.runs() != runs;
                (changed.then(|| LoggedAnswer::Refused { message: problem.detail.clone() }), Err(problem))
            }
        };
        let noted = (!expired.is_empty()).then_some(LoggedAnswer::Noted);
        let Some(logged) = logged.or(noted) else { return Applied { record: None, answer } };
        if let (Some(key), Ok(answer)) = (&key, &answer) {
            self.keys.remember(key, answer, now);
        }
        let body = RecordBody { command, answer: logged, expired, key };
        let (record, chain) = StoredRecord::encode(&self.chain, self.seq, now, &body);
        (self.seq, self.at, self.chain) = (self.seq + 1, now, chain);
        Applied { record: Some(record), answer }
    }

    fn execute(&mut self, command: &LoggedCommand, now: u64) -> Result<LiveAnswer, ServiceProblem> {
        match command {
            LoggedCommand::Create { .. } => {
                Err(ServiceProblem::new(ProblemKind::NotIdentical, "the experiment exists already"))
            }
            LoggedCommand::Ask { lane, after, available } => self.ask(lane, *after, available.clone(), now),
            LoggedCommand::Settle { decision, outcome, played_at } => self.settle(*decision, *outcome, *played_at, now),
            LoggedCommand::Play { lane, arm, loss } => {
                let command = LaneCommand::Play { lane: self.lanes.next_number(lane), arm: *arm, loss: *loss };
                let answer = self.command(&command, lane, now)?;
                self.lanes.use_name(lane);
                Ok(answer)
            }
            LoggedCommand::Reset { lane } => {
                let number = lane.as_ref().map(|lane| self.lanes.next_number(lane));
                self.command(&LaneCommand::Reset { lane: number }, lane.as_deref().unwrap_or_default(), now)
            }
            LoggedCommand::Tick => self.command(&LaneCommand::Tick, "", now),
            LoggedCommand::Status { status } => self.set_status(*status, now),
        }
    }

    /// Applies a command of the state machine that is about this lane.
    fn command(&mut self, command: &LaneCommand, lane: &str, now: u64) -> Result<LiveAnswer, ServiceProblem> {
        match self.advisor.apply(command, now) {
            Ok(answer) => Ok(self.answer(answer, lane)),
            Err(error) => Err(self.refusal(error, lane)),
        }
    }

    fn answer(&self, answer: LaneAnswer, lane: &str) -> LiveAnswer {
        match answer {
            LaneAnswer::Decision(decision) => LiveAnswer::Decision {
                lane: lane.to_owned(),
                asked_at: decision.asked_at,
                given: given(&decision),
                redelivered: decision.redelivered,
            },
            LaneAnswer::Recorded { decision, counted, first } => {
                LiveAnswer::Recorded { decision, counted: counted.into(), first, because: None }
            }
            LaneAnswer::Expired { decision } => LiveAnswer::Expired { decision },
            _ => LiveAnswer::Noted,
        }
    }

    fn ask(
        &mut self,
        lane: &str,
        after: AskAfter,
        available: Option<Vec<usize>>,
        now: u64,
    ) -> Result<LiveAnswer, ServiceProblem> {
        let number = self.lanes.next_number(lane);
        let newest = self.advisor.lane(number).and_then(|(_, _, newest)| newest);
        let is_repeated = match after {
            AskAfter::Decision(id) => newest != Some(id),
            AskAfter::Start => newest.is_some(),
            _ => false,
        };
        if is_repeated && let Some(answer) = self.repeated_unlearnt(lane, after) {
            return Ok(answer);
        }
        if self.status != LiveStatus::Running && !is_repeated {
            return self.play_leader(lane, newest, available.as_deref(), now);
        }
        let answer = self.command(&LaneCommand::Ask { lane: number, after, available }, lane, now)?;
        self.lanes.use_name(lane);
        if let LiveAnswer::Decision { given, redelivered: false, .. } = &answer {
            self.open.insert(given.id, OpenPlay { arm: given.arm, position: given.position });
            self.phases[given.arm].count(given.phase);
        }
        Ok(answer)
    }

    fn settle(
        &mut self,
        decision: u64,
        outcome: PlayOutcome,
        played_at: Option<u64>,
        now: u64,
    ) -> Result<LiveAnswer, ServiceProblem> {
        let is_unlearnt = |&(from, to): &(u64, Option<u64>)| decision >= from && to.is_none_or(|to| decision < to);
        if decision < self.advisor.decisions() && self.unlearnt.iter().any(is_unlearnt) {
            let because = Some("the experiment did not learn when the decision was made");
            return Ok(LiveAnswer::Recorded { decision, counted: CountedName::Not, first: false, because });
        }
        let answer = self.command(&LaneCommand::Settle { decision, outcome, played_at }, "", now)?;
        if let (Some(play), PlayOutcome::Loss(loss)) = (self.open.remove(&decision), outcome) {
            self.curves[play.arm].add(play.position, loss);
        }
        Ok(answer)
    }

    /// Why the state machine refuses a command about this lane.
    fn refusal(&self, error: LaneError, lane: &str) -> ServiceProblem {
        refusal::problem(error, lane, &self.lanes, &self.spec)
    }
}

impl LiveAnswer {
    /// What the log keeps of it; `None` if nothing has changed.
    fn logged(&self) -> Option<LoggedAnswer> {
        match *self {
            Self::Decision { redelivered: true, .. } | Self::Recorded { first: false, .. } => None,
            Self::Decision { given, .. } => Some(LoggedAnswer::Decision(given)),
            Self::Recorded { decision, counted, .. } => Some(LoggedAnswer::Recorded { decision, counted }),
            Self::Expired { decision } => Some(LoggedAnswer::Expired { decision }),
            Self::Noted => Some(LoggedAnswer::Noted),
        }
    }
}

fn given(decision: &LaneDecision) -> GivenDecision {
    GivenDecision {
        id: decision.id,
        arm: decision.arm,
        phase: decision.phase.into(),
        run: decision.run,
        position: decision.position,
        expires_at: decision.expires_at,
        beyond_horizon: decision.beyond_horizon,
    }
}
