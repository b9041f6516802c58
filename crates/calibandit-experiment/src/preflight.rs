//! Static analysis of an experiment: alpha, best arm, exact optimum, theorem bounds, and warnings about likely
//! mistakes.
//!
//! Nothing is simulated. A game that is drawn at random is analysed as the first instance has it. [`memory_warnings`]
//! is the part that costs nothing: no optimum is computed.

mod live;
mod memory;
mod suited;
mod tallies;

pub use live::LivePreflight;
pub use memory::memory_warnings;

use calibandit::rng::StreamKey;
use calibandit::theory::ProblemSize;
use calibandit::{ArmPlays, Game, GameClass, Interrupt, Interrupted, Memory, Optima, PolicySpec, reo_interruptible};
use serde::Serialize;
use serde_json::Value;

use crate::error::InstanceError;
use crate::experiment::LabelledPolicy;
use crate::format::rounded;
use crate::run::optimum_at_checkpoints;
use crate::spec::Point;
use crate::{Experiment, cost};

/// The analysis of one point of an experiment's sweep.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Preflight {
    /// The label of the point.
    pub point: String,
    /// The number of arms, K.
    pub arms: usize,
    /// The names of the arms, `None` for an arm without a name; empty if no arm has one.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub arm_names: Vec<Option<String>>,
    /// The game's memory, m: `"all"` if the game is rested.
    pub memory: Memory,
    /// The horizon, T. In live use, the plays of all lanes together.
    pub horizon: u64,
    /// Live use, if it is simulated.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub live: Option<LivePreflight>,
    /// The smallest alpha for which the game satisfies alpha-REO; `None` if it cannot be computed.
    pub alpha: Option<f64>,
    /// An arm and its window that beat the best calibrated arm by alpha; only if alpha > 0.
    pub beaten_by: Option<BeatenBy>,
    /// The arm with the smallest eventual loss, x*.
    pub best_arm: usize,
    /// The eventual loss of each arm.
    pub eventual_losses: Vec<f64>,
    /// The optimum at the horizon. In live use, that of a usual session.
    pub optimum: PreflightOptimum,
    /// Theorem 1's bound for each policy that the theorem is about.
    pub theorem_1: Vec<TheoremBound>,
    /// Whether instances are different games.
    pub instances_differ: bool,
    /// Why the experiment cannot be run at this point; `None` if it can.
    pub refusal: Option<String>,
    /// Likely mistakes and remarks.
    pub warnings: Vec<String>,
}

/// A play that is better than the best calibrated arm.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct BeatenBy {
    /// The arm.
    pub arm: usize,
    /// Its window, newest play first; empty if the arm is rested.
    pub window: Vec<u8>,
    /// The number of plays of the arm, if it is rested.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub plays: Option<u64>,
}

/// The optimum at the horizon.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct PreflightOptimum {
    /// The optimum, or an upper bound on it if it is not known exactly.
    pub loss: f64,
    /// Whether the optimum is known exactly.
    pub exact: bool,
    /// A lower bound; equal to `loss` if that is exact.
    pub lower: f64,
    /// The plays of each arm in a rested game, where their order does not matter; empty for other games.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub blocks: Vec<ArmPlays>,
    /// A best sequence of plays begins with these,
    pub prefix: Vec<usize>,
    /// continues with these,
    pub cycle: Vec<usize>,
    /// repeated this many times,
    pub repeats: u64,
    /// and ends with these.
    pub tail: Vec<usize>,
}

/// Theorem 1's bound on the CPR of a policy.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct TheoremBound {
    /// The policy's label.
    pub policy: String,
    /// The bound.
    pub bound: f64,
    /// The probability with which the CPR may exceed it.
    pub delta: f64,
}

impl Preflight {
    /// The name of an arm, if it has one.
    pub fn arm_name(&self, arm: usize) -> Option<&str> {
        self.arm_names.get(arm)?.as_deref()
    }

    /// How sentences refer to an arm: `1`, or `1 (bob)` if it has a name.
    pub fn arm_title(&self, arm: usize) -> String {
        self.arm_name(arm).map_or_else(|| arm.to_string(), |name| format!("{arm} ({name})"))
    }
}

/// Analyses every point of an experiment. What a run would refuse is refused by validation, or is a
/// [`refusal`](Preflight::refusal) here.
pub fn preflight(experiment: &Experiment) -> Vec<Preflight> {
    preflight_interruptible(experiment, Interrupt::never()).expect("nothing interrupts")
}

/// [`preflight`] with a stop flag.
///
/// # Errors
/// [`Interrupted`] if the flag is set before the analysis has ended.
pub fn preflight_interruptible(
    experiment: &Experiment,
    interrupt: Interrupt<'_>,
) -> Result<Vec<Preflight>, Interrupted> {
    let of_point = |point| {
        let analysis = analyse(experiment, point, interrupt);
        // What was given up is not known, so that an analysis that was interrupted is of no use.
        interrupt.check().map(|()| analysis)
    };
    experiment.points().iter().map(of_point).collect()
}

/// The estimated time of a run on one core, in seconds: right to within a factor of two or three. Simulations that are
/// the same at several points are counted at each.
pub fn estimated_seconds(experiment: &Experiment) -> f64 {
    let (horizon, mut nanoseconds) = (experiment.horizon(), 0.0);
    for point in experiment.points() {
        let game = first_game(experiment, point);
        for entry in &point.policies {
            let (arms, noise) = (game.arms().len(), game.arms()[0].noise());
            nanoseconds += cost::of_source(&entry.policy, point.live.as_ref(), arms, horizon, noise);
        }
    }
    1e-9 * nanoseconds * experiment.instances() as f64
}

/// The game of the first instance.
fn first_game(experiment: &Experiment, point: &Point) -> Game {
    let mut stream = StreamKey::new(experiment.seed(), experiment.name(), 0).game();
    point.game.draw(&mut stream).expect("validation has drawn the game of the first instance")
}

/// The analysis as one value: the keys of the first point at the top, and all points under `points`.
pub fn to_json(experiment: &Experiment, points: &[Preflight]) -> Value {
    let json = |value: &[Preflight]| serde_json::to_value(value).expect("an analysis is made of numbers and texts");
    let mut value = json(&points[..1])[0].take();
    value["name"] = experiment.name().into();
    value["points"] = json(points);
    value
}

fn analyse(experiment: &Experiment, point: &Point, interrupt: Interrupt<'_>) -> Preflight {
    let game = first_game(experiment, point);
    let horizon = experiment.horizon();
    let known = reo_interruptible(&game, interrupt);
    let alpha = known.as_ref().ok().map(|reo| reo.alpha);
    let alpha_error = known.as_ref().err().map(ToString::to_string);
    let beaten_by = known.ok().filter(|reo| reo.alpha > 0.0).map(|reo| BeatenBy {
        arm: reo.arm,
        window: reo.window.iter().map(|&played| u8::from(played)).collect(),
        plays: reo.plays,
    });
    let mut optima = Optima::new(&game).interruptible(interrupt);
    let live = LivePreflight::new(point, horizon);
    let best = optima.bounds_at(live.map_or(horizon, |live| live.session));
    // What a run does with its first instance.
    let refusal = match live {
        Some(live) => optima.excess_at(live.session).err(),
        None => optimum_at_checkpoints(&mut optima, experiment).err(),
    };
    let refusal = refusal.map(|error| InstanceError::from(error).to_string());
    let theorem_1 = point.policies.iter().filter_map(|entry| {
        let Some(PolicySpec::SuccessiveElimination(policy)) = entry.policy.spec() else { return None };
        // The theorem is about games with a window, played in one place.
        if game.is_rested() || live.is_some() {
            return None;
        }
        let size =
            ProblemSize { arms: game.arms().len(), horizon, memory: game.memory(), memory_bound: policy.memory_bound };
        let bound = size.theorem_1(policy.delta, alpha.unwrap_or(0.0));
        Some(TheoremBound { policy: entry.label.clone(), bound, delta: policy.delta })
    });
    let mut names: Vec<Option<String>> = game.arms().iter().map(|arm| arm.name().map(str::to_owned)).collect();
    if names.iter().all(Option::is_none) {
        names.clear();
    }
    let mut analysis = Preflight {
        point: point.label.clone(),
        arms: game.arms().len(),
        arm_names: names,
        memory: memory::of(&game),
        horizon,
        live,
        alpha,
        beaten_by,
        best_arm: game.best_arm(),
        eventual_losses: game.arms().iter().map(|arm| arm.eventual_loss()).collect(),
        optimum: PreflightOptimum {
            loss: best.upper,
            exact: best.exact,
            lower: best.lower,
            blocks: best.sequence.blocks,
            prefix: best.sequence.prefix,
            cycle: best.sequence.cycle,
            repeats: best.sequence.repeats,
            tail: best.sequence.tail,
        },
        theorem_1: theorem_1.collect(),
        instances_differ: point.game.is_random(),
        refusal,
        warnings: Vec::new(),
    };
    let class = suited::class(&game, alpha);
    analysis.warnings = warnings(&analysis, &point.policies, alpha_error, class);
    let models = |entry: &LabelledPolicy| tallies::note(&entry.label, entry.policy.spec()?, &game);
    analysis.warnings.extend(point.policies.iter().filter_map(models));
    if let Some(live) = &point.live {
        let more = live::warnings(&analysis, live, &point.policies);
        analysis.warnings.extend(more);
    }
    analysis
}

/// What the user should know before running the experiment.
fn warnings(
    analysis: &Preflight,
    policies: &[LabelledPolicy],
    alpha_error: Option<String>,
    class: GameClass,
) -> Vec<String> {
    let mut warnings: Vec<String> =
        alpha_error.map(|error| format!("alpha is not known: {error}")).into_iter().collect();
    let Preflight { memory, horizon, .. } = *analysis;
    if let (Some(alpha), Some(BeatenBy { arm, plays: Some(plays), .. })) = (analysis.alpha, &analysis.beaten_by) {
        warnings.push(format!(
            "repeated exposure is not optimal: arm {} at its play {plays} beats the best eventual loss by {}",
            analysis.arm_title(*arm),
            rounded(alpha),
        ));
    } else if let (Some(alpha), Some(BeatenBy { arm, window, .. })) = (analysis.alpha, &analysis.beaten_by) {
        warnings.push(format!(
            "repeated exposure is not optimal: arm {} in the window {window:?} beats the best calibrated arm by {}, so \
             Theorem 1 allows a regret of alpha·T = {}",
            analysis.arm_title(*arm),
            rounded(alpha),
            rounded(alpha * horizon as f64)
        ));
    }
    for entry in policies {
        warnings.extend(suited::note(entry, class, memory));
        if let Some(TheoremBound { bound, .. }) = analysis.theorem_1.iter().find(|bound| bound.policy == entry.label)
            && *bound >= horizon as f64
        {
            let (label, bound) = (&entry.label, rounded(bound.ceil()));
            warnings.push(format!("Theorem 1 says nothing about {label} here: its bound {bound} is not below T"));
        }
    }
    if let Memory::Plays(memory) = memory
        && horizon < memory as u64
    {
        warnings
            .push(format!("the horizon {horizon} is shorter than the memory {memory}: no arm can ever be calibrated"));
    }
    warnings
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::AtomicBool;

    /// An improving game may be compared with the plan for the horizon, a game with windows may not.
    #[test]
    fn the_reference_of_the_regret_is_checked() {
        let text = |game: &str| {
            format!(
                "name = \"x\"\nhorizon = 1000\nreference = \"horizon\"\ngame = {{ kind = \"{game}\" }}\n\
                 policy = [{{ kind = \"ucb1\" }}]\n"
            )
        };
        let analysed = |game: &str| {
            let experiment = Experiment::from_toml("x.toml", &text(game)).unwrap_or_else(|errors| panic!("{errors}"));
            assert!(experiment.to_toml().unwrap().contains("reference = \"horizon\""));
            preflight(&experiment).remove(0)
        };
        for game in ["improving", "rising-two", "rotting-two"] {
            let analysis = analysed(game);
            assert_eq!((analysis.refusal, analysis.memory), (None, Memory::All), "{game}");
        }
        assert!(analysed("step").refusal.unwrap().contains("`reference = \"time\"`"));
    }

    /// Every kind of game can be analysed, and has an exact optimum at a short horizon.
    #[test]
    fn every_kind_of_game_has_an_exact_optimum() {
        for kind in calibandit::GameSpec::catalogue() {
            let file = serde_json::json!({"name": "x", "horizon": 2000, "checkpoints": {"points": 3},
                "game": &kind.example, "policy": [{"kind": "ucb1"}]});
            let experiment = Experiment::from_json("x", &file).unwrap_or_else(|errors| panic!("{errors}"));
            let analysis = preflight(&experiment).remove(0);
            assert!(analysis.refusal.is_none() && analysis.optimum.exact, "{}: {:?}", kind.name, analysis.refusal);
        }
    }

    #[test]
    fn a_stop_flag_ends_the_analysis() {
        let text = "name = \"x\"\nhorizon = 1000\ngame = { kind = \"step\" }\npolicy = [{ kind = \"ucb1\" }]\n";
        let experiment = Experiment::from_toml("x.toml", text).unwrap_or_else(|errors| panic!("{errors}"));
        let stop = AtomicBool::new(false);
        let analysed = preflight_interruptible(&experiment, Interrupt::new(&stop)).unwrap();
        assert_eq!(analysed, preflight(&experiment));
        stop.store(true, std::sync::atomic::Ordering::Relaxed);
        assert!(preflight_interruptible(&experiment, Interrupt::new(&stop)).is_err());
    }
}
