//! The table of CPU time per play, for all implementations and policies.

use super::Workload;
use super::implementations::Implementation;
use super::measurements::Measurements;
use super::ratios::SE;

const POLICIES: [&str; 5] = [SE, "exp3", "batched-exp3", "epoch-ucb", "ucb1"];

/// Slow implementations play shorter games. This project plays these too, so that mean losses can be compared.
const SHORT: u64 = 10_000;

/// One line per implementation, in ns per play.
pub(super) fn table(measurements: &mut Measurements) -> String {
    let mut table =
        String::from("| | SE | EXP3 | batched EXP3 | epoch UCB | UCB1 (plain) |\n|---|---|---|---|---|---|\n");
    for implementation in Implementation::ALL {
        let mut cells = Vec::new();
        for policy in POLICIES {
            let workload = workload(implementation, policy);
            let cost = workload.and_then(|workload| measurements.cost(implementation, workload));
            let shown = |cost: f64| if cost < 1.0 { format!("{cost:.3}") } else { format!("{cost:.1}") };
            cells.push(cost.map_or("–".to_string(), shown));
        }
        table += &format!("| {} | {} |\n", implementation.name(), cells.join(" | "));
    }
    for policy in POLICIES {
        let short = Workload { horizon: SHORT, instances: 400, ..Workload::standard(policy) };
        measurements.measure(Implementation::Calibandit, short);
    }
    table
}

/// `None` if the implementation has no such policy.
fn workload(implementation: Implementation, policy: &'static str) -> Option<Workload> {
    use Implementation::{C, Calibandit, NumPy, Numba, River, SmpyBandits};
    let standard = Workload::standard(policy);
    match (implementation, policy) {
        (C | Numba, "ucb1") | (River | SmpyBandits, SE | "batched-exp3" | "epoch-ucb") => None,
        (NumPy | River, _) => Some(Workload { horizon: SHORT, instances: 8, ..standard }),
        (SmpyBandits, _) => Some(Workload { horizon: SHORT, instances: 4, ..standard }),
        // A leaping instance takes microseconds: many of them make the time measurable.
        (Calibandit, SE) => Some(Workload { instances: 2000, ..standard }),
        (C | Numba, SE) => Some(Workload { instances: 100, ..standard }),
        _ => Some(standard),
    }
}
