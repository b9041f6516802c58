//! The direction of dependencies, and the reasons for those on crates of others.

use std::collections::BTreeSet;

use crate::{PACKAGES, architecture_section};

/// Each crate of this workspace with the others that it may depend on.
const ALLOWED: [(&str, &[&str]); 11] = [
    ("calibandit", &[]),
    ("calibandit-experiment", &["calibandit"]),
    ("calibandit-fit", &["calibandit"]),
    ("calibandit-serve", &["calibandit"]),
    ("calibandit-report", &["calibandit", "calibandit-experiment", "calibandit-fit"]),
    ("calibandit-paper", &["calibandit", "calibandit-experiment", "calibandit-fit", "calibandit-report"]),
    (
        "calibandit-cli",
        &[
            "calibandit",
            "calibandit-experiment",
            "calibandit-fit",
            "calibandit-paper",
            "calibandit-report",
            "calibandit-serve",
        ],
    ),
    (
        "calibandit-py",
        &[
            "calibandit",
            "calibandit-cli",
            "calibandit-experiment",
            "calibandit-fit",
            "calibandit-paper",
            "calibandit-report",
        ],
    ),
    ("calibandit-fuzz", &["calibandit", "calibandit-experiment", "calibandit-fit"]),
    ("xtask", &["calibandit"]),
    ("xtask-generate", &["calibandit"]),
];

#[test]
fn crates_depend_only_on_crates_below_them() {
    let names: BTreeSet<&str> = PACKAGES.iter().map(|package| package.name()).collect();
    assert_eq!(names, ALLOWED.iter().map(|(name, _)| *name).collect(), "every crate has a line in ALLOWED");
    for package in PACKAGES.iter() {
        let (name, allowed) = ALLOWED.iter().find(|(name, _)| *name == package.name()).unwrap();
        for dependency in package.dependencies().filter(|dependency| names.contains(dependency)) {
            // A crate may turn on its own features for its tests.
            let is_allowed = allowed.contains(&dependency) || dependency == *name;
            assert!(is_allowed, "{name} must not depend on {dependency}");
        }
    }
}

#[test]
fn every_dependency_is_listed_with_its_reason() {
    let ours: BTreeSet<&str> = PACKAGES.iter().map(|package| package.name()).collect();
    let all = PACKAGES.iter().flat_map(|package| package.dependencies());
    let used: BTreeSet<String> = all.filter(|name| !ours.contains(name)).map(str::to_string).collect();
    let table = architecture_section("## Dependencies");
    let rows = table.lines().filter(|line| line.starts_with("| ")).skip(1);
    let listed: BTreeSet<String> =
        rows.filter_map(|row| row.split([' ', '|']).find(|word| !word.is_empty())).map(str::to_string).collect();
    assert_eq!(used, listed);
}
