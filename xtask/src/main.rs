//! Development tasks: `cargo xtask` lists them.
//!
//! A task is a list of steps; a step is one small function in `steps.rs` that first makes sure of what it needs (see
//! `needs.rs`) and then does one thing. To add a check, write a step and add it to a task below.

mod bench;
mod needs;
mod python;
mod shell;
mod steps;

use std::process::ExitCode;
use std::time::Instant;

use steps::{Failure, Tally};

/// A step: what its heading says, and what it does.
type Step = (&'static str, fn() -> Result<Tally, Failure>);

struct Task {
    name: &'static str,
    help: &'static str,
    steps: &'static [Step],
}

const FORMAT: Step = ("format", steps::format);
const LINT: Step = ("lint", steps::lint);
const TESTS: Step = ("tests", steps::tests);
const DOC_TESTS: Step = ("doc tests", steps::doc_tests);
const DOCS: Step = ("docs", steps::docs);
const PYTHON: Step = ("python", python::python);

const TASKS: &[Task] = &[
    Task {
        name: "test",
        help: "everything that must pass: format, lints, all tests, doc tests, documentation without warnings, Python",
        steps: &[FORMAT, LINT, TESTS, DOC_TESTS, DOCS, PYTHON],
    },
    Task { name: "python", help: "the Python package: wheel, clean environment, tests, types", steps: &[PYTHON] },
    Task { name: "lint", help: "format and lints only, in seconds", steps: &[FORMAT, LINT] },
    Task {
        name: "bench",
        help: "this project and its peers side by side, written to docs/benchmarks.md",
        steps: &[
            ("contestants", bench::prepare),
            ("ratios", bench::compare),
            ("growth", bench::grow),
            ("paper", bench::time),
            ("instructions", bench::count),
            ("page", bench::write),
            ("verdict", bench::judge),
        ],
    },
    Task { name: "docs", help: "doc tests, and documentation without warnings", steps: &[DOC_TESTS, DOCS] },
];

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    match arguments.as_slice() {
        [] => {
            print!("{}", list());
            ExitCode::SUCCESS
        }
        [name, from @ ..] => {
            let Some(task) = TASKS.iter().find(|task| task.name == name) else { return refuse(name) };
            match from {
                [] => run(task, 0),
                [from] => task
                    .steps
                    .iter()
                    .position(|(heading, _)| heading == from)
                    .map_or_else(|| refuse(from), |first| run(task, first)),
                [_, extra, ..] => refuse(extra),
            }
        }
    }
}

fn list() -> String {
    let mut text = String::from("cargo xtask <task> [<step to begin with>], where <task> is one of\n");
    for task in TASKS {
        text += &format!("  {:<8}{}\n", task.name, task.help);
    }
    text
}

fn refuse(argument: &str) -> ExitCode {
    eprint!("xtask does not know `{argument}`.\n{}", list());
    ExitCode::from(2)
}

/// Runs the steps of a task from one of them on.
fn run(task: &Task, first: usize) -> ExitCode {
    let start = Instant::now();
    let mut total = Tally::default();
    for (position, (heading, step)) in task.steps.iter().enumerate().skip(first) {
        println!("\n=== {heading} ({} of {}) ===", position + 1, task.steps.len());
        let step_start = Instant::now();
        match step() {
            Ok(tally) => total += tally,
            Err(failure) => {
                eprintln!("\nxtask {}: the step `{heading}` failed: {failure}", task.name);
                return ExitCode::FAILURE;
            }
        }
        println!("--- {heading}: {:.1} s", step_start.elapsed().as_secs_f64());
    }
    println!("\nxtask {}: all steps passed in {:.1} s; {total}", task.name, start.elapsed().as_secs_f64());
    ExitCode::SUCCESS
}
