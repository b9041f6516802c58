//! Instruction counts of a few fixed workloads. They do not depend on the load of the machine, so that a slowdown of a
//! few per cent is seen.
//!
//! Counted with callgrind and compared with counts that are stored in the repository. A benchmark framework such as
//! gungraun compares with the previous run on the same machine instead, and would need a runner installed beside
//! valgrind.

use std::fmt::Write;
use std::fs;
use std::process::Command;

use super::{SLOWER, Workload, store};
use crate::outcome::{StepError, StepOutcome};
use crate::requirements::Machine;
use crate::shell;

/// One line per workload: its name and its count.
const STORED: &str = "benches/instructions.txt";
/// A count that exceeds the stored one by more than this fraction is a regression. Patch releases of the compiler and
/// of libraries change counts by less.
const TOLERANCE: f64 = 0.05;

fn workloads() -> Vec<(&'static str, Workload)> {
    let of = |policy, horizon, instances| Workload { horizon, instances, ..Workload::standard(policy) };
    vec![
        ("se", of("successive-elimination", 1_000_000, 100)),
        ("exp3-in-lanes", of("exp3", 100_000, 8)),
        ("exp3-alone", of("exp3", 100_000, 1)),
        ("exp3-1000-arms", Workload { arms: 1000, ..of("exp3", 100_000, 1) }),
        ("batched-exp3", of("batched-exp3", 1_000_000, 8)),
        ("epoch-ucb", of("epoch-ucb", 1_000_000, 1)),
        ("epoch-ucb-20-arms", Workload { arms: 20, ..of("epoch-ucb", 1_000_000, 1) }),
    ]
}

/// Counts with callgrind, and compares with the stored counts. `CALIBANDIT_ACCEPT=1` replaces these.
pub(crate) fn count_instructions(_: &Machine) -> Result<StepOutcome, StepError> {
    let stored = fs::read_to_string(shell::root().join(STORED)).unwrap_or_default();
    let before = |name: &str| -> Option<f64> {
        let line = stored.lines().find(|line| line.split_whitespace().next() == Some(name))?;
        line.split_whitespace().nth(1)?.parse().ok()
    };
    let accept = std::env::var_os("CALIBANDIT_ACCEPT").is_some();
    let mut found = Vec::new();
    let mut table =
        String::from("| workload | instructions per play | change from the stored count |\n|---|---|---|\n");
    let mut counts = String::new();
    for (name, workload) in workloads() {
        let Some(count) = instructions(&workload) else {
            println!("instructions are not counted: valgrind is missing");
            store(SLOWER, "")?;
            return store("counts.md", "Not counted: valgrind was missing.\n");
        };
        let change = before(name).map(|before| count / before - 1.0);
        let shown = change.map_or("new".to_string(), |change| format!("{:+.1} %", 100.0 * change));
        println!("{name}: {count} instructions ({shown})");
        let _ = writeln!(table, "| {name} | {:.2} | {shown} |", count / workload.plays());
        let _ = writeln!(counts, "{name} {count}");
        if change.is_some_and(|change| change > TOLERANCE) && !accept {
            found.push(format!("{name}: {count} instructions, {shown}"));
        }
    }
    store("counts.md", &table)?;
    if accept || stored.is_empty() {
        let path = shell::root().join(STORED);
        fs::write(&path, counts).map_err(|error| StepError::File { path, error })?;
    }
    store(SLOWER, &found.join("\n"))
}

/// Instructions of the workload less those of starting the program.
fn instructions(workload: &Workload) -> Option<f64> {
    let short = Workload { horizon: 60, instances: 1, ..*workload };
    let short = if workload.arms > 5 { Workload { horizon: 60 * workload.arms, ..short } } else { short };
    Some(collected(workload)? - collected(&short)?)
}

fn collected(workload: &Workload) -> Option<f64> {
    let mut valgrind = Command::new("valgrind");
    valgrind.args(["--tool=callgrind", "--callgrind-out-file=/dev/null"]);
    valgrind.arg(shell::root().join("target/release/examples/workload")).args(workload.arguments());
    parse(&String::from_utf8_lossy(&valgrind.output().ok()?.stderr))
}

/// From the line `==1234== Collected : 39848421`.
fn parse(output: &str) -> Option<f64> {
    let line = output.lines().find(|line| line.contains("Collected :"))?;
    line.split_whitespace().last()?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_are_read_from_the_output_of_callgrind() {
        assert_eq!(parse("==7== Events    : Ir\n==7== Collected : 39848421\n==7==\n"), Some(39_848_421.0));
        assert_eq!(parse("valgrind: not found"), None);
    }
}
