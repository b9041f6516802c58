//! `results.csv`: one row per experiment, game, policy, instance and time. The columns of swept keys follow those that
//! every table has.

use std::borrow::Cow;
use std::collections::HashMap;
use std::io::{Read, Write};
use std::path::Path;

use super::cell::{cell_text, text_cell};
use super::swept::{parse_column, swept_cell};
use super::{Curve, CurveCollector, Results, Sample, SweptColumn, swept_fields};

/// The columns of every table, in order.
const COLUMNS: [&str; 8] = ["experiment", "game", "policy", "instance", "t", "loss", "cpr", "switches"];

/// Why a table could not be written or read.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum CsvError {
    /// Reading or writing failed, or the file is not CSV.
    #[error(transparent)]
    Csv(#[from] csv::Error),
    /// The first line does not name the columns of a results table.
    #[error("the columns are `{found}`, but a results table begins with `{}`", COLUMNS.join(","))]
    Columns {
        /// The columns.
        found: String,
    },
    /// A field is not of the type of its column.
    #[error("line {line}: `{value}` in column `{column}` is not a number")]
    Field {
        /// The line, from 1.
        line: u64,
        /// The column.
        column: &'static str,
        /// The field.
        value: String,
    },
}

/// Writes the table. Every number is written in the shortest form that is read back exactly. A text that a spreadsheet
/// program would run as a formula (it begins with `=`, `+`, `-`, `@`, a tab or a carriage return) has an apostrophe
/// before it, which [`read_csv`] removes.
pub fn write_csv(all: &[Results], to: impl Write) -> Result<(), CsvError> {
    let mut table = csv::Writer::from_writer(to);
    let fields = swept_fields(all);
    let names: Vec<Cow<'_, str>> = fields.iter().map(|field| text_cell(&field.name)).collect();
    // Results in rewards are for other programs; only those in losses are read back.
    let loss = all.first().map_or("loss", Results::loss_column);
    let known = COLUMNS.map(|column| if column == "loss" { loss } else { column });
    table.write_record(known.into_iter().chain(names.iter().map(|name| &**name)))?;
    for results in all {
        let columns: Vec<_> = fields.iter().map(|field| results.swept_column(&field.name)).collect();
        for curve in results.curves() {
            let curve = curve.map_err(csv::Error::from)?;
            let cell = |column: &SweptColumn| swept_cell(&column.values[curve.game]);
            let swept: Vec<String> = columns.iter().map(|column| column.map_or_else(String::new, cell)).collect();
            let labels = [&results.experiment, &results.games[curve.game], &results.policies[curve.policy]];
            let labels = labels.map(|label| text_cell(label));
            let instance = curve.instance.to_string();
            for sample in &curve.samples {
                let fixed = [
                    &*labels[0],
                    &labels[1],
                    &labels[2],
                    &instance,
                    &sample.t.to_string(),
                    &sample.loss.to_string(),
                    &sample.cpr.to_string(),
                    &sample.switches.to_string(),
                ];
                table.write_record(fixed.into_iter().chain(swept.iter().map(String::as_str)))?;
            }
        }
    }
    table.flush().map_err(csv::Error::from)?;
    Ok(())
}

/// Reads a table that [`write_csv`] wrote; experiments, games and policies in the order of their first appearance.
///
/// Swept values that all look like numbers are read as numbers. [`Results::of_experiment`] gives them the types that
/// the experiment has.
pub fn read_csv(from: impl Read) -> Result<Vec<Results>, CsvError> {
    read_csv_near(from, None)
}

/// As [`read_csv`]; many curves are kept in a temporary file in `folder`.
pub(crate) fn read_csv_near(from: impl Read, folder: Option<&Path>) -> Result<Vec<Results>, CsvError> {
    let mut table = csv::Reader::from_reader(from);
    let columns = table.headers()?;
    if columns.len() < COLUMNS.len() || columns.iter().zip(COLUMNS).any(|(found, expected)| found != expected) {
        return Err(CsvError::Columns { found: columns.iter().collect::<Vec<_>>().join(",") });
    }
    let names: Vec<String> = columns.iter().skip(COLUMNS.len()).map(|name| cell_text(name).to_owned()).collect();
    let mut experiments = LabelList::default();
    let mut parts: Vec<TablePart> = Vec::new();
    let mut record = csv::StringRecord::new();
    while table.read_record(&mut record)? {
        let experiment = experiments.place(cell_text(&record[0]));
        if experiment == parts.len() {
            parts.push(TablePart { curves: CurveCollector::new(folder), ..TablePart::default() });
        }
        parts[experiment].add(&record)?;
    }
    let experiments = experiments.labels.into_iter();
    experiments.zip(parts).map(|(experiment, part)| Ok(part.finish(experiment, &names)?)).collect()
}

/// The rows of one experiment.
#[derive(Default)]
struct TablePart {
    games: LabelList,
    policies: LabelList,
    /// By game: the cells of the swept keys.
    cells: Vec<Vec<String>>,
    /// The curve that the last row belongs to.
    curve: Option<Curve>,
    curves: CurveCollector,
}

impl TablePart {
    fn add(&mut self, record: &csv::StringRecord) -> Result<(), CsvError> {
        let game = self.games.place(cell_text(&record[1]));
        if game == self.cells.len() {
            self.cells.push(record.iter().skip(COLUMNS.len()).map(str::to_owned).collect());
        }
        let policy = self.policies.place(cell_text(&record[2]));
        let line = record.position().map_or(0, csv::Position::line);
        let instance = field(record, 3, line)?;
        let sample = Sample {
            t: field(record, 4, line)?,
            loss: field(record, 5, line)?,
            cpr: field(record, 6, line)?,
            switches: field(record, 7, line)?,
        };
        match &mut self.curve {
            Some(curve) if curve.order() == (game, policy, instance) => curve.samples.push(sample),
            other => {
                let finished = other.replace(Curve { game, policy, instance, samples: vec![sample] });
                finished.map_or(Ok(()), |curve| self.curves.push(curve)).map_err(csv::Error::from)?;
            }
        }
        Ok(())
    }

    fn finish(mut self, experiment: String, names: &[String]) -> Result<Results, csv::Error> {
        self.curve.map_or(Ok(()), |curve| self.curves.push(curve))?;
        let results = Results::collected(experiment, self.games.labels, self.policies.labels, self.curves)?;
        let column = |i: usize| self.cells.iter().map(|of_game| of_game[i].clone()).collect::<Vec<_>>();
        let columns = names.iter().enumerate().map(|(i, name)| parse_column(name.clone(), column(i)));
        Ok(results.with_swept(columns.filter(|column| column.values.iter().any(|value| !value.is_null())).collect()))
    }
}

/// Labels in the order of their first appearance.
#[derive(Default)]
struct LabelList {
    labels: Vec<String>,
    places: HashMap<String, usize>,
    last: usize,
}

impl LabelList {
    /// The place of a label, which is added if it is new. Mostly it is that of the row before.
    fn place(&mut self, label: &str) -> usize {
        if self.labels.get(self.last).is_none_or(|last| last != label) {
            self.last = self.places.get(label).copied().unwrap_or(self.labels.len());
        }
        if self.last == self.labels.len() {
            self.labels.push(label.to_owned());
            self.places.insert(label.to_owned(), self.last);
        }
        self.last
    }
}

fn field<T: std::str::FromStr>(record: &csv::StringRecord, column: usize, line: u64) -> Result<T, CsvError> {
    record[column].parse().map_err(|_| CsvError::Field {
        line,
        column: COLUMNS[column],
        value: record[column].to_string(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::Value;

    fn results() -> Results {
        let sample = |t| Sample { t, loss: 0.1 + t as f64 / 3.0, cpr: 1e-17 * t as f64, switches: t / 2 };
        let curves = [(0, 1, 0), (0, 0, 1), (0, 0, 0), (1, 0, 0)].map(|(game, policy, instance)| Curve {
            game,
            policy,
            instance,
            samples: vec![sample(1), sample(1_000_000_000_000)],
        });
        let labels = |names: &[&str]| names.iter().map(|name| name.to_string()).collect();
        let games = labels(&["m=1", "m=2, K=3"]);
        let column = |name: &str, values: [Value; 2]| SweptColumn { name: name.into(), values: values.into() };
        Results::new("a \"test\"".into(), games, labels(&["SE", "EXP3"]), curves.into())
            .with_swept(vec![column("game.memory", [1.into(), 2.into()]), column("game.arms", [Value::Null, 3.into()])])
    }

    #[test]
    fn tables_are_read_back_exactly() {
        let mut file = Vec::new();
        write_csv(&[results()], &mut file).unwrap();
        assert_eq!(read_csv(file.as_slice()).unwrap(), [results()]);
    }

    #[test]
    fn swept_columns_follow_the_fixed_ones_and_are_empty_where_nothing_is_set() {
        let mut other = results();
        other.experiment = "other".into();
        let text = vec!["a, b".into(), "=c".into()];
        other.policies[0] = "@SUM(1)".into();
        other = other.with_swept(vec![SweptColumn { name: "kind".into(), values: text }]);
        let both = [results(), other];
        let mut file = Vec::new();
        write_csv(&both, &mut file).unwrap();
        let text = String::from_utf8(file.clone()).unwrap();
        let mut lines = text.lines();
        let header = "experiment,game,policy,instance,t,loss,cpr,switches,game.memory,game.arms,kind";
        assert_eq!(lines.next(), Some(header));
        assert!(lines.next().unwrap().ends_with(",1,,"));
        assert!(text.contains(",2,3,\n") && text.lines().last().unwrap().ends_with(",,,'=c"), "{text}");
        assert!(text.contains(",'@SUM(1),"), "{text}");
        assert!(text.contains(",,,\"a, b\"\n"), "{text}");
        assert_eq!(read_csv(file.as_slice()).unwrap(), both);
    }

    #[test]
    fn rows_are_sorted_by_game_policy_instance_and_time() {
        let mut file = Vec::new();
        write_csv(&[results()], &mut file).unwrap();
        let text = String::from_utf8(file).unwrap();
        let keys: Vec<&str> = text.lines().skip(1).step_by(2).collect();
        assert!(keys[0].starts_with("\"a \"\"test\"\"\",m=1,SE,0,1,"), "{}", keys[0]);
        assert!(
            keys[1].contains("m=1,SE,1,") && keys[2].contains("m=1,EXP3,0,") && keys[3].contains("\"m=2, K=3\",SE")
        );
    }

    #[test]
    fn tables_with_other_columns_or_values_are_refused() {
        let refused = read_csv("a,b\n1,2\n".as_bytes()).unwrap_err();
        assert!(refused.to_string().contains("`a,b`"), "{refused}");
        let bad = "experiment,game,policy,instance,t,loss,cpr,switches\ne,g,p,0,1,0.5,x,0\n";
        let refused = read_csv(bad.as_bytes()).unwrap_err();
        assert!(refused.to_string().contains("line 2: `x` in column `cpr`"), "{refused}");
    }
}
