//! `cargo xtask bench`: measures this project and its peers on this machine, all on the same work.
//!
//! The steps build the implementations, compare them, measure how cost grows, time `calibandit paper` and count
//! instructions. Each step stores what it finds in `target/bench/`. One more step writes docs/benchmarks.md from that,
//! and only the last one fails if implementations disagree or instruction counts grew, so that the page can be read in
//! that case too. Times are CPU times of all threads, the least of several tries, because other programs on the machine
//! can only make them longer.

mod costs;
mod growth;
mod implementations;
mod instructions;
mod measurements;
mod page;
mod paper;
mod ratios;
mod rested;

use std::path::PathBuf;
use std::{fs, io};

use crate::outcome::{StepError, StepOutcome};
use crate::requirements::Machine;
use crate::shell;

pub(crate) use growth::measure_growth;
pub(crate) use implementations::prepare;
pub(crate) use instructions::count_instructions;
pub(crate) use page::write_page;
pub(crate) use paper::time_paper;
pub(crate) use ratios::compare;

/// The work that is measured: one policy on instances of the paper's unweighted game, or of a game of rotting arms if
/// the memory is 0.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Workload {
    policy: &'static str,
    arms: u64,
    memory: u64,
    horizon: u64,
    instances: u64,
}

impl Workload {
    /// 20 instances of the standard game: K = 5, m = M = 3, T = 10^6.
    const fn standard(policy: &'static str) -> Self {
        Self { policy, arms: 5, memory: 3, horizon: 1_000_000, instances: 20 }
    }

    /// 20 instances of rotting arms.
    const fn rested(policy: &'static str, arms: u64, horizon: u64) -> Self {
        Self { policy, arms, memory: 0, horizon, instances: 20 }
    }

    fn plays(&self) -> f64 {
        self.horizon as f64 * self.instances as f64
    }

    fn arguments(&self) -> Vec<String> {
        let numbers = [self.arms, self.memory, self.horizon, self.instances];
        std::iter::once(self.policy.to_string()).chain(numbers.map(|number| number.to_string())).collect()
    }
}

/// What an implementation reports: CPU time, and the mean excess loss over instances with its standard error.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Measurement {
    seconds: f64,
    mean: f64,
    error: f64,
    instances: u64,
}

impl Measurement {
    /// Reads the last line of the output, because libraries print warnings before it.
    fn parse(output: &str, instances: u64) -> Option<Self> {
        let mut numbers = output.lines().last()?.split_whitespace().map(str::parse);
        let (Some(Ok(seconds)), Some(Ok(mean)), Some(Ok(error))) = (numbers.next(), numbers.next(), numbers.next())
        else {
            return None;
        };
        Some(Self { seconds, mean, error, instances })
    }

    /// Whether two implementations can have played the same game: whether their means agree within five standard
    /// errors. Each needs several instances.
    ///
    /// If they did, their losses have the same variance, so the variance is estimated from both together. It could not
    /// be estimated from one alone: twenty instances of successive elimination can all have the same loss by chance.
    fn agrees_with(&self, other: &Self) -> bool {
        let [n, m] = [self.instances, other.instances].map(|instances| instances as f64);
        let squares = (n - 1.0) * n * self.error.powi(2) + (m - 1.0) * m * other.error.powi(2);
        let error = (squares / (n + m - 2.0) * (1.0 / n + 1.0 / m)).sqrt();
        (self.mean - other.mean).abs() <= 5.0 * error + 1e-6 * self.mean.abs()
    }
}

/// The file that keeps a result between steps.
fn stored(name: &str) -> PathBuf {
    shell::root().join("target/bench").join(name)
}

fn store(name: &str, text: &str) -> Result<StepOutcome, StepError> {
    let path = stored(name);
    let write = || -> io::Result<()> {
        path.parent().map_or(Ok(()), fs::create_dir_all)?;
        fs::write(&path, text)
    };
    write().map_err(|error| StepError::File { path: path.clone(), error })?;
    Ok(StepOutcome::default())
}

/// Where the steps store what the last one fails for, one finding per line.
const DISAGREEMENTS: &str = "disagreements.txt";
const SLOWER: &str = "slower.txt";

/// Fails if implementations disagree, or if a workload takes more instructions than the stored count.
pub(crate) fn verdict(_: &Machine) -> Result<StepOutcome, StepError> {
    let lines = |name: &str| -> Vec<String> {
        fs::read_to_string(stored(name)).unwrap_or_default().lines().map(str::to_string).collect()
    };
    match (lines(DISAGREEMENTS), lines(SLOWER)) {
        (found, _) if !found.is_empty() => Err(StepError::Disagreement { found }),
        (_, found) if !found.is_empty() => Err(StepError::Slower { found }),
        _ => Ok(StepOutcome::default()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_measurement_is_read_from_the_last_line() {
        let measured = Measurement::parse("0.25 43014.5 3711.25\n", 20).unwrap();
        assert_eq!(measured, Measurement { seconds: 0.25, mean: 43014.5, error: 3711.25, instances: 20 });
        assert_eq!(Measurement::parse("Warning: no tqdm\n\n0.25 43014.5 3711.25", 20), Some(measured));
        assert_eq!(Measurement::parse("0.25 43014.5", 20), None);
        assert_eq!(Measurement::parse("Traceback (most recent call last)", 20), None);
    }

    #[test]
    fn means_agree_within_five_joint_standard_errors() {
        let of = |mean, error, instances| Measurement { seconds: 1.0, mean, error, instances };
        // The same number of instances: the joint standard error is 5.
        assert!(of(100.0, 3.0, 20).agrees_with(&of(124.9, 4.0, 20)));
        assert!(!of(100.0, 3.0, 20).agrees_with(&of(125.1, 4.0, 20)));
        assert!(!of(100.0, f64::NAN, 20).agrees_with(&of(100.0, 1.0, 20)));
        // Standard deviation 10 over 10,000 instances, 0 over 4 by chance: the mean of the 4 has standard error 5.
        assert!(of(100.0, 0.1, 10_000).agrees_with(&of(124.0, 0.0, 4)));
        assert!(!of(100.0, 0.1, 10_000).agrees_with(&of(126.0, 0.0, 4)));
    }
}
