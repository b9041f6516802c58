//! The real program, run as a user runs it.

use std::process::{Command, Output};

fn calibandit(arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_calibandit")).args(arguments).output().expect("the program starts")
}

#[test]
fn games_are_listed_by_name() {
    let output = calibandit(&["games"]);
    assert_eq!(output.status.code(), Some(0));
    let text = String::from_utf8(output.stdout).unwrap();
    for kind in calibandit::GameSpec::kinds() {
        assert!(text.lines().any(|line| line == kind.name), "{}", kind.name);
    }
}

#[test]
fn help_is_shown_without_arguments() {
    let output = calibandit(&[]);
    assert_eq!(output.status.code(), Some(0));
    assert_eq!(output.stdout, calibandit(&["--help"]).stdout);
}

#[test]
fn what_is_not_understood_is_a_usage_error() {
    let output = calibandit(&["gmaes"]);
    assert_eq!(output.status.code(), Some(2));
    assert!(output.stdout.is_empty());
    assert!(String::from_utf8(output.stderr).unwrap().contains("`gmaes`"));
}
