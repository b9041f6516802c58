//! Policies written in Python.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use calibandit::{Feedback, Policy, Problem, Run, Stream};
use calibandit_experiment::UserPolicyFactory;
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::types::PyBool;
use rand::Rng;

use crate::failure::{Failure, Raised};
use crate::interpreter::{attached, called};

/// One commitment of a policy: play `arm`, ignore the first `burn_in` losses, add up the next `record`.
///
/// >>> import calibandit as cb
/// >>> run = cb.Run(3, burn_in=9, record=40)
/// >>> run
/// Run(arm=3, burn_in=9, record=40)
/// >>> run.plays
/// 49
/// >>> cb.Run.forever(2)          # to the end of the game
/// Run.forever(2)
#[pyclass(name = "Run", module = "calibandit", frozen, eq, hash)]
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) struct PyRun {
    #[pyo3(get)]
    arm: usize,
    #[pyo3(get)]
    burn_in: u64,
    #[pyo3(get)]
    record: u64,
}

#[pymethods]
impl PyRun {
    #[new]
    #[pyo3(signature = (arm, burn_in = None, record = None), text_signature = "(arm, burn_in=0, record=1)")]
    fn new(
        arm: &Bound<'_, PyAny>,
        burn_in: Option<&Bound<'_, PyAny>>,
        record: Option<&Bound<'_, PyAny>>,
    ) -> Result<Self, Failure> {
        called(|| {
            let arm = whole("arm", arm)? as usize;
            let burn_in = burn_in.map_or(Ok(0), |plays| whole("burn_in", plays))?;
            let record = record.map_or(Ok(1), |plays| whole("record", plays))?;
            if burn_in == 0 && record == 0 {
                return Err(Failure::Value("a run needs at least one play: `burn_in` and `record` are both 0".into()));
            }
            Ok(Self { arm, burn_in, record })
        })
    }

    /// A run of this arm to the end of the game.
    #[staticmethod]
    fn forever(arm: &Bound<'_, PyAny>) -> Result<Self, Failure> {
        called(|| Ok(Run::forever(whole("arm", arm)? as usize).into()))
    }

    /// The number of plays.
    #[getter]
    fn plays(&self) -> u64 {
        Run::from(*self).plays()
    }

    fn __repr__(&self) -> String {
        match *self {
            Self { arm, burn_in: 0, record: u64::MAX } => format!("Run.forever({arm})"),
            Self { arm, burn_in, record } => format!("Run(arm={arm}, burn_in={burn_in}, record={record})"),
        }
    }

    fn __getnewargs__(&self) -> (usize, u64, u64) {
        (self.arm, self.burn_in, self.record)
    }
}

impl From<Run> for PyRun {
    fn from(Run { arm, burn_in, record }: Run) -> Self {
        Self { arm, burn_in, record }
    }
}

impl From<PyRun> for Run {
    fn from(PyRun { arm, burn_in, record }: PyRun) -> Self {
        Self { arm, burn_in, record }
    }
}

/// The feedback of a run: number, sum and sum of squares of the recorded losses.
///
/// >>> import calibandit as cb
/// >>> feedback = cb.Feedback(4, 1.0, 1.0)
/// >>> feedback.mean
/// 0.25
#[pyclass(name = "Feedback", module = "calibandit", frozen, eq)]
#[derive(Clone, Copy, PartialEq)]
pub(crate) struct PyFeedback {
    #[pyo3(get)]
    plays: u64,
    #[pyo3(get)]
    sum: f64,
    #[pyo3(get)]
    sum_sq: f64,
}

#[pymethods]
impl PyFeedback {
    #[new]
    fn new(plays: &Bound<'_, PyAny>, sum: f64, sum_sq: f64) -> Result<Self, Failure> {
        called(|| Ok(Self { plays: whole("plays", plays)?, sum, sum_sq }))
    }

    /// The mean recorded loss; NaN if nothing was recorded.
    #[getter]
    fn mean(&self) -> f64 {
        self.sum / self.plays as f64
    }

    fn __repr__(&self, py: Python<'_>) -> PyResult<String> {
        let float = |value: f64| value.into_pyobject(py)?.repr()?.extract::<String>();
        Ok(format!("Feedback(plays={}, sum={}, sum_sq={})", self.plays, float(self.sum)?, float(self.sum_sq)?))
    }

    fn __getnewargs__(&self) -> (u64, f64, f64) {
        (self.plays, self.sum, self.sum_sq)
    }
}

impl From<Feedback> for PyFeedback {
    fn from(Feedback { plays, sum, sum_sq }: Feedback) -> Self {
        Self { plays, sum, sum_sq }
    }
}

/// A whole number from 0. The error says which argument is wrong; a conversion by PyO3 would not.
fn whole(name: &str, value: &Bound<'_, PyAny>) -> Result<u64, Failure> {
    // `True` is the integer 1 in Python, but nobody means one play by `record=True`.
    if !value.is_instance_of::<PyBool>()
        && let Ok(number) = value.extract()
    {
        return Ok(number);
    }
    let shown = value.repr()?;
    // Whatever is an integer in Python has this method; so has the truth value of NumPy, which is none.
    let is_integer = value.hasattr("__index__")? && value.extract::<bool>().is_err();
    Err(match is_integer {
        true => Failure::Value(format!("`{name}` is {shown}: give a whole number from 0 to 2**64 - 1")),
        false => Failure::Type(format!("`{name}` must be a whole number, not {shown}")),
    })
}

/// An invalid run: it ends a simulation whose policy raised an exception.
pub(crate) const IMPOSSIBLE: Run = Run { arm: usize::MAX, burn_in: 0, record: 0 };

/// `policy.next_run()`.
pub(crate) fn next_run(policy: &Bound<'_, PyAny>) -> PyResult<Run> {
    let run = policy.call_method0(intern!(policy.py(), "next_run"))?;
    match run.cast::<PyRun>() {
        Ok(run) => Ok((*run.get()).into()),
        Err(_) => {
            let type_name = run.get_type().name()?;
            Err(Failure::Type(format!("next_run must return a calibandit.Run, not {type_name}")).into())
        }
    }
}

/// `policy.observe(run, feedback)`.
pub(crate) fn observe(policy: &Bound<'_, PyAny>, run: Run, feedback: Feedback) -> PyResult<()> {
    let arguments = (PyRun::from(run), PyFeedback::from(feedback));
    policy.call_method1(intern!(policy.py(), "observe"), arguments).map(|_| ())
}

/// `policy.recommend()`.
pub(crate) fn recommend(policy: &Bound<'_, PyAny>) -> PyResult<usize> {
    let arm = policy.call_method0(intern!(policy.py(), "recommend"))?;
    Ok(whole("the result of recommend", &arm)? as usize)
}

/// Builds a policy written in Python, a new one per instance: `factory(arms, horizon, seed)`.
pub(crate) struct Factory {
    pub(crate) factory: Py<PyAny>,
    pub(crate) raised: Raised,
    pub(crate) stop: Arc<AtomicBool>,
}

/// Calls a factory. The seed is drawn from the stream of the policy, so it depends on the experiment and the instance
/// alone.
pub(crate) fn make<'py>(
    factory: &Bound<'py, PyAny>,
    problem: &Problem,
    mut stream: Stream,
) -> PyResult<Bound<'py, PyAny>> {
    factory.call1((problem.arms, problem.horizon, stream.next_u64()))
}

impl UserPolicyFactory for Factory {
    /// Holds the interpreter lock during the whole instance. Taking it for each run would make two Python policies hand
    /// it over at every run. Python itself lets other threads run at its switch interval.
    fn with_policy(&self, problem: &Problem, stream: Stream, play: &mut dyn FnMut(&mut dyn Policy)) {
        attached(|py| match make(self.factory.bind(py), problem, stream) {
            Ok(policy) => play(&mut PythonPolicy { policy, raised: &self.raised, stop: &self.stop }),
            Err(error) => self.raised.put(error),
        });
    }
}

struct PythonPolicy<'py, 'a> {
    policy: Bound<'py, PyAny>,
    raised: &'a Raised,
    stop: &'a AtomicBool,
}

impl Policy for PythonPolicy<'_, '_> {
    fn next_run(&mut self) -> Run {
        if self.stop.load(Ordering::Relaxed) {
            return IMPOSSIBLE;
        }
        next_run(&self.policy).unwrap_or_else(|error| self.fail(error))
    }

    fn observe(&mut self, run: Run, feedback: Feedback) {
        if let Err(error) = observe(&self.policy, run, feedback) {
            self.fail(error);
        }
    }

    fn recommend(&self) -> usize {
        recommend(&self.policy).unwrap_or_else(|error| {
            self.raised.put(error);
            0
        })
    }
}

impl PythonPolicy<'_, '_> {
    /// Stores the exception and stops the simulation.
    fn fail(&self, error: PyErr) -> Run {
        self.raised.put(error);
        self.stop.store(true, Ordering::Relaxed);
        IMPOSSIBLE
    }
}
