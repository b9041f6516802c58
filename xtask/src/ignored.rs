//! The tests that `cargo test` ignores, with their reasons, read from the sources.
//!
//! A slow test says `#[ignore = "slow: …"]`, and the full suite runs it. A test that needs something outside the
//! repository says `#[ignore = "needs Chromium"]`, and the full suite runs it where that is present. Test runners can
//! select by name but not by reason, so the reasons are collected here.

use std::fs;
use std::path::{Path, PathBuf};

use crate::outcome::StepError;
use crate::requirements::Requirement;
use crate::shell;

/// Why a test is ignored by `cargo test`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum IgnoreReason {
    Slow,
    Needs(Requirement),
}

/// A test with `#[ignore = "…"]`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct IgnoredTest {
    /// The function's name, without its modules.
    pub(crate) name: String,
    pub(crate) reason: IgnoreReason,
}

/// All ignored tests of the workspace.
pub(crate) fn ignored_tests() -> Result<Vec<IgnoredTest>, StepError> {
    let mut found = Vec::new();
    for path in rust_files(&shell::root().join("crates"))? {
        let text = fs::read_to_string(&path).map_err(|error| StepError::File { path: path.clone(), error })?;
        found.extend(in_source(&text, &path)?);
    }
    Ok(found)
}

fn rust_files(folder: &Path) -> Result<Vec<PathBuf>, StepError> {
    let entries = fs::read_dir(folder).map_err(|error| StepError::File { path: folder.to_path_buf(), error })?;
    let mut files = Vec::new();
    for path in entries.flatten().map(|entry| entry.path()) {
        if path.is_dir() {
            files.extend(rust_files(&path)?);
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            files.push(path);
        }
    }
    files.sort();
    Ok(files)
}

fn in_source(text: &str, path: &Path) -> Result<Vec<IgnoredTest>, StepError> {
    let lines: Vec<&str> = text.lines().map(str::trim).collect();
    let mut found = Vec::new();
    for (position, line) in lines.iter().enumerate().filter(|(_, line)| line.starts_with("#[ignore")) {
        let name = lines[position..].iter().find_map(|line| function_name(line));
        let (Some(reason), Some(name)) = (reason(line), name) else {
            let (path, text) = (path.to_path_buf(), line.to_string());
            return Err(StepError::IgnoreReason { path, line: position + 1, text });
        };
        found.push(IgnoredTest { name: name.to_string(), reason });
    }
    Ok(found)
}

fn reason(line: &str) -> Option<IgnoreReason> {
    let text = line.split('"').nth(1)?;
    if text.strip_prefix("slow: ").is_some_and(|why| !why.is_empty()) {
        return Some(IgnoreReason::Slow);
    }
    let name = text.strip_prefix("needs ")?;
    Requirement::OF_TESTS.iter().find(|requirement| requirement.name() == name).copied().map(IgnoreReason::Needs)
}

fn function_name(line: &str) -> Option<&str> {
    let (_, after) = line.split_once("fn ")?;
    after.split(['(', '<']).next()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_and_reasons_are_read_from_attributes() {
        let text = "
            #[test]
            #[ignore = \"needs Chromium\"]
            fn curves_are_drawn() {}

            #[ignore = \"slow: 20 s of simulation\"]
            #[test]
            fn losses_follow_the_law() {}
        ";
        let expected = [
            ("curves_are_drawn", IgnoreReason::Needs(Requirement::Chromium)),
            ("losses_follow_the_law", IgnoreReason::Slow),
        ];
        let found = in_source(text, Path::new("a.rs")).unwrap();
        assert_eq!(found.iter().map(|test| (test.name.as_str(), test.reason)).collect::<Vec<_>>(), expected);
    }

    #[test]
    fn a_missing_or_unknown_reason_is_an_error_with_its_place() {
        for attribute in ["#[ignore]", "#[ignore = \"flaky\"]", "#[ignore = \"needs luck\"]", "#[ignore = \"slow: \"]"]
        {
            let error = in_source(&format!("\n{attribute}\nfn a() {{}}"), Path::new("a.rs")).unwrap_err().to_string();
            assert!(error.starts_with("a.rs:2: ") && error.contains(attribute), "{error}");
        }
    }

    #[test]
    fn every_ignored_test_of_the_workspace_gives_a_known_reason() {
        ignored_tests().unwrap();
    }
}
