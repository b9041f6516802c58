//! Help, lists and usage errors of the real program.

#![allow(clippy::unwrap_used)] // a test may panic

use std::process::{Command, Output, Stdio};

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
    let games: Vec<_> = calibandit::GameSpec::KINDS.to_vec();
    assert_eq!(headings("games"), games);
    assert_eq!(headings("policies"), calibandit::PolicySpec::KINDS);
}

#[test]
fn help_lists_all_commands_and_the_exit_codes() {
    let output = calibandit(&["--help"]);
    assert_eq!(output.status.code(), Some(0));
    let help = String::from_utf8(output.stdout).unwrap();
    for command in [
        "paper",
        "run",
        "merge",
        "tournament",
        "check",
        "report",
        "f1",
        "fit",
        "games",
        "policies",
        "schema",
        "completions",
    ] {
        assert!(help.contains(&format!("\n  {command} ")), "{command} is missing in {help}");
    }
    assert!(help.contains("Exit codes: 0 success"));
    assert_eq!(calibandit(&[]).status.code(), Some(2));
}

#[test]
fn unknown_commands_and_names_are_usage_errors_with_a_suggestion() {
    for (arguments, meant) in [(vec!["gmaes"], "games"), (vec!["run"], "<FILE>"), (vec!["paper", "fig9"], "fig1a")] {
        let output = calibandit(&arguments);
        assert_eq!(output.status.code(), Some(2), "{arguments:?}");
        assert!(output.stdout.is_empty());
        let message = String::from_utf8(output.stderr).unwrap();
        assert!(message.contains(meant), "{arguments:?}: {message}");
    }
}

#[test]
fn lists_and_schema_can_be_printed_as_json() {
    for arguments in [&["games", "--json"][..], &["policies", "--json"], &["schema"]] {
        let output = calibandit(arguments);
        assert!(serde_json::from_slice::<serde_json::Value>(&output.stdout).is_ok(), "{arguments:?}");
    }
}

#[test]
fn completion_scripts_contain_commands_and_options() {
    for shell in ["bash", "zsh", "fish", "powershell", "elvish"] {
        let script = String::from_utf8(calibandit(&["completions", shell]).stdout).unwrap();
        assert!(script.contains("merge") && script.contains("shard"), "{shell}");
    }
}

/// As in `calibandit schema | head -1`.
#[test]
fn closed_output_pipe_is_not_an_error() {
    let mut program = Command::new(env!("CARGO_BIN_EXE_calibandit"))
        .arg("schema")
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the program starts");
    drop(program.stdout.take());
    let output = program.wait_with_output().unwrap();
    assert_eq!((output.status.code(), output.stderr.as_slice()), (Some(0), &[][..]));
}
