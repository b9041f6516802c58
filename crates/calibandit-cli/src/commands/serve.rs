//! The service, and the commands for its file.

use std::io::{Write, stdout};

use calibandit_serve::{Durability, Role, ServeConfig, ServeStarted, TokenView};

use crate::args::serve::{BackupArgs, DurabilityArg, ServeArgs, TokenCommand, VerifyArgs};
use crate::error::CliError;

pub(crate) fn serve(arguments: &ServeArgs) -> Result<(), CliError> {
    if arguments.probe {
        return probe(arguments);
    }
    let mut config = ServeConfig::new(&arguments.data);
    config.listen = arguments.listen;
    config.durability = match arguments.durability {
        DurabilityArg::Full => Durability::Full,
        DurabilityArg::Relaxed => Durability::Relaxed,
    };
    config.max_body = arguments.max_body;
    config.public_read = arguments.public_read;
    config.hosts = arguments.host.clone();
    config.digest_every = arguments.digest_every;
    let started = |found: &ServeStarted| {
        let ServeStarted { address, experiments, records } = found;
        let file = arguments.data.display();
        // A program that starts the service reads this line to learn the address. Nobody needs to read it.
        let mut out = stdout().lock();
        let line = writeln!(out, "listening at http://{address}, {file}: {experiments} experiments, {records} records");
        let _ = line.and_then(|()| out.flush());
    };
    Ok(calibandit_serve::serve(&config, started)?)
}

fn probe(arguments: &ServeArgs) -> Result<(), CliError> {
    let path = &arguments.data;
    let measured = calibandit_serve::probe(path).map_err(|source| CliError::File { path: path.clone(), source })?;
    let milliseconds = |time: std::time::Duration| time.as_secs_f64() * 1000.0;
    let (median, p99) = (milliseconds(measured.median), milliseconds(measured.p99));
    let mut out = stdout().lock();
    writeln!(out, "a sync of the disk takes {median:.2} ms (median), {p99:.2} ms (99 of 100)")?;
    writeln!(
        out,
        "with full durability, expect about {:.0} commits per second, each with up to 512 requests, and answers after \
         about {:.1} ms",
        1000.0 / median.max(0.001),
        2.0 * median
    )?;
    Ok(())
}

pub(crate) fn verify(arguments: &VerifyArgs) -> Result<(), CliError> {
    let verified = calibandit_serve::verify(&arguments.file)?;
    let mut out = stdout().lock();
    for experiment in &verified {
        writeln!(out, "{}: {} records, all answers and states as stored", experiment.name, experiment.records)?;
    }
    writeln!(out, "{} experiments verified", verified.len())?;
    Ok(())
}

pub(crate) fn backup(arguments: &BackupArgs) -> Result<(), CliError> {
    Ok(calibandit_serve::backup(&arguments.data, &arguments.file)?)
}

pub(crate) fn token(command: &TokenCommand) -> Result<(), CliError> {
    let mut out = stdout().lock();
    match command {
        TokenCommand::Add { role, name, file } => {
            let role: Role = role.parse().map_err(CliError::Usage)?;
            let made = calibandit_serve::add_token(&file.data, role, name)?;
            writeln!(out, "{}", made.token.unwrap_or_default())?;
        }
        TokenCommand::List { file } => {
            for TokenView { id, role, name, created_at, revoked_at, .. } in calibandit_serve::list_tokens(&file.data)? {
                let state = revoked_at.map_or("valid".to_owned(), |at| format!("revoked {at}"));
                writeln!(out, "{id}  {role}  made {created_at}  {state}  {name}")?;
            }
        }
        TokenCommand::Revoke { number, file } => {
            if !calibandit_serve::revoke_token(&file.data, *number)? {
                return Err(CliError::Usage(format!("there is no token {number}: `calibandit token list` shows them")));
            }
            writeln!(out, "token {number} is revoked")?;
        }
    }
    Ok(())
}
