//! Diagnoses of logs: tables and files of Python in, one object out.
//!
//! Columns arrive as bytes in the order of the machine: text is passed once per name, never once per row.

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use arrow_array::{ArrayRef, BooleanArray, Float64Array, Int64Array};
use calibandit::{GameSpec, Interrupt};
use calibandit_fit::TableError;
use calibandit_fit::diagnose::{
    CurveCell, DiagnoseError, DiagnoseOptions, Diagnosis, Estimate, FittedGameError, Log, LogArrays, LogCodes,
    LogColumns, LogError, LogFileError, Price, PriceError, PriceOptions, PriceRow, diagnose_interruptible,
    read_log_interruptible,
};
use calibandit_report::chart::plotly::{ViewOptions, description, styles};
use calibandit_report::chart::{Figure, Palette, Panel};
use calibandit_report::diagnosis::{
    DiagnosisSource, diagnosis_report, difference_figure, forgetting_figure, price_figure, warm_up_figure,
};
use pyo3::prelude::*;
use serde_json::{Value, json};

use crate::batch::label_column;
use crate::failure::Failure;
use crate::frame::PyFrame;
use crate::interpreter::{called, detached};
use crate::watch::watched;

/// Why a report has no price.
const NO_PRICE: &str = "the log has too few plays of some arm for a curve";

/// Names, each once, and the code of the name of each row as 32-bit numbers; -1 is a missing name.
pub(crate) type Codes<'py> = (Vec<String>, &'py [u8]);

/// Longest, tolerance, confidence, starts, drifting.
type DiagnoseArguments = (Option<u32>, Option<f64>, f64, String, bool);

/// What a log says about memory.
#[pyclass(module = "calibandit._core", name = "Diagnosis", frozen)]
pub(crate) struct PyDiagnosis(Arc<Diagnosis>);

/// Diagnoses the log of these columns.
#[pyfunction]
pub(crate) fn diagnose_columns(
    py: Python<'_>,
    arms: Codes<'_>,
    losses: &[u8],
    orders: Option<&[u8]>,
    units: Option<Codes<'_>>,
    options: DiagnoseArguments,
) -> Result<PyDiagnosis, Failure> {
    called(|| {
        let options = checked(options)?;
        let columns = log_arrays(arms, losses, orders, units);
        let stop = Arc::<AtomicBool>::default();
        let stopped = stop.clone();
        watched(py, None, &stop, move |_| {
            let log = Log::from_arrays(columns).map_err(|error| Failure::Value(in_rows(&error)))?;
            found(&log, &options, Interrupt::new(&stopped))
        })
    })
}

/// Diagnoses the log in a CSV or Parquet file.
#[pyfunction]
pub(crate) fn diagnose_file(
    py: Python<'_>,
    path: PathBuf,
    arm: String,
    loss: String,
    order: Option<String>,
    unit: Option<String>,
    options: DiagnoseArguments,
) -> Result<PyDiagnosis, Failure> {
    called(|| {
        let options = checked(options)?;
        let stop = Arc::<AtomicBool>::default();
        let stopped = stop.clone();
        watched(py, None, &stop, move |_| {
            let interrupt = Interrupt::new(&stopped);
            let columns = LogColumns { arm: &arm, loss: &loss, order: order.as_deref(), unit: unit.as_deref() };
            let log = read_log_interruptible(&path, columns, interrupt).map_err(unreadable)?;
            found(&log, &options, interrupt)
        })
    })
}

/// The columns of a log.
pub(crate) fn log_arrays(arms: Codes<'_>, losses: &[u8], orders: Option<&[u8]>, units: Option<Codes<'_>>) -> LogArrays {
    let codes = |(names, codes): Codes<'_>| LogCodes { names, codes: numbers(codes, u32::from_ne_bytes) };
    LogArrays {
        arms: codes(arms),
        losses: numbers(losses, f64::from_ne_bytes),
        orders: orders.map(|orders| numbers(orders, i64::from_ne_bytes)),
        units: units.map(codes),
    }
}

/// Numbers from bytes in the order of the machine.
pub(crate) fn numbers<const N: usize, T>(bytes: &[u8], number: impl Fn([u8; N]) -> T) -> Vec<T> {
    bytes.as_chunks().0.iter().map(|&chunk| number(chunk)).collect()
}

fn checked((longest, tolerance, confidence, starts, drifting): DiagnoseArguments) -> Result<DiagnoseOptions, Failure> {
    let starts = serde_json::from_value(json!(starts))?;
    Ok(DiagnoseOptions { longest, tolerance, confidence, starts, drifting })
}

fn found(log: &Log, options: &DiagnoseOptions, interrupt: Interrupt<'_>) -> Result<PyDiagnosis, Failure> {
    let found = diagnose_interruptible(log, options, interrupt).map_err(|error| match error {
        DiagnoseError::NoSpread => Failure::Value(
            "nearly all losses are equal, so differences that matter cannot be guessed: give `tolerance`".to_string(),
        ),
        error => Failure::Value(error.to_string()),
    })?;
    Ok(PyDiagnosis(Arc::new(found)))
}

/// Why columns are not a log, with rows counted from 0 as in Python.
pub(crate) fn in_rows(error: &LogError) -> String {
    match error {
        LogError::OrderTwice { order, unit, first, second } => {
            let unit = unit.as_ref().map(|unit| format!(" in unit {unit:?}")).unwrap_or_default();
            format!(
                "order {order} occurs twice{unit}, in rows {} and {} (counted from 0); if several things are logged \
                 side by side, say which with `unit`; if it is a time, sort the rows by it and leave `order` out",
                first - 1,
                second - 1
            )
        }
        LogError::Loss { row, loss } => {
            format!("the loss in row {} (counted from 0) is {loss:e}, but must be within ±1e100, or missing", row - 1)
        }
        LogError::ArmName { row } => format!(
            "the arm in row {} (counted from 0) must be a name of 1 to 100 characters without control characters, and \
             not missing",
            row - 1
        ),
        LogError::UnitName { row } => format!("the unit in row {} (counted from 0) is missing", row - 1),
        error => error.to_string(),
    }
}

/// Why a file is not a log.
pub(crate) fn unreadable(error: LogFileError) -> Failure {
    match error {
        LogFileError::Table(error @ TableError::Column { .. }) => Failure::Unknown(error.to_string()),
        error => Failure::Value(error.to_string()),
    }
}

#[pymethods]
impl PyDiagnosis {
    /// The diagnosis that `__getnewargs__` wrote, for pickles.
    #[new]
    fn new(stored: &str) -> Result<Self, Failure> {
        called(|| Ok(Self(Arc::new(Diagnosis::from_stored_json(stored)?))))
    }

    fn __getnewargs__(&self) -> Result<(String,), Failure> {
        called(|| Ok((self.0.to_stored_json()?,)))
    }

    /// Everything but the fitted games, as JSON: the same as `diagnosis.json`.
    fn to_json(&self) -> Result<String, Failure> {
        called(|| Ok(serde_json::to_string(self.0.as_ref())?))
    }

    /// The warm-up curve of an arm, by position in a run after a rest.
    fn curve(&self, arm: usize) -> Result<PyFrame, Failure> {
        called(|| {
            let points = self.0.arms.get(arm).map_or(&[][..], |arm| &arm.curve);
            let mut columns = curve_columns(points);
            let part = |of: fn(&Estimate) -> f64| -> ArrayRef {
                Arc::new(points.iter().map(|point| point.difference.as_ref().map(of)).collect::<Float64Array>())
            };
            columns.push(("difference", part(|difference| difference.mean)));
            columns.push(("difference_low", part(|difference| difference.low)));
            columns.push(("difference_high", part(|difference| difference.high)));
            columns
                .push(("settled", Arc::new(BooleanArray::from_iter(points.iter().map(|point| Some(point.settled))))));
            PyFrame::new(columns)
        })
    }

    /// The loss of an arm after a pause, by length of the pause.
    fn forgetting(&self, arm: usize) -> Result<PyFrame, Failure> {
        called(|| PyFrame::new(curve_columns(self.0.arms.get(arm).map_or(&[][..], |arm| &arm.forgetting))))
    }

    /// The specification of the fitted game, as JSON.
    fn game(&self) -> Result<String, Failure> {
        called(|| Ok(serde_json::to_string(&self.0.game()?)?))
    }

    /// Specifications of games from the uncertainty of the fitted one, as JSON.
    fn games(&self, count: u64, seed: u64) -> Result<Vec<String>, Failure> {
        called(|| {
            let games = self.0.games(count, seed)?;
            games.iter().map(|game: &GameSpec| Ok(serde_json::to_string(game)?)).collect()
        })
    }

    /// The losses of the log that are 0 and 1 in the fitted games.
    fn loss_range(&self) -> (f64, f64) {
        let range = self.0.range();
        (range.low(), range.high())
    }

    /// The figures of the report as one figure with several panels, with styles and the description for plotly, as
    /// JSON.
    fn plot(&self, price: Option<&PyPrice>) -> Result<String, Failure> {
        called(|| {
            let mut parts = vec![warm_up_figure(&self.0), forgetting_figure(&self.0), difference_figure(&self.0)];
            parts.extend(price.map(|price| price_figure(&price.0)));
            let mut figure = Figure::new("diagnosis", "");
            for part in parts {
                let titled = part.panels.into_iter().map(|panel| Panel { title: part.title.clone(), ..panel });
                figure.panels.extend(titled);
            }
            Ok(drawn(&figure).to_string())
        })
    }

    /// Writes the report: one HTML file. `log` is the name of the log.
    fn report(
        &self,
        py: Python<'_>,
        path: PathBuf,
        log: &str,
        tolerance_given: bool,
        price: Option<&PyPrice>,
    ) -> Result<(), Failure> {
        detached(py, || {
            let price = price.map(|price| &price.0).ok_or(NO_PRICE);
            let page = diagnosis_report(&self.0, DiagnosisSource { log, tolerance_given }, price, "");
            std::fs::write(&path, page.to_html()).map_err(|error| Failure::File { path, error })
        })
    }

    /// What policies would lose on fitted games, over this many plays.
    fn price(
        &self,
        py: Python<'_>,
        horizon: u64,
        games: u64,
        seed: u64,
        memory_bound: Option<u32>,
    ) -> Result<PyPrice, Failure> {
        called(|| {
            let (found, stop) = (self.0.clone(), Arc::<AtomicBool>::default());
            let stopped = stop.clone();
            watched(py, None, &stop, move |_| {
                let interrupt = Interrupt::new(&stopped);
                Ok(PyPrice(found.price(&PriceOptions { horizon, games, seed, memory_bound, interrupt })?))
            })
        })
    }
}

/// What policies would lose on games fitted to a log.
#[pyclass(module = "calibandit._core", name = "Price", frozen)]
pub(crate) struct PyPrice(Price);

#[pymethods]
impl PyPrice {
    /// The price that `__getnewargs__` wrote, for pickles.
    #[new]
    fn new(stored: &str) -> Result<Self, Failure> {
        called(|| Ok(Self(serde_json::from_str(stored)?)))
    }

    fn __getnewargs__(&self) -> Result<(String,), Failure> {
        self.to_json().map(|json| (json,))
    }

    /// Everything, as JSON.
    fn to_json(&self) -> Result<String, Failure> {
        called(|| Ok(serde_json::to_string(&self.0)?))
    }

    /// The figure of the report, with styles and the description for plotly, as JSON.
    fn plot(&self) -> Result<String, Failure> {
        called(|| Ok(drawn(&price_figure(&self.0)).to_string()))
    }

    /// One row per policy and memory bound.
    fn frame(&self) -> Result<PyFrame, Failure> {
        called(|| {
            let rows = &self.0.rows;
            let policies = label_column(rows.iter().map(|row| row.policy.as_str()));
            let policies = policies.map_err(|error| Failure::Value(error.to_string()))?;
            let bounds: Int64Array = rows.iter().map(|row| row.memory_bound.map(i64::from)).collect();
            let numbers = |of: fn(&PriceRow) -> f64| -> ArrayRef {
                Arc::new(Float64Array::from_iter_values(rows.iter().map(of)))
            };
            PyFrame::new(vec![
                ("policy", policies),
                ("memory_bound", Arc::new(bounds)),
                ("regret", numbers(|row| row.regret)),
                ("stderr", numbers(|row| row.stderr)),
            ])
        })
    }
}

/// A figure, the style of every curve in it, and the description for plotly.
fn drawn(figure: &Figure) -> Value {
    let palette = Palette::for_figures([figure]);
    json!({
        "figure": figure,
        "styles": styles(figure, &palette),
        "plotly": description(figure, &palette, &ViewOptions::default()),
    })
}

impl From<FittedGameError> for Failure {
    fn from(error: FittedGameError) -> Self {
        match error {
            FittedGameError::Game(error) => Failure::Game(error),
            error => Failure::NoGame(error.to_string()),
        }
    }
}

impl From<PriceError> for Failure {
    fn from(error: PriceError) -> Self {
        match error {
            PriceError::Game(error) => error.into(),
            error => Failure::Value(error.to_string()),
        }
    }
}

fn curve_columns(points: &[CurveCell]) -> Vec<(&'static str, ArrayRef)> {
    fn column(points: &[CurveCell], of: impl Fn(&CurveCell) -> u64) -> ArrayRef {
        let whole = |point| i64::try_from(of(point)).unwrap_or(i64::MAX);
        Arc::new(Int64Array::from_iter_values(points.iter().map(whole)))
    }
    let part = |of: fn(&Estimate) -> f64| -> ArrayRef {
        Arc::new(Float64Array::from_iter_values(points.iter().map(|point| of(&point.loss))))
    };
    vec![
        ("first", column(points, |point| u64::from(point.first))),
        ("last", column(points, |point| u64::from(point.last))),
        ("plays", column(points, |point| point.plays)),
        ("loss", part(|loss| loss.mean)),
        ("low", part(|loss| loss.low)),
        ("high", part(|loss| loss.high)),
    ]
}
