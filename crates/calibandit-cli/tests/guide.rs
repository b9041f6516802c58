//! The guide, run: its files are written, its commands are given to the real program, and what comes out is compared
//! with what the page shows.
//!
//! * A block `toml NAME` is a file; `toml NAME append` adds to it.
//! * A block `console` has commands after `$`, and what they print. A line `...` stands for any lines.
//! * A block `rust` is a test of the library's documentation; a block `text` is only shown.
//! * A block `python NAME`, `sh NAME` or `yaml NAME` is a file that the Python package's tests run.
//!
//! All numbers are fixed by seeds. When drawn numbers change, or the wording of an answer, write the pages anew with
//! `CALIBANDIT_BLESS=1 cargo test -p calibandit-cli --test guide`, and read the difference.

#![allow(clippy::unwrap_used)] // a test may panic

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use tempfile::TempDir;

/// A fenced block: its info string and its lines.
struct Block {
    info: String,
    lines: Vec<String>,
}

/// A page: text and blocks in turn.
enum Part {
    Text(String),
    Block(Block),
}

fn parse(page: &str) -> Vec<Part> {
    let mut parts = Vec::new();
    let mut lines = page.lines();
    while let Some(line) = lines.next() {
        parts.push(match line.strip_prefix("```") {
            Some(info) => {
                let body = lines.by_ref().take_while(|line| *line != "```").map(str::to_string).collect();
                Part::Block(Block { info: info.to_string(), lines: body })
            }
            None => Part::Text(line.to_string()),
        });
    }
    parts
}

fn show(parts: &[Part]) -> String {
    let mut page = String::new();
    for part in parts {
        match part {
            Part::Text(line) => page += line,
            Part::Block(block) => page += &format!("```{}\n{}\n```", block.info, block.lines.join("\n")),
        }
        page.push('\n');
    }
    page
}

/// What a command prints: on standard output if all went well, on standard error otherwise.
fn answer(folder: &Path, command: &str) -> Vec<String> {
    let arguments = command.strip_prefix("calibandit ").expect("the guide runs nothing but calibandit");
    let output = Command::new(env!("CARGO_BIN_EXE_calibandit"))
        .args(arguments.split_whitespace())
        .current_dir(folder)
        .output()
        .unwrap();
    let text = if output.status.success() { output.stdout } else { output.stderr };
    let text = String::from_utf8(text).unwrap();
    let mut lines: Vec<String> = text.lines().map(|line| line.trim_end().to_string()).collect();
    // Where a block begins and ends is the page's business.
    lines.drain(..lines.iter().take_while(|line| line.is_empty()).count());
    lines.truncate(lines.iter().rposition(|line| !line.is_empty()).map_or(0, |last| last + 1));
    lines
}

/// Whether `actual` is `shown`, in which `...` stands for any lines.
fn agree(shown: &[String], actual: &[String]) -> bool {
    match (shown, actual) {
        ([], []) => true,
        ([gap, rest @ ..], _) if gap == "..." => (0..=actual.len()).any(|skip| agree(rest, &actual[skip..])),
        ([a, shown @ ..], [b, actual @ ..]) => a == b && agree(shown, actual),
        _ => false,
    }
}

/// Runs the commands of a block; gives the block as it should be, or `None` if it is.
fn run(block: &Block, folder: &Path) -> Option<Vec<String>> {
    let mut wanted = Vec::new();
    let mut fine = true;
    for command in block.lines.chunk_by(|_, next| !next.starts_with("$ ")) {
        let (first, shown) = command.split_first().unwrap();
        let actual = answer(folder, first.strip_prefix("$ ").expect("a command begins with `$ `"));
        wanted.push(first.clone());
        if agree(shown, &actual) {
            wanted.extend_from_slice(shown);
        } else {
            fine = false;
            wanted.extend(actual);
        }
    }
    (!fine).then_some(wanted)
}

fn check(page: &Path) {
    let text = fs::read_to_string(page).unwrap();
    let mut parts = parse(&text);
    assert_eq!(show(&parts), text, "{}: no trailing spaces, please", page.display());
    let folder = TempDir::new().unwrap();
    let mut wrong = String::new();
    for part in &mut parts {
        let Part::Block(block) = part else { continue };
        let info: Vec<&str> = block.info.split(' ').collect();
        match info[..] {
            ["toml", name] => fs::write(folder.path().join(name), block.lines.join("\n") + "\n").unwrap(),
            ["toml", name, "append"] => {
                let file = folder.path().join(name);
                let before = fs::read_to_string(&file).unwrap();
                fs::write(file, before + &block.lines.join("\n") + "\n").unwrap();
            }
            ["console"] => {
                if let Some(lines) = run(block, folder.path()) {
                    wrong += &format!("shown:\n{}\nprinted:\n{}\n", block.lines.join("\n"), lines.join("\n"));
                    block.lines = lines;
                }
            }
            ["rust" | "text" | "python"] | ["python" | "sh" | "yaml", _] => {}
            _ => panic!("{}: what is a block `{}`?", page.display(), block.info),
        }
    }
    if std::env::var_os("CALIBANDIT_BLESS").is_some() {
        fs::write(page, show(&parts)).unwrap();
    } else {
        assert!(wrong.is_empty(), "{}\n{wrong}", page.display());
    }
}

fn guide() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/guide")
}

#[test]
fn every_page_shows_what_happens() {
    let mut pages: Vec<PathBuf> = fs::read_dir(guide()).unwrap().map(|entry| entry.unwrap().path()).collect();
    pages.sort();
    assert!(pages.len() >= 5);
    pages.iter().for_each(|page| check(page));
}

#[test]
fn every_page_with_rust_is_a_doc_test() {
    let doc_tests = fs::read_to_string(guide().join("../../xtask/src/lib.rs")).unwrap();
    for entry in fs::read_dir(guide()).unwrap() {
        let page = entry.unwrap().path();
        let name = page.file_name().unwrap().to_str().unwrap();
        if fs::read_to_string(&page).unwrap().contains("```rust") {
            assert!(doc_tests.contains(&format!("docs/guide/{name}\"")), "{name} is not in xtask/src/lib.rs");
        }
    }
}

#[test]
fn the_experiments_behind_the_account_of_the_reproduction_are_sound() {
    for entry in fs::read_dir(guide().join("../../experiments/claims")).unwrap() {
        let file = entry.unwrap().path();
        let checked = answer(&guide(), &format!("calibandit check {}", file.display()));
        assert!(checked.iter().any(|line| line.contains("(exact)")), "{}: {checked:?}", file.display());
    }
}
