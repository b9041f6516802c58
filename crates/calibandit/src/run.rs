//! Runs, their feedback, and what a policy is told about a problem.
//!
//! These types are below games and policies: a game produces [`Feedback`], a policy asks for [`Run`]s and is told a
//! [`Problem`]; a [`GameClass`] says what a policy assumes about a game. This module contains no algorithm and knows
//! neither of the two.

mod game_class;

pub use game_class::GameClass;

use std::ops::AddAssign;

/// What a policy is told before its first run: the number of arms and, where it is known, the number of plays.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Problem {
    /// The number of arms, the paper's K.
    pub arms: usize,
    /// The number of plays, the paper's T; `None` if it is not known.
    pub horizon: Option<u64>,
}

impl Problem {
    /// The most arms that games, policies and advisors can have. More are refused before anything is allocated.
    pub const MOST_ARMS: usize = 1 << 24;
}

/// One request of a policy: `burn_in` plays of an arm whose losses are ignored, then `record` plays of the same arm
/// whose losses are recorded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Run {
    /// The arm to play.
    pub arm: usize,
    /// The number of plays whose losses are ignored.
    pub burn_in: u64,
    /// The number of recorded plays after the burn-in. `u64::MAX` means: until the end.
    pub record: u64,
}

impl Run {
    /// A run of this arm until the end of the game.
    pub fn forever(arm: usize) -> Self {
        Self { arm, burn_in: 0, record: u64::MAX }
    }

    /// The number of plays, burn-in included.
    pub fn plays(&self) -> u64 {
        self.burn_in.saturating_add(self.record)
    }
}

/// What a policy learns from a run: the number, the sum and the sum of squares of the recorded losses.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Feedback {
    /// The number of recorded plays.
    pub plays: u64,
    /// The sum of their losses.
    pub sum: f64,
    /// The sum of the squares of their losses, for policies that use the variance.
    pub sum_sq: f64,
}

impl Feedback {
    /// The feedback of a single play.
    pub fn one(loss: f64) -> Self {
        Self { plays: 1, sum: loss, sum_sq: loss * loss }
    }

    /// The mean recorded loss; NaN if nothing was recorded.
    pub fn mean(&self) -> f64 {
        self.sum / self.plays as f64
    }
}

impl AddAssign for Feedback {
    fn add_assign(&mut self, other: Self) {
        self.plays += other.plays;
        self.sum += other.sum;
        self.sum_sq += other.sum_sq;
    }
}
