//! Runs the pages of the guide and the tutorial with the real program.
//!
//! Each page is rebuilt from its own blocks and compared with the file:
//!
//! * A block `toml NAME` is a file that the test writes; `toml NAME append` adds to it.
//! * A block `csv NAME` shows the first lines of a file beside the page, which the test copies.
//! * A block `console` has shell commands after `$ `, each followed by its output. A line `...` stands for any lines,
//!   `[..]` for any characters.
//! * Blocks `rust` are documentation tests of `xtask`. Blocks `python`, `sh NAME` and `yaml NAME` are run by the tests
//!   of the Python package. Blocks `text` are only shown.
//!
//! All numbers are fixed by seeds. When drawn numbers or the wording of an output change, update the pages with
//! `SNAPSHOTS=overwrite cargo test -p calibandit-cli --test guide`, and read the difference.

#![cfg(unix)] // commands run in a POSIX shell
#![allow(clippy::unwrap_used)] // a test may panic

use std::env;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use snapbox::data::DataFormat;
use snapbox::{Assert, Data};
use tempfile::TempDir;

fn docs() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs")
}

/// The output of a shell command: standard output if it succeeds, otherwise standard error. Blank lines at both ends
/// and trailing spaces are removed.
fn output(folder: &Path, command: &str) -> String {
    let program = Path::new(env!("CARGO_BIN_EXE_calibandit")).parent().unwrap().to_path_buf();
    let path = env::split_paths(&env::var_os("PATH").unwrap_or_default()).collect::<Vec<_>>();
    let path = env::join_paths([program].into_iter().chain(path)).unwrap();
    let output = Command::new("sh")
        .args(["-c", command])
        .env("PATH", path)
        .env("COLUMNS", "80")
        .current_dir(folder)
        .output()
        .unwrap();
    let text = String::from_utf8(if output.status.success() { output.stdout } else { output.stderr }).unwrap();
    let lines: Vec<&str> = text.trim_matches('\n').lines().map(str::trim_end).collect();
    lines.join("\n")
}

/// The page as its blocks make it: with the real output of every command and the real contents of every file.
fn rebuild(page: &str, beside: &Path) -> String {
    let folder = TempDir::new().unwrap();
    let mut rebuilt = Vec::new();
    let mut lines = page.lines();
    while let Some(line) = lines.next() {
        rebuilt.push(line.to_string());
        let Some(info) = line.strip_prefix("```") else { continue };
        let body: Vec<&str> = lines.by_ref().take_while(|line| *line != "```").collect();
        let mut content = body.join("\n");
        match info.split(' ').collect::<Vec<_>>()[..] {
            ["toml", name] => fs::write(folder.path().join(name), format!("{content}\n")).unwrap(),
            ["toml", name, "append"] => {
                let before = fs::read_to_string(folder.path().join(name)).unwrap();
                fs::write(folder.path().join(name), format!("{before}{content}\n")).unwrap();
            }
            ["csv", name] => {
                let file = fs::read_to_string(beside.join(name)).unwrap();
                content = file.lines().take(body.len()).collect::<Vec<_>>().join("\n");
                fs::write(folder.path().join(name), file).unwrap();
            }
            ["console"] => {
                let commands = body.iter().filter_map(|line| line.strip_prefix("$ "));
                let run = commands.map(|command| format!("$ {command}\n{}", output(folder.path(), command)));
                content = run.map(|text| text.trim_end().to_string()).collect::<Vec<_>>().join("\n");
            }
            ["rust" | "text" | "python"] | ["python" | "sh" | "yaml", _] => {}
            _ => panic!("a block `{info}` is not described in this test"),
        }
        rebuilt.extend([content, "```".to_string()]);
    }
    rebuilt.join("\n") + "\n"
}

fn check(page: &str) {
    let path = docs().join(page);
    let actual = rebuild(&fs::read_to_string(&path).unwrap(), path.parent().unwrap());
    let assert = Assert::new().action_env(snapbox::assert::DEFAULT_ACTION_ENV).normalize_paths(false);
    assert.eq(actual, Data::read_from(&path, Some(DataFormat::Text)));
}

macro_rules! pages {
    ($($test:ident: $page:literal,)*) => {
        $(#[test] fn $test() { check($page); })*

        #[test]
        fn every_page_is_run() {
            for folder in ["guide", "tutorials"] {
                for entry in fs::read_dir(docs().join(folder)).unwrap() {
                    let name = entry.unwrap().file_name().into_string().unwrap();
                    let page = format!("{folder}/{name}");
                    assert!(!name.ends_with(".md") || [$($page),*].contains(&page.as_str()), "{page} is not tested");
                }
            }
        }
    };
}

pages! {
    fit_your_own: "tutorials/fit-your-own.md",
    diagnose: "guide/diagnose.md",
    first_experiment: "guide/first-experiment.md",
    gymnasium: "guide/gymnasium.md",
    many_users: "how-to/many-users.md",
    live_service: "guide/live-service.md",
    python: "guide/python.md",
    reading_cpr: "guide/reading-cpr.md",
    scale: "guide/scale.md",
    which_memory_bound: "guide/which-memory-bound.md",
    which_model: "guide/which-model.md",
    which_policy: "guide/which-policy.md",
    your_own_game: "guide/your-own-game.md",
    your_own_policy: "guide/your-own-policy.md",
}

#[test]
fn every_page_with_rust_is_a_doc_test() {
    let doc_tests = fs::read_to_string(docs().join("../xtask/src/lib.rs")).unwrap();
    for entry in fs::read_dir(docs().join("guide")).unwrap() {
        let page = entry.unwrap().path();
        let name = page.file_name().unwrap().to_str().unwrap();
        if fs::read_to_string(&page).unwrap().contains("```rust") {
            assert!(doc_tests.contains(&format!("docs/guide/{name}\"")), "{name} is not in xtask/src/lib.rs");
        }
    }
}
