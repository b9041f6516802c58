//! Rules about the text of the sources: names of types, length of lines.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use crate::{PACKAGES, read, root};

const MAX_COLUMNS: usize = 120;

fn rust_files(folder: &Path) -> Vec<PathBuf> {
    let mut files = Vec::new();
    for path in fs::read_dir(folder).into_iter().flatten().map(|entry| entry.unwrap().path()) {
        if path.is_dir() && path.file_name().is_some_and(|name| name != "target") {
            files.extend(rust_files(&path));
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            files.push(path);
        }
    }
    files.sort();
    files
}

/// A path as it is shown in messages.
fn shown(path: &Path) -> String {
    path.strip_prefix(root()).unwrap_or(path).display().to_string()
}

/// The name that a line defines, if it defines a type. A `type` that is indented is an associated type and has none.
fn defined_type(line: &str) -> Option<&str> {
    let code = line.trim_start();
    let code = match code.strip_prefix("pub") {
        Some(rest) => rest.split_once(' ').map_or(rest, |(_, rest)| rest),
        None => code,
    };
    let (keyword, rest) = code.split_once(' ')?;
    let is_type = match keyword {
        "struct" | "enum" | "trait" | "union" => true,
        "type" => !line.starts_with(' '),
        _ => false,
    };
    let name = rest.split(|c: char| !c.is_alphanumeric() && c != '_').next()?;
    (is_type && name.starts_with(|c: char| c.is_ascii_uppercase())).then_some(name)
}

#[test]
fn each_type_name_is_defined_once() {
    let mut places: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for path in PACKAGES.iter().flat_map(|package| rust_files(&package.folder().join("src"))) {
        let text = read(&path);
        // Unit tests stand at the end of their file.
        let code = text.split("#[cfg(test)]\nmod tests").next().unwrap();
        for (number, line) in code.lines().enumerate() {
            if let Some(name) = defined_type(line) {
                places.entry(name.to_string()).or_default().push(format!("{}:{}", shown(&path), number + 1));
            }
        }
    }
    places.retain(|_, places| places.len() > 1);
    assert!(places.is_empty(), "{places:#?}");
}

#[test]
fn type_definitions_are_recognised() {
    assert_eq!(defined_type("pub(crate) struct Run {"), Some("Run"));
    assert_eq!(defined_type("    enum Phase<T> {"), Some("Phase"));
    assert_eq!(defined_type("pub type Stream = Other;"), Some("Stream"));
    assert_eq!(defined_type("    type Err = Other;"), None);
    assert_eq!(defined_type("pub fn run() {"), None);
    assert_eq!(defined_type("/// struct Run"), None);
}

#[test]
fn no_line_of_rust_is_longer_than_120_columns() {
    let mut long = Vec::new();
    for path in ["crates", "fuzz", "xtask"].iter().flat_map(|folder| rust_files(&root().join(folder))) {
        for (number, line) in read(&path).lines().enumerate() {
            if line.chars().count() > MAX_COLUMNS {
                long.push(format!("{}:{}", shown(&path), number + 1));
            }
        }
    }
    assert!(long.is_empty(), "{} lines:\n{}", long.len(), long.join("\n"));
}
