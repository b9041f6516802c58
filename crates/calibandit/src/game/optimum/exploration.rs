//! From a game to its graph: canonical windows as states, plays as edges.

use std::collections::HashMap;

use rustc_hash::FxHashMap;

use super::error::SolverError;
use super::state_space::StateSpace;
use crate::Interrupt;
use crate::planning::graph::{Edge, Graph};
use crate::planning::meter::MemoryLimit;

/// More edges than this are not kept, whatever the number of states: at 12 bytes per edge they take 768 MB.
const EDGE_LIMIT: usize = 64_000_000;

/// Explores the game, breadth first. The transient windows of the first plays do not count towards the limit, but
/// their number is limited in the same way. Games that are certainly too large are refused at once.
pub(crate) fn explore(
    space: &StateSpace<'_>,
    limit: usize,
    memory: MemoryLimit,
    interrupt: Interrupt<'_>,
) -> Result<Graph, SolverError> {
    let mut index = StateIndex::new(space);
    let at_least = space.states_at_least();
    if at_least > 2 * limit as u128 {
        let states = u64::try_from(at_least).unwrap_or(u64::MAX);
        return Err(SolverError::TooManyStates { states, limit });
    }
    memory.check(at_least, index.bytes_per_state())?;
    let mut window = space.empty();
    index.insert(&window);
    let mut graph = Graph::new();
    let mut cost_index: HashMap<i128, u32> = HashMap::new();
    let mut actions = Vec::new();
    let mut next = Vec::new();
    // The number of states found before every window is full of plays, the current depth and its first state.
    let (mut starting, mut depth, mut depth_end) = (1, 0, 1);
    let mut state = 0;
    while state < index.len() {
        interrupt.check()?;
        if state == depth_end {
            depth += 1;
            depth_end = index.len();
            if depth < space.length {
                starting = depth_end;
            }
        }
        index.read(state, &mut window);
        space.actions(&window, &mut actions);
        for &arm in &actions {
            let excess = space.excess(&window, arm)?;
            next.clone_from(&window);
            space.advance(&mut next, arm);
            space.canonicalise(&mut next);
            let target = index.insert(&next);
            let cost = *cost_index.entry(excess).or_insert_with(|| graph.add_cost(excess));
            graph.add_edge(Edge { target, cost, arm });
        }
        if index.len() > limit + starting.min(limit) {
            return Err(SolverError::TooManyStates { states: index.len() as u64, limit });
        }
        if graph.edge_count() > EDGE_LIMIT {
            return Err(SolverError::TooManyPlays { states: index.len() as u64, limit: EDGE_LIMIT });
        }
        let per_state = index.bytes_per_state() + size_of::<Edge>() * graph.edge_count() / (state + 1);
        memory.check(index.len() as u128, per_state)?;
        graph.close_state();
        state += 1;
    }
    graph.shrink();
    Ok(graph)
}

/// About how much memory the graph of this many states, with this many edges each, takes while it is built.
pub(crate) fn memory_estimate(space: &StateSpace<'_>, states: u128, edges: usize) -> u128 {
    let per_state = StateIndex::new(space).bytes_per_state() + edges * size_of::<Edge>();
    states.saturating_mul(per_state as u128)
}

/// The memory of a box beside its content: the pointer, the length, and the overhead of the allocator.
const BOX: usize = 32;
/// The memory of a state beside its window and its edges.
pub(super) const PER_STATE: usize = 128;

/// Numbers windows in the order in which they are first seen. Windows are packed into an integer where they fit.
enum StateIndex {
    Packed { bits: u32, numbers: FxHashMap<u128, u32>, windows: Vec<u128> },
    Plain { length: usize, numbers: FxHashMap<Box<[u32]>, u32>, windows: Vec<Box<[u32]>> },
}

impl StateIndex {
    fn new(space: &StateSpace<'_>) -> Self {
        // One value more than there are arms, for the blank.
        let bits = usize::BITS - space.game().arms().len().leading_zeros();
        if bits as usize * space.length <= 128 {
            Self::Packed { bits, numbers: FxHashMap::default(), windows: Vec::new() }
        } else {
            Self::Plain { length: space.length, numbers: FxHashMap::default(), windows: Vec::new() }
        }
    }

    /// About how much memory a state takes, without its edges: its window twice, a number, the slots of the hash table
    /// and of the list that are reserved for growth, and what the planner keeps for each state.
    fn bytes_per_state(&self) -> usize {
        let window = match self {
            Self::Packed { .. } => 2 * size_of::<u128>(),
            Self::Plain { length, .. } => 2 * (length * size_of::<u32>() + BOX),
        };
        window + PER_STATE
    }

    fn len(&self) -> usize {
        match self {
            Self::Packed { windows, .. } => windows.len(),
            Self::Plain { windows, .. } => windows.len(),
        }
    }

    fn insert(&mut self, window: &[u32]) -> u32 {
        match self {
            Self::Packed { bits, numbers, windows } => {
                let packed = window.iter().fold(0, |packed, &arm| packed << *bits | u128::from(arm.wrapping_add(1)));
                *numbers.entry(packed).or_insert_with(|| {
                    windows.push(packed);
                    windows.len() as u32 - 1
                })
            }
            Self::Plain { numbers, windows, .. } => {
                if let Some(&number) = numbers.get(window) {
                    return number;
                }
                let number = windows.len() as u32;
                numbers.insert(window.into(), number);
                windows.push(window.into());
                number
            }
        }
    }

    fn read(&self, number: usize, window: &mut [u32]) {
        match self {
            Self::Packed { bits, windows, .. } => {
                let mut packed = windows[number];
                for slot in window.iter_mut().rev() {
                    *slot = ((packed & ((1 << *bits) - 1)) as u32).wrapping_sub(1);
                    packed >>= *bits;
                }
            }
            Self::Plain { windows, .. } => window.copy_from_slice(&windows[number]),
        }
    }
}
