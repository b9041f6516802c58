//! The curves of a diagnosis as a table: every range of positions or pauses of every arm, with every comparison.

use super::diagnosis::{CurveCell, Diagnosis};
use crate::table::text_cell;

/// The columns of the table.
const HEADER: [&str; 12] = [
    "arm",
    "kind",
    "first",
    "last",
    "plays",
    "loss",
    "low",
    "high",
    "difference",
    "difference_low",
    "difference_high",
    "settled",
];

impl Diagnosis {
    /// The curves of all arms as CSV, with all digits. `kind` is `warm-up` (by position in a run after a rest) or
    /// `forgetting` (by length of the pause before a play); `difference` and `settled` are those of the test, and empty
    /// where there is none.
    pub fn curves_csv(&self) -> String {
        let mut table = csv::Writer::from_writer(Vec::new());
        let written = "writing to memory does not fail";
        table.write_record(HEADER).expect(written);
        for arm in &self.arms {
            for cell in &arm.curve {
                table.write_record(record(&arm.name, "warm-up", cell)).expect(written);
            }
            for cell in &arm.forgetting {
                table.write_record(record(&arm.name, "forgetting", cell)).expect(written);
            }
        }
        let bytes = table.into_inner().expect(written);
        String::from_utf8(bytes).expect("names and numbers are valid UTF-8")
    }
}

fn record(arm: &str, kind: &str, cell: &CurveCell) -> [String; HEADER.len()] {
    let compared = |value: fn(&super::Estimate) -> f64| cell.difference.as_ref().map(value);
    let optional = |value: Option<f64>| value.map(|value| value.to_string()).unwrap_or_default();
    [
        text_cell(arm).into_owned(),
        kind.to_owned(),
        cell.first.to_string(),
        cell.last.to_string(),
        cell.plays.to_string(),
        cell.loss.mean.to_string(),
        cell.loss.low.to_string(),
        cell.loss.high.to_string(),
        optional(compared(|difference| difference.mean)),
        optional(compared(|difference| difference.low)),
        optional(compared(|difference| difference.high)),
        if kind == "warm-up" { cell.settled.to_string() } else { String::new() },
    ]
}

#[cfg(test)]
mod tests {
    use crate::diagnose::{DiagnoseOptions, LogBuilder, diagnose};

    #[test]
    fn every_cell_is_a_row_and_names_are_quoted() {
        let mut log = LogBuilder::new();
        for play in 0..6000_u32 {
            let arm = ["a, \"b\"", "c"][(play / 20 % 2) as usize];
            let loss = f64::from(play % 7) / 7.0 + if play % 20 < 3 { 1.0 } else { 0.0 };
            log.push(arm, Some(loss), None, None).unwrap();
        }
        let options = DiagnoseOptions { tolerance: Some(0.2), ..DiagnoseOptions::default() };
        let found = diagnose(&log.build().unwrap(), &options).unwrap();
        let text = found.curves_csv();
        let rows: Vec<csv::StringRecord> =
            csv::Reader::from_reader(text.as_bytes()).records().collect::<Result<_, _>>().unwrap();
        let cells: usize = found.arms.iter().map(|arm| arm.curve.len() + arm.forgetting.len()).sum();
        assert_eq!(rows.len(), cells);
        assert_eq!((&rows[0][0], &rows[0][1], &rows[0][2]), ("a, \"b\"", "warm-up", "1"));
        assert_eq!(rows[0][5].parse::<f64>().unwrap(), found.arms[0].curve[0].loss.mean);
        let forgetting: Vec<_> = rows.iter().filter(|row| &row[1] == "forgetting").collect();
        assert!(!forgetting.is_empty() && forgetting.iter().all(|row| row[8].is_empty() && row[11].is_empty()));
    }
}
