//! The contract holds for any sequence of calls.

use calibandit::{Advisor, AskError, Feedback, Phase, Run, TellError};
use proptest::prelude::*;

use crate::{Script, reloaded, run, state};

/// The calls a user can make, in any order.
#[derive(Clone, Debug)]
enum Move {
    Ask,
    Tell { pick: prop::sample::Index, loss: f64 },
    Forget { pick: prop::sample::Index },
    Save,
}

fn moves() -> impl Strategy<Value = Vec<Move>> {
    let loss = prop_oneof![8 => 0.0..=1.0, 1 => prop::sample::select(vec![f64::NAN, f64::INFINITY, -0.5, 1.5])];
    let pick = any::<prop::sample::Index>();
    let one = prop_oneof![
        5 => Just(Move::Ask),
        5 => (pick.clone(), loss).prop_map(|(pick, loss)| Move::Tell { pick, loss }),
        1 => pick.prop_map(|pick| Move::Forget { pick }),
        1 => Just(Move::Save),
    ];
    prop::collection::vec(one, 0..200)
}

fn runs() -> impl Strategy<Value = Vec<Run>> {
    let record = prop_oneof![20 => 0..6u64, 1 => Just(u64::MAX)];
    let one = (0..3usize, 0..4u64, record).prop_map(|(arm, burn_in, record)| run(arm, burn_in, record));
    prop::collection::vec(one.prop_filter("no play", |run| run.plays() > 0), 1..5)
}

/// The state of a decision.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Fate {
    Open,
    Told(f64),
    Forgotten,
}

/// A decision, with the number of its run.
struct Entry {
    run: usize,
    phase: Phase,
    fate: Fate,
}

proptest! {
    /// Compares with a model that keeps everything and has no ranges, held losses or limits.
    #[test]
    fn any_interleaving_gives_the_policy_exactly_what_it_asked_for(runs in runs(), moves in moves()) {
        let mut advisor = Advisor::new(Script::new(runs.clone()), 3).unwrap();
        let mut log: Vec<Entry> = Vec::new();
        for step in moves {
            let before = advisor.clone();
            match step {
                Move::Ask => match advisor.ask() {
                    Ok(decision) => {
                        prop_assert_eq!(decision.id, log.len() as u64);
                        let run = advisor.policy().asked - 1;
                        prop_assert_eq!(decision.arm, runs[run % runs.len()].arm);
                        log.push(Entry { run, phase: decision.phase, fate: Fate::Open });
                    }
                    Err(AskError::Waiting { outstanding }) => {
                        let run = advisor.policy().asked - 1;
                        let open = log.iter().enumerate().filter(|(_, entry)| {
                            entry.run == run && entry.phase == Phase::Measured && entry.fate == Fate::Open
                        });
                        prop_assert!(!outstanding.is_empty());
                        prop_assert!(open.map(|(id, _)| id as u64).eq(outstanding));
                        prop_assert_eq!(&advisor, &before);
                    }
                    Err(other) => prop_assert!(false, "{other}"),
                },
                Move::Tell { pick, loss } => {
                    let id = pick.index(log.len() + 1);
                    let told = advisor.tell(id as u64, loss);
                    match log.get_mut(id) {
                        None => prop_assert!(matches!(told, Err(TellError::Unknown { .. })), "{told:?}"),
                        Some(entry) if entry.fate != Fate::Open => {
                            prop_assert_eq!(told, Err(TellError::AlreadySettled { decision: id as u64 }))
                        }
                        Some(entry) if (0.0..=1.0).contains(&loss) => {
                            let ends = runs[entry.run % runs.len()].record != u64::MAX;
                            prop_assert_eq!(&told, &Ok(ends && entry.phase == Phase::Measured));
                            entry.fate = Fate::Told(loss);
                        }
                        Some(_) => prop_assert!(matches!(told, Err(TellError::Loss { .. })), "{told:?}"),
                    }
                    prop_assert!(id == log.len() || log[id].fate == Fate::Told(loss) || advisor == before);
                }
                Move::Forget { pick } => {
                    let id = pick.index(log.len() + 1);
                    let forgotten = advisor.forget(id as u64);
                    let open = log.get(id).is_some_and(|entry| entry.fate == Fate::Open);
                    prop_assert_eq!(forgotten.is_ok(), open);
                    if open {
                        log[id].fate = Fate::Forgotten;
                    } else {
                        prop_assert_eq!(&advisor, &before);
                    }
                }
                Move::Save => advisor = reloaded(&advisor),
            }
        }
        for (number, (run, feedback)) in advisor.policy().seen.iter().enumerate() {
            prop_assert_eq!(*run, runs[number % runs.len()]);
            let entries = || log.iter().filter(|entry| entry.run == number);
            prop_assert_eq!(entries().filter(|entry| entry.phase == Phase::BurnIn).count() as u64, run.burn_in);
            let mut expected = Feedback::default();
            for entry in entries().filter(|entry| entry.phase == Phase::Measured) {
                if let Fate::Told(loss) = entry.fate {
                    expected += Feedback::one(loss);
                }
            }
            prop_assert_eq!(feedback.plays, run.record);
            prop_assert_eq!(*feedback, expected, "summed in the order of the decisions");
        }
        prop_assert_eq!(advisor.plays().iter().sum::<u64>(), log.len() as u64);
    }

    /// Every error leaves the serialised state as it was, whatever the calls and whatever runs the policy asks for.
    #[test]
    fn every_error_leaves_the_state_as_it_was(
        runs in prop::collection::vec((0..4usize, 0..3u64, 0..4u64).prop_map(|(arm, b, r)| run(arm, b, r)), 1..6),
        moves in moves(),
    ) {
        let mut advisor = Advisor::new(Script::new(runs), 3).unwrap();
        for step in moves {
            let before = (state(&advisor), advisor.policy().clone());
            let made = advisor.decisions() as usize;
            let failed = match step {
                Move::Ask => match advisor.ask() {
                    Ok(_) => false,
                    // The policy was asked, so its own state may differ.
                    Err(AskError::BadRun { .. }) => {
                        prop_assert_eq!(&state(&advisor), &before.0);
                        continue;
                    }
                    Err(_) => true,
                },
                Move::Tell { pick, loss } => advisor.tell(pick.index(made + 2) as u64, loss).is_err(),
                Move::Forget { pick } => advisor.forget(pick.index(made + 2) as u64).is_err(),
                Move::Save => false,
            };
            if failed {
                prop_assert_eq!(&state(&advisor), &before.0);
                prop_assert_eq!(advisor.policy(), &before.1);
            }
        }
    }

    /// A snapshot that was changed by hand is refused or works; it never panics.
    #[test]
    fn a_damaged_snapshot_never_panics(
        runs in runs(), plays in 0..30usize, pick in any::<prop::sample::Index>(),
        value in prop_oneof![0..40u64, Just(u64::MAX), Just(u64::MAX / 2), any::<u64>()],
    ) {
        let mut advisor = Advisor::new(Script::new(runs), 3).unwrap();
        use_for(&mut advisor, plays);
        let mut json: serde_json::Value = serde_json::from_str(&advisor.to_json().unwrap()).unwrap();
        let mut numbers = Vec::new();
        collect_numbers(&mut json["state"], &mut numbers);
        **pick.get_mut(&mut numbers) = value.into();
        if let Ok(mut restored) = Advisor::<Script>::from_edited_json(&json.to_string()) {
            use_for(&mut restored, 50);
        }
    }
}

fn collect_numbers<'a>(json: &'a mut serde_json::Value, numbers: &mut Vec<&'a mut serde_json::Value>) {
    match json {
        serde_json::Value::Number(_) => numbers.push(json),
        serde_json::Value::Array(items) => items.iter_mut().for_each(|item| collect_numbers(item, numbers)),
        serde_json::Value::Object(fields) => fields.values_mut().for_each(|field| collect_numbers(field, numbers)),
        _ => {}
    }
}

/// Tells late, gives up some losses and never tells the losses of burn-in plays.
fn use_for(advisor: &mut Advisor<Script>, plays: usize) {
    for play in 0..plays {
        match advisor.ask() {
            Ok(decision) if decision.phase == Phase::Measured && play % 3 == 0 => {
                let _ = advisor.tell(decision.id, 0.5);
            }
            Err(AskError::Waiting { outstanding }) => {
                for id in outstanding {
                    let _ = if id % 4 == 0 { advisor.forget(id) } else { advisor.tell(id, 0.25).map(|_| ()) };
                }
            }
            _ => {}
        }
    }
}
