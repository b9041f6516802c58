//! The experiments that come with the project, the sweeps they use, and the schema of their files.

#![allow(clippy::unwrap_used)]

use std::path::PathBuf;

use calibandit::{GameSpec, PolicySpec};
use calibandit_experiment::Experiment;
use calibandit_experiment::spec::{Scale, schema};
use serde_json::{Value, json};

fn experiments() -> Vec<(PathBuf, Experiment)> {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../../experiments");
    let paths = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let mut found: Vec<_> = paths
        .filter(|path| path.extension().is_some_and(|extension| extension == "toml"))
        .map(|path| match Experiment::read(&path) {
            Ok(spec) => (path, spec),
            Err(errors) => panic!("{errors}"),
        })
        .collect();
    found.sort_by(|(a, _), (b, _)| a.cmp(b));
    found
}

fn named(name: &str) -> Experiment {
    experiments().into_iter().map(|(_, spec)| spec).find(|spec| spec.name() == name).unwrap()
}

#[test]
fn every_file_is_named_after_its_experiment_and_has_the_paper_s_size() {
    let found = experiments();
    assert!(found.len() >= 9);
    for (path, spec) in found {
        assert_eq!(path.file_stem().unwrap().to_str(), Some(spec.name()));
        // The calibrated family is judged by its tail too, which takes more instances.
        let instances = match spec.name() {
            "calibrated-tail" => 20_000,
            name if name.starts_with("calibrated") => 400,
            _ => 20,
        };
        assert_eq!((spec.horizon(), spec.instances()), (1_000_000, instances), "{}", spec.name());
        assert!(spec.file().title.is_some(), "{}", spec.name());
    }
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
fn a_file_with_every_default_filled_in_is_the_same_experiment() {
    for (_, spec) in experiments() {
        let text = spec.to_toml();
        assert_eq!(Experiment::from_toml("full.toml", &text).unwrap(), spec, "{text}");
    }
    let text = named("fig1a").to_toml();
    for key in ["exploration = 2.0", "delta = 0.05", "feedback = \"bernoulli\"", "points = 200"] {
        assert!(text.contains(key), "{key}\n{text}");
    }
    let point = serde_json::to_string(&named("fig1a").points()[0]).unwrap();
    assert!(point.contains("\"gamma\":") && point.contains("\"batch\":"), "{point}");
}

#[test]
fn the_first_figure_is_read_word_by_word() {
    let spec = named("fig1a");
    assert_eq!((spec.horizon(), spec.instances(), spec.seed()), (1_000_000, 20, 1));
    assert_eq!(spec.heading(), "CPR over time, unweighted");
    assert_eq!(spec.file().checkpoints.scale, Scale::Linear);
    let labels: Vec<_> = spec.file().policy.iter().map(|entry| entry.label.as_str()).collect();
    assert_eq!(labels, ["SE", "SE, sharp", "EXP3", "EXP3B", "UCB (epochs)", "calibrated"]);
    let expected: GameSpec = serde_json::from_value(json!({"kind": "step", "arms": 5, "memory": 3})).unwrap();
    assert_eq!(spec.file().game, expected);
    let points = spec.points();
    assert_eq!(points.len(), 1);
    assert_eq!((points[0].id.as_str(), points[0].settings.len()), ("step", 0));
}

/// The values of one key of the game and of a policy at every point.
fn values(spec: &Experiment, game_key: &str, policy: usize, policy_key: &str) -> Vec<(Value, Value)> {
    let points = spec.points();
    let json = |value: Result<Value, serde_json::Error>, key: &str| value.unwrap()[key].clone();
    let of = |point: &calibandit_experiment::spec::Point| {
        let game = json(serde_json::to_value(&point.game), game_key);
        (game, json(serde_json::to_value(&point.policies[policy].policy), policy_key))
    };
    points.iter().map(of).collect()
}

#[test]
fn grids_run_over_every_combination_with_the_last_axis_fastest() {
    let spec = named("fig1b");
    let labels: Vec<_> = spec.game_labels();
    assert_eq!(labels.len(), 18);
    assert_eq!(labels[..2], ["K=5, M=4", "K=5, M=8"]);
    assert_eq!(labels[17], "K=20, M=40");
    let found = values(&spec, "arms", 4, "memory_bound");
    assert_eq!((found[0].clone(), found[17].clone()), ((json!(5), json!(4)), (json!(20), json!(40))));
}

#[test]
fn points_and_named_axes_set_keys_together() {
    let ten = named("fig-app-unweighted").points().to_vec();
    assert_eq!(ten.len(), 10);
    assert_eq!((ten[9].id.as_str(), ten[9].label.as_str()), ("m10-K20-M40", "m=10, K=20, M=40"));
    let found = values(&named("needle"), "memory", 1, "memory_bound");
    assert!(found.iter().all(|(memory, bound)| memory == bound), "{found:?}");
    let spec = named("constants");
    for (point, wanted) in spec.points().iter().zip([0.05, 0.1, 0.25]) {
        assert_eq!(point.value("constant"), Some(&json!(wanted)));
        assert_eq!(serde_json::to_value(&point.policies[0].policy).unwrap()["radius"], json!(wanted));
        assert_eq!(serde_json::to_value(&point.policies[3].policy).unwrap()["exploration"], json!(wanted));
        assert_eq!(point.label, format!("constant={wanted}"));
    }
}

#[test]
fn a_sweep_reaches_one_policy_by_label_and_every_policy_that_has_the_key() {
    let text = include_str!("../../../experiments/fig1a.toml");
    let sharp =
        format!("{text}\n[sweep]\n\"policy.SE, sharp.delta\" = [0.1, 0.01]\n\"policy.memory_bound\" = [3, 9]\n");
    let points = Experiment::from_toml("f", &sharp).unwrap().points().to_vec();
    assert_eq!(points.len(), 4);
    assert_eq!(points[3].label, "SE, sharp.delta=0.01, M=9");
    assert_eq!(points[3].id, "SE__sharp.delta0.01-M9");
    let bounds: Vec<_> = points[3].policies.iter().map(|entry| entry.policy.memory_bound()).collect();
    assert_eq!(bounds, [Some(9), Some(9), None, None, Some(9), Some(9)]);
    let deltas: Vec<_> = points[3].policies[..2]
        .iter()
        .map(|entry| serde_json::to_value(&entry.policy).unwrap()["delta"].clone())
        .collect();
    assert_eq!(deltas, [json!(0.05), json!(0.01)]);
}

#[test]
fn labels_that_files_leave_out_are_made_different() {
    let text = "name = \"a\"\nhorizon = 100\ngame = { kind = \"stochastic\", arms = 2 }\n\
                policy = [{ kind = \"ucb1\" }, { kind = \"ucb1\", label = \"UCB1 #2\" }, { kind = \"ucb1\" }]\n";
    let spec = Experiment::from_toml("f", text).unwrap();
    let labels: Vec<_> = spec.file().policy.iter().map(|entry| entry.label.as_str()).collect();
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
        let spec = Experiment::from_toml("f", &text).unwrap_or_else(|errors| panic!("{}\n{errors}", kind.name));
        assert_eq!(spec.file().game, kind.example);
        assert_eq!(Experiment::from_toml("f", &spec.to_toml()).unwrap(), spec, "{}", kind.name);
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
    let read = |text: String| Experiment::from_toml("aliases.toml", &text).unwrap().file().game.clone();
    let pair = |kind: &str| read(text(&format!("kind = \"{kind}\"\npair = \"2001-german\""), ""));
    assert_eq!(pair("race"), pair("fitted"));
    let custom = |curve: &str| read(text("kind = \"custom\"", curve));
    assert_eq!(custom("lap"), custom("exponential_linear"));
    assert_eq!(custom("exponential-linear"), custom("exponential_linear"));
}
