//! Checks of files that are not Rust: Python code, spelling, workflows and other files that GitHub reads.

use std::fs;

use crate::outcome::{StepError, StepOutcome};
use crate::requirements::Machine;
use crate::shell;
use crate::tools::{self, tool};

/// Files with a public schema: the schema's name in check-jsonschema, then a file or a folder of YAML files.
const SCHEMAS: [(&str, &str); 5] = [
    ("vendor.github-workflows", ".github/workflows"),
    ("vendor.github-issue-forms", ".github/ISSUE_TEMPLATE"),
    ("vendor.github-issue-config", ".github/ISSUE_TEMPLATE/config.yml"),
    ("vendor.dependabot", ".github/dependabot.yml"),
    ("vendor.citation-file-format", "CITATION.cff"),
];

/// Runs ruff and typos as `.pre-commit-config.yaml` does, and checks files against their schemas.
pub(crate) fn files(_: &Machine) -> Result<StepOutcome, StepError> {
    tools::install(tools::REQUIREMENTS)?;
    tool("ruff", ["check", "--quiet", "."]).run()?;
    tool("ruff", ["format", "--quiet", "--check", "."]).run()?;
    tool("typos", []).run()?;
    for (schema, path) in SCHEMAS {
        let found = yaml_files(path)?;
        let mut arguments = vec!["--quiet", "--builtin-schema", schema];
        arguments.extend(found.iter().map(String::as_str));
        tool("check-jsonschema", arguments).run()?;
    }
    Ok(StepOutcome::default())
}

/// The file itself, or the YAML files of a folder except its configuration.
fn yaml_files(path: &str) -> Result<Vec<String>, StepError> {
    let full = shell::root().join(path);
    if full.is_file() {
        return Ok(vec![path.to_string()]);
    }
    let entries = fs::read_dir(&full).map_err(|error| StepError::File { path: full.clone(), error })?;
    let names = entries.flatten().map(|entry| entry.file_name().to_string_lossy().into_owned());
    let mut files: Vec<String> = names
        .filter(|name| name.ends_with(".yml") && name != "config.yml")
        .map(|name| format!("{path}/{name}"))
        .collect();
    files.sort();
    if files.is_empty() {
        return Err(StepError::NoFile { path: full.join("*.yml"), command: "git checkout".to_string() });
    }
    Ok(files)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_yaml_file_of_github_has_a_schema() {
        let mut known: Vec<String> = SCHEMAS.iter().flat_map(|(_, path)| yaml_files(path).unwrap()).collect();
        known.sort();
        let mut found = Vec::new();
        let mut folders = vec![shell::root().join(".github")];
        while let Some(folder) = folders.pop() {
            for path in fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()) {
                if path.is_dir() {
                    folders.push(path);
                } else if path.extension().is_some_and(|extension| extension == "yml") {
                    found.push(path.strip_prefix(shell::root()).unwrap().display().to_string());
                }
            }
        }
        found.push("CITATION.cff".to_string());
        found.sort();
        assert_eq!(known, found);
    }
}
