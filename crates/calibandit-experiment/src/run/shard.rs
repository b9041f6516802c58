//! Shards: parts of the work of an experiment that can be run on different machines.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

/// Shard `index` of `of`, counted from 1. It has every `of`-th task, so that all shards cost about the same.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Shard {
    index: usize,
    of: usize,
}

/// A text or a pair of numbers that is not a shard.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` is not a shard: give I/N with I from 1 to N, such as 2/8")]
pub struct ShardError(String);

impl Shard {
    /// All of the work.
    pub const WHOLE: Shard = Shard { index: 1, of: 1 };

    /// Shard `index` of `of`, counted from 1.
    ///
    /// # Errors
    /// [`ShardError`] unless `index` is from 1 to `of`.
    pub fn new(index: usize, of: usize) -> Result<Self, ShardError> {
        if index >= 1 && index <= of { Ok(Self { index, of }) } else { Err(ShardError(format!("{index}/{of}"))) }
    }

    /// Whether the task with this number, from 0, belongs to this shard.
    pub fn has(&self, task: usize) -> bool {
        task % self.of == self.index - 1
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
        }
    }

    #[test]
    fn shards_are_counted_from_one() {
        assert_eq!("2/8".parse(), Shard::new(2, 8));
        assert_eq!(Shard::new(2, 8).unwrap().to_string(), "2/8");
        for bad in ["0/4", "5/4", "1", "1/0", "a/b", "", "-1/2", "1/2/3"] {
            let refused = bad.parse::<Shard>().unwrap_err();
            assert!(refused.to_string().contains("from 1 to N"), "{refused}");
        }
    }
}
