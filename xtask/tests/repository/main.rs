//! Rules about the repository as a whole: which crate may depend on which, what manifests and ARCHITECTURE.md must say,
//! names and line lengths.
#![allow(clippy::unwrap_used, reason = "a helper of a test may panic like the test")]

mod dependencies;
mod manifests;
mod modules;
mod sources;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::LazyLock;

use serde_json::Value;

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..").canonicalize().unwrap()
}

fn read(path: impl AsRef<Path>) -> String {
    fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.as_ref().display()))
}

/// One crate of this workspace, as `cargo metadata` describes it.
struct Package(Value);

impl Package {
    fn name(&self) -> &str {
        self.0["name"].as_str().unwrap()
    }

    fn folder(&self) -> PathBuf {
        Path::new(self.0["manifest_path"].as_str().unwrap()).parent().unwrap().to_path_buf()
    }

    fn is_published(&self) -> bool {
        self.0["publish"].as_array().is_none_or(|registries| !registries.is_empty())
    }

    /// The names of all its dependencies, for the build, for tests and for the program.
    fn dependencies(&self) -> impl Iterator<Item = &str> {
        self.0["dependencies"].as_array().unwrap().iter().map(|dependency| dependency["name"].as_str().unwrap())
    }
}

/// All crates of this workspace.
static PACKAGES: LazyLock<Vec<Package>> = LazyLock::new(|| {
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let arguments = ["metadata", "--no-deps", "--offline", "--format-version", "1"];
    let output = Command::new(cargo).args(arguments).current_dir(root()).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let metadata: Value = serde_json::from_slice(&output.stdout).unwrap();
    metadata["packages"].as_array().unwrap().iter().cloned().map(Package).collect()
});

/// The text of ARCHITECTURE.md from this heading to the next one of the same or a higher level.
fn architecture_section(heading: &str) -> String {
    let text = read(root().join("ARCHITECTURE.md"));
    let level = heading.chars().take_while(|&c| c == '#').count();
    let mut lines = text.lines().skip_while(|line| *line != heading);
    assert!(lines.next().is_some(), "ARCHITECTURE.md has no heading `{heading}`");
    let is_end = |line: &str| {
        let depth = line.chars().take_while(|&c| c == '#').count();
        (1..=level).contains(&depth) && line[depth..].starts_with(' ')
    };
    lines.take_while(|line| !is_end(line)).collect::<Vec<_>>().join("\n")
}
