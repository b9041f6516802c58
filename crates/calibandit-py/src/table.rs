//! Results as an Arrow table.

use std::fs::File;
use std::io::BufWriter;
use std::path::PathBuf;

use arrow_array::RecordBatch;
use calibandit::RewardRange;
use calibandit::rng::GENERATOR;
use calibandit_experiment::Experiment;
use calibandit_experiment::results::{Curve, CurveCollector, Results, read_csv, swept_fields, write_csv};
use calibandit_experiment::stats::{compare, rank_policies, summarise};
use calibandit_paper::figures;
use calibandit_report::chart::StyleKey;
use calibandit_report::figures::{plain_section, style_key};
use calibandit_report::report::{Footer, Report};
use calibandit_report::session::{ReportTexts, default_command, report as report_of};
use pyo3::prelude::*;
use pyo3::types::PyCapsule;
use serde_json::{Map, Value, json};

use crate::batch::{LABELS, batch};
use crate::column::Column;
use crate::failure::Failure;
use crate::frame::{Labels, column_of, columns_of, labels_of, schema_capsule, stream_capsule};
use crate::interpreter::{called, detached};
use crate::plot::plot;

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

    /// The experiment, if a file can hold it.
    pub(crate) fn spec(&self) -> Option<&Experiment> {
        match self {
            Described::Spec(spec) => Some(spec),
            Described::Plain(_) => None,
        }
    }

    /// The style keys of the policies; `None` for those written in Python.
    pub(crate) fn styles(&self) -> Vec<Option<StyleKey>> {
        let style = |entry: &Value| {
            let mut entry = entry.as_object()?.clone();
            entry.remove("label");
            serde_json::from_value(Value::Object(entry)).ok().as_ref().map(style_key)
        };
        match self {
            Described::Spec(spec) => spec.policies().iter().map(|entry| entry.policy.spec().map(style_key)).collect(),
            Described::Plain(value) => value["policy"].as_array().into_iter().flatten().map(style).collect(),
        }
    }

    /// The name that figures and reports show.
    pub(crate) fn heading(&self) -> String {
        match self {
            Described::Spec(spec) => spec.heading().to_string(),
            Described::Plain(value) => value["name"].as_str().unwrap_or_default().to_string(),
        }
    }
}

/// The results of experiments: one row per experiment, game, policy, instance and checkpoint.
#[pyclass(module = "calibandit._core", frozen)]
pub(crate) struct Table {
    /// The descriptions and the results of the experiments, in the same order.
    described: Vec<Described>,
    /// All in losses, or all in rewards.
    results: Vec<Results>,
    batch: RecordBatch,
}

impl Table {
    pub(crate) fn new(described: Vec<Described>, results: Vec<Results>) -> Result<Self, Failure> {
        let batch = batch(&results).map_err(|error| Failure::Value(error.to_string()))?;
        Ok(Self { described, results, batch })
    }

    fn experiments(&self) -> impl Iterator<Item = (&Described, &Results)> {
        self.described.iter().zip(&self.results)
    }
}

#[pymethods]
impl Table {
    /// The table that returned `parts`.
    #[staticmethod]
    fn of_parts(described: &str, csv: &[u8], in_rewards: bool) -> Result<Self, Failure> {
        called(|| {
            let parts: Vec<(bool, Value, Vec<RewardRange>)> = serde_json::from_str(described)?;
            let read = read_csv(csv)?;
            let (mut described, mut results) = (Vec::new(), Vec::new());
            for (i, (is_spec, value, ranges)) in parts.into_iter().enumerate() {
                if is_spec {
                    let spec = Experiment::from_json("the stored results", &value)?;
                    results.push(Results::of_experiment(&spec, &read)?);
                    described.push(Described::Spec(Box::new(spec)));
                } else {
                    results.extend(read.get(i).cloned().map(|results| results.with_ranges(ranges)));
                    described.push(Described::Plain(value));
                }
            }
            let table = Self::new(described, results)?;
            if in_rewards { table.in_rewards() } else { Ok(table) }
        })
    }

    /// The tables of several games with the same policies as one table, with these labels of the games.
    #[staticmethod]
    fn join(parts: Vec<PyRef<'_, Table>>, labels: Vec<String>) -> Result<Self, Failure> {
        called(|| {
            let nothing = || Failure::Value("there are no games".to_owned());
            let first = parts.first().and_then(|table| table.results.first()).ok_or_else(nothing)?;
            let mut curves = CurveCollector::new(None);
            let mut games = Map::new();
            for (game, (table, label)) in parts.iter().zip(&labels).enumerate() {
                for (described, results) in table.experiments() {
                    for curve in results.curves() {
                        curves.push(Curve { game, ..curve?.into_owned() })?;
                    }
                    games.insert(label.clone(), described.json()?["game"].take());
                }
            }
            let mut described = parts[0].described[0].json()?;
            if let Value::Object(table) = &mut described {
                table.remove("game");
                table.insert("games".to_owned(), Value::Object(games));
            }
            let results = Results::collected(first.experiment.clone(), labels, first.policies.clone(), curves)?;
            let ranges: Vec<RewardRange> =
                parts.iter().flat_map(|table| &table.results).flat_map(Results::ranges).copied().collect();
            let known = ranges.len() == results.games.len();
            let results = results.with_ranges(if known { ranges } else { Vec::new() });
            Self::new(vec![Described::Plain(described)], vec![results])
        })
    }

    /// The same results in rewards.
    fn in_rewards(&self) -> Result<Self, Failure> {
        called(|| {
            let converted = |results: &Results| {
                results.in_rewards().ok_or_else(|| {
                    let name = &results.experiment;
                    Failure::Value(format!(
                        "the game of {name:?} is stated in losses: only results of games with a range of rewards \
                         can be in rewards"
                    ))
                })
            };
            let results = self.results.iter().map(converted).collect::<Result<Vec<Results>, Failure>>()?;
            Self::new(self.described.clone(), results)
        })
    }

    /// Whether the results are in rewards.
    fn are_in_rewards(&self) -> bool {
        self.results.iter().any(Results::are_in_rewards)
    }

    /// The whole table in a form that can be stored.
    fn parts(&self) -> Result<(String, Vec<u8>, bool), Failure> {
        called(|| {
            let part = |(one, results): (&Described, &Results)| {
                Ok(json!([one.spec().is_some(), one.json()?, results.ranges()]))
            };
            let described: Result<Vec<Value>, Failure> = self.experiments().map(part).collect();
            let losses: Vec<Results> = self.results.iter().map(Results::in_losses).collect();
            let mut csv = Vec::new();
            write_csv(&losses, &mut csv)?;
            Ok((Value::Array(described?).to_string(), csv, self.are_in_rewards()))
        })
    }

    fn __len__(&self) -> usize {
        self.batch.num_rows()
    }

    fn __arrow_c_schema__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyCapsule>> {
        schema_capsule(py, &self.batch)
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
        stream_capsule(py, &self.batch)
    }

    /// The names of the columns, and whether each is a column of labels.
    fn columns(&self) -> Vec<(String, bool)> {
        columns_of(&self.batch)
    }

    /// A column of numbers.
    fn column(&self, name: &str) -> Result<Column, Failure> {
        called(|| column_of(&self.batch, name))
    }

    /// A column of labels: one key per row, -1 for a missing value, and the label of each key.
    fn labels(&self, name: &str) -> Result<Labels, Failure> {
        called(|| labels_of(&self.batch, name))
    }

    /// The descriptions of the experiments, with the keys of a file, as JSON.
    fn specs(&self) -> Result<String, Failure> {
        called(|| {
            let specs: Result<Vec<Value>, _> = self.described.iter().map(Described::json).collect();
            Ok(Value::Array(specs?).to_string())
        })
    }

    /// The same bytes as `results.csv`.
    fn csv(&self) -> Result<Vec<u8>, Failure> {
        called(|| {
            let mut bytes = Vec::new();
            write_csv(&self.results, &mut bytes)?;
            Ok(bytes)
        })
    }

    /// Writes `results.csv`.
    fn write_csv(&self, py: Python<'_>, path: PathBuf) -> Result<(), Failure> {
        detached(py, || {
            let failed = |error| Failure::File { path: path.clone(), error };
            let file = BufWriter::new(File::create(&path).map_err(failed)?);
            Ok(write_csv(&self.results, file)?)
        })
    }

    /// The CPR over the instances at every checkpoint, or the closing table, as JSON.
    fn summary(&self, all_times: bool) -> Result<String, Failure> {
        called(|| {
            let mut rows: Vec<Value> = Vec::new();
            for results in &self.results {
                if all_times {
                    for row in summarise(results)? {
                        let game = results.games.iter().position(|label| *label == row.game).unwrap_or_default();
                        rows.push(self.row(results, game, &row.policy, row.t, serde_json::to_value(row.cpr)?, []));
                    }
                    continue;
                }
                let end = results.end_time();
                for game in 0..results.games.len() {
                    for row in rank_policies(results, game) {
                        let last = [
                            ("switches", row.switches.into()),
                            ("groups", row.groups.into()),
                            ("better_than", row.better_than.into()),
                        ];
                        rows.push(self.row(results, game, &row.policy, end, serde_json::to_value(row.cpr)?, last));
                    }
                }
            }
            Ok(Value::Array(rows).to_string())
        })
    }

    /// Compares two policies in one game.
    fn compare(&self, a: &str, b: &str, game: Option<&str>, experiment: Option<&str>) -> Result<Compared, Failure> {
        called(|| {
            let (results, game) = self.one_game(game, experiment)?;
            let found = compare(results, game, a, b)?;
            let [low, high] = found.interval;
            let numbers = (found.mean_difference, low, high, found.effect_size, found.p, found.p_corrected);
            Ok((results.games[game].clone(), found.n, numbers, found.test))
        })
    }

    /// The figure that a request in JSON asks for, with styles and the description for plotly, as JSON.
    fn plot(&self, py: Python<'_>, request: &str) -> Result<String, Failure> {
        detached(py, || Ok(plot(&self.described, &self.results, &serde_json::from_str(request)?)?.to_string()))
    }

    /// Writes the report: one HTML file.
    fn report(&self, py: Python<'_>, path: PathBuf, title: Option<String>) -> Result<(), Failure> {
        detached(py, || {
            let page = self.page(title)?.to_html();
            std::fs::write(&path, page).map_err(|error| Failure::File { path, error })
        })
    }
}

/// A comparison: the game, the number of instances, the numbers and the name of the test.
type Compared = (String, usize, (f64, f64, f64, f64, f64, f64), &'static str);

impl Table {
    /// A row of a summary.
    fn row<const N: usize>(
        &self,
        results: &Results,
        game: usize,
        policy: &str,
        t: u64,
        numbers: Value,
        last: [(&str, Value); N],
    ) -> Value {
        let mut row = Map::new();
        let mut add = |key: &str, value: Value| row.insert(key.to_owned(), value);
        for (key, text) in LABELS.into_iter().zip([&results.experiment, &results.games[game], policy]) {
            add(key, text.into());
        }
        for field in swept_fields(&self.results) {
            let value = results.swept_column(&field.name).map_or(Value::Null, |column| column.values[game].clone());
            add(&field.name, value);
        }
        add("t", t.into());
        for (key, value) in numbers.as_object().cloned().unwrap_or_default() {
            add(&key, value);
        }
        for (key, value) in last {
            add(key, value);
        }
        Value::Object(row)
    }

    /// The game with this label, which may be left out if there is only one.
    fn one_game(&self, game: Option<&str>, experiment: Option<&str>) -> Result<(&Results, usize), Failure> {
        let of = |results: &'_ Results| experiment.is_none_or(|name| results.experiment == name);
        let found: Vec<(&Results, usize)> = self
            .results
            .iter()
            .filter(|results| of(results))
            .flat_map(|results| results.games.iter().enumerate().map(move |(i, label)| (results, i, label)))
            .filter(|(_, _, label)| game.is_none_or(|game| *label == game))
            .map(|(results, i, _)| (results, i))
            .collect();
        let known = || {
            let label = |(results, i): (&Results, usize)| format!("{:?}", results.games[i]);
            let all = self.results.iter().filter(|results| of(results));
            all.flat_map(|results| (0..results.games.len()).map(move |i| label((results, i))))
                .collect::<Vec<_>>()
                .join(", ")
        };
        match (found.as_slice(), game, experiment) {
            (&[one], _, _) => Ok(one),
            ([], _, Some(name)) if !self.results.iter().any(of) => {
                Err(Failure::Unknown(format!("there is no experiment {name:?} in these results")))
            }
            ([], _, _) => Err(Failure::Unknown(format!(
                "there is no game {:?}; the games are {}",
                game.unwrap_or_default(),
                known()
            ))),
            (_, None, _) => Err(Failure::Value(format!("there are several games: give `game`, one of {}", known()))),
            (_, Some(_), _) => Err(Failure::Value("several experiments have this game: give `experiment`".to_owned())),
        }
    }

    fn page(&self, title: Option<String>) -> Result<Report, Failure> {
        let own = match self.described.as_slice() {
            [described] => described.heading(),
            _ => "Experiments".to_string(),
        };
        let mut page = Report::new(title.unwrap_or(own));
        let mut seeds = Vec::new();
        for (described, results) in self.experiments() {
            match described {
                Described::Spec(spec) => {
                    let (caption, command) = (&figures::caption, &default_command);
                    let texts = ReportTexts { title: "", lead: "", caption, command };
                    let one = report_of(texts, std::slice::from_ref(spec.as_ref()), std::slice::from_ref(results))?;
                    page.sections.extend(one.sections);
                }
                Described::Plain(value) => {
                    let horizon = value["horizon"].as_u64().unwrap_or_default();
                    let mut section = plain_section(&described.heading(), results, horizon, &described.styles())?;
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
