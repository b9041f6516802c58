//! Planner: optimism per cell, and exact plans over all windows. Our own policy, for tallying games in general.
//!
//! Malik, Li and Singh, "Complete Policy Regret Bounds for Tallying Bandits", COLT 2022, state the problem: with unit
//! weights and memory m, a game is K·m unknown numbers, the expected loss of each arm at each tally, but the best
//! sequence of plays is a cycle among K^m windows. They give no practical algorithm. This one is optimism in the face
//! of uncertainty, as in UCRL2 (Jaksch, Ortner and Auer 2010), with known transitions (Ortner 2010). For each cell, an
//! arm x with a tally y, let n be the number of its losses and mean their mean. After t plays, its optimistic loss is
//!
//! ```text
//! min { q : n·kl(mean, q) <= c·ln(2·K·M·t) },   at least mean - sqrt(c·ln(2·K·M·t) / (2n)),
//! ```
//!
//! 0 without losses, and with the right-hand side where losses leave [0, 1]. The plan is the cycle of windows with the
//! least mean of optimistic losses, found exactly ([`planning`](crate::planning)). It is followed until some cell has
//! doubled its number of losses, which gives at most K·M·(1 + log2(T / (K·M))) plans after the first.
//!
//! With c = 1 the CPR is at most of order sqrt(K·M·T·ln T) + K·M²·ln T if M is the memory of the game;
//! docs/beyond-reo.md has the proof. With `cells = "window"` a cell is an arm with the whole window: the same algorithm
//! without the knowledge that losses depend on tallies, which is a generic method of reinforcement learning. It pays
//! for K^M cells.
//!
//! The cost of a play is O(M); a plan visits the K^M windows some tens of times.

use super::PolicyError;
use super::cycle_follower::{CycleFollower, cycle_policy};
use super::error::{check_memory_bound, check_positive, check_problem};
use super::history::{StateError, ensure};
use super::spec::PolicyConfig;
use super::tally_cells::CellGrid;
use crate::math;
use crate::planning::fixed_point::fixed;
use crate::planning::graph::{Edge, EdgeId, Graph};
use crate::planning::meter::WorkMeter;
use crate::planning::min_mean_cycle::least_mean_cycle;
use crate::{GameClass, Interrupt, Problem, Stream};

/// The most windows K^M that are planned over.
const MOST_WINDOWS: u64 = 1 << 17;

/// Which losses the policy [`Planner`] takes to be equal.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(rename_all = "kebab-case"))]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub enum PlannerCells {
    /// Those of an arm at a tally: K·M cells.
    #[default]
    Tally,
    /// Those of an arm after the same window: K^M cells. It needs no unit weights, and a memory bound above the memory
    /// of the game is no mistake; but it learns each window for itself.
    Window,
}

/// Exact plans over all windows from optimistic losses per arm and tally, for tallying games without repeated exposure.
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(deny_unknown_fields))]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct PlannerSpec {
    /// The memory of the game, the paper's m. A larger bound is a wrong model, unless `cells` is `window`: then an
    /// arm's loss is not a function of its plays among the last M. K^M may be 131,072 at most.
    #[cfg_attr(feature = "schema", schemars(range(min = 1)))]
    pub memory_bound: u64,
    /// The constant c in the level c ln(2 K M t) of the optimistic losses: a larger one explores more.
    #[cfg_attr(feature = "serde", serde(default = "default_exploration"))]
    #[cfg_attr(feature = "schema", schemars(extend("exclusiveMinimum" = 0)))]
    pub exploration: f64,
    /// What losses depend on: `tally`, or `window` for the generic method, which learns every window for itself.
    #[cfg_attr(feature = "serde", serde(default))]
    pub cells: PlannerCells,
}

pub(super) fn default_exploration() -> f64 {
    1.0
}

impl PlannerSpec {
    /// Sets the constant c in the level of the optimistic losses, a positive number.
    pub fn exploration(mut self, constant: f64) -> Self {
        self.exploration = constant;
        self
    }

    /// Sets what losses are taken to depend on.
    pub fn cells(mut self, cells: PlannerCells) -> Self {
        self.cells = cells;
        self
    }
}

/// The checked parameters of [`Planner`], made by [`PlannerSpec::params`].
#[derive(Clone, Debug, PartialEq)]
pub struct PlannerParams {
    arms: usize,
    memory_bound: u64,
    exploration: f64,
    cells: PlannerCells,
}

/// The number of windows of `memory` plays, if it is not too large; and no more tallies than that.
fn windows(arms: usize, memory: u64) -> Option<u64> {
    let windows = (arms as u64).checked_pow(u32::try_from(memory).ok()?)?;
    (windows <= MOST_WINDOWS && memory <= MOST_WINDOWS).then_some(windows)
}

impl PolicyConfig for PlannerSpec {
    const NAME: &'static str = "planner";
    const CITATION: &'static str = "This project (https://calibandit.github.io/calibandit/beyond-reo.html), for the \
                                    problem of Malik, Li, Singh (2022), Complete Policy Regret Bounds for Tallying \
                                    Bandits, COLT 2022.";
    const MEANT_FOR: &'static [GameClass] = &[GameClass::Windowed];
    type Params = PlannerParams;
    type Policy = Planner;

    fn example() -> Self {
        Planner::builder(2)
    }

    fn check(&self) -> Result<(), PolicyError> {
        check_memory_bound(Self::NAME, self.memory_bound)?;
        check_positive(Self::NAME, "exploration", self.exploration)
    }

    fn params(&self, problem: &Problem) -> Result<PlannerParams, PolicyError> {
        check_problem(problem)?;
        self.check()?;
        let Self { memory_bound, exploration, cells } = *self;
        let arms = problem.arms;
        if windows(arms, memory_bound).is_none() {
            return Err(PolicyError::PlanTooLarge {
                policy: Self::NAME,
                what: "windows, K^M",
                size: math::exp(memory_bound as f64 * math::ln(arms as f64)).round().max(memory_bound as f64),
                limit: MOST_WINDOWS,
                instead: "choose a smaller `memory_bound` or fewer arms, or the policy `rotation`",
            });
        }
        Ok(PlannerParams { arms, memory_bound, exploration, cells })
    }

    fn filled(params: &PlannerParams) -> Self {
        let PlannerParams { memory_bound, exploration, cells, .. } = *params;
        Self { memory_bound, exploration, cells }
    }

    fn start(params: PlannerParams, _: Stream) -> Planner {
        Planner::new(params)
    }

    fn memory_bound(&self) -> Option<u64> {
        Some(self.memory_bound)
    }

    fn set_memory_bound(&mut self, memory_bound: u64) {
        self.memory_bound = memory_bound;
    }

    fn label(&self) -> String {
        match self.cells {
            PlannerCells::Tally => "planner".to_string(),
            PlannerCells::Window => "planner (windows)".to_string(),
        }
    }
}

/// Optimism per cell, and exact plans over all windows.
///
/// ```
/// use calibandit::policy::Planner;
/// use calibandit::{Arm, Game, LossCurve, Noise, Simulation, Weights};
/// // Better in small doses: two plays in three cost 0.1, the third in a row 0.9.
/// let game = Game::new(vec![
///     Arm::new(Weights::unit(3)?, LossCurve::by_plays([0.5, 0.1, 0.9]), Noise::Bernoulli)?,
///     Arm::new(Weights::unit(3)?, LossCurve::constant(0.4), Noise::Bernoulli)?,
/// ])?;
/// let outcome = Simulation::new(game).policy(Planner::builder(3)).horizon(20_000).run()?;
/// assert!(outcome.policies()[0].regret() < 400.0); // staying with the second arm costs 4,000 more than the best cycle
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(deny_unknown_fields))]
pub struct Planner {
    follower: CycleFollower,
    #[cfg_attr(feature = "serde", serde(skip))]
    graph: GraphCache,
}

impl Planner {
    /// Default parameters, for games with this memory.
    pub fn builder(memory_bound: u64) -> PlannerSpec {
        PlannerSpec { memory_bound, exploration: default_exploration(), cells: PlannerCells::default() }
    }

    /// A policy ready for its first run.
    pub fn new(params: PlannerParams) -> Self {
        let PlannerParams { arms, memory_bound, exploration, cells } = params;
        let grid = CellGrid { arms, memory: memory_bound as usize, by_window: cells == PlannerCells::Window };
        Self { follower: CycleFollower::new(grid, exploration), graph: GraphCache::default() }
    }

    /// The arms of the present plan, a cycle; empty before the first run.
    pub fn cycle(&self) -> &[u32] {
        self.follower.cycle()
    }

    /// How many plans were made.
    pub fn plans(&self) -> u64 {
        self.follower.plans()
    }

    fn plan(&mut self) {
        let grid = self.follower.grid();
        let graph = self.graph.0.get_or_insert_with(|| window_graph(grid));
        let optimistic = self.follower.optimistic();
        for (cell, &loss) in optimistic.iter().enumerate() {
            graph.set_cost(cell as u32, fixed(loss));
        }
        let known = (!self.follower.cycle().is_empty()).then(|| cycle_edges(graph, grid, self.follower.cycle()));
        let mut meter = WorkMeter::new(Interrupt::never());
        let edges = least_mean_cycle(graph, known, &mut meter).expect("nothing stops this meter");
        let edges = edges.expect("every window has a next one, so there is a cycle");
        let cycle = edges.iter().map(|&edge| graph.edge(edge).arm).collect();
        self.follower.follow(cycle, &optimistic);
    }
}

/// The graph of all windows, made when it is first needed. It is no part of the state: its costs are set for each plan.
#[derive(Clone, Debug, Default)]
struct GraphCache(Option<Graph>);

impl PartialEq for GraphCache {
    fn eq(&self, _: &Self) -> bool {
        true
    }
}

/// All windows of the last M - 1 plays, as numbers whose last digit is the newest play. Edges are in the order of arms,
/// and their costs are numbered by cell.
fn window_graph(grid: CellGrid) -> Graph {
    let CellGrid { arms, memory, by_window } = grid;
    let windows = grid.windows();
    let mut graph = Graph::new();
    (0..grid.len()).for_each(|_| {
        graph.add_cost(0);
    });
    let mut tallies = vec![0; arms];
    for window in 0..windows {
        tallies.fill(1);
        let mut rest = window;
        for _ in 1..memory {
            tallies[rest % arms] += 1;
            rest /= arms;
        }
        for arm in 0..arms as u32 {
            let target = ((window * arms + arm as usize) % windows) as u32;
            let cell = if by_window { window * arms + arm as usize } else { grid.at_tally(arm, tallies[arm as usize]) };
            graph.add_edge(Edge { target, cost: cell as u32, arm });
        }
        graph.close_state();
    }
    graph
}

/// The edges of a cycle of arms.
fn cycle_edges(graph: &Graph, grid: CellGrid, cycle: &[u32]) -> Vec<EdgeId> {
    // The window before the first play of the cycle: its last M - 1 plays.
    let before = (1..grid.memory).rev().map(|age| cycle[(cycle.len() - age % cycle.len()) % cycle.len()]);
    let mut window = before.fold(0, |window, arm| window * grid.arms + arm as usize) as u32;
    let play = |&arm: &u32| {
        let mut edges = graph.edges_of(window);
        let edge = edges.nth(arm as usize).expect("every arm can be played after every window");
        window = graph.edge(edge).target;
        edge
    };
    cycle.iter().map(play).collect()
}

cycle_policy!(Planner);

impl Planner {
    /// Checks what the plan of a restored policy must be.
    fn check_plan(&self) -> Result<(), StateError> {
        let CellGrid { arms, memory, .. } = self.follower.grid();
        let fits = arms >= 1 && memory >= 1 && windows(arms, memory as u64).is_some();
        ensure(fits, "there are more windows than can be planned over")?;
        ensure(self.follower.cycle().len() <= self.follower.grid().windows(), "the plan is longer than a cycle")?;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use rand::RngExt;

    use super::*;
    use crate::game::{Arm, Game, LossCurve, Noise, Weights, optimum};
    use crate::planning::fixed_point::float;
    use crate::rng::StreamKey;
    use crate::{Feedback, Policy, Run};

    /// With the true losses, the plan is the cycle of the exact optimum, which has another state space and another
    /// search.
    #[test]
    fn plans_with_known_losses_are_the_exact_optimum() {
        for instance in 0..80 {
            let stream = &mut StreamKey::new(5, "plans", instance).game();
            let (arms, memory) = (stream.random_range(1..=3), stream.random_range(1..=5));
            let losses: Vec<Vec<f64>> = (0..arms).map(|_| (0..memory).map(|_| stream.random()).collect()).collect();
            let arm = |losses: &Vec<f64>| {
                Arm::new(Weights::unit(memory).unwrap(), LossCurve::by_plays(losses.clone()), Noise::None).unwrap()
            };
            let game = Game::new(losses.iter().map(arm).collect()).unwrap();
            let best = optimum(&game, 1_000_000_000).unwrap().sequence.cycle;
            // The cycle played twice: the second time its windows are those of the cycle.
            let rounds = 1 + memory.div_ceil(best.len());
            let played = game.losses(&best.repeat(rounds + 1)).unwrap();
            let expected: f64 = played[best.len() * rounds..].iter().sum::<f64>() / best.len() as f64;
            for by_window in [false, true] {
                let grid = CellGrid { arms, memory, by_window };
                let mut graph = window_graph(grid);
                assert_eq!(graph.edge_count() as u64, windows(arms, memory as u64).unwrap());
                for window in 0..graph.states() as u32 {
                    for edge in graph.edges_of(window) {
                        let Edge { arm, cost, .. } = graph.edge(edge);
                        let digit = |i: u32| (window as usize / arms.pow(i) % arms) as u32;
                        let tally = 1 + (0..memory as u32 - 1).filter(|&i| digit(i) == arm).count();
                        graph.set_cost(cost, fixed(losses[arm as usize][tally - 1]));
                    }
                }
                let mut meter = WorkMeter::new(Interrupt::never());
                let edges = least_mean_cycle(&graph, None, &mut meter).unwrap().unwrap();
                let sum = float(edges.iter().map(|&edge| graph.cost(edge)).sum());
                assert!((sum / edges.len() as f64 - expected).abs() < 1e-12, "instance {instance}");
                // The same edges are found from the arms, and the known cycle is kept.
                let cycle: Vec<u32> = edges.iter().map(|&edge| graph.edge(edge).arm).collect();
                assert!(cycle_edges(&graph, grid, &cycle) == edges, "instance {instance}");
                assert!(least_mean_cycle(&graph, Some(edges.clone()), &mut meter).unwrap().unwrap() == edges);
                // From a bad cycle to the best one.
                let worst = cycle_edges(&graph, grid, &[arms as u32 - 1]);
                let found = least_mean_cycle(&graph, Some(worst), &mut meter).unwrap().unwrap();
                let again = float(found.iter().map(|&edge| graph.cost(edge)).sum());
                assert!((again / found.len() as f64 - expected).abs() < 1e-12, "instance {instance}");
            }
        }
    }

    /// A plan of several arms, by hand: two of three plays of the first arm cost 0.1, the third in a row 0.9.
    #[test]
    fn plans_can_be_cycles_of_several_arms() {
        let mut policy = Planner::new(Planner::builder(3).params(&Problem { arms: 2, horizon: None }).unwrap());
        let mut recent = vec![];
        for _ in 0..20_000 {
            let run = policy.next_run();
            recent.push(run.arm);
            let tally = recent.iter().rev().take(3).filter(|&&arm| arm == run.arm).count();
            let loss = if run.arm == 1 { 0.4 } else { [0.5, 0.1, 0.9][tally - 1] };
            policy.observe(run, Feedback::one(loss));
        }
        // Two plays of the first arm, whose tally is then 2, and one of the second: (0.1 + 0.1 + 0.4) / 3.
        let mut counts = [0; 2];
        policy.cycle().iter().for_each(|&arm| counts[arm as usize] += 1);
        assert_eq!(counts[0], 2 * counts[1], "{:?}", policy.cycle());
    }

    #[test]
    fn too_many_windows_are_refused_with_their_number() {
        let build =
            |arms, spec: PlannerSpec| spec.build(&Problem { arms, horizon: None }, StreamKey::new(1, "", 0).policy());
        assert!(build(2, Planner::builder(17)).is_ok() && build(3, Planner::builder(10)).is_ok());
        assert!(build(1, Planner::builder(1000)).is_ok());
        let refused = build(3, Planner::builder(11)).unwrap_err();
        assert_eq!(
            refused.to_string(),
            "policy `planner` would plan over 177147 windows, K^M, and 131072 are the most that it can: choose a \
             smaller `memory_bound` or fewer arms, or the policy `rotation`"
        );
        for (arms, memory) in [(10, 64), (1, u64::MAX), (2, u64::MAX)] {
            let refused = build(arms, Planner::builder(memory)).unwrap_err();
            assert!(matches!(refused, PolicyError::PlanTooLarge { .. }), "{refused}");
        }
    }

    #[test]
    fn the_first_windows_of_the_generic_form_are_skipped() {
        let spec = Planner::builder(3).cells(PlannerCells::Window);
        let problem = Problem { arms: 2, horizon: None };
        let mut policy = spec.build(&problem, StreamKey::new(1, "", 0).policy()).unwrap();
        let run = policy.next_run();
        assert_eq!(run, Run { arm: 0, burn_in: 2, record: 1 });
        policy.observe(run, Feedback::one(1.0));
        assert_eq!(policy.next_run().burn_in, 0);
    }
}
