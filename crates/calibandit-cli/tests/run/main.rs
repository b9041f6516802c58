//! Experiments run by the real program in temporary folders: results, shards, interruption, errors, large input.

#![allow(clippy::unwrap_used)] // a test may panic

mod check;
mod large;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::time::{Duration, Instant};

use serde_json::Value;
use tempfile::TempDir;

const EXPERIMENT: &str = r#"
name = "small"
horizon = 3_000
instances = 4
seed = 5
checkpoints = { points = 10 }

[game]
kind = "darts"
arms = 4

[[policy]]
kind = "successive-elimination"
memory_bound = 2
radius = "hoeffding"

[[policy]]
kind = "exp3"

[[policy]]
kind = "epoch-ucb"
memory_bound = 2

[sweep]
"policy.memory_bound" = [2, 5]
"#;

fn program(folder: &Path) -> Command {
    let mut program = Command::new(env!("CARGO_BIN_EXE_calibandit"));
    program.current_dir(folder);
    program
}

fn calibandit(folder: &Path, arguments: &[&str]) -> Output {
    program(folder).args(arguments).output().expect("the program starts")
}

/// Runs a command that must succeed, and returns its standard output.
fn run(folder: &Path, arguments: &[&str]) -> String {
    let output = calibandit(folder, arguments);
    assert!(output.status.success(), "{arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}

fn folder_with(text: &str) -> TempDir {
    let folder = TempDir::new().unwrap();
    fs::write(folder.path().join("small.toml"), text).unwrap();
    folder
}

fn read(folder: &Path, out: &str, file: &str) -> Vec<u8> {
    let path: PathBuf = [folder, Path::new(out), Path::new(file)].iter().collect();
    fs::read(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

#[test]
fn run_writes_tables_manifest_figures_and_report() {
    let folder = folder_with(EXPERIMENT);
    let closing = run(folder.path(), &["run", "small.toml", "--out", "out", "--tables"]);
    assert!(closing.contains("M=2") && closing.contains("± stderr") && closing.contains("EXP3"), "{closing}");
    let closing = run(folder.path(), &["run", "small.toml", "--out", "out"]);
    assert!(closing.contains("M = 2: ") && closing.contains(" times its CPR ("), "{closing}");
    assert!(closing.ends_with("tables: out/*.csv\nreport: out/report.html\n"), "{closing}");
    assert!(closing.lines().all(|line| line.chars().count() <= 80), "{closing}");

    let results = String::from_utf8(read(folder.path(), "out", "results.csv")).unwrap();
    let mut lines = results.lines();
    assert_eq!(lines.next(), Some("experiment,game,policy,instance,t,loss,cpr,switches,policy.memory_bound"));
    // 2 points of the sweep, 3 policies, 4 instances, 10 checkpoints.
    assert_eq!(lines.clone().count(), 2 * 3 * 4 * 10);
    for line in lines {
        let fields: Vec<&str> = line.split(',').collect();
        assert_eq!(fields[0], "small");
        assert_eq!(fields[1], format!("M={}", fields[8]), "the swept value is also a column");
        assert!(fields[6].parse::<f64>().unwrap() > -1e-9, "negative regret: {line}");
    }
    let summary = String::from_utf8(read(folder.path(), "out", "summary.csv")).unwrap();
    assert!(summary.starts_with(SUMMARY_COLUMNS));
    assert_eq!(summary.lines().count(), 1 + 2 * 3 * 10);

    let manifest: Value = serde_json::from_slice(&read(folder.path(), "out", "manifest.json")).unwrap();
    let experiment = &manifest["experiments"][0];
    assert_eq!(experiment["spec"]["seed"], 5);
    assert_eq!(experiment["spec"]["game"]["calibrated"], serde_json::json!([0.58, 0.62]), "defaults are filled in");
    let exp3 = &experiment["points"][0]["policies"][1];
    assert!(exp3["gamma"].as_f64().unwrap() > 0.0, "defaults that depend on the horizon are filled in: {exp3}");
    assert!(manifest["generator"].as_str().unwrap().contains("xoshiro256++"));

    assert!(read(folder.path(), "out", "results.parquet").starts_with(b"PAR1"));
    assert!(read(folder.path(), "out", "figures/small.svg").starts_with(b"<svg"));
    assert!(read(folder.path(), "out", "figures/small.png").starts_with(b"\x89PNG"));
    assert!(read(folder.path(), "out", "report.html").starts_with(b"<!DOCTYPE html>"));
    let left: Vec<_> = fs::read_dir(folder.path().join("out")).unwrap().map(|e| e.unwrap().file_name()).collect();
    assert!(!left.iter().any(|name| name.to_string_lossy().starts_with('.')), "left behind: {left:?}");

    // `report` needs only the folder.
    let before = read(folder.path(), "out", "figures/small.svg");
    fs::remove_dir_all(folder.path().join("out/figures")).unwrap();
    run(folder.path(), &["report", "out"]);
    assert_eq!(read(folder.path(), "out", "figures/small.svg"), before);
}

const SUMMARY_COLUMNS: &str = "experiment,game,policy,t,instances,mean,stderr,median,p90,p99,max,policy.memory_bound\n";

const TABLES: [&str; 3] = ["results.csv", "results.parquet", "summary.csv"];

#[test]
fn results_do_not_depend_on_threads_or_shards() {
    let folder = folder_with(EXPERIMENT);
    run(folder.path(), &["run", "small.toml", "--out", "one", "--jobs", "1"]);
    run(folder.path(), &["run", "small.toml", "--out", "many", "--jobs", "7"]);
    for file in [&TABLES[..], &["manifest.json", "report.html", "figures/small.svg", "figures/small.png"]].concat() {
        assert_eq!(read(folder.path(), "one", file), read(folder.path(), "many", file), "{file}");
    }
    let shards = ["1/3", "2/3", "3/3"];
    for (shard, out) in shards.iter().zip(["a", "b", "c"]) {
        run(folder.path(), &["run", "small.toml", "--out", out, "--shard", shard]);
    }
    run(folder.path(), &["merge", "c", "a", "b", "--out", "merged"]);
    for file in [&TABLES[..], &["manifest.json", "figures/small.svg"]].concat() {
        assert_eq!(read(folder.path(), "one", file), read(folder.path(), "merged", file), "{file}");
    }
    run(folder.path(), &["run", "small.toml", "--out", "other", "--seed", "6"]);
    assert_ne!(read(folder.path(), "one", "results.csv"), read(folder.path(), "other", "results.csv"));
}

#[test]
fn folders_are_named_after_experiments_and_shards() {
    let folder = folder_with(EXPERIMENT);
    fs::write(folder.path().join("other.toml"), EXPERIMENT.replace("\"small\"", "\"other\"")).unwrap();
    let closing = run(folder.path(), &["run", "small.toml", "other.toml"]);
    assert!(
        closing.contains("report: out/small/report.html") && closing.contains("out/other/report.html"),
        "{closing}"
    );
    for shard in ["1/2", "2/2"] {
        run(folder.path(), &["run", "small.toml", "--shard", shard]);
    }
    let whole = read(folder.path(), "out/small", "results.csv");
    fs::remove_file(folder.path().join("out/small/results.csv")).unwrap();
    run(folder.path(), &["merge", "out/small/shard-1-of-2", "out/small/shard-2-of-2", "--out", "out/small"]);
    assert_eq!(read(folder.path(), "out/small", "results.csv"), whole);
    let both = run(folder.path(), &["run", "small.toml", "other.toml", "--out", "both"]);
    assert_eq!(both.matches("report: ").count(), 1, "{both}");
    let page = String::from_utf8(read(folder.path(), "both", "report.html")).unwrap();
    assert!(page.contains("<title>small and other</title>"));
}

#[test]
fn nothing_is_said_about_tests_if_there_is_one_policy() {
    let one = r#"
        name = "small"
        horizon = 100
        instances = 2
        game = { kind = "step" }
        policy = [{ kind = "ucb1" }]
    "#;
    let closing = run(folder_with(one).path(), &["run", "small.toml"]);
    assert!(closing.starts_with("small: UCB1 has CPR ") && !closing.contains("Tested"), "{closing}");
    let refused = calibandit(folder_with(one).path(), &["run", "small.toml", "--jobs", "-1"]);
    let message = String::from_utf8_lossy(&refused.stderr);
    assert!(message.contains("invalid value '-1' for '--jobs <N>'"), "{message}");
}

#[test]
fn results_of_another_experiment_are_replaced_only_by_force() {
    let folder = folder_with(EXPERIMENT);
    run(folder.path(), &["run", "small.toml", "--out", "out"]);
    run(folder.path(), &["run", "small.toml", "--out", "out", "--seed", "6"]);
    let kept = read(folder.path(), "out", "results.csv");
    fs::write(folder.path().join("other.toml"), EXPERIMENT.replace("\"small\"", "\"other\"")).unwrap();
    let refused = calibandit(folder.path(), &["run", "other.toml", "--out", "out"]);
    let message = String::from_utf8(refused.stderr).unwrap();
    assert_eq!(refused.status.code(), Some(1), "{message}");
    for part in ["out holds the results of the experiment `small`", "`--out`", "`--force`"] {
        assert!(message.contains(part), "{message}");
    }
    assert_eq!(read(folder.path(), "out", "results.csv"), kept);
    let refused = calibandit(folder.path(), &["paper", "fig2b", "--quick", "--out", "out"]);
    assert_eq!(refused.status.code(), Some(1));
    run(folder.path(), &["run", "other.toml", "--out", "out", "--force"]);
    assert!(folder.path().join("out/figures/other.svg").exists());
    assert!(!folder.path().join("out/figures/small.svg").exists(), "figures of the earlier experiment are removed");
}

#[test]
fn experiments_in_json_run_and_mistakes_in_them_have_a_place() {
    let folder = TempDir::new().unwrap();
    let text = r#"{
  "name": "small", "horizon": 500, "instances": 2,
  "game": {"kind": "step", "arms": 3, "memory": 2},
  "policy": [{"kind": "exp3", "gama": 0.1}, {"kind": "ucb1"}]
}"#;
    fs::write(folder.path().join("small.json"), text).unwrap();
    for command in ["run", "check"] {
        let refused = calibandit(folder.path(), &[command, "small.json"]);
        let message = String::from_utf8(refused.stderr).unwrap();
        assert_eq!(refused.status.code(), Some(2));
        assert!(message.contains("small.json:4:31") && message.contains("did you mean `gamma`?"), "{message}");
    }
    fs::write(folder.path().join("small.json"), text.replace("gama", "gamma")).unwrap();
    run(folder.path(), &["check", "small.json"]);
    let closing = run(folder.path(), &["run", "small.json"]);
    assert!(closing.contains("report: out/small/report.html"), "{closing}");
}

#[test]
fn no_instances_are_refused_by_the_name_of_the_option() {
    let folder = folder_with(EXPERIMENT);
    for command in [&["run", "small.toml", "--instances", "0"][..], &["paper", "--instances", "0"]] {
        let refused = calibandit(folder.path(), command);
        assert_eq!(refused.status.code(), Some(2));
        let message = String::from_utf8(refused.stderr).unwrap();
        assert!(
            message.contains("'--instances <N>': give a whole number from 1") && !message.contains("small.toml"),
            "{message}"
        );
    }
}

#[test]
fn report_says_what_is_wrong_with_a_folder() {
    let folder = folder_with(EXPERIMENT);
    for (path, part) in [("nowhere", "there is no folder nowhere"), (".", "it holds no `manifest.json`")] {
        let refused = calibandit(folder.path(), &["report", path]);
        let message = String::from_utf8(refused.stderr).unwrap();
        assert_eq!(refused.status.code(), Some(1));
        assert!(message.contains(part) && message.contains("out/NAME"), "{message}");
    }
}

#[test]
fn merge_refuses_shards_of_different_runs() {
    let folder = folder_with(EXPERIMENT);
    run(folder.path(), &["run", "small.toml", "--out", "a", "--shard", "1/2"]);
    run(folder.path(), &["run", "small.toml", "--out", "b", "--shard", "2/2", "--seed", "9"]);
    for (folders, why) in [
        (vec!["a"], "shard 2/2 is missing"),
        (vec!["a", "b"], "different experiments, seeds"),
        (vec!["a", "a"], "the same shard"),
        (vec!["a", "nowhere"], "nowhere"),
    ] {
        let output = calibandit(folder.path(), &[&["merge"], folders.as_slice(), &["--out", "merged"]].concat());
        let message = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(1), "{folders:?}: {message}");
        assert!(message.contains(why), "{folders:?}: {message}");
    }
    let refused = calibandit(folder.path(), &["run", "small.toml", "--shard", "3/2"]);
    assert_eq!(refused.status.code(), Some(2));
    assert!(String::from_utf8(refused.stderr).unwrap().contains("from 1 to N"));
}

#[test]
fn parts_of_a_run_are_not_reported_or_overwritten_as_if_they_were_all() {
    let folder = folder_with(EXPERIMENT);
    let refused = |arguments: &[&str], code: i32, part: &str| {
        let output = calibandit(folder.path(), arguments);
        let message = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(code), "{arguments:?}: {message}");
        assert!(message.contains(part), "{arguments:?}: {message}");
    };
    for shard in ["1/2", "2/2"] {
        run(folder.path(), &["run", "small.toml", "--out", &shard[..1], "--shard", shard]);
    }
    let kept = read(folder.path(), "1", "results.csv");
    refused(&["report", "1"], 1, "1 holds only shard 1/2: merge all 2 shards first");
    refused(&["merge", "1", "2", "--out", "1"], 1, "1 is one of the folders to merge");
    refused(&["merge", "1", "2", "--out", "./2/../1", "--force"], 1, "is one of the folders to merge");
    refused(&["run", "small.toml", "--shard", "1/1000000000000"], 2, "at most 1000000");
    assert_eq!(read(folder.path(), "1", "results.csv"), kept);
    // A shard by force over a whole run leaves no report of the whole run.
    run(folder.path(), &["merge", "1", "2", "--out", "whole"]);
    assert!(folder.path().join("whole/report.html").exists());
    refused(&["run", "small.toml", "--shard", "1/2", "--out", "whole"], 1, "holds the results of all shards");
    let closing = run(folder.path(), &["run", "small.toml", "--shard", "1/2", "--out", "whole", "--force"]);
    assert!(closing.ends_with("whole\n") && !folder.path().join("whole/report.html").exists(), "{closing}");
    assert!(!folder.path().join("whole/figures/small.svg").exists());
}

#[test]
fn mistake_in_a_file_is_reported_with_its_place_and_a_suggestion() {
    let folder = folder_with(&EXPERIMENT.replacen("memory_bound = 2", "memory_bond = 2", 1));
    for command in [&["run", "small.toml"][..], &["check", "small.toml"]] {
        let output = calibandit(folder.path(), command);
        let message = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(2));
        assert!(message.contains("small.toml:14:1") && message.contains("did you mean `memory_bound`?"), "{message}");
    }
    let missing = calibandit(folder.path(), &["run", "nowhere.toml"]);
    assert_eq!(missing.status.code(), Some(2));
    assert!(String::from_utf8(missing.stderr).unwrap().contains("nowhere.toml"));
}

#[test]
fn two_experiments_with_the_same_name_are_refused() {
    let folder = folder_with(EXPERIMENT);
    fs::write(folder.path().join("again.toml"), EXPERIMENT).unwrap();
    let output = calibandit(folder.path(), &["run", "small.toml", "again.toml"]);
    assert_eq!(output.status.code(), Some(2));
    assert!(String::from_utf8(output.stderr).unwrap().contains("give each its own `name`"));
}

const SHORT_BOUND: &str = "is told M = 3, but the game's memory is m = 4: no guarantee holds";

#[test]
fn run_warns_once_about_a_memory_bound_below_the_memory() {
    let short = r#"
        name = "short"
        horizon = 1_000
        instances = 3
        game = { kind = "step", arms = 3, memory = 4 }
        policy = [{ kind = "calibrated", memory_bound = 3 }, { kind = "exp3" }]
    "#;
    let folder = folder_with(short);
    let output = calibandit(folder.path(), &["run", "small.toml"]);
    let errors = String::from_utf8(output.stderr).unwrap();
    assert!(output.status.success(), "{errors}");
    assert_eq!(errors.matches(&format!("warning: calibrated {SHORT_BOUND}")).count(), 1, "{errors}");
    let enough = folder_with(&short.replace("memory_bound = 3", "memory_bound = 4"));
    let output = calibandit(enough.path(), &["run", "small.toml"]);
    assert!(!String::from_utf8(output.stderr).unwrap().contains("warning"));
}

/// After Ctrl-C the same command continues from the saved tasks, with the same results byte for byte.
#[cfg(unix)]
#[test]
fn interrupted_run_continues_where_it_stopped() {
    let slow = EXPERIMENT.replace("horizon = 3_000", "horizon = 400_000").replace("instances = 4", "instances = 12");
    let folder = folder_with(&slow);
    let mut child = program(folder.path())
        .args(["run", "small.toml", "--out", "out", "--jobs", "1"])
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let out = folder.path().join("out");
    let journal = || -> Option<PathBuf> {
        let files = fs::read_dir(&out).ok()?.map(|file| file.unwrap().path());
        files.into_iter().find(|path| path.extension().is_some_and(|extension| extension == "jsonl"))
    };
    let lines = || journal().and_then(|path| fs::read_to_string(path).ok()).map_or(0, |text| text.lines().count());
    let start = Instant::now();
    while lines() < 3 && start.elapsed() < Duration::from_secs(60) {
        std::thread::sleep(Duration::from_millis(5));
    }
    assert!(Command::new("kill").args(["-INT", &child.id().to_string()]).status().unwrap().success());
    let output = child.wait().unwrap();
    assert_eq!(output.code(), Some(130), "the run was interrupted before its end");
    let kept = lines();
    assert!(kept >= 3 && !folder.path().join("out/results.csv").exists());
    // An incomplete last line, as after a crash.
    let path = journal().unwrap();
    let mut text = fs::read_to_string(&path).unwrap();
    text.push_str("[\"0123\",{\"game\":0,\"pol");
    fs::write(&path, text).unwrap();

    // Texts and labels are not part of what finished tasks depend on.
    fs::write(folder.path().join("small.toml"), slow.replace("seed = 5", "seed = 5\ntitle = \"Small\"")).unwrap();
    let resumed = calibandit(folder.path(), &["run", "small.toml", "--out", "out"]);
    let notes = String::from_utf8(resumed.stderr).unwrap();
    assert!(resumed.status.success() && notes.contains("note: 1 record of out/.unfinished-small-"), "{notes}");
    run(folder.path(), &["run", "small.toml", "--out", "whole"]);
    for file in TABLES {
        assert_eq!(read(folder.path(), "out", file), read(folder.path(), "whole", file), "{file}");
    }
    assert_eq!(journal(), None);
}

#[test]
fn single_figure_of_the_paper_can_be_made() {
    let folder = TempDir::new().unwrap();
    let arguments = ["paper", "fig2b", "--quick", "--instances", "2", "--out", "out", "--json"];
    let json: Value = serde_json::from_str(&run(folder.path(), &arguments)).unwrap();
    assert_eq!(json[0]["experiment"], "fig2b");
    assert_eq!(json[0]["instances"], 2);
    assert!(read(folder.path(), "out", "figures/fig2b.png").starts_with(b"\x89PNG"));
}

#[test]
fn figures_of_the_paper_replace_each_other_and_the_output_is_short() {
    let folder = TempDir::new().unwrap();
    run(folder.path(), &["paper", "fig2b", "--quick", "--instances", "2", "--out", "out"]);
    let closing = run(folder.path(), &["paper", "--quick", "--instances", "2", "--out", "out"]);
    let widest = closing.lines().map(|line| line.chars().count()).max();
    assert!(widest <= Some(80) && closing.lines().count() <= 40, "{closing}");
    assert!(closing.contains("fig1a"), "{closing}");
}

/// An experiment of a user is not one of the paper's because of its name.
#[test]
fn figures_of_the_paper_do_not_replace_experiments_with_similar_names() {
    let folder = TempDir::new().unwrap();
    for name in ["f1-mine", "fig1a"] {
        fs::write(folder.path().join("own.toml"), EXPERIMENT.replace("\"small\"", &format!("\"{name}\""))).unwrap();
        run(folder.path(), &["run", "own.toml", "--out", name]);
        let refused = calibandit(folder.path(), &["paper", "fig2b", "--quick", "--instances", "1", "--out", name]);
        let message = String::from_utf8_lossy(&refused.stderr);
        assert!(message.contains(&format!("the results of the experiment `{name}`")), "{message}");
    }
}

/// The lap-time models are a figure without an experiment. The experiments use the models of the library.
#[test]
fn lap_time_models_are_a_section_of_the_report() {
    let folder = TempDir::new().unwrap();
    run(folder.path(), &["paper", "f1-models", "f1-main", "--quick", "--instances", "1", "--out", "out"]);
    assert!(read(folder.path(), "out", "figures/f1-models.svg").starts_with(b"<svg"));
    let report = String::from_utf8(read(folder.path(), "out", "report.html")).unwrap();
    let place = |title: &str| report.find(title).unwrap_or_else(|| panic!("{title} is not in the report"));
    assert!(place("Lap-time models of the ten pairs") < place("CPR over time, F1 tournament"));
    let refused = calibandit(folder.path(), &["paper", "f1-main", "--f1-data", "nowhere", "--out", "out"]);
    assert_eq!(refused.status.code(), Some(2), "{}", String::from_utf8_lossy(&refused.stderr));
}
