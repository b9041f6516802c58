//! The table of policies for rotting and rising arms: CPU time per play, beside SMPyBandits.

use super::Workload;
use super::implementations::Implementation;
use super::measurements::Measurements;

/// The policies that both have, and those that only this project has.
const POLICIES: [&str; 8] =
    ["raw-ucb", "fewa", "wswa", "greedy", "rising-ucb", "sliding-ucb", "discounted-ucb", "ucb1"];

/// One line per policy, in ns per play.
pub(super) fn table(measurements: &mut Measurements) -> String {
    let mut table = String::from(
        "| policy | Calibandit, K = 2, T = 10^4 | SMPyBandits, K = 2, T = 10^4 | Calibandit, K = 10, T = 10^6 |\n\
         |---|---|---|---|\n",
    );
    for policy in POLICIES {
        let short = Workload { instances: 400, ..Workload::rested(policy, 2, 10_000) };
        let slow = Workload { instances: 20, ..short };
        let long = Workload { instances: 3, ..Workload::rested(policy, 10, 1_000_000) };
        let theirs = matches!(policy, "raw-ucb" | "fewa" | "wswa");
        let cells = [
            measurements.cost(Implementation::Calibandit, short),
            if theirs { measurements.cost(Implementation::SmpyBandits, slow) } else { None },
            measurements.cost(Implementation::Calibandit, long),
        ];
        let shown = cells.map(|cost| cost.map_or("–".to_string(), |cost| format!("{cost:.0}")));
        table += &format!("| `{policy}` | {} |\n", shown.join(" | "));
    }
    table
}
