//! Why planning failed.

use crate::Interrupted;

/// Why planning on a graph failed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum PlanningError {
    /// More bytes than the limit; at least this many are needed.
    TooMuchMemory {
        bytes: u64,
        limit: u64,
    },
    Interrupted(Interrupted),
}

impl From<Interrupted> for PlanningError {
    fn from(interrupted: Interrupted) -> Self {
        Self::Interrupted(interrupted)
    }
}
