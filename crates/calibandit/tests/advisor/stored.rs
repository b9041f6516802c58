//! Snapshots written by version 0.1.0 before any change of its types can still be read, and continue as they would have
//! then.

use calibandit::{Advisor, AnyPolicy};

/// Per snapshot, a hash of the 200 arms played next and the plays per arm after that, printed by the version that wrote
/// it.
const STORED: [(&str, u64, [u64; 3]); 3] = [
    (include_str!("snapshots/calibrated.json"), 18199674065881106878, [233, 34, 34]),
    (include_str!("snapshots/exp3.json"), 12212428865477518461, [171, 95, 35]),
    (include_str!("snapshots/thompson.json"), 833943401083952602, [255, 7, 39]),
];

#[test]
fn stored_snapshots_are_read_and_continue_with_the_same_bits() {
    for (json, hash, plays) in STORED {
        let mut advisor: Advisor<AnyPolicy> = Advisor::from_json(json).unwrap();
        let outstanding: Vec<u64> = advisor.outstanding().collect();
        for id in outstanding {
            advisor.tell(id, 0.0).unwrap();
        }
        let play = |_| {
            let decision = advisor.ask().unwrap();
            let (id, arm) = (decision.id, decision.arm as u64);
            advisor.tell(id, if (id * 7 + arm * 3) % 10 < 4 + arm { 1.0 } else { 0.0 }).unwrap();
            arm
        };
        let next = (0..200).map(play).fold(0u64, |hash, arm| hash.wrapping_mul(31).wrapping_add(arm));
        assert_eq!((next, advisor.plays()), (hash, plays.as_slice()), "{json}");
    }
}

#[test]
fn the_older_name_of_the_burn_in_phase_is_accepted() {
    assert_eq!(serde_json::from_str::<calibandit::Phase>(r#""warm-up""#).unwrap(), calibandit::Phase::BurnIn);
    assert_eq!(serde_json::to_string(&calibandit::Phase::BurnIn).unwrap(), r#""burn-in""#);
}
