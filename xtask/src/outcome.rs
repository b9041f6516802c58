//! What a step reports: how many tests passed and failed, which were skipped and why, or the error that ended it.

use std::fmt;
use std::path::PathBuf;

use crate::requirements::Requirement;

/// Why a step failed.
#[derive(Debug)]
pub(crate) enum StepError {
    /// A program ended with an error status.
    Program { command: String, status: String },
    /// A program could not be started.
    Start { command: String, error: std::io::Error },
    /// A program did not make the file that it should make.
    NoFile { path: PathBuf, command: String },
    /// A file could not be read or written.
    File { path: PathBuf, error: std::io::Error },
    /// An ignored test gives no reason, or one that is not understood.
    IgnoreReason { path: PathBuf, line: usize, text: String },
    /// The test runner skipped more tests than there are reasons for.
    UnexplainedSkips { skipped: u64, explained: u64 },
    /// Two programs had different results on the same work.
    Disagreement { found: Vec<String> },
    /// A workload takes more instructions than the stored count.
    Slower { found: Vec<String> },
}

impl fmt::Display for StepError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Program { command, status } => write!(f, "`{command}` ended with {status}"),
            Self::Start { command, error } => write!(f, "`{command}` could not be run: {error}"),
            Self::NoFile { path, command } => write!(f, "`{command}` did not make {}", path.display()),
            Self::File { path, error } => write!(f, "{}: {error}", path.display()),
            Self::IgnoreReason { path, line, text } => write!(
                f,
                "{}:{line}: `{text}` must give a reason that begins with `slow: ` or `needs `, and a known requirement",
                path.display()
            ),
            Self::UnexplainedSkips { skipped, explained } => {
                write!(f, "the test runner skipped {skipped} tests, but only {explained} give a reason")
            }
            Self::Disagreement { found } => write!(f, "results differ: {}", found.join("; ")),
            Self::Slower { found } => write!(
                f,
                "more instructions than stored: {} (CALIBANDIT_ACCEPT=1 cargo xtask bench stores the new counts)",
                found.join("; ")
            ),
        }
    }
}

/// A test, or a whole step, that was not run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Skip {
    pub(crate) name: String,
    pub(crate) reason: String,
    /// Whether a machine that may install programs can run it.
    pub(crate) avoidable: bool,
}

impl Skip {
    pub(crate) fn for_requirement(name: String, requirement: Requirement) -> Self {
        Self { name, reason: format!("needs {requirement}"), avoidable: requirement.is_installable() }
    }
}

/// What a step did.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct StepOutcome {
    pub(crate) passed: u64,
    pub(crate) skipped: Vec<Skip>,
}

impl StepOutcome {
    pub(crate) fn add(&mut self, other: Self) {
        self.passed += other.passed;
        self.skipped.extend(other.skipped);
    }
}

impl fmt::Display for StepOutcome {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for skip in &self.skipped {
            writeln!(f, "skipped {}: {}", skip.name, skip.reason)?;
        }
        writeln!(f, "tests: {} passed, 0 failed, {} skipped", self.passed, self.skipped.len())
    }
}

/// The numbers in the closing lines of a test runner.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct RunnerCounts {
    pub(crate) passed: u64,
    /// Ignored, skipped or filtered out.
    pub(crate) skipped: u64,
}

impl RunnerCounts {
    /// Reads one line: `test result: ok. 3 passed; 0 failed; 1 ignored; 0 measured; 2 filtered out; …` of cargo test,
    /// `Summary [ 1.2s] 4 tests run: 4 passed (1 slow), 0 skipped` of nextest, or
    /// `==== 4 passed, 1 skipped in 1.2s ====` of pytest.
    fn of_line(line: &str) -> Self {
        let line = line.trim_start();
        if !["test result:", "Summary [", "===="].iter().any(|start| line.starts_with(start)) {
            return Self::default();
        }
        let words: Vec<&str> = line.split_whitespace().collect();
        let before = |name: &str| -> u64 {
            let found = words.windows(2).find(|pair| pair[1].trim_end_matches([',', ';']) == name);
            found.and_then(|pair| pair[0].parse().ok()).unwrap_or(0)
        };
        Self { passed: before("passed"), skipped: before("ignored") + before("skipped") + before("filtered") }
    }

    pub(crate) fn of_output(output: &str) -> Self {
        let mut counts = Self::default();
        for line in output.lines().map(Self::of_line) {
            counts.passed += line.passed;
            counts.skipped += line.skipped;
        }
        counts
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn counts(output: &str) -> (u64, u64) {
        let RunnerCounts { passed, skipped } = RunnerCounts::of_output(output);
        (passed, skipped)
    }

    #[test]
    fn counts_are_read_from_the_output_of_three_test_runners() {
        let cargo = "test result: ok. 37 passed; 0 failed; 2 ignored; 0 measured; 3 filtered out; finished in 0.11s";
        assert_eq!(counts(cargo), (37, 5));
        assert_eq!(counts("     Summary [   0.306s] 41 tests run: 40 passed (1 slow), 1 skipped"), (40, 1));
        let pytest = "================== 93 passed, 2 skipped, 1 warning in 22.13s (0:00:22) ==================";
        assert_eq!(counts(pytest), (93, 2));
        assert_eq!(counts("test a::b ... ok\n3 passed"), (0, 0));
        assert_eq!(counts(&format!("{cargo}\n\n{cargo}")), (74, 10));
    }

    #[test]
    fn the_summary_lists_every_skipped_test_and_ends_with_the_counts() {
        let skip = |name: &str, requirement| Skip::for_requirement(name.to_string(), requirement);
        let skipped = vec![skip("curves", Requirement::Chromium), skip("lanes", Requirement::Avx2)];
        assert_eq!(skipped.iter().map(|skip| skip.avoidable).collect::<Vec<_>>(), [true, false]);
        let summary = StepOutcome { passed: 4, skipped }.to_string();
        let expected =
            "skipped curves: needs Chromium\nskipped lanes: needs AVX2\ntests: 4 passed, 0 failed, 2 skipped\n";
        assert_eq!(summary, expected);
    }
}
