//! The cycle with the least mean cost, and what it costs to reach it and to leave it.
//!
//! Let C be a cycle of length L and total cost S with the least mean S/L. Costs are scaled to `c·L - S`, which keeps
//! them integers: then no cycle is negative, C costs nothing, and "cheapest walk" is well defined at any length.
//!
//! The cycle is found as in Howard's algorithm: start from a cycle, compute cheapest walks under its scaled costs by
//! Bellman-Ford relaxation, and take any cycle among the improving edges as the next one, which has a smaller mean.

use std::collections::HashMap;

use super::fixed_point::ABOVE_ALL;
use super::graph::{EdgeId, Graph};
use super::meter::WorkMeter;
use crate::Interrupted;

/// The value of a state from which there is no walk. Not an `Option`, which would double the memory of all values.
pub(crate) const UNREACHABLE: i128 = i128::MAX;

/// The best cycle among some states, with the cheapest walks that go with it.
pub(crate) struct MinMeanCycle {
    /// Its edges, from the hub on.
    pub(crate) edges: Vec<EdgeId>,
    /// Its cost.
    pub(crate) sum: i128,
    /// A state of the cycle.
    pub(crate) hub: u32,
    /// The scaled cost of the cheapest walk from each state, of any length and to any state: 0 or less.
    pub(crate) onward: Vec<i128>,
    /// The scaled cost of the cheapest walk from each state to the hub, or [`UNREACHABLE`].
    pub(crate) to_hub: Vec<i128>,
    /// The states that its walks may visit.
    pub(crate) alive: Vec<bool>,
}

/// There are only finitely many walks; they visit at most this many states.
pub(crate) struct NoCycle {
    pub(crate) states: usize,
}

impl MinMeanCycle {
    /// The best cycle of the walks from state 0 within `alive`.
    pub(crate) fn new(
        graph: &Graph,
        mut alive: Vec<bool>,
        meter: &mut WorkMeter<'_>,
    ) -> Result<Result<Self, NoCycle>, Interrupted> {
        let states = reachable(graph, &mut alive);
        let part = Subgraph { graph, alive: &alive, states: &states };
        let Some((cycle, onward)) = part.best_cycle(None, meter)? else {
            return Ok(Err(NoCycle { states: states.len() }));
        };
        let hub = part.source(cycle.edges[0]);
        let mut to_hub = vec![UNREACHABLE; graph.states()];
        to_hub[hub as usize] = 0;
        let mut relaxation = Relaxation::new(part, cycle.scale(), to_hub, Direction::Forward);
        while relaxation.sweep(meter)? {}
        let to_hub = relaxation.value;
        Ok(Ok(Self { sum: cycle.sum, edges: cycle.edges, hub, onward, to_hub, alive }))
    }

    pub(crate) fn length(&self) -> i128 {
        self.edges.len() as i128
    }

    /// The scaled cost of an edge.
    pub(crate) fn scaled(&self, graph: &Graph, edge: EdgeId) -> i128 {
        graph.cost(edge) * self.length() - self.sum
    }

    /// The states that walks may visit without touching this cycle: all but those on a cycle with the least mean that
    /// passes through the hub.
    pub(crate) fn remaining(&self, graph: &Graph) -> Vec<bool> {
        // Edges without slack form the cycles with the least mean: find the hub's strongly connected component.
        let tight = |state: u32| {
            graph.edges_of(state).filter(move |&edge| {
                let target = graph.edge(edge).target as usize;
                self.alive[target] && self.scaled(graph, edge) + self.onward[target] == self.onward[state as usize]
            })
        };
        let mut ahead = vec![false; graph.states()];
        let mut before: HashMap<u32, Vec<u32>> = HashMap::new();
        let mut open = vec![self.hub];
        ahead[self.hub as usize] = true;
        while let Some(state) = open.pop() {
            for edge in tight(state) {
                let target = graph.edge(edge).target;
                before.entry(target).or_default().push(state);
                if !std::mem::replace(&mut ahead[target as usize], true) {
                    open.push(target);
                }
            }
        }
        let mut remaining = self.alive.clone();
        remaining[self.hub as usize] = false;
        open.push(self.hub);
        while let Some(state) = open.pop() {
            for &source in before.get(&state).into_iter().flatten() {
                if std::mem::replace(&mut remaining[source as usize], false) {
                    open.push(source);
                }
            }
        }
        remaining
    }
}

/// Keeps of `alive` what can be reached from state 0, and lists it in breadth-first order.
fn reachable(graph: &Graph, alive: &mut [bool]) -> Vec<u32> {
    let mut seen = vec![false; alive.len()];
    let mut states = Vec::new();
    if alive[0] {
        seen[0] = true;
        states.push(0);
    }
    let mut at = 0;
    while let Some(&state) = states.get(at) {
        at += 1;
        for edge in graph.edges_of(state) {
            let target = graph.edge(edge).target as usize;
            if alive[target] && !std::mem::replace(&mut seen[target], true) {
                states.push(target as u32);
            }
        }
    }
    alive.copy_from_slice(&seen);
    states
}

/// The edges of a cycle with the least mean of the whole graph, wherever it is; `None` if there is no cycle. If no
/// cycle has a smaller mean than `known`, it is that one.
pub(crate) fn least_mean_cycle(
    graph: &Graph,
    known: Option<Vec<EdgeId>>,
    meter: &mut WorkMeter<'_>,
) -> Result<Option<Vec<EdgeId>>, Interrupted> {
    let (alive, states) = (vec![true; graph.states()], (0..graph.states() as u32).collect::<Vec<u32>>());
    let part = Subgraph { graph, alive: &alive, states: &states };
    let known = known.map(|edges| Cycle { sum: edges.iter().map(|&edge| graph.cost(edge)).sum(), edges });
    Ok(part.best_cycle(known, meter)?.map(|(cycle, _)| cycle.edges))
}

/// A cycle as edges and their cost.
struct Cycle {
    edges: Vec<EdgeId>,
    sum: i128,
}

impl Cycle {
    fn length(&self) -> i128 {
        self.edges.len() as i128
    }

    fn scale(&self) -> CostScale {
        CostScale { length: self.length(), sum: self.sum }
    }

    fn beats(&self, other: &Self) -> bool {
        self.sum * other.length() < other.sum * self.length()
    }
}

/// Costs are scaled to `cost · length - sum`.
#[derive(Clone, Copy)]
struct CostScale {
    length: i128,
    sum: i128,
}

/// The part of the graph that walks may visit.
#[derive(Clone, Copy)]
struct Subgraph<'a> {
    graph: &'a Graph,
    alive: &'a [bool],
    /// The states that are alive and can be reached.
    states: &'a [u32],
}

impl Subgraph<'_> {
    /// The state that an edge leaves: not kept with the edge, because it is needed only once.
    fn source(&self, edge: EdgeId) -> u32 {
        let leaves = |state: &u32| self.graph.edges_of(*state).any(|other| other == edge);
        self.states.iter().copied().find(leaves).expect("an edge of a cycle leaves a state that can be reached")
    }

    /// The cycle with the least mean, and the cheapest walks onward under its scaled costs. The search begins with
    /// `start`, or with a cycle of edges that are each the cheapest of their state.
    fn best_cycle(
        self,
        start: Option<Cycle>,
        meter: &mut WorkMeter<'_>,
    ) -> Result<Option<(Cycle, Vec<i128>)>, Interrupted> {
        let mut best = start.or_else(|| self.greedy_cycle());
        loop {
            // Without a cycle to start from, every cycle counts as an improvement.
            let scale = best.as_ref().map_or(CostScale { length: 1, sum: ABOVE_ALL }, Cycle::scale);
            let mut onward = Relaxation::new(self, scale, vec![0; self.alive.len()], Direction::Backward);
            let better = loop {
                if !onward.sweep(meter)? {
                    break None;
                }
                if let Some(cycle) = self.cycle_among(&onward.choice) {
                    break Some(cycle);
                }
            };
            match better {
                Some(cycle) => best = Some(cycle),
                None => return Ok(best.map(|cycle| (cycle, onward.value))),
            }
        }
    }

    /// The best cycle among those that the cheapest edge of each state leads into.
    fn greedy_cycle(&self) -> Option<Cycle> {
        let mut choice = vec![None; self.alive.len()];
        for &state in self.states {
            let edges = self.graph.edges_of(state);
            let alive = edges.filter(|&edge| self.alive[self.graph.edge(edge).target as usize]);
            choice[state as usize] = alive.min_by_key(|&edge| self.graph.cost(edge));
        }
        self.cycle_among(&choice)
    }

    /// The cycle with the least mean among those that following each state's chosen edge leads into.
    fn cycle_among(&self, choice: &[Option<EdgeId>]) -> Option<Cycle> {
        let target = |edge| self.graph.edge(edge).target;
        let mut best: Option<Cycle> = None;
        // The start whose path first visited each state.
        let mut visited_from: Vec<Option<u32>> = vec![None; choice.len()];
        for &start in self.states {
            let mut state = start;
            while let (None, Some(edge)) = (visited_from[state as usize], choice[state as usize]) {
                visited_from[state as usize] = Some(start);
                state = target(edge);
            }
            let Some(first) = choice[state as usize] else { continue };
            if visited_from[state as usize] != Some(start) {
                continue;
            }
            let mut cycle = Cycle { edges: vec![first], sum: self.graph.cost(first) };
            let mut at = target(first);
            while at != state {
                let edge = choice[at as usize].expect("a path that came back to its state chose an edge everywhere");
                cycle.edges.push(edge);
                cycle.sum += self.graph.cost(edge);
                at = target(edge);
            }
            if best.as_ref().is_none_or(|best| cycle.beats(best)) {
                best = Some(cycle);
            }
        }
        best
    }
}

/// The order in which a sweep visits the states. Alternating orders need fewer sweeps.
#[derive(Clone, Copy)]
enum Direction {
    Forward,
    Backward,
}

/// Bellman-Ford relaxation of the cheapest walks under scaled costs.
struct Relaxation<'a> {
    part: Subgraph<'a>,
    scale: CostScale,
    /// The cost of the cheapest walk found so far from each state.
    value: Vec<i128>,
    /// The edge with which it begins, where a sweep has improved it.
    choice: Vec<Option<EdgeId>>,
    direction: Direction,
}

impl<'a> Relaxation<'a> {
    fn new(part: Subgraph<'a>, scale: CostScale, value: Vec<i128>, direction: Direction) -> Self {
        Self { part, scale, choice: vec![None; value.len()], value, direction }
    }

    /// Relaxes every state once, in the order opposite to the last; false if nothing improved.
    fn sweep(&mut self, meter: &mut WorkMeter<'_>) -> Result<bool, Interrupted> {
        let states = self.part.states;
        let mut changed = false;
        match self.direction {
            Direction::Forward => {
                for &state in states {
                    changed |= self.relax(state, meter)?;
                }
                self.direction = Direction::Backward;
            }
            Direction::Backward => {
                for &state in states.iter().rev() {
                    changed |= self.relax(state, meter)?;
                }
                self.direction = Direction::Forward;
            }
        }
        Ok(changed)
    }

    #[inline]
    fn relax(&mut self, state: u32, meter: &mut WorkMeter<'_>) -> Result<bool, Interrupted> {
        let Subgraph { graph, alive, .. } = self.part;
        let edges = graph.edges_of(state);
        meter.visit(edges.len() as u64)?;
        let mut least = self.value[state as usize];
        let mut by = None;
        for edge in edges {
            let target = graph.edge(edge).target as usize;
            if !alive[target] || self.value[target] == UNREACHABLE {
                continue;
            }
            let walk = graph.cost(edge) * self.scale.length - self.scale.sum + self.value[target];
            if walk < least {
                (least, by) = (walk, Some(edge));
            }
        }
        if by.is_none() {
            return Ok(false);
        }
        self.value[state as usize] = least;
        self.choice[state as usize] = by;
        Ok(true)
    }
}
