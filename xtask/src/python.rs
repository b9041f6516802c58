//! The Python package as a user gets it with `pip install .`, tested in an environment of its own.
//!
//! The wheel is built with the profile of the tests, so that most compiled dependencies are reused. The clean
//! environment gets the wheel, never the sources.

use std::fs;
use std::path::PathBuf;

use crate::outcome::{RunnerCounts, Skip, StepError, StepOutcome};
use crate::requirements::Machine;
use crate::shell::{self, OutputStream, Program};
use crate::tools::program_of;
use crate::wheel::find_wheel;

/// Builds the wheel, installs it with its test extras into a fresh environment, and runs there the tests, the examples
/// of the documentation, the notebooks and the type checker.
pub(crate) fn python(_: &Machine) -> Result<StepOutcome, StepError> {
    Program::new("python3", ["-m", "venv", "--clear", &text(environment())]).run()?;
    let with_extras = format!("{}[test]", text(wheel()?));
    // The extras are large, and uv unpacks them ten times as fast as pip.
    pip(["install", "--quiet", "uv"])?;
    uv(["pip", "install", "--quiet", &with_extras])?;
    // Ray has no wheels for some platforms and Python versions.
    let has_ray = uv(["pip", "install", "--quiet", "--only-binary=:all:", "ray>=2.9"]).is_ok();
    let tests = inside("python", ["-m", "pytest", "-rs", "--pyargs", "calibandit", "python/tests"]);
    let output = tests.run_echoing(OutputStream::Stdout)?;
    inside("python", ["-m", "mypy"]).run()?;
    inside("python", ["-m", "mypy", "python/tests"]).run()?;
    inside("python", ["-m", "mypy.stubtest", "calibandit._core"]).run()?;
    outcome(&output, has_ray)
}

/// Counts what pytest ran, and lists what it skipped.
fn outcome(output: &str, has_ray: bool) -> Result<StepOutcome, StepError> {
    let counts = RunnerCounts::of_output(output);
    let mut skipped = Vec::new();
    let mut explained = 0;
    // `SKIPPED [2] python/tests/test_ray.py:15: Ray is not installed`
    for line in output.lines().filter_map(|line| line.strip_prefix("SKIPPED [")) {
        let (number, rest) = line.split_once("] ").unwrap_or(("1", line));
        let (name, reason) = rest.split_once(": ").unwrap_or((rest, "no reason given"));
        let avoidable = has_ray || !reason.contains("Ray");
        skipped.push(Skip { name: name.to_string(), reason: reason.to_string(), avoidable });
        explained += number.parse::<u64>().unwrap_or(1);
    }
    if counts.skipped > explained {
        return Err(StepError::UnexplainedSkips { skipped: counts.skipped, explained });
    }
    Ok(StepOutcome { passed: counts.passed, skipped })
}

/// Builds the wheel into a folder that has no other.
fn wheel() -> Result<PathBuf, StepError> {
    let folder = shell::root().join("target/wheels/dev");
    // It does not exist before the first build.
    let _ = fs::remove_dir_all(&folder);
    pip(["wheel", "--quiet", "--no-deps", "--wheel-dir", &text(folder.clone()), "-Cbuild-args=--profile dev", "."])?;
    find_wheel(&folder)
}

fn environment() -> PathBuf {
    shell::root().join("target/python")
}

/// A program of the environment.
fn inside<const N: usize>(name: &str, arguments: [&str; N]) -> Program {
    Program::new(text(program_of(&environment(), name)), arguments)
}

fn pip<const N: usize>(arguments: [&str; N]) -> Result<(), StepError> {
    inside("pip", arguments).env("PIP_DISABLE_PIP_VERSION_CHECK", "1").run()
}

fn uv<const N: usize>(arguments: [&str; N]) -> Result<(), StepError> {
    inside("uv", arguments).env("VIRTUAL_ENV", "target/python").run()
}

fn text(path: PathBuf) -> String {
    path.display().to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    const OUTPUT: &str = "\
        SKIPPED [2] python/tests/test_ray.py:15: Ray is not installed (pip install ray)\n\
        SKIPPED [1] python/tests/test_gym.py:13: could not import 'gymnasium'\n\
        ====== 90 passed, 3 skipped in 22.13s ======\n";

    #[test]
    fn skipped_python_tests_are_listed_and_only_ray_may_be_missing() {
        let outcome = outcome(OUTPUT, false).unwrap();
        assert_eq!(outcome.passed, 90);
        assert_eq!(outcome.skipped.iter().map(|skip| skip.avoidable).collect::<Vec<_>>(), [false, true]);
        assert_eq!(outcome.skipped[1].name, "python/tests/test_gym.py:13");
        assert_eq!(outcome.skipped[1].reason, "could not import 'gymnasium'");
    }

    #[test]
    fn a_skip_without_a_line_of_its_own_is_an_error() {
        assert!(outcome("====== 90 passed, 3 skipped in 22.13s ======\n", true).is_err());
    }
}
