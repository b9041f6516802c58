//! Observed losses by arm: from CSV files, or from rows in memory.

use std::collections::HashMap;
use std::path::Path;

use calibandit::Arm;

use crate::curve::Observation;
use crate::table::{TableError, read, rows};

/// The names of the columns of a table of losses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LossColumns<'a> {
    /// The arm: any name of at most 100 characters.
    pub arm: &'a str,
    /// The position in the run: whole numbers from 1.
    pub position: &'a str,
    /// The loss.
    pub loss: &'a str,
}

/// One row of a table of losses.
#[derive(Clone, Debug, PartialEq)]
pub struct LossRow {
    /// The arm's name.
    pub arm: String,
    /// The position in its run; the first play has position 1.
    pub position: u32,
    /// The loss.
    pub loss: f64,
}

/// The losses of one arm.
#[derive(Clone, Debug, PartialEq)]
pub struct ArmLosses {
    /// The arm's name.
    pub name: String,
    /// Its observations, in the order of the table.
    pub observations: Vec<Observation>,
}

/// A position may be this far beyond the next smaller one of its arm without suspicion,
const FAR: u32 = 100;

/// and this many times as large. Positions of few, spaced measurements (1, 10, 100, 1000) are accepted.
const MULTIPLE: u32 = 10;

/// Groups rows by arm, in order of first appearance. A position may occur several times, once per run.
pub fn group_rows(rows: impl IntoIterator<Item = LossRow>) -> Vec<ArmLosses> {
    let mut groups = Groups::default();
    for LossRow { arm, position, loss } in rows {
        groups.push(&arm, Observation { position, loss });
    }
    groups.arms
}

/// Reads a CSV file and groups its losses by arm, in order of first appearance. Rows without a loss (empty, `\N`, `NA`)
/// are skipped. A position may occur several times, once per run.
///
/// # Errors
/// [`TableError`] with the file and the line.
pub fn read_losses(path: &Path, columns: LossColumns<'_>) -> Result<Vec<ArmLosses>, TableError> {
    let bytes = read(path, "give the path of a CSV file with a header")?;
    parse_losses(&path.display().to_string(), &bytes, columns)
}

/// [`read_losses`] for the contents of a file; `file` is its name in errors.
///
/// # Errors
/// [`TableError`] with the file and the line.
pub fn parse_losses(file: &str, bytes: &[u8], columns: LossColumns<'_>) -> Result<Vec<ArmLosses>, TableError> {
    let mut groups = Groups::default();
    // The line of each observation, by arm: for errors that show only when all rows are read.
    let mut lines: Vec<Vec<u64>> = Vec::new();
    rows(file, bytes, [columns.arm, columns.position, columns.loss], |row| {
        let position = row.whole(1)?;
        if row.is_missing(2) {
            return Ok(());
        }
        let loss = row.number(2)?;
        if Arm::check_name(row.text(0)).is_err() {
            return Err(row.invalid(0, "a name of 1 to 100 characters without control characters"));
        }
        let place = groups.push(row.text(0), Observation { position, loss });
        lines.resize_with(groups.arms.len(), Vec::new);
        lines[place].push(row.line());
        Ok(())
    })?;
    if groups.arms.is_empty() {
        return Err(TableError::Empty { file: file.to_string() });
    }
    for (arm, lines) in groups.arms.iter().zip(&lines) {
        if let Some((index, before)) = far_position(&arm.observations) {
            return Err(TableError::FarPosition {
                file: file.to_string(),
                line: lines[index],
                arm: arm.name.clone(),
                position: arm.observations[index].position,
                before,
            });
        }
    }
    Ok(groups.arms)
}

/// An observation whose position is implausibly far beyond the next smaller one of the same arm, and that one. A slip
/// in one cell would otherwise decide the curve of the arm.
pub(crate) fn far_position(observations: &[Observation]) -> Option<(usize, u32)> {
    let mut order: Vec<usize> = (0..observations.len()).collect();
    order.sort_by_key(|&index| observations[index].position);
    let steps = order.windows(2).map(|pair| (pair[1], observations[pair[0]].position));
    let far = |&(index, before): &(usize, u32)| {
        let position = observations[index].position;
        position - before > FAR && position / MULTIPLE > before
    };
    steps.into_iter().find(far)
}

/// The range of the middle 98 % of losses; 0 if there are none.
pub(crate) fn middle_range(mut losses: Vec<f64>) -> f64 {
    if losses.is_empty() {
        return 0.0;
    }
    losses.sort_unstable_by(f64::total_cmp);
    let at = |q: f64| losses[(q * (losses.len() - 1) as f64).round() as usize];
    at(0.99) - at(0.01)
}

/// Arms in order of appearance, with an index by name.
#[derive(Default)]
struct Groups {
    arms: Vec<ArmLosses>,
    places: HashMap<String, usize>,
}

impl Groups {
    /// Adds an observation and returns the place of its arm.
    fn push(&mut self, name: &str, seen: Observation) -> usize {
        let place = self.places.get(name).copied().unwrap_or_else(|| {
            self.places.insert(name.to_owned(), self.arms.len());
            self.arms.push(ArmLosses { name: name.to_owned(), observations: Vec::new() });
            self.arms.len() - 1
        });
        self.arms[place].observations.push(seen);
        place
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const COLUMNS: LossColumns<'_> = LossColumns { arm: "a", position: "k", loss: "y" };

    fn error(table: &str) -> String {
        parse_losses("t.csv", table.as_bytes(), COLUMNS).unwrap_err().to_string()
    }

    #[test]
    fn lines_are_counted_for_all_kinds_of_line_ends_and_for_cells_of_several_lines() {
        for end in ["\n", "\r\n", "\r"] {
            let table = ["a,k,y", "A,1,0.5", "", "\"B\",1,0.5", "A,2,x", ""].join(end);
            assert!(error(&table).starts_with("t.csv, line 5: `y` is `x`"), "{end:?}: {}", error(&table));
            let short = ["a,k,y", "A,1,0.5", "A,2"].join(end);
            assert!(error(&short).starts_with("t.csv, line 3: the row has 2 cells"), "{end:?}: {}", error(&short));
            let quoted = ["a,k,y,note", "A,1,0.5,\"two", "lines\"", "A,0,0.5,z"].join(end);
            assert!(error(&quoted).starts_with("t.csv, line 4: `k` is `0`"), "{end:?}: {}", error(&quoted));
        }
    }

    #[test]
    fn rows_in_memory_give_the_same_losses_as_a_file() {
        let table = "k,y,a\n1,0.5,A\n1,0.4,B\n2,0.3,A\n";
        let row = |arm: &str, position, loss| LossRow { arm: arm.to_owned(), position, loss };
        let rows = [row("A", 1, 0.5), row("B", 1, 0.4), row("A", 2, 0.3)];
        assert_eq!(group_rows(rows), parse_losses("t.csv", table.as_bytes(), COLUMNS).unwrap());
    }

    #[test]
    fn a_position_far_beyond_the_others_is_refused_with_its_line() {
        let table = "a,k,y\nA,1,0.5\nA,100000,0.4\nA,2,0.4\nA,3,0.4\n";
        assert!(error(table).contains("line 3: the position is 100000, but the next smaller one of `A` is 3"));
        let at = |positions: &[u32]| {
            let seen: Vec<_> = positions.iter().map(|&position| Observation { position, loss: 0.5 }).collect();
            far_position(&seen)
        };
        assert_eq!(at(&[1, 10, 100, 1000, 10_000]), None, "spaced measurements");
        assert_eq!(at(&[5000, 5001]), None, "only the end of a run was observed");
        assert_eq!(at(&[2, 1, 90]), None, "a gap of less than a hundred");
        assert_eq!(at(&[2, 500, 1]), Some((1, 2)));
    }

    #[test]
    fn names_of_arms_are_visible_texts() {
        assert!(error("a,k,y\n,1,0.5\n").contains("line 2: `a` is ``, but must be a name"));
        let bell = error("a,k,y\n\"x\u{7}\",1,0.5\n");
        assert!(bell.contains("`x\\u{7}`") && !bell.contains('\u{7}'), "{bell:?}");
    }
}
