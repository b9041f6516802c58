//! `results.csv`.

use calibandit_experiment::results::{read_csv, write_csv};

/// A table is refused, or it is written and read back with the same rows.
///
/// The order of rows may change: labels are ordered by their first appearance, which sorting can change.
pub fn results_csv(data: &[u8]) {
    let Ok(results) = read_csv(data) else { return };
    let mut written = Vec::new();
    write_csv(&results, &mut written).expect("a table that was read can be written");
    let again = read_csv(written.as_slice()).expect("a table that was written can be read");
    let mut twice = Vec::new();
    write_csv(&again, &mut twice).expect("a table that was read can be written");
    assert_eq!(sorted_bytes(&written), sorted_bytes(&twice), "written and read back without a change");
}

/// The bytes by value: the same rows in another order have the same. Labels may have line ends, so rows are not split.
fn sorted_bytes(table: &[u8]) -> Vec<u8> {
    let mut bytes = table.to_vec();
    bytes.sort_unstable();
    bytes
}
