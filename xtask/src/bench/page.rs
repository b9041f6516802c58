//! docs/benchmarks.md, from what the steps before have found.

use std::fs;
use std::process::Command;

use super::kept;
use crate::shell;
use crate::steps::{Failure, Tally};

/// Writes the page.
pub(crate) fn write() -> Result<Tally, Failure> {
    let part = |name: &str| fs::read_to_string(kept(name)).unwrap_or_else(|_| "Not measured.\n".to_string());
    let page = format!(
        "# Benchmarks\n\n\
         Written by `cargo xtask bench`: everything is measured in one run on one machine, this project and its peers on the same work\n\
         (the paper's unweighted game; K = 5, m = M = 3, T = 10^6 and 20 instances unless said). Times are CPU time, the least of fifteen\n\
         tries. The peers are in `benches/peers`: C compiled with `-O3 -march=native` and numba with `prange` over instances, both\n\
         written by hand for speed, one draw a play. This project is an ordinary release build without processor-specific flags.\n\n\
         {}\n\
         {}\n\
         ## Ratios\n\n{}\n\
         Why these: SE asks for long runs, which are drawn at once, so its cost hardly depends on the horizon. EXP3 and batched EXP3\n\
         play eight instances side by side in vectors; what is left is a chain of a division, an exponential and the choice of the next\n\
         arm that no instance can shorten. The epoch UCB looks for another arm only when the choice can have changed. With many arms\n\
         EXP3 keeps its weights in a tree; at 10^5 arms every play waits for memory.\n\n\
         ## Everyone, in nanoseconds a play\n\n\
         NumPy by hand and the libraries river and SMPyBandits on games of 10^4 plays; the libraries have no policies that play\n\
         epochs. A dash: the contestant has no such policy, or could not be installed.\n\n{}\n\
         All do the same work: mean losses agree within five standard errors, or the command fails.\n\n{}\n\
         ## How cost grows\n\n![CPU time by horizon, arms, memory and instances, time by threads](images/growth.svg)\n\n\
         Policies that ask for long runs cost nearly the same at any horizon, per instance. EXP3 takes single plays: up to 32 arms in\n\
         vectors, beyond in a tree of sums, which is the step between 30 and 100 arms. Index policies look at every arm.\n\n\
         ## Instructions\n\n\
         Counted by callgrind, the same on every run; stored in `benches/instructions.txt`, and `cargo xtask bench` fails if a count\n\
         grows by more than 5 %.\n\n{}",
        machine(),
        part("paper.md"),
        part("ratios.md"),
        part("everyone.md"),
        part("agreement.md"),
        part("counts.md")
    );
    let path = shell::root().join("docs/benchmarks.md");
    fs::write(&path, page).map_err(|error| Failure::File { path, error })?;
    Ok(Tally::default())
}

/// What was measured on.
fn machine() -> String {
    let said = |program: &str, arguments: &[&str]| {
        let output = Command::new(program).args(arguments).output().ok()?;
        Some(String::from_utf8_lossy(&output.stdout).lines().next()?.trim().to_string())
    };
    let processor = fs::read_to_string("/proc/cpuinfo").ok().and_then(|text| {
        let line = text.lines().find(|line| line.starts_with("model name"))?;
        Some(line.split(':').nth(1)?.trim().to_string())
    });
    let threads = std::thread::available_parallelism().map_or(1, usize::from);
    let facts = [
        processor.map(|name| format!("{name}, {threads} threads")),
        said("rustc", &["--version"]),
        said("cc", &["--version"]),
        said(
            "target/bench-venv/bin/python",
            &[
                "-c",
                "import numba, numpy, sys; print('Python', sys.version.split()[0], 'with numba', numba.__version__, 'and NumPy', numpy.__version__)",
            ],
        ),
    ];
    let facts: Vec<String> = facts.into_iter().flatten().collect();
    format!("Machine: {}.\n", facts.join("; "))
}
