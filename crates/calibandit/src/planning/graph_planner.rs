//! The cheapest walk of a graph, at any horizon.
//!
//! Either a best walk touches the best cycle; then it goes round it most of the time, and its two ends are found
//! without regard to the horizon. Or it does not touch it; then it lies in the graph without that cycle, in which the
//! next best cycle is found. A lower bound on what each [`MinMeanCycle`] costs at this horizon tells when to stop.

use super::dynamic_program::DynamicProgram;
use super::error::PlanningError;
use super::graph::{EdgeId, Graph};
use super::meter::{MemoryLimit, WorkMeter};
use super::min_mean_cycle::{MinMeanCycle, NoCycle};
use super::plan::Plan;
use super::walks::{Walk, Walks};
use crate::Interrupt;

/// A graph with all that was found out about it so far.
pub(crate) struct GraphPlanner<'a> {
    graph: Graph,
    /// The best cycle, the best one that does not touch it, and so on, as far as they were needed.
    cycles: Vec<(MinMeanCycle, Walks)>,
    /// Set once there is no further cycle: walks that touch none of the cycles visit at most this many states.
    leftover: Option<usize>,
    program: DynamicProgram,
    meter: WorkMeter<'a>,
    /// The part of the work that went into finding cycles.
    cycle_work: u64,
    memory: MemoryLimit,
}

/// The memory of a state for each cycle: two values and a flag.
const PER_CYCLE_AND_STATE: usize = 2 * size_of::<i128>() + 1;

/// Whether the `i`-th best cycle is there.
enum CycleSearch {
    Found,
    /// There are fewer cycles; walks that touch none visit at most this many states.
    NoneLeft(usize),
    /// Not known: finding out is more work than dynamic programming up to the horizon.
    TooMuchWork,
}

/// What a cycle says about the best walk.
enum Verdict {
    /// This walk is better than the best one before.
    Better(Candidate),
    /// No walk that touches it is better.
    NotBetter,
    /// Neither it nor any later cycle has a better walk.
    NoFurther,
    /// Its best walk has more plays than the horizon: cycles cannot decide.
    HorizonTooShort,
}

/// The best walk so far.
struct Candidate {
    excess: i128,
    cycle: usize,
    walk: Walk,
}

impl<'a> GraphPlanner<'a> {
    pub(crate) fn new(graph: Graph, memory: MemoryLimit, interrupt: Interrupt<'a>) -> Self {
        let mut meter = WorkMeter::new(interrupt);
        meter.edges = graph.edge_count() as u64;
        let program = DynamicProgram::new(&graph, memory);
        Self { program, graph, cycles: Vec::new(), leftover: None, meter, cycle_work: 0, memory }
    }

    #[cfg(test)]
    pub(crate) fn states(&self) -> usize {
        self.graph.states()
    }

    #[cfg(test)]
    pub(crate) fn work(&self) -> u64 {
        self.meter.edges
    }

    /// A best plan.
    pub(crate) fn plan(&mut self, horizon: u64) -> Result<Plan, PlanningError> {
        match self.by_cycles(horizon)? {
            Some(plan) => Ok(plan),
            None => self.by_steps(horizon),
        }
    }

    /// What a best plan costs, in units.
    pub(crate) fn excess(&mut self, horizon: u64) -> Result<i128, PlanningError> {
        match self.by_cycles(horizon)? {
            Some(plan) => Ok(plan.excess),
            None => self.program.cost(&self.graph, horizon, &mut self.meter),
        }
    }

    /// A best plan by dynamic programming.
    pub(crate) fn by_steps(&mut self, horizon: u64) -> Result<Plan, PlanningError> {
        let excess = self.program.cost(&self.graph, horizon, &mut self.meter)?;
        let walk = self.program.walk(&self.graph, horizon, &mut self.meter)?;
        Ok(Plan { excess, prefix: self.arms(&walk), cycle: Vec::new(), repeats: 0, tail: Vec::new() })
    }

    /// A best plan by cycles; `None` if the horizon is too short for it, or so short that dynamic programming is less
    /// work.
    pub(crate) fn by_cycles(&mut self, horizon: u64) -> Result<Option<Plan>, PlanningError> {
        let mut best: Option<Candidate> = None;
        for i in 0.. {
            match self.find_cycle(i, horizon)? {
                CycleSearch::Found => {}
                // Walks that touch no cycle are shorter than the horizon, so they need no consideration.
                CycleSearch::NoneLeft(states) if horizon >= states as u64 => break,
                CycleSearch::NoneLeft(_) | CycleSearch::TooMuchWork => return Ok(None),
            }
            match self.judge(i, horizon, best.as_ref())? {
                Verdict::Better(candidate) => best = Some(candidate),
                Verdict::NotBetter => {}
                Verdict::NoFurther => break,
                Verdict::HorizonTooShort => return Ok(None),
            }
        }
        let Some(Candidate { excess, cycle, walk }) = best else { return Ok(None) };
        let cycle = &self.cycles[cycle].0.edges;
        Ok(Some(Plan {
            excess,
            prefix: self.arms(&walk.prefix),
            cycle: self.arms(cycle),
            repeats: (horizon - walk.len()) / cycle.len() as u64,
            tail: self.arms(&walk.tail),
        }))
    }

    /// Makes sure that the `i`-th best cycle is there, given that all before it are.
    fn find_cycle(&mut self, i: usize, horizon: u64) -> Result<CycleSearch, PlanningError> {
        if i < self.cycles.len() {
            return Ok(CycleSearch::Found);
        }
        if let Some(states) = self.leftover {
            return Ok(CycleSearch::NoneLeft(states));
        }
        let step_by_step = u128::from(horizon) * self.graph.edge_count() as u128;
        if i > 0 && u128::from(self.cycle_work) > step_by_step {
            return Ok(CycleSearch::TooMuchWork);
        }
        self.memory.check((i as u128 + 1) * self.graph.states() as u128, PER_CYCLE_AND_STATE)?;
        let alive = match self.cycles.last() {
            Some((cycle, _)) => cycle.remaining(&self.graph),
            None => vec![true; self.graph.states()],
        };
        let before = self.meter.edges;
        let found = MinMeanCycle::new(&self.graph, alive, &mut self.meter)?;
        self.cycle_work += self.meter.edges - before;
        Ok(match found {
            Ok(cycle) => {
                self.cycles.push((cycle, Walks::new(self.memory)));
                CycleSearch::Found
            }
            Err(NoCycle { states }) => {
                self.leftover = Some(states);
                CycleSearch::NoneLeft(states)
            }
        })
    }

    fn judge(&mut self, i: usize, horizon: u64, best: Option<&Candidate>) -> Result<Verdict, PlanningError> {
        let (cycle, walks) = &mut self.cycles[i];
        let at_least = total(cycle, horizon, cycle.onward[0]);
        if best.is_some_and(|best| at_least >= best.excess) {
            return Ok(Verdict::NoFurther);
        }
        let base = cycle.to_hub[0] + cycle.onward[cycle.hub as usize];
        let bound = best.map_or(i128::MAX, |best| slack_below(cycle, horizon, base, best.excess));
        let residue = (horizon % cycle.edges.len() as u64) as u32;
        Ok(match walks.cheapest(&self.graph, cycle, residue, bound, &mut self.meter)? {
            None => Verdict::NotBetter,
            Some(walk) if walk.len() > horizon => Verdict::HorizonTooShort,
            Some(walk) => {
                Verdict::Better(Candidate { excess: total(cycle, horizon, base + walk.slack), cycle: i, walk })
            }
        })
    }

    fn arms(&self, edges: &[EdgeId]) -> Vec<u32> {
        edges.iter().map(|&edge| self.graph.edge(edge).arm).collect()
    }
}

/// The cost of `horizon` plays that come to `scaled` in the cycle's scaled costs: (horizon·sum + scaled) / length,
/// rounded up and arranged so that nothing overflows.
fn total(cycle: &MinMeanCycle, horizon: u64, scaled: i128) -> i128 {
    let length = cycle.length();
    let (rounds, rest) = (i128::from(horizon) / length, i128::from(horizon) % length);
    let rest = rest * cycle.sum + scaled;
    rounds * cycle.sum + rest.div_euclid(length) + i128::from(rest.rem_euclid(length) != 0)
}

/// The slack from which on the total is no longer below `cost`.
fn slack_below(cycle: &MinMeanCycle, horizon: u64, base: i128, cost: i128) -> i128 {
    let length = cycle.length();
    let (rounds, rest) = (i128::from(horizon) / length, i128::from(horizon) % length);
    (cost - rounds * cycle.sum).saturating_mul(length).saturating_sub(rest * cycle.sum + base)
}
