//! Logs from columns in memory: names are given once each, and rows refer to them by number.

use calibandit::Arm;

use super::log::{Log, LogBuilder, LogError, MOST_LOSS, NameTable};

/// A column of names: each name once, and for each row the place of its name.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LogCodes {
    /// The names, in any order. Names that occur twice are one name; names that no row has are ignored.
    pub names: Vec<String>,
    /// The place of the name of each row. A place beyond the names is a row without a name, which is an error.
    pub codes: Vec<u32>,
}

/// The columns of a log, one value per play each.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct LogArrays {
    /// The arms.
    pub arms: LogCodes,
    /// The losses; NaN if a loss is missing.
    pub losses: Vec<f64>,
    /// The order of the plays; a jump ends a run. `None`: the order of the rows.
    pub orders: Option<Vec<i64>>,
    /// The units: what has a memory of its own. `None`: all plays are of one unit.
    pub units: Option<LogCodes>,
}

impl Log {
    /// The log of these columns: the same as that of [`LogBuilder`] with the same rows.
    ///
    /// ```
    /// use calibandit_fit::diagnose::{Log, LogArrays, LogCodes};
    ///
    /// let arms = LogCodes { names: vec!["plain".to_string(), "slim".to_string()], codes: vec![1, 1, 0] };
    /// let log = Log::from_arrays(LogArrays { arms, losses: vec![0.9, 0.4, 0.6], ..LogArrays::default() })?;
    /// assert_eq!((log.plays(), log.arms()), (3, &["slim".to_string(), "plain".to_string()][..]));
    /// # Ok::<(), calibandit_fit::diagnose::LogError>(())
    /// ```
    ///
    /// # Errors
    /// [`LogError`] if a value is invalid, or if columns have different lengths.
    pub fn from_arrays(columns: LogArrays) -> Result<Log, LogError> {
        let LogArrays { arms, losses, orders, units } = columns;
        let expected = arms.codes.len();
        let lengths = [
            ("losses", losses.len()),
            ("orders", orders.as_ref().map_or(expected, Vec::len)),
            ("units", units.as_ref().map_or(expected, |units| units.codes.len())),
        ];
        if let Some(&(column, given)) = lengths.iter().find(|&&(_, given)| given != expected) {
            return Err(LogError::Lengths { column, given, expected });
        }
        if expected > u32::MAX as usize {
            return Err(LogError::TooManyPlays { most: u32::MAX as usize });
        }
        if let Some(place) = losses.iter().position(|loss| loss.abs() > MOST_LOSS) {
            return Err(LogError::Loss { row: place + 1, loss: losses[place] });
        }
        let mut builder = LogBuilder { losses, orders: orders.unwrap_or_default(), ..LogBuilder::new() };
        let is_name = |name: &str| Arm::check_name(name).is_ok();
        builder.arms = numbered(arms, &mut builder.names, is_name).map_err(|row| LogError::ArmName { row })?;
        if let Some(units) = units {
            let is_name = |name: &str| !name.is_empty();
            builder.units =
                numbered(units, &mut builder.unit_names, is_name).map_err(|row| LogError::UnitName { row })?;
        }
        builder.build()
    }
}

/// The places of the names of all rows in order of first appearance, or the first row without a valid name.
fn numbered(column: LogCodes, table: &mut NameTable, is_name: impl Fn(&str) -> bool) -> Result<Vec<u32>, usize> {
    let LogCodes { names, mut codes } = column;
    let mut places: Vec<Option<u32>> = vec![None; names.len()];
    for (row, code) in (1..).zip(&mut codes) {
        let name = *code as usize;
        let place = places.get_mut(name).ok_or(row)?;
        *code = match *place {
            Some(place) => place,
            None if is_name(&names[name]) => *place.insert(table.place(&names[name])),
            None => return Err(row),
        };
    }
    Ok(codes)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn codes(names: &[&str], codes: &[u32]) -> LogCodes {
        LogCodes { names: names.iter().map(ToString::to_string).collect(), codes: codes.to_vec() }
    }

    proptest! {
        #[test]
        fn columns_and_rows_give_the_same_log(
            rows in prop::collection::vec((0..4_usize, prop::option::of(-5.0..5.0), 0..60_i64, 0..3_usize), 1..60),
            ordered: bool,
            with_units: bool,
        ) {
            // The first and the last name are the same.
            let (arms, units) = (["b", "a", "c", "b"], ["x", "y", "z"]);
            let mut builder = LogBuilder::new();
            for &(arm, loss, order, unit) in &rows {
                builder.push(arms[arm], loss, ordered.then_some(order), with_units.then_some(units[unit])).unwrap();
            }
            let column = LogArrays {
                arms: codes(&arms, &rows.iter().map(|row| row.0 as u32).collect::<Vec<_>>()),
                losses: rows.iter().map(|row| row.1.unwrap_or(f64::NAN)).collect(),
                orders: ordered.then(|| rows.iter().map(|row| row.2).collect()),
                units: with_units.then(|| codes(&units, &rows.iter().map(|row| row.3 as u32).collect::<Vec<_>>())),
            };
            // NaN differs from itself, so the texts are compared.
            prop_assert_eq!(format!("{:?}", Log::from_arrays(column)), format!("{:?}", builder.build()));
        }
    }

    #[test]
    fn invalid_columns_are_refused_with_the_row() {
        let good = || LogArrays { arms: codes(&["a"], &[0, 0]), losses: vec![0.5, 0.5], ..LogArrays::default() };
        assert!(Log::from_arrays(good()).is_ok());
        let refused = |columns| Log::from_arrays(columns).unwrap_err();
        assert_eq!(refused(LogArrays::default()), LogError::Empty);
        let lengths = LogError::Lengths { column: "losses", given: 1, expected: 2 };
        assert_eq!(refused(LogArrays { losses: vec![0.5], ..good() }), lengths);
        let lengths = LogError::Lengths { column: "orders", given: 3, expected: 2 };
        assert_eq!(refused(LogArrays { orders: Some(vec![1, 2, 3]), ..good() }), lengths);
        assert_eq!(refused(LogArrays { arms: codes(&["a"], &[0, 1]), ..good() }), LogError::ArmName { row: 2 });
        assert_eq!(refused(LogArrays { arms: codes(&["a", ""], &[0, 1]), ..good() }), LogError::ArmName { row: 2 });
        let units = Some(codes(&["u"], &[u32::MAX, 0]));
        assert_eq!(refused(LogArrays { units, ..good() }), LogError::UnitName { row: 1 });
        let loss = f64::NEG_INFINITY;
        assert_eq!(refused(LogArrays { losses: vec![0.5, loss], ..good() }), LogError::Loss { row: 2, loss });
    }
}
