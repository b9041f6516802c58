//! The packages of all published crates, as `cargo publish` would upload them.

use std::fs;
use std::path::{Path, PathBuf};

use crate::outcome::{StepError, StepOutcome};
use crate::requirements::Machine;
use crate::shell::{self, Program};

/// Where packages are made and compiled.
const TARGET: &str = "target/verify";

/// Packages every published crate, and compiles each package without the rest of the repository.
///
/// The verification only compiles, so it neither optimises nor writes debug information. Cargo takes a crate of a
/// registry for unchangeable: of two packages with the same version it would compile the first one again. So everything
/// is removed that an earlier run left.
pub(crate) fn package(_: &Machine) -> Result<StepOutcome, StepError> {
    remove(&shell::root().join(TARGET))?;
    for folder in unpacked_packages() {
        remove(&folder)?;
    }
    // The default members of the workspace are the published crates.
    let package = Program::cargo(["package", "--quiet", "--allow-dirty", "--target-dir", TARGET])
        .env("CARGO_PROFILE_DEV_OPT_LEVEL", "0")
        .env("CARGO_PROFILE_DEV_DEBUG", "false")
        .env("CARGO_INCREMENTAL", "0");
    package.run().map(|()| StepOutcome::default())
}

fn remove(folder: &Path) -> Result<(), StepError> {
    match fs::remove_dir_all(folder) {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
            Err(StepError::File { path: folder.to_path_buf(), error })
        }
        _ => Ok(()),
    }
}

/// Our crates in Cargo's cache of registries that have no host: `cargo package` puts all packages into such a registry,
/// so that they find each other before they are published.
fn unpacked_packages() -> Vec<PathBuf> {
    let home = std::env::home_dir().unwrap_or_default().join(".cargo");
    let cargo_home = std::env::var_os("CARGO_HOME").map_or(home, PathBuf::from);
    let local = entries(&cargo_home.join("registry/src"), "-");
    local.iter().flat_map(|registry| entries(registry, "calibandit")).collect()
}

/// What is in a folder and begins with `prefix`; nothing if the folder does not exist.
fn entries(folder: &Path, prefix: &str) -> Vec<PathBuf> {
    let all = fs::read_dir(folder).into_iter().flatten().flatten();
    all.filter(|entry| entry.file_name().to_string_lossy().starts_with(prefix)).map(|entry| entry.path()).collect()
}
