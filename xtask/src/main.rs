//! Development tasks: `cargo xtask` lists them.
//!
//! A task is a list of steps. A step is one function that does one thing and says how many tests passed and which were
//! skipped. What a step needs from the machine is declared beside it; `requirements.rs` looks for it, and installs it
//! where that is possible, before the first step starts. To add a check, write a step and add it to a task below.

mod bench;
mod crash;
mod evidence;
mod files;
mod fuzz;
mod ignored;
mod libc;
mod outcome;
mod package;
mod python;
mod requirements;
mod shell;
mod site;
mod steps;
mod study;
mod tools;
mod wheel;

use std::process::ExitCode;
use std::time::Instant;

use outcome::{Skip, StepError, StepOutcome};
use requirements::{Machine, Requirement};

/// One step of a task.
struct TaskStep {
    heading: &'static str,
    /// Without all of these the step is skipped.
    requires: &'static [Requirement],
    /// Without one of these, single tests of the step are skipped.
    uses: &'static [Requirement],
    run: fn(&Machine) -> Result<StepOutcome, StepError>,
}

impl TaskStep {
    const fn new(heading: &'static str, run: fn(&Machine) -> Result<StepOutcome, StepError>) -> Self {
        Self { heading, requires: &[], uses: &[], run }
    }

    const fn requires(self, requires: &'static [Requirement]) -> Self {
        Self { requires, ..self }
    }

    const fn uses(self, uses: &'static [Requirement]) -> Self {
        Self { uses, ..self }
    }
}

/// A named list of steps.
struct TaskDefinition {
    name: &'static str,
    help: &'static str,
    steps: &'static [TaskStep],
}

const FORMAT: TaskStep = TaskStep::new("format", steps::format).requires(&[Requirement::Rustfmt]);
const LINT: TaskStep = TaskStep::new("lint", steps::lint).requires(&[Requirement::Clippy]);
const FILES: TaskStep = TaskStep::new("files", files::files).requires(&[Requirement::Python]);
const TESTS: TaskStep = TaskStep::new("tests", steps::tests).uses(Requirement::OF_TESTS);
const DOC_TESTS: TaskStep = TaskStep::new("doc tests", steps::doc_tests);
const DOCS: TaskStep = TaskStep::new("docs", steps::docs);
const PACKAGE: TaskStep = TaskStep::new("package", package::package);
const SITE: TaskStep = TaskStep::new("site", site::site).requires(&[Requirement::Python]);
const WHEEL: TaskStep = TaskStep::new("wheel", wheel::wheel).requires(&[Requirement::Python]);
const PYTHON: TaskStep = TaskStep::new("python", python::python).requires(&[Requirement::Python]);

const TASKS: &[TaskDefinition] = &[
    TaskDefinition {
        name: "test",
        help: "the full suite: format, lints, all tests, doc tests, documentation, site, packages, Python",
        steps: &[FORMAT, LINT, FILES, TESTS, DOC_TESTS, DOCS, SITE, PACKAGE, PYTHON],
    },
    TaskDefinition { name: "lint", help: "format and lints, also of Python and YAML", steps: &[FORMAT, LINT, FILES] },
    TaskDefinition { name: "docs", help: "doc tests, and documentation without warnings", steps: &[DOC_TESTS, DOCS] },
    TaskDefinition {
        name: "site",
        help: "the documentation site, into target/site; checks every link",
        steps: &[SITE],
    },
    TaskDefinition { name: "package", help: "packages of all published crates, verified", steps: &[PACKAGE] },
    TaskDefinition {
        name: "python",
        help: "the Python package: wheel, clean environment, tests, types",
        steps: &[PYTHON],
    },
    TaskDefinition {
        name: "wheel",
        help: "the release wheel, into target/wheels/release, tried in a clean environment",
        steps: &[WHEEL],
    },
    TaskDefinition {
        name: "generate",
        help: "writes the Python modules that are generated from the library's catalogue",
        steps: &[TaskStep::new("generate", steps::generate)],
    },
    TaskDefinition {
        name: "fuzz",
        help: "10^7 executions of the fuzz targets; writes their numbers to docs/reliability.md",
        steps: &[TaskStep::new("build", fuzz::build), TaskStep::new("targets", fuzz::run)],
    },
    TaskDefinition {
        name: "crash",
        help: "damage, faults, kills and pairs of writers; writes their numbers to docs/reliability.md",
        steps: &[TaskStep::new("crash", crash::run)],
    },
    TaskDefinition {
        name: "libc",
        help: "results with glibc and with musl; writes their agreement to docs/reliability.md",
        steps: &[TaskStep::new("libc", libc::run).requires(&[Requirement::Musl])],
    },
    TaskDefinition {
        name: "study",
        help: "how often statements about memory are right; writes the tables of docs/memory.md",
        steps: &[TaskStep::new("study", study::run)],
    },
    TaskDefinition {
        name: "bench",
        help: "measures this project and its peers on the same work; writes docs/benchmarks.md",
        steps: &[
            TaskStep::new("build", bench::prepare),
            TaskStep::new("ratios", bench::compare),
            TaskStep::new("growth", bench::measure_growth),
            TaskStep::new("paper", bench::time_paper),
            TaskStep::new("instructions", bench::count_instructions),
            TaskStep::new("page", bench::write_page),
            TaskStep::new("verdict", bench::verdict),
        ],
    },
];

/// What the command line asks for.
#[derive(Debug, PartialEq, Eq)]
struct Request {
    task: &'static str,
    first_step: usize,
    /// Whether missing programs may be installed.
    install: bool,
}

impl Request {
    /// The error is the argument that is not understood.
    fn parse(arguments: &[String]) -> Result<Option<Self>, String> {
        let mut install = true;
        let mut words = Vec::new();
        for argument in arguments {
            match argument.as_str() {
                "--no-install" => install = false,
                word => words.push(word),
            }
        }
        let Some((name, rest)) = words.split_first() else { return Ok(None) };
        let task = TASKS.iter().find(|task| task.name == *name).ok_or_else(|| name.to_string())?;
        let first_step = match rest {
            [] => 0,
            [heading] => {
                let position = task.steps.iter().position(|step| step.heading == *heading);
                position.ok_or_else(|| heading.to_string())?
            }
            [_, extra, ..] => return Err(extra.to_string()),
        };
        Ok(Some(Self { task: task.name, first_step, install }))
    }
}

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let install_forbidden = std::env::var_os("CALIBANDIT_NO_INSTALL").is_some_and(|value| !value.is_empty());
    match Request::parse(&arguments) {
        Ok(None) => {
            print!("{}", usage());
            ExitCode::SUCCESS
        }
        Ok(Some(request)) => {
            let task = TASKS.iter().find(|task| task.name == request.task);
            task.map_or(ExitCode::FAILURE, |task| run(task, request.first_step, request.install && !install_forbidden))
        }
        Err(argument) => {
            eprint!("xtask does not know `{argument}`.\n{}", usage());
            ExitCode::from(2)
        }
    }
}

fn usage() -> String {
    let mut text = String::from("cargo xtask TASK [FIRST STEP] [--no-install], where TASK is one of\n");
    for task in TASKS {
        text += &format!("  {:<8}{}\n", task.name, task.help);
    }
    text += "\nA missing program is installed, after saying so, with rustup, or with apt-get as root on Debian.\n";
    text += "With --no-install, or CALIBANDIT_NO_INSTALL=1, nothing is installed and what needs it is skipped.\n";
    text
}

/// Runs the steps of a task, beginning with step number `first`.
fn run(task: &TaskDefinition, first: usize, install: bool) -> ExitCode {
    let start = Instant::now();
    let steps = &task.steps[first..];
    let wanted = steps.iter().flat_map(|step| step.requires.iter().chain(step.uses)).copied().collect::<Vec<_>>();
    let machine = Machine::prepare(&wanted, install);
    let mut total = StepOutcome::default();
    for (position, step) in steps.iter().enumerate() {
        println!("\n=== {} ({} of {}) ===", step.heading, first + position + 1, task.steps.len());
        let step_start = Instant::now();
        if let Some(missing) = step.requires.iter().find(|requirement| !machine.has(**requirement)) {
            let name = format!("the whole step `{}`", step.heading);
            println!("skipped: needs {missing}");
            total.skipped.push(Skip::for_requirement(name, *missing));
            continue;
        }
        match (step.run)(&machine) {
            Ok(outcome) => total.add(outcome),
            Err(error) => {
                eprintln!("\nxtask {}: the step `{}` failed: {error}", task.name, step.heading);
                return ExitCode::FAILURE;
            }
        }
        println!("--- {}: {:.1} s", step.heading, step_start.elapsed().as_secs_f64());
    }
    println!("\nxtask {}: all steps done in {:.1} s", task.name, start.elapsed().as_secs_f64());
    print!("{total}");
    let in_ci = std::env::var("CI").as_deref() == Ok("true");
    if in_ci && total.skipped.iter().any(|skip| skip.avoidable) {
        eprintln!("xtask {}: in CI nothing that can be installed may be skipped", task.name);
        return ExitCode::FAILURE;
    }
    ExitCode::SUCCESS
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(line: &str) -> Result<Option<Request>, String> {
        Request::parse(&line.split_whitespace().map(str::to_string).collect::<Vec<_>>())
    }

    #[test]
    fn a_task_may_begin_at_a_later_step() {
        assert_eq!(parse("test"), Ok(Some(Request { task: "test", first_step: 0, install: true })));
        assert_eq!(parse("lint lint"), Ok(Some(Request { task: "lint", first_step: 1, install: true })));
        assert_eq!(parse(""), Ok(None));
    }

    #[test]
    fn installing_can_be_forbidden_at_any_position() {
        let expected = Ok(Some(Request { task: "lint", first_step: 1, install: false }));
        assert_eq!(parse("--no-install lint lint"), expected);
        assert_eq!(parse("lint lint --no-install"), expected);
    }

    #[test]
    fn unknown_arguments_are_named() {
        assert_eq!(parse("tset"), Err("tset".to_string()));
        assert_eq!(parse("lint tests"), Err("tests".to_string()));
        assert_eq!(parse("lint lint more"), Err("more".to_string()));
    }
}
