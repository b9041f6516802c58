//! What long walks do: the cycle with the least mean cost, and what it costs to get there and to leave it.
//!
//! Let C be a cycle of length L and total cost S with the least mean S/L. Costs are scaled to `c·L - S`, which keeps
//! them integers: then no cycle is negative, C costs nothing, and "cheapest walk" is well defined at any length.

use super::fixed::ABOVE_ALL;
use super::graph::Graph;

/// No state and no edge.
const NONE: u32 = u32::MAX;

/// Out of reach.
pub(crate) const FAR: i128 = i128::MAX;

/// The best cycle among some states, with the potentials that go with it.
pub(crate) struct Regime {
    /// Its edges, from the hub on.
    pub(crate) cycle: Vec<u32>,
    /// Its cost.
    pub(crate) sum: i128,
    /// A state of the cycle.
    pub(crate) hub: u32,
    /// The cheapest walk from each state to anywhere, of any length, in scaled cost: 0 or less.
    pub(crate) onward: Vec<i128>,
    /// The cheapest walk from each state to the hub, in scaled cost; empty until [`find_hub`](Regime::find_hub).
    pub(crate) to_hub: Vec<i128>,
    /// The states this regime is about.
    pub(crate) alive: Vec<bool>,
    /// The same as a list.
    states: Vec<u32>,
}

/// A cycle as edges and their cost.
struct Cycle {
    edges: Vec<u32>,
    sum: i128,
}

impl Cycle {
    fn length(&self) -> i128 {
        self.edges.len() as i128
    }

    fn beats(&self, other: &Self) -> bool {
        self.sum * other.length() < other.sum * self.length()
    }
}

impl Regime {
    pub(crate) fn length(&self) -> i128 {
        self.cycle.len() as i128
    }

    /// The scaled cost of an edge.
    pub(crate) fn scaled(&self, graph: &Graph, edge: usize) -> i128 {
        graph.cost(edge) * self.length() - self.sum
    }

    /// The regime of the walks from state 0 within `alive`. If there are only finitely many such walks, `Err` tells the
    /// number of states they can visit.
    pub(crate) fn new(graph: &Graph, mut alive: Vec<bool>, work: &mut u64) -> Result<Self, usize> {
        let states = reachable(graph, &mut alive);
        let (cycle, onward) = best_cycle(Part { graph, alive: &alive, states: &states }, work).ok_or(states.len())?;
        let hub = source(graph, &cycle.edges, &states);
        Ok(Self { sum: cycle.sum, cycle: cycle.edges, hub, onward, to_hub: Vec::new(), alive, states })
    }

    /// Computes the cheapest walks to the hub, if that has not been done.
    pub(crate) fn find_hub(&mut self, graph: &Graph, work: &mut u64) {
        if !self.to_hub.is_empty() {
            return;
        }
        let mut value = vec![FAR; graph.states()];
        value[self.hub as usize] = 0;
        let mut dirty = vec![false; graph.states()];
        graph.sources_of(self.hub).iter().for_each(|&source| dirty[source as usize] = true);
        let part = Part { graph, alive: &self.alive, states: &self.states };
        let mut relaxation = Relaxation { part, scale: (self.length(), self.sum), value, dirty, backwards: false };
        let mut changed = true;
        while std::mem::take(&mut changed) {
            relaxation.sweep(work, |_, _| changed = true);
        }
        self.to_hub = relaxation.value;
    }

    /// The states that no walk of the next regime may touch besides: all that lie on a cycle with the least mean
    /// that passes through the hub.
    pub(crate) fn remaining(&self, graph: &Graph) -> Vec<bool> {
        // Edges without slack form the cycles with the least mean: find the hub's strongly connected component.
        let tight = |state: u32| {
            graph.edges_of(state).filter(move |&edge| {
                let target = graph.edge(edge).target as usize;
                self.alive[target] && self.scaled(graph, edge) + self.onward[target] == self.onward[state as usize]
            })
        };
        let mut ahead = vec![false; graph.states()];
        let mut before: std::collections::HashMap<u32, Vec<u32>> = std::collections::HashMap::new();
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
            for &source in before.get(&state).map_or(&[][..], Vec::as_slice) {
                if std::mem::replace(&mut remaining[source as usize], false) {
                    open.push(source);
                }
            }
        }
        remaining
    }
}

/// Keeps of `alive` what can be reached from state 0 and lists it.
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

/// The state that an edge leaves: not kept with the edge, because it is asked for once.
fn source(graph: &Graph, cycle: &[u32], states: &[u32]) -> u32 {
    let edge = cycle[0] as usize;
    states.iter().copied().find(|&state| graph.edges_of(state).contains(&edge)).unwrap_or(0)
}

/// A part of the graph.
#[derive(Clone, Copy)]
struct Part<'a> {
    graph: &'a Graph,
    alive: &'a [bool],
    states: &'a [u32],
}

/// The cycle with the least mean, and the cheapest walks onward under its scaled costs: guess a cycle, relax until
/// nothing improves; a cycle among the improving edges is a better guess.
fn best_cycle(part: Part<'_>, work: &mut u64) -> Option<(Cycle, Vec<i128>)> {
    let Part { graph, alive, states } = part;
    let mut choice = vec![NONE; alive.len()];
    for &state in states {
        let edges = graph.edges_of(state).filter(|&edge| alive[graph.edge(edge).target as usize]);
        if let Some(cheapest) = edges.min_by_key(|&edge| graph.cost(edge)) {
            choice[state as usize] = cheapest as u32;
        }
    }
    let mut detector = Detector::new(alive.len());
    let mut best = detector.best(graph, states, &choice);
    let mut improved = Vec::new();
    loop {
        // Without a guess every cycle counts as an improvement.
        let scale = best.as_ref().map_or((1, ABOVE_ALL), |cycle| (cycle.length(), cycle.sum));
        let (value, dirty) = (vec![0; alive.len()], alive.to_vec());
        let mut relaxation = Relaxation { part, scale, value, dirty, backwards: true };
        choice.fill(NONE);
        let better = loop {
            improved.clear();
            relaxation.sweep(work, |state, edge| {
                choice[state as usize] = edge;
                improved.push(state);
            });
            if improved.is_empty() {
                break None;
            }
            // A new cycle has a new edge on it.
            if let Some(cycle) = detector.best(graph, &improved, &choice) {
                break Some(cycle);
            }
        };
        match better {
            Some(cycle) => best = Some(cycle),
            None => return best.map(|cycle| (cycle, relaxation.value)),
        }
    }
}

/// Cheapest walks in scaled costs, being improved.
struct Relaxation<'a> {
    part: Part<'a>,
    /// The length and the cost of the cycle that scales the costs.
    scale: (i128, i128),
    /// The cheapest walk known from each state.
    value: Vec<i128>,
    /// The states from which a walk may have become cheaper.
    dirty: Vec<bool>,
    backwards: bool,
}

impl Relaxation<'_> {
    /// Improves each state once, in alternating order, and tells which improved and by which edge.
    fn sweep(&mut self, work: &mut u64, mut improved: impl FnMut(u32, u32)) {
        let Part { graph, alive, states } = self.part;
        let (length, sum) = self.scale;
        for i in 0..states.len() {
            let state = states[if self.backwards { states.len() - 1 - i } else { i }];
            if !std::mem::replace(&mut self.dirty[state as usize], false) {
                continue;
            }
            let edges = graph.edges_of(state);
            *work += edges.len() as u64;
            let mut least = self.value[state as usize];
            let mut by = NONE;
            for edge in edges {
                let target = graph.edge(edge).target as usize;
                if !alive[target] || self.value[target] == FAR {
                    continue;
                }
                let walk = graph.cost(edge) * length - sum + self.value[target];
                if walk < least {
                    (least, by) = (walk, edge as u32);
                }
            }
            if by != NONE {
                self.value[state as usize] = least;
                improved(state, by);
                graph.sources_of(state).iter().for_each(|&source| self.dirty[source as usize] = true);
            }
        }
        self.backwards = !self.backwards;
    }
}

/// Looks for cycles along chosen edges.
struct Detector {
    /// The number of the walk that last came through each state.
    visited_by: Vec<u64>,
    walks: u64,
}

impl Detector {
    fn new(states: usize) -> Self {
        Self { visited_by: vec![0; states], walks: 0 }
    }

    /// The cycle with the least mean among those that following each state's chosen edge leads into from `starts`.
    fn best(&mut self, graph: &Graph, starts: &[u32], choice: &[u32]) -> Option<Cycle> {
        let mut best: Option<Cycle> = None;
        let earlier = self.walks;
        for &start in starts {
            self.walks += 1;
            let mut state = start;
            while self.visited_by[state as usize] <= earlier && choice[state as usize] != NONE {
                self.visited_by[state as usize] = self.walks;
                state = graph.edge(choice[state as usize] as usize).target;
            }
            if self.visited_by[state as usize] != self.walks {
                continue;
            }
            let cycle = follow(graph, state, choice);
            if best.as_ref().is_none_or(|best| cycle.beats(best)) {
                best = Some(cycle);
            }
        }
        best
    }
}

/// The cycle of chosen edges that a state is on.
fn follow(graph: &Graph, state: u32, choice: &[u32]) -> Cycle {
    let mut cycle = Cycle { edges: Vec::new(), sum: 0 };
    let mut at = state;
    loop {
        let edge = choice[at as usize];
        cycle.edges.push(edge);
        cycle.sum += graph.cost(edge as usize);
        at = graph.edge(edge as usize).target;
        if at == state {
            return cycle;
        }
    }
}
