//! The `calibandit` program: all of it is in the library beside.

use std::process::ExitCode;

fn main() -> ExitCode {
    calibandit_cli::run(std::env::args_os()).into()
}
