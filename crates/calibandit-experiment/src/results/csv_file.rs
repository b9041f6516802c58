//! `results.csv`: one row per experiment, game, policy, instance and time. The columns of swept keys follow those that
//! every table has.

use std::io::{Read, Write};

use super::swept::parse_column;
use super::{Curve, Results, Sample, SweptColumn, swept_fields, swept_text};

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

/// Writes the table. Every number is written in the shortest form that is read back exactly.
pub fn write_csv(all: &[Results], to: impl Write) -> Result<(), CsvError> {
    let mut table = csv::Writer::from_writer(to);
    let fields = swept_fields(all);
    table.write_record(COLUMNS.into_iter().chain(fields.iter().map(|field| field.name.as_str())))?;
    for results in all {
        let columns: Vec<_> = fields.iter().map(|field| results.swept_column(&field.name)).collect();
        for curve in results.curves() {
            let cell = |column: &SweptColumn| swept_text(&column.values[curve.game]);
            let swept: Vec<String> = columns.iter().map(|column| column.map_or_else(String::new, cell)).collect();
            let instance = curve.instance.to_string();
            for sample in &curve.samples {
                let fixed = [
                    results.experiment.as_str(),
                    &results.games[curve.game],
                    &results.policies[curve.policy],
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
    let mut table = csv::Reader::from_reader(from);
    let columns = table.headers()?;
    if columns.len() < COLUMNS.len() || columns.iter().zip(COLUMNS).any(|(found, expected)| found != expected) {
        return Err(CsvError::Columns { found: columns.iter().collect::<Vec<_>>().join(",") });
    }
    let names: Vec<String> = columns.iter().skip(COLUMNS.len()).map(str::to_owned).collect();
    let mut all: Vec<Results> = Vec::new();
    // By experiment and game: the cells of the swept keys.
    let mut cells: Vec<Vec<Vec<String>>> = Vec::new();
    for record in table.records() {
        let record = record?;
        let experiment = match all.iter().position(|results| results.experiment == record[0]) {
            Some(found) => found,
            None => {
                all.push(Results::new(record[0].to_string(), vec![], vec![], vec![]));
                cells.push(Vec::new());
                all.len() - 1
            }
        };
        let results = &mut all[experiment];
        let game = index_of(&mut results.games, &record[1]);
        if cells[experiment].len() < results.games.len() {
            cells[experiment].push(record.iter().skip(COLUMNS.len()).map(str::to_owned).collect());
        }
        let policy = index_of(&mut results.policies, &record[2]);
        let line = record.position().map_or(0, csv::Position::line);
        let instance = field(&record, 3, line)?;
        let sample = Sample {
            t: field(&record, 4, line)?,
            loss: field(&record, 5, line)?,
            cpr: field(&record, 6, line)?,
            switches: field(&record, 7, line)?,
        };
        match results.curves.last_mut() {
            Some(curve) if (curve.game, curve.policy, curve.instance) == (game, policy, instance) => {
                curve.samples.push(sample);
            }
            _ => results.curves.push(Curve { game, policy, instance, samples: vec![sample] }),
        }
    }
    for (results, cells) in all.iter_mut().zip(cells) {
        results.curves.sort_by_key(Curve::order);
        let column = |i: usize| cells.iter().map(|of_game| of_game[i].clone()).collect::<Vec<_>>();
        let columns = names.iter().enumerate().map(|(i, name)| parse_column(name.clone(), column(i)));
        results.swept = columns.filter(|column| column.values.iter().any(|value| !value.is_null())).collect();
    }
    Ok(all)
}

fn index_of(labels: &mut Vec<String>, label: &str) -> usize {
    labels.iter().position(|known| known == label).unwrap_or_else(|| {
        labels.push(label.to_string());
        labels.len() - 1
    })
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
        let text = vec!["a, b".into(), "c".into()];
        other = other.with_swept(vec![SweptColumn { name: "kind".into(), values: text }]);
        let both = [results(), other];
        let mut file = Vec::new();
        write_csv(&both, &mut file).unwrap();
        let text = String::from_utf8(file.clone()).unwrap();
        let mut lines = text.lines();
        let header = "experiment,game,policy,instance,t,loss,cpr,switches,game.memory,game.arms,kind";
        assert_eq!(lines.next(), Some(header));
        assert!(lines.next().unwrap().ends_with(",1,,"));
        assert!(text.contains(",2,3,\n") && text.lines().last().unwrap().ends_with(",,,c"), "{text}");
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
