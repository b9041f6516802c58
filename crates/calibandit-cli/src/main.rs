//! The `calibandit` program. Its code is in the library of this package.

use std::process::ExitCode;

fn main() -> ExitCode {
    calibandit_cli::run(std::env::args_os()).into()
}
