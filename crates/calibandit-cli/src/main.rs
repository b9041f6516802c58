//! The `calibandit` program: arguments in, calls of the lab out, nothing else.
//!
//! Exit codes: 0 done; 1 something failed; 2 the command line or a file is wrong; 130 interrupted. A closed pipe is not an
//! error.

mod args;
mod commands;
mod failure;
mod progress;
mod table;

use std::process::ExitCode;

use args::{Arguments, Command};
use clap::Parser;
use failure::Failure;

fn main() -> ExitCode {
    let arguments = Arguments::parse();
    let done = match &arguments.command {
        Command::Paper(arguments) => commands::paper(arguments),
        Command::Run(arguments) => commands::run(arguments),
        Command::Merge(arguments) => commands::merge(arguments),
        Command::Tournament(arguments) => commands::tournament(arguments),
        Command::Check(arguments) => commands::check(arguments),
        Command::Report(arguments) => commands::report(arguments),
        Command::F1(command) => commands::f1(command),
        Command::Fit(arguments) => commands::fit(arguments),
        Command::Games(arguments) => commands::games(arguments),
        Command::Policies(arguments) => commands::policies(arguments),
        Command::Schema => commands::schema(),
        Command::Completions { shell } => commands::completions(*shell),
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        // The reader has seen enough, as in `calibandit games | head -1`.
        Err(Failure::ClosedPipe) => ExitCode::SUCCESS,
        Err(failure) => {
            eprintln!("{failure}");
            ExitCode::from(failure.exit_code())
        }
    }
}
