//! The claims of intervals and of the monitor, measured on simulated plays; and the probe.

use calibandit::policy::{Calibrated, Ucb1};
use calibandit::{Advisor, AdvisorError, AnyPolicy, LossRange, Phase};

#[path = "../../examples/advisor_study/simulation.rs"]
mod simulation;

use simulation::{covers, judged_games, settings};

/// How many of these runs have all intervals right at all times.
fn covered(runs: std::ops::Range<u64>) -> Vec<(&'static str, u64)> {
    let count = |setting: &simulation::Setting| {
        runs.clone().filter(|&run| covers(setting, run, 300, 0.05).expect("the run is possible").0).count() as u64
    };
    settings().iter().map(|setting| (setting.name, count(setting))).collect()
}

#[test]
fn intervals_hold_at_every_time_at_once() {
    for (name, covered) in covered(0..60) {
        assert!(covered >= 54, "{name}: {covered} of 60");
    }
}

#[test]
#[ignore = "slow: 10^4 adaptive runs of eight settings take two minutes"]
fn intervals_hold_at_every_time_at_once_in_ten_thousand_runs() {
    for (name, covered) in covered(0..10_000) {
        println!("{name}: {covered} of 10000");
        assert!(covered >= 9_500, "{name}: {covered} of 10000");
    }
}

/// A sequence that stops as soon as its interval excludes the truth does so in at most 5 % of the cases, which would be
/// nearly always for intervals of a fixed sample size.
#[test]
fn optional_stopping_does_not_help() {
    let stopped = (0..200).filter(|&run| !covers(&settings()[5], run, 1000, 0.05).unwrap().0).count();
    assert!(stopped <= 10 + 9, "{stopped} of 200: more than three standard deviations above 5 %");
}

#[test]
fn the_monitor_gives_few_false_alarms_and_finds_half_the_memory() {
    for game in [judged_games()[0], judged_games()[1]] {
        let alarms = |bound, runs: u64| {
            (0..runs).filter(|&run| game.play(bound, true, 2500, run).expect("possible").monitor().alarm).count()
        };
        assert!(alarms(game.memory, 40) <= 5, "{}", game.name);
        // Measured with many runs: about 90 % and 100 %.
        assert!(alarms(game.memory / 2, 40) >= 30, "{}", game.name);
    }
}

#[test]
#[ignore = "slow: 1000 runs of seven games take a minute"]
fn the_monitor_gives_at_most_five_percent_false_alarms() {
    for game in judged_games() {
        for probe in [false, true] {
            let alarms = (0..1000).filter(|&run| game.play(game.memory, probe, 5000, run).unwrap().monitor().alarm);
            let alarms = alarms.count();
            println!("{}, probe {probe}: {alarms} of 1000", game.name);
            assert!(alarms <= 50 + 14, "{}: {alarms}, two standard deviations above 5 %", game.name);
        }
        let bound = game.settled(0.1) / 2;
        let found = (0..1000).filter(|&run| game.play(bound, true, 5000, run).unwrap().monitor().alarm);
        let found = found.count();
        println!("{}, M = m(0.1)/2: {found} of 1000", game.name);
        // The best possible test finds the exponential curve with losses of 0 and 1 in less than 80 %.
        assert!(game.name == "exponential 40, 0/1" || found >= 800, "{}: {found}", game.name);
    }
}

fn probing() -> Advisor<AnyPolicy> {
    Advisor::builder(Calibrated::builder(5), 2).horizon(10_000).probe(true).build().expect("valid parameters")
}

#[test]
fn a_probe_lengthens_the_first_burn_in_of_each_arm() {
    let mut advisor = probing();
    let mut plain = Advisor::builder(Calibrated::builder(5), 2).horizon(10_000).build().unwrap();
    let mut phases = Vec::new();
    for step in 0..3000 {
        let decision = advisor.ask().unwrap();
        phases.push((decision.arm, decision.phase));
        advisor.tell(decision.id, f64::from(decision.arm == 0)).unwrap();
        if step % 97 == 0 {
            let restored: Advisor<AnyPolicy> = Advisor::from_json(&advisor.to_json().unwrap()).unwrap();
            assert_eq!(restored, advisor);
            advisor = restored;
        }
        let decision = plain.ask().unwrap();
        plain.tell(decision.id, f64::from(decision.arm == 0)).unwrap();
    }
    for arm in 0..2 {
        let first = phases.iter().position(|&(played, _)| played == arm).unwrap();
        let burn_in = phases[first..].iter().take_while(|&&phase| phase == (arm, Phase::BurnIn)).count();
        assert_eq!(burn_in, 19, "4·5 - 1 burn-in plays, of which the policy asked for 4");
    }
    assert!(!advisor.monitor().alarm && advisor.monitor().runs >= 2 && advisor.monitor().probe);
    // The policy gets the same losses, so it decides the same.
    assert_eq!(advisor.recommend(), plain.recommend());
    assert_eq!(advisor.state().arms[1].measured > 0, plain.state().arms[1].measured > 0);
}

#[test]
fn a_probe_needs_a_bound() {
    let refused = Advisor::builder(Ucb1::builder(), 2).probe(true).build();
    assert_eq!(refused.unwrap_err(), AdvisorError::ProbeWithoutBound);
    assert!(AdvisorError::ProbeWithoutBound.to_string().contains("bound on the memory"));
}

/// Losses of burn-in plays change neither means nor what the policy is told.
#[test]
fn burn_in_losses_never_count() {
    let (mut told, mut silent) = (probing(), probing());
    for _ in 0..2000 {
        let (a, b) = (told.ask().unwrap(), silent.ask().unwrap());
        assert_eq!(a, b);
        let loss = if a.phase == Phase::BurnIn { 1.0 } else { 0.1 + 0.2 * a.arm as f64 };
        assert_eq!(told.tell(a.id, loss).unwrap(), a.phase == Phase::Measured);
        if b.phase == Phase::Measured {
            silent.tell(b.id, loss).unwrap();
        }
    }
    assert_eq!(told.state().arms, silent.state().arms);
    assert_eq!(told.policy(), silent.policy());
}

/// Within a run, the order in which losses are told changes nothing, burn-in included.
#[test]
fn the_order_of_tells_does_not_change_the_monitor() {
    let (mut forward, mut backward) = (probing(), probing());
    for _ in 0..20 {
        let mut batch = Vec::new();
        // As many plays as the advisor hands out before it waits.
        while let Ok(decision) = forward.ask() {
            assert_eq!(backward.ask(), Ok(decision));
            batch.push(decision);
        }
        let loss = |id: u64| (id as f64 * 0.618).fract();
        // The last measured loss closes the run, so burn-in losses come before it in both orders.
        let (burn_in, measured): (Vec<_>, Vec<_>) = batch.into_iter().partition(|d| d.phase == Phase::BurnIn);
        for decision in burn_in.iter().chain(&measured) {
            forward.tell(decision.id, loss(decision.id)).unwrap();
        }
        for decision in burn_in.iter().rev().chain(measured.iter().rev()) {
            backward.tell(decision.id, loss(decision.id)).unwrap();
        }
        assert_eq!(forward, backward);
    }
}

#[test]
fn losses_without_a_range_are_monitored_after_the_first_run() {
    let build = |bound| {
        let builder = Advisor::builder(Calibrated::builder(bound), 3).loss_range(LossRange::unbounded());
        builder.probe(true).horizon(5000).build().unwrap()
    };
    for (bound, expected) in [(8, false), (4, true)] {
        let mut advisor = build(bound);
        let (mut last, mut row) = (None, 0);
        for _ in 0..2000 {
            let decision = advisor.ask().unwrap();
            row = if last == Some(decision.arm) { row + 1 } else { 1 };
            last = Some(decision.arm);
            let noise = (decision.id as f64 * 0.618).fract() - 0.5;
            let warm_up = if row < 8 { 40.0 } else { 0.0 };
            advisor.tell(decision.id, 500.0 + 30.0 * decision.arm as f64 + 20.0 * noise + warm_up).unwrap();
        }
        assert_eq!(advisor.monitor().alarm, expected, "bound {bound}: {}", advisor.monitor());
    }
}
