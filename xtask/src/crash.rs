//! `cargo xtask crash`: damage, faults, kills and pairs of writers in large numbers.
//!
//! The searches are tests with a number that an environment variable sets; `cargo xtask test` runs them with small
//! ones. Each ends with a line of what it did, which becomes a row of the table in docs/reliability.md.

use std::time::Instant;

use crate::evidence::{self, EvidenceTable};
use crate::outcome::{StepError, StepOutcome};
use crate::requirements::Machine;
use crate::shell::{OutputStream, Program};

/// How much is tried in a full run, and the variable that sets it.
enum Tries {
    /// So many cases.
    Count(&'static str, u64),
    /// Every operation on files; in a shorter run every n-th.
    EveryOperation(&'static str),
}

impl Tries {
    /// The variable and its value, for a part of a full run.
    fn of_share(&self, share: f64) -> (&'static str, String) {
        match *self {
            Self::Count(variable, count) => (variable, ((count as f64 * share) as u64).max(1).to_string()),
            Self::EveryOperation(variable) => (variable, ((1.0 / share) as u64).max(1).to_string()),
        }
    }
}

/// A test that searches for a state that must not occur.
struct CrashSearch {
    what: &'static str,
    package: &'static str,
    test: &'static str,
    /// The names of test functions that contain this are run.
    filter: &'static str,
    tries: Tries,
    /// What the closing lines begin with; empty for lines of the form "POLICY: N of M refused".
    summary: &'static str,
}

const SEARCHES: [CrashSearch; 8] = [
    CrashSearch {
        what: "damaged result folders and shards",
        package: "calibandit-experiment",
        test: "reliability",
        filter: "damaged_folders",
        tries: Tries::Count("CALIBANDIT_DAMAGES", 10_400),
        summary: "damages of folders: ",
    },
    CrashSearch {
        what: "damaged journals",
        package: "calibandit-experiment",
        test: "reliability",
        filter: "damaged_journals",
        tries: Tries::Count("CALIBANDIT_DAMAGES", 10_400),
        summary: "damages of journals: ",
    },
    CrashSearch {
        what: "a fault at every operation on files",
        package: "calibandit-report",
        test: "reliability",
        filter: "faults_at_many",
        tries: Tries::EveryOperation("CALIBANDIT_FAULT_STEP"),
        summary: "faults: ",
    },
    CrashSearch {
        what: "the same for tournaments",
        package: "calibandit-paper",
        test: "tournament_files",
        filter: "faults_leave",
        tries: Tries::EveryOperation("CALIBANDIT_FAULT_STEP"),
        summary: "tournament: ",
    },
    CrashSearch {
        what: "kills at random points",
        package: "calibandit-cli",
        test: "reliability",
        filter: "killed_runs",
        tries: Tries::Count("CALIBANDIT_KILLS", 200),
        summary: "kills: ",
    },
    CrashSearch {
        what: "kills of tournaments",
        package: "calibandit-cli",
        test: "reliability",
        filter: "killed_tournaments",
        tries: Tries::Count("CALIBANDIT_KILLS", 50),
        summary: "kills of tournaments: ",
    },
    CrashSearch {
        what: "two writers in one folder",
        package: "calibandit-cli",
        test: "reliability",
        filter: "of_two_writers",
        tries: Tries::Count("CALIBANDIT_WRITERS", 1_000),
        summary: "pairs of writers: ",
    },
    CrashSearch {
        what: "kills of the live service",
        package: "calibandit-cli",
        test: "service",
        filter: "killed_services",
        tries: Tries::Count("CALIBANDIT_KILLS", 1_000),
        summary: "kills of services: ",
    },
];

/// Damaged snapshots of every kind of policy: one line per policy.
const SNAPSHOTS: CrashSearch = CrashSearch {
    what: "damaged snapshots",
    package: "calibandit",
    test: "advisor",
    filter: "damaged_snapshots",
    tries: Tries::Count("CALIBANDIT_DAMAGES", 100_000),
    summary: "",
};

/// Runs every search and writes the table. `CALIBANDIT_CRASH_SHARE` is the part of the cases to try: 0.01 for a short
/// look, which leaves the page as it is.
pub(crate) fn run(_: &Machine) -> Result<StepOutcome, StepError> {
    let share = evidence::share("CALIBANDIT_CRASH_SHARE");
    let mut table = EvidenceTable::new(["search", "outcome"]);
    for search in &SEARCHES {
        let output = search.run(share)?;
        let line = output.lines().find_map(|line| line.find(search.summary).map(|at| &line[at..]));
        let outcome = line.map(|line| line.strip_prefix("tournament: ").unwrap_or(line));
        table.row([search.what.to_string(), outcome.unwrap_or("no summary").to_string()]);
    }
    table.row([SNAPSHOTS.what.to_string(), snapshots_summary(&SNAPSHOTS.run(share)?)]);
    print!("{table}");
    if share >= 1.0 {
        evidence::write_to_page("crash", &table)?;
    }
    Ok(StepOutcome { passed: SEARCHES.len() as u64 + 1, skipped: Vec::new() })
}

impl CrashSearch {
    fn run(&self, share: f64) -> Result<String, StepError> {
        println!("{}", self.what);
        let names = ["test", "--quiet", "--package", self.package, "--test", self.test, self.filter];
        let options = ["--", "--include-ignored", "--nocapture"];
        let (variable, tries) = self.tries.of_share(share);
        let test = Program::cargo([&names[..], &options[..]].concat()).env(variable, tries);
        let start = Instant::now();
        let output = test.run_echoing(OutputStream::Stdout)?;
        println!("{:.0} s", start.elapsed().as_secs_f64());
        Ok(output)
    }
}

/// The sum over the policies of lines "POLICY: REFUSED of COUNT refused".
fn snapshots_summary(output: &str) -> String {
    let counts = output.lines().filter_map(|line| {
        let (refused, count) = line.strip_suffix(" refused")?.rsplit_once(": ")?.1.split_once(" of ")?;
        Some((refused.parse::<u64>().ok()?, count.parse::<u64>().ok()?))
    });
    let (policies, refused, count) =
        counts.fold((0, 0, 0), |(n, a, b), (refused, count)| (n + 1, a + refused, b + count));
    let (refused, count) = (evidence::grouped(refused), evidence::grouped(count));
    format!("damages of snapshots: {count} ({policies} policies), refused: {refused}, panics, loops or nonsense: 0")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_share_makes_counts_smaller_and_steps_larger() {
        let (count, every) = (Tries::Count("N", 1000), Tries::EveryOperation("STEP"));
        assert_eq!((count.of_share(1.0).1, every.of_share(1.0).1), ("1000".to_string(), "1".to_string()));
        assert_eq!((count.of_share(0.02).1, every.of_share(0.02).1), ("20".to_string(), "50".to_string()));
        assert_eq!(count.of_share(1e-9).1, "1");
    }

    #[test]
    fn refused_snapshots_are_added_up_over_policies() {
        let output = "\nrunning 1 test\nSE: 600 of 1000 refused\nUCB (c: 2): 900 of 1000 refused\n.\ntest result: ok\n";
        let expected = "damages of snapshots: 2,000 (2 policies), refused: 1,500, panics, loops or nonsense: 0";
        assert_eq!(snapshots_summary(output), expected);
    }
}
