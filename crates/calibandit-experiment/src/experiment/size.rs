//! How large a run is, known before any of it is done: simulations, rows of tables, memory and files.

use crate::format::{bytes, duration, thousands};

/// The size of a run. What a run holds in memory hardly depends on the checkpoints: curves that need much memory are in
/// a temporary file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct RunSize {
    /// The number of points of the sweep.
    pub points: u64,
    /// The number of policies.
    pub policies: u64,
    /// The number of instances of each policy at each point.
    pub instances: u64,
    /// The number of checkpoints.
    pub checkpoints: u64,
}

/// The memory that a run may need, in bytes.
const MOST_MEMORY: f64 = 8e9;

/// The room that the files of a run may need while it runs, in bytes.
const MOST_DISK: f64 = 10e12;

/// The memory of any run, in bytes: curves and tables that are in memory at a time.
const BASE: f64 = 5e8;

/// The bytes for a policy at a point: its parameters, and its part of the specification while it is read.
const PER_POLICY: f64 = 1500.0;

/// The bytes for a curve: its task, its place in the temporary file, its last sample.
const PER_CURVE: f64 = 200.0;

/// The bytes of a row: in `results.csv` and `results.parquet`, and in journal and temporary file while the run lasts.
const PER_ROW: f64 = 120.0 + 130.0;

impl RunSize {
    pub(crate) fn new(points: usize, policies: usize, instances: u64, checkpoints: usize) -> Self {
        Self { points: points as u64, policies: policies as u64, instances, checkpoints: checkpoints as u64 }
    }

    /// The number of simulations. Those that are the same at several points are counted at each.
    pub fn curves(&self) -> u128 {
        (u128::from(self.points) * u128::from(self.policies)).saturating_mul(u128::from(self.instances))
    }

    /// The number of rows of the table of results.
    pub fn rows(&self) -> u128 {
        self.curves().saturating_mul(u128::from(self.checkpoints))
    }

    /// The estimated memory of the run, without that of single games and policies, in bytes.
    pub fn memory(&self) -> f64 {
        BASE + PER_POLICY * self.points as f64 * self.policies as f64 + PER_CURVE * self.curves() as f64
    }

    /// The estimated room that the files of the run need while it runs, in bytes. About half of it is free afterwards.
    pub fn disk(&self) -> f64 {
        PER_ROW * self.rows() as f64
    }

    /// Why a run of this size is refused; `None` if it is not. `seconds` is the estimated time on one core.
    pub(crate) fn refusal(&self, seconds: Option<f64>) -> Option<String> {
        if self.memory() <= MOST_MEMORY && self.disk() <= MOST_DISK {
            return None;
        }
        let Self { points, policies, instances, checkpoints } = self;
        let time = seconds.map_or_else(String::new, |seconds| format!("{} on one core, ", duration(seconds)));
        let curves = u64::try_from(self.curves()).map_or_else(|_| self.curves().to_string(), thousands);
        Some(format!(
            "the experiment has {curves} simulations (points: {}, policies: {}, instances: {}) with {} checkpoints \
             each: about {time}{} of memory and {} of files; at most {} of memory and {} of files are allowed",
            thousands(*points),
            thousands(*policies),
            thousands(*instances),
            thousands(*checkpoints),
            bytes(self.memory()),
            bytes(self.disk()),
            bytes(MOST_MEMORY),
            bytes(MOST_DISK),
        ))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_million_instances_are_allowed_at_one_point_and_refused_at_ten_thousand() {
        assert_eq!(RunSize::new(1, 10, 1_000_000, 200).refusal(None), None);
        let refused = RunSize::new(10_000, 1, 1_000_000, 200).refusal(Some(7.2e9)).unwrap();
        // 10^10 curves of 200 bytes, and 200 rows of 250 bytes for each.
        for part in ["10,000,000,000 simulations", "2,000,000 h", "2.0 TB of memory", "500 TB of files", "8.0 GB"] {
            assert!(refused.contains(part), "{part}: {refused}");
        }
    }

    #[test]
    fn sizes_do_not_overflow() {
        let most = RunSize::new(usize::MAX, usize::MAX, u64::MAX, 1);
        assert!(most.memory().is_finite() && most.refusal(None).is_some());
    }
}
