//! Advisors: ask and tell, over policies of the library and over policies written in Python.

use std::sync::{Arc, Mutex, PoisonError};

use calibandit::policy::{RestoredPlays, StateError};
use calibandit::rng::StreamKey;
use calibandit::{Advisor, AnyPolicy, Certificate, Feedback, LossRange, Phase, Policy, PolicySpec, Problem, Run};
use pyo3::prelude::*;
use serde::{Deserialize, Serialize};

use crate::failure::{Failure, Raised};
use crate::policy::{self, IMPOSSIBLE, PyRun};

/// The name that the random numbers of advisors are derived from.
const NAME: &str = "live";

/// A policy of the library, or one written in Python. A snapshot does not contain the latter: Python pickles it.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(untagged)]
enum Adviser {
    BuiltIn(Box<AnyPolicy>),
    Own(AdvisedPolicy),
}

#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct AdvisedPolicy {
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

    fn check_restored(&self, history: &RestoredPlays<'_>) -> Result<(), StateError> {
        match self {
            Adviser::BuiltIn(built_in) => built_in.check_restored(history),
            // Pickled with the advisor, in the same state.
            Adviser::Own(_) => Ok(()),
        }
    }
}

/// An advisor over numbered arms.
#[pyclass(name = "Advisor", module = "calibandit._core")]
pub(crate) struct PyAdvisor {
    advisor: Advisor<Adviser>,
}

#[pymethods]
impl PyAdvisor {
    /// Builds an advisor. The policy is given by its table as JSON, or by a factory if it is written in Python.
    #[new]
    fn new(
        json: &str,
        factory: Option<Bound<'_, PyAny>>,
        arms: usize,
        horizon: Option<u64>,
        seed: u64,
        loss_range: (f64, f64),
    ) -> Result<Self, Failure> {
        let problem = Problem { arms, horizon };
        let stream = StreamKey::new(seed, NAME, 0).policy();
        let adviser = match factory {
            Some(factory) => {
                let own = policy::make(&factory, &problem, stream)?.unbind();
                Adviser::Own(AdvisedPolicy { policy: Arc::new(Mutex::new(Some(own))), ..AdvisedPolicy::default() })
            }
            None => {
                let spec: PolicySpec = serde_json::from_str(json)?;
                Adviser::BuiltIn(Box::new(spec.build(&problem, stream)?))
            }
        };
        let range = match loss_range {
            (f64::NEG_INFINITY, f64::INFINITY) => LossRange::unbounded(),
            (low, high) => LossRange::new(low, high)?,
        };
        Ok(Self { advisor: Advisor::with_range(adviser, arms, range)? })
    }

    /// Restores an advisor; `policy` is its policy if that is written in Python.
    #[staticmethod]
    fn from_json(json: &str, policy: Option<Py<PyAny>>) -> Result<Self, Failure> {
        let advisor: Advisor<Adviser> = Advisor::from_json(json)?;
        if let Adviser::Own(own) = advisor.policy() {
            *own.policy.lock().unwrap_or_else(PoisonError::into_inner) = policy;
        }
        Ok(Self { advisor })
    }

    /// The advisor as JSON.
    fn to_json(&self) -> Result<String, Failure> {
        Ok(self.advisor.to_json()?)
    }

    /// The policy, if it is written in Python.
    #[getter]
    fn own_policy(&self, py: Python<'_>) -> Option<Py<PyAny>> {
        match self.advisor.policy() {
            Adviser::Own(own) => {
                let guard = own.policy.lock().unwrap_or_else(PoisonError::into_inner);
                guard.as_ref().map(|policy| policy.clone_ref(py))
            }
            Adviser::BuiltIn(_) => None,
        }
    }

    /// The next play: its number, its arm, and whether it is measured.
    fn ask(&mut self) -> Result<(u64, usize, bool), Failure> {
        let asked = self.advisor.ask();
        let decision = self.raised(asked)?;
        Ok((decision.id, decision.arm, decision.phase == Phase::Measured))
    }

    /// Takes the loss of a decision, and returns whether the policy uses it.
    fn tell(&mut self, decision: u64, loss: f64) -> Result<bool, Failure> {
        let told = self.advisor.tell(decision, loss);
        self.raised(told)
    }

    /// Gives up the loss of a decision.
    fn forget(&mut self, decision: u64) -> Result<(), Failure> {
        let forgotten = self.advisor.forget(decision);
        self.raised(forgotten)
    }

    /// The arm to use once learning stops.
    fn recommend(&self) -> Result<usize, Failure> {
        let arm = self.advisor.recommend();
        self.raised(Ok::<_, Failure>(arm))
    }

    /// The arms not ruled out, how much worse than the best any of them can be, and the probability that this is wrong.
    fn certificate(&self) -> Option<(Vec<usize>, f64, f64)> {
        self.advisor.certificate().map(|Certificate { arms, gap, delta, .. }| (arms, gap, delta))
    }

    /// The number of plays of each arm.
    #[getter]
    fn plays(&self) -> Vec<u64> {
        self.advisor.plays().to_vec()
    }

    /// The number of changes of the arm.
    #[getter]
    fn switches(&self) -> u64 {
        self.advisor.switches()
    }

    /// The number of decisions.
    #[getter]
    fn decisions(&self) -> u64 {
        self.advisor.decisions()
    }

    /// The decisions whose losses the policy needs before its next run.
    #[getter]
    fn outstanding(&self) -> Vec<u64> {
        self.advisor.outstanding().collect()
    }

    /// The current run.
    #[getter]
    fn current_run(&self) -> Option<PyRun> {
        self.advisor.current_run().map(PyRun::from)
    }

    /// The range of losses.
    #[getter]
    fn loss_range(&self) -> (f64, f64) {
        (self.advisor.loss_range().low(), self.advisor.loss_range().high())
    }
}

impl PyAdvisor {
    fn raised<T, E: Into<Failure>>(&self, outcome: Result<T, E>) -> Result<T, Failure> {
        match self.advisor.policy() {
            Adviser::Own(own) => own.raised.or(outcome),
            Adviser::BuiltIn(_) => outcome.map_err(Into::into),
        }
    }
}
