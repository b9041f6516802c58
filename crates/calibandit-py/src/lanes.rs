//! Lane advisors: ask and tell on many lanes. Lanes and arms are numbers here; Python has their names.

use std::sync::{Arc, Mutex, TryLockError};

use arrow_array::types::Int32Type;
use arrow_array::{ArrayRef, DictionaryArray, Float64Array, Int64Array};
use calibandit::lanes::{
    AskAfter, CountedAs, LaneAdvisor, LaneAnswer, LaneCommand, LaneDecision, LanePhase, LaneSettings, PlayOutcome,
};
use calibandit::rng::StreamKey;
use calibandit::{AnyPolicy, Certificate, Feedback, LossRange, PolicySpec, Problem};
use pyo3::prelude::*;

use crate::advisor::{Adviser, NAME, loss_range, own_adviser};
use crate::failure::Failure;
use crate::frame::PyFrame;
use crate::interpreter::called;
use crate::policy::PyRun;

/// An advisor over a policy of the library, which can be copied to look ahead, or over one written in Python.
enum AnyLanes {
    BuiltIn(Box<LaneAdvisor<AnyPolicy>>),
    Own(Box<LaneAdvisor<Adviser>>),
}

/// Calls a method of either advisor.
macro_rules! either {
    ($advisor:expr, $name:ident => $call:expr) => {
        match $advisor {
            AnyLanes::BuiltIn($name) => $call,
            AnyLanes::Own($name) => $call,
        }
    };
}

/// A lane advisor over numbered arms and lanes. `calibandit.LaneAdvisor` lets one thread in at a time.
#[pyclass(name = "LaneAdvisor", module = "calibandit._core", frozen)]
pub(crate) struct PyLaneAdvisor {
    advisor: Mutex<AnyLanes>,
}

/// A decision: its id, arm, phase, position, run, time, expiry, whether it is beyond the horizon and whether it was
/// given out before.
type DecisionParts = (u64, usize, &'static str, u64, u64, u64, Option<u64>, bool, bool);

/// How an outcome counts, whether it is the first report of it, and the decision.
type RecordedParts = (&'static str, bool, u64);

#[pymethods]
impl PyLaneAdvisor {
    /// Builds an advisor. The policy is given by its table as JSON, or by a factory if it is written in Python.
    #[new]
    fn new(
        json: &str,
        factory: Option<Bound<'_, PyAny>>,
        arms: usize,
        horizon: Option<u64>,
        seed: u64,
        range: (f64, f64),
        settings: &str,
    ) -> Result<Self, Failure> {
        called(|| {
            let settings: LaneSettings = serde_json::from_str(settings)?;
            let range = loss_range(range)?;
            let advisor = match factory {
                Some(factory) => Self::own(&factory, Problem { arms, horizon }, seed, range, settings)?,
                None => {
                    let spec: PolicySpec = serde_json::from_str(json)?;
                    let builder = LaneAdvisor::builder(spec, arms, settings).seed(seed).loss_range(range);
                    let builder = horizon.map_or(builder.clone(), |horizon| builder.horizon(horizon));
                    AnyLanes::BuiltIn(Box::new(builder.build()?))
                }
            };
            Ok(Self { advisor: Mutex::new(advisor) })
        })
    }

    /// The next play of a lane. `after` is the newest decision that the caller has, -1 for none.
    fn ask(
        &self,
        lane: u64,
        now: u64,
        after: Option<i64>,
        available: Option<Vec<usize>>,
    ) -> Result<DecisionParts, Failure> {
        let after = match after {
            None => AskAfter::Unstated,
            Some(id) => u64::try_from(id).map_or(AskAfter::Start, AskAfter::Decision),
        };
        match self.apply(&LaneCommand::Ask { lane, after, available }, now)? {
            LaneAnswer::Decision(decision) => Ok(parts(&decision)),
            other => Err(unexpected(&other)),
        }
    }

    /// Reports what became of a decision: `loss`, `done`, `lost`, `not-played` or `overridden`.
    fn settle(
        &self,
        decision: u64,
        outcome: &str,
        loss: Option<f64>,
        arm: Option<usize>,
        played_at: Option<u64>,
        now: u64,
    ) -> Result<RecordedParts, Failure> {
        let outcome = match (outcome, loss, arm) {
            ("loss", Some(loss), _) => PlayOutcome::Loss(loss),
            ("done", ..) => PlayOutcome::Done,
            ("lost", ..) => PlayOutcome::Lost,
            ("not-played", ..) => PlayOutcome::NotPlayed,
            ("overridden", loss, Some(arm)) => PlayOutcome::Overridden { arm, loss },
            _ => return Err(Failure::Value(format!("{outcome} is no outcome"))),
        };
        recorded(&self.apply(&LaneCommand::Settle { decision, outcome, played_at }, now)?)
    }

    /// Reports a play without advice.
    fn play(&self, lane: u64, arm: usize, loss: Option<f64>, now: u64) -> Result<RecordedParts, Failure> {
        recorded(&self.apply(&LaneCommand::Play { lane, arm, loss }, now)?)
    }

    /// A lane has lost its memory, or all lanes have.
    fn reset(&self, lane: Option<u64>, now: u64) -> Result<(), Failure> {
        self.apply(&LaneCommand::Reset { lane }, now).map(drop)
    }

    /// Lets time pass: decisions expire.
    fn tick(&self, now: u64) -> Result<(), Failure> {
        self.apply(&LaneCommand::Tick, now).map(drop)
    }

    /// The arm to use once learning stops.
    fn recommend(&self) -> Result<usize, Failure> {
        self.with(|advisor| {
            let arm = either!(advisor, lanes => lanes.recommend());
            raised(advisor, Ok(arm))
        })
    }

    /// The arms not ruled out, how much worse than the best any of them can be, and the probability that this is wrong.
    fn certificate(&self) -> Result<Option<(Vec<usize>, f64, f64)>, Failure> {
        self.with(|advisor| {
            let certificate = either!(advisor, lanes => lanes.certificate());
            Ok(certificate.map(|Certificate { arms, gap, delta, .. }| (arms, gap, delta)))
        })
    }

    /// A table with one row per arm: plays, losses that the policy has got, their mean, losses in the bank.
    fn state(&self, names: Vec<String>) -> Result<PyFrame, Failure> {
        self.with(|advisor| {
            let (plays, measured) = either!(advisor, lanes => (lanes.plays().to_vec(), lanes.measured().to_vec()));
            let banked: Vec<usize> = either!(advisor, lanes => (0..plays.len()).map(|arm| lanes.banked(arm)).collect());
            let whole = |value: &dyn Fn(usize) -> u64| -> ArrayRef {
                let values = (0..plays.len()).map(|arm| i64::try_from(value(arm)).unwrap_or(i64::MAX));
                Arc::new(values.collect::<Int64Array>())
            };
            let mean = |losses: &Feedback| (losses.plays > 0).then(|| losses.mean());
            let arms: Vec<String> =
                (0..plays.len()).map(|arm| names.get(arm).cloned().unwrap_or_else(|| arm.to_string())).collect();
            PyFrame::new(vec![
                ("arm", Arc::new(arms.iter().map(String::as_str).collect::<DictionaryArray<Int32Type>>())),
                ("plays", whole(&|arm| plays[arm])),
                ("measured", whole(&|arm| measured[arm].plays)),
                ("mean", Arc::new(measured.iter().map(mean).collect::<Float64Array>())),
                ("banked", whole(&|arm| banked[arm] as u64)),
            ])
        })
    }

    /// The decisions and outcomes of each kind, as JSON.
    fn counts(&self) -> Result<String, Failure> {
        self.with(|advisor| Ok(serde_json::to_string(&either!(advisor, lanes => lanes.counts()))?))
    }

    /// The decisions without an outcome, oldest first.
    #[getter]
    fn open(&self) -> Result<Vec<u64>, Failure> {
        self.with(|advisor| Ok(either!(advisor, lanes => lanes.open().collect())))
    }

    /// A lane's arm, its plays of it in a row and its newest decision; None if it was never asked.
    #[allow(clippy::type_complexity)] // a tuple of Python
    fn lane(&self, lane: u64) -> Result<Option<(Option<usize>, u64, Option<u64>)>, Failure> {
        self.with(|advisor| Ok(either!(advisor, lanes => lanes.lane(lane))))
    }

    /// The number of plays of each arm.
    #[getter]
    fn plays(&self) -> Result<Vec<u64>, Failure> {
        self.with(|advisor| Ok(either!(advisor, lanes => lanes.plays().to_vec())))
    }

    /// The number of decisions.
    #[getter]
    fn decisions(&self) -> Result<u64, Failure> {
        self.with(|advisor| Ok(either!(advisor, lanes => lanes.decisions())))
    }

    /// An estimate of the number of lanes that are asked at present.
    #[getter]
    fn active_lanes(&self) -> Result<f64, Failure> {
        self.with(|advisor| Ok(either!(advisor, lanes => lanes.active_lanes())))
    }

    /// The plays of an arm in a row before its losses are used.
    #[getter]
    fn burn_in(&self) -> Result<u64, Failure> {
        self.with(|advisor| Ok(either!(advisor, lanes => lanes.settings().burn_in())))
    }

    /// The latest time.
    #[getter]
    fn now(&self) -> Result<u64, Failure> {
        self.with(|advisor| Ok(either!(advisor, lanes => lanes.now())))
    }

    /// The open run.
    #[getter]
    fn current_run(&self) -> Result<Option<PyRun>, Failure> {
        self.with(|advisor| Ok(either!(advisor, lanes => lanes.current_run()).map(|(run, _)| PyRun::from(run))))
    }
}

impl PyLaneAdvisor {
    fn own(
        factory: &Bound<'_, PyAny>,
        problem: Problem,
        seed: u64,
        range: LossRange,
        settings: LaneSettings,
    ) -> Result<AnyLanes, Failure> {
        let streams = StreamKey::new(seed, NAME, 0);
        let adviser = own_adviser(factory, &problem, streams.policy())?;
        let advisor = LaneAdvisor::new(adviser, problem.arms, range, settings, streams.lanes())?;
        Ok(AnyLanes::Own(Box::new(advisor)))
    }

    fn apply(&self, command: &LaneCommand, now: u64) -> Result<LaneAnswer, Failure> {
        self.with(|advisor| {
            let answer = either!(advisor, lanes => lanes.apply(command, now));
            raised(advisor, answer.map_err(Failure::from))
        })
    }

    /// Runs one method, unless another one is under way. After a panic, the state is not to be trusted.
    fn with<T>(&self, method: impl FnOnce(&mut AnyLanes) -> Result<T, Failure>) -> Result<T, Failure> {
        called(|| match self.advisor.try_lock() {
            Ok(mut advisor) => method(&mut advisor),
            Err(TryLockError::WouldBlock) => Err(Failure::Busy(crate::advisor::IN_USE)),
            Err(TryLockError::Poisoned(_)) => {
                Err(Failure::Panic("an earlier call failed, and the advisor is in an unknown state".to_owned()))
            }
        })
    }
}

/// The exception that the policy raised, if any, otherwise `outcome`.
fn raised<T>(advisor: &AnyLanes, outcome: Result<T, Failure>) -> Result<T, Failure> {
    match advisor {
        AnyLanes::Own(lanes) => lanes.policy().raised_or(outcome),
        AnyLanes::BuiltIn(_) => outcome,
    }
}

fn parts(decision: &LaneDecision) -> DecisionParts {
    let phase = match decision.phase {
        LanePhase::WarmUp => "warm-up",
        LanePhase::Measured => "measured",
        _ => "filler",
    };
    let LaneDecision { id, arm, position, run, asked_at, expires_at, beyond_horizon, redelivered, .. } = *decision;
    (id, arm, phase, position, run, asked_at, expires_at, beyond_horizon, redelivered)
}

fn recorded(answer: &LaneAnswer) -> Result<RecordedParts, Failure> {
    match *answer {
        LaneAnswer::Recorded { decision, counted, first } => {
            let counted = match counted {
                CountedAs::Run => "run",
                CountedAs::Bank => "bank",
                CountedAs::WarmUp => "warm-up",
                _ => "not",
            };
            Ok((counted, first, decision))
        }
        LaneAnswer::Expired { decision } => Ok(("late", true, decision)),
        ref other => Err(unexpected(other)),
    }
}

fn unexpected(answer: &LaneAnswer) -> Failure {
    Failure::Panic(format!("the answer {answer:?} does not belong to the command"))
}
