//! Snapshots of lane advisors.

use calibandit::AnyPolicy;
use calibandit::lanes::{LaneAdvisor, LaneError, LaneMode, PlayOutcome};

/// The number of plays that a restored advisor makes.
const PLAYS: u64 = 40;

/// Snapshots of more arms only take time.
const MOST_ARMS: usize = 64;

/// A snapshot is refused, or the advisor advises arms that exist and can be saved again. The checksum would refuse
/// nearly every input, so it is not checked here.
pub fn lane_snapshots(data: &[u8]) {
    let Ok(text) = std::str::from_utf8(data) else { return };
    let Ok(mut advisor) = LaneAdvisor::<AnyPolicy>::from_edited_json(text) else { return };
    if advisor.plays().len() > MOST_ARMS {
        return;
    }
    use_lanes(&mut advisor);
    let saved = advisor.to_json().expect("an advisor can be saved");
    let restored = LaneAdvisor::<AnyPolicy>::from_json(&saved).expect("a saved advisor can be restored");
    assert_eq!(restored, advisor, "restored as it was saved");
    let state = advisor.state();
    assert!(state.recommended < state.arms.len() && state.gap >= 0.0);
    drop(advisor.warnings());
}

fn use_lanes(advisor: &mut LaneAdvisor<AnyPolicy>) {
    let one = advisor.settings().lanes == LaneMode::One;
    let outcomes = [PlayOutcome::Done, PlayOutcome::Lost, PlayOutcome::NotPlayed];
    for play in 0..PLAYS {
        let lane = if one { 0 } else { play % 3 };
        let now = advisor.now().saturating_add(play % 2);
        match advisor.ask(lane, now) {
            Ok(decision) => {
                assert!(decision.arm < advisor.plays().len(), "the advised arm exists");
                if let Some(&outcome) = outcomes.get(play as usize % 7) {
                    // Another lane's loss may have been used since.
                    drop(advisor.settle(decision.id, outcome, now));
                }
            }
            Err(LaneError::Busy { open, .. } | LaneError::Waiting { outstanding: open }) => {
                assert!(!open.is_empty(), "an advisor that waits for nothing is stuck");
                open.into_iter().for_each(|id| drop(advisor.settle(id, PlayOutcome::Lost, now)));
            }
            Err(LaneError::OneLane { .. } | LaneError::TooManyOpen { .. }) => return,
            Err(error) => panic!("{error}"),
        }
    }
}
