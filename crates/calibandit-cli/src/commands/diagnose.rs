//! `calibandit diagnose`: which memory bound a log of plays supports, and whether repeated exposure is optimal.

mod print;

use std::io::{self, Write};

use calibandit_experiment::output::{Build, LAYOUT, OutputDir};
use calibandit_fit::TableError;
use calibandit_fit::diagnose::{DiagnoseError, Diagnosis, LogFileError, diagnose as diagnose_log, read_log};
use calibandit_report::diagnosis::{DiagnosisSource, DiagnosisTexts};
use serde_json::{Value, json};

use super::lists::print_json;
use crate::args::diagnose::DiagnoseArgs;
use crate::error::CliError;
use crate::progress::print_note;
use crate::text::{terminal_width, visible, visible_json};

/// The files of a diagnosis, besides the manifest.
const FILES: [&str; 2] = ["diagnosis.json", "curves.csv"];

pub(crate) fn diagnose(arguments: &DiagnoseArgs) -> Result<(), CliError> {
    let out = arguments.out.as_ref().map(OutputDir::new);
    if let Some(out) = out.as_ref().filter(|_| !arguments.force) {
        // A large log takes a while: what is in the way is said before.
        out.check_replaceable_by_diagnosis(&FILES)?;
    }
    let log = read_log(&arguments.file, arguments.columns()).map_err(|error| naming_options(error, arguments))?;
    let found = diagnose_log(&log, &arguments.options()).map_err(|error| match error {
        DiagnoseError::Option { option, value, expected } => {
            CliError::Usage(format!("`--{option}` is {value}, but must be {expected}"))
        }
        other => other.into(),
    })?;
    drop(log);
    let value = json!(found);
    if let Some(out) = &out {
        write(out, arguments, &found, &value)?;
    }
    if arguments.json {
        return print_json(&value);
    }
    let name = arguments.file.file_name().unwrap_or(arguments.file.as_os_str()).to_string_lossy();
    let source = DiagnosisSource { log: &name, tolerance_given: arguments.tolerance.is_some() };
    let mut text = print::text(&found, &DiagnosisTexts::new(&found, source), terminal_width());
    if let Some(out) = &arguments.out {
        text.push('\n');
        for file in FILES {
            text += &format!("{}\n", visible(&out.join(file).display().to_string()));
        }
    }
    Ok(io::stdout().lock().write_all(text.as_bytes())?)
}

/// The error with the options of the command line that it is about.
fn naming_options(error: LogFileError, arguments: &DiagnoseArgs) -> CliError {
    let DiagnoseArgs { arm, loss, order, unit, .. } = arguments;
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

/// Writes all files, so that the folder is complete or known to be incomplete.
fn write(out: &OutputDir, arguments: &DiagnoseArgs, found: &Diagnosis, value: &Value) -> Result<(), CliError> {
    let lock = out.lock("diagnose", &print_note)?;
    if !arguments.force {
        out.check_replaceable_by_diagnosis(&FILES)?;
    }
    let DiagnoseArgs { file, arm, loss, order, unit, confidence, starts, drifting, horizon, .. } = arguments;
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
    let mut new = lock.replace(manifest)?;
    let text = serde_json::to_string_pretty(value).map_err(io::Error::other)?;
    new.table("diagnosis.json", format!("{}\n", visible_json(&text)).as_bytes())?;
    new.table("curves.csv", found.curves_csv().as_bytes())?;
    Ok(new.finish()?)
}
