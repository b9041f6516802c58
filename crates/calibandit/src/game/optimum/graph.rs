//! The graph of a game: its canonical windows as states, plays as edges.

use std::collections::HashMap;
use std::hash::{BuildHasherDefault, Hasher};

use super::OptimumError;
use super::state_space::StateSpace;

/// More edges than this are not kept, whatever the number of states.
const EDGE_LIMIT: usize = 64_000_000;

/// One play.
#[derive(Clone, Copy)]
pub(crate) struct Edge {
    pub(crate) target: u32,
    /// StateIndex into the graph's costs: few losses differ.
    cost: u32,
    /// The arm, in the source window's canonical naming.
    pub(crate) arm: u32,
}

/// All canonical windows that can be reached from the empty one, which is state 0.
pub(crate) struct Graph {
    edges: Vec<Edge>,
    /// Where each state's edges begin; one entry more than there are states.
    first: Vec<u32>,
    costs: Vec<i128>,
}

impl Graph {
    /// Explores the game, breadth first. Windows of the first plays, which never come back, are not counted against the
    /// limit, but their number is limited in the same way.
    pub(crate) fn new(space: &StateSpace<'_>, limit: usize) -> Result<Self, OptimumError> {
        let mut index = StateIndex::new(space);
        let mut window = space.empty();
        index.insert(&window);
        let mut graph = Self { edges: Vec::new(), first: vec![0], costs: Vec::new() };
        let mut cost_index: HashMap<i128, u32> = HashMap::new();
        let mut actions = Vec::new();
        let mut next = Vec::new();
        // States found before every window is full of plays, and the first state of the current depth.
        let (mut starting, mut depth, mut depth_end) = (1, 0, 1);
        let mut state = 0;
        while state < index.len() {
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
                let costs = &mut graph.costs;
                let cost = *cost_index.entry(excess).or_insert_with(|| {
                    costs.push(excess);
                    costs.len() as u32 - 1
                });
                graph.edges.push(Edge { target, cost, arm });
            }
            if index.len() > limit + starting.min(limit) {
                return Err(OptimumError::TooManyStates { states_at_least: index.len() as u64, limit, searched: 0 });
            }
            if graph.edges.len() > EDGE_LIMIT {
                let states = index.len() as u64;
                return Err(OptimumError::TooManyPlays { states, limit: EDGE_LIMIT, searched: 0 });
            }
            graph.first.push(graph.edges.len() as u32);
            state += 1;
        }
        graph.edges.shrink_to_fit();
        Ok(graph)
    }

    pub(crate) fn states(&self) -> usize {
        self.first.len() - 1
    }

    pub(crate) fn edge_count(&self) -> usize {
        self.edges.len()
    }

    /// The indices of a state's edges.
    pub(crate) fn edges_of(&self, state: u32) -> std::ops::Range<usize> {
        self.first[state as usize] as usize..self.first[state as usize + 1] as usize
    }

    pub(crate) fn edge(&self, edge: usize) -> Edge {
        self.edges[edge]
    }

    /// What a play costs, in units above mu(x*).
    pub(crate) fn cost(&self, edge: usize) -> i128 {
        self.costs[self.edges[edge].cost as usize]
    }
}

/// Hashes packed windows by multiplication: nobody chooses them to collide, and there are millions.
#[derive(Default)]
struct Mix(u64);

impl Hasher for Mix {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, bytes: &[u8]) {
        bytes.iter().for_each(|&byte| self.write_u128(u128::from(byte)));
    }

    fn write_u128(&mut self, packed: u128) {
        const ODD: u64 = 0x9e37_79b9_7f4a_7c15;
        let folded = (packed as u64).wrapping_mul(ODD) ^ ((packed >> 64) as u64).rotate_left(32) ^ self.0;
        let product = u128::from(folded) * u128::from(ODD);
        self.0 = product as u64 ^ (product >> 64) as u64;
    }
}

/// Numbers windows in the order they are first seen. Windows are packed into an integer wherever they fit.
enum StateIndex {
    Packed { bits: u32, numbers: HashMap<u128, u32, BuildHasherDefault<Mix>>, windows: Vec<u128> },
    Plain { numbers: HashMap<Box<[u32]>, u32>, windows: Vec<Box<[u32]>> },
}

impl StateIndex {
    fn new(space: &StateSpace<'_>) -> Self {
        // One more than there are arms, for the blank.
        let bits = usize::BITS - space.game().arms().len().leading_zeros();
        if bits as usize * space.length <= 128 {
            Self::Packed { bits, numbers: HashMap::default(), windows: Vec::new() }
        } else {
            Self::Plain { numbers: HashMap::new(), windows: Vec::new() }
        }
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
            Self::Plain { numbers, windows } => {
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
