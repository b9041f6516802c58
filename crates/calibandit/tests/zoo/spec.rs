//! Specs as they are in files: the keys, the schema, the list of kinds.

use calibandit::catalogue::ValueType;
use calibandit::zoo::{CurveFamily, RandomReo, Span, Step, WeightFamily};
use calibandit::{GameError, GameSpec, GameSpecError, Noise};
use serde_json::{Value, json};

use super::{close, instance};

fn parse(value: Value) -> Result<GameSpec, String> {
    serde_json::from_value(value).map_err(|error| error.to_string())
}

#[test]
fn the_keys_of_files() {
    let step = parse(json!({"kind": "step", "arms": 5, "memory": 3})).unwrap();
    assert_eq!(step, GameSpec::Step(Step { arms: 5, memory: 3, ..Step::default() }));
    assert_eq!(parse(json!({"kind": "step"})).unwrap(), step);
    let full = json!({"kind": "step", "arms": 4, "memory": 2, "usual_loss": 0.6, "best_loss": 0.2, "best_arm": 1,
        "feedback": {"normal": {"sd": 0.1}}});
    let normal = Noise::Normal { sd: 0.1 };
    let by_hand = Step { arms: 4, memory: 2, usual_loss: 0.6, best_loss: 0.2, best_arm: Some(1), feedback: normal };
    assert_eq!(parse(full).unwrap(), by_hand.into());
    let random = json!({"kind": "random-reo", "arms": 3, "memory": [2, 9], "gap": 0.1, "alpha": 0, "weights": "decay",
        "curve": "rough", "feedback": "none"});
    let by_hand = RandomReo {
        arms: 3,
        memory: Span::Between([2, 9]),
        gap: Span::One(0.1),
        weights: WeightFamily::Decay,
        curve: CurveFamily::Rough,
        feedback: Noise::None,
        ..RandomReo::default()
    };
    assert_eq!(parse(random).unwrap(), by_hand.into());
}

#[test]
fn a_custom_game_by_hand() {
    let spec = parse(json!({"kind": "custom", "arm": [
        {"memory": 2, "loss": {"constant": 0.5, "calibrated": 0.25}},
        {
            "weights": [1.0, 0.5, 0.25],
            "loss": {"linear": {"intercept": 1.0, "slope": -0.5}},
            "feedback": {"beta": {"concentration": 5.0}}
        },
    ]}))
    .unwrap();
    let game = spec.draw(&mut instance(0)).unwrap();
    close(&game.losses(&[0, 0, 1, 0, 1, 1, 1]).unwrap(), &[0.5, 0.25, 0.5, 0.5, 0.375, 0.25, 0.125]);
    assert_eq!(game.arms()[0].noise(), Noise::Bernoulli);
    assert_eq!(game.arms()[1].noise(), Noise::Beta { concentration: 5.0 });
}

#[test]
fn every_kind_refuses_unknown_keys_and_survives_a_file() {
    for kind in GameSpec::catalogue() {
        let mut value = serde_json::to_value(&kind.example).unwrap();
        assert_eq!(value["kind"], kind.name);
        assert_eq!(kind.example.kind(), kind.name);
        assert_eq!(parse(value.clone()).unwrap(), kind.example);
        value["memroy"] = json!(3);
        let message = parse(value).unwrap_err();
        assert!(message.contains("unknown field `memroy`"), "{}: {message}", kind.name);
    }
}

#[test]
fn unknown_kinds_and_wrong_types_are_refused() {
    assert!(parse(json!({"kind": "stepp"})).unwrap_err().contains("stepp"));
    assert!(parse(json!({"arms": 3})).unwrap_err().contains("kind"));
    assert!(parse(json!({"kind": "step", "arms": "five"})).unwrap_err().contains("five"));
    assert!(parse(json!({"kind": "step", "arms": -1})).unwrap_err().contains("-1"));
    assert!(parse(json!({"kind": "step", "memory": 2.5})).unwrap_err().contains("2.5"));
    let message = parse(json!({"kind": "darts", "first_toss": [0.1, 0.2, 0.3]})).unwrap_err();
    assert!(message.contains("[low, high]"), "{message}");
    let message = parse(json!({"kind": "custom", "arm": [{"memory": 2, "loss": {"constnat": 0.5}}]})).unwrap_err();
    assert!(message.contains("constnat"), "{message}");
}

/// None is left out and not written as null, which TOML does not have.
#[test]
fn what_is_not_given_is_not_written() {
    for kind in GameSpec::catalogue() {
        assert!(!serde_json::to_string(&kind.example).unwrap().contains("null"), "{}", kind.name);
    }
}

#[test]
fn the_schema_lists_every_kind_with_its_keys_and_allows_no_others() {
    let schema = serde_json::to_value(schemars::schema_for!(GameSpec)).unwrap();
    let variants = schema["oneOf"].as_array().unwrap();
    let kinds = GameSpec::catalogue();
    assert_eq!(variants.len(), kinds.len());
    for kind in kinds {
        let variant = variants.iter().find(|variant| variant["properties"]["kind"]["const"] == kind.name).unwrap();
        assert_eq!(variant["additionalProperties"], json!(false), "{}", kind.name);
        let keys = variant["properties"].as_object().unwrap();
        assert_eq!(keys.len(), kind.parameters.len() + 1);
        assert!(kind.parameters.iter().all(|parameter| keys.contains_key(&parameter.name)));
        assert!(variant["description"].as_str().is_some_and(|text| !text.is_empty()));
    }
}

#[test]
fn the_list_of_kinds_is_complete() {
    let kinds = GameSpec::catalogue();
    let names: Vec<&str> = kinds.iter().map(|kind| kind.name).collect();
    for name in [
        "step",
        "alpha-reo",
        "decay",
        "darts",
        "fitted",
        "needle",
        "adaptivity-a",
        "adaptivity-b",
        "basketball",
        "stochastic",
        "random-reo",
        "rotting-two",
        "rotting-ten",
        "plateaus",
        "improving",
        "single-peaked",
        "recommender",
        "rising-two",
        "rising-fifteen",
        "learning-curves",
        "sweet-spot",
        "congestion",
        "recovering",
        "last-switch",
        "custom",
    ] {
        assert!(names.contains(&name), "{name}");
    }
    for kind in kinds {
        assert!(kind.summary.ends_with('.'), "{}: {}", kind.name, kind.summary);
        assert!(!kind.summary.is_empty() && !kind.citation.is_empty() && !kind.parameters.is_empty());
        assert!(kind.parameters.iter().all(|parameter| !parameter.meaning.is_empty()), "{kind:?}");
        assert!(kind.example.draw(&mut instance(0)).is_ok(), "{}", kind.name);
        // A shipped pair of drivers is called by its race.
        let title = if kind.name == "fitted" { "race" } else { kind.name };
        assert!(kind.example.title().starts_with(title));
    }
    let step = kinds.iter().find(|kind| kind.name == "step").unwrap();
    let default = |name: &str| step.parameters.iter().find(|parameter| parameter.name == name).unwrap().default.clone();
    assert_eq!(default("usual_loss"), Some(json!(0.5)));
    assert_eq!(default("best_loss"), Some(json!(0.35)));
    assert_eq!(default("feedback"), Some(json!("bernoulli")));
    assert_eq!(default("best_arm"), None);
    assert!(step.parameters.iter().all(|parameter| !parameter.required));
    let custom = kinds.iter().find(|kind| kind.name == "custom").unwrap();
    assert!(custom.parameters[0].required && custom.parameters[0].name == "arm");
}

/// What generated code needs: lists of tables, names to choose from, and text without Rust in it.
#[test]
fn the_catalogue_describes_types() {
    let parameter = |kind: &str, name: &str| {
        let entry = GameSpec::catalogue().iter().find(|entry| entry.name == kind).unwrap();
        assert!(!entry.documentation.contains("```"), "{}", entry.documentation);
        entry.parameter(name).unwrap().value_type.clone()
    };
    let ValueType::List { items, .. } = parameter("fitted", "model") else { panic!("not a list") };
    let ValueType::Table { fields, .. } = *items else { panic!("not a list of tables") };
    let fields: Vec<(&str, bool)> = fields.iter().map(|field| (field.name.as_str(), field.required)).collect();
    let expected = [("alpha", true), ("beta", true), ("gamma", true), ("sd", true), ("name", false)];
    assert_eq!(fields, expected);
    let names = |value_type| match value_type {
        ValueType::Choice(choices) => choices.into_iter().map(|choice| choice.name).collect::<Vec<_>>(),
        other => panic!("{other:?} is no choice"),
    };
    assert_eq!(names(parameter("fitted", "pair")).len(), 10);
    assert_eq!(names(parameter("random-reo", "weights")), ["unit", "random", "decay"]);
    assert!(matches!(parameter("random-reo", "gap"), ValueType::AnyOf(types) if types.len() == 2));
    let entry = GameSpec::catalogue().iter().find(|entry| entry.name == "fitted").unwrap();
    assert_eq!(entry.aliases, ["race"]);
}

#[test]
fn a_specification_is_read_and_checked_on_its_own() {
    assert_eq!(GameSpec::from_json(r#"{"kind": "race", "pair": "2001-german"}"#).unwrap().kind(), "fitted");
    let unknown = GameSpec::from_json(r#"{"kind": "step", "arm": 5}"#).unwrap_err();
    assert!(matches!(&unknown, GameSpecError::Json { message } if message.contains("arm")), "{unknown}");
    let refused = GameSpec::from_json(r#"{"kind": "step", "arms": 0}"#).unwrap_err();
    assert!(matches!(refused, GameSpecError::Game(GameError::Parameter { parameter: "arms", .. })), "{refused}");
}

#[test]
fn titles_tell_sizes() {
    let title = |value| parse(value).unwrap().title();
    assert_eq!(title(json!({"kind": "step"})), "step, K = 5, m = 3");
    assert_eq!(title(json!({"kind": "random-reo"})), "random-reo, K = 5, m = 2 to 6, alpha = 0");
    assert_eq!(title(json!({"kind": "stochastic", "losses": [0.1, 0.2]})), "stochastic, K = 2, m = 1");
    let model = |name: &str| json!({"name": name, "alpha": 0.1, "beta": 0.5, "gamma": 0.0, "sd": 0.1});
    let race = json!({"kind": "fitted", "model": [model("A"), model("B")], "memory": 9});
    assert_eq!(title(race), "fitted, A against B, m = 9");
}

/// The end of a range is accepted and a value just beyond it is not.
#[test]
fn the_ranges_of_the_catalogue_are_those_that_are_checked() {
    let refused = |base: &Value, parameter: &str, value: Value| {
        let mut spec = base.clone();
        spec[parameter] = value;
        let drawn = serde_json::from_value::<GameSpec>(spec).unwrap().draw(&mut instance(0));
        matches!(drawn, Err(GameError::Parameter { parameter: wrong, .. }) if wrong == parameter)
    };
    let mut ends = 0;
    for kind in GameSpec::catalogue() {
        let mut base = serde_json::to_value(&kind.example).unwrap();
        // Parameters that limit each other leave the whole range of the other.
        match kind.name {
            "step" => base["usual_loss"] = json!(1),
            "stochastic" => base = json!({"kind": "stochastic", "arms": 3, "usual_loss": 1}),
            "random-reo" => base["gap"] = json!(0),
            "sweet-spot" => base["best_loss"] = json!(0),
            "congestion" => base["free"] = json!([0, 0]),
            "fitted" => {
                let model = json!({"alpha": 1.0, "beta": 0.5, "gamma": 0.0, "sd": 0.1});
                base = json!({"kind": "fitted", "memory": 2, "model": [model]});
            }
            _ => {}
        }
        for parameter in &kind.parameters {
            let (range, step) = match &parameter.value_type {
                ValueType::Integer(range) => (range, 1.0),
                ValueType::Number(range) => (range, 0.01),
                ValueType::AnyOf(types) => match &types[0] {
                    ValueType::Integer(range) => (range, 1.0),
                    ValueType::Number(range) => (range, 0.01),
                    _ => continue,
                },
                _ => continue,
            };
            let number = |value: f64| if step == 1.0 { json!(value as u64) } else { json!(value) };
            let name = parameter.name.as_str();
            for (end, excluded, beyond) in
                [(range.low, range.low_excluded, -step), (range.high, range.high_excluded, step)]
            {
                let Some(end) = end else { continue };
                if excluded {
                    assert!(refused(&base, name, number(end)), "{}: {name} = {end}", kind.name);
                    ends += 1;
                    continue;
                }
                // Games with a million arms take seconds to draw.
                assert!(end > 1e5 || !refused(&base, name, number(end)), "{}: {name} = {end}", kind.name);
                // A negative integer is no value of the type at all.
                if step < 1.0 || end + beyond >= 0.0 {
                    assert!(refused(&base, name, number(end + beyond)), "{}: {name} = {}", kind.name, end + beyond);
                    ends += 1;
                }
            }
        }
    }
    assert!(ends >= 30, "only {ends} ends of ranges were checked");
}
