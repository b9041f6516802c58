//! The table of outcomes in docs/lanes.md, row by row.

use calibandit::lanes::{
    AskAfter, CountedAs, ExpiryRule, LaneAdvisor, LaneAnswer, LaneCommand, LaneError, LaneFiller, LanePhase,
    LaneSettings, PlayOutcome,
};

use super::{FixedRuns, advisor, run, settings};

/// One lane, M = 3 (a burn-in of 2), runs of three losses of arm 0.
fn one(settings: LaneSettings) -> LaneAdvisor<FixedRuns> {
    advisor(vec![run(0, 3), run(1, 3)], settings.memory_bound(3))
}

/// Asks so many times at time 0 and returns the phases.
fn ask(advisor: &mut LaneAdvisor<FixedRuns>, times: usize) -> Vec<LanePhase> {
    (0..times).map(|_| advisor.ask(0, 0).unwrap().phase).collect()
}

fn counted(answer: Result<LaneAnswer, LaneError>) -> CountedAs {
    match answer.unwrap() {
        LaneAnswer::Recorded { counted, first: true, .. } => counted,
        other => panic!("{other:?}"),
    }
}

const W: LanePhase = LanePhase::WarmUp;
const M: LanePhase = LanePhase::Measured;
const F: LanePhase = LanePhase::Filler;

#[test]
fn told_losses_are_used_if_calibrated() {
    let mut lane = one(settings());
    assert_eq!(ask(&mut lane, 5), [W, W, M, M, M]);
    assert_eq!(counted(lane.tell(0, 1.0, 0)), CountedAs::WarmUp);
    assert_eq!(counted(lane.tell(4, 0.5, 0)), CountedAs::Run);
    assert_eq!(counted(lane.tell(2, 0.25, 0)), CountedAs::Run);
    assert!(lane.policy().told.is_empty());
    assert_eq!(counted(lane.tell(3, 0.125, 0)), CountedAs::Run);
    let told = lane.policy().told[0];
    assert_eq!((told.plays, told.sum), (3, 0.875), "the loss of the warm-up is not in it");
}

#[test]
fn done_is_a_play_without_a_loss() {
    let mut lane = one(settings());
    ask(&mut lane, 3);
    assert_eq!(counted(lane.settle(0, PlayOutcome::Done, 0)), CountedAs::WarmUp);
    assert_eq!(lane.lane(0), Some((Some(0), 3, Some(2))), "the streak stays");
    assert_eq!(counted(lane.settle(2, PlayOutcome::Done, 0)), CountedAs::Not);
    assert_eq!(ask(&mut lane, 4), [M, M, M, F], "the loss that was not due is measured by another play");
}

#[test]
fn a_lost_loss_is_replaced_by_one_more_play() {
    let mut lane = one(settings().filler(LaneFiller::Wait));
    // With the filler `wait`, runs have the policy's own burn-in, here none, and the warm-up of the memory bound.
    assert_eq!(ask(&mut lane, 5), [W, W, M, M, M]);
    assert_eq!(lane.ask(0, 0), Err(LaneError::Waiting { outstanding: vec![2, 3, 4] }));
    assert_eq!(counted(lane.settle(3, PlayOutcome::Lost, 0)), CountedAs::Not);
    let replacement = lane.ask(0, 0).unwrap();
    assert_eq!((replacement.arm, replacement.phase, replacement.position), (0, M, 6));
    for decision in [2, 4, 5] {
        lane.tell(decision, 1.0, 0).unwrap();
    }
    assert_eq!(lane.policy().told[0].plays, 3);
}

#[test]
fn a_play_that_was_not_made_demotes_the_first_measured_one_behind_it() {
    let mut lane = one(settings());
    ask(&mut lane, 5);
    assert_eq!(counted(lane.settle(1, PlayOutcome::NotPlayed, 0)), CountedAs::Not);
    assert_eq!(lane.lane(0), Some((Some(0), 4, Some(4))), "one less");
    assert_eq!(counted(lane.tell(2, 1.0, 0)), CountedAs::WarmUp);
    assert_eq!(counted(lane.tell(3, 0.0, 0)), CountedAs::Run);
    assert_eq!(counted(lane.tell(4, 0.0, 0)), CountedAs::Run);
    assert_eq!(ask(&mut lane, 2), [M, F], "one more play in place of the demoted one");
    assert_eq!(lane.counts().demoted, 1);
    assert_eq!(lane.plays(), [6, 0, 0]);
}

/// The losses of the open run are kept one by one, so that they can be taken back until it closes.
#[test]
fn a_loss_of_the_open_run_is_taken_back_and_that_of_a_closed_one_is_not() {
    let mut lane = one(settings());
    ask(&mut lane, 5);
    lane.tell(2, 1.0, 0).unwrap();
    lane.tell(3, 0.0, 0).unwrap();
    let mut closed = lane.clone();
    lane.settle(1, PlayOutcome::NotPlayed, 0).unwrap();
    let open = lane.current_run().unwrap().1;
    assert_eq!((open.plays, open.sum), (1, 0.0), "the loss of decision 2 was taken back");
    closed.tell(4, 0.0, 0).unwrap();
    let refused = closed.settle(1, PlayOutcome::NotPlayed, 0);
    assert_eq!(refused, Err(LaneError::TooLate { decision: 1, used: 2 }));
}

#[test]
fn a_measured_play_that_was_not_made_demotes_no_other() {
    let mut lane = one(settings());
    ask(&mut lane, 5);
    lane.settle(3, PlayOutcome::NotPlayed, 0).unwrap();
    assert_eq!(counted(lane.tell(2, 0.0, 0)), CountedAs::Run);
    assert_eq!(counted(lane.tell(4, 0.0, 0)), CountedAs::Run);
}

#[test]
fn an_overridden_play_starts_the_streak_of_the_other_arm() {
    let mut lane = one(settings());
    ask(&mut lane, 5);
    let answer = lane.settle(4, PlayOutcome::Overridden { arm: 2, loss: Some(0.5) }, 0);
    assert_eq!(counted(answer), CountedAs::WarmUp, "the other arm is not calibrated");
    assert_eq!(lane.lane(0), Some((Some(2), 1, Some(4))));
    assert_eq!(lane.plays(), [4, 0, 1]);
    assert_eq!(ask(&mut lane, 4), [W, W, M, F], "the run needs one more, after a burn-in");
}

#[test]
fn the_loss_of_an_overridden_play_is_banked_if_calibrated() {
    let mut lane = one(settings());
    for _ in 0..2 {
        lane.apply(&LaneCommand::Play { lane: 0, arm: 1, loss: Some(1.0) }, 0).unwrap();
    }
    let decision = lane.ask(0, 0).unwrap();
    let answer = lane.settle(decision.id, PlayOutcome::Overridden { arm: 1, loss: Some(0.25) }, 0);
    assert_eq!(counted(answer), CountedAs::Bank);
    assert_eq!((lane.banked(0), lane.banked(1)), (0, 1));
}

/// An override in the middle: plays behind it are demoted up to the burn-in, and those after that are not.
#[test]
fn an_override_demotes_the_plays_behind_it_that_see_it() {
    let mut lane = one(settings());
    ask(&mut lane, 6);
    lane.settle(2, PlayOutcome::Overridden { arm: 1, loss: None }, 0).unwrap();
    assert_eq!(counted(lane.tell(3, 1.0, 0)), CountedAs::WarmUp);
    assert_eq!(counted(lane.tell(4, 1.0, 0)), CountedAs::WarmUp);
    assert_eq!(counted(lane.tell(5, 0.0, 0)), CountedAs::Run);
}

#[test]
fn an_expired_play_may_not_have_been_made() {
    let mut lane = one(LaneSettings::new(ExpiryRule::Lost { after: 10 }));
    for time in 0..3 {
        assert_eq!(lane.ask(0, time).unwrap().expires_at, Some(time + 10));
    }
    // At time 12 all have expired. The first two were made, since the lane was asked again; of the third nothing is
    // known.
    let next = lane.ask(0, 12).unwrap();
    assert_eq!((next.position, next.phase), (3, M), "one less than if it had been made");
    assert_eq!(lane.counts().expired, 3);
    assert!(lane.open().eq([3]));
}

#[test]
fn an_expired_play_of_another_arm_interrupts_the_streak() {
    let settings = LaneSettings::new(ExpiryRule::Lost { after: 10 }).memory_bound(3);
    let mut lane = advisor(vec![run(0, 1), run(1, 1), run(0, 1)], settings);
    for id in 0..3 {
        lane.ask(0, 0).unwrap();
        lane.tell(id, 0.0, 0).unwrap();
    }
    assert_eq!(lane.ask(0, 0).unwrap().arm, 1);
    lane.apply(&LaneCommand::Tick, 10).unwrap();
    assert_eq!(lane.lane(0), Some((Some(1), 0, Some(3))), "arm 1 may have been played, or not");
    let back = lane.apply(&LaneCommand::Play { lane: 0, arm: 0, loss: Some(1.0) }, 10);
    assert_eq!(counted(back), CountedAs::WarmUp, "arm 0 may have been interrupted");
}

#[test]
fn an_expired_play_can_count_as_a_loss() {
    let mut lane = one(LaneSettings::new(ExpiryRule::Loss { after: 10, loss: 1.0 }));
    ask(&mut lane, 5);
    lane.tell(3, 0.0, 9).unwrap();
    lane.apply(&LaneCommand::Tick, 10).unwrap();
    assert_eq!(lane.policy().told[0].sum, 2.0);
    assert_eq!(lane.lane(0), Some((Some(0), 5, Some(4))), "the streak stays");
}

#[test]
fn an_outcome_after_the_expiry_is_counted_as_late_and_not_used() {
    let mut lane = one(LaneSettings::new(ExpiryRule::Lost { after: 10 }));
    ask(&mut lane, 3);
    assert_eq!(lane.tell(2, 0.0, 20), Ok(LaneAnswer::Expired { decision: 2 }));
    assert_eq!((lane.counts().late, lane.counts().told), (1, 0));
    assert_eq!(lane.current_run().unwrap().1.plays, 0);
}

#[test]
fn an_outcome_told_twice_counts_once() {
    let mut lane = one(settings());
    ask(&mut lane, 5);
    assert_eq!(counted(lane.tell(2, 0.25, 0)), CountedAs::Run);
    let before = lane.clone();
    let again = lane.tell(2, 0.25, 0).unwrap();
    assert_eq!(again, LaneAnswer::Recorded { decision: 2, counted: CountedAs::Not, first: false });
    let refused = lane.tell(2, 0.5, 0).unwrap_err();
    assert_eq!(refused, LaneError::AlreadySettled { decision: 2, first: Some(PlayOutcome::Loss(0.25)) });
    assert!(refused.to_string().contains("the loss 0.25"), "{refused}");
    assert_eq!(lane.tell(9, 0.5, 0), Err(LaneError::Unknown { decision: 9, made: 5 }));
    assert!(matches!(lane.tell(3, f64::NAN, 0), Err(LaneError::Loss { .. })));
    assert_eq!(lane, before);
}

#[test]
fn a_reset_begins_the_burn_in_again_in_the_middle_of_the_run() {
    let mut lane = one(settings());
    assert_eq!(ask(&mut lane, 4), [W, W, M, M]);
    lane.tell(2, 0.0, 0).unwrap();
    lane.apply(&LaneCommand::Reset { lane: Some(0) }, 0).unwrap();
    assert_eq!(counted(lane.tell(3, 1.0, 0)), CountedAs::WarmUp, "it may have been made after the reset");
    assert_eq!(ask(&mut lane, 5), [W, W, M, M, F]);
    assert_eq!(lane.ask(0, 0).unwrap().position, 6);
    assert_eq!(lane.counts().resets, 1);
}

#[test]
fn an_idle_lane_is_cold_at_its_next_ask() {
    let mut lane = one(settings().reset_after(100));
    ask(&mut lane, 3);
    assert_eq!(lane.ask(0, 100).unwrap().phase, M, "not longer than the limit");
    let cold = lane.ask(0, 201).unwrap();
    assert_eq!((cold.phase, cold.position), (W, 1));
    assert_eq!(lane.counts().idle_resets, 1);
}

#[test]
fn a_pause_shown_by_the_time_of_the_play_makes_the_lane_cold() {
    let mut lane = one(settings().reset_after(100));
    ask(&mut lane, 4);
    let late = LaneCommand::Settle { decision: 3, outcome: PlayOutcome::Loss(1.0), played_at: Some(150) };
    assert_eq!(counted(lane.apply(&late, 200)), CountedAs::WarmUp, "decision 2 was made at time 0");
    assert_eq!(lane.ask(0, 200).unwrap().position, 2);
}

#[test]
fn plays_without_advice_are_part_of_the_window() {
    let mut lane = one(settings());
    for play in 0..3 {
        let answer = lane.apply(&LaneCommand::Play { lane: 0, arm: 0, loss: Some(0.5) }, 0).unwrap();
        let counted = if play < 2 { CountedAs::WarmUp } else { CountedAs::Run };
        assert_eq!(answer, LaneAnswer::Recorded { decision: play, counted, first: true });
    }
    let decision = lane.ask(0, 0).unwrap();
    assert_eq!((decision.id, decision.position, decision.phase), (3, 4, M));
    assert_eq!(lane.current_run().unwrap().1.plays, 1, "the run starts with what the bank has");
    lane.apply(&LaneCommand::Play { lane: 0, arm: 2, loss: None }, 0).unwrap();
    assert_eq!(lane.ask(0, 0).unwrap().position, 1);
}

#[test]
fn a_repeated_ask_gives_the_same_decision() {
    for overlap in [1, 3] {
        let mut lane = one(settings().overlap(overlap));
        let mut ask = |after| {
            let answer = lane.apply(&LaneCommand::Ask { lane: 0, after, available: None }, 0);
            answer.map(|answer| match answer {
                LaneAnswer::Decision(decision) => (decision.id, decision.redelivered),
                other => panic!("{other:?}"),
            })
        };
        assert_eq!(ask(AskAfter::Start), Ok((0, false)));
        assert_eq!(ask(AskAfter::Start), Ok((0, true)));
        assert_eq!(ask(AskAfter::Decision(0)), Ok((1, false)));
        assert_eq!(ask(AskAfter::Decision(0)), Ok((1, true)));
        assert_eq!(ask(AskAfter::Start), Ok((0, true)));
        assert!(matches!(ask(AskAfter::Decision(7)), Err(LaneError::StaleAfter { newest: Some(1), .. })));
        lane.tell(1, 0.0, 0).unwrap();
        let stale = LaneCommand::Ask { lane: 0, after: AskAfter::Decision(0), available: None };
        assert!(matches!(lane.apply(&stale, 0), Err(LaneError::StaleAfter { .. })), "1 was played");
        assert_eq!(lane.decisions(), 2);
    }
}

#[test]
fn an_overlap_bounds_how_far_a_play_is_overtaken() {
    let mut lane = one(settings().overlap(2));
    assert_eq!(lane.settings().burn_in(), 4);
    ask(&mut lane, 2);
    assert_eq!(lane.ask(0, 0), Err(LaneError::Busy { lane: 0, overlap: 2, open: vec![0, 1] }));
    lane.tell(1, 0.0, 0).unwrap();
    assert!(matches!(lane.ask(0, 0), Err(LaneError::Busy { .. })), "0 would be overtaken by 2");
    lane.settle(0, PlayOutcome::Done, 0).unwrap();
    assert_eq!(ask(&mut lane, 2), [W, W]);
}

/// With overlap, a loss is used once it is certain that the plays before it were made.
#[test]
fn with_overlap_a_loss_waits_for_the_plays_before_it() {
    let mut lane = one(settings().overlap(2));
    for id in 0..3 {
        lane.ask(0, 0).unwrap();
        lane.settle(id, PlayOutcome::Done, 0).unwrap();
    }
    assert_eq!(ask(&mut lane, 2), [W, M]);
    assert_eq!(counted(lane.tell(4, 1.0, 0)), CountedAs::Run);
    assert_eq!(lane.current_run().unwrap().1.plays, 0, "decision 3 may not have been made");
    lane.settle(3, PlayOutcome::NotPlayed, 0).unwrap();
    assert_eq!(lane.current_run().unwrap().1.plays, 0);
    assert_eq!(lane.counts().demoted, 1);
    assert_eq!(ask(&mut lane, 1), [M], "the next one is calibrated");
}

#[test]
fn an_arm_that_is_not_available_is_replaced_by_the_best_that_is() {
    let mut lane = one(settings());
    let mut ask = |available: &[usize]| {
        let command = LaneCommand::Ask { lane: 0, after: AskAfter::Unstated, available: Some(available.to_vec()) };
        lane.apply(&command, 0)
    };
    let LaneAnswer::Decision(decision) = ask(&[2, 1]).unwrap() else { panic!() };
    assert_eq!((decision.arm, decision.phase), (1, W));
    let LaneAnswer::Decision(decision) = ask(&[0, 1]).unwrap() else { panic!() };
    assert_eq!((decision.arm, decision.position), (0, 1));
    assert_eq!(ask(&[]), Err(LaneError::NoneAvailable { arms: 3 }));
    assert_eq!(ask(&[3]), Err(LaneError::Arm { arm: 3, arms: 3 }));
}

#[test]
fn fillers_while_losses_are_outstanding() {
    let next = |filler, leader: usize| {
        let mut lane = one(settings().filler(filler));
        lane = {
            let mut policy = lane.policy().clone();
            policy.leader = leader;
            let stream = calibandit::StreamKey::new(1, "lanes", 0).lanes();
            LaneAdvisor::new(policy, 3, Default::default(), *lane.settings(), stream).unwrap()
        };
        ask(&mut lane, 5);
        lane.ask(0, 0).map(|decision| (decision.arm, decision.phase))
    };
    assert_eq!(next(LaneFiller::Stay, 2), Ok((0, F)));
    assert_eq!(next(LaneFiller::Leader, 2), Ok((2, W)));
    assert_eq!(next(LaneFiller::Wait, 2), Err(LaneError::Waiting { outstanding: vec![2, 3, 4] }));
}

/// A loss of a filler is kept and serves the next run of its arm at once.
#[test]
fn a_run_is_served_from_the_bank() {
    let mut lane = advisor(vec![run(0, 1), run(0, 2), run(1, 1)], settings().memory_bound(2));
    assert_eq!(ask(&mut lane, 4), [W, M, F, F]);
    assert_eq!(counted(lane.tell(3, 0.25, 0)), CountedAs::Run);
    assert_eq!(lane.policy().told.len(), 0, "decision 1 comes first");
    lane.tell(1, 0.0, 0).unwrap();
    assert_eq!(lane.policy().told.len(), 1);
    assert_eq!(counted(lane.tell(2, 0.5, 0)), CountedAs::Run, "the second run is open, and has decision 3 next");
    assert_eq!(lane.ask(0, 0).unwrap().arm, 1, "the second run needed no play");
    assert_eq!(lane.policy().told[1].sum, 0.75);
}
