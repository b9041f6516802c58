//! The paper's experiment files are valid, complete and as the paper describes them.

#![allow(clippy::unwrap_used)]

use std::path::PathBuf;

use calibandit::GameSpec;
use calibandit_experiment::Experiment;
use calibandit_experiment::spec::Scale;
use calibandit_paper::figures::{LANES, NEIGHBOURS};
use serde_json::{Value, json};

fn experiments() -> Vec<(PathBuf, Experiment)> {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/experiments");
    let paths = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let mut found: Vec<_> = paths
        .filter(|path| path.extension().is_some_and(|extension| extension == "toml"))
        .map(|path| match Experiment::read(&path) {
            Ok(experiment) => (path, experiment),
            Err(errors) => panic!("{errors}"),
        })
        .collect();
    found.sort_by(|(a, _), (b, _)| a.cmp(b));
    found
}

fn named(name: &str) -> Experiment {
    experiments().into_iter().map(|(_, experiment)| experiment).find(|found| found.name() == name).unwrap()
}

#[test]
fn every_file_is_named_after_its_experiment_and_has_the_size_of_the_paper() {
    let found = experiments();
    assert!(found.len() >= 9);
    for (path, experiment) in found {
        let name = experiment.name();
        assert_eq!(path.file_stem().unwrap().to_str(), Some(name));
        assert!(experiment.file().unwrap().title.is_some(), "{name}");
        // Not in the paper: those of docs/beyond-reo.md, docs/neighbours.md and docs/lanes.md have sizes of their own.
        let other = NEIGHBOURS.iter().chain(LANES).any(|figure| figure.name() == name);
        if name.starts_with("beyond-") || other {
            continue;
        }
        // Quantiles of the regret of the calibrated family need more instances than means.
        let instances = match name {
            "calibrated-tail" => 20_000,
            name if name.starts_with("calibrated") => 400,
            _ => 20,
        };
        assert_eq!((experiment.horizon(), experiment.instances()), (1_000_000, instances), "{name}");
    }
}

#[test]
fn a_file_with_every_default_written_out_is_the_same_experiment() {
    for (_, experiment) in experiments() {
        let text = experiment.to_toml().unwrap();
        assert_eq!(Experiment::from_toml("full.toml", &text).unwrap(), experiment, "{text}");
    }
}

#[test]
fn figure_1a_is_read_as_written() {
    let experiment = named("fig1a");
    assert_eq!((experiment.horizon(), experiment.instances(), experiment.seed()), (1_000_000, 20, 1));
    assert_eq!(experiment.heading(), "CPR over time, unweighted");
    assert_eq!(experiment.file().unwrap().checkpoints.scale, Scale::Linear);
    assert_eq!(
        experiment.policy_labels(),
        ["SE", "SE, sharp", "EXP3", "EXP3B", "UCB (epochs)", "calibrated"].map(str::to_owned)
    );
    let expected: GameSpec = serde_json::from_value(json!({"kind": "step", "arms": 5, "memory": 3})).unwrap();
    assert_eq!(experiment.file().unwrap().game, expected);
    let [point] = experiment.points() else { panic!("{} points", experiment.points().len()) };
    assert_eq!((point.id.as_str(), point.settings.len()), ("step", 0));
}

/// The values of one key of the game and of a policy at every point.
fn values(experiment: &Experiment, game_key: &str, policy: usize, policy_key: &str) -> Vec<(Value, Value)> {
    let of = |point: &calibandit_experiment::spec::Point| {
        let game = serde_json::to_value(&point.game).unwrap();
        let policy = serde_json::to_value(&point.policies[policy].policy).unwrap();
        (game[game_key].clone(), policy[policy_key].clone())
    };
    experiment.points().iter().map(of).collect()
}

#[test]
fn figure_1b_has_every_combination_of_arms_and_memory_bounds() {
    let experiment = named("fig1b");
    let labels = experiment.game_labels();
    assert_eq!(labels.len(), 18);
    assert_eq!(labels[..2], ["K=5, M=4", "K=5, M=8"]);
    assert_eq!(labels[17], "K=20, M=40");
    let found = values(&experiment, "arms", 4, "memory_bound");
    assert_eq!((found[0].clone(), found[17].clone()), ((json!(5), json!(4)), (json!(20), json!(40))));
}

#[test]
fn the_appendix_has_ten_points_and_the_needle_is_played_with_the_true_memory() {
    let ten = named("fig-app-unweighted").points().to_vec();
    assert_eq!(ten.len(), 10);
    assert_eq!((ten[9].id.as_str(), ten[9].label.as_str()), ("m10-K20-M40", "m=10, K=20, M=40"));
    let found = values(&named("needle"), "memory", 1, "memory_bound");
    assert!(found.iter().all(|(memory, bound)| memory == bound), "{found:?}");
}
