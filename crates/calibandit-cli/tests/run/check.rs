//! `calibandit check`: what it prints, as text and as JSON.

use super::*;

#[test]
fn check_prints_alpha_best_arm_and_optimum_as_text_and_json() {
    let folder = folder_with(
        r#"
        name = "checked"
        horizon = 1_000_000
        [game]
        kind = "alpha-reo"
        arms = 5
        memory = 4
        best_arm = 2
        decoy_arm = 1
        [[policy]]
        kind = "successive-elimination"
        memory_bound = 3
        "#,
    );
    let json: Value = serde_json::from_str(&run(folder.path(), &["check", "small.toml", "--json"])).unwrap();
    // By the definition: -0.2 + (2m - 1)/(4m), not the (2m - 3)/(4m) that the paper prints.
    assert!((json["alpha"].as_f64().unwrap() - 0.2375).abs() < 1e-12);
    assert_eq!((&json["best_arm"], &json["beaten_by"]["arm"]), (&2.into(), &1.into()));
    assert_eq!(json["eventual_losses"].as_array().unwrap().len(), 5);
    assert!((json["eventual_losses"][2].as_f64().unwrap() - 0.6).abs() < 1e-12);
    assert_eq!(json["optimum"]["exact"], true);
    assert!(json["optimum"]["loss"].as_f64().unwrap() > 0.0);
    assert_eq!(json["points"].as_array().unwrap().len(), 1);
    let text = run(folder.path(), &["check", "small.toml"]);
    assert!(text.contains("alpha = 0.2375") && unwrapped(&text).contains(SHORT_BOUND), "{text}");
}

#[test]
fn check_shows_the_names_of_arms() {
    let named = r#"
        name = "named"
        horizon = 1_000
        [game]
        kind = "custom"
        arm = [
            { name = "Anna B.", memory = 2, loss = [0.2, 0.6] },
            { name = "bob", memory = 2, loss = 0.3 },
            { memory = 2, loss = 0.9 },
        ]
        [[policy]]
        kind = "exp3"
    "#;
    let folder = folder_with(named);
    let text = unwrapped(&run(folder.path(), &["check", "small.toml"]));
    for part in [
        "best arm x* = 1 (bob) with eventual loss 0.3",
        "eventual losses: Anna B. 0.6, bob 0.3, 2 0.9",
        // Half the plays cost 0.2 and half 0.3; in another order the tiring arm costs 0.6.
        "optimum: 250 (exact) best sequence: (Anna B., bob) × 500",
        "arm 0 (Anna B.) in the window [1, 0] beats",
    ] {
        assert!(text.contains(part), "{part} is not in {text}");
    }
    let json = |folder: &TempDir| -> Value {
        serde_json::from_str(&run(folder.path(), &["check", "small.toml", "--json"])).unwrap()
    };
    let value = json(&folder);
    assert_eq!(value["arm_names"], serde_json::json!(["Anna B.", "bob", null]));
    assert_eq!(value["points"][0]["arm_names"], value["arm_names"]);
    assert_eq!(value["best_arm"], 1);
    let nameless = json(&folder_with(&named.replace("name = \"Anna B.\",", "").replace("name = \"bob\",", "")));
    assert!(nameless.get("arm_names").is_none(), "{nameless}");
}

/// The text with its lines joined.
fn unwrapped(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

#[test]
fn check_rounds_numbers_and_says_nothing_twice() {
    let rest = r#"
        name = "rest"
        horizon = 1_000
        [game]
        kind = "custom"
        arm = [{ memory = 2, loss = [0.2, 0.6] }, { memory = 2, loss = 0.3 }]
        [[policy]]
        kind = "successive-elimination"
        label = "SE"
        memory_bound = 2
        [[policy]]
        kind = "exp3"
    "#;
    let text = unwrapped(&run(folder_with(rest).path(), &["check", "small.toml"]));
    // 0.3 - 0.2, the best calibrated arm minus the tiring arm after a rest, is 0.09999999999999998 in binary.
    for part in ["rest custom, K = 2 m = 2, T = 1,000 alpha = 0.1 best", "arm by 0.1, so", "regret of alpha·T = 100"] {
        assert!(text.contains(part), "{part} is not in {text}");
    }
    assert_eq!(text.matches("K = 2").count(), 1, "{text}");
    assert!(text.contains("Theorem 1 says nothing about SE here: its bound "), "{text}");
    assert_eq!(text.matches("Theorem 1 for").count(), 0, "a bound is stated once: {text}");

    let swept = format!("{rest}\n[sweep]\n\"policy.SE.memory_bound\" = [1, 2]\n");
    let text = unwrapped(&run(folder_with(&swept).path(), &["check", "small.toml"]));
    assert_eq!(text.matches("does not burn in").count(), 1, "{text}");
    assert_eq!(text.matches("SE is told M = 1, but the game's memory is m = 2").count(), 1, "{text}");
    let shared = text.split("At every point").nth(1).unwrap();
    assert!(shared.contains("does not burn in") && !shared.contains("is told M = 1"), "{text}");
}
