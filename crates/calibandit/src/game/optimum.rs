//! The exact optimum: the least expected loss that any sequence of plays can have, the yardstick of the regret.
//!
//! [`optimum`] minimises over all K^T sequences, without taking T steps of work. Two ways lead there, and the game
//! decides which is taken:
//!
//! - As a **graph**: what matters of the last plays is a state, and a play leads from one to the next. Interchangeable
//!   arms are merged. The best walk of T plays mostly goes round a cycle with the least mean loss.
//! - By **best-first search** in games that satisfy 0-REO, which may be of any size: the excess over mu(x*) only grows, so the
//!   best start is a shortest path.
//!
//! All sums and comparisons are made in integers (units of 2^-72), so that ties and near-ties are decided
//! rightly at any horizon up to 2^53 plays; only the results are rounded, to floats.
//!
//! What is not done here: bounds on what policies can achieve (see the theorems), and anything with noise: the optimum
//! is about expected losses.

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
use graph::Graph;
use planner::Planner;
use search::{Search, SearchOutcome};
use sequence::Plan;
use state_space::StateSpace;
use warmup_cost::WarmupCost;

use super::Game;

/// The least expected loss of a number of plays, and plays that attain it.
#[derive(Clone, Debug, PartialEq)]
pub struct Optimum {
    /// The number of plays.
    pub horizon: u64,
    /// Their least expected loss.
    pub loss: f64,
    /// That loss in excess of `horizon` plays at the least eventual loss mu(x*); negative where a sequence is better than any calibrated arm.
    /// Kept beside `loss` because at large horizons the difference of two losses has few digits left.
    pub excess: f64,
    /// A sequence of plays that attains it.
    pub sequence: BestSequence,
}

/// How much work [`Optima`] may do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// The number of merged states up to which a game is made into a graph. Windows of the first plays, which never come back, are not
    /// counted.
    pub states: usize,
    /// The number of windows that best-first search may look at.
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
        "the game has at least {states_at_least} merged states, and the limit is {limit}{}; raise the limit, or use `optimum_bounds`",
        searched_in_vain(*.searched)
    )]
    TooManyStates {
        /// As many states were found before giving up.
        states_at_least: u64,
        /// The limit.
        limit: usize,
        /// How many windows best-first search looked at in vain; 0 if the game is not known to satisfy 0-REO.
        searched: u64,
    },
    /// The game has few states but too many arms to play in each.
    #[error(
        "the game has {states} merged states or more with over {limit} different plays in all{}; use `optimum_bounds`",
        searched_in_vain(*.searched)
    )]
    TooManyPlays {
        /// As many states were found before giving up.
        states: u64,
        /// The limit on the sum over all states of the arms that can be played there.
        limit: usize,
        /// How many windows best-first search looked at in vain; 0 if the game is not known to satisfy 0-REO.
        searched: u64,
    },
    /// A loss function returned something outside [0, 1].
    #[error("the loss function of arm {arm} leaves [0, 1] at tally {tally}; expected losses must lie in [0, 1]")]
    CurveLeftRange {
        /// The arm.
        arm: usize,
        /// The tally at which it did.
        tally: f64,
    },
}

fn searched_in_vain(searched: u64) -> String {
    match searched {
        0 => String::new(),
        _ => format!(" (best-first search gave up after {searched} windows)"),
    }
}

/// The least expected loss over all sequences of `horizon` plays, exactly, with one best sequence.
///
/// Works for every game with up to 10^6 merged states and for 0-REO games of any size in which best-first search comes to
/// an end. The work does not grow with the horizon. Use [`Optima`] for many horizons of one game, or other limits.
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
    /// One for each class; none unless the game is known to satisfy 0-REO.
    warmups: Vec<WarmupCost>,
    limits: Limits,
    planner: Option<Planner>,
    too_large: Option<OptimumError>,
    /// A best plan from some horizon on, extended at no extra cost.
    settled: Option<(u64, Plan)>,
    /// Searches that gave up.
    exhausted_searches: HashMap<u64, (u64, i128)>,
    work: u64,
}

/// The number of windows best-first search may look at before the game is made into a graph, which serves all horizons.
const FIRST_LOOK: u64 = 500;

impl<'g> Optima<'g> {
    /// Nothing is computed yet but what single arms cost.
    pub fn new(game: &'g Game) -> Self {
        Self::with_limits(game, Limits::default())
    }

    /// With other limits.
    pub fn with_limits(game: &'g Game, limits: Limits) -> Self {
        let space = StateSpace::new(game);
        let warmups: Result<Vec<WarmupCost>, _> =
            space.classes.iter().map(|class| WarmupCost::new(&space, class[0])).collect();
        let mut warmups = warmups.unwrap_or_default();
        if warmups.iter().any(|warmup| warmup.least < 0) {
            warmups.clear();
        }
        Self {
            space,
            warmups,
            limits,
            planner: None,
            too_large: None,
            settled: None,
            exhausted_searches: HashMap::new(),
            work: 0,
        }
    }

    /// The optimum over `horizon` plays.
    pub fn at(&mut self, horizon: u64) -> Result<Optimum, OptimumError> {
        let plan = match self.by_search(horizon)? {
            Some(plan) => plan,
            None => self.planner()?.plan(horizon),
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
        Ok(float(match self.by_search(horizon)? {
            Some(plan) => plan.excess,
            None => self.planner()?.excess(horizon),
        }))
    }

    /// How many plays were looked at so far, in all: a measure of the work that does not depend on the machine.
    pub fn work(&self) -> u64 {
        self.work + self.planner.as_ref().map_or(0, Planner::work)
    }

    /// The number of merged states, if the game has been made into a graph.
    pub fn states(&self) -> Option<usize> {
        self.planner.as_ref().map(Planner::states)
    }

    /// A best plan by best-first search, or `None` where the graph is there to be used.
    fn by_search(&mut self, horizon: u64) -> Result<Option<Plan>, OptimumError> {
        if horizon == 0 {
            return Err(OptimumError::NoHorizon);
        }
        if horizon > LONGEST {
            return Err(OptimumError::HorizonTooLong { horizon });
        }
        if let Some(plan) = self.settled_at(horizon) {
            return Ok(Some(plan));
        }
        if self.warmups.is_empty() {
            return self.planner().map(|_| None);
        }
        if self.planner.is_none()
            && let Some(plan) = self.search(horizon, FIRST_LOOK.min(self.limits.windows))?
        {
            return Ok(Some(plan));
        }
        let Err(too_large) = self.planner().map(|_| ()) else { return Ok(None) };
        if let OptimumError::CurveLeftRange { .. } = too_large {
            return Err(too_large);
        }
        if let Some(plan) = self.search(horizon, self.limits.windows)? {
            return Ok(Some(plan));
        }
        let looked_at = self.exhausted_searches.get(&horizon).map_or(0, |&(expanded, _)| expanded);
        Err(match too_large {
            OptimumError::TooManyStates { states_at_least, limit, .. } => {
                OptimumError::TooManyStates { states_at_least, limit, searched: looked_at }
            }
            OptimumError::TooManyPlays { states, limit, .. } => {
                OptimumError::TooManyPlays { states, limit, searched: looked_at }
            }
            other => other,
        })
    }

    fn search(&mut self, horizon: u64, budget: u64) -> Result<Option<Plan>, OptimumError> {
        if self.exhausted_searches.get(&horizon).is_some_and(|&(expanded, _)| expanded >= budget) {
            return Ok(None);
        }
        match Search::new(&self.space, &self.warmups, horizon).run(budget, &mut self.work)? {
            SearchOutcome::Found { plan, for_ever } => {
                if for_ever && self.settled.as_ref().is_none_or(|&(from, _)| horizon < from) {
                    self.settled = Some((horizon, plan.clone()));
                }
                Ok(Some(plan))
            }
            SearchOutcome::GivenUp { lower, expanded } => {
                self.exhausted_searches.insert(horizon, (expanded, lower));
                Ok(None)
            }
        }
    }

    /// The settled plan, made as long as the horizon.
    fn settled_at(&self, horizon: u64) -> Option<Plan> {
        let (from, plan) = self.settled.as_ref()?;
        if horizon < *from {
            return None;
        }
        let rest = horizon - plan.prefix.len() as u64;
        let round = plan.cycle.len() as u64;
        let mut plan = plan.clone();
        plan.repeats = rest / round;
        plan.tail = plan.cycle[..(rest % round) as usize].to_vec();
        Some(plan)
    }

    fn planner(&mut self) -> Result<&mut Planner, OptimumError> {
        if let Some(error) = &self.too_large {
            return Err(error.clone());
        }
        let planner = match self.planner.take() {
            Some(planner) => planner,
            None => match Graph::new(&self.space, self.limits.states) {
                Ok(graph) => Planner::new(graph),
                Err(error) => {
                    self.too_large = Some(error.clone());
                    return Err(error);
                }
            },
        };
        Ok(self.planner.insert(planner))
    }
}
