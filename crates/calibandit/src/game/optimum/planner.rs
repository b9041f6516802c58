//! The optimum on the graph, at any horizon.
//!
//! Either a best walk touches the best cycle, and then it goes round it most of the time: its two ends are found without
//! regard to the horizon. Or it does not, and then it lives in the graph without that cycle, in which the next best cycle can be found.
//! What these [`MinMeanCycle`]s cost at least, at this horizon, tells when to stop.

use super::dynamic_program::DynamicProgram;
use super::graph::Graph;
use super::min_mean_cycle::MinMeanCycle;
use super::sequence::Plan;
use super::walks::{Walk, Walks};

/// A graph with all that was found out about it so far.
pub(crate) struct Planner {
    graph: Graph,
    regimes: Vec<(MinMeanCycle, Walks)>,
    /// Walks that touch no regime's cycle visit no more than this many states; `None` while there may be further regimes.
    leftover: Option<usize>,
    stepwise: DynamicProgram,
    work: u64,
    /// The part of the work that went into finding regimes.
    regime_work: u64,
}

impl Planner {
    pub(crate) fn new(graph: Graph) -> Self {
        let work = graph.edge_count() as u64;
        Self { stepwise: DynamicProgram::new(&graph), graph, regimes: Vec::new(), leftover: None, work, regime_work: 0 }
    }

    pub(crate) fn states(&self) -> usize {
        self.graph.states()
    }

    /// Edges looked at so far.
    pub(crate) fn work(&self) -> u64 {
        self.work
    }

    /// A best plan.
    pub(crate) fn plan(&mut self, horizon: u64) -> Plan {
        match self.by_regimes(horizon) {
            Some(plan) => plan,
            None => self.by_steps(horizon),
        }
    }

    /// What a best plan costs, in units above mu(x*).
    pub(crate) fn excess(&mut self, horizon: u64) -> i128 {
        match self.by_regimes(horizon) {
            Some(plan) => plan.excess,
            None => self.stepwise.cost(&self.graph, horizon as usize, &mut self.work),
        }
    }

    pub(super) fn by_steps(&mut self, horizon: u64) -> Plan {
        let excess = self.stepwise.cost(&self.graph, horizon as usize, &mut self.work);
        let walk = self.stepwise.walk(&self.graph, horizon as usize, &mut self.work);
        Plan { excess, prefix: self.arms(&walk), cycle: Vec::new(), repeats: 0, tail: Vec::new() }
    }

    /// A best plan, unless the horizon is so short that going step by step is less work.
    pub(super) fn by_regimes(&mut self, horizon: u64) -> Option<Plan> {
        let mut best: Option<(i128, usize, Walk)> = None;
        let step_by_step = u128::from(horizon) * self.graph.edge_count() as u128;
        for i in 0.. {
            if i == self.regimes.len() {
                if i > 0 && u128::from(self.regime_work) > step_by_step && self.leftover.is_none() {
                    return None;
                }
                self.next_regime();
            }
            let Some((regime, walks)) = self.regimes.get_mut(i) else {
                // No cycle is left: longer walks than there are states do not exist.
                if horizon < self.leftover.unwrap_or(0) as u64 {
                    return None;
                }
                break;
            };
            let at_least = total(regime, horizon, regime.onward[0]);
            if best.as_ref().is_some_and(|&(cost, ..)| at_least >= cost) {
                break;
            }
            let base = regime.to_hub[0] + regime.onward[regime.hub as usize];
            let bound = best.as_ref().map_or(i128::MAX, |&(cost, ..)| slack_below(regime, horizon, base, cost));
            let residue = (horizon % regime.cycle.len() as u64) as u32;
            let Some(walk) = walks.cheapest(&self.graph, regime, residue, bound, &mut self.work) else { continue };
            if (walk.prefix.len() + walk.tail.len()) as u64 > horizon {
                return None;
            }
            best = Some((total(regime, horizon, base + walk.slack), i, walk));
        }
        let (excess, i, walk) = best?;
        let cycle = &self.regimes[i].0.cycle;
        let repeats = (horizon - (walk.prefix.len() + walk.tail.len()) as u64) / cycle.len() as u64;
        Some(Plan {
            excess,
            prefix: self.arms(&walk.prefix),
            cycle: self.arms(cycle),
            repeats,
            tail: self.arms(&walk.tail),
        })
    }

    fn next_regime(&mut self) {
        if self.leftover.is_some() {
            return;
        }
        let alive = match self.regimes.last() {
            Some((regime, _)) => regime.remaining(&self.graph),
            None => vec![true; self.graph.states()],
        };
        let before = self.work;
        match MinMeanCycle::new(&self.graph, alive, &mut self.work) {
            Ok(regime) => self.regimes.push((regime, Walks::new())),
            Err(states) => self.leftover = Some(states),
        }
        self.regime_work += self.work - before;
    }

    fn arms(&self, edges: &[u32]) -> Vec<u32> {
        edges.iter().map(|&edge| self.graph.edge(edge as usize).arm).collect()
    }
}

/// The cost of `horizon` plays that come to `scaled` in the regime's scaled costs: (horizon·sum + scaled) / length, rounded
/// up and arranged so that nothing overflows.
fn total(regime: &MinMeanCycle, horizon: u64, scaled: i128) -> i128 {
    let length = regime.length();
    let (rounds, rest) = (i128::from(horizon) / length, i128::from(horizon) % length);
    let rest = rest * regime.sum + scaled;
    rounds * regime.sum + rest.div_euclid(length) + i128::from(rest.rem_euclid(length) != 0)
}

/// The slack from which on the total is no longer below `cost`.
fn slack_below(regime: &MinMeanCycle, horizon: u64, base: i128, cost: i128) -> i128 {
    let length = regime.length();
    let (rounds, rest) = (i128::from(horizon) / length, i128::from(horizon) % length);
    (cost - rounds * regime.sum).saturating_mul(length).saturating_sub(rest * regime.sum + base)
}
