//! Cheapest walks through a hub, by their length modulo the cycle's.
//!
//! A walk of `T` plays that touches the regime's cycle costs at least what the cheapest walk through the hub
//! of length `T` modulo `L` does: going round the cycle costs nothing in scaled terms and changes the length by `L`. And where that
//! walk is no longer than `T`, going round makes up the difference. Dijkstra's algorithm finds these walks over (before or
//! after the hub, state, length modulo `L`), guided by the regime's potentials, so that little more than the best walks is
//! looked at. It stops at the residue asked for and goes on from there when asked for another.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, HashMap};

use super::graph::Graph;
use super::min_mean_cycle::{FAR, MinMeanCycle};

/// Where a walk is.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
enum Stage {
    Before,
    After,
    /// It has ended; the state no longer matters.
    Ended,
}

type WalkNode = (Stage, u32, u32);

#[derive(Clone, Copy)]
struct Label {
    slack: i128,
    length: u64,
    /// Where it came from, and by which edge if that was a play.
    parent: WalkNode,
    edge: Option<u32>,
    settled: bool,
}

/// Dijkstra's algorithm over one regime, suspended between questions.
pub(crate) struct Walks {
    labels: HashMap<WalkNode, Label>,
    open: BinaryHeap<Reverse<(i128, u64, WalkNode)>>,
}

/// The cheapest walk through the hub with a length of given residue.
pub(crate) struct Walk {
    /// Its scaled cost above the least of any residue.
    pub(crate) slack: i128,
    /// Edges up to the hub.
    pub(crate) prefix: Vec<u32>,
    /// Edges from the hub on.
    pub(crate) tail: Vec<u32>,
}

impl Walks {
    pub(crate) fn new() -> Self {
        let start = (Stage::Before, 0, 0);
        let label = Label { slack: 0, length: 0, parent: start, edge: None, settled: false };
        Self { labels: HashMap::from([(start, label)]), open: BinaryHeap::from([Reverse((0, 0, start))]) }
    }

    /// The cheapest walk through the hub whose length has this residue, unless its slack is at least `bound`.
    pub(crate) fn cheapest(
        &mut self,
        graph: &Graph,
        regime: &MinMeanCycle,
        residue: u32,
        bound: i128,
        work: &mut u64,
    ) -> Option<Walk> {
        let end = (Stage::Ended, 0, residue);
        while !self.labels.get(&end).is_some_and(|label| label.settled) {
            let &Reverse((slack, length, node)) = self.open.peek()?;
            if slack >= bound {
                return None;
            }
            self.open.pop();
            let Some(label) = self.labels.get_mut(&node) else { continue };
            if label.settled || (label.slack, label.length) != (slack, length) {
                continue;
            }
            label.settled = true;
            self.expand(graph, regime, node, slack, length, work);
        }
        // It may have been settled by an earlier question with a larger bound.
        Some(self.trace(end)).filter(|walk| walk.slack < bound)
    }

    fn expand(
        &mut self,
        graph: &Graph,
        regime: &MinMeanCycle,
        node: WalkNode,
        slack: i128,
        length: u64,
        work: &mut u64,
    ) {
        let (stage, state, residue) = node;
        let potential = match stage {
            Stage::Ended => return,
            Stage::Before if state == regime.hub => {
                // Whatever follows is after the hub.
                self.reach((Stage::After, state, residue), slack, length, node, None);
                return;
            }
            Stage::Before => &regime.to_hub,
            Stage::After => {
                // Ending here forgoes the cheapest walk onward.
                let end = (Stage::Ended, 0, residue);
                self.reach(end, slack - regime.onward[state as usize], length, node, None);
                &regime.onward
            }
        };
        let next_residue = (residue + 1) % regime.cycle.len() as u32;
        for edge in graph.edges_of(state) {
            *work += 1;
            let target = graph.edge(edge).target;
            if !regime.alive[target as usize] || potential[target as usize] == FAR {
                continue;
            }
            let detour = regime.scaled(graph, edge) + potential[target as usize] - potential[state as usize];
            self.reach((stage, target, next_residue), slack + detour, length + 1, node, Some(edge as u32));
        }
    }

    fn reach(&mut self, node: WalkNode, slack: i128, length: u64, parent: WalkNode, edge: Option<u32>) {
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
            let side = if node.0 == Stage::Before { &mut walk.prefix } else { &mut walk.tail };
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
