//! The real program, run as a user runs it.

use std::process::{Command, Output};

fn calibandit(arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_calibandit")).args(arguments).output().expect("the program starts")
}

fn headings(command: &str) -> Vec<String> {
    let output = calibandit(&[command]);
    assert_eq!(output.status.code(), Some(0));
    let text = String::from_utf8_lossy(&output.stdout);
    text.lines().filter(|line| !line.is_empty() && !line.starts_with(' ')).map(str::to_string).collect()
}

#[test]
fn games_and_policies_are_listed_by_name() {
    let games: Vec<_> = calibandit::GameSpec::kinds().iter().map(|kind| kind.name).collect();
    assert_eq!(headings("games"), games);
    let policies: Vec<_> = calibandit::PolicySpec::kinds().iter().map(|kind| kind.name).collect();
    assert_eq!(headings("policies"), policies);
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
