//! Writes the seeds of every corpus: run it after a change of a file format.
//!
//! `cargo run -p calibandit-fuzz --example seeds`

use std::fs;
use std::path::{Path, PathBuf};

use calibandit::lanes::{ExpiryRule, LaneAdvisor, LaneError, LaneSettings};
use calibandit::policy::Calibrated;
use calibandit::{Advisor, AskError, GameSpec, PolicySpec};
use calibandit_fuzz::fixture::{EXPERIMENT, FIXTURE};
use serde_json::{Value, json};

fn main() {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    experiment_files(here);
    let corpus = |name: &str| Corpus::new(here, name);
    let fixture = &*FIXTURE;
    // The first byte of edits is not 0; then a choice, a place in three bytes, and what the choice needs.
    let edits: [(&str, &[u8]); 8] = [
        ("unchanged", &[]),
        ("bit", &[0, 80, 0, 0, 0, 3]),
        ("digit", &[1, 90, 0, 0, 0, b'7']),
        ("cut", &[2, 200, 0, 0, 0]),
        ("hole", &[3, 60, 0, 0, 9]),
        ("line-twice", &[6, 250, 0, 0, 0, 5, 0, 0]),
        ("line-missing", &[7, 0, 1, 0, 0]),
        ("several", &[0, 1, 2, 0, 0, 1, 5, 99, 0, 0, 20, 30, 0, 0, 7, 1, 1, 0, 0]),
    ];
    for (name, edits) in edits {
        corpus("journals").add(name, &[&[1], edits].concat());
        for file in 0..fixture.files.len() as u8 {
            corpus("manifests").add(&format!("{name}-{file}"), &[&[file, 1], edits].concat());
        }
    }
    corpus("journals").add("contents", b"\0{\"journal\": 2}\n");
    corpus("manifests").add("contents", b"\0\0{\"manifest\": 2, \"shard\": {\"index\": 1, \"of\": 1}}");
    let results = fixture.files.iter().find(|(name, _)| name == "results.csv").expect("a run has results");
    corpus("results_csv").add("results", &results.1);
    corpus("parquet_tables").add("numbers", &(0..=255).collect::<Vec<u8>>());
    corpus("parquet_tables").add("letters", b"ab\x05hello\x04x\xc3\xa9yz");
    snapshots(&corpus("snapshots"));
    lane_snapshots(&corpus("lane_snapshots"));
    let table = "arm,position,loss\nada,1,9.2\nada,2,7.1\nada,3,6.8\nada,4,6.6\nada,5,6.5\n\
                 bo,1,8.1\nbo,2,8.0\nbo,3,7.4\nbo,4,6.4\nbo,5,5.9\ncleo,1,7.0\n";
    corpus("fit_tables").add("plain", table.as_bytes());
    corpus("fit_tables").add("crlf", table.replace('\n', "\r\n").as_bytes());
    corpus("fit_tables").add("missing", table.replace("6.6", "NA").replace("8.0", "").as_bytes());
    logs(&corpus("logs"));
    for kind in 0..PolicySpec::catalogue().len() as u8 {
        let calls = (0..120u8).flat_map(|call| [[0, 3, 0, 1, 2, 4, 6, 7][call as usize % 8], call % 15, 2]);
        let history: Vec<u8> = [kind, 2, 4, 2, 100, 1].into_iter().chain([0; 8]).chain(calls).collect();
        corpus("histories").add(&format!("policy-{kind}"), &history);
    }
}

/// Two arms in blocks, one of which warms up; with order and unit, with missing losses, and a Parquet table.
fn logs(corpus: &Corpus) {
    let mut table = "arm,loss,order,unit\n".to_owned();
    for play in 0..400 {
        let (arm, position) = (["a", "b"][play / 10 % 2], play % 10);
        let loss = 0.5 + 0.1 * ((play * 7) % 5) as f64 + if arm == "b" && position < 3 { 1.0 } else { 0.0 };
        table += &format!("{arm},{loss:.2},{play},{}\n", play / 200);
    }
    corpus.add("plain", table.as_bytes());
    corpus.add("missing", table.replace("0.60", "NA").replace("0.80", "").as_bytes());
    corpus.add("crlf", table.lines().take(80).map(|line| format!("{line}\r\n")).collect::<String>().as_bytes());
    let results = FIXTURE.files.iter().find(|(name, _)| name == "results.parquet").expect("a run has results");
    corpus.add("parquet", &results.1);
}

/// The folder of a target's seeds.
struct Corpus(PathBuf);

impl Corpus {
    fn new(here: &Path, target: &str) -> Self {
        let folder = here.join("corpus").join(target);
        fs::create_dir_all(&folder).expect("the folder can be made");
        Self(folder)
    }

    fn add(&self, name: &str, bytes: &[u8]) {
        fs::write(self.0.join(name), bytes).expect("the seed can be written");
    }
}

/// Every kind of game and every kind of policy, as TOML and as JSON, and a file with many keys.
fn experiment_files(here: &Path) {
    let corpus = Corpus::new(here, "experiment_files");
    corpus.add("sweep.toml", EXPERIMENT.as_bytes());
    let files = here.join("../experiments");
    for name in ["fig1a", "fig2b", "wrong-m", "needle", "lanes-session", "lanes-overlap"] {
        corpus.add(&format!("{name}.toml"), &fs::read(files.join(format!("{name}.toml"))).expect("it is there"));
    }
    let policies = PolicySpec::catalogue();
    for (position, game) in GameSpec::catalogue().iter().enumerate() {
        let policy = &policies[position % policies.len()].example;
        let file =
            json!({"name": game.name, "horizon": 1000, "instances": 2, "game": game.example, "policy": [policy]});
        corpus.add(&format!("{}.json", game.name), file.to_string().as_bytes());
    }
    let all: Vec<Value> = policies.iter().map(|policy| json!(policy.example)).collect();
    let file = json!({"name": "policies", "horizon": 500, "game": {"kind": "step"}, "policy": all});
    corpus.add("policies.json", file.to_string().as_bytes());
}

/// Lane advisors: one lane and many, with and without overlap, with open decisions.
fn lane_snapshots(corpus: &Corpus) {
    let rules = [ExpiryRule::Never, ExpiryRule::Lost { after: 20 }, ExpiryRule::Loss { after: 20, loss: 1.0 }];
    for (number, rule) in rules.into_iter().enumerate() {
        for plays in [3, 90] {
            let settings = LaneSettings::new(rule).overlap(1 + number as u32).reset_after(50);
            let settings = if number == 2 { settings } else { settings.many() };
            let builder = LaneAdvisor::builder(Calibrated::builder(3).first(4), 3, settings).horizon(5000);
            let mut advisor = builder.build().expect("the settings are valid");
            for play in 0..plays {
                let lane = if number == 2 { 0 } else { play % 4 };
                match advisor.ask(lane, play) {
                    Ok(decision) if play % 3 > 0 => drop(advisor.tell(decision.id, (play % 2) as f64, play)),
                    Ok(_) => {}
                    Err(LaneError::Busy { open, .. }) => drop(advisor.tell(open[0], 0.5, play)),
                    Err(error) => panic!("{error}"),
                }
            }
            let json = advisor.to_json().expect("an advisor can be saved");
            corpus.add(&format!("lanes-{number}-{plays}.json"), json.as_bytes());
        }
    }
}

/// Advisors of every kind of policy after a few and after many plays.
fn snapshots(corpus: &Corpus) {
    for kind in PolicySpec::catalogue() {
        for plays in [0, 9, 200] {
            let spec = kind.example.clone().with_memory_bound(3);
            let mut advisor = Advisor::builder(spec, 4).horizon(5000).build().expect("the example is valid");
            for play in 0..plays {
                let loss = f64::from(u8::from(play % 3 == 0));
                match advisor.ask() {
                    Ok(decision) => drop(advisor.tell(decision.id, loss).expect("it is outstanding")),
                    Err(AskError::Waiting { .. }) => unreachable!("every loss is told"),
                    Err(error) => panic!("{error}"),
                }
            }
            let json = advisor.to_json().expect("an advisor can be saved");
            corpus.add(&format!("{}-{plays}.json", kind.name), json.as_bytes());
        }
    }
}
