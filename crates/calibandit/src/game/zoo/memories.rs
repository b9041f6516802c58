//! The memories of the arms of a game: one for all, or one for each.

use super::check;
use crate::game::{GameError, Memory};

/// A memory that all arms share, or a list with one for each arm.
#[derive(Clone, Debug, PartialEq, Eq)]
#[cfg_attr(
    feature = "serde",
    derive(serde::Serialize, serde::Deserialize),
    serde(untagged, expecting = "expected a number of plays, \"all\", or a list with one of them for each arm")
)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub enum Memories {
    /// The same for every arm.
    Same(Memory),
    /// One for each arm, in their order.
    Each(Vec<Memory>),
}

impl Memories {
    /// Checks the memories of so many arms.
    pub(super) fn check(&self, arms: usize) -> Result<(), GameError> {
        if let Self::Each(list) = self
            && list.len() != arms
        {
            let expected = "one memory for all arms, or as many as there are arms";
            return Err(GameError::Parameter { parameter: "memory", value: list.len() as f64, expected });
        }
        (0..arms.min(self.different())).try_for_each(|arm| match self.of(arm) {
            Memory::Plays(memory) => check::memory("memory", memory, arms),
            Memory::All => Ok(()),
        })
    }

    fn different(&self) -> usize {
        match self {
            Self::Same(_) => 1,
            Self::Each(list) => list.len(),
        }
    }

    /// The memory of an arm.
    pub(super) fn of(&self, arm: usize) -> Memory {
        match self {
            Self::Same(memory) => *memory,
            Self::Each(list) => list[arm],
        }
    }

    /// As titles have it: `m = 6`, `m = 4 to 8` or `rested`.
    pub(super) fn title(&self) -> String {
        match self {
            Self::Same(Memory::All) => "rested".to_owned(),
            Self::Same(Memory::Plays(memory)) => format!("m = {memory}"),
            Self::Each(list) => {
                let plays = || list.iter().map(|memory| memory.plays());
                match (plays().min(), plays().max()) {
                    (Some(usize::MAX), _) => "rested".to_owned(),
                    (Some(least), Some(most)) if least < most => format!("m = {least} to {most}"),
                    (Some(least), _) => format!("m = {least}"),
                    (None, _) => "no memory".to_owned(),
                }
            }
        }
    }
}
