//! The command `pilot`, run by the real program.

#![allow(clippy::unwrap_used)] // a test may panic

use std::process::{Command, Output};

use serde_json::Value;

fn calibandit(arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_calibandit")).args(arguments).output().unwrap()
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8(bytes.to_vec()).unwrap()
}

#[test]
fn a_plan_is_a_table_of_runs_and_a_summary() {
    let output = calibandit(&["pilot", "--arms", "slim, heap,\"q\"", "--longest", "8", "--sd", "0.2", "--drop", "0.3"]);
    assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
    let mut plays = std::collections::BTreeMap::new();
    let mut table = csv::Reader::from_reader(output.stdout.as_slice());
    assert_eq!(table.headers().unwrap(), &csv::StringRecord::from(vec!["arm", "plays"]));
    for row in table.deserialize() {
        let (arm, count): (String, u64) = row.unwrap();
        assert!((1..=16).contains(&count));
        *plays.entry(arm).or_insert(0) += count;
    }
    assert_eq!(plays.keys().collect::<Vec<_>>(), ["\"q\"", "heap", "slim"]);
    let each = plays["slim"];
    assert!(plays.values().all(|&count| count == each));
    let summary = text(&output.stderr).replace('\n', " ");
    assert!(summary.starts_with(&format!("{} plays: {each} of each of 3 arms, in ", 3 * each)), "{summary}");
    assert!(summary.contains("no arm remembers more than 8 plays"), "{summary}");
}

#[test]
fn the_belief_decides_the_design_and_the_seed_the_order() {
    let plan = |more: &[&str]| -> Value {
        let output = calibandit(&[&["pilot", "--arms", "a,b", "--longest", "6", "--json"], more].concat());
        serde_json::from_slice(&output.stdout).unwrap()
    };
    let tallying = plan(&[]);
    assert_eq!((&tallying["design"], &tallying["seed"]), (&"tallying".into(), &1.into()));
    assert_eq!(tallying, plan(&["--believe", "tallying", "--sd", "0.5", "--drop", "0.1"]));
    assert_ne!(tallying["runs"], plan(&["--seed", "2"])["runs"]);
    let blocks = plan(&["--believe", "nothing", "--tolerance", "0.25"]);
    assert_eq!((&blocks["design"], &blocks["drop"]), (&"blocks".into(), &0.25.into()));
    assert!(blocks["runs"].as_array().unwrap().iter().all(|run| run["plays"] == 9));
    assert!(blocks["answers"].as_str().unwrap().contains("Nothing else is assumed"));
}

#[test]
fn mistakes_are_usage_errors() {
    for (arguments, part) in [
        (&["--arms", "a", "--longest", "8"][..], "at least two arms"),
        (&["--arms", "a,b,a", "--longest", "8"], "`a` twice"),
        (&["--arms", "a,,b", "--longest", "8"], "an empty name"),
        (&["--arms", "a,b", "--longest", "0"], "'--longest <N>': give a whole number from 1"),
        (&["--arms", "a,b", "--longest", "-4"], "invalid value '-4'"),
        (&["--arms", "a,b", "--longest", "8", "--drop", "0"], "`--drop` is 0, but must be a positive number"),
        (&["--arms", "a,b", "--longest", "8", "--sd", "nan"], "`--sd` is NaN, but must be a positive number"),
        (&["--arms", "a,b", "--longest", "8", "--drop", "1e-9"], "a larger difference worth finding"),
        (&["--arms", "a,b"], "--longest"),
        (&["--arms", "a,b", "--longest", "8", "--believe", "all"], "tallying, nothing"),
    ] {
        let output = calibandit(&[&["pilot"], arguments].concat());
        let message = text(&output.stderr);
        assert_eq!(output.status.code(), Some(2), "{arguments:?}: {message}");
        assert!(output.stdout.is_empty() && message.contains(part), "{arguments:?}: {message}");
    }
}
