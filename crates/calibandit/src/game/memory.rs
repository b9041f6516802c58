//! The memory of an arm as people write it: a number of plays, or all plays since the beginning.

use std::fmt;

/// How far back plays of an arm matter.
///
/// ```
/// use calibandit::Memory;
/// assert_eq!(serde_json::from_str::<Memory>("3")?, Memory::Plays(3));
/// assert_eq!(serde_json::from_str::<Memory>("\"all\"")?, Memory::All);
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Memory {
    /// The last so many plays of the game, as in the paper.
    Plays(usize),
    /// Every play since the beginning: the arm is rested, its loss depends on how often it was played.
    All,
}

impl Memory {
    /// The word for [`Memory::All`] in files.
    const WORD: &str = "all";

    /// A number of plays: `usize::MAX` for [`Memory::All`], which no window reaches.
    pub fn plays(self) -> usize {
        match self {
            Self::Plays(plays) => plays,
            Self::All => usize::MAX,
        }
    }
}

impl From<usize> for Memory {
    fn from(plays: usize) -> Self {
        Self::Plays(plays)
    }
}

impl fmt::Display for Memory {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Plays(plays) => plays.fmt(f),
            Self::All => f.write_str(Self::WORD),
        }
    }
}

#[cfg(feature = "serde")]
mod files {
    use serde::de::{Error, Unexpected, Visitor};
    use serde::{Deserialize, Deserializer, Serialize, Serializer};

    use super::{Memory, fmt};

    impl Serialize for Memory {
        fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
            match self {
                Self::Plays(plays) => serializer.serialize_u64(*plays as u64),
                Self::All => serializer.serialize_str(Self::WORD),
            }
        }
    }

    impl<'de> Deserialize<'de> for Memory {
        fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
            deserializer.deserialize_any(MemoryVisitor)
        }
    }

    struct MemoryVisitor;

    impl Visitor<'_> for MemoryVisitor {
        type Value = Memory;

        fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            f.write_str("a number of plays, or \"all\"")
        }

        fn visit_u64<E: Error>(self, plays: u64) -> Result<Memory, E> {
            usize::try_from(plays).map(Memory::Plays).map_err(|_| E::invalid_value(Unexpected::Unsigned(plays), &self))
        }

        fn visit_i64<E: Error>(self, plays: i64) -> Result<Memory, E> {
            usize::try_from(plays).map(Memory::Plays).map_err(|_| E::invalid_value(Unexpected::Signed(plays), &self))
        }

        fn visit_str<E: Error>(self, word: &str) -> Result<Memory, E> {
            match word {
                Memory::WORD => Ok(Memory::All),
                other => Err(E::invalid_value(Unexpected::Str(other), &self)),
            }
        }
    }
}

#[cfg(feature = "schema")]
impl schemars::JsonSchema for Memory {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "Memory".into()
    }

    fn inline_schema() -> bool {
        true
    }

    fn json_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
        schemars::json_schema!({
            "anyOf": [
                { "type": "integer", "minimum": 1 },
                { "const": "all", "description": "Every play since the beginning." },
            ],
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_memory_is_a_number_or_the_word_all() {
        for (text, memory) in [("7", Memory::Plays(7)), ("\"all\"", Memory::All)] {
            assert_eq!(serde_json::from_str::<Memory>(text).unwrap(), memory);
            assert_eq!(serde_json::to_string(&memory).unwrap(), text);
        }
        for bad in ["-1", "1.5", "\"every\"", "[1]", "true"] {
            let message = serde_json::from_str::<Memory>(bad).unwrap_err().to_string();
            assert!(message.contains("or \"all\""), "{bad}: {message}");
        }
    }
}
