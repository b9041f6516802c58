//! Advisors: ask and tell, over policies of the library and over policies written in Python.

use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError, TryLockError};

use arrow_array::types::Int32Type;
use arrow_array::{ArrayRef, DictionaryArray, Float64Array, Int64Array};
use calibandit::policy::{ArmReport, RestoredPlays, RunReason, StateError, WarmStartError};
use calibandit::rng::StreamKey;
use calibandit::{
    Advisor, AdvisorState, AnyPolicy, ArmState, Certificate, Feedback, LossRange, Phase, Policy, PolicySpec, Problem,
    Run, Stream,
};
use pyo3::prelude::*;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use crate::failure::{Failure, Raised};
use crate::frame::PyFrame;
use crate::interpreter::{called, detached};
use crate::policy::{self, IMPOSSIBLE, PyRun};
use crate::save::SaveQueue;

/// The name that the random numbers of advisors are derived from.
pub(crate) const NAME: &str = "live";

/// Why a call is refused that comes from inside another call.
pub(crate) const IN_USE: &str = "\
the advisor is in the middle of a call of its policy, and this call comes from there: a policy, or a signal handler \
that interrupts it, cannot use the advisor that it works for";

/// A policy of the library, or one written in Python. A snapshot does not contain the latter: Python pickles it.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(untagged)]
pub(crate) enum Adviser {
    BuiltIn(Box<AnyPolicy>),
    Own(AdvisedPolicy),
}

#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct AdvisedPolicy {
    #[serde(skip)]
    policy: Arc<Mutex<Option<Py<PyAny>>>>,
    #[serde(skip)]
    raised: Raised,
    /// Marks a snapshot as that of a policy written in Python.
    own_policy: (),
}

impl AdvisedPolicy {
    /// Calls the Python policy and stores the exception that it raises.
    fn call<T>(&self, otherwise: T, call: impl FnOnce(&Bound<'_, PyAny>) -> PyResult<T>) -> T {
        Python::attach(|py| {
            let guard = self.policy.lock().unwrap_or_else(PoisonError::into_inner);
            let policy = guard.as_ref().map(|policy| policy.clone_ref(py));
            drop(guard);
            match policy.map(|policy| call(policy.bind(py))) {
                Some(Ok(value)) => value,
                Some(Err(error)) => {
                    self.raised.put(error);
                    otherwise
                }
                None => otherwise,
            }
        })
    }
}

impl Policy for Adviser {
    fn next_run(&mut self) -> Run {
        match self {
            Adviser::BuiltIn(built_in) => built_in.next_run(),
            Adviser::Own(own) => own.call(IMPOSSIBLE, policy::next_run),
        }
    }

    fn observe(&mut self, run: Run, feedback: Feedback) {
        match self {
            Adviser::BuiltIn(built_in) => built_in.observe(run, feedback),
            Adviser::Own(own) => own.call((), |policy| policy::observe(policy, run, feedback)),
        }
    }

    fn recommend(&self) -> usize {
        match self {
            Adviser::BuiltIn(built_in) => built_in.recommend(),
            Adviser::Own(own) => own.call(0, policy::recommend),
        }
    }

    fn certificate(&self) -> Option<Certificate> {
        match self {
            Adviser::BuiltIn(built_in) => built_in.certificate(),
            Adviser::Own(_) => None,
        }
    }

    fn arm_reports(&self) -> Option<Vec<ArmReport>> {
        match self {
            Adviser::BuiltIn(built_in) => built_in.arm_reports(),
            Adviser::Own(_) => None,
        }
    }

    fn run_reason(&self, run: Run) -> RunReason {
        match self {
            Adviser::BuiltIn(built_in) => built_in.run_reason(run),
            Adviser::Own(_) => RunReason::Unstated,
        }
    }

    fn warm_start(&mut self, past: &[Feedback]) -> Result<(), WarmStartError> {
        match self {
            Adviser::BuiltIn(built_in) => built_in.warm_start(past),
            Adviser::Own(_) => Err(WarmStartError::Unsupported),
        }
    }

    fn check_restored(&self, history: &RestoredPlays<'_>) -> Result<(), StateError> {
        match self {
            Adviser::BuiltIn(built_in) => built_in.check_restored(history),
            // Pickled with the advisor, in the same state.
            Adviser::Own(_) => Ok(()),
        }
    }
}

/// An advisor over numbered arms. `calibandit.Advisor` lets one thread in at a time, so that it is in use only if a
/// policy written in Python, or a signal handler during such a policy, calls the advisor that called it.
#[pyclass(name = "Advisor", module = "calibandit._core", frozen)]
pub(crate) struct PyAdvisor {
    advisor: Mutex<Advisor<Adviser>>,
    saves: SaveQueue,
}

/// The arms that are not ruled out, and how far each of them can be from the best.
type ArmsAndGap = (Vec<usize>, f64);

/// What a snapshot contains besides the advisor: the names of the arms as JSON, the label of the policy, the horizon.
type SnapshotParts = (String, String, Option<u64>);

#[pymethods]
impl PyAdvisor {
    /// Builds an advisor. The policy is given by its table as JSON, or by a factory if it is written in Python.
    #[new]
    #[allow(clippy::too_many_arguments)] // the keyword arguments of Python's constructor
    fn new(
        json: &str,
        factory: Option<Bound<'_, PyAny>>,
        arms: usize,
        horizon: Option<u64>,
        seed: u64,
        loss_range: (f64, f64),
        warm_start: Option<Vec<(u64, f64, f64)>>,
        probe: bool,
    ) -> Result<Self, Failure> {
        called(|| {
            let problem = Problem { arms, horizon };
            let stream = StreamKey::new(seed, NAME, 0).policy();
            let mut memory_bound = None;
            let adviser = match factory {
                Some(factory) => own_adviser(&factory, &problem, stream)?,
                None => {
                    let spec: PolicySpec = serde_json::from_str(json)?;
                    memory_bound = spec.memory_bound();
                    Adviser::BuiltIn(Box::new(spec.build(&problem, stream)?))
                }
            };
            let mut advisor =
                Advisor::with_range(adviser, arms, self::loss_range(loss_range)?)?.with_monitor(memory_bound, probe)?;
            if let Some(horizon) = horizon {
                advisor = advisor.with_horizon(horizon)?;
            }
            if let Some(past) = warm_start {
                let past = past.into_iter().map(|(plays, sum, sum_sq)| Feedback { plays, sum, sum_sq });
                advisor = advisor.with_warm_start(&past.collect::<Vec<_>>())?;
            }
            Ok(Self::of(advisor))
        })
    }

    /// Restores an advisor; `policy` is its policy if that is written in Python. With `edited`, the checksum is not
    /// compared.
    #[staticmethod]
    fn from_json(json: &str, policy: Option<Py<PyAny>>, edited: bool) -> Result<Self, Failure> {
        called(|| {
            let advisor: Advisor<Adviser> =
                if edited { Advisor::from_edited_json(json)? } else { Advisor::from_json(json)? };
            if let Adviser::Own(own) = advisor.policy() {
                *own.policy.lock().unwrap_or_else(PoisonError::into_inner) = policy;
            }
            Ok(Self::of(advisor))
        })
    }

    /// The advisor as JSON.
    fn to_json(&self) -> Result<String, Failure> {
        self.with(|advisor| Ok(advisor.to_json()?))
    }

    /// The text of a snapshot: the advisor and what Python knows about it.
    fn snapshot(&self, parts: SnapshotParts) -> Result<String, Failure> {
        self.with(|advisor| snapshot(advisor, &parts))
    }

    /// Writes a snapshot to a file. The interpreter lock is held while the snapshot is taken, so that no signal handler
    /// and no other thread comes between the snapshot and its turn.
    fn save(&self, py: Python<'_>, path: PathBuf, parts: SnapshotParts) -> Result<(), Failure> {
        called(|| {
            let text = self.with(|advisor| snapshot(advisor, &parts))?;
            let turn = self.saves.turn();
            detached(py, || self.saves.write(turn, &path, &text).map_err(|error| Failure::File { path, error }))
        })
    }

    /// The policy, if it is written in Python.
    #[getter]
    fn own_policy(&self, py: Python<'_>) -> Result<Option<Py<PyAny>>, Failure> {
        self.with(|advisor| {
            Ok(match advisor.policy() {
                Adviser::Own(own) => {
                    let guard = own.policy.lock().unwrap_or_else(PoisonError::into_inner);
                    guard.as_ref().map(|policy| policy.clone_ref(py))
                }
                Adviser::BuiltIn(_) => None,
            })
        })
    }

    /// The next play: its number, its arm, whether it is measured, and whether it is beyond the horizon.
    fn ask(&self) -> Result<(u64, usize, bool, bool), Failure> {
        self.with(|advisor| {
            let asked = advisor.ask();
            let decision = raised(advisor, asked)?;
            Ok((decision.id, decision.arm, decision.phase == Phase::Measured, decision.beyond_horizon))
        })
    }

    /// Takes the loss of a decision, and returns whether the policy uses it.
    fn tell(&self, decision: u64, loss: f64) -> Result<bool, Failure> {
        self.with(|advisor| {
            let told = advisor.tell(decision, loss);
            raised(advisor, told)
        })
    }

    /// Gives up the loss of a decision.
    fn forget(&self, decision: u64) -> Result<(), Failure> {
        self.with(|advisor| {
            let forgotten = advisor.forget(decision);
            raised(advisor, forgotten)
        })
    }

    /// The arm to use once learning stops.
    fn recommend(&self) -> Result<usize, Failure> {
        self.with(|advisor| {
            let arm = advisor.recommend();
            raised(advisor, Ok::<_, Failure>(arm))
        })
    }

    /// The arms not ruled out, how much worse than the best any of them can be, and the probability that this is wrong.
    fn certificate(&self) -> Result<Option<(Vec<usize>, f64, f64)>, Failure> {
        self.with(|advisor| Ok(advisor.certificate().map(|Certificate { arms, gap, delta, .. }| (arms, gap, delta))))
    }

    /// The state: as JSON, as a table with these names of the arms, as text, and the sentences below the text.
    fn state(&self, names: Vec<String>) -> Result<(String, PyFrame, String, String), Failure> {
        self.with(|advisor| {
            let state = advisor.state();
            let state = raised(advisor, Ok::<_, Failure>(state))?;
            let name = |arm: usize| names.get(arm).cloned().unwrap_or_else(|| arm.to_string());
            let summary = state.summary(&name(state.recommended));
            Ok((serde_json::to_string(&state)?, frame(&state, name)?, state.to_text(name), summary))
        })
    }

    /// The intervals of all arms at this probability of error, the recommended arm, how far it can be from the best,
    /// and what is assumed, as JSON; and the arms that are not ruled out.
    fn confidence(&self, delta: f64) -> Result<(String, Option<ArmsAndGap>), Failure> {
        self.with(|advisor| {
            let confidence = advisor.confidence(delta).map_err(|error| Failure::Value(error.to_string()))?;
            let confidence = raised(advisor, Ok::<_, Failure>(confidence))?;
            let certificate = confidence.certificate().map(|Certificate { arms, gap, .. }| (arms, gap));
            Ok((serde_json::to_string(&confidence)?, certificate))
        })
    }

    /// Why a decision was made, as JSON and as text with these names of the arms.
    fn explain(&self, decision: u64, names: Vec<String>) -> Result<(String, String), Failure> {
        self.with(|advisor| {
            let explanation = advisor.explain(decision).map_err(|error| Failure::Unknown(error.to_string()))?;
            let text = explanation.to_text(|arm| names.get(arm).cloned().unwrap_or_else(|| arm.to_string()));
            Ok((serde_json::to_string(&explanation)?, text))
        })
    }

    /// The number of plays of each arm.
    #[getter]
    fn plays(&self) -> Result<Vec<u64>, Failure> {
        self.with(|advisor| Ok(advisor.plays().to_vec()))
    }

    /// The number of changes of the arm.
    #[getter]
    fn switches(&self) -> Result<u64, Failure> {
        self.with(|advisor| Ok(advisor.switches()))
    }

    /// The number of decisions.
    #[getter]
    fn decisions(&self) -> Result<u64, Failure> {
        self.with(|advisor| Ok(advisor.decisions()))
    }

    /// The decisions whose losses the policy needs before its next run.
    #[getter]
    fn outstanding(&self) -> Result<Vec<u64>, Failure> {
        self.with(|advisor| Ok(advisor.outstanding().collect()))
    }

    /// The current run.
    #[getter]
    fn current_run(&self) -> Result<Option<PyRun>, Failure> {
        self.with(|advisor| Ok(advisor.current_run().map(PyRun::from)))
    }

    /// The range of losses.
    #[getter]
    fn loss_range(&self) -> Result<(f64, f64), Failure> {
        self.with(|advisor| Ok((advisor.loss_range().low(), advisor.loss_range().high())))
    }
}

impl PyAdvisor {
    fn of(advisor: Advisor<Adviser>) -> Self {
        Self { advisor: Mutex::new(advisor), saves: SaveQueue::default() }
    }

    /// Runs one method, unless another one is under way. After a panic, the state is not to be trusted.
    fn with<T>(&self, method: impl FnOnce(&mut Advisor<Adviser>) -> Result<T, Failure>) -> Result<T, Failure> {
        called(|| match self.advisor.try_lock() {
            Ok(mut advisor) => method(&mut advisor),
            Err(TryLockError::WouldBlock) => Err(Failure::Busy(IN_USE)),
            Err(TryLockError::Poisoned(_)) => {
                Err(Failure::Panic("an earlier call failed, and the advisor is in an unknown state".to_owned()))
            }
        })
    }
}

/// The arms of a state as a table.
fn frame(state: &AdvisorState, name: impl Fn(usize) -> String) -> Result<PyFrame, Failure> {
    let whole = |value: fn(&ArmState) -> u64| -> ArrayRef {
        let values = state.arms.iter().map(|arm| i64::try_from(value(arm)).unwrap_or(i64::MAX));
        Arc::new(values.collect::<Int64Array>())
    };
    let number = |value: fn(&ArmState) -> Option<f64>| -> ArrayRef {
        Arc::new(state.arms.iter().map(value).collect::<Float64Array>())
    };
    let text = |value: &dyn Fn(&ArmState) -> String| -> ArrayRef {
        let texts: Vec<String> = state.arms.iter().map(value).collect();
        Arc::new(texts.iter().map(String::as_str).collect::<DictionaryArray<Int32Type>>())
    };
    PyFrame::new(vec![
        ("arm", text(&|arm| name(arm.arm))),
        ("plays", whole(|arm| arm.plays)),
        ("measured", whole(|arm| arm.measured)),
        ("mean", number(|arm| arm.mean)),
        ("low", number(|arm| Some(arm.low))),
        ("high", number(|arm| Some(arm.high))),
        ("evidence", number(|arm| arm.evidence)),
        ("threshold", number(|arm| arm.threshold)),
        ("status", text(&|arm| arm.status.name().to_owned())),
    ])
}

/// The exception that the policy raised, if any, otherwise `outcome`.
fn raised<T, E: Into<Failure>>(advisor: &Advisor<Adviser>, outcome: Result<T, E>) -> Result<T, Failure> {
    advisor.policy().raised_or(outcome)
}

impl Adviser {
    /// The exception that the policy raised, if any, otherwise `outcome`.
    pub(crate) fn raised_or<T, E: Into<Failure>>(&self, outcome: Result<T, E>) -> Result<T, Failure> {
        match self {
            Adviser::Own(own) => own.raised.or(outcome),
            Adviser::BuiltIn(_) => outcome.map_err(Into::into),
        }
    }
}

/// A policy written in Python, made by its factory.
pub(crate) fn own_adviser(factory: &Bound<'_, PyAny>, problem: &Problem, stream: Stream) -> Result<Adviser, Failure> {
    let own = policy::make(factory, problem, stream)?.unbind();
    Ok(Adviser::Own(AdvisedPolicy { policy: Arc::new(Mutex::new(Some(own))), ..AdvisedPolicy::default() }))
}

/// The range of losses with these ends.
pub(crate) fn loss_range(ends: (f64, f64)) -> Result<LossRange, Failure> {
    Ok(match ends {
        (f64::NEG_INFINITY, f64::INFINITY) => LossRange::unbounded(),
        (low, high) => LossRange::new(low, high)?,
    })
}

/// The text of a snapshot. The advisor has a checksum of its own.
fn snapshot(advisor: &Advisor<Adviser>, parts: &SnapshotParts) -> Result<String, Failure> {
    let advisor = advisor.to_json()?;
    let (arms, label, horizon) = parts;
    let checksum = parts_checksum(parts.clone());
    let (label, horizon) = (serde_json::to_string(label)?, serde_json::to_string(horizon)?);
    let own = format!(r#""arms": {arms}, "label": {label}, "horizon": {horizon}, "checksum": "{checksum}""#);
    Ok(format!(r#"{{"calibandit_python": 2, {own}, "advisor": {advisor}}}"#))
}

/// SHA-256 of the parts of a snapshot besides the advisor.
#[pyfunction]
pub(crate) fn parts_checksum(parts: SnapshotParts) -> String {
    let (arms, label, horizon) = parts;
    let mut hasher = Sha256::new();
    for part in [arms, label, format!("{horizon:?}")] {
        // The length of each part comes before it, so that no two snapshots are hashed from the same bytes.
        hasher.update((part.len() as u64).to_le_bytes());
        hasher.update(part);
    }
    hasher.finalize().iter().map(|byte| format!("{byte:02x}")).collect()
}
