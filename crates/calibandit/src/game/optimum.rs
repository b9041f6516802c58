//! The exact optimum: the least expected loss that any sequence of plays can have. Regret is measured against it.
//!
//! [`optimum`] minimises over all K^T sequences with work that does not grow with T. There are two algorithms:
//!
//! - On a **graph**: the part of the last plays that still matters is a state, and a play leads from one state to the
//!   next. Interchangeable arms are merged. The best walk of T plays mostly goes round a cycle with the least mean
//!   loss.
//! - By **best-first search** in games that satisfy 0-REO, which may be of any size: the excess over mu(x*) only grows,
//!   so the best start is a shortest path.
//!
//! All sums and comparisons are made in integers (units of 2^-72), so that ties and near-ties are decided correctly at
//! any horizon up to 2^53 plays; only the results are rounded to floats.
//!
//! Not here: bounds on the regret of policies (see [`theory`](crate::theory)), and noise, because the optimum is about
//! expected losses.

mod bounds;
mod dynamic_program;
mod fixed_point;
mod graph;
mod min_mean_cycle;
mod planner;
mod search;
mod sequence;
mod state_space;
mod walks;
mod warmup_cost;

#[cfg(test)]
mod tests;

pub use bounds::{OptimumBounds, optimum_bounds};
pub use sequence::BestSequence;

use std::collections::HashMap;

use fixed_point::{LONGEST, float};
use graph::{Graph, GraphError};
use planner::Planner;
use search::{Search, SearchOutcome, SearchResult};
use sequence::Plan;
use state_space::{CurveLeftRange, StateSpace};
use warmup_cost::WarmupCost;

use super::{Game, arm_title};

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

/// How much work [`Optima`] may do. By default a graph takes at most about 1 GB of memory and a search about a second.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// The number of merged states up to which a game is made into a graph. The transient windows of the first plays
    /// are not counted.
    pub states: usize,
    /// The number of windows that best-first search may expand.
    pub windows: u64,
}

impl Default for Limits {
    fn default() -> Self {
        Self { states: 1_000_000, windows: 200_000 }
    }
}

/// Why the optimum is not known.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum OptimumError {
    /// The horizon is 0.
    #[error("the horizon is 0: there must be at least one play")]
    NoHorizon,
    /// The horizon is too long to count plays exactly.
    #[error("the horizon is {horizon}, but the optimum is exact only up to {} plays", LONGEST)]
    HorizonTooLong {
        /// The horizon.
        horizon: u64,
    },
    /// The game is too large.
    #[error(
        "the game has at least {states_at_least} merged states, and the limit is {limit}{}; \
         raise the limit, or use `optimum_bounds`",
        after_search(*.searched)
    )]
    TooManyStates {
        /// The number of states that were found before giving up.
        states_at_least: u64,
        /// The limit.
        limit: usize,
        /// The number of windows that best-first search expanded before it reached its limit; 0 if the game is not
        /// known to satisfy 0-REO.
        searched: u64,
    },
    /// The game has few states but too many arms to play in each.
    #[error(
        "the game has {states} merged states or more with over {limit} different plays in all{}; \
         use `optimum_bounds`",
        after_search(*.searched)
    )]
    TooManyPlays {
        /// The number of states that were found before giving up.
        states: u64,
        /// The limit on the sum over all states of the arms that can be played there.
        limit: usize,
        /// The number of windows that best-first search expanded before it reached its limit; 0 if the game is not
        /// known to satisfy 0-REO.
        searched: u64,
    },
    /// A loss function returned something outside [0, 1].
    #[error(
        "the loss function of {} leaves [0, 1] at tally {tally}; expected losses must lie in [0, 1]",
        arm_title(*arm, name)
    )]
    CurveLeftRange {
        /// The arm.
        arm: usize,
        /// Its name, if it has one.
        name: Option<String>,
        /// The tally at which it did.
        tally: f64,
    },
}

fn after_search(searched: u64) -> String {
    match searched {
        0 => String::new(),
        _ => format!(" (best-first search gave up after {searched} windows)"),
    }
}

impl From<CurveLeftRange> for OptimumError {
    fn from(CurveLeftRange { arm, name, tally }: CurveLeftRange) -> Self {
        Self::CurveLeftRange { arm, name, tally }
    }
}

impl From<GraphError> for OptimumError {
    fn from(error: GraphError) -> Self {
        error.into_error(0)
    }
}

impl GraphError {
    /// The error after best-first search has expanded this many windows.
    fn into_error(self, searched: u64) -> OptimumError {
        match self {
            GraphError::TooManyStates { states, limit } => {
                OptimumError::TooManyStates { states_at_least: states, limit, searched }
            }
            GraphError::TooManyPlays { states, limit } => OptimumError::TooManyPlays { states, limit, searched },
            GraphError::CurveLeftRange(error) => error.into(),
        }
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
    space: StateSpace<'g>,
    /// The costs of one arm per class; only if the game is known to satisfy 0-REO, which best-first search needs.
    warmups: Option<Vec<WarmupCost>>,
    limits: Limits,
    /// The graph, once it was needed, or why there is none.
    planner: Option<Result<Planner, GraphError>>,
    settled: Option<SettledPlan>,
    /// Searches that reached their limit, by horizon.
    exhausted_searches: HashMap<u64, ExhaustedSearch>,
    #[cfg(test)]
    expanded: u64,
}

/// A plan that is best at every horizon from this one on, made longer by more rounds of its cycle.
struct SettledPlan {
    from: u64,
    plan: Plan,
}

struct ExhaustedSearch {
    /// How many windows were expanded.
    expanded: u64,
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
    /// The optima of `game`. Only the costs of single arms are computed here.
    pub fn new(game: &'g Game) -> Self {
        Self::with_limits(game, Limits::default())
    }

    /// With other limits.
    pub fn with_limits(game: &'g Game, limits: Limits) -> Self {
        let space = StateSpace::new(game);
        let warmups: Result<Vec<WarmupCost>, _> =
            space.classes.iter().map(|class| WarmupCost::new(&space, class[0])).collect();
        let satisfies_reo = |warmups: &Vec<WarmupCost>| warmups.iter().all(|warmup| warmup.least >= 0);
        Self {
            warmups: warmups.ok().filter(satisfies_reo),
            space,
            limits,
            planner: None,
            settled: None,
            exhausted_searches: HashMap::new(),
            #[cfg(test)]
            expanded: 0,
        }
    }

    /// The optimum over `horizon` plays.
    pub fn at(&mut self, horizon: u64) -> Result<Optimum, OptimumError> {
        let plan = match self.solve(horizon)? {
            Solution::Plan(plan) => plan,
            Solution::InGraph => self.planner()?.plan(horizon),
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
        Ok(float(match self.solve(horizon)? {
            Solution::Plan(plan) => plan.excess,
            Solution::InGraph => self.planner()?.excess(horizon),
        }))
    }

    /// The strategies for this game, cheapest first.
    fn strategies(&self) -> Vec<Strategy> {
        let search = |windows| Strategy::Search { windows };
        match (&self.warmups, &self.planner) {
            (None, _) => vec![Strategy::Settled, Strategy::Graph],
            (Some(_), None) => {
                let first = search(FIRST_SEARCH.min(self.limits.windows));
                vec![Strategy::Settled, first, Strategy::Graph, search(self.limits.windows)]
            }
            (Some(_), Some(Ok(_))) => vec![Strategy::Settled, Strategy::Graph],
            (Some(_), Some(Err(_))) => vec![Strategy::Settled, Strategy::Graph, search(self.limits.windows)],
        }
    }

    fn solve(&mut self, horizon: u64) -> Result<Solution, OptimumError> {
        if horizon == 0 {
            return Err(OptimumError::NoHorizon);
        }
        if horizon > LONGEST {
            return Err(OptimumError::HorizonTooLong { horizon });
        }
        let mut too_large = None;
        for strategy in self.strategies() {
            let plan = match strategy {
                Strategy::Settled => self.settled_at(horizon),
                Strategy::Search { windows } => self.search(horizon, windows)?,
                Strategy::Graph => match self.planner() {
                    Ok(_) => return Ok(Solution::InGraph),
                    Err(GraphError::CurveLeftRange(error)) => return Err(error.into()),
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

    /// A best plan by best-first search, unless it expands more windows than the limit.
    fn search(&mut self, horizon: u64, limit: u64) -> Result<Option<Plan>, CurveLeftRange> {
        let warmups = self.warmups.as_ref().expect("best-first search is a strategy for 0-REO games only");
        if self.exhausted_searches.get(&horizon).is_some_and(|search| search.expanded >= limit) {
            return Ok(None);
        }
        let SearchResult { outcome, expanded } = Search::new(&self.space, warmups, horizon).run(limit)?;
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
                self.exhausted_searches.insert(horizon, ExhaustedSearch { expanded, lower });
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

    fn planner(&mut self) -> Result<&mut Planner, GraphError> {
        let build = || Graph::new(&self.space, self.limits.states).map(Planner::new);
        self.planner.get_or_insert_with(build).as_mut().map_err(|error| error.clone())
    }
}
