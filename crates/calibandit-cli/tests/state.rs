//! `calibandit state` with the real program.

#![allow(clippy::unwrap_used)] // a test may panic

use std::fs;
use std::path::Path;
use std::process::{Command, Output};

use calibandit::policy::Calibrated;
use calibandit::{Advisor, AnyPolicy};
use serde_json::{Value, json};
use tempfile::TempDir;

fn state(arguments: &[&str], file: &Path) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_calibandit"));
    command.arg("state").args(arguments).arg(file).output().expect("the program starts")
}

/// An advisor that knows that arm 1 is better.
fn used() -> Advisor<AnyPolicy> {
    let mut advisor = Advisor::builder(Calibrated::builder(3), 2).horizon(500).build().unwrap();
    for _ in 0..400 {
        let decision = advisor.ask().unwrap();
        advisor.tell(decision.id, if decision.arm == 1 { 0.2 } else { 0.6 }).unwrap();
    }
    advisor
}

/// The snapshot as Python saves it: with the names of the arms.
fn named(advisor: &Advisor<AnyPolicy>) -> String {
    let saved: Value = serde_json::from_str(&advisor.to_json().unwrap()).unwrap();
    json!({ "calibandit_python": 2, "arms": ["ada", "b\u{7}o"], "label": "calibrated", "advisor": saved }).to_string()
}

#[test]
fn a_snapshot_is_shown_as_a_table_with_what_is_certain() {
    let folder = TempDir::new().unwrap();
    let (file, advisor) = (folder.path().join("a.json"), used());
    fs::write(&file, advisor.to_json().unwrap()).unwrap();
    let output = state(&[], &file);
    assert_eq!(output.status.code(), Some(0));
    let text = String::from_utf8(output.stdout).unwrap();
    assert_eq!(text, advisor.state().to_text(|arm| format!("arm {arm}")));
    assert!(text.contains("ruled out") && text.contains("with 95 %, arm 1 is within 0."), "{text}");
    assert!(text.contains("monitor: no sign that the memory bound 3 is too small"), "{text}");
}

#[test]
fn names_of_arms_are_those_of_python() {
    let folder = TempDir::new().unwrap();
    let (file, advisor) = (folder.path().join("a.json"), used());
    fs::write(&file, named(&advisor)).unwrap();
    let text = String::from_utf8(state(&[], &file).stdout).unwrap();
    assert!(text.contains("ada") && !text.contains('\u{7}'), "control characters are escaped: {text:?}");
    let json: Value = serde_json::from_slice(&state(&["--json"], &file).stdout).unwrap();
    assert_eq!((&json["recommended"], &json["arms"][0]["arm"]), (&json!("b\u{7}o"), &json!("ada")));
    assert_eq!(json["arms"][1]["status"], "leading");
    assert_eq!(json["monitor"]["alarm"], false);
    for column in ["plays", "measured", "mean", "low", "high", "evidence", "threshold"] {
        assert!(json["arms"][0][column].is_number(), "{column}: {json}");
    }
}

#[test]
fn damaged_and_missing_files_are_reported() {
    let folder = TempDir::new().unwrap();
    let file = folder.path().join("a.json");
    assert_eq!(state(&[], &file).status.code(), Some(2), "there is no such file");
    let edited = used().to_json().unwrap().replace("\"horizon\":500", "\"horizon\":501");
    fs::write(&file, &edited).unwrap();
    let refused = state(&[], &file);
    assert_eq!(refused.status.code(), Some(2));
    assert!(String::from_utf8(refused.stderr).unwrap().contains("checksum"));
    for (text, part) in
        [("{", "EOF"), ("{}", "calibandit_advisor"), (r#"{"calibandit_python": 2}"#, "calibandit_advisor")]
    {
        fs::write(&file, text).unwrap();
        let refused = state(&[], &file);
        assert_eq!(refused.status.code(), Some(2), "{text}");
        let message = String::from_utf8(refused.stderr).unwrap();
        assert!(message.contains(part) && message.contains("a.json"), "{message}");
    }
}
