//! `calibandit diagnose`: which memory bound a log of plays supports, and whether repeated exposure is optimal.

mod print;

use std::io::{self, Write};

use calibandit_experiment::format::shell_word;
use calibandit_experiment::output::{Build, LAYOUT, OutputDir};
use calibandit_fit::TableError;
use calibandit_fit::diagnose::{
    Diagnosis, LogFileError, Price, PriceOptions, Starts, diagnose as diagnose_log, read_log,
};
use calibandit_report::diagnosis::{DiagnosisSource, DiagnosisTexts, diagnosis_report};
use calibandit_report::session::write_report;
use serde_json::{Map, Value, json};

use super::lists::print_json;
use crate::args::diagnose::DiagnoseArgs;
use crate::args::log::LogArgs;
use crate::error::CliError;
use crate::progress::print_note;
use crate::text::{terminal_width, visible, visible_json};

/// The files of a diagnosis, besides figures and manifest.
const FILES: [&str; 4] = ["diagnosis.json", "curves.csv", GAME, "report.html"];
const GAME: &str = "game.toml";

pub(crate) fn diagnose(arguments: &DiagnoseArgs) -> Result<(), CliError> {
    let out = arguments.out.as_ref().map(OutputDir::new);
    if let Some(out) = out.as_ref().filter(|_| !arguments.force) {
        // A large log takes a while: what is in the way is said before.
        out.check_replaceable_by_diagnosis(&FILES)?;
    }
    let log = read_log(&arguments.file, arguments.log.columns()).map_err(|error| naming_options(error, arguments))?;
    let found = diagnose_log(&log, &arguments.options())?;
    drop(log);
    let options = PriceOptions { horizon: arguments.horizon, ..PriceOptions::default() };
    let result = DiagnosisResult { price: found.price(&options).map_err(|error| error.to_string()), found };
    if let Some(out) = &out {
        result.write(out, arguments)?;
    }
    if arguments.json {
        return print_json(&result.value());
    }
    let texts = DiagnosisTexts::new(&result.found, source(arguments, &name(arguments)));
    let mut text = print::text(&result.found, &texts, result.price(), terminal_width());
    if let Some(out) = &arguments.out {
        text.push('\n');
        for path in FILES.iter().map(|file| out.join(file)).filter(|path| path.exists()) {
            text += &format!("{}\n", visible(&path.display().to_string()));
        }
    }
    Ok(io::stdout().lock().write_all(text.as_bytes())?)
}

/// The error with the options of the command line that it is about.
fn naming_options(error: LogFileError, arguments: &DiagnoseArgs) -> CliError {
    let LogArgs { arm, loss, order, unit, .. } = &arguments.log;
    match error {
        LogFileError::Table(TableError::Column { file, column, found }) => {
            let options =
                [("arm", Some(arm)), ("loss", Some(loss)), ("order", order.as_ref()), ("unit", unit.as_ref())];
            let option = options.iter().find(|(_, given)| *given == Some(&column)).map_or("arm", |(option, _)| option);
            CliError::Usage(format!(
                "{file}, line 1: there is no column `{column}` for `--{option}`; the columns are {found}"
            ))
        }
        other => other.into(),
    }
}

/// The name of the log, without its folder.
fn name(arguments: &DiagnoseArgs) -> String {
    arguments.file.file_name().unwrap_or(arguments.file.as_os_str()).to_string_lossy().into_owned()
}

fn source<'a>(arguments: &DiagnoseArgs, name: &'a str) -> DiagnosisSource<'a> {
    DiagnosisSource { log: name, tolerance_given: arguments.tolerance.is_some() }
}

/// A diagnosis with its price, or why it has none.
struct DiagnosisResult {
    found: Diagnosis,
    price: Result<Price, String>,
}

impl DiagnosisResult {
    fn price(&self) -> Result<&Price, &str> {
        self.price.as_ref().map_err(String::as_str)
    }

    /// What `diagnosis.json` has.
    fn value(&self) -> Value {
        let mut value = json!(self.found);
        value["price"] = json!(self.price().ok());
        value
    }

    /// Writes all files, so that the folder is complete or known to be incomplete.
    fn write(&self, out: &OutputDir, arguments: &DiagnoseArgs) -> Result<(), CliError> {
        let lock = out.lock("diagnose", &print_note)?;
        if !arguments.force {
            out.check_replaceable_by_diagnosis(&FILES)?;
        }
        let mut new = lock.replace(manifest(arguments))?;
        let text = serde_json::to_string_pretty(&self.value()).map_err(io::Error::other)?;
        new.table("diagnosis.json", format!("{}\n", visible_json(&text)).as_bytes())?;
        new.table("curves.csv", self.found.curves_csv().as_bytes())?;
        match self.found.game_toml() {
            Ok(game) => new.table(GAME, game.as_bytes())?,
            // The game of an earlier diagnosis is not that of this one.
            Err(_) => lock.remove(GAME)?,
        }
        let name = name(arguments);
        let report = diagnosis_report(&self.found, source(arguments, &name), self.price(), &command(arguments));
        write_report(&lock, &report)?;
        Ok(new.finish()?)
    }
}

/// What was asked for.
fn manifest(arguments: &DiagnoseArgs) -> Map<String, Value> {
    let DiagnoseArgs { file, log, confidence, drifting, horizon, .. } = arguments;
    let LogArgs { arm, loss, order, unit, starts } = log;
    let manifest = json!({
        "manifest": LAYOUT,
        "build": Build::default(),
        "diagnosis": {
            "log": file.display().to_string(),
            "columns": {"arm": arm, "loss": loss, "order": order, "unit": unit},
            "longest": arguments.longest,
            "tolerance": arguments.tolerance,
            "confidence": confidence,
            "starts": starts,
            "drifting": drifting,
            "horizon": horizon,
        },
    });
    let Value::Object(manifest) = manifest else { unreachable!("the manifest is an object") };
    manifest
}

/// The command that makes the same diagnosis.
fn command(arguments: &DiagnoseArgs) -> String {
    let DiagnoseArgs { file, log, longest, tolerance, .. } = arguments;
    let LogArgs { arm, loss, order, unit, starts } = log;
    let mut command = format!("calibandit diagnose {}", shell_word(&file.display().to_string()));
    let mut add = |option: &str, value: Option<String>| {
        if let Some(value) = value {
            command += &format!(" --{option} {}", shell_word(&value));
        }
    };
    add("arm", Some(arm.clone()));
    add("loss", Some(loss.clone()));
    add("order", order.clone());
    add("unit", unit.clone());
    add("longest", longest.map(|longest| longest.to_string()));
    add("tolerance", tolerance.map(|tolerance| tolerance.to_string()));
    add("confidence", Some(arguments.confidence).filter(|p| *p != 0.95).map(|p| p.to_string()));
    add("starts", (*starts == Starts::Unknown).then(|| "unknown".to_owned()));
    add("horizon", Some(arguments.horizon.to_string()));
    add("out", arguments.out.as_ref().map(|out| out.display().to_string()));
    if arguments.drifting {
        command += " --drifting";
    }
    command
}
