//! The steps that tasks are made of. Each makes sure of what it needs, then does one thing.

use std::fmt;
use std::ops::AddAssign;
use std::path::PathBuf;

use crate::needs;
use crate::shell::{Program, Stream};

/// Why a step failed.
#[derive(Debug)]
pub(crate) enum Failure {
    /// A program that was run says so itself.
    Program { command: String, status: String },
    /// A program could not be started.
    Start { command: String, error: std::io::Error },
    /// Something is missing that could not be installed.
    Missing { what: &'static str, tried: Vec<String> },
    /// A file could not be written.
    File { path: PathBuf, error: std::io::Error },
    /// Programs that should have done the same did not.
    Disagreement { found: Vec<String> },
    /// Something takes more instructions than before.
    Slower { found: Vec<String> },
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Failure::Program { command, status } => write!(f, "`{command}` ended with {status}"),
            Failure::Start { command, error } => write!(f, "`{command}` could not be run: {error}"),
            Failure::File { path, error } => write!(f, "{} could not be written: {error}", path.display()),
            Failure::Disagreement { found } => write!(f, "contestants did not do the same work: {}", found.join("; ")),
            Failure::Slower { found } => write!(
                f,
                "slower than before: {} (if that is meant, CALIBANDIT_ACCEPT=1 cargo xtask bench stores it)",
                found.join("; ")
            ),
            Failure::Missing { what, tried } => {
                write!(f, "{what} is missing and could not be installed; tried: {}", tried.join(", "))
            }
        }
    }
}

/// How many tests ran.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Tally {
    pub(crate) passed: u64,
    pub(crate) skipped: u64,
}

impl AddAssign for Tally {
    fn add_assign(&mut self, other: Self) {
        self.passed += other.passed;
        self.skipped += other.skipped;
    }
}

impl fmt::Display for Tally {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} tests passed, {} skipped", self.passed, self.skipped)
    }
}

impl Tally {
    /// What a line of the test runner's output says: `test result: ok. 3 passed; 0 failed; 1 ignored; ...` of
    /// cargo test, `Summary [ 1.2s] 4 tests run: 4 passed (1 slow), 0 skipped` of nextest, or
    /// `==== 4 passed, 1 skipped in 1.2s ====` of pytest.
    fn of_line(line: &str) -> Self {
        let line = line.trim_start();
        if !["test result:", "Summary [", "===="].iter().any(|start| line.starts_with(start)) {
            return Self::default();
        }
        let words: Vec<&str> = line.split_whitespace().collect();
        let before = |names: &[&str]| {
            let found = words.windows(2).find(|pair| names.contains(&pair[1].trim_end_matches([',', ';'])));
            found.and_then(|pair| pair[0].parse().ok()).unwrap_or(0)
        };
        Self { passed: before(&["passed"]), skipped: before(&["ignored", "skipped"]) }
    }

    pub(crate) fn of_output(output: &str) -> Self {
        let mut tally = Self::default();
        for line in output.lines() {
            tally += Self::of_line(line);
        }
        tally
    }
}

/// The code is formatted as rustfmt.toml says.
pub(crate) fn format() -> Result<Tally, Failure> {
    needs::rustfmt()?;
    Program::cargo(["fmt", "--all", "--check"]).run().map(|()| Tally::default())
}

/// No compiler or clippy warning anywhere, tests and examples included.
pub(crate) fn lint() -> Result<Tally, Failure> {
    needs::clippy()?;
    let clippy = ["clippy", "--workspace", "--all-targets", "--", "-D", "warnings"];
    Program::cargo(clippy).run().map(|()| Tally::default())
}

/// Every unit and integration test: with cargo-nextest if it happens to be installed, as it uses the cores better, and
/// with cargo test otherwise.
pub(crate) fn tests() -> Result<Tally, Failure> {
    needs::chromium()?;
    let output = if needs::has_nextest() {
        Program::cargo(["nextest", "run", "--workspace"]).run_echoing(Stream::Stderr)?
    } else {
        Program::cargo(["test", "--workspace", "--all-targets"]).run_echoing(Stream::Stdout)?
    };
    Ok(Tally::of_output(&output))
}

/// Every example in the documentation.
pub(crate) fn doc_tests() -> Result<Tally, Failure> {
    let output = Program::cargo(["test", "--workspace", "--doc"]).run_echoing(Stream::Stdout)?;
    Ok(Tally::of_output(&output))
}

/// The documentation builds without a warning.
pub(crate) fn docs() -> Result<Tally, Failure> {
    let docs = Program::cargo(["doc", "--workspace", "--no-deps"]).env("RUSTDOCFLAGS", "-D warnings");
    docs.run().map(|()| Tally::default())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_are_read_from_all_test_runners() {
        let cargo = "test result: ok. 37 passed; 0 failed; 2 ignored; 0 measured; 0 filtered out; finished in 0.11s";
        assert_eq!(Tally::of_output(cargo), Tally { passed: 37, skipped: 2 });
        let nextest = "     Summary [   0.306s] 41 tests run: 40 passed (1 slow), 1 skipped";
        assert_eq!(Tally::of_output(nextest), Tally { passed: 40, skipped: 1 });
        let pytest = "================== 93 passed, 2 skipped, 1 warning in 22.13s (0:00:22) ==================";
        assert_eq!(Tally::of_output(pytest), Tally { passed: 93, skipped: 2 });
        assert_eq!(Tally::of_output("test a::b ... ok\n3 passed"), Tally::default());
        assert_eq!(Tally::of_output(&format!("{cargo}\n\n{cargo}")), Tally { passed: 74, skipped: 4 });
    }
}
