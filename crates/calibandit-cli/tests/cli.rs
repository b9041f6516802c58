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

/// Command lines with a wrong number or file, and what the answer has to say. None of them starts any work.
const MISTAKES: [(&[&str], &str); 34] = [
    (&["run", "x.toml", "--instances", "-1"], "'--instances <N>': give a whole number from 1 to 1000000"),
    (&["run", "x.toml", "--instances", "0"], "give a whole number from 1 to 1000000"),
    (&["run", "x.toml", "--instances", "1e3"], "; did you mean 1000?"),
    (&["run", "x.toml", "--instances", "99999999999999999999"], "give a whole number from 1 to 1000000"),
    (&["run", "x.toml", "--seed", "x"], "'--seed <S>': give a whole number from 0 to 9223372036854775807"),
    (&["run", "x.toml", "--seed", "18446744073709551615"], "from 0 to 9223372036854775807"),
    (&["run", "x.toml", "--jobs", "all"], "'--jobs <N>': give a whole number from 0 to"),
    (&["run", "x.toml", "--jobs", "-1"], "'--jobs <N>': give a whole number from 0 to"),
    (&["run", "x.toml", "--shard", "3"], "give I/N with I from 1 to N, such as 2/8"),
    (&["run", "nothing.toml"], "nothing.toml"),
    (&["paper", "--instances", "-5"], "give a whole number from 1 to 1000000"),
    (&["tournament", "--instances", "0"], "give a whole number from 1 to 1000000"),
    (&["tournament", "--random-games", "-1"], "give a whole number from 0 to 1000000"),
    (&["tournament", "--seed", "1.5"], "give a whole number from 0 to"),
    (&["tournament", "--markdown", "no/folder/x.md"], "its folder does not exist; make it first"),
    (&["tournament", "--markdown", "."], "it is a folder; give the name of a file"),
    (&["diagnose", "x.csv", "--arm", "a", "--loss", "l", "--longest", "0"], "give a whole number from 1 to"),
    (&["diagnose", "x.csv", "--arm", "a", "--loss", "l", "--confidence", "95%"], "give a number, such as 0.95"),
    (&["diagnose", "x.csv", "--arm", "a", "--loss", "l", "--horizon", "1e5"], "; did you mean 100000?"),
    (&["diagnose", "x.csv", "--arm", "a", "--loss", "l"], "x.csv: there is no such file"),
    (&["fit", "x.csv", "--arm", "a", "--loss", "l", "--memory", "-3"], "give a whole number from 1 to 1000000"),
    (&["fit", "x.csv", "--arm", "a", "--loss", "l", "--range", "0", "high"], "give a number"),
    (&["fit", "x.csv", "--arm", "a", "--loss", "l", "--out", "no/x.toml"], "no/x.toml cannot be written: its folder"),
    (&["pilot", "--arms", "a,b", "--longest", "x"], "'--longest <N>': give a whole number from 1 to 1048576"),
    (&["pilot", "--arms", "a,b", "--longest", "5000000000"], "give a whole number from 1 to 1048576"),
    (&["pilot", "--arms", "a,b", "--longest", "5", "--sd", "-1"], "`--sd` is -1, but must be a positive number"),
    (&["pilot", "--arms", "a,b", "--longest", "5", "--drop", "no"], "give a number, such as 0.1"),
    (&["f1", "pairs", "--least-laps", "-1"], "give a whole number from 5 to"),
    (&["f1", "stints", "--first-year", "MMXI"], "give a whole number from 1900 to 2999"),
    (&["f1", "stints", "--first-year", "2020", "--last-year", "2010"], "`--last-year` is 2010, but must be at least"),
    (&["f1", "stints", "--slow-lap", "0"], "`--slow-lap` is 0, but must be more than 1"),
    (&["state", "nothing.json"], "nothing.json: there is no such file"),
    (&["state", "."], ".: it is a folder; give a file"),
    (&["f1", "fit", "--data", ".", "--out", "no/x.csv"], "no/x.csv cannot be written: its folder does not exist"),
];

#[test]
fn wrong_numbers_and_files_are_answered_with_the_option_and_what_it_takes() {
    for (arguments, expected) in MISTAKES {
        let output = calibandit(arguments);
        let message = String::from_utf8(output.stderr).unwrap();
        assert!(message.contains(expected), "{arguments:?}: {message}");
        assert_eq!(output.status.code(), Some(2), "{arguments:?}");
        assert!(!message.contains("os error") && !message.contains("invalid digit"), "{arguments:?}: {message}");
    }
}

#[test]
fn files_of_another_kind_are_named_as_such() {
    let folder = tempfile::TempDir::new().unwrap();
    let path = |name: &str| folder.path().join(name).to_str().unwrap().to_owned();
    std::fs::write(path("log.csv"), "order,arm,loss\n".to_owned() + &"1,a,0.5\n".repeat(50)).unwrap();
    std::fs::write(path("other.json"), "{}").unwrap();
    let experiment = "name = \"x\"\nhorizon = 100\ngame = { kind = \"step\" }\npolicy = [{ kind = \"ucb1\" }]\n";
    std::fs::write(path("x.toml"), experiment).unwrap();
    for (arguments, expected, lines) in [
        (vec!["run", &path("log.csv")], "46 more lines are not TOML; is this an experiment file?", 32),
        (vec!["state", &path("log.csv")], "this is not the snapshot of an advisor, or it is damaged", 1),
        (vec!["state", &path("other.json")], "this is not the snapshot of an advisor", 1),
        (vec!["run", &path("x.toml"), "--out", &path("log.csv")], "it is a file, but a folder is needed", 1),
        (vec!["run", &path("x.toml"), "--out", &path("log.csv"), "--force"], "it is a file, but a folder is needed", 1),
    ] {
        let message = String::from_utf8(calibandit(&arguments).stderr).unwrap();
        assert!(message.contains(expected), "{arguments:?}: {message}");
        assert!(message.lines().count() <= lines, "{arguments:?}: {message}");
    }
}
