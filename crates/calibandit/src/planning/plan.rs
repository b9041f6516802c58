//! A plan: a prefix, a repeated cycle and a tail.

/// A best walk as the arms of its plays, by their names in the graph.
#[derive(Clone, Debug)]
pub(crate) struct Plan {
    /// The cost of its plays, in units.
    pub(crate) excess: i128,
    pub(crate) prefix: Vec<u32>,
    pub(crate) cycle: Vec<u32>,
    pub(crate) repeats: u64,
    pub(crate) tail: Vec<u32>,
}
