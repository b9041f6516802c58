//! The wheel that users install: one for every Python from 3.10 on, and for Linux systems since 2014.
//!
//! On Linux, zig links it against an old C library, so no container is needed. The wheel is then installed into an
//! environment without a compiler, as most users have it.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::Instant;

use crate::outcome::{StepError, StepOutcome};
use crate::requirements::Machine;
use crate::shell::{self, Program};
use crate::tools::{self, tool};

const FOLDER: &str = "target/wheels/release";
const CLEAN: &str = "target/wheels/clean";

/// Builds the release wheel, installs it into a clean environment and uses it there; prints size and times.
pub(crate) fn wheel(_: &Machine) -> Result<StepOutcome, StepError> {
    tools::install(tools::REQUIREMENTS)?;
    tools::install(tools::WHEEL_REQUIREMENTS)?;
    let start = Instant::now();
    // It does not exist before the first build.
    let _ = fs::remove_dir_all(shell::root().join(FOLDER));
    let mut arguments = vec!["build", "--release", "--quiet", "--out", FOLDER];
    if cfg!(target_os = "linux") {
        arguments.extend(["--zig", "--compatibility", "manylinux2014"]);
    }
    tool("maturin", arguments).env("PATH", path_with(&tools::folder())).run()?;
    let built = start.elapsed().as_secs_f64();
    let wheel = find_wheel(&shell::root().join(FOLDER))?;
    let size = fs::metadata(&wheel).map_err(|error| StepError::File { path: wheel.clone(), error })?.len();
    let wheel = wheel.display().to_string();
    println!("{wheel}: {:.1} MB, built in {built:.0} s", size as f64 / 1e6);

    Program::new("python3", ["-m", "venv", "--clear", CLEAN]).run()?;
    let clean = shell::root().join(CLEAN);
    let path = tools::programs_of(&clean).display().to_string();
    let inside = |name: &str, arguments: &[&str]| {
        Program::new(tools::program_of(&clean, name).display().to_string(), arguments).env("PATH", path.as_str())
    };
    // NumPy first: its download is not part of what is measured.
    inside("pip", &["install", "--quiet", "--only-binary=:all:", "numpy"]).run()?;
    let start = Instant::now();
    inside("pip", &["install", "--quiet", "--only-binary=:all:", &wheel]).run()?;
    println!("installed in {:.1} s, without a compiler", start.elapsed().as_secs_f64());
    inside("python", &["tools/check_wheel.py"]).run()?;
    Ok(StepOutcome::default())
}

/// The search path with another folder in front of it.
fn path_with(folder: &Path) -> String {
    let path = std::env::var("PATH").unwrap_or_default();
    format!("{}{}{path}", folder.display(), if cfg!(windows) { ';' } else { ':' })
}

/// The only wheel of a folder.
pub(crate) fn find_wheel(folder: &Path) -> Result<PathBuf, StepError> {
    let entries = fs::read_dir(folder).map_err(|error| StepError::File { path: folder.to_path_buf(), error })?;
    let wheel = entries.flatten().map(|entry| entry.path()).find(|path| path.extension().is_some_and(|e| e == "whl"));
    wheel.ok_or(StepError::NoFile { path: folder.join("*.whl"), command: "maturin build".to_string() })
}
