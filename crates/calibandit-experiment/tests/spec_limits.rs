//! Large, long and hostile input: read in time in proportion to its length, or refused with its size.

#![allow(clippy::unwrap_used)]

use std::fmt::Write;

use calibandit_experiment::spec::{Diagnostics, Overrides};
use calibandit_experiment::{Experiment, PolicySource};

/// An experiment file with these lines at the top and one policy.
fn read(top: &str) -> Result<Experiment, Diagnostics> {
    let horizon = if top.contains("horizon") { "" } else { "horizon = 1000\n" };
    let name = if top.contains("name = ") { "" } else { "name = \"x\"\n" };
    let policy =
        if top.contains("policy = ") || top.contains("[[policy") { "" } else { "policy = [{ kind = \"ucb1\" }]\n" };
    let game = "game = { kind = \"step\", arms = 3, memory = 2 }\n";
    Experiment::from_toml("x.toml", &format!("{name}{horizon}{policy}{game}{top}"))
}

/// The only error of a file.
fn refusal(top: &str) -> String {
    let errors = read(top).expect_err("accepted");
    assert_eq!(errors.errors().len(), 1, "{errors}");
    errors.to_string()
}

#[test]
fn horizons_go_up_to_two_to_the_53() {
    assert_eq!(read("horizon = 9_007_199_254_740_992").unwrap().horizon(), 1 << 53);
    for horizon in ["9_007_199_254_740_993", "9223372036854775807"] {
        let refused = refusal(&format!("horizon = {horizon}"));
        let expected = format!("`horizon` must be at most 9007199254740992, but is {}", horizon.replace('_', ""));
        assert!(refused.contains(&expected), "{refused}");
    }
    let longer = Overrides { horizon: Some((1 << 53) + 1), ..Overrides::default() };
    assert!(read("").unwrap().with(longer).unwrap_err().to_string().contains("at most 9007199254740992"));
    let own = PolicySource::user(|_: &calibandit::Problem, _| -> calibandit::AnyPolicy { unreachable!("not run") });
    let game = read("").unwrap().points()[0].game.clone();
    let built = Experiment::builder("x").game(game).policy(own).horizon((1 << 53) + 1).build().unwrap_err();
    assert!(built.to_string().contains("`horizon` must be at most 9007199254740992"), "{built}");
}

#[test]
fn names_of_100_characters_are_allowed_and_longer_ones_are_refused_with_their_length() {
    assert!(read(&format!("name = \"{}\"", "a".repeat(100))).is_ok());
    let refused = refusal(&format!("name = \"{}\"", "a".repeat(101)));
    assert!(refused.contains("`name` has 101 characters, but at most 100 are allowed"), "{refused}");
}

#[test]
fn long_labels_and_titles_are_refused_with_their_length() {
    let policy = |label: &str| format!("policy = [{{ kind = \"ucb1\", label = \"{label}\" }}]");
    assert!(read(&policy(&"ä".repeat(200))).is_ok());
    let refused = refusal(&policy(&"ä".repeat(201)));
    assert!(refused.contains("`label` must have at most 200 characters, but has 201"), "{refused}");
    assert!(read(&format!("title = \"{}\"", "a".repeat(1000))).is_ok());
    let refused = refusal(&format!("title = \"{}\"", "a".repeat(100_000)));
    assert!(refused.contains("`title` must have at most 1000 characters, but has 100000"), "{refused}");
    assert!(refused.len() < 1000, "{refused}");
    let built = read("").unwrap().points()[0].game.clone();
    let own = PolicySource::user(|_: &calibandit::Problem, _| -> calibandit::AnyPolicy { unreachable!("not run") });
    let built = Experiment::builder("x").game(built).labelled_policy("l".repeat(201), own).horizon(9);
    let errors = built.title("t".repeat(1001)).build().unwrap_err().to_string();
    assert!(errors.contains("but has 201") && errors.contains("but has 1001"), "{errors}");
}

#[test]
fn ten_thousand_points_with_a_million_instances_are_refused_with_the_estimate() {
    let values: Vec<String> = (0..10_000).map(|value| format!("0.5{value:04}")).collect();
    let sweep = format!("[sweep]\n\"game.usual_loss\" = [{}]", values.join(", "));
    assert_eq!(read(&sweep).unwrap().size().curves(), 200_000);
    let refused = refusal(&format!("instances = 1_000_000\n{sweep}"));
    for part in ["10,000,000,000 simulations", "on one core", "2.0 TB of memory", "500 TB of files", "x.toml:5:13"] {
        assert!(refused.contains(part), "{part}: {refused}");
    }
}

#[test]
fn policies_without_labels_are_numbered() {
    let mut policies = String::new();
    for _ in 0..30_000 {
        policies += "[[policy]]\nkind = \"ucb1\"\n";
    }
    policies += "[[policy]]\nkind = \"ucb1\"\nlabel = \"UCB1 #3\"\n";
    let labels = read(&policies).unwrap().policy_labels();
    assert_eq!(labels[..4], ["UCB1", "UCB1 #2", "UCB1 #4", "UCB1 #5"]);
    assert_eq!((labels[29_999].as_str(), labels[30_000].as_str()), ("UCB1 #30001", "UCB1 #3"));
}

#[test]
fn objects_with_many_keys_are_read_in_one_pass() {
    let mut text = String::from("{\"name\": \"x\"");
    for key in 0..200_000 {
        write!(text, ", \"k{key}\": {key}").unwrap();
    }
    let errors = Experiment::from_bytes("x.json", (text + "}").as_bytes()).unwrap_err();
    assert!(errors.to_string().contains("unknown key `k0`"), "{errors}");
}

#[test]
fn keys_of_megabytes_are_not_printed_in_full() {
    for top in [format!("{} = 1", "k".repeat(3_000_000)), format!("[sweep]\n{} = [1]", "k".repeat(3_000_000))] {
        let refused = refusal(&top);
        assert!(refused.len() < 10_000, "{} bytes", refused.len());
        assert!(refused.contains("kkk…kkk"), "{refused}");
    }
}

#[test]
fn control_characters_of_files_do_not_reach_the_terminal() {
    let escape = "\\u001b]0;owned\\u0007\\u009b";
    for top in [
        format!("\"{escape}\" = 1"),
        format!("policy = [{{ kind = \"{escape}\" }}]"),
        format!("policy = [{{ kind = \"ucb1\", \"{escape}\" = 1 }}]"),
        format!("policy = [{{ kind = \"ucb1\", label = \"{escape}\" }}, {{ kind = \"exp3\", label = \"{escape}\" }}]"),
        format!("figure.x = \"{escape}\""),
        format!("figure.excess_over = \"{escape}\""),
        format!("[sweep]\n\"{escape}\" = [1]"),
        format!("[sweep]\n\"policy.exploration\" = [\"{escape}\"]"),
        "title = \"\u{1b}[2J".to_owned(),
    ] {
        let refused = read(&top).unwrap_err().to_string();
        assert!(refused.chars().all(|c| c == '\n' || !c.is_control()), "{refused:?}");
    }
    let named = Experiment::read("no\u{1b}such.toml").unwrap_err().to_string();
    assert!(!named.contains('\u{1b}'), "{named:?}");
}
