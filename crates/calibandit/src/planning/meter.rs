//! The work and the memory of planning.

use crate::{Interrupt, Interrupted};

use super::error::PlanningError;

/// Counts work and reads the stop flag.
pub(crate) struct WorkMeter<'a> {
    /// The number of edges visited so far.
    pub(crate) edges: u64,
    interrupt: Interrupt<'a>,
}

impl<'a> WorkMeter<'a> {
    pub(crate) fn new(interrupt: Interrupt<'a>) -> Self {
        Self { edges: 0, interrupt }
    }

    /// Counts edges; an error if the stop flag is set.
    #[inline(always)]
    pub(crate) fn visit(&mut self, edges: u64) -> Result<(), Interrupted> {
        self.edges += edges;
        self.interrupt.check()
    }
}

/// A limit on the memory of a solver, in bytes.
#[derive(Clone, Copy)]
pub(crate) struct MemoryLimit(pub(crate) u64);

impl MemoryLimit {
    /// An error if `count` items of this size take more.
    pub(crate) fn check(self, count: u128, bytes_each: usize) -> Result<(), PlanningError> {
        let bytes = count.saturating_mul(bytes_each as u128);
        if bytes <= u128::from(self.0) {
            return Ok(());
        }
        Err(PlanningError::TooMuchMemory { bytes: u64::try_from(bytes).unwrap_or(u64::MAX), limit: self.0 })
    }
}
