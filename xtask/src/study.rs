//! `cargo xtask study`: how often the statements about memory are right, on games whose truth is known.
//!
//! Each study is an example of a crate that prints Markdown. What it prints becomes a part of docs/memory.md.

use crate::evidence;
use crate::outcome::{StepError, StepOutcome};
use crate::requirements::Machine;
use crate::shell::{OutputStream, Program};

const PAGE: &str = "docs/memory.md";

/// A study: the package and the name of the example, which is also the name of the part of the page.
struct MemoryStudy {
    package: &'static str,
    example: &'static str,
}

const STUDIES: [MemoryStudy; 3] = [
    MemoryStudy { package: "calibandit-fit", example: "memory_study" },
    MemoryStudy { package: "calibandit", example: "advisor_study" },
    MemoryStudy { package: "calibandit", example: "pilot_study" },
];

/// Runs all studies and writes what they print to the page.
pub(crate) fn run(_: &Machine) -> Result<StepOutcome, StepError> {
    for MemoryStudy { package, example } in STUDIES {
        let arguments = ["run", "--release", "--quiet", "--package", package, "--example", example];
        let printed = Program::cargo(arguments).run_echoing(OutputStream::Stdout)?;
        evidence::write_part(PAGE, example, printed.trim())?;
    }
    Ok(StepOutcome::default())
}
