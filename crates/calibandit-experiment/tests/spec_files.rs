//! Experiment files that are valid: the schema, defaults, sweeps, labels and former names.

#![allow(clippy::unwrap_used)]

use calibandit::rng::StreamKey;
use calibandit::{GameSpec, PolicySpec};
use calibandit_experiment::Experiment;
use calibandit_experiment::spec::schema;
use serde_json::{Value, json};

const GOOD: &str = include_str!("data/good.toml");

/// The experiment of the good file with a sweep.
fn swept(sweep: &str) -> Experiment {
    Experiment::from_toml("swept.toml", &format!("{GOOD}\n[sweep]\n{sweep}\n"))
        .unwrap_or_else(|errors| panic!("{errors}"))
}

#[test]
fn the_schema_describes_every_key_and_its_default() {
    fn walk(schema: &Value, path: &str, undescribed: &mut Vec<String>) {
        if let Some(properties) = schema.get("properties").and_then(Value::as_object) {
            for (key, inner) in properties.iter().filter(|(key, _)| *key != "kind") {
                if inner.get("description").is_none() && inner.get("$ref").is_none() {
                    undescribed.push(format!("{path}.{key}"));
                }
            }
        }
        match schema {
            Value::Object(map) => {
                map.iter().for_each(|(key, inner)| walk(inner, &format!("{path}/{key}"), undescribed))
            }
            Value::Array(items) => {
                items.iter().enumerate().for_each(|(i, inner)| walk(inner, &format!("{path}/{i}"), undescribed))
            }
            _ => {}
        }
    }
    let schema = schema();
    let mut undescribed = Vec::new();
    walk(&schema, "", &mut undescribed);
    // Alternatives with one key are described as a whole.
    undescribed.retain(|key| !key.contains("/oneOf/"));
    assert!(undescribed.is_empty(), "{undescribed:?}");
    assert_eq!(schema["title"], "Calibandit experiment");
    assert_eq!(schema["properties"]["seed"]["default"], 1);
    assert_eq!(schema["properties"]["checkpoints"]["default"], json!({"scale": "linear", "points": 200}));
    assert_eq!(schema["required"], json!(["name", "horizon", "game", "policy"]));
}

#[test]
fn a_file_with_every_default_written_out_is_the_same_experiment() {
    let experiment = Experiment::from_toml("good.toml", GOOD).unwrap();
    let text = experiment.to_toml().unwrap();
    assert_eq!(Experiment::from_toml("full.toml", &text).unwrap(), experiment, "{text}");
    for key in ["exploration = 2.0", "delta = 0.05", "feedback = \"bernoulli\"", "points = 200"] {
        assert!(text.contains(key), "{key}\n{text}");
    }
    let point = serde_json::to_string(&experiment.points()[0]).unwrap();
    assert!(point.contains("\"gamma\":") && point.contains("\"batch\":"), "{point}");
}

#[test]
fn an_experiment_with_given_checkpoints_is_the_same_after_writing() {
    let text = format!("checkpoints = {{ at = [10, 20] }}\n{GOOD}");
    let experiment = Experiment::from_toml("at.toml", &text).unwrap();
    let written = experiment.to_toml().unwrap();
    assert_eq!(Experiment::from_toml("written.toml", &written).unwrap(), experiment, "{written}");
    let both = json!({"at": [10], "points": 5});
    let mut value = experiment.to_json().unwrap();
    assert_eq!(value["checkpoints"], json!({"at": [10, 20]}));
    value["checkpoints"] = both;
    assert!(Experiment::from_json("both", &value).unwrap_err().to_string().contains("not by both"));
}

#[test]
fn a_grid_has_every_combination_with_the_last_axis_fastest() {
    let experiment = swept("\"game.arms\" = [5, 10, 20]\n\"policy.memory_bound\" = [4, 8]");
    let labels = experiment.game_labels();
    assert_eq!(labels, ["K=5, M=4", "K=5, M=8", "K=10, M=4", "K=10, M=8", "K=20, M=4", "K=20, M=8"].map(str::to_owned));
    let last = &experiment.points()[5];
    assert_eq!(serde_json::to_value(&last.game).unwrap()["arms"], 20);
    assert_eq!(last.policies[4].policy.memory_bound(), Some(8));
}

#[test]
fn the_grid_is_run_at_every_point_that_is_written_out() {
    let experiment = swept("point = [{ \"game.memory\" = 3 }, { \"game.memory\" = 5 }]\ngame.arms = [2, 4]");
    assert_eq!(experiment.game_labels(), ["m=3, K=2", "m=3, K=4", "m=5, K=2", "m=5, K=4"].map(str::to_owned));
    assert_eq!(experiment.points()[3].id, "m5-K4");
}

#[test]
fn a_named_axis_sets_several_keys_together() {
    let experiment = swept(
        "constant = { keys = [\"policy.SE.radius\", \"policy.UCB (epochs).exploration\"], values = [0.05, 0.1, 0.25] }",
    );
    for (point, wanted) in experiment.points().iter().zip([0.05, 0.1, 0.25]) {
        assert_eq!(point.value("constant"), Some(&json!(wanted)));
        assert_eq!(serde_json::to_value(&point.policies[0].policy).unwrap()["radius"], json!(wanted));
        assert_eq!(serde_json::to_value(&point.policies[4].policy).unwrap()["exploration"], json!(wanted));
        assert_eq!(point.label, format!("constant={wanted}"));
    }
}

#[test]
fn a_sweep_sets_one_policy_by_label_or_every_policy_that_has_the_key() {
    let points = swept("\"policy.SE, sharp.delta\" = [0.1, 0.01]\n\"policy.memory_bound\" = [3, 9]").points().to_vec();
    assert_eq!(points.len(), 4);
    assert_eq!(points[3].label, "SE, sharp.delta=0.01, M=9");
    assert_eq!(points[3].id, "SE__sharp.delta0.01-M9");
    let bounds: Vec<_> = points[3].policies.iter().map(|entry| entry.policy.memory_bound()).collect();
    assert_eq!(bounds, [Some(9), Some(9), None, None, Some(9)]);
    let delta = |i: usize| serde_json::to_value(&points[3].policies[i].policy).unwrap()["delta"].clone();
    assert_eq!((delta(0), delta(1)), (json!(0.05), json!(0.01)));
}

#[test]
fn missing_labels_are_filled_in_and_unique() {
    let text = "name = \"a\"\nhorizon = 100\ngame = { kind = \"stochastic\", arms = 2 }\n\
                policy = [{ kind = \"ucb1\" }, { kind = \"ucb1\", label = \"UCB1 #2\" }, { kind = \"ucb1\" }]\n";
    let experiment = Experiment::from_toml("f", text).unwrap();
    let labels: Vec<_> = experiment.file().unwrap().policy.iter().map(|entry| entry.label.as_str()).collect();
    assert_eq!(labels, ["UCB1", "UCB1 #2", "UCB1 #3"]);
}

#[test]
fn every_kind_of_game_and_policy_can_be_in_a_file() {
    let policies = PolicySpec::catalogue().iter().map(|kind| {
        let needed = kind.parameters.iter().filter(|parameter| parameter.required);
        let keys: String = needed.map(|parameter| format!(", {} = 2", parameter.name)).collect();
        format!("{{ kind = \"{}\"{keys} }}", kind.name)
    });
    let policies = policies.collect::<Vec<_>>().join(", ");
    for kind in GameSpec::catalogue() {
        let game = toml::to_string(&json!({"game": &kind.example})).unwrap();
        let text = format!("name = \"a\"\nhorizon = 10_000\npolicy = [{policies}]\n{game}");
        let experiment = Experiment::from_toml("f", &text).unwrap_or_else(|errors| panic!("{}\n{errors}", kind.name));
        assert_eq!(experiment.file().unwrap().game, kind.example);
        assert_eq!(Experiment::from_toml("f", &experiment.to_toml().unwrap()).unwrap(), experiment, "{}", kind.name);
    }
}

#[test]
fn former_names_of_kinds_and_keys_are_still_read() {
    let text = |kind: &str, curve: &str| {
        format!(
            "name = \"aliases\"\nhorizon = 10\n[[policy]]\nkind = \"ucb1\"\n[game]\n{kind}\n{}",
            if curve.is_empty() {
                String::new()
            } else {
                format!(
                    "[[game.arm]]\nmemory = 3\nloss = {{ {curve} = {{ alpha = 0.3, beta = 0.9, gamma = 0.01 }} }}\n"
                )
            }
        )
    };
    let read = |text: String| Experiment::from_toml("aliases.toml", &text).unwrap().file().unwrap().game.clone();
    let pair = |kind: &str| read(text(&format!("kind = \"{kind}\"\npair = \"2001-german\""), ""));
    assert_eq!(pair("race"), pair("fitted"));
    let custom = |curve: &str| read(text("kind = \"custom\"", curve));
    assert_eq!(custom("lap"), custom("exponential_linear"));
    assert_eq!(custom("exponential-linear"), custom("exponential_linear"));

    let policy = |index: &str| {
        let text =
            GOOD.to_owned() + &format!("\n[[policy]]\nkind = \"calibrated\"\nmemory_bound = 3\nindex = \"{index}\"\n");
        Experiment::from_toml("aliases.toml", &text).unwrap().file().unwrap().policy[5].policy.clone()
    };
    assert_eq!(policy("race"), policy("challenge"));
}

#[test]
fn a_loss_can_be_a_number_or_a_list() {
    let file = |steady: &str, slow: &str| {
        format!(
            "name = \"short\"\nhorizon = 10\npolicy = [{{ kind = \"ucb1\" }}]\n[game]\nkind = \"custom\"\n\
             [[game.arm]]\nmemory = 1\nloss = {steady}\n[[game.arm]]\nmemory = 3\nloss = {slow}\n"
        )
    };
    let read = |text: &str| Experiment::from_toml("short.toml", text).unwrap_or_else(|errors| panic!("{errors}"));
    let short = read(&file("0.5", "[0.9, 0.5, 0.1]"));
    let game = short.file().unwrap().game.draw(&mut StreamKey::new(1, "short", 0).game()).unwrap();
    // The window is the last three plays. Arm 1 has 1, 2, 3 and 3 plays in it; then, after a play of arm 0, again 2.
    assert_eq!(game.losses(&[0, 1, 1, 1, 1, 0, 1]).unwrap(), [0.5, 0.9, 0.5, 0.1, 0.1, 0.5, 0.5]);

    let long = read(&file("{ constant = 0.5 }", "{ by_plays = [0.9, 0.5, 0.1] }"));
    assert_eq!(short, long);
    assert_eq!(short.to_toml().unwrap(), long.to_toml().unwrap(), "files are written with tables");
    let value = json!({
        "name": "short", "horizon": 10, "policy": [{"kind": "ucb1"}],
        "game": {"kind": "custom", "arm": [{"memory": 1, "loss": 0.5}, {"memory": 3, "loss": [0.9, 0.5, 0.1]}]},
    });
    assert_eq!(Experiment::from_json("short.toml", &value).unwrap(), long);
}
