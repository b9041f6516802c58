//! A log of plays: which arm was played when, with which loss, in which unit.

use std::collections::HashMap;
use std::ops::Range;

use calibandit::Arm;

use crate::losses::middle_range;

/// The plays of a log, unit by unit, each in the order of its plays.
#[derive(Clone, Debug, PartialEq)]
pub struct Log {
    pub(super) names: Vec<String>,
    /// The arm of each play.
    pub(super) arms: Vec<u32>,
    /// The loss of each play; NaN if it is missing.
    pub(super) losses: Vec<f64>,
    /// The time of each play, if it is not its place in the log.
    pub(super) times: Option<Vec<u32>>,
    pub(super) segments: Vec<Segment>,
    pub(super) units: usize,
    /// The number of times that an order jumps within a unit.
    pub(super) jumps: u64,
}

/// Plays in a row of one unit, without a jump of the order.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Segment {
    pub(super) plays: Range<usize>,
    pub(super) unit: u32,
    /// Whether it is the beginning of its unit, rather than what follows a jump.
    pub(super) begins_unit: bool,
}

/// Why rows do not make a log.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum LogError {
    /// There are no plays.
    #[error("the log has no plays")]
    Empty,
    /// There are more plays than can be counted.
    #[error("the log has more than {most} plays; give a part of it")]
    TooManyPlays {
        /// The largest number of plays.
        most: usize,
    },
    /// An order occurs twice in a unit.
    #[error(
        "order {order} occurs twice{}, in rows {first} and {second} (the first row after the header is row 1); if \
         several things are logged side by side, say which with `--unit` (Python: `unit=`); if it is a time, sort the \
         rows by it and leave `--order` out",
        unit.as_ref().map(|unit| format!(" in unit `{unit}`")).unwrap_or_default()
    )]
    OrderTwice {
        /// The order.
        order: i64,
        /// The unit, if the log has units.
        unit: Option<String>,
        /// The earlier row, counted from 1.
        first: usize,
        /// The later row.
        second: usize,
    },
    /// A loss is infinite, or so large that its square is.
    #[error("the loss in row {row} is {loss:e}, but must be within ±{MOST_LOSS:e}, or missing")]
    Loss {
        /// The row, counted from 1.
        row: usize,
        /// The loss.
        loss: f64,
    },
    /// An arm has an invalid name.
    #[error("the arm in row {row} must have a name of 1 to 100 characters without control characters")]
    ArmName {
        /// The row, counted from 1.
        row: usize,
    },
    /// A unit has no name.
    #[error("the unit in row {row} has no name")]
    UnitName {
        /// The row, counted from 1.
        row: usize,
    },
    /// The columns have different lengths.
    #[error("the column of {column} has {given} values, but that of the arms has {expected}")]
    Lengths {
        /// The column.
        column: &'static str,
        /// Its length.
        given: usize,
        /// The number of plays.
        expected: usize,
    },
}

/// The largest loss: squares and their sums stay finite.
pub(super) const MOST_LOSS: f64 = 1e100;

/// Collects rows and makes a [`Log`] of them.
#[derive(Clone, Debug, Default)]
pub struct LogBuilder {
    pub(super) names: NameTable,
    pub(super) unit_names: NameTable,
    pub(super) arms: Vec<u32>,
    pub(super) losses: Vec<f64>,
    pub(super) units: Vec<u32>,
    pub(super) orders: Vec<i64>,
}

impl LogBuilder {
    /// An empty log.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds one play. `loss` is `None` if it is missing. All plays have an order, or none has; the same for units.
    ///
    /// # Errors
    /// [`LogError`] if a value is invalid.
    pub fn push(
        &mut self,
        arm: &str,
        loss: Option<f64>,
        order: Option<i64>,
        unit: Option<&str>,
    ) -> Result<(), LogError> {
        let row = self.arms.len() + 1;
        if row > u32::MAX as usize {
            return Err(LogError::TooManyPlays { most: u32::MAX as usize });
        }
        let loss = match loss {
            Some(loss) if loss.is_nan() || loss.abs() > MOST_LOSS => return Err(LogError::Loss { row, loss }),
            loss => loss.unwrap_or(f64::NAN),
        };
        let known = self.names.len();
        let place = self.names.place(arm);
        if place as usize == known && Arm::check_name(arm).is_err() {
            return Err(LogError::ArmName { row });
        }
        self.arms.push(place);
        self.losses.push(loss);
        self.orders.extend(order);
        if let Some(unit) = unit {
            self.units.push(self.unit_names.place(unit));
        }
        Ok(())
    }

    /// The number of plays so far.
    pub fn len(&self) -> usize {
        self.arms.len()
    }

    /// Whether there are no plays.
    pub fn is_empty(&self) -> bool {
        self.arms.is_empty()
    }

    /// The log.
    ///
    /// # Errors
    /// [`LogError`] if there are no plays, or if an order occurs twice in a unit.
    ///
    /// # Panics
    /// If only some of the plays have an order, or only some have a unit.
    pub fn build(self) -> Result<Log, LogError> {
        let Self { names, unit_names, mut arms, mut losses, mut units, mut orders } = self;
        let count = arms.len();
        if count == 0 {
            return Err(LogError::Empty);
        }
        assert!(orders.is_empty() || orders.len() == count, "all plays have an order, or none has");
        assert!(units.is_empty() || units.len() == count, "all plays have a unit, or none has");
        let key = |row: usize| (units.get(row).copied().unwrap_or(0), orders.get(row).copied().unwrap_or(0));
        let mut times = None;
        let sorted = (1..count).all(|row| key(row - 1) <= key(row));
        let rows: Option<Vec<u32>> = (!sorted).then(|| {
            let mut rows: Vec<u32> = (0..count as u32).collect();
            // The row number decides between equal keys: without an order, plays keep the order of the rows.
            rows.sort_unstable_by_key(|&row| (key(row as usize), row));
            rows
        });
        if let Some(rows) = &rows {
            arms = reorder(&arms, rows);
            losses = reorder(&losses, rows);
            if !units.is_empty() {
                units = reorder(&units, rows);
            }
            if orders.is_empty() {
                times = Some(rows.clone());
            } else {
                orders = reorder(&orders, rows);
            }
        }
        let row_of = |place: usize| rows.as_ref().map_or(place, |rows| rows[place] as usize) + 1;
        let mut log = Log { names: names.names, arms, losses, times, segments: Vec::new(), units: 1, jumps: 0 };
        log.units = unit_names.len().max(1);
        let mut start = 0;
        let mut begins_unit = true;
        for play in 1..=count {
            let same_unit = play < count && units.get(play - 1) == units.get(play);
            let step = match orders.get(play - 1..=play) {
                Some(pair) if same_unit => i128::from(pair[1]) - i128::from(pair[0]),
                _ => 1,
            };
            if same_unit && step == 0 {
                let unit = units.get(play).map(|&unit| unit_names.names[unit as usize].clone());
                let (first, second) = (row_of(play - 1), row_of(play));
                return Err(LogError::OrderTwice { order: orders[play], unit, first, second });
            }
            if !same_unit || step > 1 {
                let unit = units.get(play - 1).copied().unwrap_or(0);
                log.segments.push(Segment { plays: start..play, unit, begins_unit });
                (start, begins_unit) = (play, !same_unit);
                log.jumps += u64::from(same_unit);
            }
        }
        if !orders.is_empty() {
            log.times = Some(scaled(&orders));
        }
        Ok(log)
    }
}

fn reorder<T: Copy>(values: &[T], rows: &[u32]) -> Vec<T> {
    rows.iter().map(|&row| values[row as usize]).collect()
}

/// Orders as times: shifted to begin at 0, and divided where they would not fit.
fn scaled(orders: &[i64]) -> Vec<u32> {
    let least = orders.iter().copied().min().unwrap_or(0);
    let most = orders.iter().copied().max().unwrap_or(0);
    let divisor = (most.abs_diff(least) / u64::from(u32::MAX)) + 1;
    orders.iter().map(|order| (order.abs_diff(least) / divisor) as u32).collect()
}

impl Log {
    /// The names of the arms, in order of first appearance.
    pub fn arms(&self) -> &[String] {
        &self.names
    }

    /// The number of plays.
    pub fn plays(&self) -> usize {
        self.arms.len()
    }

    /// The number of plays without a loss.
    pub fn missing(&self) -> usize {
        self.losses.iter().filter(|loss| loss.is_nan()).count()
    }

    /// The number of units.
    pub fn units(&self) -> usize {
        self.units
    }

    /// The time of a play.
    pub(super) fn time(&self, play: usize) -> u32 {
        self.times.as_ref().map_or(play as u32, |times| times[play])
    }

    /// The losses that are there.
    pub(super) fn finite_losses(&self) -> impl Iterator<Item = f64> {
        self.losses.iter().copied().filter(|loss| !loss.is_nan())
    }

    /// The range of the middle 98 % of losses.
    pub(super) fn spread(&self) -> f64 {
        // A sample is enough for a default that is printed, and keeps large logs fast.
        let step = (self.losses.len() / 200_000).max(1);
        middle_range(self.losses.iter().copied().step_by(step).filter(|loss| !loss.is_nan()).collect())
    }
}

/// Names in order of first appearance, with their places.
#[derive(Clone, Debug, Default)]
pub(super) struct NameTable {
    pub(super) names: Vec<String>,
    places: HashMap<String, u32>,
    /// The last name and its place: neighbouring rows often have the same one.
    last: Option<u32>,
}

impl NameTable {
    fn len(&self) -> usize {
        self.names.len()
    }

    pub(super) fn place(&mut self, name: &str) -> u32 {
        if let Some(last) = self.last.filter(|&last| self.names[last as usize] == name) {
            return last;
        }
        let place = self.places.get(name).copied().unwrap_or_else(|| {
            let place = self.names.len() as u32;
            self.names.push(name.to_owned());
            self.places.insert(name.to_owned(), place);
            place
        });
        self.last = Some(place);
        place
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn build(rows: &[(&str, f64, Option<i64>, Option<&str>)]) -> Result<Log, LogError> {
        let mut builder = LogBuilder::new();
        for &(arm, loss, order, unit) in rows {
            builder.push(arm, Some(loss), order, unit)?;
        }
        builder.build()
    }

    #[test]
    fn plays_are_sorted_by_unit_and_order() {
        let log = build(&[
            ("a", 0.1, Some(2), Some("u")),
            ("b", 0.2, Some(1), Some("v")),
            ("c", 0.3, Some(1), Some("u")),
            ("a", 0.4, Some(3), Some("v")),
        ])
        .unwrap();
        assert_eq!(log.losses, [0.3, 0.1, 0.2, 0.4]);
        assert_eq!(log.times.as_deref(), Some(&[0, 1, 0, 2][..]));
        let segments: Vec<_> = log.segments.iter().map(|s| (s.plays.clone(), s.unit, s.begins_unit)).collect();
        assert_eq!(segments, [(0..2, 0, true), (2..3, 1, true), (3..4, 1, false)]);
        assert_eq!((log.units(), log.jumps), (2, 1));
    }

    #[test]
    fn without_an_order_the_rows_of_a_unit_are_in_a_row() {
        let log =
            build(&[("a", 0.1, None, Some("u")), ("b", 0.2, None, Some("v")), ("c", 0.3, None, Some("u"))]).unwrap();
        assert_eq!((log.losses.as_slice(), log.segments.len(), log.jumps), (&[0.1, 0.3, 0.2][..], 2, 0));
        assert_eq!(log.times.as_deref(), Some(&[0, 2, 1][..]), "time is the row in the table");
    }

    #[test]
    fn an_order_that_occurs_twice_is_refused_with_its_rows() {
        let twice = build(&[("a", 0.1, Some(7), None), ("a", 0.1, Some(6), None), ("b", 0.2, Some(7), None)]);
        let expected = LogError::OrderTwice { order: 7, unit: None, first: 1, second: 3 };
        assert_eq!(twice, Err(expected));
        assert_eq!(build(&[]), Err(LogError::Empty));
        assert_eq!(build(&[("a", f64::INFINITY, None, None)]), Err(LogError::Loss { row: 1, loss: f64::INFINITY }));
        assert_eq!(build(&[("", 0.0, None, None)]), Err(LogError::ArmName { row: 1 }));
    }

    #[test]
    fn orders_far_apart_do_not_overflow() {
        let log = build(&[("a", 0.1, Some(i64::MIN), None), ("a", 0.1, Some(i64::MAX), None)]).unwrap();
        assert_eq!((log.jumps, log.segments.len()), (1, 2));
        assert!(log.time(1) > log.time(0));
    }
}
