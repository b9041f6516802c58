//! Rotation: optimism per cell, and the best block cycle. Our own policy, for tallying games with a long memory.
//!
//! A block cycle plays each arm at most once per period, some plays in a row: staying with one arm, taking turns, and
//! work followed by rest are block cycles. Which tallies a block has depends only on its length and the period, so the
//! best of all block cycles with periods up to P is a min-plus knapsack for each period, O(K·P³) in all
//! ([`BlockCycle`](crate::BlockCycle)), where [`Planner`](super::Planner) needs K^M windows.
//!
//! Everything else is as in [`Planner`](super::Planner): cells of an arm with a tally, the optimistic loss
//!
//! ```text
//! min { q : n·kl(mean, q) <= c·ln(2·K·M·t) },   at least mean - sqrt(c·ln(2·K·M·t) / (2n)),
//! ```
//!
//! of each after t plays, and a new plan whenever a cell has doubled its number of losses. The tallies of plays between
//! two cycles are counted like all others, so no play is wasted.
//!
//! With c = 1 the loss exceeds that of the best block cycle by at most the order of sqrt(K·M·T·ln T) + K·M²·ln T if M
//! is the memory of the game; docs/beyond-reo.md has the proof, and measures how far the best block cycle is from the
//! optimum. The cost of a play is O(M).

use super::PolicyError;
use super::cycle_follower::{CycleFollower, cycle_policy};
use super::error::{check, check_memory_bound, check_positive, check_problem};
use super::history::{StateError, ensure};
use super::planner::default_exploration;
use super::spec::PolicyConfig;
use super::tally_cells::CellGrid;
use crate::{BlockCycle, GameClass, Problem, Stream};

/// The most steps of a plan, K·P³: about one second.
const MOST_STEPS: u64 = 1 << 32;
/// The most cells.
const MOST_CELLS: u64 = 1 << 20;

/// The best block cycle under optimistic losses per arm and tally: stay, take turns, or work and rest.
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(deny_unknown_fields))]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct RotationSpec {
    /// The memory of the game, the paper's m. A larger bound is a wrong model: an arm's loss is then not a function of
    /// its plays among the last M.
    #[cfg_attr(feature = "schema", schemars(range(min = 1)))]
    pub memory_bound: u64,
    /// The constant c in the level c ln(2 K M t) of the optimistic losses: a larger one explores more.
    #[cfg_attr(feature = "serde", serde(default = "default_exploration"))]
    #[cfg_attr(feature = "schema", schemars(extend("exclusiveMinimum" = 0)))]
    pub exploration: f64,
    /// The longest period P of the cycles, in plays. K P^3 may be 2^32 at most.
    ///
    /// Default: 2 M.
    #[cfg_attr(feature = "serde", serde(default, skip_serializing_if = "Option::is_none"))]
    #[cfg_attr(feature = "schema", schemars(range(min = 1)))]
    pub longest_period: Option<u64>,
}

impl RotationSpec {
    /// Sets the constant c in the level of the optimistic losses, a positive number.
    pub fn exploration(mut self, constant: f64) -> Self {
        self.exploration = constant;
        self
    }

    /// Sets the longest period of the cycles, at least 1.
    pub fn longest_period(mut self, plays: u64) -> Self {
        self.longest_period = Some(plays);
        self
    }
}

/// The checked parameters of [`Rotation`], made by [`RotationSpec::params`].
#[derive(Clone, Debug, PartialEq)]
pub struct RotationParams {
    arms: usize,
    memory_bound: u64,
    exploration: f64,
    longest_period: u64,
}

/// The number of steps of a plan, unless there are too many.
fn steps(arms: usize, longest_period: u64) -> Option<u64> {
    let steps = longest_period.checked_pow(3)?.checked_mul(arms as u64)?;
    (steps <= MOST_STEPS).then_some(steps)
}

/// The number of cells, unless there are too many.
fn cells(arms: usize, memory: u64) -> Option<u64> {
    (arms as u64).checked_mul(memory).filter(|&cells| cells <= MOST_CELLS)
}

impl PolicyConfig for RotationSpec {
    const NAME: &'static str = "rotation";
    const CITATION: &'static str = "This project (https://calibandit.github.io/calibandit/beyond-reo.html), for the \
                                    problem of Malik, Li, Singh (2022), Complete Policy Regret Bounds for Tallying \
                                    Bandits, COLT 2022.";
    const MEANT_FOR: &'static [GameClass] = &[GameClass::Windowed];
    type Params = RotationParams;
    type Policy = Rotation;

    fn example() -> Self {
        Rotation::builder(2)
    }

    fn check(&self) -> Result<(), PolicyError> {
        check_memory_bound(Self::NAME, self.memory_bound)?;
        check_positive(Self::NAME, "exploration", self.exploration)?;
        let period = self.longest_period.unwrap_or(1);
        check(Self::NAME, "longest_period", period as f64, period >= 1, "at least 1")
    }

    fn params(&self, problem: &Problem) -> Result<RotationParams, PolicyError> {
        check_problem(problem)?;
        self.check()?;
        let Self { memory_bound, exploration, longest_period } = *self;
        let arms = problem.arms;
        let longest_period = longest_period.unwrap_or(memory_bound.saturating_mul(2));
        let too_large = |what, size, limit, instead| {
            Err(PolicyError::PlanTooLarge { policy: Self::NAME, what, size, limit, instead })
        };
        if cells(arms, memory_bound).is_none() {
            let size = arms as f64 * memory_bound as f64;
            return too_large("cells, K·M", size, MOST_CELLS, "choose a smaller `memory_bound` or fewer arms");
        }
        if steps(arms, longest_period).is_none() {
            let size = arms as f64 * (longest_period as f64).powi(3);
            return too_large("steps, K·P³", size, MOST_STEPS, "choose a smaller `longest_period`, or fewer arms");
        }
        Ok(RotationParams { arms, memory_bound, exploration, longest_period })
    }

    fn filled(params: &RotationParams) -> Self {
        let RotationParams { memory_bound, exploration, longest_period, .. } = *params;
        Self { memory_bound, exploration, longest_period: Some(longest_period) }
    }

    fn start(params: RotationParams, _: Stream) -> Rotation {
        Rotation::new(params)
    }

    fn memory_bound(&self) -> Option<u64> {
        Some(self.memory_bound)
    }

    fn set_memory_bound(&mut self, memory_bound: u64) {
        self.memory_bound = memory_bound;
    }

    fn label(&self) -> String {
        "rotation".to_string()
    }
}

/// Optimism per cell, and the best block cycle.
///
/// ```
/// use calibandit::policy::Rotation;
/// use calibandit::{Arm, Game, LossCurve, Noise, Simulation, Weights};
/// // Arms that tire: the loss rises with the number of plays among the last ten. Taking turns is best.
/// let arm = || Arm::new(Weights::unit(10)?, LossCurve::linear(0.0, 0.08), Noise::Bernoulli);
/// let game = Game::new(vec![arm()?, arm()?, arm()?])?;
/// let outcome = Simulation::new(game).policy(Rotation::builder(10)).horizon(20_000).run()?;
/// assert!(outcome.policies()[0].regret() < 2_000.0); // staying with one arm costs 10,000 more than taking turns
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(deny_unknown_fields))]
pub struct Rotation {
    follower: CycleFollower,
    longest_period: u64,
}

impl Rotation {
    /// Default parameters, for games with this memory.
    pub fn builder(memory_bound: u64) -> RotationSpec {
        RotationSpec { memory_bound, exploration: default_exploration(), longest_period: None }
    }

    /// A policy ready for its first run.
    pub fn new(params: RotationParams) -> Self {
        let RotationParams { arms, memory_bound, exploration, longest_period } = params;
        let grid = CellGrid { arms, memory: memory_bound as usize, by_window: false };
        Self { follower: CycleFollower::new(grid, exploration), longest_period }
    }

    /// The arms of the present plan, a block cycle; empty before the first run.
    pub fn cycle(&self) -> &[u32] {
        self.follower.cycle()
    }

    /// How many plans were made.
    pub fn plans(&self) -> u64 {
        self.follower.plans()
    }

    fn plan(&mut self) {
        let optimistic = self.follower.optimistic();
        let curves: Vec<Vec<f64>> = optimistic.chunks(self.follower.grid().memory).map(<[f64]>::to_vec).collect();
        let known = blocks_of(self.follower.cycle());
        let best = BlockCycle::best_from(&curves, self.longest_period as usize, &known);
        let best = best.expect("there is an arm, and its losses are finite");
        let cycle = best.blocks.iter().flat_map(|&(arm, plays)| std::iter::repeat_n(arm as u32, plays)).collect();
        self.follower.follow(cycle, &optimistic);
    }
}

/// A cycle of arms as blocks.
fn blocks_of(cycle: &[u32]) -> Vec<(usize, usize)> {
    cycle.chunk_by(|a, b| a == b).map(|block| (block[0] as usize, block.len())).collect()
}

cycle_policy!(Rotation);

impl Rotation {
    /// Checks what the plan of a restored policy must be.
    fn check_plan(&self) -> Result<(), StateError> {
        let CellGrid { arms, memory, by_window } = self.follower.grid();
        let fits = arms >= 1 && memory >= 1 && !by_window && cells(arms, memory as u64).is_some();
        ensure(fits, "there are more cells than can be planned with")?;
        ensure(
            self.longest_period >= 1 && steps(arms, self.longest_period).is_some(),
            "the longest period is too long",
        )?;
        let cycle = self.follower.cycle();
        ensure(cycle.len() as u64 <= self.longest_period, "the plan is longer than the longest period")?;
        let mut blocks: Vec<usize> = blocks_of(cycle).iter().map(|&(arm, _)| arm).collect();
        let count = blocks.len();
        blocks.sort_unstable();
        blocks.dedup();
        ensure(blocks.len() == count, "the plan is not a block cycle")?;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rng::StreamKey;
    use crate::{Feedback, Policy};

    fn build(arms: usize, spec: RotationSpec) -> Result<Rotation, PolicyError> {
        spec.build(&Problem { arms, horizon: None }, StreamKey::new(1, "", 0).policy())
    }

    #[test]
    fn plays_between_two_cycles_are_recorded_with_their_own_tallies() {
        let mut policy = build(2, Rotation::builder(3)).unwrap();
        let mut plays: Vec<usize> = Vec::new();
        let mut losses = vec![(0u64, 0.0); 6];
        let mut plans = 0;
        while plays.len() < 2_000 {
            let run = policy.next_run();
            assert_eq!(run.burn_in, 0);
            let mut feedback = Feedback::default();
            for _ in 0..run.record {
                plays.push(run.arm);
                let tally = plays.iter().rev().take(3).filter(|&&arm| arm == run.arm).count();
                // A loss that tells the cells apart.
                let cell = 3 * run.arm + tally - 1;
                let loss = [0.5, 0.25, 0.75, 0.6, 0.5, 0.4][cell];
                losses[cell].0 += 1;
                losses[cell].1 += loss;
                feedback += Feedback::one(loss);
            }
            policy.observe(run, feedback);
            plans += u64::from(policy.follower.is_due());
        }
        let means = losses.iter().map(|&(n, sum)| sum / n as f64);
        assert!(losses.iter().all(|&(n, _)| n > 0), "every cell was tried: {losses:?}");
        // The bounds approach the means of the cells; a loss in a wrong cell would leave a bound above its mean.
        for (bound, mean) in policy.follower.optimistic().iter().zip(means) {
            assert!(*bound <= mean, "{bound} {mean}");
        }
        let cells = serde_json::to_value(&policy).unwrap()["follower"]["losses"].clone();
        assert_eq!(cells["counts"], serde_json::json!(losses.iter().map(|&(n, _)| n).collect::<Vec<_>>()));
        for (sum, (_, expected)) in cells["sums"].as_array().unwrap().iter().zip(&losses) {
            assert!((sum.as_f64().unwrap() - expected).abs() < 1e-9);
        }
        assert!(policy.plans() == plans + u64::from(!policy.follower.is_due()) && plans > 20, "{plans}");
    }

    #[test]
    fn staying_with_one_arm_takes_few_runs() {
        let mut policy = build(1, Rotation::builder(4)).unwrap();
        let mut runs = Vec::new();
        for _ in 0..12 {
            let run = policy.next_run();
            policy.observe(run, Feedback { plays: run.record, sum: 0.0, sum_sq: 0.0 });
            runs.push(run.record);
        }
        // Three plays until the arm is calibrated, then as many plays as before.
        assert_eq!(runs, [1, 1, 1, 1, 1, 2, 4, 8, 16, 32, 64, 128]);
    }

    #[test]
    fn plans_that_are_too_large_are_refused() {
        let refused = build(10, Rotation::builder(1000)).unwrap_err();
        assert_eq!(
            refused.to_string(),
            "policy `rotation` would plan over 80000000000 steps, K·P³, and 4294967296 are the most that it can: \
             choose a smaller `longest_period`, or fewer arms"
        );
        assert!(build(10, Rotation::builder(1000).longest_period(100)).is_ok());
        let refused = build(10, Rotation::builder(u64::MAX)).unwrap_err();
        assert!(matches!(refused, PolicyError::PlanTooLarge { what: "cells, K·M", .. }), "{refused}");
        let refused = build(2, Rotation::builder(3).longest_period(0)).unwrap_err();
        assert!(matches!(refused, PolicyError::Parameter { parameter: "longest_period", .. }), "{refused}");
        let refused = build(2, Rotation::builder(3).exploration(f64::NAN)).unwrap_err();
        assert!(matches!(refused, PolicyError::Parameter { parameter: "exploration", .. }), "{refused}");
    }
}
