//! The public F1 tables. They are not part of the project.

use std::path::{Path, PathBuf};

/// The folder that `CALIBANDIT_F1_DATA` names, or `shared/f1` beside the project. Panics without it: tests that call
/// this are ignored with the reason `needs the F1 tables`.
pub(crate) fn folder() -> PathBuf {
    let beside = || Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/f1");
    let folder = std::env::var_os("CALIBANDIT_F1_DATA").map_or_else(beside, PathBuf::from);
    assert!(folder.join("lap_times.csv").exists(), "no F1 tables in {}: set CALIBANDIT_F1_DATA", folder.display());
    folder
}
