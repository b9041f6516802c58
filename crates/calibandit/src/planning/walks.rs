//! Cheapest walks through a hub, by their length modulo the length of its cycle.
//!
//! A walk of `T` plays that touches the cycle costs at least as much as the cheapest walk through the hub whose length
//! is `T` modulo `L`: a round of the cycle costs nothing in scaled terms and changes the length by `L`. Where that walk
//! is no longer than `T`, rounds of the cycle make up the difference. Dijkstra's algorithm finds these walks over the
//! nodes (before or after the hub, state, length modulo `L`). The cycle's cheapest walks serve as potentials, so that
//! few nodes beside the best walks are visited. The search stops at the residue asked for, and continues from there
//! when it is asked for another.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, HashMap};

use super::error::PlanningError;
use super::graph::{EdgeId, Graph};
use super::meter::{MemoryLimit, WorkMeter};
use super::min_mean_cycle::{MinMeanCycle, UNREACHABLE};

/// Where a walk is.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
enum Stage {
    Before,
    After,
    /// It has ended; the state no longer matters.
    Ended,
}

/// A node of the search. The order breaks ties between equal costs and lengths.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
struct WalkNode {
    stage: Stage,
    state: u32,
    residue: u32,
}

impl WalkNode {
    const START: Self = Self { stage: Stage::Before, state: 0, residue: 0 };

    fn end(residue: u32) -> Self {
        Self { stage: Stage::Ended, state: 0, residue }
    }
}

#[derive(Clone, Copy)]
struct Label {
    slack: i128,
    length: u64,
    /// The node before it; the start is its own parent.
    parent: WalkNode,
    /// The edge from there, if that step was a play.
    edge: Option<EdgeId>,
    settled: bool,
}

/// Dijkstra's algorithm over one cycle's walks, suspended between questions.
pub(crate) struct Walks {
    labels: HashMap<WalkNode, Label>,
    open: BinaryHeap<Reverse<(i128, u64, WalkNode)>>,
    memory: MemoryLimit,
}

/// The memory of a label, with its places in the queue.
const PER_LABEL: usize = 256;

/// The cheapest walk through the hub with a length of given residue.
pub(crate) struct Walk {
    /// Its scaled cost above the least of any residue.
    pub(crate) slack: i128,
    /// Edges up to the hub.
    pub(crate) prefix: Vec<EdgeId>,
    /// Edges from the hub on.
    pub(crate) tail: Vec<EdgeId>,
}

impl Walk {
    /// The number of plays.
    pub(crate) fn len(&self) -> u64 {
        (self.prefix.len() + self.tail.len()) as u64
    }
}

impl Walks {
    pub(crate) fn new(memory: MemoryLimit) -> Self {
        let start = WalkNode::START;
        let label = Label { slack: 0, length: 0, parent: start, edge: None, settled: false };
        Self { labels: HashMap::from([(start, label)]), open: BinaryHeap::from([Reverse((0, 0, start))]), memory }
    }

    /// The cheapest walk through the hub whose length has this residue, unless its slack is at least `bound`.
    pub(crate) fn cheapest(
        &mut self,
        graph: &Graph,
        cycle: &MinMeanCycle,
        residue: u32,
        bound: i128,
        meter: &mut WorkMeter<'_>,
    ) -> Result<Option<Walk>, PlanningError> {
        let end = WalkNode::end(residue);
        while !self.labels.get(&end).is_some_and(|label| label.settled) {
            // Before the node is taken from the queue, so that the search can continue after an interruption.
            meter.visit(0)?;
            self.memory.check(self.labels.len() as u128, PER_LABEL)?;
            let Some(&Reverse((slack, length, node))) = self.open.peek() else { return Ok(None) };
            if slack >= bound {
                return Ok(None);
            }
            self.open.pop();
            let label = self.labels.get_mut(&node).expect("a node gets its label before it is opened");
            if label.settled || (label.slack, label.length) != (slack, length) {
                continue;
            }
            label.settled = true;
            let label = *label;
            self.expand(graph, cycle, node, label, meter);
        }
        // An earlier question with a larger bound may have settled it.
        Ok(Some(self.trace(end)).filter(|walk| walk.slack < bound))
    }

    fn expand(&mut self, graph: &Graph, cycle: &MinMeanCycle, node: WalkNode, label: Label, meter: &mut WorkMeter<'_>) {
        let WalkNode { stage, state, residue } = node;
        let Label { slack, length, .. } = label;
        let potential = match stage {
            Stage::Ended => return,
            Stage::Before if state == cycle.hub => {
                // What follows is after the hub.
                self.reach(WalkNode { stage: Stage::After, ..node }, slack, length, node, None);
                return;
            }
            Stage::Before => &cycle.to_hub,
            Stage::After => {
                // Ending here forgoes the cheapest walk onward.
                self.reach(WalkNode::end(residue), slack - cycle.onward[state as usize], length, node, None);
                &cycle.onward
            }
        };
        let residue = (residue + 1) % cycle.edges.len() as u32;
        for edge in graph.edges_of(state) {
            meter.edges += 1;
            let target = graph.edge(edge).target;
            if !cycle.alive[target as usize] || potential[target as usize] == UNREACHABLE {
                continue;
            }
            let detour = cycle.scaled(graph, edge) + potential[target as usize] - potential[state as usize];
            self.reach(WalkNode { stage, state: target, residue }, slack + detour, length + 1, node, Some(edge));
        }
    }

    fn reach(&mut self, node: WalkNode, slack: i128, length: u64, parent: WalkNode, edge: Option<EdgeId>) {
        let better = self.labels.get(&node).is_none_or(|label| (slack, length) < (label.slack, label.length));
        if better {
            self.labels.insert(node, Label { slack, length, parent, edge, settled: false });
            self.open.push(Reverse((slack, length, node)));
        }
    }

    fn trace(&self, end: WalkNode) -> Walk {
        let mut walk = Walk { slack: self.labels[&end].slack, prefix: Vec::new(), tail: Vec::new() };
        let mut node = end;
        loop {
            let label = &self.labels[&node];
            let side = if node.stage == Stage::Before { &mut walk.prefix } else { &mut walk.tail };
            side.extend(label.edge);
            if label.parent == node {
                break;
            }
            node = label.parent;
        }
        walk.prefix.reverse();
        walk.tail.reverse();
        walk
    }
}
