//! Results as an Arrow table.

use std::fs::File;
use std::io::BufWriter;
use std::path::PathBuf;
use std::sync::Arc;

use arrow_array::ffi_stream::FFI_ArrowArrayStream;
use arrow_array::types::Int32Type;
use arrow_array::{
    ArrayRef, DictionaryArray, Float64Array, Int32Array, RecordBatch, RecordBatchIterator, StringArray, UInt64Array,
};
use arrow_schema::{Field, Schema, SchemaRef, ffi::FFI_ArrowSchema};
use calibandit::rng::GENERATOR;
use calibandit_experiment::Experiment;
use calibandit_experiment::results::{Results, Sample, read_csv, write_csv};
use calibandit_experiment::stats::{rank_policies, summarise};
use calibandit_paper::figures;
use calibandit_report::chart::StyleKey;
use calibandit_report::figures::{plain_section, style_key};
use calibandit_report::report::{Footer, Report};
use calibandit_report::session::{ReportTexts, default_command, report as report_of};
use pyo3::prelude::*;
use pyo3::types::PyCapsule;
use serde_json::{Value, json};

use crate::column::Column;
use crate::failure::Failure;

/// The description of an experiment.
#[derive(Clone)]
pub(crate) enum Described {
    /// An experiment that can be written as a file.
    Spec(Box<Experiment>),
    /// An experiment with Python functions: its description, with the keys of a file.
    Plain(Value),
}

impl Described {
    fn json(&self) -> Result<Value, Failure> {
        match self {
            Described::Spec(spec) => Ok(spec.to_json().expect("it was read from a specification")),
            Described::Plain(value) => Ok(value.clone()),
        }
    }

    fn heading(&self) -> String {
        match self {
            Described::Spec(spec) => spec.heading().to_string(),
            Described::Plain(value) => value["name"].as_str().unwrap_or_default().to_string(),
        }
    }
}

/// The results of experiments: one row per experiment, game, policy, instance and checkpoint.
#[pyclass(module = "calibandit._core", frozen)]
pub(crate) struct Table {
    experiments: Vec<(Described, Results)>,
    batch: RecordBatch,
}

impl Table {
    pub(crate) fn new(experiments: Vec<(Described, Results)>) -> Result<Self, Failure> {
        let batch = columns(&experiments).map_err(|error| Failure::Value(error.to_string()))?;
        Ok(Self { experiments, batch })
    }

    fn results(&self) -> Vec<Results> {
        self.experiments.iter().map(|(_, results)| results.clone()).collect()
    }
}

#[pymethods]
impl Table {
    /// The table that returned `parts`.
    #[staticmethod]
    fn of_parts(described: &str, csv: &[u8]) -> Result<Self, Failure> {
        let described: Vec<(bool, Value)> = serde_json::from_str(described)?;
        let read = read_csv(csv)?;
        let experiment = |((is_spec, value), results): ((bool, Value), Results)| -> Result<_, Failure> {
            let described = match is_spec {
                true => Described::Spec(Box::new(Experiment::from_json(&results.experiment, &value)?)),
                false => Described::Plain(value),
            };
            Ok((described, results))
        };
        Self::new(described.into_iter().zip(read).map(experiment).collect::<Result<_, _>>()?)
    }

    /// The whole table in a form that can be stored.
    fn parts(&self) -> Result<(String, Vec<u8>), Failure> {
        let described = self
            .experiments
            .iter()
            .map(|(described, _)| Ok(json!([matches!(described, Described::Spec(_)), described.json()?])));
        let described: Result<Vec<Value>, Failure> = described.collect();
        Ok((Value::Array(described?).to_string(), self.csv()?))
    }

    fn __len__(&self) -> usize {
        self.batch.num_rows()
    }

    fn __arrow_c_schema__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyCapsule>> {
        let schema = FFI_ArrowSchema::try_from(self.batch.schema().as_ref());
        let schema = schema.map_err(|error| Failure::Value(error.to_string()))?;
        PyCapsule::new_with_value(py, schema, c"arrow_schema")
    }

    /// The table as an Arrow stream of one batch. Nothing is copied; the batch is shared and counted.
    #[pyo3(signature = (requested_schema = None))]
    fn __arrow_c_stream__<'py>(
        &self,
        py: Python<'py>,
        requested_schema: Option<Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyCapsule>> {
        // The protocol does not require a cast to the requested schema.
        let _ = requested_schema;
        let batches = RecordBatchIterator::new([Ok(self.batch.clone())], self.batch.schema());
        PyCapsule::new_with_value(py, FFI_ArrowArrayStream::new(Box::new(batches)), c"arrow_array_stream")
    }

    /// A column of numbers.
    fn column(&self, name: &str) -> Result<Column, Failure> {
        match self.batch.column_by_name(name) {
            Some(column) if NUMBERS.contains(&name) => Ok(Column(column.clone())),
            _ => Err(Failure::Unknown(format!(
                "there is no column of numbers {name:?}; there is {}",
                NUMBERS.join(", ")
            ))),
        }
    }

    /// A column of labels: one key per row, and the label of each key.
    fn labels(&self, name: &str) -> Result<(Vec<i32>, Vec<String>), Failure> {
        let column = self.batch.column_by_name(name);
        let labels = column.and_then(|column| column.as_any().downcast_ref::<DictionaryArray<Int32Type>>());
        let values = labels.and_then(|labels| labels.values().as_any().downcast_ref::<StringArray>());
        match (labels, values) {
            (Some(labels), Some(values)) => {
                let values = values.iter().flatten().map(str::to_string).collect();
                Ok((labels.keys().values().to_vec(), values))
            }
            _ => Err(Failure::Unknown(format!("there is no column of labels {name:?}"))),
        }
    }

    /// The descriptions of the experiments, with the keys of a file, as JSON.
    fn specs(&self) -> Result<String, Failure> {
        let specs: Result<Vec<Value>, _> = self.experiments.iter().map(|(described, _)| described.json()).collect();
        Ok(Value::Array(specs?).to_string())
    }

    /// The same bytes as `results.csv`.
    fn csv(&self) -> Result<Vec<u8>, Failure> {
        let mut bytes = Vec::new();
        write_csv(&self.results(), &mut bytes)?;
        Ok(bytes)
    }

    /// Writes `results.csv`.
    fn write_csv(&self, py: Python<'_>, path: PathBuf) -> Result<(), Failure> {
        py.detach(|| {
            let failed = |error| Failure::File { path: path.clone(), error };
            let file = BufWriter::new(File::create(&path).map_err(failed)?);
            Ok(write_csv(&self.results(), file)?)
        })
    }

    /// The CPR over the instances at every checkpoint, or the closing table, as JSON.
    fn summary(&self, all_times: bool) -> Result<String, Failure> {
        let mut rows: Vec<Value> = Vec::new();
        for (_, results) in &self.experiments {
            if all_times {
                for row in summarise(results) {
                    let mut value = serde_json::to_value(row.cpr)?;
                    label(&mut value, [("experiment", row.experiment), ("game", row.game), ("policy", row.policy)]);
                    value["t"] = row.t.into();
                    rows.push(value);
                }
                continue;
            }
            for (game, name) in results.games.iter().enumerate() {
                for row in rank_policies(results, game) {
                    let mut value = serde_json::to_value(row.cpr)?;
                    let experiment = results.experiment.clone();
                    label(&mut value, [("experiment", experiment), ("game", name.clone()), ("policy", row.policy)]);
                    value["switches"] = row.switches.into();
                    value["groups"] = row.groups.into();
                    value["better_than"] = row.better_than.into();
                    rows.push(value);
                }
            }
        }
        Ok(Value::Array(rows).to_string())
    }

    /// Writes the report: one HTML file.
    fn report(&self, py: Python<'_>, path: PathBuf, title: Option<String>) -> Result<(), Failure> {
        py.detach(|| {
            let page = self.page(title)?.to_html();
            std::fs::write(&path, page).map_err(|error| Failure::File { path, error })
        })
    }
}

impl Table {
    fn page(&self, title: Option<String>) -> Result<Report, Failure> {
        let own = match self.experiments.as_slice() {
            [(described, _)] => described.heading(),
            _ => "Experiments".to_string(),
        };
        let mut page = Report::new(title.unwrap_or(own));
        let mut seeds = Vec::new();
        for (described, results) in &self.experiments {
            match described {
                Described::Spec(spec) => {
                    let (caption, command) = (&figures::caption, &default_command);
                    let texts = ReportTexts { title: "", lead: "", caption, command };
                    let one = report_of(texts, std::slice::from_ref(spec.as_ref()), std::slice::from_ref(results));
                    page.sections.extend(one.sections);
                }
                Described::Plain(value) => {
                    let horizon = value["horizon"].as_u64().unwrap_or_default();
                    let mut section = plain_section(&described.heading(), results, horizon, &styles(value));
                    section.spec = serde_json::to_string_pretty(value)?;
                    page.sections.push(section);
                }
            }
            seeds.push(described.json()?["seed"].to_string());
        }
        seeds.dedup();
        page.footer = Footer {
            versions: vec![("calibandit".into(), env!("CARGO_PKG_VERSION").into())],
            seed: seeds.join(", "),
            generator: GENERATOR.into(),
            command: String::new(),
        };
        Ok(page)
    }
}

/// The style keys of the policies; `None` for those written in Python.
fn styles(value: &Value) -> Vec<Option<StyleKey>> {
    let style = |entry: &Value| {
        let mut entry = entry.as_object()?.clone();
        entry.remove("label");
        serde_json::from_value(Value::Object(entry)).ok().as_ref().map(style_key)
    };
    value["policy"].as_array().into_iter().flatten().map(style).collect()
}

fn label<const N: usize>(row: &mut Value, labels: [(&str, String); N]) {
    for (key, text) in labels {
        row[key] = text.into();
    }
}

/// The columns that are numbers.
const NUMBERS: [&str; 5] = ["instance", "t", "loss", "cpr", "switches"];

/// One batch with the columns of `results.csv`; the first three are dictionaries, in the order in which tables and
/// figures have their policies.
fn columns(experiments: &[(Described, Results)]) -> Result<RecordBatch, arrow_schema::ArrowError> {
    let all = || experiments.iter().map(|(_, results)| results);
    let curves = || all().flat_map(|results| results.curves().iter().map(move |curve| (results, curve)));
    let texts = |label: &dyn Fn(&Results, usize, usize) -> String| -> Result<ArrayRef, _> {
        let mut known: Vec<String> = Vec::new();
        let mut keys: Vec<i32> = Vec::new();
        for (results, curve) in curves() {
            let text = label(results, curve.game, curve.policy);
            let key = known.iter().position(|other| *other == text).unwrap_or_else(|| {
                known.push(text);
                known.len() - 1
            });
            keys.extend(std::iter::repeat_n(key as i32, curve.samples.len()));
        }
        let values = Arc::new(StringArray::from(known));
        Ok::<ArrayRef, arrow_schema::ArrowError>(Arc::new(DictionaryArray::try_new(Int32Array::from(keys), values)?))
    };
    let samples = || curves().flat_map(|(_, curve)| &curve.samples);
    let integers = |of: fn(&Sample) -> u64| -> ArrayRef { Arc::new(samples().map(of).collect::<UInt64Array>()) };
    let floats = |of: fn(&Sample) -> f64| -> ArrayRef { Arc::new(Float64Array::from_iter_values(samples().map(of))) };
    let instances = curves().flat_map(|(_, curve)| std::iter::repeat_n(curve.instance, curve.samples.len()));
    let instances: ArrayRef = Arc::new(UInt64Array::from_iter_values(instances));
    let columns = [
        ("experiment", texts(&|results, _, _| results.experiment.clone())?),
        ("game", texts(&|results, game, _| results.games[game].clone())?),
        ("policy", texts(&|results, _, policy| results.policies[policy].clone())?),
        ("instance", instances),
        ("t", integers(|sample| sample.t)),
        ("loss", floats(|sample| sample.loss)),
        ("cpr", floats(|sample| sample.cpr)),
        ("switches", integers(|sample| sample.switches)),
    ];
    let field = |(name, column): &(&str, ArrayRef)| Field::new(*name, column.data_type().clone(), false);
    let schema: SchemaRef = Arc::new(Schema::new(columns.iter().map(field).collect::<Vec<_>>()));
    RecordBatch::try_new(schema, columns.into_iter().map(|(_, column)| column).collect())
}
