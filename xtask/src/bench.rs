//! `cargo xtask bench`: this project and its peers side by side on this machine, the same work for all.
//!
//! Make the contestants ready, compare them, measure how cost grows, time the whole of `calibandit paper`, count
//! instructions: what these steps find is kept in `target/bench/`. One more puts it into docs/benchmarks.md, and only the last
//! one fails if contestants did not do the same work or instructions grew, so that the page is there to look at. Time is
//! CPU time of all threads, the least of several tries, because other programs on the machine can only make it longer.

mod arena;
mod contestants;
mod counts;
mod everyone;
mod growth;
mod page;
mod paper;
mod ratios;

use std::path::PathBuf;
use std::{fs, io};

use crate::shell;
use crate::steps::{Failure, Tally};

pub(crate) use contestants::prepare;
pub(crate) use counts::count;
pub(crate) use growth::grow;
pub(crate) use page::write;
pub(crate) use paper::time;
pub(crate) use ratios::compare;

/// What one contestant plays: the paper's unweighted game.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Workload {
    policy: &'static str,
    arms: u64,
    memory: u64,
    horizon: u64,
    instances: u64,
}

impl Workload {
    /// 20 instances of the usual game: K = 5, m = M = 3, T = 10^6.
    const fn usual(policy: &'static str) -> Self {
        Self { policy, arms: 5, memory: 3, horizon: 1_000_000, instances: 20 }
    }

    fn plays(&self) -> f64 {
        self.horizon as f64 * self.instances as f64
    }

    fn arguments(&self) -> Vec<String> {
        let numbers = [self.arms, self.memory, self.horizon, self.instances];
        std::iter::once(self.policy.to_string()).chain(numbers.map(|number| number.to_string())).collect()
    }
}

/// What a contestant says: CPU time, and the mean excess loss over instances with its standard error.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Measured {
    seconds: f64,
    mean: f64,
    error: f64,
    instances: u64,
}

impl Measured {
    /// From the last line: libraries have things to say before.
    fn parse(output: &str, instances: u64) -> Option<Self> {
        let mut numbers = output.lines().last()?.split_whitespace().map(str::parse);
        let (Some(Ok(seconds)), Some(Ok(mean)), Some(Ok(error))) = (numbers.next(), numbers.next(), numbers.next())
        else {
            return None;
        };
        Some(Self { seconds, mean, error, instances })
    }

    /// Whether two contestants can have played the same game: within five standard errors. Each needs several instances.
    ///
    /// If they did, their losses have the same variance, so it is taken from both together: twenty instances of successive
    /// elimination can all have the same loss, which is not to say that the twenty-first has it too.
    fn agrees_with(&self, other: &Self) -> bool {
        let [n, m] = [self.instances, other.instances].map(|instances| instances as f64);
        let squares = (n - 1.0) * n * self.error.powi(2) + (m - 1.0) * m * other.error.powi(2);
        let error = (squares / (n + m - 2.0) * (1.0 / n + 1.0 / m)).sqrt();
        (self.mean - other.mean).abs() <= 5.0 * error + 1e-6 * self.mean.abs()
    }
}

/// Where results are kept between steps.
fn kept(name: &str) -> PathBuf {
    shell::root().join("target/bench").join(name)
}

fn keep(name: &str, text: &str) -> Result<Tally, Failure> {
    let path = kept(name);
    let write = || -> io::Result<()> {
        path.parent().map_or(Ok(()), fs::create_dir_all)?;
        fs::write(&path, text)
    };
    write().map_err(|error| Failure::File { path: path.clone(), error })?;
    Ok(Tally::default())
}

/// Where the steps leave what the last one fails for, a line each.
const DISAGREEMENTS: &str = "disagreements.txt";
const SLOWER: &str = "slower.txt";

/// Fails if contestants did not do the same work, or something takes more instructions than before.
pub(crate) fn judge() -> Result<Tally, Failure> {
    let lines = |name: &str| -> Vec<String> {
        fs::read_to_string(kept(name)).unwrap_or_default().lines().map(str::to_string).collect()
    };
    match (lines(DISAGREEMENTS), lines(SLOWER)) {
        (found, _) if !found.is_empty() => Err(Failure::Disagreement { found }),
        (_, found) if !found.is_empty() => Err(Failure::Slower { found }),
        _ => Ok(Tally::default()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn contestants_answer_with_three_numbers() {
        let measured = Measured::parse("0.25 43014.5 3711.25\n", 20).unwrap();
        assert_eq!(measured, Measured { seconds: 0.25, mean: 43014.5, error: 3711.25, instances: 20 });
        assert_eq!(Measured::parse("Warning: no tqdm\n\n0.25 43014.5 3711.25", 20), Some(measured));
        assert_eq!(Measured::parse("0.25 43014.5", 20), None);
        assert_eq!(Measured::parse("Traceback (most recent call last)", 20), None);
    }

    #[test]
    fn agreement_is_a_matter_of_standard_errors() {
        let of = |mean, error, instances| Measured { seconds: 1.0, mean, error, instances };
        // As many instances each: a joint standard error of 5.
        assert!(of(100.0, 3.0, 20).agrees_with(&of(124.9, 4.0, 20)));
        assert!(!of(100.0, 3.0, 20).agrees_with(&of(125.1, 4.0, 20)));
        assert!(!of(100.0, f64::NAN, 20).agrees_with(&of(100.0, 1.0, 20)));
        // Deviation 10 in 10,000 instances, none in 4 by accident: a standard error of 5 for the mean of those.
        assert!(of(100.0, 0.1, 10_000).agrees_with(&of(124.0, 0.0, 4)));
        assert!(!of(100.0, 0.1, 10_000).agrees_with(&of(126.0, 0.0, 4)));
    }
}
