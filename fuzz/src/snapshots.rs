//! Snapshots of advisors.

use calibandit::{Advisor, AnyPolicy, AskError};

/// The number of plays that a restored advisor makes.
const PLAYS: usize = 40;

/// Snapshots of more arms only take time.
const MOST_ARMS: usize = 64;

/// A snapshot is refused, or the advisor recommends arms that exist, ends its runs and can be saved again.
///
/// The checksum would refuse nearly every input, so it is not checked here.
pub fn snapshots(data: &[u8]) {
    let Ok(text) = std::str::from_utf8(data) else { return };
    let Ok(mut advisor) = Advisor::<AnyPolicy>::from_edited_json(text) else { return };
    if advisor.plays().len() <= MOST_ARMS {
        check(&advisor);
        use_advisor(&mut advisor);
        check(&advisor);
        let saved = advisor.to_json().expect("an advisor can be saved");
        let restored = Advisor::<AnyPolicy>::from_json(&saved).expect("a saved advisor can be restored");
        assert_eq!(restored, advisor, "restored as it was saved");
    }
}

fn check(advisor: &Advisor<AnyPolicy>) {
    let arms = advisor.plays().len();
    assert!(advisor.recommend() < arms, "the recommended arm exists");
    if let Some(certificate) = advisor.certificate() {
        assert!(!certificate.arms.is_empty() && certificate.arms.iter().all(|&arm| arm < arms));
        assert!(certificate.gap >= 0.0 && certificate.gap.is_finite());
        assert!(certificate.delta > 0.0 && certificate.delta < 1.0);
    }
    let state = advisor.state();
    assert!(state.arms.len() == arms && state.recommended < arms && state.gap >= 0.0);
    assert!(state.arms.iter().all(|arm| arm.low <= arm.high && arm.mean.is_none_or(f64::is_finite)));
}

fn use_advisor(advisor: &mut Advisor<AnyPolicy>) {
    let (low, high) = (advisor.loss_range().low(), advisor.loss_range().high());
    for play in 0..PLAYS {
        let loss = if play % 3 == 0 { low } else { high };
        match advisor.ask() {
            Ok(decision) => drop(advisor.tell(decision.id, loss).expect("the decision is outstanding")),
            Err(AskError::Waiting { outstanding }) => {
                assert!(!outstanding.is_empty(), "an advisor that waits for nothing is stuck");
                for id in outstanding {
                    advisor.tell(id, loss).expect("the decision is outstanding");
                }
            }
            Err(error) => panic!("{error}"),
        }
    }
}
