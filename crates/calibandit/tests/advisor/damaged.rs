//! Snapshots that were changed after they were written: of every kind of policy, in every field.
//!
//! A changed snapshot is refused, or the advisor works: no panic, no run that does not end, no arm that does not exist,
//! no certificate without a meaning. The checksum is left out of these tests, because it would refuse every change.

use calibandit::{Advisor, AnyPolicy, AskError, Phase, PolicySpec, Problem, Stream, StreamKey};
use rand::RngExt;
use serde_json::{Value, json};

const ARMS: usize = 4;

/// Every kind of policy, and every index of `calibrated`.
fn specs() -> Vec<PolicySpec> {
    let kinds = PolicySpec::catalogue().iter().map(|kind| kind.example.clone().with_memory_bound(3));
    let indices = ["empirical-bayes", "cautious", "kl-ucb", "moss", "bernstein", "imed", "thompson", "elimination"];
    let calibrated = indices.into_iter().map(|index| {
        serde_json::from_value(json!({"kind": "calibrated", "memory_bound": 3, "index": index}))
            .expect("a valid policy")
    });
    kinds.chain(calibrated).collect()
}

/// An advisor that has made this many plays; arm 0 is the best. Some losses come late, some are given up.
fn used(spec: &PolicySpec, seed: u64, plays: u64) -> Advisor<AnyPolicy> {
    let problem = Problem { arms: ARMS, horizon: Some(5000) };
    let policy = spec.build(&problem, StreamKey::new(seed, "damaged", 0).policy()).expect("a valid policy");
    let mut advisor = Advisor::new(policy, ARMS).expect("a valid number of arms");
    use_for(&mut advisor, plays);
    advisor
}

fn use_for(advisor: &mut Advisor<AnyPolicy>, plays: u64) {
    let mut made = 0;
    while made < plays {
        match advisor.ask() {
            Ok(decision) => {
                made += 1;
                let noise = (decision.id as f64 * 0.618).fract();
                let (low, high) = (advisor.loss_range().low(), advisor.loss_range().high());
                let loss = if noise < 0.2 + 0.2 * decision.arm as f64 { high } else { low };
                if decision.phase == Phase::Measured && decision.id % 5 != 0 {
                    advisor.tell(decision.id, loss).expect("the loss is in the range");
                }
            }
            Err(AskError::Waiting { outstanding }) => {
                assert!(!outstanding.is_empty(), "an advisor that waits for nothing is stuck");
                for id in outstanding {
                    let high = advisor.loss_range().high();
                    let settled = if id % 35 == 0 { advisor.forget(id).map(|()| true) } else { advisor.tell(id, high) };
                    assert_eq!(settled, Ok(true), "it is outstanding");
                }
            }
            Err(error) => panic!("{error}"),
        }
    }
}

/// Changes one place of a JSON document, chosen at random.
fn damage(json: &mut Value, stream: &mut Stream) {
    let mut places = Vec::new();
    collect(json, &mut places);
    let at = stream.random_range(0..places.len());
    let place = json.pointer_mut(&places[at]).expect("the place was collected");
    match place {
        Value::Array(items) if !items.is_empty() && stream.random::<bool>() => {
            let position = stream.random_range(0..items.len());
            match stream.random_range(0..3) {
                0 => drop(items.remove(position)),
                1 => items.insert(position, items[position].clone()),
                _ => items.swap(0, position),
            }
        }
        Value::Number(number) if stream.random::<bool>() => {
            let value = number.as_f64().expect("a number");
            let changed = [value + 1.0, value - 1.0, value * 2.0, -value, value * 1e9, value + 0.5, value * 1.001];
            let changed = changed[stream.random_range(0..changed.len())];
            *place = if number.is_f64() || changed.fract() != 0.0 || changed < 0.0 {
                json!(changed)
            } else {
                json!(changed as u64)
            };
        }
        _ => {
            let others = [
                json!(null),
                json!(0),
                json!(1),
                json!(-1),
                json!(7),
                json!(1_000_000_007u64),
                json!(u64::MAX),
                json!(0.5),
                json!(1e300),
                json!(-1e300),
                json!(1e-300),
                json!(true),
                json!("x"),
                json!([]),
                json!({}),
            ];
            *place = others[stream.random_range(0..others.len())].clone();
        }
    }
}

fn collect(json: &Value, places: &mut Vec<String>) {
    fn walk(json: &Value, path: &str, places: &mut Vec<String>) {
        places.push(path.to_string());
        match json {
            Value::Array(items) => {
                items.iter().enumerate().for_each(|(i, item)| walk(item, &format!("{path}/{i}"), places));
            }
            Value::Object(fields) => {
                fields.iter().for_each(|(key, field)| walk(field, &format!("{path}/{key}"), places))
            }
            _ => {}
        }
    }
    walk(json, "", places);
}

/// Restores `count` damaged snapshots of a policy, and uses those that are accepted. Returns how many were refused.
fn refused_of(spec: &PolicySpec, count: u64) -> u64 {
    let mut stream = StreamKey::new(1, "damage", spec.label().len() as u64).noise();
    let mut refused = 0;
    let snapshots: Vec<Value> = [0, 1, 7, 40, 150, 400, 1500]
        .into_iter()
        .map(|plays| {
            serde_json::from_str(&used(spec, plays, plays).to_json().expect("it serialises")).expect("valid JSON")
        })
        .collect();
    for round in 0..count {
        let mut json = snapshots[round as usize % snapshots.len()].clone();
        for _ in 0..=round % 2 {
            damage(&mut json, &mut stream);
        }
        let text = json.to_string();
        let Ok(mut advisor) = Advisor::<AnyPolicy>::from_edited_json(&text) else {
            refused += 1;
            continue;
        };
        let arms = advisor.plays().len();
        let check = |advisor: &Advisor<AnyPolicy>| {
            assert!(advisor.recommend() < arms, "recommends an arm that does not exist: {text}");
            if let Some(certificate) = advisor.certificate() {
                let known = !certificate.arms.is_empty() && certificate.arms.iter().all(|&arm| arm < arms);
                let sane = certificate.gap >= 0.0 && certificate.gap.is_finite();
                assert!(known && sane && certificate.delta > 0.0 && certificate.delta < 1.0, "{certificate:?}: {text}");
            }
        };
        check(&advisor);
        use_for(&mut advisor, 100);
        check(&advisor);
        let run = advisor.current_run();
        // The horizon of these policies is 5000; the elimination policies may have runs beyond it.
        let ends = run.is_none_or(|run| run.record == u64::MAX || run.plays() < 1_000_000);
        assert!(ends || advisor.decisions() < 200, "stuck in {run:?}: {text}");
        // What was accepted can be saved and restored again.
        Advisor::<AnyPolicy>::from_json(&advisor.to_json().expect("it serialises"))
            .unwrap_or_else(|error| panic!("{error}: {text}"));
    }
    refused
}

/// The number of damaged snapshots per policy: `CALIBANDIT_DAMAGES`, for longer searches.
fn damages() -> u64 {
    std::env::var("CALIBANDIT_DAMAGES").ok().and_then(|text| text.parse().ok()).unwrap_or(700)
}

#[test]
fn damaged_snapshots_are_refused_or_work() {
    let count = damages();
    for spec in specs() {
        let refused = refused_of(&spec, count);
        println!("{}: {refused} of {count} refused", spec.label());
        assert!(refused > count / 2, "{}: only {refused} of {count} were refused", spec.label());
    }
}

/// With the checksum, every change of a value is refused.
#[test]
fn the_checksum_finds_every_change_of_a_value() {
    for spec in specs() {
        let json = used(&spec, 3, 300).to_json().unwrap();
        let original: Value = serde_json::from_str(&json).unwrap();
        let compact = original.to_string();
        let mut stream = StreamKey::new(2, "damage", 0).noise();
        for _ in 0..200 {
            let mut changed = original.clone();
            damage(&mut changed, &mut stream);
            let restored = Advisor::<AnyPolicy>::from_json(&changed.to_string());
            // Compared as text: -0.0 and 0.0 are equal as numbers.
            let text = changed.to_string();
            assert_eq!(restored.is_ok(), text == compact, "{text}");
        }
        // The order of keys and white space do not matter.
        let pretty = serde_json::to_string_pretty(&original).unwrap();
        assert_eq!(Advisor::<AnyPolicy>::from_json(&pretty).unwrap().to_json().unwrap(), json);
    }
}

#[test]
fn restored_policies_of_every_kind_are_accepted_at_every_play() {
    for spec in specs() {
        for seed in 0..3 {
            let mut advisor = used(&spec, seed, 0);
            for _ in 0..400 {
                use_for(&mut advisor, 1);
                let json = advisor.to_json().unwrap();
                let restored = Advisor::<AnyPolicy>::from_json(&json);
                assert_eq!(restored.unwrap_or_else(|error| panic!("{error}: {json}")), advisor);
            }
        }
    }
}

/// An advisor in the middle of a run, as JSON, after a change of one value.
pub(super) fn changed(spec: Value, plays: u64, place: &str, value: Value) -> String {
    let spec: PolicySpec = serde_json::from_value(spec).expect("a valid policy");
    let snapshot = used(&spec, 1, plays).to_json().expect("it serialises");
    let mut json: Value = serde_json::from_str(&snapshot).expect("valid JSON");
    *json.pointer_mut(place).expect("the place is in the snapshot") = value;
    json.to_string()
}

/// Found by fuzzing: the run ended, and the monitor had more losses than there were plays.
#[test]
fn a_monitor_with_losses_of_a_run_that_is_not_complete_is_refused() {
    let policy = json!({"kind": "explore-then-commit", "memory_bound": 3, "explore": 237});
    let text = changed(policy, 200, "/state/monitor/pooled/0", json!(7.0));
    let refused = Advisor::<AnyPolicy>::from_edited_json(&text).unwrap_err().to_string();
    assert!(refused.contains("the pooled losses of the monitor are out of range"), "{refused}");
}

/// Found by damage: the sum of the plays of a pilot by position overflowed.
#[test]
fn a_pilot_whose_plays_overflow_is_refused() {
    let policy = json!({"kind": "pilot", "longest": 8});
    let place = "/policy/pilot/phase/search/search/positions/0/plays";
    let text = changed(policy, 100, place, json!(u64::MAX));
    let refused = Advisor::<AnyPolicy>::from_edited_json(&text).unwrap_err().to_string();
    assert!(refused.contains("contradicts itself"), "{refused}");
}
