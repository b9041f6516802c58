//! How often pilots find the memory, and what they cost: the tables about pilots in docs/memory.md.
//!
//! `cargo run --release -p calibandit --example pilot_study -- [SHARE] [plans|policy|training|regret]` prints Markdown.
//! SHARE is the part of the full number of runs, 1 by default, which takes about three minutes on one core. The
//! constants of the library were chosen with the games of `training`, and the tables judge them on other games.

mod curves;

use std::process::ExitCode;

use calibandit::policy::{Calibrated, Pilot};
use calibandit::tallying::{Kernel, MemorySet, TallyModel, candidate_memories, memory_set};
use calibandit::{Feedback, Game, Noise, PilotDesign, PilotPlan, Policy, Problem, Simulation, StreamKey};
use curves::{StudyCurve, WarmUpShape};

/// The longest memory considered possible, where a table does not say otherwise.
const LONGEST: u32 = 64;

/// The number of runs of a full study. The standard error of a share of 95 % is then 1.1 points.
const RUNS: f64 = 400.0;

type StudyError = Box<dyn std::error::Error>;

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let part = arguments.get(1).map_or("all", String::as_str);
    let share = arguments.first().map_or(Some(1.0), |text| text.parse::<f64>().ok());
    let Some(share) = share.filter(|share| *share > 0.0) else {
        eprintln!("the share of the runs must be a positive number");
        return ExitCode::from(2);
    };
    let runs = ((RUNS * share).ceil() as u64).max(1);
    let done = match part {
        "plans" => plans(runs),
        "policy" => policy(&judged(), runs),
        "training" => policy(&training(), runs),
        "regret" => regret(runs / 10),
        "all" => plans(runs).and_then(|()| policy(&judged(), runs)).and_then(|()| regret(runs / 10)),
        other => Err(format!("unknown part `{other}`: plans, policy, training, regret or all").into()),
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("pilot_study: {error}");
            ExitCode::FAILURE
        }
    }
}

/// The curves of the study, on which the constants are judged.
fn judged() -> Vec<StudyCurve> {
    vec![
        StudyCurve::new(WarmUpShape::Step, 8, 0.3),
        StudyCurve::new(WarmUpShape::Step, 32, 0.3),
        StudyCurve::new(WarmUpShape::Linear, 16, 0.3),
        StudyCurve::new(WarmUpShape::Exponential, 32, 0.3),
    ]
}

/// The curves with which the constants were chosen.
fn training() -> Vec<StudyCurve> {
    vec![
        StudyCurve::new(WarmUpShape::Step, 5, 0.3),
        StudyCurve::new(WarmUpShape::Step, 20, 0.15),
        StudyCurve::new(WarmUpShape::Step, 45, 0.3),
        StudyCurve::new(WarmUpShape::Linear, 10, 0.3),
        StudyCurve::new(WarmUpShape::Linear, 20, 0.5),
        StudyCurve::new(WarmUpShape::Linear, 40, 0.3),
        StudyCurve::new(WarmUpShape::Exponential, 12, 0.3),
        StudyCurve::new(WarmUpShape::Exponential, 24, 0.3),
        StudyCurve::new(WarmUpShape::Exponential, 48, 0.3),
    ]
}

const NOISES: [(&str, Noise, f64); 2] = [("0/1", Noise::Bernoulli, 0.5), ("normal", Noise::Normal { sd: 0.2 }, 0.2)];

fn median(mut values: Vec<u64>) -> u64 {
    values.sort_unstable();
    values.get(values.len() / 2).copied().unwrap_or(0)
}

/// A bound is usable if the losses have settled there, up to a third of the warm-up, and it is at most twice the
/// memory.
fn is_usable(curve: &StudyCurve, bound: u64) -> bool {
    bound >= curve.settled(curve.drop / 3.0) && bound <= 2 * curve.memory as u64
}

/// Plans of the design for tallying, with half, once and 1.5 times the plays of the library.
fn plans(runs: u64) -> Result<(), StudyError> {
    println!(
        "Plans for tallying, longest memory {LONGEST}: the share of {runs} pilots whose M is usable, that is, within a"
    );
    println!("third of the warm-up of the eventual loss, and at most twice the memory.\n");
    println!("| curve, drop, losses | plays per arm | usable at half | usable | usable at 1.5 times | M >= m |");
    println!("|---|---|---|---|---|---|");
    for (noise_name, noise, sd) in NOISES {
        for drop in [0.1, 0.2, 0.4] {
            for curve in judged().iter().map(|curve| StudyCurve { drop, ..*curve }) {
                let game = curve.game(noise);
                let size = PilotDesign::Tallying.plays_per_arm(LONGEST, sd, drop);
                let mut shares = Vec::new();
                let mut above = 0.0;
                for factor in [0.5, 1.0, 1.5] {
                    let mut usable = 0_u32;
                    let mut enough = 0_u32;
                    for run in 0..runs {
                        // The size grows with the square of sd.
                        let plan =
                            PilotPlan::new(PilotDesign::Tallying, 4, LONGEST, sd * f64::sqrt(factor), drop, run)?;
                        let bound = follow(&game, &plan, run).and_then(|set| set.high).unwrap_or(LONGEST);
                        usable += u32::from(is_usable(&curve, u64::from(bound)));
                        enough += u32::from(bound as usize >= curve.memory);
                    }
                    shares.push(f64::from(usable) / runs as f64);
                    if factor == 1.0 {
                        above = f64::from(enough) / runs as f64;
                    }
                }
                println!(
                    "| {}, {drop}, {noise_name} | {size} | {:.2} | **{:.2}** | {:.2} | {above:.2} |",
                    curve.name(),
                    shares[0],
                    shares[1],
                    shares[2]
                );
            }
        }
    }
    println!();
    Ok(())
}

/// The memories that agree with the log of a plan.
fn follow(game: &Game, plan: &PilotPlan, run: u64) -> Option<MemorySet> {
    let mut draws = StreamKey::new(2, "pilot plans", run).noise();
    let mut window = game.empty_window();
    let memories = candidate_memories(plan.longest);
    let mut models: Vec<TallyModel> =
        memories.into_iter().map(|memory| TallyModel::new(Kernel::Unit, memory, game.arms().len())).collect();
    let mut squares = 0.0;
    for planned in &plan.runs {
        for _ in 0..planned.plays {
            let expected = game.play(planned.arm, &mut window);
            let loss = game.arms()[planned.arm].noise().draw(expected, &mut draws);
            squares += loss * loss;
            for model in &mut models {
                let level = model.play(planned.arm);
                model.record(planned.arm, level, loss);
            }
        }
    }
    let fits: Vec<_> = models.iter().map(TallyModel::fit).collect();
    let explained = fits.iter().map(|fit| fit.explained).fold(0.0, f64::max);
    memory_set(&fits, (squares - explained) / plan.plays as f64)
}

/// The policy without a horizon: how often its memory bound is usable, and after how many plays.
fn policy(curves: &[StudyCurve], runs: u64) -> Result<(), StudyError> {
    println!("The policy `pilot` without a horizon, {runs} runs each; m is the memory.\n");
    println!(
        "| curve, losses | longest | M >= m | usable | median M | least M | median plays of the pilot | most plays |"
    );
    println!("|---|---|---|---|---|---|---|---|");
    for (noise_name, noise, _) in NOISES {
        for (curve, longest) in curves.iter().flat_map(|curve| [(curve, LONGEST), (curve, 8 * LONGEST)]) {
            let game = curve.game(noise);
            let (mut enough, mut usable) = (0_u32, 0_u32);
            let (mut bounds, mut plays) = (Vec::new(), Vec::new());
            for run in 0..runs {
                let (bound, spent) = pilot(&game, longest, run)?;
                enough += u32::from(bound >= curve.memory as u64);
                usable += u32::from(is_usable(curve, bound));
                bounds.push(bound);
                plays.push(spent);
            }
            let share = |count: u32| f64::from(count) / runs as f64;
            let least = bounds.iter().min().copied().unwrap_or(0);
            let most = plays.iter().max().copied().unwrap_or(0);
            println!(
                "| {}, {noise_name} | {longest} | {:.3} | {:.3} | {} | {least} | {} | {most} |",
                curve.name(),
                share(enough),
                share(usable),
                median(bounds),
                median(plays),
            );
        }
    }
    println!();
    Ok(())
}

/// The memory bound of one pilot, and its plays.
fn pilot(game: &Game, longest: u32, run: u64) -> Result<(u64, u64), StudyError> {
    let key = StreamKey::new(1, "pilot study", run);
    let problem = Problem { arms: game.arms().len(), horizon: None };
    let mut policy = Pilot::builder(longest).build(&problem, key.policy())?;
    let (mut window, mut draws) = (game.empty_window(), key.noise());
    loop {
        if let Some(bound) = policy.memory_bound() {
            return Ok((bound, policy.pilot_plays()));
        }
        let run = policy.next_run();
        let mut feedback = Feedback::default();
        for _ in 0..run.record {
            let expected = game.play(run.arm, &mut window);
            feedback += Feedback::one(game.arms()[run.arm].noise().draw(expected, &mut draws));
        }
        policy.observe(run, feedback);
    }
}

/// Regret of `pilot` beside `calibrated` that knows the memory, or only the longest memory considered possible.
fn regret(instances: u64) -> Result<(), StudyError> {
    println!("Complete policy regret with two standard errors, {} instances.\n", instances.max(2));
    println!("| curve, losses | T | longest | calibrated, M = m | calibrated, M = longest | pilot |");
    println!("|---|---|---|---|---|---|");
    for (noise_name, noise, _) in NOISES {
        for curve in judged() {
            for horizon in [100_000, 1_000_000] {
                for longest in [64_u32, 2048] {
                    let outcome = Simulation::new(curve.game(noise))
                        .policy_as("known", Calibrated::builder(curve.memory as u64))
                        .policy_as("longest", Calibrated::builder(u64::from(longest)))
                        .policy_as("pilot", Pilot::builder(longest))
                        .horizon(horizon)
                        .instances(instances.max(2))
                        .seed(3)
                        .run()?;
                    let cell = |policy: &calibandit::PolicyOutcome| {
                        format!("{:.0} ± {:.0}", policy.regret(), 2.0 * policy.standard_error())
                    };
                    let cells: Vec<String> = outcome.policies().iter().map(cell).collect();
                    println!("| {}, {noise_name} | {horizon} | {longest} | {} |", curve.name(), cells.join(" | "));
                }
            }
        }
    }
    println!();
    Ok(())
}
