//! `calibandit tournament`: every policy on every game.

use std::io::{self, Write};

use calibandit_experiment::output::OutputDir;
use calibandit_paper::tournament::{
    self, GroupRow, TournamentError, TournamentOptions, TournamentPart, TournamentSession, in_group, plain,
};

use super::lists::print_json;
use super::targets::{check_target, write_file};
use crate::args;
use crate::error::CliError;
use crate::progress::{Display, print_note, stop_on_ctrl_c};
use crate::text::terminal_width;

pub(crate) fn tournament(arguments: &args::TournamentArgs) -> Result<(), CliError> {
    let mut options = if arguments.quick { TournamentOptions::quick() } else { TournamentOptions::default() };
    let mut command = String::from("calibandit tournament");
    options.part = TournamentPart::named(&arguments.part).expect("the command line allows the known parts only");
    if options.part != TournamentPart::Main {
        command += &format!(" --part {}", arguments.part);
    }
    if arguments.quick {
        command += " --quick";
    }
    for (flag, given, option) in [
        ("--instances", arguments.instances, &mut options.instances),
        ("--random-games", arguments.random_games, &mut options.random_games),
        ("--seed", arguments.seed, &mut options.seed),
    ] {
        if let Some(given) = given {
            *option = given;
            command += &format!(" {flag} {given}");
        }
    }
    if let Some(path) = &arguments.markdown {
        check_target(path)?;
    }
    let folder = arguments.out.clone().unwrap_or_else(|| match options.part {
        TournamentPart::Main => "out/tournament".into(),
        _ => format!("out/tournament-{}", arguments.part).into(),
    });
    let out = OutputDir::new(&folder);
    let session = TournamentSession {
        out: &out,
        force: arguments.force,
        only: &arguments.only,
        command: &command,
        threads: arguments.execution.threads.jobs,
        stop: stop_on_ctrl_c(),
        progress: &Display::new("tournament"),
        note: &print_note,
    };
    let played = session.run(&options).map_err(|error| match error {
        TournamentError::Stopped { done, total: tasks } => CliError::Interrupted { out: folder.clone(), done, tasks },
        error => error.into(),
    })?;
    if let Some(path) = &arguments.markdown {
        write_file(path, tournament::markdown(&played, &command).as_bytes())?;
    }
    if arguments.execution.json {
        let groups = options.part.groups().iter();
        let rows: Vec<GroupRow> = groups.flat_map(|&group| in_group(&played, group, |_| true)).collect();
        return print_json(&rows);
    }
    let out = &mut io::stdout().lock();
    let width = if arguments.execution.tables { usize::MAX } else { terminal_width() };
    out.write_all(plain(&played, width).as_bytes())?;
    Ok(writeln!(out, "\n{}", folder.join("report.html").display())?)
}
