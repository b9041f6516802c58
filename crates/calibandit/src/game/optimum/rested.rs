//! The exact optimum of rested games.
//!
//! The order of plays does not matter in a rested game, so that the optimum is an *allocation*: how many plays each arm
//! gets. With F_x(n) for the loss of the first n plays of arm x, it is the least sum of F_x(n_x) over all
//! n_1 + ... + n_K = T. What is known about the curves decides how it is found:
//!
//! - **Rising** losses (rotting arms): F_x is convex, the T least losses of all arms are the optimum. One merge serves
//!   all horizons, and a flat stretch is one step of it ([`greedy`]).
//! - **Falling** losses (improving arms): F_x is concave, the optimum is one arm, which depends on T ([`single`]).
//! - **Falling, then rising** (single-peaked rewards): at most one arm is left strictly inside its fall. Which arms are
//!   past theirs is enumerated, and the rest are merged ([`peaked`]).
//! - **Anything else**: min-plus dynamic programming over the arms, for all horizons at once ([`allocation`]).
//!
//! Sums are made in integers, as for other games. Not here: games with windows.

mod allocation;
mod bounds;
mod curve;
mod greedy;
mod peaked;
mod single;

#[cfg(test)]
mod tests;

use allocation::AllocationProgram;
use curve::{CurveKind, RestedCurve};
use greedy::MarginalMerge;
use peaked::PeakedSolver;
use single::SingleArm;

use super::sequence::{ArmPlays, BestSequence};
use super::{Limits, Optimum, OptimumBounds, OptimumError};
use crate::game::Game;
use crate::planning::fixed_point::{LONGEST, fixed, float};
use crate::{GameClass, Interrupt};

impl Game {
    /// The class of a rested game, by its curves: plain, rotting, improving, single-peaked, or any. `None` if the game
    /// is not rested. Curves that are only known play by play count as any.
    pub fn rested_class(&self) -> Option<GameClass> {
        let kinds = || (0..self.arms().len()).map(|arm| RestedCurve::new(self, arm, 0).kind());
        let all = |holds: fn(&CurveKind) -> bool| kinds().all(|kind| holds(&kind));
        self.is_rested().then(|| match () {
            () if all(|kind| *kind == CurveKind::Constant) => GameClass::Plain,
            () if all(CurveKind::never_falls) => GameClass::Rotting,
            () if all(CurveKind::never_rises) => GameClass::Improving,
            () if all(|kind| *kind != CurveKind::General) => GameClass::SinglePeaked,
            () => GameClass::Any,
        })
    }
}

/// The optima of a rested game at many horizons.
pub(crate) struct RestedOptima<'g> {
    game: &'g Game,
    curves: Vec<RestedCurve<'g>>,
    solver: Solver,
    limits: Limits,
}

/// How the optimum is found.
enum Solver {
    Greedy(MarginalMerge),
    Single(SingleArm),
    Peaked(PeakedSolver),
    General(AllocationProgram),
}

/// What bounds the work of a solver.
#[derive(Clone, Copy)]
struct Effort<'a> {
    limits: Limits,
    interrupt: Interrupt<'a>,
}

/// The most steps (losses that are looked up, sums that are compared) of one solver: some seconds.
const MOST_STEPS: u64 = 4_000_000_000;

impl Effort<'_> {
    /// An error if a solver would need more steps than it may make.
    fn check_steps(&self, steps: u128) -> Result<(), OptimumError> {
        match steps <= u128::from(MOST_STEPS) {
            true => Ok(()),
            false => Err(OptimumError::TooManySteps {
                steps_at_least: u64::try_from(steps).unwrap_or(u64::MAX),
                limit: MOST_STEPS,
            }),
        }
    }

    /// An error if so many numbers would take more memory than allowed.
    fn check_numbers(&self, numbers: u128, bytes_each: usize) -> Result<(), OptimumError> {
        let bytes = numbers.saturating_mul(bytes_each as u128);
        match bytes <= u128::from(self.limits.bytes) {
            true => Ok(()),
            false => Err(OptimumError::TooMuchMemory {
                bytes_at_least: u64::try_from(bytes).unwrap_or(u64::MAX),
                limit: self.limits.bytes,
                searched: 0,
            }),
        }
    }
}

impl<'g> RestedOptima<'g> {
    /// The optima of `game`; `None` if it is not rested.
    pub(crate) fn new(game: &'g Game, limits: Limits) -> Option<Self> {
        if !game.is_rested() {
            return None;
        }
        let best = fixed(game.best_loss());
        let curves: Vec<RestedCurve<'g>> =
            (0..game.arms().len()).map(|arm| RestedCurve::new(game, arm, best)).collect();
        let kinds: Vec<CurveKind> = curves.iter().map(RestedCurve::kind).collect();
        let all = |wanted: fn(&CurveKind) -> bool| kinds.iter().all(wanted);
        let solver = if all(CurveKind::never_falls) {
            Solver::Greedy(MarginalMerge::new(vec![0; curves.len()], (0..curves.len()).collect()))
        } else if all(CurveKind::never_rises) {
            Solver::Single(SingleArm::new(curves.len()))
        } else {
            match PeakedSolver::new(&kinds) {
                Some(peaked) => Solver::Peaked(peaked),
                None => Solver::General(AllocationProgram::new()),
            }
        };
        Some(Self { game, curves, solver, limits })
    }

    /// The optimum over `horizon` plays.
    pub(crate) fn at(&mut self, horizon: u64, interrupt: Interrupt<'_>) -> Result<Optimum, OptimumError> {
        let excess = float(self.solve(horizon, interrupt)?);
        let loss = horizon as f64 * self.game.best_loss() + excess;
        let sequence = BestSequence { blocks: self.blocks(horizon), ..BestSequence::default() };
        Ok(Optimum { horizon, loss, excess, sequence })
    }

    /// The loss of the optimum in excess of as many plays at mu(x*).
    pub(crate) fn excess_at(&mut self, horizon: u64, interrupt: Interrupt<'_>) -> Result<f64, OptimumError> {
        self.solve(horizon, interrupt).map(float)
    }

    fn solve(&mut self, horizon: u64, interrupt: Interrupt<'_>) -> Result<i128, OptimumError> {
        if horizon == 0 {
            return Err(OptimumError::NoHorizon);
        }
        if horizon > LONGEST {
            return Err(OptimumError::HorizonTooLong { horizon });
        }
        interrupt.check()?;
        let effort = Effort { limits: self.limits, interrupt };
        match &mut self.solver {
            Solver::Greedy(solver) => solver.excess(&self.curves, horizon, effort),
            Solver::Single(solver) => solver.excess(&self.curves, horizon, effort),
            Solver::Peaked(solver) => solver.excess(&self.curves, horizon, effort),
            Solver::General(solver) => solver.excess(&self.curves, horizon, effort),
        }
    }

    /// The excess of the first `time` plays of a best sequence for `horizon`: of the best arm where no loss rises, and
    /// of the least losses first where none falls. `None` if the order of a best sequence is open.
    pub(crate) fn planned_excess(
        &mut self,
        horizon: u64,
        time: u64,
        interrupt: Interrupt<'_>,
    ) -> Result<Option<f64>, OptimumError> {
        self.solve(horizon, interrupt)?;
        let arm = match (&self.solver, self.blocks(horizon).as_slice()) {
            // The best sequence for a shorter horizon is the beginning of that for a longer one.
            (Solver::Greedy(_), _) => return self.excess_at(time, interrupt).map(Some),
            (_, [block]) => block.arm,
            _ => return Ok(None),
        };
        let effort = Effort { limits: self.limits, interrupt };
        single::sum(&self.curves[arm], (0, 0), time, effort).map(|(_, sum)| Some(float(sum)))
    }

    /// The plays of each arm at the horizon that was solved last; arms without plays are left out.
    fn blocks(&self, horizon: u64) -> Vec<ArmPlays> {
        let plays = match &self.solver {
            Solver::Greedy(solver) => solver.plays().to_vec(),
            Solver::Single(solver) => solver.plays(horizon),
            Solver::Peaked(solver) => solver.plays().to_vec(),
            Solver::General(solver) => solver.plays(self.curves.len(), horizon),
        };
        let blocks = plays.into_iter().enumerate().filter(|&(_, plays)| plays > 0);
        blocks.map(|(arm, plays)| ArmPlays { arm, plays }).collect()
    }

    /// The exact optimum as bounds, or bounds where it is too much work.
    pub(crate) fn bounds_at(&mut self, horizon: u64, interrupt: Interrupt<'_>) -> OptimumBounds {
        match self.at(horizon, interrupt) {
            Ok(optimum) => OptimumBounds::exact(optimum),
            Err(_) => bounds::estimate(self.game, &self.curves, horizon, interrupt),
        }
    }

    /// About how many bytes the optimum at `horizon` takes at most.
    pub(crate) fn memory_estimate(&self, horizon: u64) -> u64 {
        let arms = self.curves.len() as u64;
        let table = match &self.solver {
            Solver::Greedy(_) | Solver::Single(_) => 0,
            Solver::Peaked(solver) => solver.memory_estimate(horizon),
            Solver::General(_) => AllocationProgram::memory_estimate(arms, horizon),
        };
        arms.saturating_mul(PER_ARM).saturating_add(table.min(self.limits.bytes))
    }
}

/// The memory of an arm in the solvers.
const PER_ARM: u64 = 96;
