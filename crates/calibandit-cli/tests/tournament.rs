//! A small tournament, run by the real program in a temporary folder.

#![allow(clippy::unwrap_used)] // a test may panic

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::process::{Command, Output};

use tempfile::TempDir;

const SMALL: [&str; 6] = ["tournament", "--quick", "--instances", "1", "--random-games", "6"];
const FILES: [&str; 7] =
    ["games.csv", "policies.csv", "head-to-head.csv", "instances.csv", "manifest.json", "tournament.md", "report.html"];

fn calibandit(folder: &Path, arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_calibandit")).current_dir(folder).args(arguments).output().unwrap()
}

fn small(folder: &Path, more: &[&str]) -> String {
    let output = calibandit(folder, &[&SMALL, more].concat());
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}

/// The rows of a table as maps from column to cell.
fn table(path: &Path) -> Vec<BTreeMap<String, String>> {
    csv::Reader::from_path(path).unwrap().deserialize().map(Result::unwrap).collect()
}

#[test]
#[ignore = "slow: a whole tournament"]
fn tournament_writes_consistent_tables_and_a_page() {
    let folder = TempDir::new().unwrap();
    let closing = small(folder.path(), &["--out", "out", "--markdown", "table.md"]);
    assert!(closing.contains("Random games") && closing.contains("mean rank"), "{closing}");
    assert!(closing.lines().all(|line| line.chars().count() <= 80), "{closing}");
    let out = folder.path().join("out");
    for file in FILES {
        assert!(out.join(file).exists(), "{file}");
    }
    assert_eq!(fs::read(folder.path().join("table.md")).unwrap(), fs::read(out.join("tournament.md")).unwrap());

    let mut by_game: BTreeMap<(String, String), Vec<BTreeMap<String, String>>> = BTreeMap::new();
    for row in table(&out.join("games.csv")) {
        by_game.entry((row["group"].clone(), row["game"].clone())).or_default().push(row);
    }
    assert!(by_game.len() > 8 + 8 + 10 + 6);
    let number = |row: &BTreeMap<String, String>, key: &str| row[key].parse::<f64>().ok();
    for (game, rows) in &by_game {
        assert_eq!(rows.len(), by_game.values().next().unwrap().len());
        // Ranks follow the means and have the right sum, and the wins of all policies add up to the instances.
        let mut ranked: Vec<(f64, f64)> = rows
            .iter()
            .filter_map(|row| Some((number(row, "rank")?, number(row, "mean").unwrap_or(f64::INFINITY))))
            .collect();
        ranked.sort_by(|a, b| a.0.total_cmp(&b.0));
        assert!(ranked.windows(2).all(|pair| pair[0].1 <= pair[1].1), "{game:?}: {ranked:?}");
        let n = ranked.len() as f64;
        assert!((ranked.iter().map(|each| each.0).sum::<f64>() - n * (n + 1.0) / 2.0).abs() < 1e-9);
        let won: f64 = rows.iter().filter_map(|row| Some(number(row, "win_rate")? * number(row, "instances")?)).sum();
        let instances = rows.iter().filter_map(|row| number(row, "instances")).fold(0.0, f64::max);
        assert!((won - instances).abs() < 1e-9, "{game:?}: {won} of {instances}");
        for row in rows.iter().filter(|row| row["status"] == "played") {
            let [low, share, high] = ["win_low", "win_rate", "win_high"].map(|key| number(row, key).unwrap());
            assert!(low <= share && share <= high);
            assert!(number(row, "mean").unwrap() >= -1e-6 && number(row, "times_best").unwrap() >= 1.0);
        }
    }
    // The paper's Algorithm 1 needs an epoch of 4KM = 3,200 plays. A hundredth of the preview's horizon is shorter.
    let short = &by_game[&("short".to_string(), "step, K = 20, m = 10, M = 40".to_string())];
    assert_eq!(short.iter().find(|row| row["policy"] == "SE").unwrap()["status"], "cannot");
}

#[test]
#[ignore = "slow: two tournaments"]
fn results_do_not_depend_on_the_number_of_threads() {
    let folder = TempDir::new().unwrap();
    let one = small(folder.path(), &["--out", "one", "--jobs", "1"]);
    let many = small(folder.path(), &["--out", "many", "--jobs", "3"]);
    assert_eq!(one.replace("one/", ""), many.replace("many/", ""));
    for file in FILES.into_iter().chain(["figures/random.svg", "figures/paper.png"]) {
        let [one, many] = ["one", "many"].map(|out| fs::read(folder.path().join(out).join(file)).unwrap());
        assert!(one == many, "{file}");
    }
}

#[test]
fn zero_instances_are_a_usage_error() {
    let folder = TempDir::new().unwrap();
    let output = calibandit(folder.path(), &["tournament", "--instances", "0"]);
    assert_eq!(output.status.code(), Some(2));
    assert!(String::from_utf8(output.stderr).unwrap().contains("--instances"));
}
