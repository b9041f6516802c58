//! Every target on its corpus and on changed copies of it: what `cargo xtask fuzz` does for longer with libFuzzer.

use std::fs;
use std::path::Path;

use calibandit_fuzz::mutation::mutated;
use calibandit_fuzz::{FuzzTarget, TARGETS};
use rand::rngs::SmallRng;
use rand::{RngExt, SeedableRng};

/// The number of changed copies per target: `CALIBANDIT_MUTATIONS`, for longer searches.
fn mutations() -> usize {
    std::env::var("CALIBANDIT_MUTATIONS").ok().and_then(|text| text.parse().ok()).unwrap_or(1500)
}

fn corpus(target: &FuzzTarget) -> Vec<Vec<u8>> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("corpus").join(target.name);
    let mut paths: Vec<_> =
        fs::read_dir(&folder).unwrap().map(|entry| entry.unwrap().path()).filter(|path| path.is_file()).collect();
    paths.sort();
    paths.iter().map(|path| fs::read(path).unwrap()).collect()
}

fn search(name: &str) {
    let target = TARGETS.iter().find(|target| target.name == name).unwrap();
    let inputs = corpus(target);
    assert!(!inputs.is_empty(), "{name} has a corpus");
    inputs.iter().for_each(|input| (target.run)(input));
    let mut random = SmallRng::seed_from_u64(1);
    for _ in 0..mutations() {
        let [one, other] = [0; 2].map(|_| &inputs[random.random_range(0..inputs.len())]);
        let changed = mutated(one, other, &mut random);
        let kept = changed.clone();
        if std::panic::catch_unwind(|| (target.run)(&changed)).is_err() {
            panic!("{name} failed on {}", String::from_utf8_lossy(&kept).escape_debug());
        }
    }
}

/// One test per target, so that they run at the same time and a failure names its target.
macro_rules! targets {
    ($($name:ident),*) => {
        $(#[test]
        fn $name() {
            search(stringify!($name));
        })*

        #[test]
        fn every_target_has_a_test() {
            assert_eq!(TARGETS.map(|target| target.name), [$(stringify!($name)),*]);
        }
    };
}

targets!(
    experiment_files,
    journals,
    manifests,
    results_csv,
    parquet_tables,
    snapshots,
    lane_snapshots,
    fit_tables,
    histories,
    logs
);
