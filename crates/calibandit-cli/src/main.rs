//! The `calibandit` program: arguments in, library calls out, nothing else.
//!
//! Exit codes: 0 done, 1 something failed, 2 the command line was not understood.

use std::io::{self, ErrorKind, Write};
use std::process::ExitCode;

use calibandit::{GameSpec, PolicySpec};

const HELP: &str = "\
calibandit: bandits whose arms need to warm up

usage: calibandit <command>

commands:
  games     list the games, with their parameters and where the paper has them
  policies  list the policies, with their parameters and where they come from
  help      show this text
";

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let written = match arguments.as_slice() {
        ["games"] => games(&mut io::stdout().lock()),
        ["policies"] => policies(&mut io::stdout().lock()),
        [] | ["help" | "--help" | "-h"] => io::stdout().write_all(HELP.as_bytes()),
        other => {
            eprint!("calibandit does not understand `{}`.\n\n{HELP}", other.join(" "));
            return ExitCode::from(2);
        }
    };
    match written {
        Ok(()) => ExitCode::SUCCESS,
        // The reader has seen enough, as in `calibandit games | head -1`.
        Err(error) if error.kind() == ErrorKind::BrokenPipe => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("calibandit: the output could not be written: {error}");
            ExitCode::FAILURE
        }
    }
}

fn games(out: &mut impl Write) -> io::Result<()> {
    for kind in GameSpec::kinds() {
        writeln!(out, "{}\n  {}\n  Paper: {}", kind.name, kind.summary, kind.place)?;
        for parameter in kind.parameters {
            let default = match parameter.default {
                Some(default) => format!(" [{default}]"),
                None if parameter.required => " (required)".to_string(),
                None => String::new(),
            };
            // Descriptions come from doc comments, broken where the source breaks them.
            let description = parameter.description.replace('\n', " ");
            writeln!(out, "    {}{default}: {description}", parameter.name)?;
        }
        writeln!(out)?;
    }
    Ok(())
}

fn policies(out: &mut impl Write) -> io::Result<()> {
    for kind in PolicySpec::kinds() {
        writeln!(out, "{}\n  {}\n  Source: {}", kind.name, kind.summary, kind.citation)?;
        for parameter in kind.parameters {
            let default = parameter.default.map_or(" (required)".to_string(), |default| format!(" [{default}]"));
            writeln!(out, "    {}{default}: {}", parameter.name, parameter.meaning)?;
        }
        writeln!(out)?;
    }
    Ok(())
}
