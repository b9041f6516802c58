//! How long a policy takes, roughly: what decides how many instances it can be given.
//!
//! Policies that decide before every play cost a thousand times what those cost that decide before every run. They get as
//! many instances as fit into an allowance. The estimates are constants, not measurements, so that the same numbers come
//! out on every machine.

use calibandit::policy::Index;
use calibandit::{Noise, PolicySpec};

/// The nanoseconds that a policy takes for one instance, to within a factor of two or three on a machine of today.
pub(super) fn nanoseconds(policy: &PolicySpec, arms: usize, horizon: u64, noise: Noise) -> f64 {
    let (k, plays) = (arms as f64, horizon as f64);
    let deciding = match policy {
        PolicySpec::Exp3(_) => plays * (50.0 + 2.0 * k),
        PolicySpec::Ucb1(_) => plays * (40.0 + 4.0 * k),
        PolicySpec::Thompson(_) => plays * (30.0 + 60.0 * k),
        PolicySpec::BatchedExp3(spec) => {
            plays / spec.batch.map_or(plays.cbrt(), |batch| batch as f64) * (100.0 + 2.0 * k)
        }
        PolicySpec::EpochUcb(spec) => plays / spec.memory_bound as f64 * (80.0 + 4.0 * k) + plays,
        // Each look at these inverts divergences, in the worst case one for every arm.
        PolicySpec::Calibrated(spec) if matches!(spec.index, Index::KlUcb | Index::Elimination) => 1e5 + 4e3 * k * k,
        _ => 1e5 + 1e4 * k,
    };
    // Beta feedback is drawn play by play, whoever plays.
    let drawing = if matches!(noise, Noise::Beta { .. }) { plays * 60.0 } else { 0.0 };
    deciding + drawing
}
