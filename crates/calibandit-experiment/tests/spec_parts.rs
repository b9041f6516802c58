//! Games and policies that are read on their own have the same errors as in experiment files.

#![allow(clippy::unwrap_used)]

use calibandit_experiment::spec::{
    DiagnosticKind, Position, game_from_json, game_from_toml, policy_from_json, policy_from_toml,
};
use serde_json::json;

#[test]
fn a_game_is_read_from_toml_and_from_json() {
    let from_toml = game_from_toml("game.toml", "kind = \"step\"\narms = 4\nmemory = 2\n").unwrap();
    let from_json = game_from_json("the game", &json!({"kind": "step", "arms": 4, "memory": 2})).unwrap();
    assert_eq!(from_toml, from_json);
}

#[test]
fn errors_of_a_game_have_file_line_and_suggestion() {
    let errors = game_from_toml("game.toml", "kind = \"step\"\nmemroy = 2\narms = \"few\"\n").unwrap_err();
    let [unknown, few] = errors.errors() else { panic!("{errors}") };
    assert_eq!((unknown.kind, unknown.position), (DiagnosticKind::UnknownKey, Some(Position { line: 2, column: 1 })));
    assert_eq!((unknown.key.as_str(), unknown.suggestion.as_deref()), ("game.memroy", Some("memory")));
    assert_eq!((few.key.as_str(), few.position), ("game.arms", Some(Position { line: 3, column: 8 })));
    let shown = unknown.to_string();
    assert!(shown.contains("game.toml:2:1") && shown.contains("did you mean `memory`?"), "{shown}");

    // Checked by the library, not by the schema.
    let errors = game_from_json("the game", &json!({"kind": "custom", "arm": []})).unwrap_err();
    assert_eq!(errors.errors()[0].file, "the game");
    // Outside of a file there is no other table that a key could belong to.
    let errors = game_from_json("the game", &json!({"kind": "step", "horizon": 5})).unwrap_err();
    assert!(errors.to_string().contains("other keys of kind \"step\" are"), "{errors}");
}

#[test]
fn a_policy_is_read_with_its_label() {
    let entry = policy_from_toml("policy.toml", "kind = \"calibrated\"\nmemory_bound = 4\n").unwrap();
    assert_eq!((entry.label.as_str(), entry.policy.memory_bound()), ("calibrated", Some(4)));
    let entry = policy_from_json("the policy", &json!({"kind": "ucb1", "label": "mine"})).unwrap();
    assert_eq!(entry.label, "mine");
}

#[test]
fn errors_of_a_policy_name_the_key() {
    let key = |value| policy_from_json("the policy", &value).unwrap_err().errors()[0].key.clone();
    assert_eq!(key(json!({"kind": "epoch-ucb"})), "policy.memory_bound");
    assert_eq!(key(json!({"kind": "epoch-ucbs"})), "policy.kind");
    assert_eq!(key(json!({"kind": "successive-elimination", "memory_bound": 3, "delta": 2})), "policy.delta");
    assert_eq!(key(json!([])), "policy");
}
