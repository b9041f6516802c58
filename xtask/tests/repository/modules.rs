//! ARCHITECTURE.md lists the modules that exist.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use crate::{PACKAGES, architecture_section, root};

/// The top-level modules of a crate, by the files in its `src`.
fn modules(source: &Path) -> BTreeSet<String> {
    let entries = fs::read_dir(source).unwrap().map(|entry| entry.unwrap().path());
    let rust = entries
        .filter(|path| path.extension().is_some_and(|extension| extension == "rs") || path.join("mod.rs").is_file());
    let names = rust.map(|path| path.file_stem().unwrap().to_str().unwrap().to_string());
    names.filter(|name| !["lib", "main"].contains(&name.as_str())).collect()
}

/// The names in the first column of a table: `| `name` | … |`.
fn listed(section: &str) -> BTreeSet<String> {
    let rows = section.lines().filter(|line| line.starts_with("| `"));
    let first_cells = rows.filter_map(|row| row.split('|').nth(1));
    first_cells.flat_map(|cell| cell.split('`').skip(1).step_by(2)).map(str::to_string).collect()
}

#[test]
fn the_module_map_matches_the_tree() {
    for package in PACKAGES.iter() {
        let folder = package.folder();
        let place = folder.strip_prefix(root()).unwrap_or(&folder).display().to_string();
        let section = architecture_section(&format!("### `{place}`"));
        assert_eq!(listed(&section), modules(&folder.join("src")), "modules of {place}");
    }
}
