//! The steps on the Rust code: format, lints, tests, documentation.

use crate::ignored::{IgnoreReason, IgnoredTest, ignored_tests};
use crate::outcome::{RunnerCounts, Skip, StepError, StepOutcome};
use crate::requirements::{Machine, has_nextest};
use crate::shell::{OutputStream, Program};

/// The code is formatted as rustfmt.toml says.
pub(crate) fn format(_: &Machine) -> Result<StepOutcome, StepError> {
    Program::cargo(["fmt", "--all", "--check"]).run().map(|()| StepOutcome::default())
}

/// No compiler or clippy warning anywhere, tests and examples included, nor in the library without its features.
pub(crate) fn lint(_: &Machine) -> Result<StepOutcome, StepError> {
    Program::cargo(["clippy", "--workspace", "--all-targets", "--", "-D", "warnings"]).run()?;
    let library = ["clippy", "--package", "calibandit", "--no-default-features", "--lib", "--", "-D", "warnings"];
    Program::cargo(library).run().map(|()| StepOutcome::default())
}

/// Every unit and integration test, slow ones included, except those whose requirement is missing. Runs them with
/// cargo-nextest if it is installed, because that keeps all cores busy, and with `cargo test` otherwise.
pub(crate) fn tests(machine: &Machine) -> Result<StepOutcome, StepError> {
    let skipped: Vec<Skip> = ignored_tests()?.into_iter().filter_map(|test| unmet(test, machine)).collect();
    let names: Vec<&str> = skipped.iter().map(|skip| skip.name.as_str()).collect();
    let output = if has_nextest() {
        let filter = nextest_filter(&names);
        let nextest = ["nextest", "run", "--workspace", "--run-ignored", "all", "--no-tests=fail", "-E", &filter];
        Program::cargo(nextest).run_echoing(OutputStream::Stderr)?
    } else {
        let mut cargo_test = vec!["test", "--workspace", "--lib", "--bins", "--tests", "--examples"];
        cargo_test.extend(["--", "--include-ignored"]);
        cargo_test.extend(names.iter().flat_map(|name| ["--skip", name]));
        Program::cargo(cargo_test).run_echoing(OutputStream::Stdout)?
    };
    let counts = RunnerCounts::of_output(&output);
    let explained = skipped.len() as u64;
    if counts.skipped > explained {
        return Err(StepError::UnexplainedSkips { skipped: counts.skipped, explained });
    }
    Ok(StepOutcome { passed: counts.passed, skipped })
}

fn unmet(test: IgnoredTest, machine: &Machine) -> Option<Skip> {
    match test.reason {
        IgnoreReason::Needs(requirement) if !machine.has(requirement) => {
            Some(Skip::for_requirement(test.name, requirement))
        }
        _ => None,
    }
}

/// A filter expression for all tests except these functions.
fn nextest_filter(names: &[&str]) -> String {
    if names.is_empty() {
        return "all()".to_string();
    }
    let tests: Vec<String> = names.iter().map(|name| format!("test(/(^|::){name}$/)")).collect();
    format!("not ({})", tests.join(" | "))
}

/// Every example in the documentation.
pub(crate) fn doc_tests(_: &Machine) -> Result<StepOutcome, StepError> {
    let output = Program::cargo(["test", "--workspace", "--doc"]).run_echoing(OutputStream::Stdout)?;
    let counts = RunnerCounts::of_output(&output);
    if counts.skipped > 0 {
        return Err(StepError::UnexplainedSkips { skipped: counts.skipped, explained: 0 });
    }
    Ok(StepOutcome { passed: counts.passed, skipped: Vec::new() })
}

/// Writes the Python modules that are generated from the catalogue. A test of `xtask-generate` keeps them current.
pub(crate) fn generate(_: &Machine) -> Result<StepOutcome, StepError> {
    Program::cargo(["run", "--quiet", "--package", "xtask-generate"]).run().map(|()| StepOutcome::default())
}

/// The documentation builds without a warning.
pub(crate) fn docs(_: &Machine) -> Result<StepOutcome, StepError> {
    let docs = Program::cargo(["doc", "--workspace", "--no-deps"]).env("RUSTDOCFLAGS", "-D warnings");
    docs.run().map(|()| StepOutcome::default())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_nextest_filter_excludes_whole_names_only() {
        assert_eq!(nextest_filter(&[]), "all()");
        assert_eq!(nextest_filter(&["a", "b"]), "not (test(/(^|::)a$/) | test(/(^|::)b$/))");
    }
}
