//! The exact optimum: the least expected loss that any sequence of plays can have. Regret is measured against it.
//!
//! [`optimum`] minimises over all K^T sequences with work that does not grow with T. There are two algorithms for
//! games with windows:
//!
//! - On a **graph**: the part of the last plays that still matters is a state, and a play leads from one state to the
//!   next. Interchangeable arms are merged. The best walk of T plays mostly goes round a cycle with the least mean
//!   loss.
//! - By **best-first search** in games that satisfy 0-REO, which may be of any size: the excess over mu(x*) only grows,
//!   so the best start is a shortest path.
//!
//! In rested games the order of plays does not matter, and the optimum is found by algorithms of its own
//! ([`rested`]).
//!
//! All sums and comparisons are made in integers (units of 2^-72), so that ties and near-ties are decided correctly at
//! any horizon up to 2^53 plays; only the results are rounded to floats.
//!
//! Not here: bounds on the regret of policies (see [`theory`](crate::theory)), and noise, because the optimum is about
//! expected losses.

mod bounds;
mod error;
mod exploration;
mod memory;
mod rested;
mod search;
mod sequence;
mod state_space;
mod warmup_cost;

#[cfg(test)]
mod tests;

pub use bounds::{OptimumBounds, optimum_bounds};
pub use error::OptimumError;
pub use sequence::{ArmPlays, BestSequence};

use std::collections::HashMap;

use error::SolverError;
use rested::RestedOptima;
use search::{Search, SearchOutcome, SearchResult};
use state_space::StateSpace;
use warmup_cost::WarmupCost;

use super::Game;
use super::least_loss::LeastLossError;
use crate::planning::fixed_point::{LONGEST, float};
use crate::planning::graph_planner::GraphPlanner;
use crate::planning::meter::MemoryLimit;
use crate::planning::plan::Plan;
use crate::{Interrupt, Interrupted};

/// The least expected loss of a number of plays, and plays that attain it.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Optimum {
    /// The number of plays.
    pub horizon: u64,
    /// Their least expected loss.
    pub loss: f64,
    /// That loss in excess of `horizon` plays at the least eventual loss mu(x*); negative where a sequence is better
    /// than any calibrated arm. Kept beside `loss` because at large horizons the difference of two losses has few
    /// digits left.
    pub excess: f64,
    /// A sequence of plays that attains it.
    pub sequence: BestSequence,
}

/// How much work [`Optima`] may do. By default a graph takes at most about 1 GB of memory; a search of usual games
/// takes about a second.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// The number of merged states up to which a game is made into a graph. The transient windows of the first plays
    /// are not counted.
    pub states: usize,
    /// The number of windows that best-first search may expand; fewer if they are longer than 64 plays.
    pub windows: u64,
    /// The memory in bytes that the graph, and what is computed on it, may take, and likewise best-first search.
    pub bytes: u64,
}

impl Default for Limits {
    fn default() -> Self {
        Self { states: 1_000_000, windows: 200_000, bytes: 1 << 30 }
    }
}

/// The least expected loss over all sequences of `horizon` plays, exactly, with one best sequence.
///
/// Works for every game with up to 10^6 merged states, and for 0-REO games of any size in which best-first search stays
/// within its limit. The work does not grow with the horizon. Use [`Optima`] for many horizons of one game, or other
/// limits.
///
/// ```
/// use calibandit::{Arm, Game, LossCurve, Noise, Weights, optimum};
/// // Better in small doses: two plays in three cost 0.1, the third in a row 0.4.
/// let game = Game::new(vec![
///     Arm::new(Weights::unit(3)?, LossCurve::by_plays([0.3, 0.1, 0.4]), Noise::Bernoulli)?,
///     Arm::new(Weights::unit(3)?, LossCurve::constant(0.2), Noise::Bernoulli)?,
/// ])?;
/// let best = optimum(&game, 1_000_000_000_000)?;
/// assert_eq!(best.sequence.cycle.len(), 3);
/// assert_eq!(best.sequence.len(), 1_000_000_000_000);
/// // Two plays at 0.1 and one at 0.2 in every round.
/// assert!((best.loss / 1e12 - 0.4 / 3.0).abs() < 1e-9);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn optimum(game: &Game, horizon: u64) -> Result<Optimum, OptimumError> {
    Optima::new(game).at(horizon)
}

/// The optima of one game at many horizons, sharing the work.
///
/// ```
/// use calibandit::{Arm, Game, LossCurve, Noise, Optima, Weights};
/// let game = Game::new(vec![Arm::new(Weights::unit(3)?, LossCurve::by_plays([0.9, 0.6, 0.2]), Noise::Bernoulli)?])?;
/// let mut optima = Optima::new(&game);
/// assert!((optima.at(2)?.loss - 1.5).abs() < 1e-15);
/// assert!((optima.excess_at(1_000_000)? - 1.1).abs() < 1e-15);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct Optima<'g> {
    /// Solves the game if it is rested; nothing else here is used then.
    rested: Option<RestedOptima<'g>>,
    space: StateSpace<'g>,
    /// Computed when they are first needed.
    warmups: Option<Warmups>,
    limits: Limits,
    interrupt: Interrupt<'g>,
    /// The graph, once it was needed, or why there is none.
    planner: Option<Result<GraphPlanner<'g>, SolverError>>,
    settled: Option<SettledPlan>,
    /// Searches that reached their limit, by horizon.
    exhausted_searches: HashMap<u64, ExhaustedSearch>,
    #[cfg(test)]
    expanded: u64,
}

/// The costs of one arm per class.
enum Warmups {
    /// The game satisfies 0-REO, which best-first search needs.
    Reo(Vec<WarmupCost>),
    /// It does not, or it is not known whether it does.
    NotReo,
}

/// A plan that is best at every horizon from this one on, made longer by more rounds of its cycle.
struct SettledPlan {
    from: u64,
    plan: Plan,
}

struct ExhaustedSearch {
    /// How many windows were expanded.
    expanded: u64,
    /// How many might have been, had there been memory.
    limit: u64,
    /// No plan costs less.
    lower: i128,
}

/// One way to find a best plan. They are tried in the order of [`Optima::strategies`] until one succeeds.
#[derive(Clone, Copy)]
enum Strategy {
    /// Extend the settled plan.
    Settled,
    /// Best-first search over at most this many windows.
    Search { windows: u64 },
    /// Make the game into a graph, which serves all horizons.
    Graph,
}

/// Where a best plan is.
enum Solution {
    Plan(Plan),
    /// The planner has it, at less cost if only its excess is needed.
    InGraph,
}

/// The number of windows that best-first search may expand before the game is made into a graph. Games that are solved
/// by straight play expand none, and most others of this kind a few; a graph of the smallest games takes about as long.
const FIRST_SEARCH: u64 = 500;

impl<'g> Optima<'g> {
    /// The longest horizon, 2^53 plays: up to here plays are counted exactly. At longer ones the optimum, and so the
    /// regret, is refused.
    pub const LONGEST_HORIZON: u64 = LONGEST;

    /// The optima of `game`. Nothing is computed before it is needed.
    pub fn new(game: &'g Game) -> Self {
        Self::with_limits(game, Limits::default())
    }

    /// With other limits.
    pub fn with_limits(game: &'g Game, limits: Limits) -> Self {
        Self {
            rested: RestedOptima::new(game, limits),
            space: StateSpace::new(game),
            warmups: None,
            limits,
            interrupt: Interrupt::never(),
            planner: None,
            settled: None,
            exhausted_searches: HashMap::new(),
            #[cfg(test)]
            expanded: 0,
        }
    }

    /// With a stop flag: once it is set, all computations end with [`OptimumError::Interrupted`] within a second. What
    /// was found out before is kept.
    pub fn interruptible(mut self, interrupt: Interrupt<'g>) -> Self {
        self.interrupt = interrupt;
        self
    }

    /// The optimum over `horizon` plays.
    pub fn at(&mut self, horizon: u64) -> Result<Optimum, OptimumError> {
        if let Some(rested) = &mut self.rested {
            return rested.at(horizon, self.interrupt);
        }
        let plan = match self.solve(horizon)? {
            Solution::Plan(plan) => plan,
            Solution::InGraph => self.planner()?.plan(horizon).map_err(SolverError::from)?,
        };
        let excess = float(plan.excess);
        Ok(Optimum {
            horizon,
            loss: horizon as f64 * self.space.game().best_loss() + excess,
            excess,
            sequence: plan.sequence(&self.space),
        })
    }

    /// The loss of the optimum over `horizon` plays in excess of as many plays at mu(x*).
    pub fn excess_at(&mut self, horizon: u64) -> Result<f64, OptimumError> {
        if let Some(rested) = &mut self.rested {
            return rested.excess_at(horizon, self.interrupt);
        }
        Ok(float(match self.solve(horizon)? {
            Solution::Plan(plan) => plan.excess,
            Solution::InGraph => self.planner()?.excess(horizon).map_err(SolverError::from)?,
        }))
    }

    /// The loss of the first `time` plays of the sequence that is best for `horizon`, in excess of as many plays at
    /// mu(x*). Regret against it is what the literature on improving arms plots: it may be negative before the horizon,
    /// and agrees with the CPR there.
    ///
    /// # Errors
    /// [`OptimumError::NoPlan`] unless the game is rested, and either one arm is best for the horizon or no loss ever
    /// falls: otherwise the order of a best sequence is open.
    pub fn planned_excess_at(&mut self, horizon: u64, time: u64) -> Result<f64, OptimumError> {
        let planned = match &mut self.rested {
            Some(rested) => rested.planned_excess(horizon, time.min(horizon), self.interrupt)?,
            None => None,
        };
        planned.ok_or(OptimumError::NoPlan { horizon })
    }

    /// The strategies for this game, cheapest first.
    fn strategies(&self) -> Vec<Strategy> {
        let search = |windows| Strategy::Search { windows };
        match (&self.warmups, &self.planner) {
            (None | Some(Warmups::NotReo), _) => vec![Strategy::Settled, Strategy::Graph],
            (Some(Warmups::Reo(_)), None) => {
                let first = search(FIRST_SEARCH.min(self.limits.windows));
                vec![Strategy::Settled, first, Strategy::Graph, search(self.limits.windows)]
            }
            (Some(Warmups::Reo(_)), Some(Ok(_))) => vec![Strategy::Settled, Strategy::Graph],
            (Some(Warmups::Reo(_)), Some(Err(_))) => {
                vec![Strategy::Settled, Strategy::Graph, search(self.limits.windows)]
            }
        }
    }

    /// Computes the costs of single arms, unless they are there already.
    fn warm_up(&mut self) -> Result<(), Interrupted> {
        if self.warmups.is_some() {
            return Ok(());
        }
        let of_class = |class: &Vec<usize>| WarmupCost::new(&self.space, class[0], self.interrupt);
        let costs: Result<Vec<WarmupCost>, LeastLossError> = self.space.classes.iter().map(of_class).collect();
        self.warmups = Some(match costs {
            Ok(costs) if costs.iter().all(|cost| cost.least >= 0) => Warmups::Reo(costs),
            Err(LeastLossError::Interrupted(interrupted)) => return Err(interrupted),
            Ok(_) | Err(_) => Warmups::NotReo,
        });
        Ok(())
    }

    fn solve(&mut self, horizon: u64) -> Result<Solution, OptimumError> {
        if horizon == 0 {
            return Err(OptimumError::NoHorizon);
        }
        if horizon > LONGEST {
            return Err(OptimumError::HorizonTooLong { horizon });
        }
        self.warm_up()?;
        let mut too_large = None;
        for strategy in self.strategies() {
            let plan = match strategy {
                Strategy::Settled => self.settled_at(horizon),
                Strategy::Search { windows } => self.search(horizon, windows)?,
                Strategy::Graph => match self.planner() {
                    Ok(_) => return Ok(Solution::InGraph),
                    Err(error @ (SolverError::CurveLeftRange(_) | SolverError::Interrupted(_))) => {
                        return Err(error.into());
                    }
                    Err(error) => {
                        too_large = Some(error);
                        None
                    }
                },
            };
            if let Some(plan) = plan {
                return Ok(Solution::Plan(plan));
            }
        }
        let searched = self.exhausted_searches.get(&horizon).map_or(0, |search| search.expanded);
        Err(too_large.expect("the graph is among the strategies").into_error(searched))
    }

    /// Whether the optimum is found with little work and memory.
    fn is_solved_cheaply(&mut self, horizon: u64) -> bool {
        let countable = (1..=LONGEST).contains(&horizon) && self.warm_up().is_ok();
        let search = FIRST_SEARCH.min(self.limits.windows);
        countable
            && (self.settled_at(horizon).is_some()
                || matches!(self.warmups, Some(Warmups::Reo(_))) && matches!(self.search(horizon, search), Ok(Some(_))))
    }

    /// A best plan by best-first search, unless it expands more windows than the limit.
    fn search(&mut self, horizon: u64, limit: u64) -> Result<Option<Plan>, SolverError> {
        let Some(Warmups::Reo(warmups)) = &self.warmups else {
            unreachable!("best-first search is a strategy for 0-REO games only")
        };
        if self.exhausted_searches.get(&horizon).is_some_and(|search| search.limit >= limit) {
            return Ok(None);
        }
        let search = Search::new(&self.space, warmups, horizon, MemoryLimit(self.limits.bytes));
        let SearchResult { outcome, expanded } = search.run(limit, self.interrupt)?;
        #[cfg(test)]
        {
            self.expanded += expanded;
        }
        match outcome {
            SearchOutcome::Found { plan, for_ever } => {
                if for_ever && self.settled.as_ref().is_none_or(|settled| horizon < settled.from) {
                    self.settled = Some(SettledPlan { from: horizon, plan: plan.clone() });
                }
                Ok(Some(plan))
            }
            SearchOutcome::Exhausted { lower } => {
                self.exhausted_searches.insert(horizon, ExhaustedSearch { expanded, limit, lower });
                Ok(None)
            }
        }
    }

    /// The settled plan, made as long as the horizon.
    fn settled_at(&self, horizon: u64) -> Option<Plan> {
        let settled = self.settled.as_ref().filter(|settled| horizon >= settled.from)?;
        let mut plan = settled.plan.clone();
        let rest = horizon - plan.prefix.len() as u64;
        let round = plan.cycle.len() as u64;
        plan.repeats = rest / round;
        plan.tail = plan.cycle[..(rest % round) as usize].to_vec();
        Some(plan)
    }

    fn planner(&mut self) -> Result<&mut GraphPlanner<'g>, SolverError> {
        if self.planner.is_none() {
            let memory = MemoryLimit(self.limits.bytes);
            let graph = exploration::explore(&self.space, self.limits.states, memory, self.interrupt);
            if let Err(SolverError::Interrupted(interrupted)) = graph {
                return Err(interrupted.into());
            }
            self.planner = Some(graph.map(|graph| GraphPlanner::new(graph, memory, self.interrupt)));
        }
        let planner = self.planner.as_mut().expect("it was made if it was not there");
        planner.as_mut().map_err(|error| error.clone())
    }
}
