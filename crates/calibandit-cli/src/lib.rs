//! The `calibandit` program: it parses arguments and calls the other crates of the project.
//!
//! The program is a library with one function, so that the Python package installs exactly the same program.
//!
//! ```
//! let arguments = ["calibandit", "policies"].map(Into::into);
//! assert_eq!(calibandit_cli::run(arguments), 0);
//! ```
//!
//! Exit codes: 0 success; 1 failure; 2 error in the command line or in an input file; 130 interrupted. A closed output
//! pipe counts as success.

#![warn(clippy::print_stdout, clippy::print_stderr)] // They panic if the output cannot be written.

mod args;
mod commands;
mod error;
mod progress;
mod table;
mod text;

use std::ffi::OsString;

use args::{Arguments, Command};
use clap::Parser;
use error::CliError;

/// Runs the program and returns its exit code. The first argument is the name of the program.
pub fn run(arguments: impl IntoIterator<Item = OsString>) -> u8 {
    let arguments = match Arguments::try_parse_from(arguments) {
        Ok(arguments) => arguments,
        Err(error) => {
            // Help and version are "errors" too. If the output is closed, there is nothing left to report to.
            let _ = error.print();
            return u8::try_from(error.exit_code()).expect("clap's exit codes are 0 and 2");
        }
    };
    match execute(&arguments.command) {
        Ok(()) => 0,
        Err(error) => {
            // `calibandit games | head -1` closes the pipe: not an error, and no message.
            if !matches!(error, CliError::ClosedPipe) {
                progress::notice(&error.message());
            }
            error.exit_code()
        }
    }
}

fn execute(command: &Command) -> Result<(), CliError> {
    match command {
        Command::Paper(arguments) => commands::paper(arguments),
        Command::Run(arguments) => commands::run(arguments),
        Command::Merge(arguments) => commands::merge(arguments),
        Command::Tournament(arguments) => commands::tournament(arguments),
        Command::Check(arguments) => commands::check(arguments),
        Command::Report(arguments) => commands::report(arguments),
        Command::F1(command) => commands::f1(command),
        Command::Diagnose(arguments) => commands::diagnose(arguments),
        Command::Fit(arguments) => commands::fit(arguments),
        Command::Pilot(arguments) => commands::pilot(arguments),
        Command::State(arguments) => commands::state(arguments),
        Command::Games(arguments) => commands::games(arguments),
        Command::Policies(arguments) => commands::policies(arguments),
        #[cfg(feature = "serve")]
        Command::Serve(arguments) => commands::serve(arguments),
        #[cfg(feature = "serve")]
        Command::Verify(arguments) => commands::verify(arguments),
        #[cfg(feature = "serve")]
        Command::Backup(arguments) => commands::backup(arguments),
        #[cfg(feature = "serve")]
        Command::Token(command) => commands::token(command),
        Command::Schema => commands::schema(),
        Command::Completions { shell } => commands::completions(*shell),
    }
}
