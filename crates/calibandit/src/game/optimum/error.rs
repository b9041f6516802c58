//! Why the optimum is not known.

use crate::planning::error::PlanningError;
use crate::planning::fixed_point::LONGEST;
use crate::{CurveLeftRange, Interrupted};

/// Why the optimum is not known.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum OptimumError {
    /// The horizon is 0.
    #[error("the horizon is 0: there must be at least one play")]
    NoHorizon,
    /// The horizon is too long to count plays exactly.
    #[error("the horizon is {horizon}, but the optimum is exact only up to {} plays", LONGEST)]
    HorizonTooLong {
        /// The horizon.
        horizon: u64,
    },
    /// The game is too large. [`optimum_bounds`](super::optimum_bounds) has bounds all the same.
    #[error(
        "the game is too large for its exact optimum: it has at least {states_at_least} merged states, and the limit \
         is {limit}{}; {ADVICE}",
        after_search(*.searched)
    )]
    TooManyStates {
        /// The number of states that were found before giving up, or a lower bound that shows that there are too many.
        states_at_least: u64,
        /// The limit.
        limit: usize,
        /// The number of windows that best-first search expanded before it reached its limit; 0 if the game is not
        /// known to satisfy 0-REO.
        searched: u64,
    },
    /// The game has few states but too many arms to play in each. [`optimum_bounds`](super::optimum_bounds) has bounds
    /// all the same.
    #[error(
        "the game is too large for its exact optimum: it has {states} merged states or more with over {limit} \
         different plays in all{}; {ADVICE}",
        after_search(*.searched)
    )]
    TooManyPlays {
        /// The number of states that were found before giving up.
        states: u64,
        /// The limit on the sum over all states of the arms that can be played there.
        limit: usize,
        /// The number of windows that best-first search expanded before it reached its limit; 0 if the game is not
        /// known to satisfy 0-REO.
        searched: u64,
    },
    /// Computing the optimum would take too much memory. [`optimum_bounds`](super::optimum_bounds) has bounds all the
    /// same.
    #[error(
        "the game is too large for its exact optimum, which takes at least {} of memory, and the limit is {}{}; \
         {ADVICE}",
        megabytes(*.bytes_at_least),
        megabytes(*.limit),
        after_search(*.searched)
    )]
    TooMuchMemory {
        /// A lower bound of the memory in bytes.
        bytes_at_least: u64,
        /// The limit in bytes, [`Limits::bytes`](super::Limits::bytes).
        limit: u64,
        /// The number of windows that best-first search expanded before it reached its limit; 0 if the game is not
        /// known to satisfy 0-REO.
        searched: u64,
    },
    /// The beginning of the best sequence for a horizon is not determined.
    #[error(
        "there is no single beginning of the best sequence for the horizon {horizon}, because the game is not one of \
         rested arms in which one arm is best or no loss ever falls: compare with the optimum of each time instead \
         (`reference = \"time\"`)"
    )]
    NoPlan {
        /// The horizon.
        horizon: u64,
    },
    /// The optimum of a rested game would take too many steps. [`optimum_bounds`](super::optimum_bounds) has bounds all
    /// the same.
    #[error(
        "the game is too large for its exact optimum, which takes at least {steps_at_least} steps, and the limit is \
         {limit}; choose a shorter horizon, fewer arms, or curves that are flat, only rise or only fall"
    )]
    TooManySteps {
        /// A lower bound of the number of steps.
        steps_at_least: u64,
        /// The limit.
        limit: u64,
    },
    /// A loss function returned something outside [0, 1].
    #[error(transparent)]
    CurveLeftRange(#[from] CurveLeftRange),
    /// The computation was stopped by its [`Interrupt`](crate::Interrupt).
    #[error(transparent)]
    Interrupted(#[from] Interrupted),
}

/// What to do about a game that is too large.
const ADVICE: &str = "choose a shorter memory, fewer arms, or arms that are alike";

impl OptimumError {
    /// Whether the game is too large for the limits, so that [`optimum_bounds`](super::optimum_bounds) is what can be
    /// known.
    pub fn is_too_large(&self) -> bool {
        matches!(
            self,
            Self::TooManyStates { .. }
                | Self::TooManyPlays { .. }
                | Self::TooMuchMemory { .. }
                | Self::TooManySteps { .. }
        )
    }
}

fn after_search(searched: u64) -> String {
    match searched {
        0 => String::new(),
        _ => format!(" (best-first search gave up after {searched} windows)"),
    }
}

fn megabytes(bytes: u64) -> String {
    format!("{} MB", bytes.div_ceil(1_000_000))
}

/// Why one way of solving a game failed.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum SolverError {
    /// More states than the limit; there are at least this many.
    TooManyStates {
        states: u64,
        limit: usize,
    },
    /// More edges than the limit; this many states were found before giving up.
    TooManyPlays {
        states: u64,
        limit: usize,
    },
    /// More bytes than the limit; at least this many are needed.
    TooMuchMemory {
        bytes: u64,
        limit: u64,
    },
    CurveLeftRange(CurveLeftRange),
    Interrupted(Interrupted),
}

impl SolverError {
    /// The error after best-first search has expanded this many windows.
    pub(crate) fn into_error(self, searched: u64) -> OptimumError {
        match self {
            Self::TooManyStates { states, limit } => {
                OptimumError::TooManyStates { states_at_least: states, limit, searched }
            }
            Self::TooManyPlays { states, limit } => OptimumError::TooManyPlays { states, limit, searched },
            Self::TooMuchMemory { bytes, limit } => {
                OptimumError::TooMuchMemory { bytes_at_least: bytes, limit, searched }
            }
            Self::CurveLeftRange(error) => error.into(),
            Self::Interrupted(interrupted) => interrupted.into(),
        }
    }
}

impl From<SolverError> for OptimumError {
    fn from(error: SolverError) -> Self {
        error.into_error(0)
    }
}

impl From<CurveLeftRange> for SolverError {
    fn from(error: CurveLeftRange) -> Self {
        Self::CurveLeftRange(error)
    }
}

impl From<PlanningError> for SolverError {
    fn from(error: PlanningError) -> Self {
        match error {
            PlanningError::TooMuchMemory { bytes, limit } => Self::TooMuchMemory { bytes, limit },
            PlanningError::Interrupted(interrupted) => Self::Interrupted(interrupted),
        }
    }
}

impl From<Interrupted> for SolverError {
    fn from(interrupted: Interrupted) -> Self {
        Self::Interrupted(interrupted)
    }
}
