//! What a play costs with everyone.

use super::Workload;
use super::arena::Arena;
use super::contestants::Contestant;
use super::ratios::SE;

const POLICIES: [&str; 5] = [SE, "exp3", "batched-exp3", "epoch-ucb", "ucb1"];

/// Shorter games for those that are slow, and for us the same ones, so that losses can be compared.
const SHORT: u64 = 10_000;

/// A line for each contestant, in nanoseconds a play.
pub(super) fn table(arena: &mut Arena) -> String {
    let mut table =
        String::from("| | SE | EXP3 | batched EXP3 | epoch UCB | UCB1 (plain) |\n|---|---|---|---|---|---|\n");
    for contestant in Contestant::ALL {
        let mut cells = Vec::new();
        for policy in POLICIES {
            let cost = workload(contestant, policy).and_then(|workload| arena.cost(contestant, workload));
            let shown = |cost: f64| if cost < 1.0 { format!("{cost:.3}") } else { format!("{cost:.1}") };
            cells.push(cost.map_or("–".to_string(), shown));
        }
        table += &format!("| {} | {} |\n", contestant.name(), cells.join(" | "));
    }
    for policy in POLICIES {
        let short = Workload { horizon: SHORT, instances: 400, ..Workload::usual(policy) };
        arena.play(Contestant::Calibandit, short);
    }
    table
}

/// `None` if the contestant has no such policy.
fn workload(contestant: Contestant, policy: &'static str) -> Option<Workload> {
    use Contestant::{C, Calibandit, NumPy, Numba, River, SmpyBandits};
    let usual = Workload::usual(policy);
    match (contestant, policy) {
        (C | Numba, "ucb1") | (River | SmpyBandits, SE | "batched-exp3" | "epoch-ucb") => None,
        (NumPy | River, _) => Some(Workload { horizon: SHORT, instances: 8, ..usual }),
        (SmpyBandits, _) => Some(Workload { horizon: SHORT, instances: 4, ..usual }),
        // What leaps is over in microseconds: many instances, so that there is something to measure.
        (Calibandit, SE) => Some(Workload { instances: 2000, ..usual }),
        (C | Numba, SE) => Some(Workload { instances: 100, ..usual }),
        _ => Some(usual),
    }
}
