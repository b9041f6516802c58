//! The experiment files behind the numbers in docs/reproduction.md.

#![allow(clippy::unwrap_used)] // a test may panic

use calibandit_experiment::Experiment;
use calibandit_experiment::preflight::preflight;

#[test]
fn every_experiment_is_valid_and_has_an_exact_optimum() {
    for entry in std::fs::read_dir(concat!(env!("CARGO_MANIFEST_DIR"), "/experiments/claims")).unwrap() {
        let path = entry.unwrap().path();
        let experiment = Experiment::read(&path).unwrap_or_else(|errors| panic!("{errors}"));
        assert_eq!(Some(experiment.name()), path.file_stem().and_then(|stem| stem.to_str()));
        let points = preflight(&experiment);
        assert!(points.iter().any(|point| point.optimum.exact), "{}", path.display());
    }
}
