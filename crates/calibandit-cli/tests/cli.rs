//! Help, lists and usage errors of the real program.

#![allow(clippy::unwrap_used)] // a test may panic

use std::process::{Command, Output, Stdio};

fn calibandit(arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_calibandit")).args(arguments).output().expect("the program starts")
}

fn printed(arguments: &[&str]) -> String {
    let output = calibandit(arguments);
    assert_eq!(output.status.code(), Some(0), "{arguments:?}");
    String::from_utf8(output.stdout).unwrap()
}

/// The names of all kinds, of games or policies.
fn kinds(command: &str) -> &'static [&'static str] {
    if command == "games" { calibandit::GameSpec::KINDS } else { calibandit::PolicySpec::KINDS }
}

#[test]
fn lists_have_every_name_with_one_sentence_and_say_how_to_see_more() {
    for command in ["games", "policies"] {
        let text = printed(&[command]);
        let (list, closing) = text.split_once("\n\n").unwrap();
        let names: Vec<&str> = list.lines().filter(|line| !line.starts_with(' ')).collect();
        assert_eq!(names, kinds(command));
        assert!(closing.contains(&format!("`calibandit {command} NAME`")), "{closing}");
        assert!(list.lines().count() <= 4 * names.len(), "{list}");
    }
}

#[test]
fn one_kind_is_shown_with_every_parameter_and_the_meaning_of_every_value() {
    let one_line = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ");
    let mut explained = 0;
    for command in ["games", "policies"] {
        for name in kinds(command) {
            let text = one_line(&printed(&[command, name]));
            let json: serde_json::Value = serde_json::from_str(&printed(&[command, name, "--json"])).unwrap();
            assert_eq!(json["name"], *name);
            for parameter in json["parameters"].as_array().unwrap() {
                for key in ["name", "meaning", "values"] {
                    let expected = one_line(parameter[key].as_str().unwrap());
                    assert!(text.contains(&expected), "{command} {name}: {expected} is missing in {text}");
                }
                // The choice is the type itself or one of its alternatives.
                let types = parameter["type"]["any-of"].as_array().cloned().unwrap_or_default();
                for values in types.iter().chain([&parameter["type"]]) {
                    for choice in values["choice"].as_array().into_iter().flatten() {
                        let meaning = one_line(choice["meaning"].as_str().unwrap());
                        let expected = format!("{}: {meaning}", choice["name"].as_str().unwrap());
                        assert!(meaning.is_empty() || text.contains(&expected), "{command} {name}: {expected}");
                        explained += usize::from(!meaning.is_empty());
                    }
                }
            }
        }
    }
    assert!(explained > 20, "only {explained} values are explained");
    assert!(printed(&["policies", "calibrated"]).contains("\n  index [default: challenge]\n"));
    assert_eq!(printed(&["games", "race"]), printed(&["games", "fitted"]), "a former name is accepted");
}

#[test]
fn the_json_of_one_kind_is_its_object_in_the_list() {
    for command in ["games", "policies"] {
        let list: serde_json::Value = serde_json::from_str(&printed(&[command, "--json"])).unwrap();
        for (object, name) in list.as_array().unwrap().iter().zip(kinds(command)) {
            let one: serde_json::Value = serde_json::from_str(&printed(&[command, name, "--json"])).unwrap();
            assert_eq!(one, *object);
        }
    }
}

#[test]
fn lists_fit_into_the_width_of_the_terminal() {
    for columns in [60, 80, 100] {
        for arguments in [&["games"][..], &["policies"], &["games", "custom"], &["policies", "calibrated"]] {
            let mut program = Command::new(env!("CARGO_BIN_EXE_calibandit"));
            let output = program.args(arguments).env("COLUMNS", columns.to_string()).output().unwrap();
            for line in String::from_utf8(output.stdout).unwrap().lines() {
                // A word that is longer than the line, such as an address, is not broken.
                let fits = line.chars().count() <= columns || line.split_whitespace().count() == 1;
                assert!(fits, "{arguments:?}, {columns} columns: {line}");
            }
        }
    }
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
        "pilot",
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
    for (arguments, meant) in [
        (vec!["gmaes"], "games"),
        (vec!["run"], "<FILE>"),
        (vec!["paper", "fig9"], "fig1a"),
        (vec!["policies", "callibrated"], "'calibrated'"),
        (vec!["games", "darst"], "'darts'"),
        (vec!["games", "xyz"], "alpha-reo"),
    ] {
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
