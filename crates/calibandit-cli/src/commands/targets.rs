//! Single files that a command writes where the user says, such as `fit --out game.toml`.

use std::fs;
use std::path::Path;

use calibandit_experiment::output::files::replace_file;

use crate::error::CliError;

/// Checks before the work that a file can be there: its folder exists, and it is not a folder itself.
pub(super) fn check_target(path: &Path) -> Result<(), CliError> {
    let refuse = |why: &str| Err(CliError::Usage(format!("{} cannot be written: {why}", path.display())));
    match path.parent() {
        _ if path.is_dir() => refuse("it is a folder; give the name of a file"),
        Some(folder) if !(folder.as_os_str().is_empty() || folder.is_dir()) => {
            refuse("its folder does not exist; make it first")
        }
        _ => Ok(()),
    }
}

/// Writes the file: complete or not at all. What is not a file, such as a pipe, is written to.
pub(super) fn write_file(path: &Path, content: &[u8]) -> Result<(), CliError> {
    match fs::metadata(path) {
        Ok(found) if !found.is_file() => {
            fs::write(path, content).map_err(|source| CliError::File { path: path.to_path_buf(), source })
        }
        _ => Ok(replace_file(path, content)?),
    }
}
