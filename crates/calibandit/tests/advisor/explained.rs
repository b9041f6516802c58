//! What an advisor says about itself: states, intervals, reasons, the horizon, rewards, warm starts.

use calibandit::policy::{
    AnytimeElimination, ArmStatus, Calibrated, EpochUcb, Exp3, ExploreThenCommit, RunReason, Thompson, Ucb1,
    WarmStartError,
};
use calibandit::{
    Advisor, AdvisorError, AnyPolicy, Decision, ExplainError, Feedback, LossRange, Phase, PolicySpec, TellError,
};

use crate::{Script, run};

/// Plays with losses that depend on the arm alone, all told at once.
fn play(advisor: &mut Advisor<AnyPolicy>, plays: u64, losses: &[f64]) {
    for _ in 0..plays {
        let decision = advisor.ask().expect("all losses were told");
        advisor.tell(decision.id, losses[decision.arm]).expect("the loss is possible");
    }
}

fn ones(plays: u64, sum: f64) -> Feedback {
    Feedback { plays, sum, sum_sq: sum }
}

/// The counts and means of a state are those of the losses told, kept in a plain list.
#[test]
fn a_state_has_the_counts_and_means_of_the_losses_that_count() {
    for spec in PolicySpec::catalogue().iter().map(|kind| kind.example.clone().with_memory_bound(3)) {
        let mut advisor = Advisor::builder(spec, 3).horizon(2000).build().unwrap();
        let mut told: [Vec<f64>; 3] = Default::default();
        for _ in 0..1500 {
            let decision = advisor.ask().unwrap();
            let loss = (decision.id as f64 * 0.618).fract() * (0.4 + 0.2 * decision.arm as f64);
            if advisor.tell(decision.id, loss).unwrap() {
                told[decision.arm].push(loss);
            }
        }
        let state = advisor.state();
        assert_eq!(state.decisions, 1500);
        assert_eq!(state.recommended, advisor.recommend());
        for (arm, told) in state.arms.iter().zip(&told) {
            assert_eq!((arm.plays, arm.measured), (advisor.plays()[arm.arm], told.len() as u64));
            let mean = told.iter().sum::<f64>() / told.len() as f64;
            assert!(arm.mean.map_or(told.is_empty(), |found| (found - mean).abs() < 1e-12));
            assert!(arm.low <= arm.mean.unwrap_or(0.5) && arm.mean.unwrap_or(0.5) <= arm.high);
            assert_eq!(arm.evidence.is_some(), arm.threshold.is_some());
        }
        assert!(state.to_string().contains("within"), "{state}");
    }
}

#[test]
fn the_status_of_arms_follows_the_policy() {
    let mut advisor = Advisor::builder(Calibrated::builder(4), 3).horizon(100_000).build().unwrap();
    let statuses = |advisor: &Advisor<AnyPolicy>| advisor.state().arms.iter().map(|arm| arm.status).collect::<Vec<_>>();
    assert_eq!(statuses(&advisor), [ArmStatus::Unopened; 3]);
    play(&mut advisor, 2, &[0.0; 3]);
    assert_eq!(statuses(&advisor), [ArmStatus::Warming, ArmStatus::Unopened, ArmStatus::Unopened]);
    play(&mut advisor, 33, &[0.0; 3]);
    assert_eq!(statuses(&advisor)[0], ArmStatus::InPlay, "measured, and nothing to compare with");
    let mut advisor = Advisor::builder(Calibrated::builder(4), 3).horizon(100_000).build().unwrap();
    play(&mut advisor, 3000, &[0.9, 0.2, 0.8]);
    assert_eq!(statuses(&advisor), [ArmStatus::RuledOut, ArmStatus::Leading, ArmStatus::RuledOut]);
    let state = advisor.state();
    assert!(state.arms[0].evidence >= state.arms[0].threshold && state.arms[1].evidence.is_none());
    let close = |id: u64| f64::from(id.is_multiple_of(2));
    let mut advisor = Advisor::builder(Calibrated::builder(1), 2).horizon(100_000).build().unwrap();
    for _ in 0..70 {
        let decision = advisor.ask().unwrap();
        advisor.tell(decision.id, close(decision.id)).unwrap();
    }
    let state = advisor.state();
    assert_eq!(state.arms[state.recommended].status, ArmStatus::Challenged);
    assert_eq!(state.arms[1 - state.recommended].status, ArmStatus::Challenger);

    let mut committed = Advisor::builder(ExploreThenCommit::builder(2).explore(5), 2).build().unwrap();
    play(&mut committed, 30, &[0.5, 0.1]);
    assert_eq!(statuses(&committed), [ArmStatus::RuledOut, ArmStatus::Leading]);
}

#[test]
fn decisions_are_explained_by_place_and_reason() {
    let mut advisor = Advisor::builder(Calibrated::builder(10), 2).horizon(100_000).build().unwrap();
    let why = |advisor: &Advisor<AnyPolicy>, id| advisor.explain(id).unwrap();
    play(&mut advisor, 44, &[0.9, 0.1]);
    let third = why(&advisor, 2);
    assert_eq!((third.phase, third.play, third.of, third.switched_from), (Phase::BurnIn, 3, 9, None));
    assert_eq!(third.reason, RunReason::Opening);
    let second_arm = why(&advisor, 43);
    assert_eq!((second_arm.arm, second_arm.play, second_arm.of, second_arm.switched_from), (1, 3, 9, Some(0)));
    assert_eq!(
        second_arm.to_text(|arm| ["A", "B"][arm].to_string()),
        "burn-in play 3 of 9 after a switch from A to B: its loss does not count; measuring every arm once"
    );
    play(&mut advisor, 60, &[0.9, 0.1]);
    let leading = why(&advisor, 103);
    assert_eq!((leading.arm, leading.phase, leading.reason), (1, Phase::Measured, RunReason::Leading));
    // The reason is that of the time of the decision.
    assert_eq!(why(&advisor, 2), third);
    assert_eq!(advisor.explain(104), Err(ExplainError::Unknown { decision: 104, made: 104 }));
    // A restored advisor explains the open run only.
    let restored: Advisor<AnyPolicy> = Advisor::from_json(&advisor.to_json().unwrap()).unwrap();
    assert_eq!(restored, advisor);
    assert_eq!(restored.explain(2), Err(ExplainError::Forgotten { decision: 2 }));
    let open = restored.explain(103).unwrap();
    assert_eq!((open.arm, open.reason, open.play), (leading.arm, leading.reason, leading.play));
}

#[test]
fn a_challenge_is_explained_with_its_evidence() {
    let mut advisor = Advisor::builder(Calibrated::builder(3), 3).horizon(1_000_000).build().unwrap();
    let mut challenges = 0;
    for _ in 0..4000 {
        let Decision { id, arm, .. } = advisor.ask().unwrap();
        let explanation = advisor.explain(id).unwrap();
        if let RunReason::Challenge { leader, evidence, threshold } = explanation.reason {
            assert!(leader != arm && evidence >= 0.0 && threshold > 0.0);
            challenges += 1;
            assert!(explanation.to_string().contains(&format!("evidence {evidence:.1} of {threshold:.1}")));
        }
        let noise = (id as f64 * 0.618).fract();
        advisor.tell(id, f64::from(noise < [0.5, 0.48, 0.46][arm])).unwrap();
    }
    assert!(challenges > 100, "{challenges}");
}

#[test]
fn reasons_of_early_runs_are_dropped() {
    let mut advisor = Advisor::builder(Ucb1::builder(), 2).build().unwrap();
    play(&mut advisor, 100, &[0.3, 0.4]);
    assert_eq!(advisor.explain(30), Err(ExplainError::Forgotten { decision: 30 }));
    assert_eq!(advisor.explain(40).unwrap().reason, RunReason::Index);
}

#[test]
fn a_replaced_play_is_explained_as_such() {
    let mut advisor = Advisor::new(Script::new(vec![run(0, 1, 2)]), 1).unwrap();
    for _ in 0..3 {
        advisor.ask().unwrap();
    }
    advisor.forget(1).unwrap();
    let again = advisor.ask().unwrap();
    let why = advisor.explain(again.id).unwrap();
    assert_eq!((why.play, why.of, why.reason), (3, 2, RunReason::Unstated));
    assert!(why.to_string().contains("in place of one whose loss was given up"), "{why}");
}

#[test]
fn decisions_beyond_the_horizon_are_marked() {
    let mut advisor = Advisor::builder(Calibrated::builder(2), 2).horizon(50).build().unwrap();
    for id in 0..60 {
        let decision = advisor.ask().unwrap();
        assert_eq!(decision.beyond_horizon, id >= 50, "decision {id}");
        advisor.tell(decision.id, 0.5).unwrap();
        assert_eq!(advisor.state().beyond_horizon, id >= 50);
    }
    assert_eq!(advisor.horizon(), Some(50));
    let restored: Advisor<AnyPolicy> = Advisor::from_json(&advisor.to_json().unwrap()).unwrap();
    assert!(restored.state().beyond_horizon);
    // A decision that an older program stored has no such field.
    let old: Decision = serde_json::from_str(r#"{"id": 3, "arm": 1, "phase": "measured"}"#).unwrap();
    assert!(!old.beyond_horizon);
}

#[test]
fn rewards_out_of_range_are_reported_as_rewards() {
    let range = LossRange::new(0.0, 100.0).unwrap();
    let mut advisor = Advisor::builder(Ucb1::builder(), 2).loss_range(range).build().unwrap();
    advisor.ask().unwrap();
    let refused = TellError::Reward { decision: 0, reward: 120.0, range };
    assert_eq!(advisor.tell_reward(0, 120.0), Err(refused));
    assert_eq!(advisor.tell_reward(1, 1.0), Err(TellError::Unknown { decision: 1, made: 1 }));
    assert_eq!(advisor.tell_reward(0, 90.0), Ok(true));
    assert_eq!(advisor.state().arms[0].mean, Some(10.0));
    assert_eq!(advisor.tell_reward(0, 90.0), Err(TellError::AlreadySettled { decision: 0 }));
}

#[test]
fn a_warm_start_replaces_the_first_measurements() {
    let past = [ones(100, 60.0), ones(100, 20.0), ones(5, 1.0)];
    let mut advisor = Advisor::builder(Calibrated::builder(3), 3).horizon(100_000).warm_start(past).build().unwrap();
    let state = advisor.state();
    assert_eq!(state.arms.iter().map(|arm| arm.measured).collect::<Vec<_>>(), [100, 100, 5]);
    assert!((state.arms[1].mean.unwrap() - 0.2).abs() < 1e-12 && state.arms[1].high < 0.4);
    let first = advisor.ask().unwrap();
    assert_eq!((first.arm, first.phase), (2, Phase::BurnIn), "the arm with few past losses is measured first");
    play(&mut advisor, 500, &[0.6, 0.2, 0.9]);
    assert_eq!(advisor.recommend(), 1);
    assert!(advisor.plays()[0] < 10, "{:?}: arm 0 was known to be worse", advisor.plays());
    let restored: Advisor<AnyPolicy> = Advisor::from_json(&advisor.to_json().unwrap()).unwrap();
    assert_eq!(restored, advisor);
}

/// An advisor that starts from past losses continues like one that was told the same losses.
#[test]
fn a_warm_start_of_ucb_equals_the_same_plays() {
    for spec in [PolicySpec::from(Ucb1::builder()), EpochUcb::builder(3).into()] {
        let mut told = Advisor::builder(spec.clone(), 3).build().unwrap();
        let mut past = [Feedback::default(); 3];
        for _ in 0..60 {
            let decision = told.ask().unwrap();
            let loss = f64::from(decision.id % 3 == 0) * 0.5;
            if told.tell(decision.id, loss).unwrap() {
                past[decision.arm] += Feedback::one(loss);
            }
        }
        let mut warm = Advisor::builder(spec, 3).warm_start(past).build().unwrap();
        for _ in 0..200 {
            let (a, b) = (told.ask().unwrap(), warm.ask().unwrap());
            assert_eq!(a.arm, b.arm);
            let loss = 0.3 + 0.1 * a.arm as f64;
            told.tell(a.id, loss).unwrap();
            warm.tell(b.id, loss).unwrap();
        }
        let again: Advisor<AnyPolicy> = Advisor::from_json(&warm.to_json().unwrap()).unwrap();
        assert_eq!(again, warm);
    }
}

#[test]
fn every_policy_that_takes_a_warm_start_can_be_saved_at_any_time() {
    let past = [ones(40, 10.0), ones(8, 6.0), ones(60, 30.0)];
    let mut accepted = 0;
    for spec in PolicySpec::catalogue().iter().map(|kind| kind.example.clone().with_memory_bound(3)) {
        let built = Advisor::builder(spec.clone(), 3).horizon(3000).warm_start(past).build();
        let Ok(mut advisor) = built else {
            assert_eq!(built.unwrap_err(), AdvisorError::WarmStart(WarmStartError::Unsupported), "{}", spec.label());
            continue;
        };
        accepted += 1;
        for step in 0..400 {
            if step % 20 == 0 {
                let restored: Advisor<AnyPolicy> = Advisor::from_json(&advisor.to_json().unwrap()).unwrap();
                assert_eq!(restored, advisor);
                advisor = restored;
            }
            play(&mut advisor, 1, &[0.3, 0.8, 0.5]);
        }
        assert_eq!(advisor.recommend(), 0, "{}", spec.label());
    }
    assert!(accepted >= 4, "{accepted}");
}

#[test]
fn impossible_past_losses_are_refused() {
    let build = |past: Vec<Feedback>| Advisor::builder(Calibrated::builder(2), 2).warm_start(past).build();
    let refused = |past: Vec<Feedback>| match build(past) {
        Err(AdvisorError::WarmStart(error)) => error,
        other => panic!("{other:?}"),
    };
    assert_eq!(refused(vec![ones(3, 1.0)]), WarmStartError::Arms { given: 1, arms: 2 });
    for (plays, sum, sum_sq) in [
        (3, 4.0, 4.0),
        (3, -0.5, 0.5),
        (3, f64::NAN, 1.0),
        (3, 1.0, f64::INFINITY),
        (2, 1.0, 0.1),
        (u64::MAX, 1.0, 1.0),
    ] {
        let past = vec![ones(3, 1.0), Feedback { plays, sum, sum_sq }];
        assert!(matches!(refused(past), WarmStartError::Sums { arm: 1, .. }), "{plays} {sum} {sum_sq}");
    }
    let ucb = Advisor::builder(Ucb1::builder(), 2).warm_start([ones(3, 1.0), ones(0, 0.0)]).build();
    assert_eq!(ucb.unwrap_err(), AdvisorError::WarmStart(WarmStartError::Missing { arm: 1 }));
    let started = build(vec![ones(3, 1.0); 2]).unwrap();
    let mut started = started;
    started.ask().unwrap();
    let again = started.with_warm_start(&[ones(3, 1.0); 2]);
    assert_eq!(again.unwrap_err(), AdvisorError::WarmStart(WarmStartError::Started));
}

#[test]
fn certificates_of_the_policy_come_first() {
    let mut advisor = Advisor::builder(Calibrated::builder(3), 2).horizon(50_000).build().unwrap();
    assert_eq!(advisor.certificate(), None, "nothing is measured");
    play(&mut advisor, 5000, &[0.2, 0.6]);
    let certificate = advisor.certificate().unwrap();
    assert_eq!((certificate.arms, certificate.gap, certificate.delta), (vec![0], 0.0, 0.05));
    assert_eq!(advisor.confidence(0.01).unwrap().gap, 0.0);
    for delta in [0.0, 1.0, -0.1, f64::NAN] {
        assert!(advisor.confidence(delta).is_err() && advisor.interval(0, delta).is_err());
    }
    let mut eliminating = Advisor::builder(AnytimeElimination::builder(2), 2).build().unwrap();
    play(&mut eliminating, 5000, &[0.2, 0.6]);
    assert_eq!(eliminating.certificate(), calibandit::Policy::certificate(eliminating.policy()));
    let mut random = Advisor::builder(Exp3::builder(), 2).horizon(1000).build().unwrap();
    play(&mut random, 1000, &[0.2, 0.6]);
    assert!(random.certificate().is_some(), "from the intervals");
    let mut normal = Advisor::builder(Thompson::builder(), 2).loss_range(LossRange::unbounded()).build().unwrap();
    play(&mut normal, 3, &[0.2, 0.6]);
    assert_eq!(normal.certificate(), None, "no interval is finite yet");
}
