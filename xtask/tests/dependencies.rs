//! ARCHITECTURE.md lists every crate that the manifests depend on, and no other.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

/// The names in the dependency tables of a manifest, but for the workspace's own crates.
fn dependencies(manifest: &str) -> impl Iterator<Item = String> + '_ {
    let mut inside = false;
    manifest.lines().filter_map(move |line| {
        if line.starts_with('[') {
            inside = line.trim_end().ends_with("dependencies]");
            return None;
        }
        let name: String = line.chars().take_while(|c| c.is_ascii_alphanumeric() || "-_".contains(*c)).collect();
        (inside && !name.is_empty() && !name.starts_with("calibandit")).then_some(name)
    })
}

fn read(path: impl AsRef<Path>) -> String {
    fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.as_ref().display()))
}

#[test]
fn every_dependency_is_listed_with_its_reason() {
    let mut used: BTreeSet<String> = dependencies(&read(root().join("Cargo.toml"))).collect();
    used.extend(dependencies(&read(root().join("xtask/Cargo.toml"))));
    for entry in fs::read_dir(root().join("crates")).unwrap() {
        used.extend(dependencies(&read(entry.unwrap().path().join("Cargo.toml"))));
    }
    let architecture = read(root().join("ARCHITECTURE.md"));
    let (_, table) = architecture.split_once("\n## Dependencies\n").unwrap();
    let rows = table.lines().filter(|line| line.starts_with("| ")).skip(1);
    let listed: BTreeSet<String> =
        rows.filter_map(|row| row.split([' ', '|']).find(|word| !word.is_empty())).map(str::to_string).collect();
    assert_eq!(used, listed);
}
