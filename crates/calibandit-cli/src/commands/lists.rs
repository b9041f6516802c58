//! Commands that only print: games, policies, the schema, completions.

use std::io::{self, Write};

use calibandit::{GameSpec, PolicySpec};
use calibandit_lab::spec;
use clap::CommandFactory;
use clap_complete::Shell;
use serde::Serialize;

use crate::args::{Arguments, List};
use crate::failure::Failure;

pub(crate) fn games(arguments: &List) -> Result<(), Failure> {
    let kinds = GameSpec::kinds();
    if arguments.json {
        return print_json(&kinds);
    }
    let out = &mut io::stdout().lock();
    for kind in kinds {
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

pub(crate) fn policies(arguments: &List) -> Result<(), Failure> {
    if arguments.json {
        return print_json(&PolicySpec::kinds());
    }
    let out = &mut io::stdout().lock();
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

pub(crate) fn schema() -> Result<(), Failure> {
    print_json(&spec::schema())
}

pub(crate) fn completions(shell: Shell) -> Result<(), Failure> {
    let mut script = Vec::new();
    clap_complete::generate(shell, &mut Arguments::command(), "calibandit", &mut script);
    Ok(io::stdout().lock().write_all(&script)?)
}

/// Prints a value as JSON on standard output.
pub(crate) fn print_json(value: &impl Serialize) -> Result<(), Failure> {
    let text = serde_json::to_string_pretty(value).map_err(io::Error::other)?;
    Ok(writeln!(io::stdout().lock(), "{text}")?)
}
