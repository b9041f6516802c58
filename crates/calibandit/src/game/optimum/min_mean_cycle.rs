//! What long walks do: the cycle with the least mean cost, and what it costs to get there and to leave it.
//!
//! Let C be a cycle of length L and total cost S with the least mean S/L. Costs are scaled to `c·L - S`, which keeps
//! them integers: then no cycle is negative, C costs nothing, and "cheapest walk" is well defined at any length.

use super::fixed_point::ABOVE_ALL;
use super::graph::Graph;

/// No state and no edge.
const NONE: u32 = u32::MAX;

/// Out of reach.
pub(crate) const FAR: i128 = i128::MAX;

/// The best cycle among some states, with the potentials that go with it.
pub(crate) struct MinMeanCycle {
    /// Its edges, from the hub on.
    pub(crate) cycle: Vec<u32>,
    /// Its cost.
    pub(crate) sum: i128,
    /// A state of the cycle.
    pub(crate) hub: u32,
    /// The cheapest walk from each state to anywhere, of any length, in scaled cost: 0 or less.
    pub(crate) onward: Vec<i128>,
    /// The cheapest walk from each state to the hub, in scaled cost.
    pub(crate) to_hub: Vec<i128>,
    /// The states this regime is about.
    pub(crate) alive: Vec<bool>,
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

impl MinMeanCycle {
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
        let (cycle, onward) = best_cycle(graph, &alive, &states, work).ok_or(states.len())?;
        let hub = source(graph, &cycle.edges, &states);
        let mut regime = Self { sum: cycle.sum, cycle: cycle.edges, hub, onward, to_hub: Vec::new(), alive };
        regime.to_hub = vec![FAR; graph.states()];
        regime.to_hub[hub as usize] = 0;
        let (length, sum) = (regime.length(), regime.sum);
        let mut backwards = false;
        while improve(graph, &regime.alive, &states, (length, sum), &mut regime.to_hub, None, backwards, work) {
            backwards = !backwards;
        }
        Ok(regime)
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

/// The cycle with the least mean, and the cheapest walks onward under its scaled costs: guess a cycle, relax until
/// nothing improves; a cycle among the improving edges is a better guess.
fn best_cycle(graph: &Graph, alive: &[bool], states: &[u32], work: &mut u64) -> Option<(Cycle, Vec<i128>)> {
    let mut choice = vec![NONE; alive.len()];
    for &state in states {
        let edges = graph.edges_of(state).filter(|&edge| alive[graph.edge(edge).target as usize]);
        if let Some(cheapest) = edges.min_by_key(|&edge| graph.cost(edge)) {
            choice[state as usize] = cheapest as u32;
        }
    }
    let mut best = cycle_among(graph, states, &choice);
    loop {
        // Without a guess every cycle counts as an improvement.
        let scale = best.as_ref().map_or((1, ABOVE_ALL), |cycle| (cycle.length(), cycle.sum));
        let mut onward = vec![0; alive.len()];
        choice.fill(NONE);
        let mut backwards = true;
        let better = loop {
            if !improve(graph, alive, states, scale, &mut onward, Some(&mut choice), backwards, work) {
                break None;
            }
            backwards = !backwards;
            if let Some(cycle) = cycle_among(graph, states, &choice) {
                break Some(cycle);
            }
        };
        match better {
            Some(cycle) => best = Some(cycle),
            None => return best.map(|cycle| (cycle, onward)),
        }
    }
}

/// One round of relaxation of the cheapest walks onward; false if nothing improved.
#[allow(clippy::too_many_arguments)]
fn improve(
    graph: &Graph,
    alive: &[bool],
    states: &[u32],
    (length, sum): (i128, i128),
    value: &mut [i128],
    mut choice: Option<&mut Vec<u32>>,
    backwards: bool,
    work: &mut u64,
) -> bool {
    let mut changed = false;
    for i in 0..states.len() {
        let state = states[if backwards { states.len() - 1 - i } else { i }];
        let edges = graph.edges_of(state);
        *work += edges.len() as u64;
        let mut least = value[state as usize];
        let mut by = NONE;
        for edge in edges {
            let target = graph.edge(edge).target as usize;
            if !alive[target] || value[target] == FAR {
                continue;
            }
            let walk = graph.cost(edge) * length - sum + value[target];
            if walk < least {
                (least, by) = (walk, edge as u32);
            }
        }
        if by != NONE {
            value[state as usize] = least;
            if let Some(choice) = choice.as_mut() {
                choice[state as usize] = by;
            }
            changed = true;
        }
    }
    changed
}

/// The cycle with the least mean among those that following each state's chosen edge leads into.
fn cycle_among(graph: &Graph, states: &[u32], choice: &[u32]) -> Option<Cycle> {
    let mut best: Option<Cycle> = None;
    // Which start first came through each state.
    let mut visited_from = vec![NONE; choice.len()];
    for &start in states {
        let mut state = start;
        while visited_from[state as usize] == NONE && choice[state as usize] != NONE {
            visited_from[state as usize] = start;
            state = graph.edge(choice[state as usize] as usize).target;
        }
        if choice[state as usize] == NONE || visited_from[state as usize] != start {
            continue;
        }
        let mut cycle = Cycle { edges: Vec::new(), sum: 0 };
        let mut at = state;
        loop {
            let edge = choice[at as usize];
            cycle.edges.push(edge);
            cycle.sum += graph.cost(edge as usize);
            at = graph.edge(edge as usize).target;
            if at == state {
                break;
            }
        }
        if best.as_ref().is_none_or(|best| cycle.beats(best)) {
            best = Some(cycle);
        }
    }
    best
}
