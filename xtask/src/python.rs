//! `cargo xtask python`: the Python package as somebody gets it who types `pip install .`, in an environment of its own.
//!
//! The wheel is built with the profile of the tests, so that what they have compiled is used again; what is installed into the
//! clean environment is the wheel, never the sources.

use std::fs;
use std::path::PathBuf;

use crate::needs;
use crate::shell::{self, Program, Stream};
use crate::steps::{Failure, Tally};

/// Builds the wheel, installs it with its test extras into a fresh environment, and runs the tests, the documentation's
/// examples, the notebooks and the type checker there.
pub(crate) fn python() -> Result<Tally, Failure> {
    needs::python()?;
    Program::new("python3", ["-m", "venv", "--clear", &text(environment())]).run()?;
    let wheel = wheel()?;
    let with_extras = format!("{}[test]", text(wheel));
    // The extras are large, and uv unpacks them ten times as fast as pip does.
    pip(["install", "--quiet", "uv"])?;
    uv(["pip", "install", "--quiet", &with_extras])?;
    if uv(["pip", "install", "--quiet", "--only-binary=:all:", "ray>=2.9"]).is_err() {
        println!("Ray cannot be had here: its tests are skipped");
    }
    let tests = inside("python", ["-m", "pytest", "--pyargs", "calibandit", "python/tests"]);
    let output = tests.run_echoing(Stream::Stdout)?;
    inside("python", ["-m", "mypy"]).run()?;
    inside("python", ["-m", "mypy", "python/tests"]).run()?;
    inside("python", ["-m", "mypy.stubtest", "calibandit._core"]).run()?;
    Ok(Tally::of_output(&output))
}

/// Builds the wheel, and only that: what was there of other versions is gone.
fn wheel() -> Result<PathBuf, Failure> {
    let folder = shell::root().join("target/wheels");
    // Nothing there is as good as nothing left.
    let _ = fs::remove_dir_all(&folder);
    pip([
        "wheel",
        "--quiet",
        "--no-deps",
        "--wheel-dir",
        &text(folder.clone()),
        "-Cbuild-args=--profile dev --features like-tests",
        ".",
    ])?;
    let entries = fs::read_dir(&folder).map_err(|error| Failure::File { path: folder.clone(), error })?;
    let wheel = entries.flatten().map(|entry| entry.path()).find(|path| path.extension().is_some_and(|e| e == "whl"));
    wheel.ok_or(Failure::Missing { what: "the wheel", tried: vec!["pip wheel .".to_string()] })
}

fn environment() -> PathBuf {
    shell::root().join("target/python")
}

/// A program of the environment.
fn inside<const N: usize>(name: &str, arguments: [&str; N]) -> Program {
    Program::new(text(environment().join("bin").join(name)), arguments)
}

fn pip<const N: usize>(arguments: [&str; N]) -> Result<(), Failure> {
    inside("pip", arguments).env("PIP_DISABLE_PIP_VERSION_CHECK", "1").run()
}

fn uv<const N: usize>(arguments: [&str; N]) -> Result<(), Failure> {
    inside("uv", arguments).env("VIRTUAL_ENV", "target/python").run()
}

fn text(path: PathBuf) -> String {
    path.display().to_string()
}
