//! A graph: states, plays as edges, and what they cost.

use std::num::NonZeroU32;

/// The number of an edge, stored plus one, so that an `Option` of it takes no more space.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct EdgeId(NonZeroU32);

impl EdgeId {
    #[inline]
    fn new(index: u32) -> Self {
        Self(NonZeroU32::MIN.saturating_add(index))
    }

    #[inline]
    fn index(self) -> usize {
        self.0.get() as usize - 1
    }
}

/// One play.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Edge {
    pub(crate) target: u32,
    /// Index into the graph's costs: few losses differ.
    pub(crate) cost: u32,
    /// The arm, by its name in the source state.
    pub(crate) arm: u32,
}

/// A graph whose walks start in state 0.
#[derive(Clone, Debug)]
pub(crate) struct Graph {
    edges: Vec<Edge>,
    /// Where each state's edges begin; one entry more than there are states.
    first: Vec<u32>,
    costs: Vec<i128>,
}

impl Graph {
    /// A graph without states, and without costs yet.
    pub(crate) fn new() -> Self {
        Self { edges: Vec::new(), first: vec![0], costs: Vec::new() }
    }

    /// Adds a cost in units, and returns its number.
    pub(crate) fn add_cost(&mut self, cost: i128) -> u32 {
        self.costs.push(cost);
        self.costs.len() as u32 - 1
    }

    /// Adds an edge to the state that the next [`Graph::close_state`] completes.
    pub(crate) fn add_edge(&mut self, edge: Edge) {
        self.edges.push(edge);
    }

    /// Completes a state: its edges are those added since the one before it.
    pub(crate) fn close_state(&mut self) {
        self.first.push(self.edges.len() as u32);
    }

    /// Changes a cost, by its number.
    pub(crate) fn set_cost(&mut self, number: u32, cost: i128) {
        self.costs[number as usize] = cost;
    }

    /// Gives back memory that was reserved for growth.
    pub(crate) fn shrink(&mut self) {
        self.edges.shrink_to_fit();
    }

    pub(crate) fn states(&self) -> usize {
        self.first.len() - 1
    }

    pub(crate) fn edge_count(&self) -> usize {
        self.edges.len()
    }

    /// The edges that leave a state.
    #[inline]
    pub(crate) fn edges_of(&self, state: u32) -> impl ExactSizeIterator<Item = EdgeId> + use<> {
        (self.first[state as usize]..self.first[state as usize + 1]).map(EdgeId::new)
    }

    #[inline]
    pub(crate) fn edge(&self, edge: EdgeId) -> Edge {
        self.edges[edge.index()]
    }

    /// What a play costs, in units.
    #[inline]
    pub(crate) fn cost(&self, edge: EdgeId) -> i128 {
        self.costs[self.edges[edge.index()].cost as usize]
    }
}
