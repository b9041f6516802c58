//! `cargo xtask study`: how often the statements about memory are right, on games whose truth is known.
//!
//! Each study is an example of a crate that prints Markdown. What it prints becomes a part of docs/memory.md.

use std::fs;

use crate::evidence;
use crate::outcome::{StepError, StepOutcome};
use crate::requirements::Machine;
use crate::shell::{self, OutputStream, Program};

const PAGE: &str = "docs/memory.md";
/// Where a short look writes its copy of the page.
const SHORT_PAGE: &str = "target/study/memory.md";

/// A study: the package and the name of the example, which is also the name of the part of the page. The example takes
/// the part of the full number of runs as its argument.
struct MemoryStudy {
    package: &'static str,
    example: &'static str,
}

const STUDIES: [MemoryStudy; 3] = [
    MemoryStudy { package: "calibandit-fit", example: "memory_study" },
    MemoryStudy { package: "calibandit", example: "advisor_study" },
    MemoryStudy { package: "calibandit", example: "pilot_study" },
];

/// Runs all studies and writes what they print to the page. `CALIBANDIT_STUDY_SHARE` is the part of the runs to make:
/// with 0.01 it is a short look, which is written to a copy of the page in `target/study`. `CALIBANDIT_STUDY_ONLY`
/// names the one study to run, so that a full run can be made in three pieces.
pub(crate) fn run(_: &Machine) -> Result<StepOutcome, StepError> {
    let share = std::env::var("CALIBANDIT_STUDY_SHARE").ok().and_then(|share| share.parse().ok()).unwrap_or(1.0f64);
    let page = if share >= 1.0 { PAGE } else { short_page()? };
    let share = share.to_string();
    let only = std::env::var("CALIBANDIT_STUDY_ONLY").ok();
    let wanted = |study: &&MemoryStudy| only.as_ref().is_none_or(|only| only == study.example);
    for MemoryStudy { package, example } in STUDIES.iter().filter(wanted) {
        let arguments = ["run", "--release", "--quiet", "--package", package, "--example", example, "--", &share];
        let printed = Program::cargo(arguments).run_echoing(OutputStream::Stdout)?;
        evidence::write_part(page, example, printed.trim())?;
    }
    println!("written to {page}");
    Ok(StepOutcome::default())
}

/// A copy of the page for a short look.
fn short_page() -> Result<&'static str, StepError> {
    let path = shell::root().join(SHORT_PAGE);
    let failed = |error| StepError::File { path: path.clone(), error };
    path.parent().map_or(Ok(()), fs::create_dir_all).map_err(failed)?;
    fs::copy(shell::root().join(PAGE), &path).map_err(failed)?;
    Ok(SHORT_PAGE)
}
