//! What can be known about an experiment before it is run: the game's alpha and best arm, the exact optimum, what
//! Theorem 1 promises, and what looks like a mistake.

use calibandit::rng::StreamKey;
use calibandit::theory::ProblemSize;
use calibandit::{Game, GameError, PolicySpec, optimum_bounds, reo};
use serde::Serialize;
use serde_json::Value;

use crate::Experiment;
use crate::spec::Point;

/// What is known about one point of an experiment's sweep, on the game of the first instance.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Check {
    /// The point.
    pub point: String,
    /// The number of arms, K.
    pub arms: usize,
    /// The game's memory, m.
    pub memory: usize,
    /// The horizon, T.
    pub horizon: u64,
    /// The smallest alpha for which the game satisfies alpha-REO; `None` if it cannot be computed.
    pub alpha: Option<f64>,
    /// An arm and its window, newest play first, that beat the best calibrated arm by alpha; only if alpha > 0.
    pub beaten_by: Option<BeatenBy>,
    /// The arm with the least eventual loss, x*.
    pub best_arm: usize,
    /// The eventual loss of each arm.
    pub eventual_losses: Vec<f64>,
    /// The optimum.
    pub optimum: OptimumCheck,
    /// Theorem 1's bound for each policy that it is about.
    pub theorem_1: Vec<Bound>,
    /// Whether other instances are other games.
    pub instances_differ: bool,
    /// What looks like a mistake, or is good to know.
    pub warnings: Vec<String>,
}

/// A play that is better than repeated exposure of the best arm.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct BeatenBy {
    /// The arm.
    pub arm: usize,
    /// Its window, newest play first.
    pub window: Vec<u8>,
}

/// The optimum at the horizon.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct OptimumCheck {
    /// The least expected loss, or the upper bound on it where it is not known exactly.
    pub loss: f64,
    /// Whether it is known exactly.
    pub exact: bool,
    /// A lower bound; the same as `loss` where it is exact.
    pub lower: f64,
    /// The best sequence: these plays first,
    pub prefix: Vec<usize>,
    /// then these over and over,
    pub cycle: Vec<usize>,
    /// so many times,
    pub repeats: u64,
    /// and these at the end.
    pub tail: Vec<usize>,
}

/// Theorem 1's bound on the CPR of a policy.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Bound {
    /// The policy's label.
    pub policy: String,
    /// The bound.
    pub bound: f64,
    /// The probability with which it may fail.
    pub delta: f64,
}

/// Why an experiment could not be checked.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum CheckError {
    /// The game could not be drawn.
    #[error("{point}: {source}")]
    Game {
        /// The point of the sweep.
        point: String,
        /// Why.
        source: GameError,
    },
}

/// Checks every point of an experiment.
pub fn check(spec: &Experiment) -> Result<Vec<Check>, CheckError> {
    spec.points().iter().map(|point| check_point(spec, point)).collect()
}

/// The checks as one value: the first point at the top, where programs without a sweep look, and all of them under `points`.
pub fn to_json(spec: &Experiment, checks: &[Check]) -> Result<Value, serde_json::Error> {
    let mut value = serde_json::to_value(checks.first())?;
    if let Value::Object(top) = &mut value {
        top.insert("name".into(), spec.name().into());
        top.insert("points".into(), serde_json::to_value(checks)?);
    }
    Ok(value)
}

fn check_point(spec: &Experiment, point: &Point) -> Result<Check, CheckError> {
    let game = point
        .game
        .draw(&mut StreamKey::new(spec.seed(), spec.name(), 0).game())
        .map_err(|source| CheckError::Game { point: point.label.clone(), source })?;
    let horizon = spec.horizon();
    let known = reo(&game);
    let alpha = known.as_ref().ok().map(|reo| reo.alpha);
    let mut warnings = Vec::new();
    if let Err(error) = &known {
        warnings.push(format!("alpha is not known: {error}"));
    }
    let beaten_by = known
        .ok()
        .filter(|reo| reo.alpha > 0.0)
        .map(|reo| BeatenBy { arm: reo.arm, window: reo.window.iter().map(|&played| u8::from(played)).collect() });
    if let (Some(alpha), Some(beaten)) = (alpha, &beaten_by) {
        warnings.push(format!(
            "repeated exposure is not optimal: arm {} in the window {:?} beats the best calibrated arm by alpha = {alpha}, \
             so Theorem 1 allows a regret of alpha·T = {}",
            beaten.arm,
            beaten.window,
            alpha * horizon as f64
        ));
    }
    let best = optimum_bounds(&game, horizon);
    if !best.exact {
        warnings.push(
            "the optimum of this game is known only within bounds: the experiment cannot be run, since there is no regret without it"
                .to_string(),
        );
    }
    let problem = |memory_bound| ProblemSize { arms: game.arms().len(), horizon, memory: game.memory(), memory_bound };
    let mut theorem_1 = Vec::new();
    for entry in &point.policies {
        let told = entry.policy.memory_bound();
        warnings.extend(warn_about_memory(&game, &entry.label, told));
        if let PolicySpec::SuccessiveElimination(policy) = &entry.policy {
            let bound = problem(policy.memory_bound).theorem_1(policy.delta, alpha.unwrap_or(0.0));
            if bound >= horizon as f64 {
                warnings.push(format!(
                    "Theorem 1's bound for {} is {bound:.0}, more than the horizon: it says nothing here",
                    entry.label
                ));
            }
            theorem_1.push(Bound { policy: entry.label.clone(), bound, delta: policy.delta });
        }
    }
    if horizon < game.memory() as u64 {
        warnings.push(format!(
            "the horizon {horizon} is shorter than the memory {}: no arm can ever be calibrated",
            game.memory()
        ));
    }
    Ok(Check {
        point: point.label.clone(),
        arms: game.arms().len(),
        memory: game.memory(),
        horizon,
        alpha,
        beaten_by,
        best_arm: game.best_arm(),
        eventual_losses: game.arms().iter().map(|arm| arm.eventual_loss()).collect(),
        optimum: OptimumCheck {
            loss: best.upper,
            exact: best.exact,
            lower: best.lower,
            prefix: best.sequence.prefix,
            cycle: best.sequence.cycle,
            repeats: best.sequence.repeats,
            tail: best.sequence.tail,
        },
        theorem_1,
        instances_differ: point.game.is_random(),
        warnings,
    })
}

fn warn_about_memory(game: &Game, policy: &str, told: Option<u64>) -> Option<String> {
    let memory = game.memory() as u64;
    match told {
        Some(bound) if bound < memory => Some(format!(
            "{policy} is told that the memory is at most {bound}, but it is {memory}: what it records is not calibrated, and no guarantee holds"
        )),
        None if memory > 1 => Some(format!("{policy} does not burn in: it never waits for an arm to be calibrated")),
        _ => None,
    }
}
