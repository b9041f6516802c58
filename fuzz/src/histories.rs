//! Histories of calls of an advisor: any order of asks, tells, late tells, lost losses, saving and restoring.

use std::collections::BTreeSet;

use calibandit::{Advisor, AnyPolicy, AskError, LossRange, PolicySpec};

use crate::byte_reader::ByteReader;

/// The most calls of one history.
const MOST_CALLS: usize = 100;

/// Errors leave the advisor as it was; its counts are those of the calls; a restored advisor equals the saved one.
pub fn histories(data: &[u8]) {
    let mut bytes = ByteReader::new(data);
    let Some(mut advisor) = new_advisor(&mut bytes) else { return };
    let mut made = 0;
    let mut outstanding: BTreeSet<u64> = BTreeSet::new();
    for _ in 0..MOST_CALLS {
        if bytes.is_empty() {
            break;
        }
        match bytes.below(8) {
            0..=2 => match advisor.ask() {
                Ok(decision) => {
                    made += 1;
                    assert!(decision.arm < advisor.plays().len(), "the arm exists");
                    assert!(outstanding.insert(decision.id), "identities are used once");
                }
                Err(AskError::Waiting { outstanding }) => assert!(!outstanding.is_empty(), "waits for something"),
                Err(error) => panic!("{error}"),
            },
            3..=5 => tell(&mut advisor, &mut bytes, &mut outstanding),
            6 => {
                let id = chosen(&mut bytes, &outstanding);
                let before = advisor.clone();
                match advisor.forget(id) {
                    Ok(()) => assert!(outstanding.remove(&id), "only outstanding decisions are forgotten"),
                    Err(_) => assert_eq!(before, advisor, "an error leaves the advisor as it was"),
                }
            }
            _ => {
                let saved = advisor.to_json().expect("an advisor can be saved");
                let restored = Advisor::<AnyPolicy>::from_json(&saved).expect("a saved advisor can be restored");
                assert_eq!(restored, advisor, "restored as it was saved");
                advisor = restored;
            }
        }
        assert_eq!(advisor.decisions(), made, "every answered ask is a decision");
        assert_eq!(advisor.plays().iter().sum::<u64>(), made, "every decision is a play");
        assert!(advisor.outstanding().all(|id| outstanding.contains(&id)), "outstanding decisions were made");
        assert!(advisor.recommend() < advisor.plays().len(), "the recommended arm exists");
    }
    let state = advisor.state();
    let ordered = |arm: &calibandit::ArmState| arm.mean.is_none_or(|mean| arm.low <= mean && mean <= arm.high);
    assert!(state.gap >= 0.0 && state.arms.iter().all(ordered), "the mean lies in its interval: {state}");
    for decision in 0..made {
        // Decisions of closed runs cannot be explained after a restart.
        if let Ok(explanation) = advisor.explain(decision) {
            assert!(explanation.play >= 1 && explanation.decision == decision, "{explanation}");
        }
    }
}

fn new_advisor(bytes: &mut ByteReader<'_>) -> Option<Advisor<AnyPolicy>> {
    let kinds = PolicySpec::catalogue();
    let spec = kinds[bytes.below(kinds.len())].example.clone().with_memory_bound(1 + bytes.below(12) as u64);
    let arms = bytes.below(9);
    let horizon = match bytes.below(4) {
        0 => None,
        1 => Some(bytes.word()),
        _ => Some(1 + bytes.byte() as u64),
    };
    let range = match bytes.below(3) {
        0 => LossRange::new(bytes.number(), bytes.number()).ok()?,
        _ => LossRange::new(0.0, 1.0).expect("0 is below 1"),
    };
    let seed = bytes.word();
    let probe = seed.is_multiple_of(4) && spec.memory_bound().is_some();
    let mut builder = Advisor::builder(spec, arms).seed(seed).loss_range(range).probe(probe);
    if let Some(horizon) = horizon {
        builder = builder.horizon(horizon);
    }
    builder.build().ok()
}

fn tell(advisor: &mut Advisor<AnyPolicy>, bytes: &mut ByteReader<'_>, outstanding: &mut BTreeSet<u64>) {
    let id = chosen(bytes, outstanding);
    let loss = match bytes.below(4) {
        0 => bytes.number(),
        1 => advisor.loss_range().low(),
        _ => advisor.loss_range().high(),
    };
    let before = advisor.clone();
    match advisor.tell(id, loss) {
        Ok(_) => {
            assert!(before.loss_range().contains(loss), "a loss outside the range is refused");
            assert!(outstanding.remove(&id), "only outstanding decisions take a loss");
        }
        Err(_) => assert_eq!(before, *advisor, "an error leaves the advisor as it was"),
    }
}

/// Mostly an outstanding decision, sometimes any number.
fn chosen(bytes: &mut ByteReader<'_>, outstanding: &BTreeSet<u64>) -> u64 {
    let choice = bytes.below(16);
    match choice {
        15 => bytes.word(),
        _ => outstanding.iter().nth(choice % outstanding.len().max(1)).copied().unwrap_or(u64::from(bytes.byte())),
    }
}
