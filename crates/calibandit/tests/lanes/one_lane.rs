//! One lane without overlap and without filler is `Advisor`, bit for bit.

use calibandit::lanes::{
    ExpiryRule, LaneAdvisor, LaneAnswer, LaneError, LaneFiller, LanePhase, LaneSettings, PlayOutcome,
};
use calibandit::policy::{Calibrated, Index};
use calibandit::{Advisor, AskError, Phase, PolicySpec, StreamKey, TellError};
use rand::RngExt;

fn policies() -> Vec<PolicySpec> {
    let indices = [Index::Challenge, Index::Cautious, Index::EmpiricalBayes, Index::Thompson];
    let calibrated = indices.map(|index| PolicySpec::from(Calibrated::builder(3).first(4).index(index)));
    let settings = LaneSettings::new(ExpiryRule::Never).filler(LaneFiller::Wait);
    let others = PolicySpec::catalogue().iter().map(|kind| kind.example.clone().with_memory_bound(3));
    // Lanes refuse some policies.
    let others = others.filter(|spec| LaneAdvisor::builder(spec.clone(), 2, settings).horizon(4000).build().is_ok());
    calibrated.into_iter().chain(others).collect()
}

/// Plays a random history with late, lost, repeated and reordered losses on both, and compares every answer and, at
/// the end, the states of the two policies.
fn compare(spec: &PolicySpec, history: u64, steps: usize) {
    let (arms, horizon) = (1 + history as usize % 4, 4000);
    let settings = LaneSettings::new(ExpiryRule::Never).filler(LaneFiller::Wait);
    let mut advisor = Advisor::builder(spec.clone(), arms).seed(history).horizon(horizon).build().unwrap();
    let mut lanes = LaneAdvisor::builder(spec.clone(), arms, settings).seed(history).horizon(horizon).build().unwrap();
    let mut stream = StreamKey::new(history, "one lane", 0).noise();
    let mut open: Vec<u64> = Vec::new();
    for step in 0..steps {
        let now = step as u64;
        if stream.random::<f64>() < 0.5 {
            match (advisor.ask(), lanes.ask(5, now)) {
                (Ok(expected), Ok(found)) => {
                    let phase = match expected.phase {
                        Phase::BurnIn => LanePhase::WarmUp,
                        _ => LanePhase::Measured,
                    };
                    assert_eq!((found.id, found.arm, found.phase), (expected.id, expected.arm, phase), "{spec:?}");
                    assert_eq!(found.beyond_horizon, expected.beyond_horizon);
                    open.push(found.id);
                }
                (Err(AskError::Waiting { outstanding }), Err(LaneError::Waiting { outstanding: found })) => {
                    assert_eq!(outstanding, found);
                }
                (expected, found) => panic!("{spec:?}, step {step}: {expected:?} and {found:?}"),
            }
            continue;
        }
        // An old or a new decision, one that was settled, or one that was never made.
        let place = stream.random_range(0..open.len() + 2);
        let decision = open.get(place).copied().unwrap_or(now.min(advisor.decisions()));
        let loss = f64::from(stream.random_range(0..4u8)) / 3.0;
        let forgets = stream.random::<f64>() < 0.1;
        let expected = if forgets { advisor.forget(decision).map(|()| false) } else { advisor.tell(decision, loss) };
        let outcome = if forgets { PlayOutcome::Lost } else { PlayOutcome::Loss(loss) };
        match (expected, lanes.settle(decision, outcome, now)) {
            (Ok(_), Ok(LaneAnswer::Recorded { first: true, .. })) => open.retain(|&id| id != decision),
            (Err(TellError::AlreadySettled { .. }), Ok(LaneAnswer::Recorded { first: false, .. })) => {}
            (Err(TellError::AlreadySettled { .. }), Err(LaneError::AlreadySettled { .. })) => {}
            (Err(TellError::Unknown { .. }), Err(LaneError::Unknown { .. })) => {}
            (expected, found) => panic!("{spec:?}, step {step}: {expected:?} and {found:?}"),
        }
    }
    // Lanes open the next run as soon as one is over, an advisor when it is asked.
    while advisor.current_run().is_none() {
        let (expected, found) = (advisor.ask().unwrap(), lanes.ask(5, steps as u64).unwrap());
        assert_eq!((found.id, found.arm), (expected.id, expected.arm), "{spec:?}");
    }
    assert_eq!(lanes.plays(), advisor.plays());
    assert_eq!(lanes.recommend(), advisor.recommend());
    let state = |policy| serde_json::to_string::<calibandit::AnyPolicy>(policy).unwrap();
    assert_eq!(state(lanes.policy()), state(advisor.policy()), "{spec:?}");
}

#[test]
fn one_lane_is_an_advisor_bit_for_bit() {
    for spec in policies() {
        for history in 0..40 {
            compare(&spec, history, 400);
        }
    }
}

#[test]
#[ignore = "slow: 10^5 random histories"]
fn one_lane_is_an_advisor_in_many_histories() {
    let policies = policies();
    for history in 0..100_000 {
        compare(&policies[history as usize % policies.len()], history, 300);
    }
}
