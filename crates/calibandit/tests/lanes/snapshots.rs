//! Snapshots of lane advisors: the restored advisor is the same, and damaged text is refused or harmless. The histories
//! have everything that can happen: overlap, outcomes of all kinds, resets, arms that come and go.

use calibandit::lanes::{
    AskAfter, ExpiryRule, LaneAdvisor, LaneAnswer, LaneCommand, LaneFiller, LaneParts, LaneSettings, PlayOutcome,
};
use calibandit::policy::{Calibrated, Index};
use calibandit::{AnyPolicy, Policy, PolicySpec, SnapshotError, Stream, StreamKey};
use rand::RngExt;
use serde_json::Value;

type Lanes = LaneAdvisor<AnyPolicy>;

const INDICES: [Index; 4] = [Index::Challenge, Index::EmpiricalBayes, Index::Elimination, Index::Thompson];

fn settings(number: u64) -> LaneSettings {
    let expiry = [ExpiryRule::Never, ExpiryRule::Lost { after: 9 }, ExpiryRule::Loss { after: 7, loss: 1.0 }];
    let fillers = [LaneFiller::Stay, LaneFiller::Leader, LaneFiller::Wait];
    let settings = LaneSettings::new(expiry[number as usize % 3]).overlap(1 + (number / 3 % 3) as u32);
    let settings = settings.filler(fillers[(number / 2 % 3) as usize]).reset_after(30);
    if number % 4 == 3 { settings } else { settings.many() }
}

fn advisor(number: u64) -> Lanes {
    let spec = PolicySpec::from(Calibrated::builder(3).first(4).index(INDICES[number as usize % 4]));
    let horizon = if number.is_multiple_of(2) { 5000 } else { 400 };
    LaneAdvisor::builder(spec, 2 + number as usize % 3, settings(number)).seed(number).horizon(horizon).build().unwrap()
}

/// A command that may be refused.
fn command(advisor: &Lanes, dice: &mut Stream, arms_change: bool) -> LaneCommand {
    let lane = if advisor.settings().lanes == calibandit::lanes::LaneMode::One { 0 } else { dice.random_range(0..6) };
    let loss = f64::from(dice.random_range(0..3u8)) / 2.0;
    let arms = advisor.plays().len();
    let arm = dice.random_range(0..arms);
    let decision = match advisor.open().nth(dice.random_range(0..4)) {
        Some(open) => open,
        None => dice.random_range(0..advisor.decisions() + 1),
    };
    let settle = |outcome| LaneCommand::Settle { decision, outcome, played_at: None };
    match dice.random_range(0..100u32) {
        0..45 => LaneCommand::Ask { lane, after: AskAfter::Unstated, available: None },
        45..80 => settle(PlayOutcome::Loss(loss)),
        80..84 => settle(PlayOutcome::Done),
        84..88 => settle(PlayOutcome::Lost),
        88..90 => settle(PlayOutcome::NotPlayed),
        90..92 => settle(PlayOutcome::Overridden { arm, loss: Some(loss) }),
        92..94 => LaneCommand::Play { lane, arm, loss: Some(loss) },
        94..96 => LaneCommand::Reset { lane: Some(lane) },
        96 if arms_change && arms < 6 => LaneCommand::AddArm,
        97 if arms_change => LaneCommand::RetireArm { arm },
        _ => LaneCommand::Tick,
    }
}

/// Applies random commands; returns the number of those that were accepted.
fn play(advisor: &mut Lanes, commands: usize, dice: &mut Stream, arms_change: bool) -> u64 {
    let mut accepted = 0;
    for _ in 0..commands {
        let now = advisor.now().saturating_add(u64::from(dice.random_range(0..3u32) == 0));
        let command = command(advisor, dice, arms_change);
        let answer = advisor.apply(&command, now);
        if let Ok(LaneAnswer::Decision(decision)) = answer {
            assert!(decision.arm < advisor.plays().len());
            assert!(advisor.retired_arms().all(|arm| arm != decision.arm), "{command:?}: a retired arm is advised");
        }
        accepted += u64::from(answer.is_ok());
    }
    accepted
}

/// A restored advisor is equal, and stays so whatever follows.
fn round_trips(histories: std::ops::Range<u64>, commands: usize) {
    let (mut accepted, mut retired) = (0, 0);
    for number in histories {
        let mut dice = StreamKey::new(number, "lane snapshots", 0).noise();
        let mut original = advisor(number);
        for _ in 0..4 {
            accepted += play(&mut original, commands / 4, &mut dice, true);
            let json = original.to_json().unwrap();
            let mut restored = Lanes::from_json(&json).unwrap_or_else(|error| panic!("history {number}: {error}"));
            assert_eq!(restored, original, "history {number}");
            let parts = original.to_parts().unwrap();
            assert_eq!(parts.lanes.len(), original.lanes());
            assert_eq!(Lanes::from_parts(&parts).unwrap(), original);
            let mut copy = dice.clone();
            let before = play(&mut restored, 30, &mut dice, true);
            assert_eq!(play(&mut original, 30, &mut copy, true), before);
            assert_eq!(restored.to_json().unwrap(), original.to_json().unwrap(), "history {number} continues");
        }
        retired += original.retired_arms().count();
    }
    assert!(accepted > 1000 && retired > 10, "{accepted} {retired}: too little happened");
}

#[test]
fn a_restored_advisor_continues_as_the_original() {
    round_trips(0..60, 400);
}

/// Changes one value of a document.
fn damage(json: &mut Value, dice: &mut Stream) {
    let stops = dice.random::<f64>() < 0.1;
    match json {
        Value::Object(fields) if !fields.is_empty() => {
            let key = fields.keys().nth(dice.random_range(0..fields.len())).unwrap().clone();
            match stops {
                true => drop(fields.remove(&key)),
                false => damage(&mut fields[&key], dice),
            }
        }
        Value::Array(items) if !items.is_empty() => {
            let place = dice.random_range(0..items.len());
            match (stops, dice.random_range(0..3u8)) {
                (false, _) => damage(&mut items[place], dice),
                (true, 0) => drop(items.remove(place)),
                (true, 1) => items.push(items[place].clone()),
                (true, _) => items.swap(0, place),
            }
        }
        value => {
            let numbers = [0, 1, 2, 7, 1 << 20, u64::MAX / 2, u64::MAX - 1, u64::MAX];
            *value = match dice.random_range(0..5u8) {
                0 => Value::Null,
                1 => Value::from(dice.random::<bool>()),
                2 => Value::from(dice.random_range(-3.0..3.0)),
                _ => match value.as_u64() {
                    Some(number) if dice.random::<bool>() => Value::from(number.wrapping_add(1)),
                    _ => Value::from(numbers[dice.random_range(0..numbers.len())]),
                },
            };
        }
    }
}

/// Damaged snapshots are refused, or give an advisor that advises arms that exist, and ends. Returns how many were
/// accepted.
fn damages(count: u64) -> u64 {
    let mut usable = 0;
    for number in 0..count {
        let mut dice = StreamKey::new(number, "damaged lanes", 0).noise();
        let mut original = advisor(number % 24);
        play(&mut original, 20 + (number % 400) as usize, &mut dice, number % 2 == 0);
        let mut json: Value = serde_json::from_str(&original.to_json().unwrap()).unwrap();
        (0..dice.random_range(1..4u8)).for_each(|_| damage(&mut json, &mut dice));
        let text = json.to_string();
        if let Ok(mut advisor) = Lanes::from_edited_json(&text)
            && advisor.plays().len() < 100
        {
            usable += 1;
            assert!(advisor.recommend() < advisor.plays().len());
            play(&mut advisor, 200, &mut dice, true);
            let saved = advisor.to_json().unwrap();
            assert_eq!(Lanes::from_json(&saved).unwrap(), advisor, "history {number}");
        }
    }
    usable
}

#[test]
fn damaged_snapshots_are_refused_or_harmless() {
    let usable = damages(3000);
    assert!(usable > 50, "{usable}: the damage is always found, so that nothing was tried");
}

#[test]
#[ignore = "slow: 100,000 damaged snapshots"]
fn many_damaged_snapshots_are_refused_or_harmless() {
    assert!(damages(100_000) > 1000);
}

/// What an edited snapshot leads to can be stored: its counts leave room.
#[test]
fn the_largest_counts_of_an_edited_snapshot_can_be_stored_again() {
    let edited = |count: u64| {
        let mut json: Value = serde_json::from_str(&advisor(0).to_json().unwrap()).unwrap();
        json["state"]["next"] = count.into();
        json["state"]["counts"]["told"] = count.into();
        Lanes::from_edited_json(&json.to_string())
    };
    let mut largest = edited(u64::MAX / 4).unwrap();
    largest.ask(0, 0).unwrap();
    assert_eq!(Lanes::from_json(&largest.to_json().unwrap()).unwrap(), largest);
    let error = edited(u64::MAX / 4 + 1).unwrap_err();
    assert_eq!(error.to_string(), "the snapshot contradicts itself: the number of decisions is out of range");
}

/// The policy and the advisor must agree about the arms that are retired.
#[test]
fn an_arm_that_only_one_of_the_two_retired_is_refused() {
    let mut original = advisor(2);
    original.retire_arm(1, 0).unwrap();
    let json: Value = serde_json::from_str(&original.to_json().unwrap()).unwrap();
    let mut edited = json.clone();
    edited["state"]["retired"] = Value::Array(Vec::new());
    let error = Lanes::from_edited_json(&edited.to_string()).unwrap_err();
    assert_eq!(error.to_string(), "the snapshot contradicts itself: the retired arms are others");
    assert_eq!(Lanes::from_edited_json(&json.to_string()).unwrap(), original);
}

#[test]
fn accidental_damage_and_other_versions_are_told_apart() {
    let mut original = advisor(0);
    play(&mut original, 200, &mut StreamKey::new(1, "versions", 0).noise(), false);
    let json = original.to_json().unwrap();
    let damaged = json.replacen("\"now\":", "\"now\":1", 1);
    assert!(matches!(Lanes::from_json(&damaged), Err(SnapshotError::Checksum)));
    let newer = json.replace("\"calibandit_lanes\":2", "\"calibandit_lanes\":3");
    let error = Lanes::from_json(&newer).unwrap_err();
    assert_eq!(error.to_string(), "the snapshot has 3 for `calibandit_lanes`, but this version reads 2");
    let parts = original.to_parts().unwrap();
    let lanes = parts.lanes[1..].to_vec();
    let error = Lanes::from_parts(&LaneParts::new(parts.core.clone(), lanes)).unwrap_err();
    assert_eq!(error.to_string(), "the snapshot contradicts itself: the number of lanes differs");
    let number = parts.lanes[0].0;
    assert_eq!(original.lane_json(number).unwrap().as_deref(), Some(parts.lanes[0].1.as_str()));
}

/// Commands and answers are stored: their names are part of the format.
#[test]
fn commands_and_answers_have_stable_names() {
    let ask = LaneCommand::Ask { lane: 3, after: AskAfter::Decision(7), available: Some(vec![1]) };
    let overridden = PlayOutcome::Overridden { arm: 1, loss: Some(0.5) };
    let cases = [
        (ask, r#"{"ask":{"lane":3,"after":{"decision":7},"available":[1]}}"#),
        (
            LaneCommand::Settle { decision: 4, outcome: overridden, played_at: Some(9) },
            r#"{"settle":{"decision":4,"outcome":{"overridden":{"arm":1,"loss":0.5}},"played_at":9}}"#,
        ),
        (
            LaneCommand::Settle { decision: 4, outcome: PlayOutcome::Loss(0.25), played_at: None },
            r#"{"settle":{"decision":4,"outcome":{"loss":0.25},"played_at":null}}"#,
        ),
        (LaneCommand::Play { lane: 1, arm: 0, loss: None }, r#"{"play":{"lane":1,"arm":0,"loss":null}}"#),
        (LaneCommand::Reset { lane: None }, r#"{"reset":{"lane":null}}"#),
        (LaneCommand::AddArm, r#""add-arm""#),
        (LaneCommand::RetireArm { arm: 2 }, r#"{"retire-arm":{"arm":2}}"#),
        (LaneCommand::Tick, r#""tick""#),
    ];
    for (command, json) in cases {
        assert_eq!(serde_json::to_string(&command).unwrap(), json);
        assert_eq!(serde_json::from_str::<LaneCommand>(json).unwrap(), command);
    }
    let short: LaneCommand = serde_json::from_str(r#"{"ask":{"lane":3}}"#).unwrap();
    assert_eq!(short, LaneCommand::Ask { lane: 3, after: AskAfter::Unstated, available: None });
    let answer = LaneAnswer::Recorded { decision: 4, counted: calibandit::lanes::CountedAs::WarmUp, first: true };
    assert_eq!(
        serde_json::to_string(&answer).unwrap(),
        r#"{"recorded":{"decision":4,"counted":"warm-up","first":true}}"#
    );
}

/// Policies without arms that come and go refuse them, and nothing changes.
#[test]
fn other_policies_refuse_new_arms() {
    let spec = PolicySpec::from(calibandit::policy::Ucb1::builder());
    let mut advisor = LaneAdvisor::builder(spec, 2, LaneSettings::new(ExpiryRule::Never).many()).build().unwrap();
    let before = advisor.clone();
    let error = advisor.add_arm(0).unwrap_err();
    assert_eq!(error.to_string(), "the policy cannot add or retire arms while it runs; `calibrated` can");
    assert!(advisor.retire_arm(0, 0).is_err());
    assert_eq!(advisor, before);
    assert!(advisor.policy().clone().add_arm().is_err());
}
