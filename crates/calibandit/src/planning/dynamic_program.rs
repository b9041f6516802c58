//! The cheapest walk by dynamic programming, one play after the other: for horizons too short for cycles, and the
//! reference against which the other algorithms are tested.

use super::error::PlanningError;
use super::graph::{EdgeId, Graph};
use super::meter::{MemoryLimit, WorkMeter};

/// The values of all states are kept every so many plays; best plays are recomputed from there. The memory is that of
/// the horizon divided by this, and recomputing holds the choices of this many plays at once.
const KEPT_EVERY: usize = 64;

/// The least cost of the next `k` plays, from every state, for each `k` so far.
pub(crate) struct DynamicProgram {
    /// Of `k` plays from state 0.
    from_start: Vec<i128>,
    values: Vec<i128>,
    /// Of 0, 64, 128, ... plays from each state.
    kept: Vec<Vec<i128>>,
    memory: MemoryLimit,
}

impl DynamicProgram {
    pub(crate) fn new(graph: &Graph, memory: MemoryLimit) -> Self {
        let values = vec![0; graph.states()];
        Self { from_start: vec![0], kept: vec![values.clone()], values, memory }
    }

    /// The least cost of `horizon` plays.
    pub(crate) fn cost(
        &mut self,
        graph: &Graph,
        horizon: u64,
        meter: &mut WorkMeter<'_>,
    ) -> Result<i128, PlanningError> {
        let numbers = u128::from(horizon) * (1 + graph.states() as u128 / KEPT_EVERY as u128);
        self.memory.check(numbers, size_of::<i128>())?;
        let horizon = horizon as usize;
        while self.from_start.len() <= horizon {
            self.values = one_more(graph, &self.values, meter)?.0;
            self.from_start.push(self.values[0]);
            if (self.from_start.len() - 1).is_multiple_of(KEPT_EVERY) {
                self.kept.push(self.values.clone());
            }
        }
        Ok(self.from_start[horizon])
    }

    /// The edges of a best walk of `horizon` plays.
    pub(crate) fn walk(
        &mut self,
        graph: &Graph,
        horizon: u64,
        meter: &mut WorkMeter<'_>,
    ) -> Result<Vec<EdgeId>, PlanningError> {
        self.cost(graph, horizon, meter)?;
        let horizon = horizon as usize;
        let mut walk = Vec::with_capacity(horizon);
        let mut state = 0;
        let mut left = horizon;
        while left > 0 {
            let block = (left - 1) / KEPT_EVERY;
            let mut values = self.kept[block].clone();
            let mut choices = Vec::new();
            for _ in block * KEPT_EVERY..left {
                let (next, choice) = one_more(graph, &values, meter)?;
                values = next;
                choices.push(choice);
            }
            for choice in choices.into_iter().rev() {
                let edge = choice[state as usize];
                walk.push(edge);
                state = graph.edge(edge).target;
            }
            left = block * KEPT_EVERY;
        }
        Ok(walk)
    }
}

/// Values and best edges with one more play to make.
fn one_more(
    graph: &Graph,
    values: &[i128],
    meter: &mut WorkMeter<'_>,
) -> Result<(Vec<i128>, Vec<EdgeId>), PlanningError> {
    let (mut next, mut choice) = (Vec::with_capacity(values.len()), Vec::with_capacity(values.len()));
    for state in 0..graph.states() as u32 {
        let edges = graph.edges_of(state);
        meter.visit(edges.len() as u64)?;
        let costs = edges.map(|edge| (graph.cost(edge) + values[graph.edge(edge).target as usize], edge));
        // The first of the least.
        let least = costs.reduce(|least, other| if other.0 < least.0 { other } else { least });
        let (value, edge) = least.expect("some arm can be played");
        next.push(value);
        choice.push(edge);
    }
    Ok((next, choice))
}
