//! The cost model: an estimate of the time that a policy needs for one instance.
//!
//! The estimate decides the order in which tasks are started, and in `calibandit tournament` the number of instances
//! that a slow policy gets. The constants are fixed, not measured at run time, so that the same numbers come out on
//! every machine. They are right to within a factor of two or three on current machines; `docs/benchmarks.md` has
//! measured times.

use calibandit::policy::{Index, PlannerCells};
use calibandit::simulate::LiveSpec;
use calibandit::{Noise, PolicySpec};

use crate::experiment::PolicySource;

/// The estimated time of one instance, in nanoseconds.
///
/// A policy that decides before every play costs a time per play, which grows with the number of arms that a decision
/// looks at. A policy that asks for long runs costs a time per run, and the number of its runs hardly depends on the
/// horizon.
pub fn nanoseconds(policy: &PolicySpec, arms: usize, horizon: u64, noise: Noise) -> f64 {
    let (k, plays) = (arms as f64, horizon as f64);
    let deciding = match policy {
        // One play per run: 356 instructions with 5 arms if not simulated in a batch (docs/benchmarks.md).
        PolicySpec::Exp3(_) => plays * (50.0 + 2.0 * k),
        // One play per run, and each decision may look at every arm.
        PolicySpec::Ucb1(_) => plays * (40.0 + 4.0 * k),
        // One play per run, and each decision draws a Beta variate per arm.
        PolicySpec::Thompson(_) => plays * (30.0 + 60.0 * k),
        PolicySpec::BatchedExp3(spec) => {
            plays / spec.batch.map_or(plays.cbrt(), |batch| batch as f64) * (100.0 + 2.0 * k)
        }
        PolicySpec::EpochUcb(spec) => plays / spec.memory_bound as f64 * (80.0 + 4.0 * k) + plays,
        // Each decision inverts divergences, in the worst case one per arm.
        PolicySpec::Calibrated(spec) if matches!(spec.index, Index::KlUcb | Index::Elimination) => 1e5 + 4e3 * k * k,
        // Single plays in the pilot, each with about 50 candidates.
        PolicySpec::Pilot(_) => 1e5 + 1e4 * k + (plays / 10.0).min(1e4 * k) * 300.0,
        // One play per run; each decision looks at every arm, and each loss changes some of the windows.
        PolicySpec::RawUcb(_) => plays * (150.0 + 5.0 * k),
        PolicySpec::Fewa(_) => plays * (150.0 + 60.0 * k),
        PolicySpec::Swa(_)
        | PolicySpec::Wswa(_)
        | PolicySpec::Greedy(_)
        | PolicySpec::Heidari(_)
        | PolicySpec::SlidingUcb(_)
        | PolicySpec::DiscountedUcb(_) => plays * (40.0 + 4.0 * k),
        PolicySpec::Spo(_) | PolicySpec::RisingUcb(_) | PolicySpec::RisingUcbe(_) => plays * (50.0 + 10.0 * k),
        // One run per arm and phase.
        PolicySpec::RisingHalving(_) => 1e5 + 500.0 * k * k,
        // Single plays, and a plan whenever a cell doubles: the windows some tens of times, or K P^3 steps.
        PolicySpec::Planner(spec) => {
            let (windows, cells) = (k.powf(spec.memory_bound as f64), k * spec.memory_bound as f64);
            let cells = if spec.cells == PlannerCells::Window { windows } else { cells };
            plays * 60.0 + plans(cells, plays) * windows * 200.0
        }
        PolicySpec::Rotation(spec) => {
            let period = spec.longest_period.unwrap_or(2 * spec.memory_bound) as f64;
            plays * 60.0 + plans(k * spec.memory_bound as f64, plays) * k * period.powi(3) * 0.2
        }
        // Long runs: about 10 microseconds per instance for SE with 5 arms (docs/benchmarks.md), with a margin for
        // policies that ask for more runs.
        _ => 1e5 + 1e4 * k,
    };
    // Beta feedback is drawn play by play for every policy.
    let drawing = if matches!(noise, Noise::Beta { .. }) { plays * 60.0 } else { 0.0 };
    deciding + drawing
}

/// The estimated time of one instance of a policy of an experiment, in nanoseconds.
pub(crate) fn of_source(
    policy: &PolicySource,
    live: Option<&LiveSpec>,
    arms: usize,
    horizon: u64,
    noise: Noise,
) -> f64 {
    match policy {
        PolicySource::Spec(spec) => of_spec(spec, live, arms, horizon, noise),
        PolicySource::User(_) => {
            let of_live = live.map_or(0.0, |live| live_nanoseconds(live, arms, horizon));
            user_policy_nanoseconds(horizon) + of_live
        }
    }
}

/// The estimated time of one instance, in nanoseconds: in live use if it is given.
pub(crate) fn of_spec(policy: &PolicySpec, live: Option<&LiveSpec>, arms: usize, horizon: u64, noise: Noise) -> f64 {
    let of_policy = nanoseconds(policy, arms, horizon, noise);
    of_policy + live.map_or(0.0, |live| live_nanoseconds(live, arms, horizon))
}

/// The estimated time that live use of an instance adds, in nanoseconds: every play is asked for, made and told one by
/// one. Measured with 1 to 1000 lanes: about 0.5 to 1 microsecond per play.
fn live_nanoseconds(live: &LiveSpec, arms: usize, horizon: u64) -> f64 {
    let lane = if live.lanes > 10_000 { 1000.0 } else { 0.0 };
    horizon as f64 * (600.0 + lane + 2.0 * arms as f64)
}

/// The most plans of a policy with this many cells.
fn plans(cells: f64, plays: f64) -> f64 {
    cells * (1.0 + (plays / cells).max(1.0).log2())
}

/// The estimated time of one instance of a policy written by the user, in nanoseconds: unknown, so that it is started
/// early. One microsecond per play is what a policy written in Python costs at least.
pub fn user_policy_nanoseconds(horizon: u64) -> f64 {
    1000.0 * horizon as f64
}

#[cfg(test)]
mod tests {
    use super::*;
    use calibandit::policy::{Exp3, SuccessiveElimination};

    #[test]
    fn policies_that_decide_before_every_play_cost_more_on_long_horizons() {
        let exp3: PolicySpec = Exp3::builder().into();
        let elimination: PolicySpec = SuccessiveElimination::builder(3).into();
        let cost = |policy, horizon| nanoseconds(policy, 5, horizon, Noise::Bernoulli);
        assert_eq!(cost(&exp3, 2_000_000), 2.0 * cost(&exp3, 1_000_000));
        assert_eq!(cost(&elimination, 2_000_000), cost(&elimination, 1_000_000));
        assert!(cost(&exp3, 1_000_000) > 100.0 * cost(&elimination, 1_000_000));
        assert!(nanoseconds(&elimination, 5, 1_000_000, Noise::Beta { concentration: 10.0 }) > 1e7);
    }
}
