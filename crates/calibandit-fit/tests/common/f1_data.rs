//! Where the public F1 tables are, if they are at hand: they are not part of the project.

use std::path::{Path, PathBuf};

/// The folder that `CALIBANDIT_F1_DATA` names, or one called `shared/f1` beside the project. Tests that need it do
/// nothing without it.
pub(crate) fn folder() -> Option<PathBuf> {
    let beside = || Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/f1");
    let folder = std::env::var_os("CALIBANDIT_F1_DATA").map_or_else(beside, PathBuf::from);
    folder.join("lap_times.csv").exists().then_some(folder)
}
