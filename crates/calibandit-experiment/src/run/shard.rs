//! Shards: parts of the work of an experiment that can be run on different machines.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

/// Shard `index` of `of`, counted from 1. It has every `of`-th task, so that all shards cost about the same.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "UncheckedShard")]
pub struct Shard {
    index: usize,
    of: usize,
}

/// What is read from a file, before it is checked.
#[derive(Deserialize)]
struct UncheckedShard {
    index: usize,
    of: usize,
}

impl TryFrom<UncheckedShard> for Shard {
    type Error = ShardError;

    fn try_from(UncheckedShard { index, of }: UncheckedShard) -> Result<Self, ShardError> {
        Shard::new(index, of)
    }
}

/// Upper limit on the number of shards: as many as an experiment may have instances.
const MOST_SHARDS: usize = 1_000_000;

/// A text or a pair of numbers that is not a shard.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` is not a shard: give I/N with I from 1 to N, such as 2/8, and N at most {MOST_SHARDS}")]
pub struct ShardError(String);

impl Shard {
    /// All of the work.
    pub const WHOLE: Shard = Shard { index: 1, of: 1 };

    /// Shard `index` of `of`, counted from 1.
    ///
    /// # Errors
    /// [`ShardError`] unless `index` is from 1 to `of`, and `of` at most a million.
    pub fn new(index: usize, of: usize) -> Result<Self, ShardError> {
        let is_shard = index >= 1 && index <= of && of <= MOST_SHARDS;
        if is_shard { Ok(Self { index, of }) } else { Err(ShardError(format!("{index}/{of}"))) }
    }

    /// Whether the task with this number, from 0, belongs to this shard.
    pub fn has(&self, task: usize) -> bool {
        task % self.of == self.index - 1
    }

    /// How many of this many tasks belong to this shard.
    pub(crate) fn count(&self, tasks: u64) -> u64 {
        let (index, of) = (self.index as u64, self.of as u64);
        tasks.saturating_sub(index - 1).div_ceil(of)
    }

    /// The number of this shard, from 1.
    pub fn index(&self) -> usize {
        self.index
    }

    /// The number of shards.
    pub fn of(&self) -> usize {
        self.of
    }
}

impl Default for Shard {
    fn default() -> Self {
        Self::WHOLE
    }
}

impl FromStr for Shard {
    type Err = ShardError;

    fn from_str(text: &str) -> Result<Self, ShardError> {
        let parts = text.split_once('/').and_then(|(i, n)| Some((i.trim().parse().ok()?, n.trim().parse().ok()?)));
        let (index, of) = parts.ok_or_else(|| ShardError(text.to_string()))?;
        Self::new(index, of)
    }
}

impl fmt::Display for Shard {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.index, self.of)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_task_belongs_to_one_shard() {
        for of in 1..6 {
            for task in 0..40 {
                let having = (1..=of).filter(|&i| Shard::new(i, of).unwrap().has(task)).count();
                assert_eq!(having, 1);
            }
            for (index, tasks) in (1..=of).flat_map(|index| (0..20).map(move |tasks| (index, tasks))) {
                let shard = Shard::new(index, of).unwrap();
                assert_eq!(shard.count(tasks), (0..tasks).filter(|&task| shard.has(task as usize)).count() as u64);
            }
        }
    }

    #[test]
    fn shards_of_files_are_checked() {
        let read = |text: &str| serde_json::from_str::<Shard>(text).map_err(|error| error.to_string());
        assert_eq!(read("{\"index\": 2, \"of\": 3}"), Ok(Shard::new(2, 3).unwrap()));
        for (index, of) in [(0, 3), (4, 3), (1, 0), (0, 0), (1, 1_000_000_000_000_u64)] {
            let refused = read(&format!("{{\"index\": {index}, \"of\": {of}}}")).unwrap_err();
            assert!(refused.contains("from 1 to N"), "{refused}");
        }
    }

    #[test]
    fn shards_are_counted_from_one() {
        assert_eq!("2/8".parse(), Shard::new(2, 8));
        assert_eq!(Shard::new(2, 8).unwrap().to_string(), "2/8");
        for bad in ["0/4", "5/4", "1", "1/0", "a/b", "", "-1/2", "1/2/3", "1/1000001"] {
            let refused = bad.parse::<Shard>().unwrap_err();
            assert!(refused.to_string().contains("from 1 to N"), "{refused}");
        }
    }
}
