//! The `calibandit` program: arguments in, calls of the lab out, nothing else.
//!
//! A library with one function, so that whatever brings the program along (the Python package does) runs the very same one.
//!
//! Exit codes: 0 done; 1 something failed; 2 the command line or a file is wrong; 130 interrupted. A closed pipe is not an
//! error.

mod args;
mod commands;
mod failure;
mod progress;
mod table;

use std::ffi::OsString;

use args::{Arguments, Command};
use clap::Parser;
use failure::Failure;

/// Runs the program with these arguments, the first being its own name; the exit code it ends with.
pub fn run(arguments: impl IntoIterator<Item = OsString>) -> u8 {
    let arguments = match Arguments::try_parse_from(arguments) {
        Ok(arguments) => arguments,
        Err(error) => {
            // Help and version come this way too. Where nobody reads, there is nothing to be done.
            let _ = error.print();
            return u8::try_from(error.exit_code()).unwrap_or(2);
        }
    };
    match done(&arguments.command) {
        Ok(()) => 0,
        // The reader has seen enough, as in `calibandit games | head -1`.
        Err(Failure::ClosedPipe) => 0,
        Err(failure) => {
            eprintln!("{failure}");
            failure.exit_code()
        }
    }
}

fn done(command: &Command) -> Result<(), Failure> {
    match command {
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
    }
}
