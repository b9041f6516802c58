//! Best-first search, for 0-REO games of any size.
//!
//! In a 0-REO game no play costs less than mu(x*), so the excess only grows. It stays the same for ever once a best arm
//! is calibrated, or once plays without excess have led back to where they began. These events and the horizon are the
//! goals of an A* search over canonical windows. Its lower bounds on the remaining cost come from [`WarmupCost`]: where
//! straight play of one arm is best, which is the usual case, they are exact, and nothing is searched at all.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, HashMap};
use std::rc::Rc;

use super::error::SolverError;
use super::state_space::{BLANK, StateSpace};
use super::warmup_cost::WarmupCost;
use crate::planning::meter::MemoryLimit;
use crate::planning::plan::Plan;
use crate::{CurveLeftRange, Interrupt};

/// The result of a search.
pub(crate) struct SearchResult {
    pub(crate) outcome: SearchOutcome,
    /// How many windows were expanded.
    pub(crate) expanded: u64,
}

pub(crate) enum SearchOutcome {
    /// A best plan, and whether it costs the same at every longer horizon.
    Found { plan: Plan, for_ever: bool },
    /// The limit on windows or on memory was reached; no plan costs less than `lower`.
    Exhausted { lower: i128 },
}

struct SearchNode {
    window: Rc<[u32]>,
    cost: i128,
    length: u64,
    parent: usize,
    arm: u32,
    goal: Option<Goal>,
}

#[derive(Clone, Copy, PartialEq)]
enum Goal {
    Horizon,
    /// The newest play was of a calibrated best arm.
    Calibrated,
    /// Back at this node, at no extra cost since.
    Loop(usize),
}

/// One search.
pub(crate) struct Search<'a, 'g> {
    space: &'a StateSpace<'g>,
    /// One for each class.
    warmups: &'a [WarmupCost],
    horizon: u64,
    nodes: Vec<SearchNode>,
    /// By bound, longest first among equals.
    open: BinaryHeap<(Reverse<i128>, u64, Reverse<usize>)>,
    /// Costs and lengths at which each window was reached: none is both cheaper and longer than another.
    reached: HashMap<Rc<[u32]>, Vec<(i128, u64)>>,
    /// Bounds from an arm that is not in the window, by plays left.
    afresh: HashMap<u64, i128>,
    upper: i128,
    memory: MemoryLimit,
}

/// A longer window counts as several windows towards the limit, one for this many plays of it and each arm that is
/// tried after it, so that the time does not grow with the memory.
const LONG_WINDOW: usize = 64;

/// The memory of a node, beside its window.
const PER_NODE: usize = size_of::<SearchNode>() + 160;

/// The best plan that plays one arm only, with that arm's costs. There is at least one class of arms.
pub(crate) fn straight<'a>(space: &StateSpace<'_>, warmups: &'a [WarmupCost], horizon: u64) -> (Plan, &'a WarmupCost) {
    let cheapest = warmups.iter().min_by_key(|warmup| warmup.straight(horizon));
    let warmup = cheapest.expect("a game has at least one arm");
    let warming = (warmup.memory as u64 - 1).min(horizon);
    let arm = space.classes[space.class_of[warmup.arm]][0] as u32;
    let plan = Plan {
        excess: warmup.straight(horizon),
        prefix: vec![arm; warming as usize],
        cycle: vec![arm],
        repeats: horizon - warming,
        tail: Vec::new(),
    };
    (plan, warmup)
}

impl<'a, 'g> Search<'a, 'g> {
    pub(crate) fn new(space: &'a StateSpace<'g>, warmups: &'a [WarmupCost], horizon: u64, memory: MemoryLimit) -> Self {
        Self {
            space,
            warmups,
            horizon,
            nodes: Vec::new(),
            open: BinaryHeap::new(),
            reached: HashMap::new(),
            afresh: HashMap::new(),
            upper: i128::MAX,
            memory,
        }
    }

    /// About how much memory a node takes.
    pub(crate) fn bytes_per_node(space: &StateSpace<'_>) -> usize {
        PER_NODE + space.length * size_of::<u32>()
    }

    /// Expands at most `limit` windows.
    pub(crate) fn run(mut self, limit: u64, interrupt: Interrupt<'_>) -> Result<SearchResult, SolverError> {
        let (plan, warmup) = straight(self.space, self.warmups, self.horizon);
        self.upper = plan.excess;
        let for_ever = warmup.is_best() && self.horizon + 1 >= warmup.memory as u64;
        let empty = self.space.empty().into();
        self.push(SearchNode { window: empty, cost: 0, length: 0, parent: 0, arm: BLANK, goal: None });
        let (mut expanded, mut counted) = (0, 0);
        while let Some((Reverse(bound), _, Reverse(number))) = self.open.pop() {
            if bound >= self.upper {
                break;
            }
            if self.nodes[number].goal.is_some() {
                let for_ever = self.nodes[number].goal != Some(Goal::Horizon);
                let outcome = SearchOutcome::Found { plan: self.plan(number), for_ever };
                return Ok(SearchResult { outcome, expanded });
            }
            interrupt.check()?;
            let memory = self.memory.check(self.nodes.len() as u128, Self::bytes_per_node(self.space));
            if counted >= limit || memory.is_err() {
                return Ok(SearchResult { outcome: SearchOutcome::Exhausted { lower: bound }, expanded });
            }
            expanded += 1;
            counted += self.expand(number)?;
        }
        // Nothing is better than straight play.
        Ok(SearchResult { outcome: SearchOutcome::Found { plan, for_ever }, expanded })
    }

    /// Tries every arm after a window. Returns as how many windows this counts.
    fn expand(&mut self, number: usize) -> Result<u64, CurveLeftRange> {
        let SearchNode { ref window, cost, length, .. } = self.nodes[number];
        let window = Rc::clone(window);
        // A longer walk at the same cost may have come here in the meantime.
        if self.reached.get(&window).is_some_and(|seen| seen.iter().any(|&(c, l)| c <= cost && l > length)) {
            return Ok(1);
        }
        let mut actions = Vec::new();
        self.space.actions(&window, &mut actions);
        let counted = if window.len() <= LONG_WINDOW { 1 } else { actions.len() * window.len() / LONG_WINDOW };
        for arm in actions {
            let cost = cost + self.space.excess(&window, arm)?;
            let warmup = &self.warmups[self.space.class_of[arm as usize]];
            let calibrated = warmup.is_best() && self.space.count(&window, arm) + 1 == warmup.memory;
            let constant = warmup.is_best() && self.space.is_constant(arm as usize);
            let mut next = window.to_vec();
            self.space.advance(&mut next, arm);
            self.space.canonicalise(&mut next);
            let mut node =
                SearchNode { window: next.into(), cost, length: length + 1, parent: number, arm, goal: None };
            node.goal = if calibrated || constant {
                Some(Goal::Calibrated)
            } else if node.length == self.horizon {
                Some(Goal::Horizon)
            } else {
                self.loop_to(&node).map(Goal::Loop)
            };
            self.push(node);
        }
        Ok(counted as u64)
    }

    /// The node on the way to this one with the same window and the same cost.
    fn loop_to(&self, node: &SearchNode) -> Option<usize> {
        let mut ancestor = node.parent;
        while self.nodes[ancestor].cost == node.cost {
            if self.nodes[ancestor].window == node.window {
                return Some(ancestor);
            }
            if ancestor == 0 {
                break;
            }
            ancestor = self.nodes[ancestor].parent;
        }
        None
    }

    fn push(&mut self, node: SearchNode) {
        let bound =
            if node.goal.is_some() { node.cost } else { node.cost + self.still_to_come(&node.window, node.length) };
        if bound >= self.upper {
            return;
        }
        if node.goal.is_none() {
            let (cost, length) = (node.cost, node.length);
            let seen = self.reached.entry(Rc::clone(&node.window)).or_default();
            if seen.iter().any(|&(c, l)| c <= cost && l >= length) {
                return;
            }
            seen.retain(|&(c, l)| !(cost <= c && length >= l));
            seen.push((cost, length));
        }
        self.open.push((Reverse(bound), node.length, Reverse(self.nodes.len())));
        self.nodes.push(node);
    }

    /// A lower bound of the excess still to come: either some best arm is calibrated on the way, or none ever is.
    fn still_to_come(&mut self, window: &[u32], length: u64) -> i128 {
        let left = self.horizon - length;
        let (space, warmups) = (self.space, self.warmups);
        let afresh = *self.afresh.entry(left).or_insert_with(|| {
            warmups.iter().map(|warmup| least(warmup, 0, left)).min().expect("a game has at least one arm")
        });
        let mut bound = afresh;
        for (age, &arm) in window.iter().enumerate() {
            // Each arm once, at its newest play.
            if arm == BLANK || window[..age].contains(&arm) {
                continue;
            }
            let warmup = &warmups[space.class_of[arm as usize]];
            bound = bound.min(least(warmup, space.count(window, arm), left));
        }
        bound
    }

    fn plan(&self, goal: usize) -> Plan {
        let mut nodes = vec![];
        let mut at = goal;
        while at != 0 {
            nodes.push(at);
            at = self.nodes[at].parent;
        }
        nodes.reverse();
        let arms: Vec<u32> = nodes.iter().map(|&node| self.nodes[node].arm).collect();
        let (prefix, cycle) = match self.nodes[goal].goal {
            Some(Goal::Calibrated) => arms.split_at(arms.len() - 1),
            Some(Goal::Loop(from)) => arms.split_at(self.nodes[from].length as usize),
            Some(Goal::Horizon) | None => (&arms[..], &[][..]),
        };
        let rest = self.horizon - prefix.len() as u64;
        let round = (cycle.len() as u64).max(1);
        Plan {
            excess: self.nodes[goal].cost,
            prefix: prefix.to_vec(),
            cycle: cycle.to_vec(),
            repeats: rest / round,
            tail: cycle.iter().copied().take((rest % round) as usize).collect(),
        }
    }
}

/// A lower bound of the excess to come if all plays to come are of this arm. The least of these bounds over the arms
/// holds for any plays to come.
fn least(warmup: &WarmupCost, count: usize, left: u64) -> i128 {
    if !warmup.is_best() {
        return warmup.plays(count, left, warmup.memory);
    }
    if left >= (warmup.memory - count) as u64 {
        let calibrated = warmup.to_calibrated(count);
        return if warmup.memory == 1 {
            calibrated
        } else {
            calibrated.min(warmup.plays(count, left, warmup.memory - 1))
        };
    }
    warmup.plays(count, left, warmup.memory - 1)
}
